//! Batches as Arrow record batches, the form in which databases take them in bulk.
//!
//! Integers, dates and text are handed over without copying their values; decimals
//! widen to the 128 bits that Arrow's DECIMAL(15,2) has.

use crate::Error;
use crate::generate::{Batch, ColumnData, TextColumn};
use crate::schema::{ColumnType, DECIMAL_PRECISION, DECIMAL_SCALE, Table};
use arrow_array::{ArrayRef, Date32Array, Decimal128Array, Int32Array, RecordBatch, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// The Arrow schema of a table: no field is nullable.
pub fn arrow_schema(table: Table) -> SchemaRef {
    let field = |column: &crate::schema::Column| Field::new(column.name, data_type(column.column_type), false);
    Arc::new(Schema::new(table.columns().iter().map(field).collect::<Vec<_>>()))
}

/// The batch as a record batch of [`arrow_schema`].
///
/// # Errors
/// [`Error::Arrow`] if the batch does not have the table's columns, which [`crate::batches`] never yields.
pub fn to_record_batch(batch: Batch) -> Result<RecordBatch, Error> {
    let schema = arrow_schema(batch.table);
    let arrays = batch.columns.into_iter().map(to_array).collect::<Result<Vec<_>, _>>();
    arrays.and_then(|arrays| RecordBatch::try_new(schema, arrays)).map_err(|error| Error::Arrow(error.to_string()))
}

fn data_type(column_type: ColumnType) -> DataType {
    match column_type {
        ColumnType::Integer => DataType::Int32,
        ColumnType::Decimal => DataType::Decimal128(DECIMAL_PRECISION, DECIMAL_SCALE as i8),
        ColumnType::Date => DataType::Date32,
        ColumnType::Text => DataType::Utf8,
    }
}

fn to_array(column: ColumnData) -> Result<ArrayRef, ArrowError> {
    Ok(match column {
        ColumnData::Int32(values) => Arc::new(Int32Array::from(values)),
        ColumnData::Date(values) => Arc::new(Date32Array::from(values)),
        ColumnData::Decimal(values) => {
            let wide: Vec<i128> = values.into_iter().map(i128::from).collect();
            Arc::new(Decimal128Array::from(wide).with_precision_and_scale(DECIMAL_PRECISION, DECIMAL_SCALE as i8)?)
        }
        ColumnData::Text(column) => Arc::new(to_strings(column)?),
    })
}

/// Offsets below 2^31 read the same as signed, so their buffer is handed over as it is;
/// Arrow checks that they ascend and fall on characters.
fn to_strings(column: TextColumn) -> Result<StringArray, ArrowError> {
    let count = column.offsets.len();
    if i32::try_from(column.text.len()).is_err() {
        return Err(ArrowError::OffsetOverflowError(column.text.len()));
    }
    let offsets = ScalarBuffer::<i32>::new(Buffer::from_vec(column.offsets), 0, count);
    StringArray::try_new(OffsetBuffer::new(offsets), Buffer::from_vec(column.text.into_bytes()), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScaleFactor;
    use crate::generate::batches;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Date32Type, Decimal128Type, Int32Type};

    #[test]
    fn record_batches_hold_the_generated_values() {
        for table in Table::ALL {
            let batch = batches(table, ScaleFactor::HUNDREDTH, 100).next().expect("every table has rows");
            let record_batch = to_record_batch(batch.clone()).expect("columns of the schema");
            assert_eq!(record_batch.num_rows(), batch.row_count());
            for (column, array) in batch.columns.iter().zip(record_batch.columns()) {
                match column {
                    ColumnData::Int32(values) => assert_eq!(array.as_primitive::<Int32Type>().values(), values),
                    ColumnData::Date(values) => assert_eq!(array.as_primitive::<Date32Type>().values(), values),
                    ColumnData::Decimal(values) => {
                        let found = array.as_primitive::<Decimal128Type>().values().iter().copied();
                        assert!(found.eq(values.iter().copied().map(i128::from)));
                    }
                    ColumnData::Text(values) => {
                        assert!(values.iter().map(Some).eq(array.as_string::<i32>().iter()));
                    }
                }
            }
        }
    }

    #[test]
    fn a_batch_with_a_column_missing_is_refused() {
        let mut batch = batches(Table::Region, ScaleFactor::HUNDREDTH, 5).next().expect("five regions");
        batch.columns.pop();
        assert!(matches!(to_record_batch(batch), Err(Error::Arrow(_))));
    }
}
