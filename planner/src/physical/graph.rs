//! A block as a graph: inputs and dependent joins are items, equalities make classes,
//! other predicates are hyperedges. Row counts are per set of items, so that they do
//! not depend on the order that makes the set.

use super::estimate::{ColumnEstimate, Estimate, Estimator, occurring};
use super::selectivity::selectivity;
use crate::logical::{Columns, Dependent, Id, IdSet, Rel, columns_of};
use gingham_plan::{BinaryOp, Expr, JoinKind};
use gingham_types::SqlType;
use std::cell::RefCell;
use std::collections::HashMap;

/// A set of items.
pub(crate) type Mask = u64;

/// An input, or a join that depends on inputs.
pub(crate) struct Item {
    pub(crate) estimate: Estimate,
    pub(crate) outputs: IdSet,
    /// `None` for an input.
    pub(crate) dependent: Option<JoinKind>,
    /// Items that a dependent join's condition refers to.
    pub(crate) needs: Mask,
    /// What a dependent join does to the number of rows.
    factor: f64,
    /// What one row weighs when it is copied, in fixed-width columns.
    width: f64,
}

/// A predicate that is not an equality of columns.
pub(crate) struct Edge {
    pub(crate) expr: Expr,
    pub(crate) items: Mask,
    share: f64,
}

/// A block as a graph.
pub(crate) struct Graph {
    pub(crate) items: Vec<Item>,
    /// Columns that are equal, with the item each belongs to.
    pub(crate) classes: Vec<Vec<(Id, usize)>>,
    pub(crate) edges: Vec<Edge>,
    counts: RefCell<HashMap<Mask, f64>>,
}

/// What a TEXT column weighs beside a fixed-width one when it is copied.
const TEXT_WIDTH: f64 = 4.0;

/// Most items of one block; more than this many joins are refused when text is read.
pub(crate) const ITEMS_MAX: usize = 64;

impl Graph {
    pub(crate) fn new(
        estimator: &Estimator<'_>,
        inputs: &[Rel],
        predicates: &[Expr],
        dependents: &[Dependent],
    ) -> Self {
        let mut items: Vec<Item> = inputs
            .iter()
            .map(|input| Item {
                estimate: estimator.estimate(input),
                outputs: input.outputs(),
                dependent: None,
                needs: 0,
                factor: 1.0,
                width: 1.0,
            })
            .collect();
        for dependent in dependents {
            let mut outputs = IdSet::default();
            if dependent.kind == JoinKind::Left {
                dependent.right.outputs_into(&mut outputs);
            }
            outputs.extend(dependent.mark);
            let right = estimator.estimate(&dependent.right);
            let right_outputs = dependent.right.outputs();
            let mut needs = 0;
            for condition in &dependent.on {
                let mut used = IdSet::default();
                columns_of(condition, &mut used);
                used.subtract(&right_outputs);
                needs |= items_of(&used, &items);
            }
            let factor = factor(dependent, &right, &right_outputs, &items);
            let mut estimate = if dependent.kind == JoinKind::Left {
                right
            } else {
                Estimate { rows: right.rows, ..Estimate::default() }
            };
            if let Some(mark) = dependent.mark {
                estimate.columns.insert(mark, ColumnEstimate { distinct: 2.0, ..ColumnEstimate::default() });
            }
            items.push(Item { estimate, outputs, dependent: Some(dependent.kind), needs, factor, width: 0.0 });
        }
        let mut graph = Self { items, classes: Vec::new(), edges: Vec::new(), counts: RefCell::default() };
        graph.add_predicates(predicates);
        graph
    }

    fn add_predicates(&mut self, predicates: &[Expr]) {
        let mut equalities = Vec::new();
        for predicate in predicates {
            let columns = match predicate {
                Expr::Binary { op: BinaryOp::Equal, left, right, .. } => match (&**left, &**right) {
                    (Expr::Column { index: a, .. }, Expr::Column { index: b, .. }) => Some((*a, *b)),
                    _ => None,
                },
                _ => None,
            };
            let owners = columns.and_then(|(a, b)| Some((self.owner(a)?, self.owner(b)?)));
            let between_inputs = owners
                .is_some_and(|(x, y)| x != y && self.items[x].dependent.is_none() && self.items[y].dependent.is_none());
            if between_inputs {
                equalities.push(predicate.clone());
                continue;
            }
            let mut used = IdSet::default();
            columns_of(predicate, &mut used);
            let items = items_of(&used, &self.items);
            let mut all = Estimate { rows: 1.0, ..Estimate::default() };
            for index in bits(items) {
                let own = &self.items[index].estimate;
                all.rows = all.rows.max(own.rows);
                all.columns.extend(own.columns.iter().map(|(id, c)| (*id, *c)));
            }
            let share = selectivity(std::slice::from_ref(predicate), &all).max(1e-6);
            self.edges.push(Edge { expr: predicate.clone(), items, share });
        }
        for class in crate::logical::pushdown::classes(&equalities) {
            let members = class.into_iter().filter_map(|id| Some((id, self.owner(id)?))).collect();
            self.classes.push(members);
        }
    }

    /// Weighs the inputs by the columns of theirs that `wanted` names.
    pub(crate) fn weigh(&mut self, wanted: &IdSet, columns: &Columns) {
        for item in &mut self.items {
            let weight = |id: Id| if columns.ty(id) == SqlType::Text { TEXT_WIDTH } else { 1.0 };
            item.width = wanted.iter().filter(|id| item.outputs.contains(*id)).map(weight).sum();
        }
    }

    /// What one row of the join of a set weighs.
    pub(crate) fn width(&self, mask: Mask) -> f64 {
        bits(mask).map(|i| self.items[i].width).sum()
    }

    fn owner(&self, id: Id) -> Option<usize> {
        self.items.iter().position(|item| item.outputs.contains(id))
    }

    pub(crate) fn all(&self) -> Mask {
        if self.items.len() >= ITEMS_MAX { Mask::MAX } else { (1 << self.items.len()) - 1 }
    }

    /// Whether a predicate joins the two sets.
    pub(crate) fn connected(&self, a: Mask, b: Mask) -> bool {
        let spans = |class: &Vec<(Id, usize)>| {
            class.iter().any(|(_, item)| a >> item & 1 == 1) && class.iter().any(|(_, item)| b >> item & 1 == 1)
        };
        self.classes.iter().any(spans)
            || self.edges.iter().any(|e| e.items & a != 0 && e.items & b != 0 && e.items & !(a | b) == 0)
    }

    /// Estimated rows of the join of a set.
    pub(crate) fn rows(&self, mask: Mask) -> f64 {
        if let Some(rows) = self.counts.borrow().get(&mask) {
            return *rows;
        }
        let mut rows = 1.0;
        let mut joined = 0;
        for index in bits(mask) {
            let item = &self.items[index];
            if item.dependent.is_some() {
                rows *= item.factor;
                continue;
            }
            rows *= item.estimate.rows * self.join_share(joined, index);
            joined |= 1 << index;
        }
        for edge in self.edges.iter().filter(|e| e.items & !mask == 0) {
            rows *= edge.share;
        }
        let rows = rows.max(0.01);
        self.counts.borrow_mut().insert(mask, rows);
        rows
    }

    /// What share of all pairs of `joined` and an input satisfies the equalities between them.
    fn join_share(&self, joined: Mask, index: usize) -> f64 {
        let mut pairs: Vec<(Id, Vec<(Id, usize)>)> = Vec::new();
        for class in &self.classes {
            let Some((own, _)) = class.iter().find(|(_, item)| *item == index) else { continue };
            let others: Vec<(Id, usize)> = class.iter().copied().filter(|(_, item)| joined >> item & 1 == 1).collect();
            if !others.is_empty() {
                pairs.push((*own, others));
            }
        }
        if pairs.is_empty() {
            return 1.0;
        }
        let item = &self.items[index].estimate;
        let mut share = 1.0;
        // The input's own key first, then the keys of those it refers to, the longest
        // first: a composite key says more than its parts.
        if let Some((domain, used)) = covered_key(item, |id| pairs.iter().position(|(own, _)| *own == id)) {
            share /= domain;
            retain_others(&mut pairs, &used);
        }
        let mut others: Vec<usize> = bits(joined).collect();
        others.sort_by_key(|i| std::cmp::Reverse(self.items[*i].estimate.keys.iter().map(|k| k.columns.len()).max()));
        for other in others {
            let estimate = &self.items[other].estimate;
            let position = |id: Id| pairs.iter().position(|(_, others)| others.contains(&(id, other)));
            if let Some((domain, used)) = covered_key(estimate, position) {
                share /= domain;
                retain_others(&mut pairs, &used);
            }
        }
        let mut shares: Vec<f64> = pairs
            .iter()
            .map(|(own, others)| {
                let other = others.iter().map(|(id, i)| self.items[*i].estimate.domain(*id)).fold(f64::MAX, f64::min);
                1.0 / item.domain(*own).max(other).max(1.0)
            })
            .collect();
        // Several columns of one join are seldom independent: each further one counts less.
        shares.sort_by(f64::total_cmp);
        let rest: f64 = shares.iter().enumerate().map(|(i, s)| s.powf(0.5f64.powi(i as i32))).product();
        share * rest
    }

    /// What is known of a column, wherever it comes from.
    pub(crate) fn domain(&self, id: Id) -> f64 {
        self.owner(id).map_or(1.0, |item| self.items[item].estimate.domain(id))
    }

    /// The whole block.
    pub(crate) fn total(&self) -> Estimate {
        let rows = self.rows(self.all());
        let mut result = Estimate { rows, ..Estimate::default() };
        for item in &self.items {
            result.columns.extend(item.estimate.columns.iter().map(|(id, c)| (*id, *c)));
            result.keys.extend(item.estimate.keys.iter().cloned());
        }
        // Equal columns have the smallest domain among them.
        for class in &self.classes {
            let least = class.iter().map(|(id, item)| self.items[*item].estimate.domain(*id)).fold(f64::MAX, f64::min);
            for (id, _) in class {
                if let Some(column) = result.columns.get_mut(id) {
                    column.distinct = least;
                }
            }
        }
        result
    }
}

/// The domain of a key whose columns are all joined, and the pairs that join them.
fn covered_key(estimate: &Estimate, pair: impl Fn(Id) -> Option<usize>) -> Option<(f64, Vec<usize>)> {
    estimate.keys.iter().find_map(|key| {
        let pairs = key.columns.iter().map(|c| pair(*c)).collect::<Option<Vec<usize>>>()?;
        let domain = match key.columns.as_slice() {
            // A predicate on the column has narrowed its domain.
            [id] => estimate.domain(*id).min(key.domain),
            _ => key.domain,
        };
        Some((domain.max(1.0), pairs))
    })
}

fn retain_others<T>(list: &mut Vec<T>, used: &[usize]) {
    let mut index = 0;
    list.retain(|_| {
        index += 1;
        !used.contains(&(index - 1))
    });
}

/// The items that provide columns of `used`.
fn items_of(used: &IdSet, items: &[Item]) -> Mask {
    items.iter().enumerate().filter(|(_, item)| item.outputs.intersects(used)).fold(0, |mask, (i, _)| mask | 1 << i)
}

/// The members of a set, ascending.
pub(crate) fn bits(mask: Mask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let index = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(index)
    })
}

/// What a dependent join makes of a left row on average.
fn factor(dependent: &Dependent, right: &Estimate, right_outputs: &IdSet, items: &[Item]) -> f64 {
    let left_domain = |id: Id| items.iter().find(|item| item.outputs.contains(id)).map(|item| item.estimate.domain(id));
    let mut matched = 1.0f64;
    let mut pairs = 1.0f64;
    let mut keys = 0;
    let mut residual = 1.0;
    for condition in &dependent.on {
        let equality =
            match condition {
                Expr::Binary { op: BinaryOp::Equal | BinaryOp::IsNotDistinctFrom, left, right, .. } => {
                    match (&**left, &**right) {
                        (Expr::Column { index: a, .. }, Expr::Column { index: b, .. }) => {
                            if right_outputs.contains(*b) { Some((*a, *b)) } else { Some((*b, *a)) }
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
        match equality.and_then(|(a, b)| Some((left_domain(a)?, b))) {
            Some((left, inside)) => {
                keys += 1;
                matched *= (right.occurring(inside) / left.max(1.0)).min(1.0);
                pairs *= 1.0 / left.max(right.domain(inside)).max(1.0);
            }
            None => {
                residual *= match condition {
                    Expr::Binary { op: BinaryOp::NotEqual | BinaryOp::IsDistinctFrom, .. } => 0.95,
                    _ => 0.5,
                }
            }
        }
    }
    if keys == 0 {
        matched = if right.rows >= 1.0 { 0.9 } else { right.rows };
    }
    let matched = (matched * residual).clamp(0.001, 1.0);
    match dependent.kind {
        JoinKind::Semi => matched,
        JoinKind::Anti => (1.0 - matched).max(0.05),
        JoinKind::Left => (right.rows * pairs * residual).max(1.0),
        _ => 1.0,
    }
}

/// The share of `probe` values of a key that a build side of `rows` rows has.
pub(crate) fn key_share(build_domain: f64, build_rows: f64, probe_domain: f64) -> f64 {
    (occurring(build_domain, build_rows) / probe_domain.max(1.0)).min(1.0)
}
