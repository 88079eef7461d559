//! The messages of an Arrow IPC stream: its schema, its dictionaries, its record batches.
//!
//! What bytes can say wrong is checked here, before the library takes it for granted.
//! Only types that a column can have are read, and dictionaries are written out.

use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, cast::AsArray};
use arrow_buffer::Buffer;
use arrow_ipc::reader::read_record_batch;
use arrow_ipc::{self as ipc, MessageHeader, MetadataVersion, Precision, Type};
use arrow_schema::{ArrowError, DataType, Field, IntervalUnit, Schema, TimeUnit};
use std::collections::HashMap;
use std::sync::Arc;

/// Stands before the length of a message in streams of version 0.15 and later.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Reads a stream batch by batch.
pub(super) struct Stream<'a> {
    bytes: &'a [u8],
    /// With the type of its codes for a column with a dictionary.
    schema: Arc<Schema>,
    /// The dictionary of each column that has one.
    dictionary_of: Vec<Option<i64>>,
    dictionaries: HashMap<i64, StringArray>,
}

type Result<T> = std::result::Result<T, ArrowError>;

fn damaged(what: impl Into<String>) -> ArrowError {
    ArrowError::ParseError(what.into())
}

impl<'a> Stream<'a> {
    /// Reads the schema.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self> {
        let mut stream =
            Self { bytes, schema: Arc::new(Schema::empty()), dictionary_of: Vec::new(), dictionaries: HashMap::new() };
        let (message, _) = stream.next_message()?.ok_or_else(|| damaged("it is empty"))?;
        let schema = message.header_as_schema().ok_or_else(|| damaged("it does not begin with a schema"))?;
        if schema.endianness() != ipc::Endianness::Little {
            return Err(damaged("its numbers are big-endian"));
        }
        let mut fields = Vec::new();
        for field in schema.fields().into_iter().flatten() {
            let name = field.name().unwrap_or_default();
            let ty = data_type(&field)
                .ok_or_else(|| ArrowError::NotYetImplemented(format!("an Arrow column ({name}) of its type")))?;
            let dictionary = field.dictionary();
            let (ty, id) = match dictionary {
                None => (ty, None),
                Some(dictionary) if ty == DataType::Utf8 => {
                    // Without a type the codes have 32 bits, with a sign.
                    let code = dictionary.indexType().map_or(Some(DataType::Int32), |int| integer(&int));
                    (code.ok_or_else(|| damaged("a dictionary has odd codes"))?, Some(dictionary.id()))
                }
                Some(_) => {
                    let message = format!("a dictionary of something else than text (column {name})");
                    return Err(ArrowError::NotYetImplemented(message));
                }
            };
            fields.push(Field::new(name, ty, field.nullable()));
            stream.dictionary_of.push(id);
        }
        stream.schema = Arc::new(Schema::new(fields));
        Ok(stream)
    }

    /// The next message and its body, after the bytes read so far.
    fn next_message(&mut self) -> Result<Option<(ipc::Message<'a>, &'a [u8])>> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let mut length = self.take(4)?;
        if length == CONTINUATION {
            length = self.take(4)?;
        }
        let length = length.try_into().map_or(0, i32::from_le_bytes);
        if length == 0 {
            return Ok(None);
        }
        let header = self.take(i64::from(length))?;
        let message =
            ipc::root_as_message(header).map_err(|error| damaged(format!("a message does not read: {error}")))?;
        let body = self.take(message.bodyLength())?;
        Ok(Some((message, body)))
    }

    fn take(&mut self, length: i64) -> Result<&'a [u8]> {
        let (taken, rest) = usize::try_from(length)
            .ok()
            .and_then(|length| self.bytes.split_at_checked(length))
            .ok_or_else(|| damaged("it ends within a message"))?;
        self.bytes = rest;
        Ok(taken)
    }

    /// The next record batch, with dictionaries written out.
    pub(super) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while let Some((message, body)) = self.next_message()? {
            let version = message.version();
            if let Some(dictionary) = message.header_as_dictionary_batch() {
                self.read_dictionary(dictionary, body, version)?;
            } else if let Some(batch) = message.header_as_record_batch() {
                let codes = read_batch(batch, body, Arc::clone(&self.schema), version)?;
                return self.written_out(&codes).map(Some);
            } else if message.header_type() != MessageHeader::NONE {
                return Err(damaged("a message is neither a dictionary nor a record batch"));
            }
        }
        Ok(None)
    }

    fn read_dictionary(
        &mut self,
        dictionary: ipc::DictionaryBatch<'_>,
        body: &[u8],
        version: MetadataVersion,
    ) -> Result<()> {
        let id = dictionary.id();
        if !self.dictionary_of.contains(&Some(id)) {
            return Err(damaged(format!("no column has dictionary {id}")));
        }
        let batch = dictionary.data().ok_or_else(|| damaged("a dictionary has no entries"))?;
        let schema = Arc::new(Schema::new(vec![Field::new("", DataType::Utf8, true)]));
        let mut entries = read_batch(batch, body, schema, version)?.column(0).as_string::<i32>().clone();
        if dictionary.isDelta()
            && let Some(before) = self.dictionaries.get(&id)
        {
            entries = before.iter().chain(&entries).collect();
        }
        self.dictionaries.insert(id, entries);
        Ok(())
    }

    fn written_out(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for ((field, column), dictionary) in self.schema.fields().iter().zip(batch.columns()).zip(&self.dictionary_of) {
            let Some(id) = dictionary else {
                fields.push(Arc::clone(field));
                columns.push(Arc::clone(column));
                continue;
            };
            let entries = self.dictionaries.get(id).ok_or_else(|| damaged(format!("dictionary {id} is missing")))?;
            let text: StringArray = (0..column.len())
                .map(|row| match code(column, row) {
                    None => Ok(None),
                    Some(code) if code < entries.len() => Ok(entries.is_valid(code).then(|| entries.value(code))),
                    Some(_) => Err(damaged(format!("a code is past the end of dictionary {id}"))),
                })
                .collect::<Result<_>>()?;
            fields.push(Arc::new(Field::new(field.name(), DataType::Utf8, true)));
            columns.push(Arc::new(text));
        }
        let rows = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &rows)
    }
}

/// A batch whose buffers lie within its body and have a bit for each row.
fn read_batch(
    batch: ipc::RecordBatch<'_>,
    body: &[u8],
    schema: Arc<Schema>,
    version: MetadataVersion,
) -> Result<RecordBatch> {
    let fits = |buffer: &ipc::Buffer| {
        let end = buffer.offset().checked_add(buffer.length());
        buffer.offset() >= 0 && buffer.length() >= 0 && end.is_some_and(|end| end as u64 <= body.len() as u64)
    };
    let mut buffers = batch.buffers().into_iter().flatten();
    if !buffers.clone().all(fits) {
        return Err(damaged("a buffer lies outside its message"));
    }
    let rows = batch.length();
    if !(0..=i64::from(i32::MAX)).contains(&rows) {
        return Err(damaged("a batch has an odd number of rows"));
    }
    let mut nodes = batch.nodes().into_iter().flatten();
    let mut views = batch.variadicBufferCounts().into_iter().flatten();
    for field in schema.fields() {
        let node = nodes.next().ok_or_else(|| damaged("a batch has too few columns"))?;
        if node.length() != rows || !(0..=rows).contains(&node.null_count()) {
            return Err(damaged("a column has another number of rows than its batch"));
        }
        let more = match field.data_type() {
            DataType::Null => continue,
            DataType::Utf8 | DataType::Binary | DataType::LargeUtf8 | DataType::LargeBinary => 2,
            DataType::Utf8View | DataType::BinaryView => {
                let count = views.next().and_then(|count| usize::try_from(count).ok());
                count
                    .and_then(|count| count.checked_add(1))
                    .ok_or_else(|| damaged("a column of views lacks their number"))?
            }
            _ => 1,
        };
        let validity = buffers.next();
        if node.null_count() > 0 && validity.is_none_or(|buffer| buffer.length() < (rows + 7) / 8) {
            return Err(damaged("a column lacks the marks of its NULLs"));
        }
        for number in 0..more {
            let buffer = buffers.next().ok_or_else(|| damaged("a batch has too few buffers"))?;
            if number == 0 && buffer.length() % width(field.data_type()) != 0 {
                return Err(damaged("a buffer ends within a value"));
            }
        }
    }
    if views.next().is_some() {
        return Err(damaged("a batch has more numbers of buffers than columns of views"));
    }
    read_record_batch(&Buffer::from(body), batch, schema, &HashMap::new(), None, &version)
}

/// Bytes of a value, offset or view in the buffer after the marks of NULLs.
const fn width(ty: &DataType) -> i64 {
    match ty {
        DataType::Null | DataType::Boolean | DataType::Int8 | DataType::UInt8 => 1,
        DataType::Int16 | DataType::UInt16 => 2,
        DataType::Int32 | DataType::UInt32 | DataType::Float32 | DataType::Date32 => 4,
        DataType::Utf8 | DataType::Binary => 4,
        DataType::Utf8View | DataType::BinaryView | DataType::Decimal128(..) | DataType::Interval(_) => 16,
        _ => 8,
    }
}

/// The code at `row`, if it is not NULL; one that is negative as the largest.
fn code(codes: &ArrayRef, row: usize) -> Option<usize> {
    if codes.is_null(row) {
        return None;
    }
    Some(match codes.data_type() {
        DataType::Int8 => usize::try_from(codes.as_primitive::<Int8Type>().value(row)).unwrap_or(usize::MAX),
        DataType::Int16 => usize::try_from(codes.as_primitive::<Int16Type>().value(row)).unwrap_or(usize::MAX),
        DataType::Int32 => usize::try_from(codes.as_primitive::<Int32Type>().value(row)).unwrap_or(usize::MAX),
        DataType::Int64 => usize::try_from(codes.as_primitive::<Int64Type>().value(row)).unwrap_or(usize::MAX),
        DataType::UInt8 => usize::from(codes.as_primitive::<UInt8Type>().value(row)),
        DataType::UInt16 => usize::from(codes.as_primitive::<UInt16Type>().value(row)),
        DataType::UInt32 => usize::try_from(codes.as_primitive::<UInt32Type>().value(row)).unwrap_or(usize::MAX),
        _ => usize::try_from(codes.as_primitive::<UInt64Type>().value(row)).unwrap_or(usize::MAX),
    })
}

fn integer(int: &ipc::Int<'_>) -> Option<DataType> {
    Some(match (int.bitWidth(), int.is_signed()) {
        (8, true) => DataType::Int8,
        (16, true) => DataType::Int16,
        (32, true) => DataType::Int32,
        (64, true) => DataType::Int64,
        (8, false) => DataType::UInt8,
        (16, false) => DataType::UInt16,
        (32, false) => DataType::UInt32,
        (64, false) => DataType::UInt64,
        _ => return None,
    })
}

fn unit(unit: ipc::TimeUnit) -> Option<TimeUnit> {
    Some(match unit {
        ipc::TimeUnit::SECOND => TimeUnit::Second,
        ipc::TimeUnit::MILLISECOND => TimeUnit::Millisecond,
        ipc::TimeUnit::MICROSECOND => TimeUnit::Microsecond,
        ipc::TimeUnit::NANOSECOND => TimeUnit::Nanosecond,
        _ => return None,
    })
}

/// The type of a field, of its dictionary's entries where it has one.
fn data_type(field: &ipc::Field<'_>) -> Option<DataType> {
    Some(match field.type_type() {
        Type::Null => DataType::Null,
        Type::Bool => DataType::Boolean,
        Type::Int => integer(&field.type_as_int()?)?,
        Type::FloatingPoint => match field.type_as_floating_point()?.precision() {
            Precision::SINGLE => DataType::Float32,
            Precision::DOUBLE => DataType::Float64,
            _ => return None,
        },
        Type::Decimal => {
            let decimal = field.type_as_decimal()?;
            let (precision, scale) = (u8::try_from(decimal.precision()).ok()?, i8::try_from(decimal.scale()).ok()?);
            if decimal.bitWidth() != 128 || !(1..=38).contains(&precision) {
                return None;
            }
            DataType::Decimal128(precision, scale)
        }
        Type::Utf8 => DataType::Utf8,
        Type::LargeUtf8 => DataType::LargeUtf8,
        Type::Utf8View => DataType::Utf8View,
        Type::Binary => DataType::Binary,
        Type::LargeBinary => DataType::LargeBinary,
        Type::BinaryView => DataType::BinaryView,
        Type::Date if field.type_as_date()?.unit() == ipc::DateUnit::DAY => DataType::Date32,
        Type::Timestamp => DataType::Timestamp(unit(field.type_as_timestamp()?.unit())?, None),
        Type::Interval if field.type_as_interval()?.unit() == ipc::IntervalUnit::MONTH_DAY_NANO => {
            DataType::Interval(IntervalUnit::MonthDayNano)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{BooleanArray, DictionaryArray, Float64Array, Int64Array, StringViewArray};
    use arrow_ipc::writer::StreamWriter;

    fn batch() -> RecordBatch {
        let codes: DictionaryArray<Int8Type> = [Some("red"), None, Some("blue"), Some("red")].into_iter().collect();
        let columns: [(&str, ArrayRef); 5] = [
            ("k", Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)]))),
            ("d", Arc::new(Float64Array::from(vec![0.5, 1.5, -0.0, f64::NAN]))),
            ("b", Arc::new(BooleanArray::from(vec![true, false, true, true]))),
            ("s", Arc::new(StringViewArray::from(vec!["", "short", "longer than twelve bytes", "ñ"]))),
            ("c", Arc::new(codes)),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).expect("a batch")
    }

    fn written(batches: &[RecordBatch]) -> Vec<u8> {
        let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).expect("a schema");
        batches.iter().for_each(|batch| writer.write(batch).expect("a batch"));
        writer.into_inner().expect("a stream")
    }

    fn read(bytes: &[u8]) -> Result<Vec<RecordBatch>> {
        let mut stream = Stream::new(bytes)?;
        let mut batches = Vec::new();
        while let Some(batch) = stream.next_batch()? {
            batches.push(batch);
        }
        Ok(batches)
    }

    #[test]
    fn streams_read_with_dictionaries_written_out() {
        let batches = read(&written(&[batch(), batch().slice(1, 2)])).expect("a stream");
        assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [4, 2]);
        for (read, expected) in batches.iter().zip([batch(), batch().slice(1, 2)]) {
            for column in 0..4 {
                assert_eq!(read.column(column).to_data(), expected.column(column).to_data());
            }
        }
        let texts: Vec<Option<&str>> = batches[0].column(4).as_string::<i32>().iter().collect();
        assert_eq!(texts, [Some("red"), None, Some("blue"), Some("red")]);
    }

    #[test]
    fn damaged_streams_are_errors_or_other_rows() {
        let whole = written(&[batch()]);
        for length in 0..whole.len() - 8 {
            // A stream may end after any message.
            let _ = read(&whole[..length]);
        }
        assert!(read(&[]).is_err() && read(&whole[..whole.len() - 20]).is_err());
        for at in 0..whole.len() {
            for flip in [1, 0x10, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] ^= flip;
                let _ = read(&damaged);
            }
        }
    }
}
