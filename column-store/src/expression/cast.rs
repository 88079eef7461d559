//! CAST over vectors: between numbers in loops, the rest value by value.

// Loops that must not branch connect their conditions bit by bit.
#![allow(clippy::needless_bitwise_bool)]

use super::operand::Operand;
use super::{ColumnBuilder, decimal};
use crate::Result;
use crate::vector::{Data, Vector};
use gingham_types::{SqlType, Value, cast, power_of_ten, rescale};
use std::sync::Arc;

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Whether every value of `from` converts to `to`.
pub(super) fn infallible(from: SqlType, to: SqlType) -> bool {
    match (from, to) {
        (SqlType::Null, _) => true,
        _ if from == to => true,
        (SqlType::Integer, SqlType::BigInt | SqlType::Double) | (SqlType::BigInt, SqlType::Double) => true,
        (SqlType::Decimal { .. }, SqlType::Double) => true,
        (SqlType::Integer | SqlType::BigInt | SqlType::Decimal { .. }, SqlType::Decimal { precision, scale }) => {
            let (digits, from_scale) = from.as_decimal().unwrap_or((38, 0));
            scale >= from_scale && precision - scale >= digits - from_scale
        }
        _ => false,
    }
}

/// `CAST(operand AS to)`, or TRY_CAST.
pub(super) fn cast_operand(
    operand: Operand,
    from: SqlType,
    to: SqlType,
    lenient: bool,
    rows: usize,
) -> Result<Operand> {
    let vector = match operand {
        Operand::Constant(value) => {
            return match cast(&value, to) {
                Ok(value) => Ok(Operand::Constant(value)),
                Err(_) if lenient => Ok(Operand::Constant(Value::Null)),
                Err(error) => Err(error.into()),
            };
        }
        Operand::Column(vector) => vector,
    };
    if from == SqlType::Null {
        return Ok(Operand::Constant(Value::Null));
    }
    if same_form(from, to) {
        return Ok(Operand::Column(vector));
    }
    if let Some(data) = cast_numbers(&vector, from, to) {
        return Ok(Operand::new(data, vector.validity.clone()));
    }
    let mut builder = ColumnBuilder::new(to, rows);
    for row in 0..rows {
        match cast(&vector.value(row, from), to) {
            Ok(value) => builder.push(&value)?,
            Err(_) if lenient => builder.push(&Value::Null)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Operand::Column(Arc::new(builder.finish())))
}

/// Whether values convert by standing as they are.
fn same_form(from: SqlType, to: SqlType) -> bool {
    match (from, to) {
        (SqlType::Decimal { precision: p, scale: s }, SqlType::Decimal { precision: q, scale: t }) => s == t && p <= q,
        _ => from == to,
    }
}

/// The conversions that run in a loop and cannot fail for these values.
fn cast_numbers(vector: &Vector, from: SqlType, to: SqlType) -> Option<Data> {
    match (&vector.data, to) {
        (Data::Int32(v), SqlType::BigInt) if from == SqlType::Integer => {
            Some(Data::Int64(v.iter().map(|v| i64::from(*v)).collect()))
        }
        (Data::Int32(v), SqlType::Double) if from == SqlType::Integer => {
            Some(Data::Double(v.iter().map(|v| f64::from(*v)).collect()))
        }
        (Data::Int32(v), SqlType::Timestamp) if from == SqlType::Date => {
            Some(Data::Int64(v.iter().map(|v| i64::from(*v) * MICROS_PER_DAY).collect()))
        }
        (Data::Int64(v), SqlType::Double) => {
            let unit = power_of_ten(from.as_decimal()?.1)? as f64;
            Some(Data::Double(v.iter().map(|v| *v as f64 / unit).collect()))
        }
        (Data::Int32(v), SqlType::Decimal { .. }) if from == SqlType::Integer => {
            let wide: Vec<i64> = v.iter().map(|v| i64::from(*v)).collect();
            scale_up(&wide, from, to)
        }
        (Data::Int64(v), SqlType::Decimal { .. }) => scale_up(v, from, to),
        (Data::Int128(v), SqlType::Decimal { precision, scale }) => {
            let from_scale = from.as_decimal()?.1;
            let limit = power_of_ten(precision)?;
            let mut results = Vec::with_capacity(v.len());
            for (row, value) in v.iter().enumerate() {
                let valid = vector.is_valid(row);
                let result = rescale(*value, from_scale, scale).filter(|r| r.abs() < limit && decimal::fits(*r));
                results.push(if valid { result? } else { 0 });
            }
            Some(crate::execution::narrow_decimals(results))
        }
        _ => None,
    }
}

/// Integers and decimals to a decimal of at least the same scale, in 64 bits.
fn scale_up(values: &[i64], from: SqlType, to: SqlType) -> Option<Data> {
    let SqlType::Decimal { precision, scale } = to else {
        return None;
    };
    let factor = 10i64.checked_pow(u32::from(scale.checked_sub(from.as_decimal()?.1)?))?;
    let limit = power_of_ten(precision)?;
    let greatest = i64::try_from(limit - 1).unwrap_or(i64::MAX) / factor;
    let outside = values.iter().fold(false, |outside, v| outside | (*v > greatest) | (*v < -greatest));
    (!outside).then(|| Data::Int64(values.iter().map(|v| v * factor).collect()))
}
