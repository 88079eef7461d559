//! Pulling correlated predicates out of a subquery, so that it becomes a join.
//!
//! Column numbers are unique, so a predicate that leaves the subquery needs no renaming:
//! it only has to find its inner columns in the subquery's output. Filters, inner joins
//! and computed columns let them through; an aggregate lets through what it groups by,
//! so an equality of an inner expression with an outer one becomes a group key. A
//! subquery that does not fit stays a subplan that is run row by row.

use super::{Columns, Id, IdSet, Join, Rel, columns_of, push_conjuncts, substitute, uses_only};
use crate::convert::fold;
use gingham_plan::{AggregateFunction, BinaryOp, Catalog, Expr, IndexInfo, JoinKind};
use gingham_types::{SqlType, Value};
use std::collections::HashMap;

/// What the subquery's rows are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// EXISTS: whether there is a row.
    Existence,
    /// IN: which values there are, however often.
    Membership,
    /// A scalar subquery.
    Value,
    /// LATERAL: every row.
    Rows,
}

/// A subquery without (some of) its correlation.
#[derive(Debug)]
pub(crate) struct Pulled {
    pub(crate) rel: Rel,
    /// Conjuncts over outer columns and columns of `rel`.
    pub(crate) predicates: Vec<Expr>,
    /// Computed columns that need outer columns: to be computed after the join.
    pub(crate) deferred: HashMap<Id, Expr>,
    /// For an aggregate without GROUP BY: its columns' values over no rows, for which
    /// `rel` now has no row at all.
    pub(crate) defaults: Option<HashMap<Id, Expr>>,
}

impl Pulled {
    fn plain(rel: Rel) -> Self {
        Self { rel, predicates: Vec::new(), deferred: HashMap::new(), defaults: None }
    }
}

fn refers(expr: &Expr, outer: &IdSet) -> bool {
    let mut used = IdSet::default();
    columns_of(expr, &mut used);
    used.intersects(outer)
}

/// Pulls what refers to `outer` out of `rel`; `None` where that would change the answer.
pub(crate) fn pull(rel: Rel, outer: &IdSet, purpose: Purpose, columns: &mut Columns) -> Option<Pulled> {
    if !rel.free_columns().intersects(outer) {
        return Some(Pulled::plain(rel));
    }
    match rel {
        Rel::Filter { input, predicates } => {
            let mut pulled = pull(*input, outer, purpose, columns)?;
            let mut kept = Vec::new();
            for mut predicate in predicates {
                substitute(&mut predicate, &pulled.deferred);
                if refers(&predicate, outer) {
                    if pulled.defaults.is_some() {
                        return None;
                    }
                    push_conjuncts(predicate, &mut pulled.predicates);
                } else {
                    kept.push(predicate);
                }
            }
            if let Some(defaults) = &mut pulled.defaults {
                // The row over no rows must fail the filter, as the missing row does.
                let fails = kept.iter().any(|predicate| {
                    let mut predicate = predicate.clone();
                    substitute(&mut predicate, defaults);
                    refold(&mut predicate);
                    matches!(predicate, Expr::Literal { value: Value::Boolean(false) | Value::Null, .. })
                });
                if !kept.is_empty() && !fails {
                    return None;
                }
                if fails {
                    for (id, default) in defaults.iter_mut() {
                        *default = Expr::literal(Value::Null, columns.ty(*id));
                    }
                }
            }
            pulled.rel = pulled.rel.filter(kept);
            Some(pulled)
        }
        Rel::Extend { input, expressions } => {
            let mut pulled = pull(*input, outer, purpose, columns)?;
            let mut kept = Vec::new();
            for (id, mut expr) in expressions {
                substitute(&mut expr, &pulled.deferred);
                if let Some(defaults) = &mut pulled.defaults {
                    let mut default = expr.clone();
                    substitute(&mut default, defaults);
                    refold(&mut default);
                    defaults.insert(id, default);
                }
                if refers(&expr, outer) {
                    pulled.deferred.insert(id, expr);
                } else {
                    kept.push((id, expr));
                }
            }
            pulled.rel = pulled.rel.extend(kept);
            Some(pulled)
        }
        Rel::Aggregate { input, groups, aggregates } => {
            let pulled = pull(*input, outer, purpose, columns)?;
            if pulled.defaults.is_some() {
                return None;
            }
            pull_aggregate(pulled, groups, aggregates, outer, purpose, columns)
        }
        Rel::Join(join) => pull_join(*join, outer, purpose, columns),
        Rel::Sort { input, limit: None, offset: None, .. } => pull(*input, outer, purpose, columns),
        Rel::Sort { input, limit, offset: None, .. } | Rel::Limit { input, limit, offset: None }
            if purpose == Purpose::Existence && at_least_one(limit.as_ref()) =>
        {
            pull(*input, outer, purpose, columns)
        }
        Rel::Apply { kind, input, subplan, output } => {
            if subplan.free_columns().intersects(outer) {
                return None;
            }
            let mut pulled = pull(*input, outer, purpose, columns)?;
            if !pulled.deferred.is_empty() || pulled.defaults.is_some() {
                return None;
            }
            pulled.rel = Rel::Apply { kind, input: Box::new(pulled.rel), subplan, output };
            Some(pulled)
        }
        _ => None,
    }
}

const fn at_least_one(limit: Option<&Expr>) -> bool {
    match limit {
        None => true,
        Some(Expr::Literal { value: Value::Int(n), .. }) => *n >= 1,
        Some(_) => false,
    }
}

/// Folds an expression after a substitution.
fn refold(expr: &mut Expr) {
    expr.visit_mut(&mut |e| {
        let taken = std::mem::replace(e, Expr::literal(Value::Null, SqlType::Null));
        *e = fold(taken);
    });
}

fn pull_aggregate(
    mut pulled: Pulled,
    mut groups: Vec<(Id, Expr)>,
    mut aggregates: Vec<(Id, gingham_plan::AggregateCall)>,
    outer: &IdSet,
    purpose: Purpose,
    columns: &mut Columns,
) -> Option<Pulled> {
    for (_, expr) in &mut groups {
        substitute(expr, &pulled.deferred);
    }
    for (_, call) in &mut aggregates {
        for expr in call.expressions_mut() {
            substitute(expr, &pulled.deferred);
        }
    }
    let used_outer = groups.iter().map(|(_, e)| e).any(|e| refers(e, outer))
        || aggregates.iter().any(|(_, c)| c.expressions().any(|e| refers(e, outer)));
    if used_outer {
        return None;
    }
    let scalar = groups.is_empty();
    let inner = pulled.rel.outputs();
    let group_of = |expr: &Expr, groups: &mut Vec<(Id, Expr)>, columns: &mut Columns| {
        if let Some((id, _)) = groups.iter().find(|(_, e)| e == expr) {
            return *id;
        }
        let id = match expr {
            Expr::Column { index, .. } => *index,
            _ => columns.add(expr.ty(), true),
        };
        groups.push((id, expr.clone()));
        id
    };
    let mut predicates = Vec::with_capacity(pulled.predicates.len());
    for predicate in pulled.predicates {
        if let Expr::Binary { op: op @ (BinaryOp::Equal | BinaryOp::IsNotDistinctFrom), left, right, ty } = &predicate {
            let sides = if uses_only(left, &inner) && !refers(right, &inner) {
                Some((left, right))
            } else if uses_only(right, &inner) && !refers(left, &inner) {
                Some((right, left))
            } else {
                None
            };
            // `IS NOT DISTINCT FROM` keeps the group of NULLs; so does grouping.
            if let Some((inside, outside)) = sides {
                let id = group_of(inside, &mut groups, columns);
                let left = Box::new(columns.expr(id));
                predicates.push(Expr::Binary { op: *op, left, right: outside.clone(), ty: *ty });
                continue;
            }
        }
        // A DISTINCT whose repeats do not matter may tell more rows apart.
        if !aggregates.is_empty() || scalar || !matches!(purpose, Purpose::Existence | Purpose::Membership) {
            return None;
        }
        let mut used = IdSet::default();
        columns_of(&predicate, &mut used);
        for id in used.iter().filter(|id| inner.contains(*id)) {
            let expr = columns.expr(id);
            group_of(&expr, &mut groups, columns);
        }
        predicates.push(predicate);
    }
    pulled.predicates = predicates;
    if scalar {
        let default = |call: &gingham_plan::AggregateCall| match call.function {
            AggregateFunction::Count | AggregateFunction::CountStar => Value::Int(0),
            _ => Value::Null,
        };
        pulled.defaults = Some(aggregates.iter().map(|(id, c)| (*id, Expr::literal(default(c), c.ty))).collect());
    } else if purpose == Purpose::Value {
        // More groups than one may remain: the subquery is then an error that a join would not report.
        return None;
    }
    pulled.deferred.clear();
    pulled.rel = Rel::Aggregate { input: Box::new(pulled.rel), groups, aggregates };
    Some(pulled)
}

fn pull_join(join: Join, outer: &IdSet, purpose: Purpose, columns: &mut Columns) -> Option<Pulled> {
    let Join { kind, left, right, mut on, null_aware, mark } = join;
    let mut left = pull(left, outer, purpose, columns)?;
    if left.defaults.is_some() {
        return None;
    }
    if kind == JoinKind::Inner {
        let right = pull(right, outer, purpose, columns)?;
        if right.defaults.is_some() {
            return None;
        }
        left.deferred.extend(right.deferred);
        left.predicates.extend(right.predicates);
        let mut kept = Vec::new();
        for mut predicate in on {
            substitute(&mut predicate, &left.deferred);
            if refers(&predicate, outer) {
                push_conjuncts(predicate, &mut left.predicates);
            } else {
                kept.push(predicate);
            }
        }
        left.rel = Rel::Join(Box::new(Join { kind, left: left.rel, right: right.rel, on: kept, null_aware, mark }));
        return Some(left);
    }
    for predicate in &mut on {
        substitute(predicate, &left.deferred);
    }
    let correlated = right.free_columns().intersects(outer) || on.iter().any(|e| refers(e, outer));
    if correlated || kind == JoinKind::Full {
        return None;
    }
    left.rel = Rel::Join(Box::new(Join { kind, left: left.rel, right, on, null_aware, mark }));
    Some(left)
}

/// Whether equalities with outer values leave at most one row: they fix a unique key of a table.
pub(crate) fn single_row(rel: &Rel, predicates: &[Expr], catalog: &Catalog) -> bool {
    match rel {
        Rel::Filter { input, predicates: more } => {
            let all: Vec<Expr> = predicates.iter().chain(more).cloned().collect();
            single_row(input, &all, catalog)
        }
        Rel::Extend { input, .. } => single_row(input, predicates, catalog),
        Rel::Scan(scan) => {
            let inner = rel.outputs();
            let fixed: Vec<usize> = predicates
                .iter()
                .filter_map(|predicate| match predicate {
                    Expr::Binary { op: BinaryOp::Equal, left, right, .. } => Some((left, right)),
                    _ => None,
                })
                .flat_map(|(left, right)| [(left, right), (right, left)])
                .filter(|(_, outside)| !refers(outside, &inner))
                .filter_map(|(inside, _)| match **inside {
                    Expr::Column { index, .. } => scan.columns.iter().position(|c| *c == index),
                    _ => None,
                })
                .collect();
            let table = &catalog.tables[scan.table];
            (!table.primary_key.is_empty() && table.primary_key.iter().all(|c| fixed.contains(c)))
                || table
                    .indexes
                    .iter()
                    .filter_map(IndexInfo::unique_columns)
                    .any(|key| key.iter().all(|c| fixed.contains(c)))
        }
        _ => false,
    }
}
