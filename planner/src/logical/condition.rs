//! Predicates: their conjuncts, their columns, and what NULL makes of them.

use super::{Id, IdSet};
use gingham_plan::{BinaryOp, Expr, Function};
use gingham_types::Value;
use std::collections::HashMap;

/// Adds the columns that `expr` uses.
pub(crate) fn columns_of(expr: &Expr, set: &mut IdSet) {
    expr.visit(&mut |e| {
        if let Expr::Column { index, .. } = e {
            set.insert(*index);
        }
    });
}

/// Whether `expr` uses columns of `available` only (and possibly none).
pub(crate) fn uses_only(expr: &Expr, available: &IdSet) -> bool {
    let mut used = IdSet::default();
    columns_of(expr, &mut used);
    used.is_subset(available)
}

/// Appends the conjuncts of `expr`, TRUE left out.
pub(crate) fn push_conjuncts(expr: Expr, list: &mut Vec<Expr>) {
    match expr {
        Expr::Binary { op: BinaryOp::And, left, right, .. } => {
            push_conjuncts(*left, list);
            push_conjuncts(*right, list);
        }
        Expr::Literal { value: Value::Boolean(true), .. } => {}
        other => push_new(other, list),
    }
}

/// Appends a predicate unless the list has it. Long lists are not searched: that would
/// take time with the square of their length, and repeats do no harm.
pub(crate) fn push_new(predicate: Expr, list: &mut Vec<Expr>) {
    const SEARCHED_MAX: usize = 64;
    if list.len() > SEARCHED_MAX || !list.contains(&predicate) {
        list.push(predicate);
    }
}

/// The conjuncts of `expr`.
pub(crate) fn conjuncts(expr: Expr) -> Vec<Expr> {
    let mut list = Vec::new();
    push_conjuncts(expr, &mut list);
    list
}

/// The disjuncts of `expr`.
pub(crate) fn disjuncts(expr: &Expr) -> Vec<&Expr> {
    let mut list = Vec::new();
    let mut pending = vec![expr];
    while let Some(next) = pending.pop() {
        match next {
            Expr::Binary { op: BinaryOp::Or, left, right, .. } => {
                pending.push(right);
                pending.push(left);
            }
            other => list.push(other),
        }
    }
    list
}

/// Replaces columns by expressions.
pub(crate) fn substitute(expr: &mut Expr, map: &HashMap<Id, Expr>) {
    if map.is_empty() {
        return;
    }
    expr.visit_mut(&mut |e| {
        if let Expr::Column { index, .. } = e
            && let Some(replacement) = map.get(index)
        {
            *e = replacement.clone();
        }
    });
}

/// Whether `expr` is NULL whenever all columns of `nulls` are. May say no wrongly.
pub(crate) fn null_when(expr: &Expr, nulls: &IdSet) -> bool {
    match expr {
        Expr::Column { index, .. } => nulls.contains(*index),
        Expr::Literal { value, .. } => value.is_null(),
        Expr::Binary { op: BinaryOp::And | BinaryOp::Or, left, right, .. } => {
            null_when(left, nulls) && null_when(right, nulls)
        }
        Expr::Binary { op: BinaryOp::IsDistinctFrom | BinaryOp::IsNotDistinctFrom, .. } => false,
        Expr::Binary { left, right, .. } => null_when(left, nulls) || null_when(right, nulls),
        Expr::Not(e) | Expr::Negate(e) | Expr::Cast { expr: e, .. } => null_when(e, nulls),
        Expr::InList { expr, .. } => null_when(expr, nulls),
        Expr::Like { expr, pattern, .. } => null_when(expr, nulls) || null_when(pattern, nulls),
        Expr::Call { function: Function::Coalesce | Function::Greatest | Function::Least, arguments, .. } => {
            arguments.iter().all(|a| null_when(a, nulls))
        }
        Expr::Call { function: Function::ConcatAll, .. } => false,
        Expr::Call { function: Function::NullIf, arguments, .. } => {
            arguments.first().is_some_and(|a| null_when(a, nulls))
        }
        Expr::Call { arguments, .. } => arguments.iter().any(|a| null_when(a, nulls)),
        Expr::Parameter { .. }
        | Expr::Slot { .. }
        | Expr::Now
        | Expr::Subquery { .. }
        | Expr::IsNull { .. }
        | Expr::Case { .. } => false,
    }
}

/// Whether `predicate` is not true whenever all columns of `nulls` are NULL. May say no wrongly.
pub(crate) fn rejects_null(predicate: &Expr, nulls: &IdSet) -> bool {
    match predicate {
        Expr::Literal { value: Value::Boolean(false) | Value::Null, .. } => true,
        Expr::Binary { op: BinaryOp::And, left, right, .. } => rejects_null(left, nulls) || rejects_null(right, nulls),
        Expr::Binary { op: BinaryOp::Or, left, right, .. } => rejects_null(left, nulls) && rejects_null(right, nulls),
        Expr::IsNull { expr, negated: true } => null_when(expr, nulls),
        other => null_when(other, nulls),
    }
}
