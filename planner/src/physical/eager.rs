//! Aggregation below an outer join.
//!
//! `SELECT l.key, count(r.x) FROM l LEFT JOIN r ON l.key = r.ref GROUP BY l.key`, the key
//! being unique: each group is one left row with its matches, so the matches can be
//! counted first, by `r.ref`, and joined once for each left row (Yan and Larson, "Eager
//! aggregation and lazy aggregation", 1995). Where the key is not known to be unique, a group
//! may have several left rows, and their counts are added up above the join.

use super::estimate::Estimator;
use crate::logical::{Columns, Dependent, Id, IdSet, Rel, columns_of};
use gingham_plan::{AggregateCall, AggregateFunction, BinaryOp, Expr, Function, JoinKind};
use gingham_types::Value;

/// What is joined once the right side is aggregated.
pub(super) struct Joined {
    pub(super) rel: Rel,
    /// Whether each of its rows is a group; otherwise the counts of a group are to be added up.
    pub(super) complete: bool,
}

/// An aggregate over a left join, rewritten, if it has that shape and the right side is the larger.
pub(super) fn aggregate_first(
    input: Rel,
    groups: &[(Id, Expr)],
    aggregates: &[(Id, AggregateCall)],
    estimator: &Estimator<'_>,
) -> Result<Joined, Rel> {
    let Some((on, complete)) = eligible(&input, groups, aggregates, estimator) else { return Err(input) };
    let Rel::Block { inputs, predicates, mut dependents } = input else { return Err(input) };
    let Some(dependent) = dependents.pop() else { return Err(Rel::Block { inputs, predicates, dependents }) };
    let columns = estimator.columns;
    let keys: Vec<(Id, Expr)> = on.iter().map(|id| (*id, columns.expr(*id))).collect();
    let right = Rel::Aggregate { input: Box::new(dependent.right), groups: keys, aggregates: aggregates.to_vec() };
    let rel = Rel::Block { inputs, predicates, dependents: vec![Dependent { right, ..dependent }] };
    Ok(Joined { rel, complete })
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

/// Adds up the counts of a group's left rows: `count` is one of them.
pub(super) fn total(count: Expr, call: &AggregateCall) -> AggregateCall {
    AggregateCall::new(AggregateFunction::Sum, Some(count), call.ty)
}

/// The right side's join columns, if the rewrite is right and pays, and whether each left row
/// is a group of its own.
fn eligible(
    input: &Rel,
    groups: &[(Id, Expr)],
    aggregates: &[(Id, AggregateCall)],
    estimator: &Estimator<'_>,
) -> Option<(Vec<Id>, bool)> {
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
    let is_count = |call: &AggregateCall| without_match(call).is_some() && !call.distinct;
    if !unique && (groups.is_empty() || !aggregates.iter().all(|(_, call)| is_count(call))) {
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
    let right = estimator.estimate(&dependent.right);
    let larger = right.rows > estimate.rows * 1.5;
    // Rows of a group on the right, which there are left to join and to add up: that has to be
    // known to be few where nothing is known of the left side.
    let distinct = |id: &Id| right.columns.get(id).map_or(0.0, |column| column.distinct);
    let matches: f64 = keys.iter().map(distinct).product();
    let fewer = unique || (matches > 0.0 && matches * 2.0 <= right.rows);
    (larger && fewer && !keys.is_empty()).then_some((keys, unique))
}
