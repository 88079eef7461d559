//! Arrow batches on their way in: arrays as vectors of declared types.

use crate::error::Result;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use gingham_column_store::vector::{Batch, Data, TextVector, Vector};
use gingham_plan::SqlError;
use gingham_types::{SqlType, power_of_ten, rescale};
use std::sync::Arc;

/// The columns of a batch as vectors of `types`.
///
/// # Errors
/// 42804 where an array does not convert without loss, 22003 for values out of range.
pub(crate) fn from_arrow(batch: &RecordBatch, types: &[SqlType]) -> Result<Batch> {
    let columns = batch
        .columns()
        .iter()
        .zip(types)
        .map(|(array, ty)| {
            let validity = array.nulls().filter(|nulls| nulls.null_count() > 0).map(|nulls| nulls.iter().collect());
            Ok(Arc::new(Vector { data: data(array, *ty)?, validity }))
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(Batch::new(columns, batch.num_rows()))
}

fn mismatch(array: &ArrayRef, ty: SqlType) -> SqlError {
    SqlError::new("42804", format!("an Arrow array of type {} does not convert to {ty}", array.data_type()))
}

fn data(array: &ArrayRef, ty: SqlType) -> Result<Data> {
    Ok(match (ty, array.data_type()) {
        (SqlType::Boolean, DataType::Boolean) => {
            Data::Boolean((0..array.len()).map(|row| !array.is_null(row) && array.as_boolean().value(row)).collect())
        }
        (SqlType::Integer, _) => Data::Int32(
            integers(array, ty)?
                .into_iter()
                .map(|v| i32::try_from(v).map_err(|_| out_of_range(ty)))
                .collect::<std::result::Result<_, _>>()?,
        ),
        (SqlType::BigInt, _) => Data::Int64(integers(array, ty)?),
        (SqlType::Date, DataType::Date32) => Data::Int32(array.as_primitive::<Date32Type>().values().to_vec()),
        (SqlType::Timestamp, DataType::Timestamp(TimeUnit::Microsecond, _)) => {
            Data::Int64(array.as_primitive::<TimestampMicrosecondType>().values().to_vec())
        }
        (SqlType::Timestamp, DataType::Timestamp(TimeUnit::Millisecond, _)) => Data::Int64(
            array
                .as_primitive::<TimestampMillisecondType>()
                .values()
                .iter()
                .map(|v| v.checked_mul(1000).ok_or_else(|| out_of_range(ty)))
                .collect::<std::result::Result<_, _>>()?,
        ),
        (SqlType::Double, DataType::Float64) => Data::Double(array.as_primitive::<Float64Type>().values().to_vec()),
        (SqlType::Double, DataType::Float32) => {
            Data::Double(array.as_primitive::<Float32Type>().values().iter().map(|v| f64::from(*v)).collect())
        }
        (SqlType::Double, _) => Data::Double(integers(array, ty)?.into_iter().map(|v| v as f64).collect()),
        (SqlType::Decimal { precision, scale }, _) => decimals(array, precision, scale)?,
        (SqlType::Text, DataType::Utf8) => strings(array, |row| array.as_string::<i32>().value(row).as_bytes())?,
        (SqlType::Text, DataType::LargeUtf8) => strings(array, |row| array.as_string::<i64>().value(row).as_bytes())?,
        (SqlType::Text, DataType::Utf8View) => strings(array, |row| array.as_string_view().value(row).as_bytes())?,
        (SqlType::Blob, DataType::Binary) => strings(array, |row| array.as_binary::<i32>().value(row))?,
        (SqlType::Blob, DataType::LargeBinary) => strings(array, |row| array.as_binary::<i64>().value(row))?,
        _ => return Err(mismatch(array, ty).into()),
    })
}

fn out_of_range(ty: SqlType) -> SqlError {
    SqlError::new("22003", format!("a value is out of range for {ty}"))
}

fn integers(array: &ArrayRef, ty: SqlType) -> Result<Vec<i64>> {
    fn widen<T: ArrowPrimitiveType>(array: &ArrayRef) -> Vec<i64>
    where
        i64: From<T::Native>,
    {
        array.as_primitive::<T>().values().iter().map(|v| i64::from(*v)).collect()
    }
    Ok(match array.data_type() {
        DataType::Int8 => widen::<Int8Type>(array),
        DataType::Int16 => widen::<Int16Type>(array),
        DataType::Int32 => widen::<Int32Type>(array),
        DataType::Int64 => widen::<Int64Type>(array),
        DataType::UInt8 => widen::<UInt8Type>(array),
        DataType::UInt16 => widen::<UInt16Type>(array),
        DataType::UInt32 => widen::<UInt32Type>(array),
        _ => return Err(mismatch(array, ty).into()),
    })
}

fn decimals(array: &ArrayRef, precision: u8, scale: u8) -> Result<Data> {
    let ty = SqlType::decimal(precision, scale);
    let limit = power_of_ten(precision).unwrap_or(i128::MAX);
    let (values, from): (Vec<i128>, u8) = match array.data_type() {
        DataType::Decimal128(_, from) => {
            let from = u8::try_from(*from).map_err(|_| mismatch(array, ty))?;
            (array.as_primitive::<Decimal128Type>().values().to_vec(), from)
        }
        _ => (integers(array, ty)?.into_iter().map(i128::from).collect(), 0),
    };
    let scaled = values
        .into_iter()
        .enumerate()
        .map(|(row, value)| {
            if array.is_null(row) {
                return Ok(0);
            }
            rescale(value, from, scale).filter(|v| v.abs() < limit).ok_or_else(|| out_of_range(ty))
        })
        .collect::<std::result::Result<Vec<i128>, SqlError>>()?;
    Ok(match scaled.iter().map(|v| i64::try_from(*v)).collect::<std::result::Result<Vec<i64>, _>>() {
        Ok(narrow) => Data::Int64(narrow),
        Err(_) => Data::Int128(scaled),
    })
}

fn strings<'a>(array: &'a ArrayRef, value: impl Fn(usize) -> &'a [u8]) -> Result<Data> {
    let rows = (0..array.len()).map(|row| if array.is_null(row) { &[] } else { value(row) });
    match TextVector::from_strings(rows) {
        Some(text) => Ok(Data::Text(text)),
        None => Err(SqlError::new("54000", "the strings of one batch pass 4 GiB").into()),
    }
}
