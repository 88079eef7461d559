//! Results for callers: rows of values, and Arrow arrays.

use crate::expression::error;
use crate::vector::{Batch, Data, TextVector, Vector};
use crate::{Error, Result};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, NullArray,
    RecordBatch, RecordBatchOptions, StringArray, TimestampMicrosecondArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use gingham_plan::OutputColumn;
use gingham_types::{SqlType, Value};
use std::sync::Arc;

/// The rows of a batch as values, given the columns' types.
pub fn rows(batch: &Batch, types: &[SqlType]) -> Vec<Vec<Value>> {
    let mut rows = vec![Vec::with_capacity(batch.columns.len()); batch.rows];
    for (column, ty) in batch.columns.iter().zip(types) {
        for (at, row) in rows.iter_mut().enumerate() {
            row.push(column.value(at, *ty));
        }
    }
    rows
}

/// The Arrow type that a column of `ty` is converted to. INTERVAL, which has no column,
/// becomes text.
pub const fn arrow_type(ty: SqlType) -> DataType {
    match ty {
        SqlType::Null => DataType::Null,
        SqlType::Boolean => DataType::Boolean,
        SqlType::Integer => DataType::Int32,
        SqlType::BigInt => DataType::Int64,
        SqlType::Double => DataType::Float64,
        SqlType::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
        SqlType::Text | SqlType::Interval => DataType::Utf8,
        SqlType::Blob => DataType::Binary,
        SqlType::Date => DataType::Date32,
        SqlType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
    }
}

/// The schema of a result; every column may be NULL.
pub fn arrow_schema(columns: &[OutputColumn]) -> SchemaRef {
    let field = |column: &OutputColumn| Field::new(&column.name, arrow_type(column.ty), true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<Field>>()))
}

/// A batch in Arrow's form.
///
/// # Errors
/// 54000 when the strings of one column pass 2 GiB; XX000 when the batch is not of the
/// columns' types.
pub fn record_batch(batch: &Batch, columns: &[OutputColumn], schema: &SchemaRef) -> Result<RecordBatch> {
    let arrays = batch
        .columns
        .iter()
        .zip(columns)
        .map(|(vector, column)| arrow_array(vector, column.ty))
        .collect::<Result<Vec<ArrayRef>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options).map_err(arrow_error)
}

/// A vector of type `ty` in Arrow's form ([`arrow_type`]).
///
/// # Errors
/// As [`record_batch`].
pub fn arrow_array(vector: &Vector, ty: SqlType) -> Result<ArrayRef> {
    let nulls = vector.validity.as_ref().map(|v| NullBuffer::new(BooleanBuffer::from(v.as_slice())));
    Ok(match (&vector.data, ty) {
        (data, SqlType::Null) => Arc::new(NullArray::new(data.len())),
        (Data::Boolean(v), _) => Arc::new(BooleanArray::new(BooleanBuffer::from(v.as_slice()), nulls)),
        (Data::Int32(v), SqlType::Date) => Arc::new(Date32Array::new(buffer(v), nulls)),
        (Data::Int32(v), _) => Arc::new(Int32Array::new(buffer(v), nulls)),
        (Data::Int64(v), SqlType::Decimal { .. }) => {
            let wide: Vec<i128> = v.iter().map(|v| i128::from(*v)).collect();
            decimals(wide, nulls, ty)?
        }
        (Data::Int128(v), _) => decimals(v.clone(), nulls, ty)?,
        (Data::Int64(v), SqlType::Timestamp) => Arc::new(TimestampMicrosecondArray::new(buffer(v), nulls)),
        (Data::Int64(v), _) => Arc::new(Int64Array::new(buffer(v), nulls)),
        (Data::Double(v), _) => Arc::new(Float64Array::new(buffer(v), nulls)),
        (Data::Text(v), SqlType::Blob) => {
            let (offsets, bytes) = strings(v)?;
            Arc::new(BinaryArray::try_new(offsets, bytes, nulls).map_err(arrow_error)?)
        }
        (Data::Text(v), _) => {
            let (offsets, bytes) = strings(v)?;
            Arc::new(StringArray::try_new(offsets, bytes, nulls).map_err(arrow_error)?)
        }
        (Data::Interval(v), _) => {
            let text = |row: usize| vector.is_valid(row).then(|| Value::Interval(v[row]).to_string());
            Arc::new((0..v.len()).map(text).collect::<StringArray>())
        }
    })
}

fn buffer<T: arrow_buffer::ArrowNativeType>(values: &[T]) -> ScalarBuffer<T> {
    ScalarBuffer::from(values.to_vec())
}

fn decimals(values: Vec<i128>, nulls: Option<NullBuffer>, ty: SqlType) -> Result<ArrayRef> {
    let (precision, scale) = ty.as_decimal().unwrap_or((38, 0));
    let array = Decimal128Array::new(ScalarBuffer::from(values), nulls);
    Ok(Arc::new(array.with_precision_and_scale(precision, scale as i8).map_err(arrow_error)?))
}

fn strings(text: &TextVector) -> Result<(OffsetBuffer<i32>, Buffer)> {
    let mut offsets = Vec::with_capacity(text.len() + 1);
    let mut bytes = Vec::new();
    offsets.push(0i32);
    for row in 0..text.len() {
        bytes.extend_from_slice(text.bytes(row));
        offsets.push(i32::try_from(bytes.len()).map_err(|_| error::text_too_large())?);
    }
    Ok((OffsetBuffer::new(ScalarBuffer::from(offsets)), Buffer::from_vec(bytes)))
}

fn arrow_error(error: ArrowError) -> Error {
    error::internal(error)
}
