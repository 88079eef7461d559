//! Binary operators on two values.

use super::{decimal, error};
use crate::Result;
use gingham_plan::BinaryOp;
use gingham_types::{Interval, SqlType, Value, add_months, compare_values};
use std::cmp::Ordering;

pub(crate) const MICROS_PER_DAY: i64 = 86_400_000_000;

/// `left op right`, except AND and OR, which do not always need both.
pub(crate) fn binary(op: BinaryOp, left: &Value, right: &Value, ty: SqlType) -> Result<Value> {
    let order = || compare_values(left, right);
    match op {
        BinaryOp::IsDistinctFrom => return Ok(Value::Boolean(order() != Ordering::Equal)),
        BinaryOp::IsNotDistinctFrom => return Ok(Value::Boolean(order() == Ordering::Equal)),
        BinaryOp::And => return Ok(super::scalar::from_truth(super::scalar::and(truth(left)?, truth(right)?))),
        BinaryOp::Or => return Ok(super::scalar::from_truth(super::scalar::or(truth(left)?, truth(right)?))),
        _ if left.is_null() || right.is_null() => return Ok(Value::Null),
        _ => {}
    }
    match op {
        BinaryOp::Concat => match (left, right) {
            (Value::Text(a), Value::Text(b)) => Ok(Value::Text(format!("{a}{b}"))),
            (Value::Blob(a), Value::Blob(b)) => Ok(Value::Blob([&a[..], &b[..]].concat())),
            _ => Err(mismatch(op, left, right)),
        },
        _ if op.is_comparison() => Ok(Value::Boolean(holds(op, order()))),
        _ => arithmetic(op, left, right, ty),
    }
}

/// Whether a comparison holds of two values in that order.
pub(crate) const fn holds(op: BinaryOp, order: Ordering) -> bool {
    match op {
        BinaryOp::Equal | BinaryOp::IsNotDistinctFrom => matches!(order, Ordering::Equal),
        BinaryOp::NotEqual | BinaryOp::IsDistinctFrom => !matches!(order, Ordering::Equal),
        BinaryOp::Less => matches!(order, Ordering::Less),
        BinaryOp::LessOrEqual => !matches!(order, Ordering::Greater),
        BinaryOp::Greater => matches!(order, Ordering::Greater),
        _ => !matches!(order, Ordering::Less),
    }
}

fn arithmetic(op: BinaryOp, left: &Value, right: &Value, ty: SqlType) -> Result<Value> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => integers(op, *a, *b, ty).map(Value::Int),
        (Value::Double(a), Value::Double(b)) => doubles(op, *a, *b).map(Value::Double),
        (Value::Decimal { unscaled: a, scale: s }, Value::Decimal { unscaled: b, scale: t }) => {
            let SqlType::Decimal { scale, .. } = ty else {
                return Err(mismatch(op, left, right));
            };
            Ok(Value::Decimal { unscaled: decimals(op, (*a, *s), (*b, *t), scale, ty)?, scale })
        }
        (Value::Date(a), Value::Date(b)) if op == BinaryOp::Subtract => {
            Ok(Value::Int(i64::from(a.checked_sub(*b).ok_or_else(|| error::out_of_range(SqlType::Integer))?)))
        }
        (Value::Date(a), Value::Int(b)) => {
            let days = match op {
                BinaryOp::Add => i64::from(*a).checked_add(*b),
                BinaryOp::Subtract => i64::from(*a).checked_sub(*b),
                _ => return Err(mismatch(op, left, right)),
            };
            let days = days.and_then(|d| i32::try_from(d).ok()).ok_or_else(error::date_out_of_range)?;
            Ok(Value::Date(days))
        }
        (Value::Date(a), Value::Interval(b)) => {
            let interval = signed(op, *b).ok_or_else(error::date_out_of_range)?;
            add_to_date(*a, interval).map(Value::Date).ok_or_else(error::date_out_of_range)
        }
        (Value::Timestamp(a), Value::Interval(b)) => {
            let interval = signed(op, *b).ok_or_else(error::date_out_of_range)?;
            add_to_timestamp(*a, interval).map(Value::Timestamp).ok_or_else(error::date_out_of_range)
        }
        (Value::Interval(a), Value::Interval(b)) => {
            let sum = signed(op, *b).and_then(|b| {
                Some(Interval {
                    months: a.months.checked_add(b.months)?,
                    days: a.days.checked_add(b.days)?,
                    micros: a.micros.checked_add(b.micros)?,
                })
            });
            sum.map(Value::Interval).ok_or_else(error::date_out_of_range)
        }
        _ => Err(mismatch(op, left, right)),
    }
}

/// Integer arithmetic in 64 bits, then the range of `ty`.
pub(crate) fn integers(op: BinaryOp, a: i64, b: i64, ty: SqlType) -> Result<i64> {
    let result = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply => a.checked_mul(b),
        BinaryOp::Divide | BinaryOp::Modulo if b == 0 => return Err(error::division_by_zero()),
        BinaryOp::Divide => a.checked_div(b),
        _ => Some(a.wrapping_rem(b)),
    };
    result.filter(|v| ty != SqlType::Integer || i32::try_from(*v).is_ok()).ok_or_else(|| error::out_of_range(ty))
}

/// IEEE 754 arithmetic, but division by zero is an error as everywhere in SQL.
/// Overflow gives an infinity.
pub(crate) fn doubles(op: BinaryOp, a: f64, b: f64) -> Result<f64> {
    Ok(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide | BinaryOp::Modulo if b == 0.0 => return Err(error::division_by_zero()),
        BinaryOp::Divide => a / b,
        _ => a % b,
    })
}

/// Decimal arithmetic on `(unscaled, scale)`; the result has scale `scale`.
pub(crate) fn decimals(op: BinaryOp, a: (i128, u8), b: (i128, u8), scale: u8, ty: SqlType) -> Result<i128> {
    if b.0 == 0 && matches!(op, BinaryOp::Divide | BinaryOp::Modulo) {
        return Err(error::division_by_zero());
    }
    let result = match op {
        BinaryOp::Add => a.0.checked_add(b.0),
        BinaryOp::Subtract => a.0.checked_sub(b.0),
        BinaryOp::Multiply => a.0.checked_mul(b.0),
        BinaryOp::Divide => decimal::divide(a.0, b.0, i32::from(scale) + i32::from(b.1) - i32::from(a.1)),
        _ => Some(a.0.wrapping_rem(b.0)),
    };
    result.filter(|v| decimal::fits(*v)).ok_or_else(|| error::out_of_range(ty))
}

/// `-value`.
pub(crate) fn negate(value: &Value, ty: SqlType) -> Result<Value> {
    Ok(match value {
        Value::Null => Value::Null,
        Value::Int(v) => Value::Int(integers(BinaryOp::Subtract, 0, *v, ty)?),
        Value::Double(v) => Value::Double(-v),
        Value::Decimal { unscaled, scale } => Value::Decimal { unscaled: -unscaled, scale: *scale },
        Value::Interval(v) => Value::Interval(signed(BinaryOp::Subtract, *v).ok_or_else(error::date_out_of_range)?),
        other => return Err(error::internal(format!("minus over {}", other.sql_type()))),
    })
}

/// The interval to add for `+` or `-`.
pub(crate) fn signed(op: BinaryOp, v: Interval) -> Option<Interval> {
    if op == BinaryOp::Add {
        return Some(v);
    }
    Some(Interval { months: v.months.checked_neg()?, days: v.days.checked_neg()?, micros: v.micros.checked_neg()? })
}

/// Months first, then days, then whole days of the time.
pub(crate) fn add_to_date(days: i32, v: Interval) -> Option<i32> {
    let days = if v.months == 0 { days } else { add_months(days, v.months)? };
    days.checked_add(v.days)?.checked_add(i32::try_from(v.micros.div_euclid(MICROS_PER_DAY)).ok()?)
}

/// Months first, then days, then time.
pub(crate) fn add_to_timestamp(micros: i64, v: Interval) -> Option<i64> {
    let (days, time) = (micros.div_euclid(MICROS_PER_DAY), micros.rem_euclid(MICROS_PER_DAY));
    let days = if v.months == 0 { days } else { i64::from(add_months(i32::try_from(days).ok()?, v.months)?) };
    days.checked_add(i64::from(v.days))?.checked_mul(MICROS_PER_DAY)?.checked_add(time)?.checked_add(v.micros)
}

fn truth(value: &Value) -> Result<Option<bool>> {
    super::scalar::truth(value)
}

fn mismatch(op: BinaryOp, left: &Value, right: &Value) -> crate::Error {
    error::internal(format!("{} {} {}", left.sql_type(), op.symbol(), right.sql_type()))
}
