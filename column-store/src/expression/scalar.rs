//! Expressions over one row of values.
//!
//! The plain twin of the vector kernels: DEFAULT values, ON CONFLICT, key bounds and
//! VALUES go through here, and tests compare every kernel with it.

use super::runtime::Runtime;
use super::{error, like, scalar_binary, scalar_function};
use crate::Result;
use gingham_plan::{BinaryOp, Expr, Function};
use gingham_types::{Value, cast, compare_values};
use std::cmp::Ordering;

/// The value of `expr` over `row`, whose values stand for `Expr::Column` by position.
///
/// # Errors
/// What the operators raise (22012, 22003, …); XX000 for a column past the row.
pub fn evaluate_row_with(expr: &Expr, row: &[Value], runtime: &Runtime) -> Result<Value> {
    let eval = |e: &Expr| evaluate_row_with(e, row, runtime);
    match expr {
        Expr::Column { index, .. } => {
            row.get(*index).cloned().ok_or_else(|| error::internal(format!("column {index} of a row of {}", row.len())))
        }
        Expr::Literal { value, .. } => Ok(value.clone()),
        Expr::Parameter { .. } | Expr::Slot { .. } | Expr::Now | Expr::Subquery { .. } => {
            Ok(runtime.constant(expr)?.cloned().unwrap_or(Value::Null))
        }
        Expr::Binary { op: BinaryOp::And, left, right, .. } => match truth(&eval(left)?)? {
            Some(false) => Ok(Value::Boolean(false)),
            left => Ok(from_truth(and(left, truth(&eval(right)?)?))),
        },
        Expr::Binary { op: BinaryOp::Or, left, right, .. } => match truth(&eval(left)?)? {
            Some(true) => Ok(Value::Boolean(true)),
            left => Ok(from_truth(or(left, truth(&eval(right)?)?))),
        },
        Expr::Binary { op, left, right, ty } => scalar_binary::binary(*op, &eval(left)?, &eval(right)?, *ty),
        Expr::Not(e) => Ok(from_truth(truth(&eval(e)?)?.map(|v| !v))),
        Expr::Negate(e) => scalar_binary::negate(&eval(e)?, expr.ty()),
        Expr::IsNull { expr, negated } => Ok(Value::Boolean(eval(expr)?.is_null() != *negated)),
        Expr::InList { expr, list, negated } => {
            let value = eval(expr)?;
            let mut found = Some(false);
            for item in list {
                found = or(found, equal(&value, &eval(item)?));
            }
            Ok(from_truth(found.map(|v| v != *negated)))
        }
        Expr::Like { expr, pattern, escape, negated, ignore_case } => match (eval(expr)?, eval(pattern)?) {
            (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
            (Value::Text(text), Value::Text(pattern)) => {
                let matcher = like::Matcher::new(&pattern, *escape, *ignore_case)?;
                Ok(Value::Boolean(matcher.matches(text.as_bytes()) != *negated))
            }
            _ => Err(error::internal("LIKE over something else than TEXT")),
        },
        Expr::Case { branches, otherwise, .. } => {
            for (condition, result) in branches {
                if truth(&eval(condition)?)? == Some(true) {
                    return eval(result);
                }
            }
            otherwise.as_ref().map_or(Ok(Value::Null), |e| eval(e))
        }
        Expr::Cast { expr, ty, lenient } => match cast(&eval(expr)?, *ty) {
            Ok(value) => Ok(value),
            Err(_) if *lenient => Ok(Value::Null),
            Err(error) => Err(error.into()),
        },
        Expr::Call { function: Function::Coalesce, arguments, .. } => {
            for argument in arguments {
                let value = eval(argument)?;
                if !value.is_null() {
                    return Ok(value);
                }
            }
            Ok(Value::Null)
        }
        Expr::Call { function, arguments, ty } => {
            let values = arguments.iter().map(eval).collect::<Result<Vec<Value>>>()?;
            scalar_function::call(*function, &values, *ty)
        }
    }
}

/// The value of `expr` over `row`, without parameters, slots or subqueries.
///
/// # Errors
/// As [`evaluate_row_with`].
pub fn evaluate_row(expr: &Expr, row: &[Value]) -> Result<Value> {
    evaluate_row_with(expr, row, &Runtime::default())
}

/// SQL equality: NULL where either is NULL.
pub(crate) fn equal(a: &Value, b: &Value) -> Option<bool> {
    (!a.is_null() && !b.is_null()).then(|| compare_values(a, b) == Ordering::Equal)
}

/// A BOOLEAN as a truth value; `None` is unknown.
pub(crate) fn truth(value: &Value) -> Result<Option<bool>> {
    match value {
        Value::Null => Ok(None),
        Value::Boolean(v) => Ok(Some(*v)),
        other => Err(error::internal(format!("{} where a BOOLEAN belongs", other.sql_type()))),
    }
}

/// A truth value as a BOOLEAN.
pub(crate) fn from_truth(value: Option<bool>) -> Value {
    value.map_or(Value::Null, Value::Boolean)
}

/// Three-valued AND.
pub(crate) fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// Three-valued OR.
pub(crate) fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}
