//! What share of rows a predicate keeps.

use super::estimate::{Estimate, on_line};
use crate::logical::{Id, IdSet, columns_of};
use gingham_plan::{BinaryOp, Expr};
use gingham_types::Value;
use std::collections::HashMap;

/// A comparison of which nothing is known.
const RANGE_DEFAULT: f64 = 1.0 / 3.0;
/// Two columns of one row compared.
const COLUMNS_COMPARED: f64 = 0.5;
/// `LIKE 'prefix%'`.
const LIKE_PREFIX: f64 = 0.02;
/// `LIKE '%part%'`.
const LIKE_PART: f64 = 0.06;
/// A computed value equal to a constant.
const EXPRESSION_EQUAL: f64 = 0.04;
/// Anything else.
const OTHER: f64 = 0.25;
/// Nothing is estimated to be rarer.
const LEAST: f64 = 1e-9;

/// Bounds on one column, as shares of its range.
#[derive(Clone, Copy)]
struct Bounds {
    low: f64,
    high: f64,
    unknown: u32,
}

/// The share of rows that satisfy all `predicates`.
pub(super) fn selectivity(predicates: &[Expr], input: &Estimate) -> f64 {
    let mut bounds: HashMap<Id, Bounds> = HashMap::new();
    let mut share = 1.0;
    for predicate in predicates {
        if let Some((id, op, position)) = bound(predicate, input) {
            let entry = bounds.entry(id).or_insert(Bounds { low: 0.0, high: 1.0, unknown: 0 });
            match (op, position) {
                (_, None) => entry.unknown += 1,
                (BinaryOp::Less | BinaryOp::LessOrEqual, Some(p)) => entry.high = entry.high.min(p),
                (_, Some(p)) => entry.low = entry.low.max(p),
            }
        } else {
            share *= one(predicate, input);
        }
    }
    for (id, b) in bounds {
        let known = 1.0 - input.column(id).nulls;
        // Two unknown bounds are most likely the two ends of a range.
        let unknown = match b.unknown {
            0 => 1.0,
            1 => RANGE_DEFAULT,
            _ => 0.1,
        };
        share *= ((b.high - b.low).max(1.0 / input.domain(id)) * unknown * known).clamp(LEAST, 1.0);
    }
    share.clamp(LEAST, 1.0)
}

/// A range predicate on a column: where in the column's range the bound lies, from 0 to 1.
fn bound(predicate: &Expr, input: &Estimate) -> Option<(Id, BinaryOp, Option<f64>)> {
    let Expr::Binary { op, left, right, .. } = predicate else { return None };
    let op = *op;
    if !matches!(op, BinaryOp::Less | BinaryOp::LessOrEqual | BinaryOp::Greater | BinaryOp::GreaterOrEqual) {
        return None;
    }
    let (id, op, value) = match (&**left, &**right) {
        (Expr::Column { index, .. }, value) => (*index, op, value),
        (value, Expr::Column { index, .. }) => (*index, op.swapped(), value),
        _ => return None,
    };
    let mut used = IdSet::default();
    columns_of(value, &mut used);
    if used.iter().any(|other| input.columns.contains_key(&other)) {
        return None;
    }
    let column = input.column(id);
    let point = match value {
        Expr::Literal { value, .. } => on_line(value),
        _ => None,
    };
    if let (Some((mean, deviation)), Some(point)) = (column.spread, point) {
        // The logistic curve stands in for the normal one.
        let below = 1.0 / (1.0 + (-1.702 * (point - mean) / deviation.max(1e-9)).exp());
        return Some((id, op, Some(below)));
    }
    let position = match (column.range, point) {
        (Some((low, high)), Some(point)) if high > low => Some(((point - low) / (high - low)).clamp(0.0, 1.0)),
        _ => None,
    };
    Some((id, op, position))
}

/// The share of one predicate that is not a range on a column.
fn one(predicate: &Expr, input: &Estimate) -> f64 {
    match predicate {
        Expr::Literal { value: Value::Boolean(true), .. } => 1.0,
        Expr::Literal { .. } => LEAST,
        Expr::Column { .. } | Expr::Subquery { .. } | Expr::Parameter { .. } | Expr::Now => 0.5,
        Expr::Not(inner) => 1.0 - one(inner, input),
        Expr::IsNull { expr, negated } => {
            let nulls = match &**expr {
                Expr::Column { index, .. } => input.column(*index).nulls.max(0.001),
                _ => 0.05,
            };
            if *negated { 1.0 - nulls } else { nulls }
        }
        Expr::InList { expr, list, negated } => {
            let share = (list.len() as f64 * equal(expr, input)).min(1.0);
            if *negated { 1.0 - share } else { share }
        }
        Expr::Like { pattern, negated, .. } => {
            let share = match &**pattern {
                Expr::Literal { value: Value::Text(text), .. } if !text.starts_with(['%', '_']) => LIKE_PREFIX,
                _ => LIKE_PART,
            };
            if *negated { 1.0 - share } else { share }
        }
        Expr::Binary { op: BinaryOp::And, left, right, .. } => {
            selectivity(&[(**left).clone(), (**right).clone()], input)
        }
        Expr::Binary { op: BinaryOp::Or, left, right, .. } => {
            let all = |e: &Expr| selectivity(&crate::logical::conjuncts(e.clone()), input);
            let (a, b) = (all(left), all(right));
            a + b - a * b
        }
        Expr::Binary { op, left, right, .. } => comparison(*op, left, right, input),
        _ => OTHER,
    }
}

fn comparison(op: BinaryOp, left: &Expr, right: &Expr, input: &Estimate) -> f64 {
    let constant = |e: &Expr| {
        let mut used = IdSet::default();
        columns_of(e, &mut used);
        !used.iter().any(|id| input.columns.contains_key(&id))
    };
    match (op, constant(left), constant(right)) {
        (BinaryOp::Equal | BinaryOp::IsNotDistinctFrom, false, true) => in_range(left, right, input),
        (BinaryOp::Equal | BinaryOp::IsNotDistinctFrom, true, false) => in_range(right, left, input),
        (BinaryOp::Equal, false, false) => equal(left, input).min(equal(right, input)),
        (BinaryOp::NotEqual | BinaryOp::IsDistinctFrom, false, true) => 1.0 - equal(left, input),
        (BinaryOp::NotEqual | BinaryOp::IsDistinctFrom, ..) => 0.9,
        (_, false, false) => COLUMNS_COMPARED,
        _ => RANGE_DEFAULT,
    }
}

/// `expr = value`, nearly nothing where the value is outside the column's range.
fn in_range(expr: &Expr, value: &Expr, input: &Estimate) -> f64 {
    if let (Expr::Column { index, .. }, Expr::Literal { value, .. }) = (expr, value)
        && let (Some((low, high)), Some(point)) = (input.column(*index).range, on_line(value))
        && (point < low || point > high)
    {
        return LEAST.max(0.1 / input.rows.max(1.0));
    }
    equal(expr, input)
}

fn equal(expr: &Expr, input: &Estimate) -> f64 {
    match expr {
        Expr::Column { index, .. } => {
            let column = input.column(*index);
            let domain = if column.distinct > 0.0 { column.distinct } else { (input.rows / 10.0).clamp(1.0, 1000.0) };
            (1.0 - column.nulls) / domain.max(1.0)
        }
        _ => EXPRESSION_EQUAL,
    }
}

/// Narrows the domains of columns that the predicates are about.
pub(super) fn restrict(predicates: &[Expr], input: &mut Estimate) {
    let mut shares: HashMap<Id, Vec<Expr>> = HashMap::new();
    for predicate in predicates {
        let mut used = IdSet::default();
        columns_of(predicate, &mut used);
        let mut ids = used.iter().filter(|id| input.columns.contains_key(id));
        if let (Some(id), None) = (ids.next(), ids.next()) {
            shares.entry(id).or_default().push(predicate.clone());
        }
    }
    for (id, own) in shares {
        let share = selectivity(&own, input);
        let domain = input.domain(id);
        if let Some(column) = input.columns.get_mut(&id) {
            column.distinct = (domain * share).max(1.0);
            column.nulls = 0.0;
        }
    }
}
