//! Aggregation below an outer join.
//!
//! `SELECT l.key, count(r.x) FROM l LEFT JOIN r ON l.key = r.ref GROUP BY l.key`, the key
//! being unique: each group is one left row with its matches, so the matches can be
//! counted first, by `r.ref`, and joined once for each left row (Yan and Larson, "Eager
//! aggregation and lazy aggregation", 1995).

use super::estimate::Estimator;
use crate::logical::{Columns, Dependent, Id, IdSet, Rel, columns_of};
use gingham_plan::{AggregateCall, AggregateFunction, BinaryOp, Expr, Function, JoinKind};
use gingham_types::Value;

/// An aggregate over a left join, rewritten, if it has that shape and the right side is the larger.
pub(super) fn aggregate_first(
    input: Rel,
    groups: &[(Id, Expr)],
    aggregates: &[(Id, AggregateCall)],
    estimator: &Estimator<'_>,
) -> Result<Rel, Rel> {
    let Some(on) = eligible(&input, groups, aggregates, estimator) else { return Err(input) };
    let Rel::Block { inputs, predicates, mut dependents } = input else { return Err(input) };
    let Some(dependent) = dependents.pop() else { return Err(Rel::Block { inputs, predicates, dependents }) };
    let columns = estimator.columns;
    let keys: Vec<(Id, Expr)> = on.iter().map(|id| (*id, columns.expr(*id))).collect();
    let right = Rel::Aggregate { input: Box::new(dependent.right), groups: keys, aggregates: aggregates.to_vec() };
    let joined = Rel::Block { inputs, predicates, dependents: vec![Dependent { right, ..dependent }] };
    Ok(joined)
}

/// What a left row without a match has for an aggregate.
fn without_match(call: &AggregateCall) -> Option<i64> {
    match call.function {
        // The row itself, with NULLs on the right.
        AggregateFunction::CountStar => Some(1),
        AggregateFunction::Count => Some(0),
        _ => None,
    }
}

/// The value of an aggregate above the join.
pub(super) fn above(id: Id, call: &AggregateCall, columns: &Columns) -> Expr {
    let value = columns.expr(id);
    match without_match(call) {
        Some(count) => {
            let default = Expr::literal(Value::Int(count), call.ty);
            Expr::Call { function: Function::Coalesce, arguments: vec![value, default], ty: call.ty }
        }
        None => value,
    }
}

/// The right side's join columns, if the rewrite is right and pays.
fn eligible(
    input: &Rel,
    groups: &[(Id, Expr)],
    aggregates: &[(Id, AggregateCall)],
    estimator: &Estimator<'_>,
) -> Option<Vec<Id>> {
    let Rel::Block { inputs, dependents, .. } = input else { return None };
    let ([left], [dependent]) = (inputs.as_slice(), dependents.as_slice()) else { return None };
    if dependent.kind != JoinKind::Left || aggregates.is_empty() {
        return None;
    }
    let left_columns = left.outputs();
    let plain = |(id, expr): &(Id, Expr)| {
        matches!(expr, Expr::Column { index, .. } if index == id) && left_columns.contains(*id)
    };
    if !groups.iter().all(plain) {
        return None;
    }
    let grouped: IdSet = groups.iter().map(|(id, _)| *id).collect();
    let estimate = estimator.estimate(left);
    let unique = estimate
        .keys
        .iter()
        .any(|key| key.columns.iter().all(|c| grouped.contains(*c)) && left_columns.is_subset(&key.determines));
    if !unique {
        return None;
    }
    let right_columns = dependent.right.outputs();
    for (_, call) in aggregates {
        // A filter would also have to say what becomes of a row without a match.
        if call.filter.is_some() || call.function.is_collected() {
            return None;
        }
        let mut used = IdSet::default();
        call.argument.iter().for_each(|e| columns_of(e, &mut used));
        let column = matches!(&call.argument, None | Some(Expr::Column { .. }));
        if !used.is_subset(&right_columns) || !column {
            return None;
        }
    }
    let mut keys = Vec::new();
    for condition in &dependent.on {
        let Expr::Binary { op: BinaryOp::Equal, left: a, right: b, .. } = condition else { return None };
        let (Expr::Column { index: a, .. }, Expr::Column { index: b, .. }) = (&**a, &**b) else { return None };
        let inside = if right_columns.contains(*b) { *b } else { *a };
        if !right_columns.contains(inside) {
            return None;
        }
        keys.push(inside);
    }
    let larger = estimator.estimate(&dependent.right).rows > estimate.rows * 1.5;
    (larger && !keys.is_empty()).then_some(keys)
}
