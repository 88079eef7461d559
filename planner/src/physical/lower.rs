//! Relations as operators.

use super::access::choose;
use super::eager::{Joined, above, aggregate_first, total};
use super::estimate::{Estimate, Estimator};
use super::join::Sides;
use super::ordered::{deliver, extremes};
use super::selectivity::selectivity;
use super::window::is_sorted;
use crate::logical::{Id, IdSet, Rel, Scan, columns_of};
use gingham_plan::{
    AggregateCall, Apply, ApplyKind, CteId, Expr, Node, Recursive, RouteSetting, SlotId, SortKey, SqlError, WorkId,
};
use gingham_types::SqlType;
use std::collections::HashMap;

/// An operator and the column number of each of its output columns.
pub(super) struct Lowered {
    pub(super) node: Node,
    pub(super) layout: Vec<Id>,
    pub(super) rows: f64,
}

/// Lowers the relations of one statement.
pub(super) struct Lowering<'a> {
    pub(super) estimator: Estimator<'a>,
    pub(super) setting: RouteSetting,
    pub(super) filters: u32,
    pub(super) slots: u32,
    /// Outer columns of the enclosing subplans.
    pub(super) bound: HashMap<Id, SlotId>,
    /// For each shared expression, the columns that are read.
    pub(super) cte_columns: Vec<IdSet>,
}

impl Lowering<'_> {
    /// Lowers `rel`; the output has the columns of `required`, and maybe others.
    pub(super) fn lower(&mut self, rel: Rel, required: &IdSet) -> Result<Lowered, SqlError> {
        match rel {
            Rel::Scan(scan) => self.scan(*scan, required),
            Rel::Values { rows, columns } => self.values(rows, &columns, required),
            Rel::Filter { input, predicates } => self.filter(*input, predicates, required),
            Rel::Extend { input, expressions } => self.extend(*input, expressions, required),
            Rel::Aggregate { input, groups, aggregates } => self.aggregate(*input, groups, aggregates, required),
            Rel::Window { input, partition, order, calls } => self.window(*input, partition, order, calls, required),
            Rel::Expand { input, keys, sets, number } => self.expand(*input, keys, sets, number, required),
            Rel::Recursive { start, step, columns, work, distinct } => {
                let rows = self.estimator.estimate(&start.0).rows;
                let start = self.lower_exactly(*start.0, &start.1)?;
                let step = self.lower_exactly(*step.0, &step.1)?;
                let types = columns.iter().map(|id| self.estimator.columns.ty(*id)).collect();
                let recursive = Recursive { start, step, work: WorkId(work), distinct, types };
                Ok(Lowered { node: Node::Recursive(Box::new(recursive)), layout: columns, rows })
            }
            Rel::Work { work, columns } => {
                let kept: Vec<usize> = (0..columns.len()).filter(|p| required.contains(columns[*p])).collect();
                let layout: Vec<Id> = kept.iter().map(|p| columns[*p]).collect();
                let types = layout.iter().map(|id| self.estimator.columns.ty(*id)).collect();
                Ok(Lowered { node: Node::Work { work: WorkId(work), columns: kept, types }, layout, rows: 100.0 })
            }
            Rel::Series { bounds, column } => {
                let rel = Rel::Series { bounds, column };
                let rows = self.estimator.estimate(&rel).rows;
                let Rel::Series { bounds, .. } = rel else { return Err(SqlError::internal("a series is not one")) };
                let [start, stop, step] = *bounds;
                let (start, stop, step) = (self.place(start, &[])?, self.place(stop, &[])?, self.place(step, &[])?);
                Ok(Lowered { node: Node::Series { start, stop, step }, layout: vec![column], rows })
            }
            Rel::Join(join) => {
                let rows = self.estimator.estimate(&join.left).rows.max(self.estimator.estimate(&join.right).rows);
                let mut needed = required.clone();
                join.on.iter().for_each(|e| columns_of(e, &mut needed));
                let left = self.lower(join.left, &needed)?;
                let right = self.lower(join.right, &needed)?;
                let (kind, on, null_aware, mark) = (join.kind, join.on, join.null_aware, join.mark);
                self.join(Sides { kind, left, right, on, null_aware, mark, rows }, required, &|_| 1.0)
            }
            Rel::Block { inputs, predicates, dependents } => self.block(inputs, &predicates, dependents, required),
            Rel::Apply { kind, input, subplan, output } => self.apply(kind, *input, *subplan, output, required),
            Rel::Sort { input, keys, limit, offset } => {
                let mut needed = required.clone();
                keys.iter().for_each(|k| columns_of(&k.expr, &mut needed));
                let Lowered { mut node, layout, rows } = self.lower(*input, &needed)?;
                let keys = keys
                    .into_iter()
                    .map(|key| Ok(SortKey { expr: self.place(key.expr, &layout)?, ..key }))
                    .collect::<Result<Vec<SortKey>, SqlError>>()?;
                let ordered = is_sorted(&node, &keys)
                    || deliver(&mut node, &keys, limit.as_ref(), offset.as_ref(), &self.estimator, self.setting);
                if ordered {
                    if limit.is_some() || offset.is_some() {
                        node = Node::Limit { input: Box::new(node), limit, offset };
                    }
                    return Ok(Lowered { node, layout, rows });
                }
                Ok(Lowered { node: Node::Sort { input: Box::new(node), keys, limit, offset }, layout, rows })
            }
            Rel::Limit { input, limit, offset } => {
                let Lowered { node, layout, rows } = self.lower(*input, required)?;
                Ok(Lowered { node: Node::Limit { input: Box::new(node), limit, offset }, layout, rows })
            }
            Rel::Union { inputs, columns } => self.union(inputs, &columns, required),
            Rel::Cte { cte, columns } => self.cte(cte, &columns, required),
        }
    }

    /// Lowers `rel` so that its output is exactly `ids`, in order.
    pub(super) fn lower_exactly(&mut self, rel: Rel, ids: &[Id]) -> Result<Node, SqlError> {
        let required: IdSet = ids.iter().copied().collect();
        let lowered = self.lower(rel, &required)?;
        self.arrange(lowered, ids)
    }

    /// Replaces column numbers by positions in `layout`, and outer ones by slots.
    pub(super) fn place(&self, mut expr: Expr, layout: &[Id]) -> Result<Expr, SqlError> {
        let mut missing = None;
        expr.visit_mut(&mut |e| {
            if let Expr::Column { index, ty } = e {
                if let Some(position) = layout.iter().position(|id| id == index) {
                    *index = position;
                } else if let Some(slot) = self.bound.get(index) {
                    *e = Expr::Slot { slot: *slot, ty: *ty };
                } else {
                    missing = Some(*index);
                }
            }
        });
        match missing {
            None => Ok(expr),
            Some(id) => Err(SqlError::internal(format!("column number {id} is out of reach"))),
        }
    }

    pub(super) fn place_all(&self, list: Vec<Expr>, layout: &[Id]) -> Result<Vec<Expr>, SqlError> {
        list.into_iter().map(|e| self.place(e, layout)).collect()
    }

    /// Puts columns in order, inside the operator where it can choose its output.
    fn arrange(&self, lowered: Lowered, ids: &[Id]) -> Result<Node, SqlError> {
        let Lowered { node, layout, .. } = lowered;
        if layout == ids {
            return Ok(node);
        }
        let positions = ids
            .iter()
            .map(|id| layout.iter().position(|l| l == id))
            .collect::<Option<Vec<usize>>>()
            .ok_or_else(|| SqlError::internal("a result column is missing"))?;
        Ok(match node {
            Node::Filter { input, predicates, columns, rows } => {
                let columns = positions.iter().map(|p| columns[*p]).collect();
                Node::Filter { input, predicates, columns, rows }
            }
            Node::Join(mut join) => {
                join.columns = positions.iter().map(|p| join.columns[*p]).collect();
                Node::Join(join)
            }
            Node::Project { input, expressions } => {
                let expressions = positions.iter().map(|p| expressions[*p].clone()).collect();
                Node::Project { input, expressions }
            }
            node => {
                let column = |(p, id): (&usize, &Id)| Expr::column(*p, self.estimator.columns.ty(*id));
                let expressions = positions.iter().zip(ids).map(column).collect();
                Node::Project { input: Box::new(node), expressions }
            }
        })
    }

    fn scan(&mut self, scan: Scan, required: &IdSet) -> Result<Lowered, SqlError> {
        let table = &self.estimator.catalog.tables[scan.table];
        let wanted: Vec<usize> =
            (0..scan.columns.len()).filter(|ordinal| required.contains(scan.columns[*ordinal])).collect();
        let locator = scan.locator.filter(|id| required.contains(*id));
        let base = self.estimator.table(&scan);
        let rows = base.rows * selectivity(&scan.filters, &base);
        let access = choose(&self.estimator, &scan, &wanted, self.setting, false);
        let mut filters = scan.filters.clone();
        sort_predicates(&mut filters, &base);
        let filters = self.place_all(filters, &scan.columns)?;
        let route = match access.route {
            gingham_plan::Route::Row(way) => gingham_plan::Route::Row(self.place_access(way)?),
            other => other,
        };
        let layout = wanted.iter().map(|ordinal| scan.columns[*ordinal]).chain(locator).collect();
        let node = Node::Scan(gingham_plan::Scan {
            table: table.id,
            name: scan.alias,
            types: wanted.iter().map(|ordinal| table.columns[*ordinal].ty).collect(),
            columns: wanted,
            locator: locator.is_some(),
            filters,
            dynamic_filters: Vec::new(),
            route,
            row_cost_us: access.row_cost_us,
            column_cost_us: access.column_cost_us,
            reason: access.reason,
            rows,
        });
        Ok(Lowered { node, layout, rows })
    }

    /// Key expressions have no columns of their own, but may have outer ones.
    fn place_access(&self, mut access: gingham_plan::RowAccess) -> Result<gingham_plan::RowAccess, SqlError> {
        for expr in access.expressions_mut() {
            let taken = std::mem::replace(expr, Expr::literal(gingham_types::Value::Null, SqlType::Null));
            *expr = self.place(taken, &[])?;
        }
        Ok(access)
    }

    fn values(&mut self, rows: Vec<Vec<Expr>>, columns: &[Id], required: &IdSet) -> Result<Lowered, SqlError> {
        let kept: Vec<usize> = (0..columns.len()).filter(|p| required.contains(columns[*p])).collect();
        let count = rows.len() as f64;
        let pick = |row: Vec<Expr>| {
            let own: Vec<Expr> = kept.iter().map(|p| row[*p].clone()).collect();
            self.place_all(own, &[])
        };
        let rows = rows.into_iter().map(pick).collect::<Result<_, SqlError>>()?;
        let layout: Vec<Id> = kept.iter().map(|p| columns[*p]).collect();
        let types = layout.iter().map(|id| self.estimator.columns.ty(*id)).collect();
        Ok(Lowered { node: Node::Values { rows, types }, layout, rows: count })
    }

    fn filter(&mut self, input: Rel, mut predicates: Vec<Expr>, required: &IdSet) -> Result<Lowered, SqlError> {
        let estimate = self.estimator.estimate(&input);
        sort_predicates(&mut predicates, &estimate);
        let rows = estimate.rows * selectivity(&predicates, &estimate);
        let mut needed = required.clone();
        predicates.iter().for_each(|e| columns_of(e, &mut needed));
        let input = self.lower(input, &needed)?;
        self.filtered(input, predicates, required, rows)
    }

    pub(super) fn filtered(
        &mut self,
        input: Lowered,
        predicates: Vec<Expr>,
        required: &IdSet,
        rows: f64,
    ) -> Result<Lowered, SqlError> {
        let predicates = self.place_all(predicates, &input.layout)?;
        let columns: Vec<usize> = (0..input.layout.len()).filter(|p| required.contains(input.layout[*p])).collect();
        let layout = columns.iter().map(|p| input.layout[*p]).collect();
        Ok(Lowered { node: Node::Filter { input: Box::new(input.node), predicates, columns, rows }, layout, rows })
    }

    fn extend(&mut self, input: Rel, expressions: Vec<(Id, Expr)>, required: &IdSet) -> Result<Lowered, SqlError> {
        let expressions: Vec<(Id, Expr)> = expressions.into_iter().filter(|(id, _)| required.contains(*id)).collect();
        if expressions.is_empty() {
            return self.lower(input, required);
        }
        let mut needed = required.clone();
        expressions.iter().for_each(|(_, e)| columns_of(e, &mut needed));
        let Lowered { node, layout: below, rows } = self.lower(input, &needed)?;
        let mut layout = Vec::new();
        let mut list = Vec::new();
        for (position, id) in below.iter().enumerate().filter(|(_, id)| required.contains(**id)) {
            layout.push(*id);
            list.push(Expr::column(position, self.estimator.columns.ty(*id)));
        }
        for (id, expr) in expressions {
            layout.push(id);
            list.push(self.place(expr, &below)?);
        }
        Ok(Lowered { node: Node::Project { input: Box::new(node), expressions: list }, layout, rows })
    }

    fn aggregate(
        &mut self,
        input: Rel,
        groups: Vec<(Id, Expr)>,
        aggregates: Vec<(Id, AggregateCall)>,
        required: &IdSet,
    ) -> Result<Lowered, SqlError> {
        let aggregates: Vec<(Id, AggregateCall)> =
            aggregates.into_iter().filter(|(id, _)| required.contains(*id)).collect();
        let input = match aggregate_first(input, &groups, &aggregates, &self.estimator) {
            Err(input) => input,
            Ok(Joined { rel: joined, complete }) => {
                let columns = self.estimator.columns;
                let needed: IdSet =
                    groups.iter().map(|(id, _)| *id).chain(aggregates.iter().map(|(id, _)| *id)).collect();
                let Lowered { node, layout: below, rows } = self.lower(joined, &needed)?;
                let mut layout = Vec::with_capacity(groups.len() + aggregates.len());
                let mut expressions = Vec::with_capacity(groups.len() + aggregates.len());
                for (id, expr) in groups {
                    layout.push(id);
                    expressions.push(self.place(expr, &below)?);
                }
                for (id, call) in &aggregates {
                    layout.push(*id);
                    expressions.push(self.place(above(*id, call, columns), &below)?);
                }
                let node = Node::Project { input: Box::new(node), expressions };
                return Ok(if complete {
                    Lowered { node, layout, rows }
                } else {
                    self.add_up(node, layout, rows, &aggregates)
                });
            }
        };
        let mut needed = IdSet::default();
        groups.iter().for_each(|(_, e)| columns_of(e, &mut needed));
        for (_, call) in &aggregates {
            call.expressions().for_each(|e| columns_of(e, &mut needed));
        }
        let rel = Rel::Aggregate { input: Box::new(input), groups, aggregates };
        let rows = self.estimator.estimate(&rel).rows;
        let Rel::Aggregate { input, groups, aggregates } = rel else {
            return Err(SqlError::internal("an aggregate is not one"));
        };
        let Lowered { mut node, layout: below, .. } = self.lower(*input, &needed)?;
        let layout = groups.iter().map(|(id, _)| *id).chain(aggregates.iter().map(|(id, _)| *id)).collect();
        let groups = groups.into_iter().map(|(_, e)| self.place(e, &below)).collect::<Result<_, _>>()?;
        let aggregates = aggregates
            .into_iter()
            .map(|(_, mut call)| {
                for expr in call.expressions_mut() {
                    *expr = self.place(expr.clone(), &below)?;
                }
                Ok(call)
            })
            .collect::<Result<Vec<_>, SqlError>>()?;
        let groups: Vec<Expr> = groups;
        if groups.is_empty() && !aggregates.is_empty() {
            extremes(&mut node, &aggregates, &self.estimator, self.setting);
        }
        Ok(Lowered { node: Node::Aggregate { input: Box::new(node), groups, aggregates, rows }, layout, rows })
    }

    /// Adds up the counts, the last columns of `layout`, of rows that agree in the others.
    fn add_up(&self, input: Node, layout: Vec<Id>, rows: f64, counts: &[(Id, AggregateCall)]) -> Lowered {
        let column = |(position, id): (usize, &Id)| Expr::column(position, self.estimator.columns.ty(*id));
        let mut groups: Vec<Expr> = layout.iter().enumerate().map(column).collect();
        let columns = groups.split_off(layout.len() - counts.len());
        let aggregates = columns.into_iter().zip(counts).map(|(count, (_, call))| total(count, call)).collect();
        Lowered { node: Node::Aggregate { input: Box::new(input), groups, aggregates, rows }, layout, rows }
    }

    fn apply(
        &mut self,
        kind: ApplyKind,
        input: Rel,
        subplan: Rel,
        output: Vec<Id>,
        required: &IdSet,
    ) -> Result<Lowered, SqlError> {
        let provided = input.outputs();
        let outer: Vec<Id> = subplan.free_columns().iter().filter(|id| provided.contains(*id)).collect();
        let mut needed = required.clone();
        needed.extend(outer.iter().copied());
        let Lowered { node, mut layout, rows } = self.lower(input, &needed)?;
        let mut bindings = Vec::with_capacity(outer.len());
        let saved = self.bound.clone();
        for id in outer {
            let slot = SlotId(self.slots);
            self.slots += 1;
            let Some(position) = layout.iter().position(|l| *l == id) else {
                return Err(SqlError::internal("an outer column is missing"));
            };
            bindings.push((slot, position));
            self.bound.insert(id, slot);
        }
        let wanted: &[Id] = if kind == ApplyKind::Exists { &[] } else { &output };
        let lowered = if kind == ApplyKind::Exists {
            self.lower(subplan, &IdSet::default()).map(|l| l.node)
        } else {
            self.lower_exactly(subplan, wanted)
        };
        self.bound = saved;
        let subplan = lowered?;
        let types = output.iter().map(|id| self.estimator.columns.ty(*id)).collect();
        layout.extend(output);
        let apply = Apply { input: node, subplan, kind, bindings, types };
        Ok(Lowered { node: Node::Apply(Box::new(apply)), layout, rows })
    }

    fn union(&mut self, inputs: Vec<(Rel, Vec<Id>)>, columns: &[Id], required: &IdSet) -> Result<Lowered, SqlError> {
        let mut kept: Vec<usize> = (0..columns.len()).filter(|p| required.contains(columns[*p])).collect();
        if kept.is_empty() && !columns.is_empty() {
            kept.push(0);
        }
        let mut nodes = Vec::with_capacity(inputs.len());
        let mut rows = 0.0;
        for (input, ids) in inputs {
            rows += self.estimator.estimate(&input).rows;
            let ids: Vec<Id> = kept.iter().map(|p| ids[*p]).collect();
            nodes.push(self.lower_exactly(input, &ids)?);
        }
        let layout = kept.iter().map(|p| columns[*p]).collect();
        Ok(Lowered { node: Node::Union { inputs: nodes }, layout, rows })
    }

    fn cte(&mut self, cte: usize, columns: &[Id], required: &IdSet) -> Result<Lowered, SqlError> {
        let kept: Vec<usize> = (0..columns.len()).filter(|p| required.contains(columns[*p])).collect();
        if let Some(used) = self.cte_columns.get_mut(cte) {
            used.extend(kept.iter().copied());
        }
        let layout: Vec<Id> = kept.iter().map(|p| columns[*p]).collect();
        let types = layout.iter().map(|id| self.estimator.columns.ty(*id)).collect();
        let rows = self.estimator.ctes.get(cte).map_or(1000.0, |(e, _)| e.rows);
        Ok(Lowered { node: Node::Cte { id: CteId(cte as u32), columns: kept, types, rows }, layout, rows })
    }
}

/// Cheapest and most selective first.
fn sort_predicates(predicates: &mut [Expr], input: &Estimate) {
    let weight = |predicate: &Expr| {
        let mut cost = 1.0;
        predicate.visit(&mut |e| {
            cost += match e {
                Expr::Like { .. } => 20.0,
                Expr::Call { .. } | Expr::Case { .. } => 5.0,
                Expr::InList { list, .. } => 1.0 + (list.len() as f64).ln_1p(),
                _ => 0.0,
            };
        });
        cost / (1.0 - selectivity(std::slice::from_ref(predicate), input)).max(1e-3)
    };
    let mut weighted: Vec<(f64, Expr)> = predicates.iter().map(|p| (weight(p), p.clone())).collect();
    weighted.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    for (slot, (_, predicate)) in predicates.iter_mut().zip(weighted) {
        *slot = predicate;
    }
}
