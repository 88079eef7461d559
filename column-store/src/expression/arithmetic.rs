//! `+ - * / %` and unary minus over vectors.
//!
//! Additions and multiplications run without branches: results wrap, and overflow is
//! found out by a flag gathered on the way, or ruled out beforehand from the bits of the
//! operands. Only when there was one are rows looked at singly: what stands at a NULL may
//! overflow freely. Decimals that pass 64 bits are computed again in 128.

use super::operand::{Numbers, Operand, Side, both_valid, map2};
use super::scalar_binary::{add_to_date, add_to_timestamp, integers, signed};
use super::{decimal, error};
use crate::Result;
use crate::vector::Data;
use gingham_plan::BinaryOp;
use gingham_types::{SqlType, Value};

/// `left op right` for operands that are not constant NULLs.
pub(crate) fn arithmetic(
    op: BinaryOp,
    (left, left_type): (&Operand, SqlType),
    (right, right_type): (&Operand, SqlType),
    ty: SqlType,
    rows: usize,
) -> Result<Operand> {
    if right_type == SqlType::Interval || left_type == SqlType::Date {
        return dates(op, (left, left_type), (right, right_type), ty, rows);
    }
    let validity = both_valid(left, right);
    let valid = validity.as_deref();
    let data = match (Numbers::new(left, left_type)?, Numbers::new(right, right_type)?, ty) {
        (Numbers::Int32(a), Numbers::Int32(b), _) => Data::Int32(int32(op, &a, &b, valid, rows)?),
        (Numbers::Double(a), Numbers::Double(b), _) => Data::Double(doubles(op, &a, &b, valid, rows)?),
        (Numbers::Int64(a), Numbers::Int64(b), SqlType::BigInt) => Data::Int64(int64(op, &a, &b, valid, rows)?),
        (a, b, SqlType::Decimal { scale, .. }) => {
            let scale_of = |ty: SqlType| ty.as_decimal().map_or(0, |(_, scale)| scale);
            let shift = i32::from(scale) + i32::from(scale_of(right_type)) - i32::from(scale_of(left_type));
            decimals(op, a, b, valid, shift, ty, rows)?
        }
        _ => return Err(error::internal(format!("{left_type} {} {right_type}", op.symbol()))),
    };
    Ok(Operand::new(data, validity))
}

fn is_valid(valid: Option<&[bool]>, row: usize) -> bool {
    valid.is_none_or(|v| v[row])
}

/// INTEGER in 64 bits, which no operation on 32 overflows.
fn int32(op: BinaryOp, a: &Side<'_, i32>, b: &Side<'_, i32>, valid: Option<&[bool]>, rows: usize) -> Result<Vec<i32>> {
    let wide = |f: fn(i64, i64) -> i64| {
        let results = map2(rows, a, b, |a, b| f(i64::from(a), i64::from(b)));
        let outside = results.iter().fold(0, |flag, v| flag | (i64::from(*v as i32) ^ v));
        (results, outside != 0)
    };
    let (results, overflow) = match op {
        BinaryOp::Add => wide(|a, b| a + b),
        BinaryOp::Subtract => wide(|a, b| a - b),
        BinaryOp::Multiply => wide(|a, b| a * b),
        _ => {
            return rowwise(rows, valid, |row| {
                integers(op, i64::from(a.get(row)), i64::from(b.get(row)), SqlType::Integer).map(|v| v as i32)
            });
        }
    };
    if overflow && results.iter().enumerate().any(|(row, v)| is_valid(valid, row) && i32::try_from(*v).is_err()) {
        return Err(error::out_of_range(SqlType::Integer));
    }
    Ok(results.into_iter().map(|v| v as i32).collect())
}

fn int64(op: BinaryOp, a: &Side<'_, i64>, b: &Side<'_, i64>, valid: Option<&[bool]>, rows: usize) -> Result<Vec<i64>> {
    match wrapping(op, a, b, rows) {
        Some(results) => Ok(results),
        None => rowwise(rows, valid, |row| integers(op, a.get(row), b.get(row), SqlType::BigInt)),
    }
}

/// `op` over all rows in 64 bits if that overflows nowhere, or `None` (also for division).
fn wrapping(op: BinaryOp, a: &Side<'_, i64>, b: &Side<'_, i64>, rows: usize) -> Option<Vec<i64>> {
    match op {
        BinaryOp::Add | BinaryOp::Subtract if magnitude_bits(a).max(magnitude_bits(b)) < 62 => {
            Some(if op == BinaryOp::Add {
                map2(rows, a, b, |a, b| a.wrapping_add(b))
            } else {
                map2(rows, a, b, |a, b| a.wrapping_sub(b))
            })
        }
        BinaryOp::Multiply if magnitude_bits(a) + magnitude_bits(b) < 63 => {
            Some(map2(rows, a, b, |a, b| a.wrapping_mul(b)))
        }
        _ => None,
    }
}

/// Bits that the magnitudes need: all are at most `2^bits` (equal only if negative).
fn magnitude_bits(side: &Side<'_, i64>) -> u32 {
    match side {
        Side::Values(values) => bits_of(values),
        Side::One(v) => bits_of(&[*v]),
    }
}

/// Bits that the magnitudes of integers need. A plain OR while none is negative, which
/// takes half the instructions of one that minds signs.
pub(crate) fn bits_of(values: &[i64]) -> u32 {
    let mut bits = values.iter().fold(0, |bits, v| bits | v);
    if bits < 0 {
        bits = values.iter().fold(0, |bits, v| bits | (v ^ (v >> 63)));
    }
    64 - bits.leading_zeros()
}

fn doubles(
    op: BinaryOp,
    a: &Side<'_, f64>,
    b: &Side<'_, f64>,
    valid: Option<&[bool]>,
    rows: usize,
) -> Result<Vec<f64>> {
    Ok(match op {
        BinaryOp::Add => map2(rows, a, b, |a, b| a + b),
        BinaryOp::Subtract => map2(rows, a, b, |a, b| a - b),
        BinaryOp::Multiply => map2(rows, a, b, |a, b| a * b),
        _ => {
            if (0..rows).any(|row| b.get(row) == 0.0 && is_valid(valid, row)) {
                return Err(error::division_by_zero());
            }
            if op == BinaryOp::Divide { map2(rows, a, b, |a, b| a / b) } else { map2(rows, a, b, |a, b| a % b) }
        }
    })
}

/// Decimals of any width; `shift` is what division scales the dividend by.
fn decimals(
    op: BinaryOp,
    a: Numbers<'_>,
    b: Numbers<'_>,
    valid: Option<&[bool]>,
    shift: i32,
    ty: SqlType,
    rows: usize,
) -> Result<Data> {
    if let (Numbers::Int64(a), Numbers::Int64(b)) = (&a, &b) {
        if let Some(results) = wrapping(op, a, b, rows) {
            return Ok(Data::Int64(results));
        }
        let quotients = if op == BinaryOp::Divide { divide_narrow(a, b, valid, shift, rows)? } else { None };
        if let Some(quotients) = quotients {
            return Ok(Data::Int64(quotients));
        }
    }
    let (Some(a), Some(b)) = (a.wide(), b.wide()) else {
        return Err(error::internal(format!("doubles in arithmetic of {ty}")));
    };
    let results = rowwise(rows, valid, |row| {
        let (a, b) = (a.get(row), b.get(row));
        let result = match op {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Subtract => a.checked_sub(b),
            BinaryOp::Multiply => multiply_wide(a, b),
            _ if b == 0 => return Err(error::division_by_zero()),
            BinaryOp::Divide => decimal::divide(a, b, shift),
            _ => Some(a.wrapping_rem(b)),
        };
        result.filter(|v| decimal::fits(*v)).ok_or_else(|| error::out_of_range(ty))
    })?;
    Ok(narrow(results))
}

/// A 128-bit product, by way of 64-bit factors where they are: those cannot overflow.
fn multiply_wide(a: i128, b: i128) -> Option<i128> {
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(a), Ok(b)) => Some(i128::from(a) * i128::from(b)),
        _ => a.checked_mul(b),
    }
}

/// Division in 64 bits, if every scaled dividend fits them.
fn divide_narrow(
    a: &Side<'_, i64>,
    b: &Side<'_, i64>,
    valid: Option<&[bool]>,
    shift: i32,
    rows: usize,
) -> Result<Option<Vec<i64>>> {
    let factor = u32::try_from(shift).ok().and_then(|shift| 10i64.checked_pow(shift));
    let Some(factor) = factor.filter(|factor| magnitude_bits(a) + magnitude_bits(&Side::One(*factor)) < 63) else {
        return Ok(None);
    };
    rowwise(rows, valid, |row| match b.get(row) {
        0 => Err(error::division_by_zero()),
        b => Ok(decimal::divide_round_narrow(a.get(row) * factor, b)),
    })
    .map(Some)
}

/// `f` for every row that is not NULL.
fn rowwise<R: Copy + Default>(rows: usize, valid: Option<&[bool]>, f: impl Fn(usize) -> Result<R>) -> Result<Vec<R>> {
    match valid {
        None => (0..rows).map(f).collect(),
        Some(valid) => (0..rows).map(|row| if valid[row] { f(row) } else { Ok(R::default()) }).collect(),
    }
}

/// The narrower form of decimals when they all fit it.
fn narrow(values: Vec<i128>) -> Data {
    crate::execution::narrow_decimals(values)
}

/// Dates and timestamps with days, intervals and each other.
fn dates(
    op: BinaryOp,
    (left, left_type): (&Operand, SqlType),
    (right, right_type): (&Operand, SqlType),
    ty: SqlType,
    rows: usize,
) -> Result<Operand> {
    let validity = both_valid(left, right);
    let valid = validity.as_deref();
    let failed = error::date_out_of_range;
    let data = match (left_type, right_type) {
        (SqlType::Date, SqlType::Date | SqlType::Integer) => {
            let (Numbers::Int32(a), Numbers::Int32(b)) =
                (Numbers::new(left, left_type)?, Numbers::new(right, right_type)?)
            else {
                return Err(error::internal("days that are not 32 bits wide"));
            };
            let subtract = op == BinaryOp::Subtract;
            let failed = || if ty == SqlType::Integer { error::out_of_range(ty) } else { failed() };
            Data::Int32(rowwise(rows, valid, |row| {
                let (a, b) = (a.get(row), b.get(row));
                if subtract { a.checked_sub(b) } else { a.checked_add(b) }.ok_or_else(failed)
            })?)
        }
        (SqlType::Date | SqlType::Timestamp, SqlType::Interval) => {
            let intervals = intervals(right)?;
            match Numbers::new(left, left_type)? {
                Numbers::Int32(a) => Data::Int32(rowwise(rows, valid, |row| {
                    signed(op, intervals.get(row)).and_then(|v| add_to_date(a.get(row), v)).ok_or_else(failed)
                })?),
                Numbers::Int64(a) => Data::Int64(rowwise(rows, valid, |row| {
                    signed(op, intervals.get(row)).and_then(|v| add_to_timestamp(a.get(row), v)).ok_or_else(failed)
                })?),
                _ => return Err(error::internal("a date that is not an integer")),
            }
        }
        _ => {
            let value = |operand: &Operand, ty: SqlType, row: usize| match operand {
                Operand::Column(vector) => vector.value(row, ty),
                Operand::Constant(value) => value.clone(),
            };
            let mut builder = super::ColumnBuilder::new(ty, rows);
            for row in 0..rows {
                let (a, b) = (value(left, left_type, row), value(right, right_type, row));
                builder.push(&super::scalar_binary::binary(op, &a, &b, ty)?)?;
            }
            return Ok(Operand::Column(std::sync::Arc::new(builder.finish())));
        }
    };
    Ok(Operand::new(data, validity))
}

fn intervals(operand: &Operand) -> Result<Side<'_, gingham_types::Interval>> {
    match operand {
        Operand::Constant(Value::Interval(v)) => Ok(Side::One(*v)),
        Operand::Column(vector) => match &vector.data {
            Data::Interval(v) => Ok(Side::Values(std::borrow::Cow::Borrowed(v))),
            _ => Err(error::internal("an interval of another form")),
        },
        Operand::Constant(_) => Err(error::internal("an interval of another type")),
    }
}

/// `-operand`.
pub(crate) fn negate(operand: &Operand, ty: SqlType, rows: usize) -> Result<Operand> {
    let Operand::Column(vector) = operand else {
        return Err(error::internal("a constant that was not folded"));
    };
    let validity = vector.validity.clone();
    let valid = validity.as_deref();
    let data = match &vector.data {
        Data::Double(v) => Data::Double(v.iter().map(|v| -v).collect()),
        Data::Int32(v) => {
            let values = Side::Values(std::borrow::Cow::Borrowed(&v[..]));
            Data::Int32(int32(BinaryOp::Subtract, &Side::One(0), &values, valid, rows)?)
        }
        Data::Int64(v) if matches!(ty, SqlType::Decimal { .. }) => {
            let values = Numbers::Int64(Side::Values(std::borrow::Cow::Borrowed(&v[..])));
            decimals(BinaryOp::Subtract, Numbers::Int64(Side::One(0)), values, valid, 0, ty, rows)?
        }
        Data::Int64(v) => {
            let values = Side::Values(std::borrow::Cow::Borrowed(&v[..]));
            Data::Int64(int64(BinaryOp::Subtract, &Side::One(0), &values, valid, rows)?)
        }
        Data::Int128(v) => Data::Int128(v.iter().map(|v| v.wrapping_neg()).collect()),
        Data::Interval(v) => Data::Interval(rowwise(rows, valid, |row| {
            signed(BinaryOp::Subtract, v[row]).ok_or_else(error::date_out_of_range)
        })?),
        Data::Boolean(_) | Data::Text(_) => return Err(error::internal(format!("minus over {ty}"))),
    };
    Ok(Operand::new(data, validity))
}
