//! Arrow arrays into the columns of a group, without a detour over vectors.

use super::column::{Column, mismatch};
use crate::Result;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayAccessor, ArrowPrimitiveType};
use arrow_schema::{DataType, TimeUnit};
use gingham_plan::SqlError;
use gingham_types::{SqlType, power_of_ten};

/// Appends rows `from..to` of an array.
pub(super) fn append_array(column: &mut Column, array: &dyn Array, from: usize, to: usize) -> Result<()> {
    let valid = |row: usize| array.is_valid(row);
    let rows = from..to;
    match (column.ty, array.data_type()) {
        (_, DataType::Null) => {
            (from..to).try_for_each(|_| column.append_value(&gingham_types::Value::Null))?;
            return Ok(());
        }
        (SqlType::Boolean, DataType::Boolean) => {
            let values = array.as_boolean();
            column.extend_integers(rows, valid, |row| i64::from(values.value(row)))?;
        }
        (SqlType::Integer | SqlType::BigInt, DataType::Int8) => integers::<Int8Type>(column, array, from, to)?,
        (SqlType::Integer | SqlType::BigInt, DataType::Int16) => integers::<Int16Type>(column, array, from, to)?,
        (SqlType::Integer | SqlType::BigInt, DataType::Int32) => integers::<Int32Type>(column, array, from, to)?,
        (SqlType::BigInt, DataType::Int64) => integers::<Int64Type>(column, array, from, to)?,
        (SqlType::Integer, DataType::Int64) => {
            let values = array.as_primitive::<Int64Type>().values();
            if let Some(row) = (from..to).find(|row| valid(*row) && i32::try_from(values[*row]).is_err()) {
                return Err(out_of_range(values[row], column.ty));
            }
            integers::<Int64Type>(column, array, from, to)?;
        }
        (SqlType::Date, DataType::Date32) => integers::<Date32Type>(column, array, from, to)?,
        (SqlType::Timestamp, DataType::Timestamp(unit, _)) => timestamps(column, array, *unit, from, to)?,
        (SqlType::Decimal { .. }, DataType::Decimal128(_, scale)) => decimals(column, array, *scale, from, to)?,
        (SqlType::Double, DataType::Float64) => {
            let values = array.as_primitive::<Float64Type>().values();
            column.extend_doubles(rows, valid, |row| values[row])?;
        }
        (SqlType::Double, DataType::Float32) => {
            let values = array.as_primitive::<Float32Type>().values();
            column.extend_doubles(rows, valid, |row| f64::from(values[row]))?;
        }
        (SqlType::Text, DataType::Utf8) => text(column, array.as_string::<i32>(), str::as_bytes, from, to)?,
        (SqlType::Text, DataType::LargeUtf8) => text(column, array.as_string::<i64>(), str::as_bytes, from, to)?,
        (SqlType::Text, DataType::Utf8View) => text(column, array.as_string_view(), str::as_bytes, from, to)?,
        (SqlType::Blob, DataType::Binary) => text(column, array.as_binary::<i32>(), |v| v, from, to)?,
        (SqlType::Blob, DataType::LargeBinary) => text(column, array.as_binary::<i64>(), |v| v, from, to)?,
        (SqlType::Blob, DataType::BinaryView) => text(column, array.as_binary_view(), |v| v, from, to)?,
        (ty, found) => return Err(mismatch(ty, format!("an array of {found}"))),
    }
    let is_null = |row: usize| array.is_null(from + row);
    column.extend_validity(to - from, (array.null_count() > 0).then_some(&is_null));
    Ok(())
}

fn integers<T: ArrowPrimitiveType<Native: Into<i64>>>(
    column: &mut Column,
    array: &dyn Array,
    from: usize,
    to: usize,
) -> Result<()> {
    let values = array.as_primitive::<T>().values();
    if array.null_count() == 0 {
        column.extend_integers(from..to, |_| true, |row| values[row].into())
    } else {
        column.extend_integers(from..to, |row| array.is_valid(row), |row| values[row].into())
    }
}

fn timestamps(column: &mut Column, array: &dyn Array, unit: TimeUnit, from: usize, to: usize) -> Result<()> {
    let valid = |row: usize| array.is_valid(row);
    let (values, factor) = match unit {
        TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().values(), 1_000_000),
        TimeUnit::Millisecond => (array.as_primitive::<TimestampMillisecondType>().values(), 1_000),
        TimeUnit::Microsecond => (array.as_primitive::<TimestampMicrosecondType>().values(), 1),
        TimeUnit::Nanosecond => {
            let values = array.as_primitive::<TimestampNanosecondType>().values();
            return column.extend_integers(from..to, valid, |row| values[row].div_euclid(1000));
        }
    };
    if let Some(row) = (from..to).find(|row| valid(*row) && values[*row].checked_mul(factor).is_none()) {
        return Err(out_of_range(values[row], column.ty));
    }
    column.extend_integers(from..to, valid, |row| values[row].wrapping_mul(factor))
}

/// Decimals of another scale are taken if no digit is lost.
fn decimals(column: &mut Column, array: &dyn Array, scale: i8, from: usize, to: usize) -> Result<()> {
    let SqlType::Decimal { precision, scale: wanted } = column.ty else {
        return Err(mismatch(column.ty, "an array of decimals"));
    };
    let values = array.as_primitive::<Decimal128Type>().values();
    let valid = |row: usize| array.is_valid(row);
    let power = i16::from(wanted) - i16::from(scale);
    let factor = u8::try_from(power).ok().and_then(power_of_ten);
    let factor = factor.ok_or_else(|| mismatch(column.ty, format!("decimals of scale {scale}")))?;
    let limit = power_of_ten(precision).unwrap_or(i128::MAX);
    let fits = |value: i128| value.checked_mul(factor).is_some_and(|v| v.unsigned_abs() < limit.unsigned_abs());
    if let Some(row) = (from..to).find(|row| valid(*row) && !fits(values[*row])) {
        return Err(out_of_range(values[row], column.ty));
    }
    column.extend_decimals(from..to, valid, |row| values[row] * factor)
}

fn text<'a, A, V: ?Sized + 'a>(
    column: &mut Column,
    array: A,
    bytes: impl Fn(&'a V) -> &'a [u8],
    from: usize,
    to: usize,
) -> Result<()>
where
    A: ArrayAccessor<Item = &'a V> + Copy,
{
    column.extend_text(from..to, |row| array.is_valid(row), |row| bytes(array.value(row)))
}

fn out_of_range(value: impl std::fmt::Display, ty: SqlType) -> crate::Error {
    SqlError::new("22003", format!("{value} is out of range for {ty}")).into()
}
