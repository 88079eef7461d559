//! Logical plan nodes as relations.

use super::coerce::cast_to;
use super::query::{Converted, Converter, Scope, SharedCte};
use super::scalar::Place;
use crate::bind::{LOCATOR, SeriesHandle, TableHandle, WorkHandle};
use crate::logical::{Id, IdSet, Rel, Scan, push_conjuncts};
use datafusion_expr::Expr as Bound;
use datafusion_expr::expr::Sort as BoundSort;
use datafusion_expr::logical_plan::{Distinct, Filter, Limit, LogicalPlan, Projection, SubqueryAlias, TableScan};
use gingham_plan::{BinaryOp, Expr, SortKey, SqlError};
use gingham_types::{SqlType, Value};
use std::sync::Arc;

impl Converter<'_> {
    /// Converts any node.
    pub(super) fn relation(&mut self, plan: &LogicalPlan) -> Result<Converted, SqlError> {
        match plan {
            LogicalPlan::Projection(projection) => self.projection(projection),
            LogicalPlan::Filter(filter) => self.filter(filter),
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Sort(sort) => {
                let input = self.relation(&sort.input)?;
                self.sort(input, &sort.expr, &Scope { schema: Arc::clone(sort.input.schema()), ids: Vec::new() })
            }
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Union(_) => self.union(plan),
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::EmptyRelation(empty) => {
                let rows = if empty.produce_one_row { vec![Vec::new()] } else { Vec::new() };
                Ok(Converted { rel: Rel::Values { rows, columns: Vec::new() }, ids: Vec::new() })
            }
            LogicalPlan::SubqueryAlias(alias) => self.alias(alias),
            LogicalPlan::Subquery(subquery) => self.relation(&subquery.subquery),
            LogicalPlan::Values(values) => self.values(values),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let input = self.relation(input)?;
                Ok(distinct(input, self))
            }
            LogicalPlan::Distinct(Distinct::On(on)) => self.distinct_on(on),
            LogicalPlan::Window(window) => self.window(window),
            LogicalPlan::Unnest(_) => Err(SqlError::unsupported("UNNEST")),
            LogicalPlan::RecursiveQuery(query) => self.recursive(query),
            other => Err(SqlError::unsupported(format!("{} in a query", other.display()))),
        }
    }

    fn projection(&mut self, projection: &Projection) -> Result<Converted, SqlError> {
        let Converted { rel, ids } = self.relation(&projection.input)?;
        let scope = Scope { schema: Arc::clone(projection.input.schema()), ids };
        self.project(rel, &scope, &projection.expr)
    }

    pub(super) fn project(&mut self, mut rel: Rel, scope: &Scope, list: &[Bound]) -> Result<Converted, SqlError> {
        let mut expressions = Vec::new();
        let mut outputs = Vec::with_capacity(list.len());
        for bound in list {
            let expr = self.expr(bound, &mut Place { scope, rel: Some(&mut rel) })?;
            outputs.push(if self.is_outer(&expr, scope, &rel) {
                let id = self.columns.add(expr.ty(), true);
                expressions.push((id, expr));
                id
            } else {
                self.name(expr, &mut expressions)
            });
        }
        Ok(Converted { rel: rel.extend(expressions), ids: outputs })
    }

    /// Whether an expression is a column of an outer query: put out, it needs a number of its own.
    pub(super) fn is_outer(&self, expr: &Expr, scope: &Scope, rel: &Rel) -> bool {
        match expr {
            Expr::Column { index, .. } => {
                !self.outer.is_empty() && !scope.ids.contains(index) && !rel.outputs().contains(*index)
            }
            _ => false,
        }
    }

    /// The number of a column for `expr`, which is added to `expressions` unless it is a column already.
    pub(super) fn name(&mut self, expr: Expr, expressions: &mut Vec<(Id, Expr)>) -> Id {
        if let Expr::Column { index, .. } = expr {
            return index;
        }
        if let Some((id, _)) = expressions.iter().find(|(_, e)| *e == expr) {
            return *id;
        }
        let nullable = self.nullable(&expr);
        let id = self.columns.add(expr.ty(), nullable);
        expressions.push((id, expr));
        id
    }

    /// Whether an expression can be NULL; a guess on the safe side.
    pub(super) fn nullable(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Column { index, .. } => self.columns.nullable(*index),
            Expr::Literal { value, .. } => value.is_null(),
            Expr::IsNull { .. } => false,
            Expr::Binary { op: BinaryOp::IsDistinctFrom | BinaryOp::IsNotDistinctFrom, .. } => false,
            Expr::Binary { left, right, .. } => self.nullable(left) || self.nullable(right),
            Expr::Not(e) | Expr::Negate(e) | Expr::Cast { expr: e, lenient: false, .. } => self.nullable(e),
            Expr::Like { expr, pattern, .. } => self.nullable(expr) || self.nullable(pattern),
            Expr::InList { expr, list, .. } => self.nullable(expr) || list.iter().any(|e| self.nullable(e)),
            _ => true,
        }
    }

    fn filter(&mut self, filter: &Filter) -> Result<Converted, SqlError> {
        let Converted { mut rel, ids } = self.relation(&filter.input)?;
        let scope = Scope { schema: Arc::clone(filter.input.schema()), ids };
        self.filter_by(&filter.predicate, &scope, &mut rel)?;
        Ok(Converted { rel, ids: scope.ids })
    }

    /// Puts a predicate over `rel`: subqueries that are whole conjuncts become joins.
    pub(super) fn filter_by(&mut self, predicate: &Bound, scope: &Scope, rel: &mut Rel) -> Result<(), SqlError> {
        let mut plain = Vec::new();
        let mut subqueries = Vec::new();
        let mut pending = vec![predicate];
        while let Some(next) = pending.pop() {
            match next {
                Bound::BinaryExpr(b) if b.op == datafusion_expr::Operator::And => {
                    pending.push(&b.right);
                    pending.push(&b.left);
                }
                Bound::Exists(_) | Bound::InSubquery(_) => subqueries.push((next, false)),
                Bound::Not(inner) if matches!(**inner, Bound::Exists(_) | Bound::InSubquery(_)) => {
                    subqueries.push((inner, true));
                }
                _ => plain.push(next),
            }
        }
        let mut predicates = Vec::new();
        for bound in plain {
            let expr = self.expr(bound, &mut Place { scope, rel: Some(rel) })?;
            push_conjuncts(self.boolean(expr, bound)?, &mut predicates);
        }
        *rel = rel.take().filter(predicates);
        for (subquery, negated) in subqueries {
            self.filter_by_subquery(subquery, negated, scope, rel)?;
        }
        Ok(())
    }

    pub(super) fn sort(&mut self, input: Converted, keys: &[BoundSort], scope: &Scope) -> Result<Converted, SqlError> {
        let Converted { mut rel, ids } = input;
        let scope = Scope { schema: Arc::clone(&scope.schema), ids };
        let mut sort_keys: Vec<SortKey> = Vec::with_capacity(keys.len());
        for key in keys {
            let expr = self.expr(&key.expr, &mut Place { scope: &scope, rel: Some(&mut rel) })?;
            let constant = matches!(expr, Expr::Literal { .. } | Expr::Parameter { .. });
            if !constant && !sort_keys.iter().any(|k| k.expr == expr) {
                sort_keys.push(SortKey { expr, descending: !key.asc, nulls_first: key.nulls_first });
            }
        }
        if !sort_keys.is_empty() {
            rel = Rel::Sort { input: Box::new(rel), keys: sort_keys, limit: None, offset: None };
        }
        Ok(Converted { rel, ids: scope.ids })
    }

    fn limit(&mut self, limit: &Limit) -> Result<Converted, SqlError> {
        let Converted { rel, ids } = self.relation(&limit.input)?;
        let fetch = self.limit_bound(limit.fetch.as_deref(), "LIMIT")?;
        let skip = self.limit_bound(limit.skip.as_deref(), "OFFSET")?;
        let skip = skip.filter(|e| !matches!(e, Expr::Literal { value: Value::Int(0) | Value::Null, .. }));
        let fetch = fetch.filter(|e| !matches!(e, Expr::Literal { value: Value::Null, .. }));
        Ok(Converted { rel: limited(rel, fetch, skip), ids })
    }

    fn limit_bound(&mut self, bound: Option<&Bound>, what: &str) -> Result<Option<Expr>, SqlError> {
        let Some(bound) = bound else { return Ok(None) };
        let scope = Scope { schema: Arc::new(datafusion_common::DFSchema::empty()), ids: Vec::new() };
        let expr = self.expr(bound, &mut Place { scope: &scope, rel: None })?;
        let expr = cast_to(expr, SqlType::BigInt)?;
        self.note_parameters(&expr);
        match &expr {
            Expr::Literal { value: Value::Int(v), .. } if *v < 0 => {
                let code = if what == "LIMIT" { "2201W" } else { "2201X" };
                Err(SqlError::new(code, format!("{what} must not be negative")))
            }
            Expr::Literal { .. } | Expr::Parameter { .. } => Ok(Some(expr)),
            _ => Err(SqlError::unsupported(format!("{what} with anything but a constant or a parameter"))),
        }
    }

    fn scan(&mut self, scan: &TableScan) -> Result<Converted, SqlError> {
        if let Some(work) = scan.source.downcast_ref::<WorkHandle>() {
            return self.work(&work.name);
        }
        if let Some(series) = scan.source.downcast_ref::<SeriesHandle>() {
            return self.series(series);
        }
        let Some(handle) = scan.source.downcast_ref::<TableHandle>() else {
            return Err(SqlError::internal("a scan of something that is not a table"));
        };
        let table = &self.catalog.tables[handle.table];
        let columns: Vec<Id> = table.columns.iter().map(|c| self.columns.add(c.ty, c.nullable)).collect();
        let wants_locator = scan.projected_schema.fields().last().is_some_and(|f| f.name() == LOCATOR);
        let locator = wants_locator.then(|| self.columns.add(SqlType::Blob, false));
        let ids = columns.iter().copied().chain(locator).collect();
        let alias = table.name.clone();
        let scan = Scan { table: handle.table, alias, columns, locator, filters: Vec::new() };
        Ok(Converted { rel: Rel::Scan(Box::new(scan)), ids })
    }

    fn alias(&mut self, alias: &SubqueryAlias) -> Result<Converted, SqlError> {
        let key = Arc::as_ptr(&alias.input);
        let shared = self.shared.get(&key).is_some_and(|s| s.references > 1 && !s.inline);
        if shared {
            return self.shared_cte(alias);
        }
        let mut converted = self.relation(&alias.input)?;
        if let Rel::Scan(scan) = &mut converted.rel
            && scan.alias != alias.alias.table()
        {
            scan.alias = format!("{} {}", scan.alias, alias.alias.table());
        }
        Ok(converted)
    }

    /// A reference to a common table expression that has several.
    fn shared_cte(&mut self, alias: &SubqueryAlias) -> Result<Converted, SqlError> {
        let key = Arc::as_ptr(&alias.input);
        let existing = self.shared.get(&key).and_then(|s| s.cte);
        let cte = match existing {
            Some(cte) => cte,
            None => {
                let Converted { rel, ids } = self.relation(&alias.input)?;
                if !rel.free_columns().is_empty() || rel.reads_work() {
                    if let Some(shared) = self.shared.get_mut(&key) {
                        shared.inline = true;
                    }
                    return Ok(Converted { rel, ids });
                }
                let (rel, ids) = self.settle(rel, ids)?;
                self.ctes.push(SharedCte { rel, ids });
                if let Some(shared) = self.shared.get_mut(&key) {
                    shared.cte = Some(self.ctes.len() - 1);
                }
                self.ctes.len() - 1
            }
        };
        let infos: Vec<(SqlType, bool)> =
            self.ctes[cte].ids.iter().map(|id| (self.columns.ty(*id), self.columns.nullable(*id))).collect();
        let ids: Vec<Id> = infos.into_iter().map(|(ty, nullable)| self.columns.add(ty, nullable)).collect();
        Ok(Converted { rel: Rel::Cte { cte, columns: ids.clone() }, ids })
    }

    /// Gives columns of unknown type (a bare NULL or parameter in a select list) the type TEXT.
    pub(crate) fn settle(&mut self, rel: Rel, mut ids: Vec<Id>) -> Result<(Rel, Vec<Id>), SqlError> {
        let mut expressions = Vec::new();
        for id in &mut ids {
            if self.columns.ty(*id) == SqlType::Null {
                let expr = constant_behind(&rel, *id).unwrap_or_else(|| self.columns.expr(*id));
                let expr = cast_to(expr, SqlType::Text)?;
                self.note_parameters(&expr);
                *id = self.name(expr, &mut expressions);
            }
        }
        Ok((rel.extend(expressions), ids))
    }

    /// Converts an expression where there is no relation to extend.
    pub(crate) fn expression(&mut self, bound: &Bound, scope: &Scope) -> Result<Expr, SqlError> {
        self.expr(bound, &mut Place { scope, rel: None })
    }
}

/// The constant or parameter of unknown type that a column is, if it is one: it can
/// still take the type of where it goes.
pub(crate) fn constant_behind(rel: &Rel, id: Id) -> Option<Expr> {
    match rel {
        Rel::Extend { input, expressions } => match expressions.iter().find(|(own, _)| *own == id) {
            Some((_, expr)) => super::coerce::is_unknown(expr).then(|| expr.clone()),
            None => constant_behind(input, id),
        },
        Rel::Filter { input, .. } | Rel::Sort { input, .. } | Rel::Limit { input, .. } => constant_behind(input, id),
        _ => None,
    }
}

/// `rel` with its first rows only; a sort below keeps no more than it needs.
fn limited(rel: Rel, limit: Option<Expr>, offset: Option<Expr>) -> Rel {
    match rel {
        _ if limit.is_none() && offset.is_none() => rel,
        Rel::Sort { input, keys, limit: None, offset: None } => Rel::Sort { input, keys, limit, offset },
        Rel::Extend { input, expressions } => {
            Rel::Extend { input: Box::new(limited(*input, limit, offset)), expressions }
        }
        other => Rel::Limit { input: Box::new(other), limit, offset },
    }
}

/// Rows without repeats.
pub(super) fn distinct(input: Converted, converter: &Converter<'_>) -> Converted {
    let mut seen = IdSet::default();
    let mut groups = Vec::new();
    for id in &input.ids {
        if !seen.contains(*id) {
            seen.insert(*id);
            groups.push((*id, converter.columns.expr(*id)));
        }
    }
    let rel = if groups.is_empty() {
        let one = Some(Expr::literal(Value::Int(1), SqlType::BigInt));
        Rel::Limit { input: Box::new(input.rel), limit: one, offset: None }
    } else {
        Rel::Aggregate { input: Box::new(input.rel), groups, aggregates: Vec::new() }
    };
    Converted { rel, ids: input.ids }
}
