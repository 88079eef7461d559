//! Order-preserving encoding of values as keys: comparing encoded keys byte by byte
//! gives the order of the values, columns left to right, NULL after everything else
//! (before it where the column descends).
//!
//! | type | bytes |
//! |---|---|
//! | BOOLEAN | 1: 0 or 1 |
//! | INTEGER, DATE | 4, big endian, sign bit flipped |
//! | BIGINT, TIMESTAMP | 8, the same |
//! | DOUBLE | 8, big endian; sign bit flipped, negative numbers inverted. -0.0 is 0.0 and every NaN the same, after infinity |
//! | DECIMAL | 16, big endian, sign bit flipped, at the column's scale |
//! | TEXT, BLOB | content with 0x00 as 0x00 0xFF, then 0x00 0x00 |
//!
//! A column that may be NULL begins with a byte: 1, or 2 for NULL, after which nothing
//! follows. A descending column's bytes are inverted. The key of one ascending NOT NULL
//! integer column is thus exactly its 4 or 8 bytes.

use crate::{Error, Result};
use gingham_types::{SqlType, Value, rescale};

const PRESENT: u8 = 1;
const NULL: u8 = 2;
const ESCAPE: u8 = 0x00;
const ESCAPED_ZERO: u8 = 0xff;

/// One column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// The column's type; neither NULL nor INTERVAL.
    pub sql_type: SqlType,
    /// Whether NULL may occur; a NOT NULL column has no prefix byte.
    pub nullable: bool,
    /// Whether larger values come first.
    pub descending: bool,
}

impl KeyColumn {
    /// An ascending NOT NULL column.
    pub const fn new(sql_type: SqlType) -> Self {
        Self { sql_type, nullable: false, descending: false }
    }
}

/// The columns of a key, which say how it is encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLayout {
    columns: Vec<KeyColumn>,
}

impl KeyLayout {
    /// A layout of these columns.
    pub fn new(columns: Vec<KeyColumn>) -> Self {
        Self { columns }
    }

    /// The columns.
    pub fn columns(&self) -> &[KeyColumn] {
        &self.columns
    }

    /// Appends the encoding of `values`, which may be fewer than the columns: a prefix,
    /// to bound a range by.
    ///
    /// # Errors
    /// [`Error::InvalidRow`] for a value of another type, out of the column's range, or
    /// NULL where it cannot be; `out` is then as it was.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) -> Result<()> {
        if values.len() > self.columns.len() {
            return Err(Error::InvalidRow(format!("{} values for {} key columns", values.len(), self.columns.len())));
        }
        let start = out.len();
        for (column, value) in self.columns.iter().zip(values) {
            if let Err(error) = encode_value(*column, value, out) {
                out.truncate(start);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Appends the encoding of the value of the column at `position`, as [`KeyLayout::encode`]
    /// does for all of them.
    ///
    /// # Errors
    /// As [`KeyLayout::encode`]; also for a column that the key does not have.
    pub fn encode_at(&self, position: usize, value: &Value, out: &mut Vec<u8>) -> Result<()> {
        let column = self.columns.get(position).ok_or_else(damaged)?;
        encode_value(*column, value, out)
    }

    /// The key of one value, for a single column.
    pub fn key(&self, values: &[Value]) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(16 * values.len());
        self.encode(values, &mut out)?;
        Ok(out)
    }

    /// Reads a key back. Returns one value a column and how many bytes they took; what
    /// follows (as the row's key in a non-unique index) is the caller's.
    ///
    /// # Errors
    /// [`Error::InvalidRow`] for bytes that no encoding gives.
    pub fn decode(&self, key: &[u8]) -> Result<(Vec<Value>, usize)> {
        let mut values = Vec::with_capacity(self.columns.len());
        let bytes = self.decode_into(key, &mut values)?;
        Ok((values, bytes))
    }

    /// As [`KeyLayout::decode`], appending the values to `values`.
    ///
    /// # Errors
    /// As [`KeyLayout::decode`].
    pub fn decode_into(&self, key: &[u8], values: &mut Vec<Value>) -> Result<usize> {
        let mut reader = Reader { rest: key, invert: 0 };
        for column in &self.columns {
            values.push(decode_value(*column, &mut reader)?);
        }
        Ok(key.len() - reader.rest.len())
    }

    /// How many bytes the columns of a key take.
    ///
    /// # Errors
    /// [`Error::InvalidRow`] for bytes that no encoding gives.
    pub fn encoded_bytes(&self, key: &[u8]) -> Result<usize> {
        let mut reader = Reader { rest: key, invert: 0 };
        for column in &self.columns {
            skip_value(*column, &mut reader)?;
        }
        Ok(key.len() - reader.rest.len())
    }
}

/// The key of an INTEGER in a single ascending NOT NULL column.
#[inline]
pub fn integer_key(value: i32) -> [u8; 4] {
    (value as u32 ^ (1 << 31)).to_be_bytes()
}

/// The key of a BIGINT in a single ascending NOT NULL column.
#[inline]
pub fn bigint_key(value: i64) -> [u8; 8] {
    (value as u64 ^ (1 << 63)).to_be_bytes()
}

/// The INTEGER or BIGINT of such a key; `None` if it has another length.
#[inline]
pub fn integer_of_key(key: &[u8]) -> Option<i64> {
    if let Ok(bytes) = <[u8; 8]>::try_from(key) {
        return Some((u64::from_be_bytes(bytes) ^ (1 << 63)) as i64);
    }
    let bytes = <[u8; 4]>::try_from(key).ok()?;
    Some(i64::from((u32::from_be_bytes(bytes) ^ (1 << 31)) as i32))
}

/// The byte that every value but NULL begins with in a column that may be NULL.
pub const fn present_mark(descending: bool) -> u8 {
    if descending { !PRESENT } else { PRESENT }
}

/// The least key above every key that begins with `prefix`; `None` if there is none.
pub fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let kept = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix[..=kept].to_vec();
    end[kept] += 1;
    Some(end)
}

fn encode_value(column: KeyColumn, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    if value.is_null() {
        if !column.nullable {
            return Err(Error::InvalidRow("NULL in a key column that is NOT NULL".into()));
        }
        out.push(NULL);
    } else {
        if column.nullable {
            out.push(PRESENT);
        }
        encode_present(column.sql_type, value, out)?;
    }
    if column.descending {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    Ok(())
}

fn encode_present(sql_type: SqlType, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    let mismatch = || Error::InvalidRow(format!("{value} in a key column of type {sql_type}"));
    match (sql_type, value) {
        (SqlType::Boolean, Value::Boolean(value)) => out.push(u8::from(*value)),
        (SqlType::Integer, Value::Int(value)) => {
            out.extend_from_slice(&integer_key(i32::try_from(*value).map_err(|_| mismatch())?));
        }
        (SqlType::BigInt, Value::Int(value)) | (SqlType::Timestamp, Value::Timestamp(value)) => {
            out.extend_from_slice(&bigint_key(*value));
        }
        (SqlType::Date, Value::Date(value)) => out.extend_from_slice(&integer_key(*value)),
        (SqlType::Double, Value::Double(value)) => out.extend_from_slice(&double_bits(*value).to_be_bytes()),
        (SqlType::Decimal { scale, .. }, Value::Decimal { unscaled, scale: from }) => {
            // A scale that drops digits would make different numbers one key.
            let exact = rescale(*unscaled, *from, scale).filter(|v| rescale(*v, scale, *from) == Some(*unscaled));
            let unscaled = exact.ok_or_else(mismatch)?;
            out.extend_from_slice(&(unscaled as u128 ^ (1 << 127)).to_be_bytes());
        }
        (SqlType::Text, Value::Text(text)) => encode_bytes(text.as_bytes(), out),
        (SqlType::Blob, Value::Blob(bytes)) => encode_bytes(bytes, out),
        _ => return Err(mismatch()),
    }
    Ok(())
}

/// The bits of a number so that their order as an unsigned integer is its order.
fn double_bits(value: f64) -> u64 {
    let canonical = if value.is_nan() {
        f64::NAN.to_bits() & !(1 << 63)
    } else if value == 0.0 {
        0
    } else {
        value.to_bits()
    };
    if canonical >> 63 == 0 { canonical | 1 << 63 } else { !canonical }
}

fn encode_bytes(mut bytes: &[u8], out: &mut Vec<u8>) {
    while let Some(zero) = bytes.iter().position(|byte| *byte == ESCAPE) {
        out.extend_from_slice(&bytes[..=zero]);
        out.push(ESCAPED_ZERO);
        bytes = &bytes[zero + 1..];
    }
    out.extend_from_slice(bytes);
    out.extend_from_slice(&[ESCAPE, ESCAPE]);
}

/// Reads the bytes of a key, inverted where a column descends.
struct Reader<'a> {
    rest: &'a [u8],
    invert: u8,
}

fn damaged() -> Error {
    Error::InvalidRow("the bytes of a key cannot be read".into())
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or_else(damaged)?;
        self.rest = rest;
        Ok(taken.map(|byte| byte ^ self.invert))
    }

    fn take_bytes(&mut self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.visit_bytes(|byte| out.push(byte))?;
        Ok(out)
    }

    fn visit_bytes(&mut self, mut visit: impl FnMut(u8)) -> Result<()> {
        loop {
            let [byte] = self.take()?;
            if byte != ESCAPE {
                visit(byte);
                continue;
            }
            match self.take::<1>()?[0] {
                ESCAPE => return Ok(()),
                ESCAPED_ZERO => visit(0),
                _ => return Err(damaged()),
            }
        }
    }

    /// Whether the column has a value.
    fn begin(&mut self, column: KeyColumn) -> Result<bool> {
        self.invert = if column.descending { u8::MAX } else { 0 };
        if !column.nullable {
            return Ok(true);
        }
        match self.take::<1>()?[0] {
            PRESENT => Ok(true),
            NULL => Ok(false),
            _ => Err(damaged()),
        }
    }
}

fn skip_value(column: KeyColumn, reader: &mut Reader<'_>) -> Result<()> {
    if reader.begin(column)? {
        match column.sql_type {
            SqlType::Boolean => reader.take::<1>().map(drop),
            SqlType::Integer | SqlType::Date => reader.take::<4>().map(drop),
            SqlType::BigInt | SqlType::Timestamp | SqlType::Double => reader.take::<8>().map(drop),
            SqlType::Decimal { .. } => reader.take::<16>().map(drop),
            SqlType::Text | SqlType::Blob => reader.visit_bytes(|_| ()),
            SqlType::Null | SqlType::Interval => Err(damaged()),
        }?;
    }
    Ok(())
}

fn decode_value(column: KeyColumn, reader: &mut Reader<'_>) -> Result<Value> {
    if !reader.begin(column)? {
        return Ok(Value::Null);
    }
    let integer = |bytes: [u8; 4]| (u32::from_be_bytes(bytes) ^ (1 << 31)) as i32;
    let bigint = |bytes: [u8; 8]| (u64::from_be_bytes(bytes) ^ (1 << 63)) as i64;
    Ok(match column.sql_type {
        SqlType::Boolean => match reader.take::<1>()?[0] {
            0 => Value::Boolean(false),
            1 => Value::Boolean(true),
            _ => return Err(damaged()),
        },
        SqlType::Integer => Value::Int(i64::from(integer(reader.take()?))),
        SqlType::Date => Value::Date(integer(reader.take()?)),
        SqlType::BigInt => Value::Int(bigint(reader.take()?)),
        SqlType::Timestamp => Value::Timestamp(bigint(reader.take()?)),
        SqlType::Double => {
            let bits = u64::from_be_bytes(reader.take()?);
            Value::Double(f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits }))
        }
        SqlType::Decimal { scale, .. } => {
            let unscaled = (u128::from_be_bytes(reader.take()?) ^ (1 << 127)) as i128;
            Value::Decimal { unscaled, scale }
        }
        SqlType::Text => Value::Text(String::from_utf8(reader.take_bytes()?).map_err(|_| damaged())?),
        SqlType::Blob => Value::Blob(reader.take_bytes()?),
        SqlType::Null | SqlType::Interval => return Err(damaged()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_types::compare_values;
    use proptest::prelude::*;

    fn column(sql_type: SqlType, nullable: bool, descending: bool) -> KeyColumn {
        KeyColumn { sql_type, nullable, descending }
    }

    fn value_of(sql_type: SqlType) -> BoxedStrategy<Value> {
        match sql_type {
            SqlType::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
            SqlType::Integer => any::<i32>().prop_map(|v| Value::Int(i64::from(v))).boxed(),
            SqlType::BigInt => any::<i64>().prop_map(Value::Int).boxed(),
            SqlType::Double => {
                let special = prop::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
                prop_oneof![any::<f64>(), special].prop_map(Value::Double).boxed()
            }
            SqlType::Decimal { scale, .. } => {
                any::<i128>().prop_map(move |unscaled| Value::Decimal { unscaled, scale }).boxed()
            }
            SqlType::Text => "[\u{0}a-c\u{ff}é]{0,5}".prop_map(Value::Text).boxed(),
            SqlType::Blob => {
                let byte = prop::sample::select(vec![0u8, 1, 254, 255]);
                prop::collection::vec(byte, 0..5).prop_map(Value::Blob).boxed()
            }
            SqlType::Date => any::<i32>().prop_map(Value::Date).boxed(),
            _ => any::<i64>().prop_map(Value::Timestamp).boxed(),
        }
    }

    fn type_of() -> impl Strategy<Value = SqlType> {
        prop::sample::select(vec![
            SqlType::Boolean,
            SqlType::Integer,
            SqlType::BigInt,
            SqlType::Double,
            SqlType::decimal(38, 4),
            SqlType::Text,
            SqlType::Blob,
            SqlType::Date,
            SqlType::Timestamp,
        ])
    }

    /// A column and two values for it, NULLs among them.
    fn column_and_pair() -> impl Strategy<Value = (KeyColumn, Value, Value)> {
        (type_of(), any::<bool>(), any::<bool>()).prop_flat_map(|(sql_type, nullable, descending)| {
            let value = move || {
                let null = u32::from(nullable);
                prop_oneof![4 => value_of(sql_type), null => Just(Value::Null)]
            };
            (Just(column(sql_type, nullable, descending)), value(), value())
        })
    }

    proptest! {
        #[test]
        fn keys_order_as_values_and_read_back(columns in prop::collection::vec(column_and_pair(), 1..4)) {
            let layout = KeyLayout::new(columns.iter().map(|c| c.0).collect());
            let left: Vec<Value> = columns.iter().map(|c| c.1.clone()).collect();
            let right: Vec<Value> = columns.iter().map(|c| c.2.clone()).collect();
            let (a, b) = (layout.key(&left).expect("fits"), layout.key(&right).expect("fits"));
            let expected = columns
                .iter()
                .map(|(column, x, y)| {
                    let order = compare_values(x, y);
                    if column.descending { order.reverse() } else { order }
                })
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal);
            prop_assert_eq!(a.cmp(&b), expected);
            let mut longer = a.clone();
            longer.extend_from_slice(b"rest");
            let (decoded, bytes) = layout.decode(&longer).expect("reads back");
            prop_assert_eq!(bytes, a.len());
            prop_assert_eq!(layout.encoded_bytes(&longer).expect("reads"), a.len());
            for (found, expected) in decoded.iter().zip(&left) {
                prop_assert!(compare_values(found, expected).is_eq(), "{found:?} {expected:?}");
            }
        }

        #[test]
        fn any_bytes_give_values_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..40),
            sql_type in type_of(),
            nullable in any::<bool>(),
            descending in any::<bool>(),
        ) {
            let layout = KeyLayout::new(vec![column(sql_type, nullable, descending); 2]);
            let _ = layout.decode(&bytes);
            let _ = layout.encoded_bytes(&bytes);
        }
    }

    #[test]
    fn an_integer_column_is_its_bytes() {
        let layout = KeyLayout::new(vec![KeyColumn::new(SqlType::Integer)]);
        let key = layout.key(&[Value::Int(-7)]).expect("fits");
        assert_eq!(key, integer_key(-7));
        assert_eq!(integer_of_key(&key), Some(-7));
        assert_eq!(integer_of_key(&bigint_key(i64::MIN)), Some(i64::MIN));
        assert!(layout.key(&[Value::Int(1 << 40)]).is_err());
        assert!(layout.key(&[Value::Null]).is_err());
    }

    #[test]
    fn decimals_keep_their_value_or_are_refused() {
        let layout = KeyLayout::new(vec![KeyColumn::new(SqlType::decimal(10, 2))]);
        let key = |unscaled, scale| layout.key(&[Value::Decimal { unscaled, scale }]);
        assert_eq!(key(15, 1), key(150, 2));
        assert!(key(12345, 3).is_err());
    }

    #[test]
    fn prefixes_end_where_the_next_begins() {
        assert_eq!(prefix_end(&[1, 255, 255]), Some(vec![2]));
        assert_eq!(prefix_end(&[255]), None);
        assert_eq!(prefix_end(b"ab"), Some(b"ac".to_vec()));
    }
}
