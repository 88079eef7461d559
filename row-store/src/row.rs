//! The row codec: a row's columns as bytes, each readable without the others.
//!
//! | part | content |
//! |---|---|
//! | header | u8: columns in the row if below 127, else 127 and a u16 with their number; bit 7 says that ends are wide |
//! | null bitmap | one bit a column, lowest first, 1 is NULL |
//! | fixed part | BOOLEAN 1 byte, INTEGER and DATE 4, BIGINT, TIMESTAMP and DOUBLE 8, DECIMAL 8 up to 18 digits, else 16; TEXT and BLOB an end, 2 bytes or wide 4: where their content ends in the variable part. It begins where that of the TEXT or BLOB before ends. NULL columns have zeros, or an empty content |
//! | variable part | contents of TEXT and BLOB columns |
//!
//! All little endian. A row with fewer columns than its layout was written before the
//! others were added: they read as NULL.

mod patch;

use crate::{Error, Result};
use gingham_types::{SqlType, Value, rescale};

const COUNT_MASK: u8 = 0x7f;
const WIDE: u8 = 0x80;
const NARROW_END_BYTES: usize = 2;
const WIDE_END_BYTES: usize = 4;

/// Digits of the widest DECIMAL kept in 8 bytes.
const DECIMAL8_DIGITS_MAX: u8 = 18;

/// The most columns of a row.
pub const COLUMNS_MAX: usize = 4096;

/// Where a column is in the fixed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    sql_type: SqlType,
    /// Offset in the fixed part but for ends before it.
    offset: u32,
    /// TEXT and BLOB columns before it.
    ends: u32,
    /// The column before it that has an end.
    end_before: Option<u32>,
}

/// How rows of a table are laid out, from its columns' types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLayout {
    types: Vec<SqlType>,
    places: Vec<Place>,
    /// Offset and ends behind the last column.
    total: (u32, u32),
}

fn has_end(sql_type: SqlType) -> bool {
    matches!(sql_type, SqlType::Text | SqlType::Blob)
}

/// Bytes in the fixed part; an end counts apart.
fn fixed_bytes(sql_type: SqlType) -> u32 {
    match sql_type {
        SqlType::Boolean => 1,
        SqlType::Integer | SqlType::Date => 4,
        SqlType::BigInt | SqlType::Timestamp | SqlType::Double => 8,
        SqlType::Decimal { precision, .. } if precision <= DECIMAL8_DIGITS_MAX => 8,
        SqlType::Decimal { .. } => 16,
        SqlType::Text | SqlType::Blob | SqlType::Null | SqlType::Interval => 0,
    }
}

impl RowLayout {
    /// A layout of columns with these types. NULL and INTERVAL columns hold only NULL.
    pub fn new(types: &[SqlType]) -> Self {
        let (mut offset, mut ends, mut end_before) = (0, 0, None);
        let mut places = Vec::with_capacity(types.len());
        for (index, sql_type) in types.iter().enumerate() {
            places.push(Place { sql_type: *sql_type, offset, ends, end_before });
            offset += fixed_bytes(*sql_type);
            if has_end(*sql_type) {
                ends += 1;
                end_before = Some(index as u32);
            }
        }
        Self { types: types.to_vec(), places, total: (offset, ends) }
    }

    /// The columns' types.
    pub fn types(&self) -> &[SqlType] {
        &self.types
    }

    /// Bytes of the fixed part of the first `columns`.
    #[inline]
    fn fixed_part(&self, columns: usize, end_bytes: usize) -> usize {
        let (offset, ends) = match self.places.get(columns) {
            Some(place) => (place.offset, place.ends),
            None => self.total,
        };
        offset as usize + ends as usize * end_bytes
    }

    /// Appends the encoding of a row to `out`. Fewer values than columns make a row
    /// whose other columns are NULL.
    ///
    /// # Errors
    /// [`Error::InvalidRow`] for a value that is not of its column's type or range;
    /// `out` is then as it was.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) -> Result<()> {
        if values.len() > self.types.len() || values.len() > COLUMNS_MAX {
            return Err(Error::InvalidRow(format!("{} values for {} columns", values.len(), self.types.len())));
        }
        let start = out.len();
        let result = self.encode_values(values, out);
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    fn encode_values(&self, values: &[Value], out: &mut Vec<u8>) -> Result<()> {
        let variable_bytes: usize = values
            .iter()
            .map(|value| match value {
                Value::Text(text) => text.len(),
                Value::Blob(bytes) => bytes.len(),
                _ => 0,
            })
            .sum();
        let wide = variable_bytes > usize::from(u16::MAX);
        let flag = if wide { WIDE } else { 0 };
        if values.len() < COUNT_MASK as usize {
            out.push(values.len() as u8 | flag);
        } else {
            out.push(COUNT_MASK | flag);
            out.extend_from_slice(&(values.len() as u16).to_le_bytes());
        }
        let bitmap_at = out.len();
        out.resize(bitmap_at + values.len().div_ceil(8), 0);
        let mut end = 0;
        for (index, (value, sql_type)) in values.iter().zip(&self.types).enumerate() {
            if value.is_null() {
                out[bitmap_at + index / 8] |= 1 << (index % 8);
                out.resize(out.len() + fixed_bytes(*sql_type) as usize, 0);
            }
            if has_end(*sql_type) {
                end += match (sql_type, value) {
                    (SqlType::Text, Value::Text(text)) => text.len(),
                    (SqlType::Blob, Value::Blob(bytes)) => bytes.len(),
                    (_, Value::Null) => 0,
                    _ => return Err(mismatch(*sql_type, value)),
                };
                if wide {
                    let end = u32::try_from(end).map_err(|_| Error::TooLarge("row"))?;
                    out.extend_from_slice(&end.to_le_bytes());
                } else {
                    out.extend_from_slice(&(end as u16).to_le_bytes());
                }
            } else if !value.is_null() {
                encode_fixed(*sql_type, value, out)?;
            }
        }
        for value in values {
            match value {
                Value::Text(text) => out.extend_from_slice(text.as_bytes()),
                Value::Blob(bytes) => out.extend_from_slice(bytes),
                _ => {}
            }
        }
        Ok(())
    }

    /// A reader over an encoded row. Checks once that every part is there, so that the
    /// accessors cannot fail.
    ///
    /// # Errors
    /// [`Error::InvalidRow`] for bytes that no encoding gives.
    #[inline]
    pub fn reader<'a>(&'a self, bytes: &'a [u8]) -> Result<RowReader<'a>> {
        let (first, rest) = bytes.split_first().ok_or_else(damaged)?;
        let end_bytes = if first & WIDE == 0 { NARROW_END_BYTES } else { WIDE_END_BYTES };
        let (columns, rest) = match first & COUNT_MASK {
            COUNT_MASK => {
                let (count, rest) = rest.split_first_chunk::<2>().ok_or_else(damaged)?;
                (usize::from(u16::from_le_bytes(*count)), rest)
            }
            count => (usize::from(count), rest),
        };
        if columns > self.types.len() {
            return Err(damaged());
        }
        let (nulls, rest) = rest.split_at_checked(columns.div_ceil(8)).ok_or_else(damaged)?;
        let (fixed, variable) = rest.split_at_checked(self.fixed_part(columns, end_bytes)).ok_or_else(damaged)?;
        let reader = RowReader { layout: self, columns, nulls, fixed, variable, end_bytes };
        reader.check_ends()?;
        Ok(reader)
    }

    /// All columns.
    ///
    /// # Errors
    /// [`Error::InvalidRow`] for bytes that no encoding gives.
    pub fn decode_all(&self, bytes: &[u8]) -> Result<Vec<Value>> {
        let reader = self.reader(bytes)?;
        (0..self.types.len()).map(|column| reader.value(column)).collect()
    }
}

fn mismatch(sql_type: SqlType, value: &Value) -> Error {
    Error::InvalidRow(format!("{} in a column of type {sql_type}", value.sql_type()))
}

fn damaged() -> Error {
    Error::InvalidRow("the bytes of a row cannot be read".into())
}

fn encode_fixed(sql_type: SqlType, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    let mismatch = || mismatch(sql_type, value);
    match (sql_type, value) {
        (SqlType::Boolean, Value::Boolean(value)) => out.push(u8::from(*value)),
        (SqlType::Integer, Value::Int(value)) => {
            out.extend_from_slice(&i32::try_from(*value).map_err(|_| mismatch())?.to_le_bytes());
        }
        (SqlType::Date, Value::Date(value)) => out.extend_from_slice(&value.to_le_bytes()),
        (SqlType::BigInt, Value::Int(value)) | (SqlType::Timestamp, Value::Timestamp(value)) => {
            out.extend_from_slice(&value.to_le_bytes());
        }
        (SqlType::Double, Value::Double(value)) => out.extend_from_slice(&value.to_bits().to_le_bytes()),
        (SqlType::Decimal { precision, scale }, Value::Decimal { unscaled, scale: from }) => {
            let unscaled = if scale == *from {
                *unscaled
            } else {
                rescale(*unscaled, *from, scale)
                    .filter(|v| rescale(*v, scale, *from) == Some(*unscaled))
                    .ok_or_else(mismatch)?
            };
            if precision <= DECIMAL8_DIGITS_MAX {
                out.extend_from_slice(&i64::try_from(unscaled).map_err(|_| mismatch())?.to_le_bytes());
            } else {
                out.extend_from_slice(&unscaled.to_le_bytes());
            }
        }
        _ => return Err(mismatch()),
    }
    Ok(())
}

/// Reads single columns of one encoded row. Columns the row does not have are NULL; an
/// accessor of another type than the column's reads as NULL too.
#[derive(Clone, Copy)]
pub struct RowReader<'a> {
    layout: &'a RowLayout,
    columns: usize,
    nulls: &'a [u8],
    fixed: &'a [u8],
    variable: &'a [u8],
    end_bytes: usize,
}

impl<'a> RowReader<'a> {
    fn check_ends(&self) -> Result<()> {
        if self.layout.total.1 == 0 {
            return Ok(());
        }
        let mut before = 0;
        for place in self.layout.places.iter().take(self.columns).filter(|place| has_end(place.sql_type)) {
            let end = self.end(place);
            if end < before || end > self.variable.len() {
                return Err(damaged());
            }
            before = end;
        }
        Ok(())
    }

    /// Whether a column is NULL.
    #[inline]
    pub fn is_null(&self, column: usize) -> bool {
        column >= self.columns || self.nulls[column / 8] >> (column % 8) & 1 == 1
    }

    /// A column's place, if it is not NULL.
    #[inline]
    fn place(&self, column: usize) -> Option<&'a Place> {
        if self.is_null(column) { None } else { self.layout.places.get(column) }
    }

    #[inline]
    fn fixed_at<const N: usize>(&self, place: &Place) -> Option<[u8; N]> {
        let at = place.offset as usize + place.ends as usize * self.end_bytes;
        self.fixed.get(at..at + N)?.try_into().ok()
    }

    #[inline]
    fn end(&self, place: &Place) -> usize {
        let end = if self.end_bytes == NARROW_END_BYTES {
            self.fixed_at(place).map(|bytes| usize::from(u16::from_le_bytes(bytes)))
        } else {
            self.fixed_at(place).map(|bytes| u32::from_le_bytes(bytes) as usize)
        };
        end.unwrap_or(0)
    }

    /// An INTEGER or BIGINT; also the days of a DATE and the microseconds of a
    /// TIMESTAMP.
    #[inline]
    pub fn int(&self, column: usize) -> Option<i64> {
        let place = self.place(column)?;
        match place.sql_type {
            SqlType::Integer | SqlType::Date => Some(i64::from(i32::from_le_bytes(self.fixed_at(place)?))),
            SqlType::BigInt | SqlType::Timestamp => Some(i64::from_le_bytes(self.fixed_at(place)?)),
            _ => None,
        }
    }

    /// A DOUBLE.
    #[inline]
    pub fn double(&self, column: usize) -> Option<f64> {
        let place = self.place(column)?;
        if place.sql_type != SqlType::Double {
            return None;
        }
        Some(f64::from_bits(u64::from_le_bytes(self.fixed_at(place)?)))
    }

    /// A BOOLEAN.
    #[inline]
    pub fn boolean(&self, column: usize) -> Option<bool> {
        let place = self.place(column)?;
        if place.sql_type != SqlType::Boolean {
            return None;
        }
        Some(self.fixed_at::<1>(place)?[0] != 0)
    }

    /// A DECIMAL's unscaled number, at the column's scale.
    #[inline]
    pub fn decimal(&self, column: usize) -> Option<i128> {
        let place = self.place(column)?;
        match place.sql_type {
            SqlType::Decimal { precision, .. } if precision <= DECIMAL8_DIGITS_MAX => {
                Some(i128::from(i64::from_le_bytes(self.fixed_at(place)?)))
            }
            SqlType::Decimal { .. } => Some(i128::from_le_bytes(self.fixed_at(place)?)),
            _ => None,
        }
    }

    /// The bytes of a BLOB or TEXT.
    #[inline]
    pub fn bytes(&self, column: usize) -> Option<&'a [u8]> {
        let place = self.place(column)?;
        if !has_end(place.sql_type) {
            return None;
        }
        let start = match place.end_before {
            Some(before) => self.end(&self.layout.places[before as usize]),
            None => 0,
        };
        self.variable.get(start..self.end(place))
    }

    /// A TEXT; `None` also if the bytes are not UTF-8, which [`RowReader::value`]
    /// reports as an error.
    #[inline]
    pub fn text(&self, column: usize) -> Option<&'a str> {
        std::str::from_utf8(self.bytes(column)?).ok()
    }

    /// Any column as a value.
    ///
    /// # Errors
    /// [`Error::InvalidRow`] for bytes that no encoding gives.
    pub fn value(&self, column: usize) -> Result<Value> {
        let Some(place) = self.place(column) else { return Ok(Value::Null) };
        let value = match place.sql_type {
            SqlType::Boolean => match self.fixed_at::<1>(place) {
                Some([0]) => Some(Value::Boolean(false)),
                Some([1]) => Some(Value::Boolean(true)),
                _ => None,
            },
            SqlType::Integer | SqlType::BigInt => self.int(column).map(Value::Int),
            SqlType::Date => self.fixed_at(place).map(|bytes| Value::Date(i32::from_le_bytes(bytes))),
            SqlType::Timestamp => self.int(column).map(Value::Timestamp),
            SqlType::Double => self.double(column).map(Value::Double),
            SqlType::Decimal { scale, .. } => self.decimal(column).map(|unscaled| Value::Decimal { unscaled, scale }),
            SqlType::Text => self.text(column).map(|text| Value::Text(text.to_owned())),
            SqlType::Blob => self.bytes(column).map(|bytes| Value::Blob(bytes.to_vec())),
            SqlType::Null | SqlType::Interval => None,
        };
        value.ok_or_else(damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A value, or NULL, and the type of its column.
    pub(super) fn value_and_type() -> impl Strategy<Value = (SqlType, Value)> {
        let null = prop::sample::select(vec![SqlType::Integer, SqlType::Text, SqlType::Blob, SqlType::decimal(30, 2)]);
        prop_oneof![
            any::<bool>().prop_map(|v| (SqlType::Boolean, Value::Boolean(v))),
            any::<i32>().prop_map(|v| (SqlType::Integer, Value::Int(i64::from(v)))),
            any::<i64>().prop_map(|v| (SqlType::BigInt, Value::Int(v))),
            (-1e300..1e300).prop_map(|v: f64| (SqlType::Double, Value::Double(v))),
            any::<i32>()
                .prop_map(|v| { (SqlType::decimal(15, 2), Value::Decimal { unscaled: i128::from(v), scale: 2 }) }),
            any::<i128>().prop_map(|v| (SqlType::decimal(38, 5), Value::Decimal { unscaled: v, scale: 5 })),
            ".{0,20}".prop_map(|v| (SqlType::Text, Value::Text(v))),
            prop::collection::vec(any::<u8>(), 0..20).prop_map(|v| (SqlType::Blob, Value::Blob(v))),
            any::<i32>().prop_map(|v| (SqlType::Date, Value::Date(v))),
            any::<i64>().prop_map(|v| (SqlType::Timestamp, Value::Timestamp(v))),
            null.prop_map(|sql_type| (sql_type, Value::Null)),
        ]
    }

    proptest! {
        #[test]
        fn rows_read_back(row in prop::collection::vec(value_and_type(), 0..20), kept in 0usize..20) {
            let types: Vec<SqlType> = row.iter().map(|c| c.0).collect();
            let values: Vec<Value> = row.into_iter().map(|c| c.1).collect();
            let layout = RowLayout::new(&types);
            let mut bytes = Vec::new();
            layout.encode(&values, &mut bytes).expect("fits");
            prop_assert_eq!(&layout.decode_all(&bytes).expect("reads back"), &values);

            // Columns that were added later read as NULL.
            let kept = kept.min(values.len());
            bytes.clear();
            layout.encode(&values[..kept], &mut bytes).expect("fits");
            let decoded = layout.decode_all(&bytes).expect("reads back");
            prop_assert_eq!(&decoded[..kept], &values[..kept]);
            prop_assert!(decoded[kept..].iter().all(Value::is_null));
        }

        #[test]
        fn any_bytes_give_values_or_an_error(
            types in prop::collection::vec(value_and_type(), 0..6),
            bytes in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let types: Vec<SqlType> = types.iter().map(|c| c.0).collect();
            let layout = RowLayout::new(&types);
            let _ = layout.decode_all(&bytes);
            let changes: Vec<(usize, Value)> = (0..types.len()).map(|column| (column, Value::Null)).collect();
            let _ = layout.patch(&bytes, &changes, &mut Vec::new());
        }
    }

    #[test]
    fn wide_rows_and_many_columns() {
        let types = [vec![SqlType::Integer; 200], vec![SqlType::Text; 3]].concat();
        let layout = RowLayout::new(&types);
        let mut values = vec![Value::Int(7); 200];
        values.extend([Value::Text("x".repeat(70_000)), Value::Null, Value::Text("end".into())]);
        let mut bytes = Vec::new();
        layout.encode(&values, &mut bytes).expect("fits");
        let reader = layout.reader(&bytes).expect("reads");
        assert_eq!(reader.text(202), Some("end"));
        assert_eq!(reader.int(199), Some(7));
        assert_eq!(reader.text(200).map(str::len), Some(70_000));
        assert!(reader.is_null(201) && reader.is_null(500));
        // Ends become narrow, and wide again.
        let mut short = Vec::new();
        layout.patch(&bytes, &[(200, Value::Text("x".into()))], &mut short).expect("fits");
        values[200] = Value::Text("x".into());
        let mut anew = Vec::new();
        layout.encode(&values, &mut anew).expect("fits");
        assert_eq!(short, anew);
        let mut long = Vec::new();
        layout.patch(&short, &[(200, Value::Text("x".repeat(70_000)))], &mut long).expect("fits");
        assert_eq!(long, bytes);
    }

    #[test]
    fn small_rows_are_small() {
        let layout = RowLayout::new(&[SqlType::Integer, SqlType::Integer, SqlType::Text]);
        let mut bytes = Vec::new();
        layout.encode(&[Value::Int(1), Value::Int(2), Value::Text("abc".into())], &mut bytes).expect("fits");
        assert_eq!(bytes.len(), 1 + 1 + 4 + 4 + 2 + 3);
    }

    #[test]
    fn values_of_other_types_are_refused() {
        let layout = RowLayout::new(&[SqlType::Integer, SqlType::Text]);
        let mut out = vec![9];
        for values in [
            vec![Value::Text("1".into())],
            vec![Value::Int(1 << 40)],
            vec![Value::Int(1), Value::Blob(vec![])],
            vec![Value::Null; 3],
        ] {
            assert!(layout.encode(&values, &mut out).is_err(), "{values:?}");
            assert_eq!(out, [9]);
        }
    }
}
