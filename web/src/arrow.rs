//! Arrow IPC streams in and out.

mod stream;

use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    TimestampMicrosecondType,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, NullArray, PrimitiveArray, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, IntervalUnit, Schema, TimeUnit};
use gingham::vector::{Batch, Data, TextVector, Vector};
use gingham::{Connection, Error, Interval, OutputColumn, Rows, SqlError, SqlType};
use std::sync::Arc;
use stream::Stream;

/// The rest of a result as an IPC stream, one record batch for each batch of rows.
pub(crate) fn stream(rows: &mut Rows) -> Result<Vec<u8>, Error> {
    let schema = Arc::new(schema(rows.columns()));
    let types = rows.types();
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).map_err(|e| failed(&e))?;
    while let Some(batch) = rows.next_batch()? {
        let batch = record_batch(&schema, &batch, &types)?;
        writer.write(&batch).map_err(|e| failed(&e))?;
    }
    writer.finish().and_then(|()| writer.into_inner()).map_err(|e| failed(&e).into())
}

/// Inserts the batches of an IPC stream, all or none. The rows.
pub(crate) fn insert(connection: &mut Connection, table: &str, stream: &[u8]) -> Result<u64, Error> {
    let unreadable = |error: &ArrowError| match error {
        ArrowError::NotYetImplemented(what) => SqlError::unsupported(what),
        error => SqlError::new("22P03", format!("the bytes are not an Arrow IPC stream: {error}"))
            .hint("write the table in the stream format, not the file format"),
    };
    let mut reader = Stream::new(stream).map_err(|e| unreadable(&e))?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().map_err(|e| unreadable(&e))? {
        if batch.num_rows() > 0 {
            batches.push(batch);
        }
    }
    let alone = !connection.in_transaction() && batches.len() > 1;
    if alone {
        connection.begin(false)?;
    }
    let inserted = batches.iter().try_fold(0, |rows, batch| Ok(rows + connection.insert_batch(table, batch)?));
    match inserted {
        Ok(rows) if alone => connection.commit().map(|()| rows),
        Err(error) if alone => {
            // The error that led here is the one to tell.
            let _ = connection.rollback();
            Err(error)
        }
        inserted => inserted,
    }
}

fn failed(error: &ArrowError) -> SqlError {
    SqlError::internal(format!("the result does not make an Arrow stream: {error}"))
}

fn schema(columns: &[OutputColumn]) -> Schema {
    let field = |column: &OutputColumn| Field::new(&column.name, data_type(column.ty), true);
    Schema::new(columns.iter().map(field).collect::<Vec<_>>())
}

fn data_type(ty: SqlType) -> DataType {
    match ty {
        SqlType::Null => DataType::Null,
        SqlType::Boolean => DataType::Boolean,
        SqlType::Integer => DataType::Int32,
        SqlType::BigInt => DataType::Int64,
        SqlType::Double => DataType::Float64,
        SqlType::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
        SqlType::Text => DataType::Utf8,
        SqlType::Blob => DataType::Binary,
        SqlType::Date => DataType::Date32,
        SqlType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        SqlType::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
    }
}

fn record_batch(schema: &Arc<Schema>, batch: &Batch, types: &[SqlType]) -> Result<RecordBatch, Error> {
    let arrays = batch.columns.iter().zip(types).map(|(vector, ty)| array(vector, *ty)).collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options).map_err(|e| failed(&e).into())
}

fn array(vector: &Vector, ty: SqlType) -> Result<ArrayRef, Error> {
    let nulls = vector.validity.as_ref().map(|validity| NullBuffer::from(validity.as_slice()));
    Ok(match (&vector.data, ty) {
        (data, SqlType::Null) => Arc::new(NullArray::new(data.len())),
        (Data::Boolean(values), _) => Arc::new(BooleanArray::new(values.as_slice().into(), nulls)),
        (Data::Int32(values), SqlType::Date) => Arc::new(PrimitiveArray::<Date32Type>::new(buffer(values), nulls)),
        (Data::Int32(values), _) => Arc::new(PrimitiveArray::<Int32Type>::new(buffer(values), nulls)),
        (Data::Int64(values), SqlType::Timestamp) => {
            Arc::new(PrimitiveArray::<TimestampMicrosecondType>::new(buffer(values), nulls))
        }
        (Data::Int64(values), SqlType::Decimal { .. }) => {
            let wide: Vec<i128> = values.iter().map(|v| i128::from(*v)).collect();
            decimals(wide, nulls, ty)?
        }
        (Data::Int64(values), _) => Arc::new(PrimitiveArray::<Int64Type>::new(buffer(values), nulls)),
        (Data::Int128(values), _) => decimals(values.clone(), nulls, ty)?,
        (Data::Double(values), _) => Arc::new(PrimitiveArray::<Float64Type>::new(buffer(values), nulls)),
        (Data::Text(text), SqlType::Blob) => {
            let (offsets, bytes) = gather(text);
            Arc::new(BinaryArray::try_new(offsets, bytes, nulls).map_err(|e| failed(&e))?)
        }
        (Data::Text(text), _) => {
            let (offsets, bytes) = gather(text);
            Arc::new(StringArray::try_new(offsets, bytes, nulls).map_err(|e| failed(&e))?)
        }
        (Data::Interval(values), _) => {
            let values: Vec<IntervalMonthDayNano> = values.iter().map(interval).collect();
            Arc::new(PrimitiveArray::<IntervalMonthDayNanoType>::new(values.into(), nulls))
        }
    })
}

fn buffer<T: arrow_buffer::ArrowNativeType>(values: &[T]) -> ScalarBuffer<T> {
    ScalarBuffer::from(values.to_vec())
}

fn decimals(values: Vec<i128>, nulls: Option<NullBuffer>, ty: SqlType) -> Result<ArrayRef, Error> {
    let (precision, scale) = ty.as_decimal().unwrap_or((38, 0));
    let array = PrimitiveArray::<Decimal128Type>::new(values.into(), nulls);
    let array = array.with_precision_and_scale(precision, scale as i8).map_err(|e| failed(&e))?;
    Ok(Arc::new(array) as Arc<dyn Array>)
}

/// A batch's strings one after the other. A batch has too few rows for 2 GiB of them.
fn gather(text: &TextVector) -> (OffsetBuffer<i32>, Buffer) {
    let mut bytes = Vec::new();
    let lengths: Vec<usize> = (0..text.len())
        .map(|row| {
            let entry = text.bytes(row);
            bytes.extend_from_slice(entry);
            entry.len()
        })
        .collect();
    (OffsetBuffer::from_lengths(lengths), Buffer::from_vec(bytes))
}

fn interval(value: &Interval) -> IntervalMonthDayNano {
    IntervalMonthDayNano::new(value.months, value.days, value.micros.saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(columns: &[(SqlType, Vector)]) -> RecordBatch {
        let outputs: Vec<OutputColumn> =
            columns.iter().map(|(ty, _)| OutputColumn { name: "c".into(), ty: *ty }).collect();
        let schema = Arc::new(schema(&outputs));
        let types: Vec<SqlType> = columns.iter().map(|(ty, _)| *ty).collect();
        let rows = columns[0].1.len();
        let batch = Batch::new(columns.iter().map(|(_, vector)| Arc::new(vector.clone())).collect(), rows);
        record_batch(&schema, &batch, &types).expect("every type has an array")
    }

    #[test]
    fn every_type_has_an_array_of_its_type() {
        let text = TextVector::from_strings([b"a".as_slice(), b"b"]).expect("small");
        let columns = [
            (SqlType::Null, Vector::constant(&gingham::Value::Null, SqlType::Null, 2)),
            (SqlType::Boolean, Vector::new(Data::Boolean(vec![true, false]))),
            (SqlType::Integer, Vector { data: Data::Int32(vec![1, 0]), validity: Some(vec![true, false]) }),
            (SqlType::Date, Vector::new(Data::Int32(vec![1, 2]))),
            (SqlType::BigInt, Vector::new(Data::Int64(vec![1, 2]))),
            (SqlType::Timestamp, Vector::new(Data::Int64(vec![1, 2]))),
            (SqlType::decimal(15, 2), Vector::new(Data::Int64(vec![1, 2]))),
            (SqlType::decimal(38, 2), Vector::new(Data::Int128(vec![1, 2]))),
            (SqlType::Double, Vector::new(Data::Double(vec![1.0, 2.0]))),
            (SqlType::Text, Vector::new(Data::Text(text.clone()))),
            (SqlType::Blob, Vector::new(Data::Text(text))),
            (SqlType::Interval, Vector::new(Data::Interval(vec![Interval::default(); 2]))),
        ];
        let batch = read_back(&columns);
        assert_eq!(batch.num_rows(), 2);
        for ((ty, _), field) in columns.iter().zip(batch.schema().fields()) {
            assert_eq!(field.data_type(), &data_type(*ty));
        }
        assert!(batch.column(2).is_null(1));
    }
}
