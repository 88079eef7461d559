//! Chunks: one column of one group as bytes and back. Byte tables: [`super::format`].
//!
//! | file | holds |
//! |---|---|
//! | `integer` | the choice among the integer encodings `frame`, `run_length`, `dictionary`, `delta` |
//! | `double`, `decimal` | the same by way of integers |
//! | `text` | dictionaries and plain strings |
//! | `interner` | numbering distinct values |

mod decimal;
mod delta;
mod dictionary;
pub(crate) mod double;
mod frame;
mod integer;
mod interner;
mod run_length;
#[cfg(test)]
mod tests;
mod text;

use super::bytes::{Reader, corrupt, reserve};
use super::chunk::{Chunk, TextCodes, Values};
use super::column::{Column, ColumnValues, Strings};
use super::format::{BOUND_BYTES_MAX, GROUP_ROWS_LIMIT};
use super::meta::Encoding;
use super::sketch::DistinctSketch;
use crate::Result;
use gingham_types::{SqlType, Value};
use integer::IntegerValues;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

const ALL_NULL: u8 = 0;
const INTEGERS: u8 = 1;
const DOUBLES: u8 = 2;
const DECIMALS: u8 = 3;
const DICTIONARY_TEXT: u8 = 4;
const PLAIN_TEXT: u8 = 5;

/// What is known of a chunk after encoding it.
#[derive(Clone, Debug)]
pub(crate) struct Encoded {
    pub(crate) encoding: Encoding,
    pub(crate) distinct_estimate: u32,
    pub(crate) min: Option<Value>,
    pub(crate) max: Option<Value>,
    pub(crate) sketch: DistinctSketch,
}

/// Appends the chunk of a column of at least one row, whose front is filled.
pub(crate) fn encode(column: &Column, out: &mut Vec<u8>) -> Encoded {
    let mut sketch = DistinctSketch::default();
    if column.nulls == column.rows {
        header(ALL_NULL, column, out);
        return Encoded { encoding: Encoding::Constant, distinct_estimate: 0, min: None, max: None, sketch };
    }
    let (encoding, distinct, bounds) = match &column.values {
        ColumnValues::Integers(values) => {
            header(INTEGERS, column, out);
            let encoded = integer::encode(values, out);
            sketch_integers(encoded.distinct.as_deref().unwrap_or(values), &mut sketch);
            let bounds = (integer_value(encoded.min, column.ty), integer_value(encoded.max, column.ty));
            (encoded.encoding, encoded.distinct.map(|values| values.len()), Some(bounds))
        }
        ColumnValues::Doubles(values) => {
            header(DOUBLES, column, out);
            let (encoding, distinct) = double::encode(values, out);
            for value in values {
                sketch.add_integer(double::ordered(*value));
            }
            let bounds = bounds_of(values.iter().map(|v| double::ordered(*v)));
            let value = |key| Value::Double(double::from_ordered(key));
            (encoding, distinct, bounds.map(|(min, max)| (value(min), value(max))))
        }
        ColumnValues::Decimals(values) => {
            header(DECIMALS, column, out);
            let (encoding, distinct) = decimal::encode(values, out);
            for value in values {
                match i64::try_from(*value) {
                    Ok(narrow) => sketch.add_integer(narrow),
                    Err(_) => sketch.add_hash(xxh3_64(&value.to_le_bytes())),
                }
            }
            let scale = decimal_scale(column.ty);
            let value = |unscaled| Value::Decimal { unscaled, scale };
            (encoding, distinct, bounds_of(values.iter().copied()).map(|(min, max)| (value(min), value(max))))
        }
        ColumnValues::Text(strings) => encode_text(column, strings, &mut sketch, out),
    };
    let (min, max) = bounds.map_or((None, None), |(min, max)| cut(min, max));
    let values = column.rows - column.nulls;
    let distinct = distinct.unwrap_or_else(|| sketch.estimate() as usize);
    Encoded { encoding, distinct_estimate: distinct.clamp(1, values) as u32, min, max, sketch }
}

type TextEncoded = (Encoding, Option<usize>, Option<(Value, Value)>);

fn encode_text(column: &Column, strings: &Strings, sketch: &mut DistinctSketch, out: &mut Vec<u8>) -> TextEncoded {
    let value = |row: usize| match column.ty {
        SqlType::Text => String::from_utf8(strings.get(row).to_vec()).ok().map(Value::Text),
        _ => Some(Value::Blob(strings.get(row).to_vec())),
    };
    let pair = |min, max| Some((value(min)?, value(max)?));
    if let Some(found) = text::find(strings, |row| column.is_valid(row)) {
        let entries = found.entries();
        for row in entries {
            sketch.add_bytes(strings.get(*row as usize));
        }
        let bounds = pair(entries[0] as usize, entries[entries.len() - 1] as usize);
        header(DICTIONARY_TEXT, column, out);
        return (text::write_dictionary(strings, &found, out), Some(entries.len()), bounds);
    }
    let (mut min, mut max) = (None::<usize>, None::<usize>);
    for row in (0..column.rows).filter(|row| column.is_valid(*row)) {
        sketch.add_bytes(strings.get(row));
        if min.is_none_or(|min| strings.get(row) < strings.get(min)) {
            min = Some(row);
        }
        if max.is_none_or(|max| strings.get(row) > strings.get(max)) {
            max = Some(row);
        }
    }
    header(PLAIN_TEXT, column, out);
    (text::write_block(strings, out), None, min.zip(max).and_then(|(min, max)| pair(min, max)))
}

fn header(kind: u8, column: &Column, out: &mut Vec<u8>) {
    let validity = column.validity.as_ref().filter(|_| column.nulls > 0 && column.nulls < column.rows);
    out.extend_from_slice(&[kind, u8::from(validity.is_some()), 0, 0]);
    out.extend_from_slice(&(column.rows as u32).to_le_bytes());
    if let Some(validity) = validity {
        out.extend(
            validity.chunks(8).map(|eight| eight.iter().rev().fold(0u8, |byte, valid| byte << 1 | u8::from(*valid))),
        );
    }
}

/// Neighbours are often equal: only where a run begins is there something to add.
fn sketch_integers(values: &[i64], sketch: &mut DistinctSketch) {
    let mut previous = None;
    for value in values {
        if previous != Some(*value) {
            sketch.add_integer(*value);
            previous = Some(*value);
        }
    }
}

fn bounds_of<T: Copy + Ord>(mut values: impl Iterator<Item = T>) -> Option<(T, T)> {
    let first = values.next()?;
    Some(values.fold((first, first), |(min, max), v| (min.min(v), max.max(v))))
}

const fn decimal_scale(ty: SqlType) -> u8 {
    if let SqlType::Decimal { scale, .. } = ty { scale } else { 0 }
}

/// The SQL value of an integer-like column's integer.
pub(crate) fn integer_value(value: i64, ty: SqlType) -> Value {
    match ty {
        SqlType::Boolean => Value::Boolean(value != 0),
        SqlType::Date => Value::Date(value as i32),
        SqlType::Timestamp => Value::Timestamp(value),
        SqlType::Decimal { scale, .. } => Value::Decimal { unscaled: i128::from(value), scale },
        _ => Value::Int(value),
    }
}

/// Long bounds cut to length: the least one down, the greatest one up or away.
fn cut(min: Value, max: Value) -> (Option<Value>, Option<Value>) {
    let min = match min {
        Value::Text(text) => Value::Text(text[..text.floor_char_boundary(BOUND_BYTES_MAX)].to_owned()),
        Value::Blob(bytes) => Value::Blob(bytes[..bytes.len().min(BOUND_BYTES_MAX)].to_vec()),
        other => other,
    };
    let max = match max {
        Value::Text(text) if text.len() > BOUND_BYTES_MAX => {
            let kept = &text[..text.floor_char_boundary(BOUND_BYTES_MAX)];
            kept.char_indices().rev().find_map(|(at, last)| {
                let next = ((last as u32 + 1)..=char::MAX as u32).find_map(char::from_u32)?;
                Some(Value::Text(format!("{}{next}", &kept[..at])))
            })
        }
        Value::Blob(bytes) if bytes.len() > BOUND_BYTES_MAX => {
            let kept = &bytes[..BOUND_BYTES_MAX];
            kept.iter().rposition(|byte| *byte < u8::MAX).map(|at| {
                let mut bound = kept[..=at].to_vec();
                bound[at] += 1;
                Value::Blob(bound)
            })
        }
        other => Some(other),
    };
    (Some(min), max)
}

/// Reads the chunk of `rows` rows of a column of type `ty`.
///
/// # Errors
/// [`crate::Error::Corrupt`] when the bytes are not such a chunk.
pub(crate) fn decode(bytes: &[u8], ty: SqlType, rows: usize) -> Result<Chunk> {
    let mut reader = Reader::new(bytes);
    let (kind, nulls) = (reader.u8()?, reader.u8()?);
    reader.u16()?;
    let stored = reader.u32()? as usize;
    if stored != rows || rows == 0 || rows > GROUP_ROWS_LIMIT {
        return Err(corrupt(format!("a chunk of {stored} rows in a group of {rows}")));
    }
    let validity = match nulls {
        0 => None,
        1 => Some(decode_validity(reader.bytes(rows.div_ceil(8))?, rows)?),
        _ => return Err(corrupt("a chunk with an unknown kind of NULL bitmap")),
    };
    let values = match (kind, ty) {
        (ALL_NULL, _) => return Ok(Chunk::all_null(ty, rows)),
        (DOUBLES, SqlType::Double) => Values::Doubles(double::decode(&mut reader, rows)?),
        (DECIMALS, SqlType::Decimal { .. }) => Values::Decimals(decimal::decode(&mut reader, rows)?),
        (DICTIONARY_TEXT, SqlType::Text | SqlType::Blob) => {
            let (codes, dictionary) = text::read_dictionary(&mut reader, rows)?;
            Values::Text { codes, dictionary: Arc::new(dictionary) }
        }
        (PLAIN_TEXT, SqlType::Text | SqlType::Blob) => {
            let dictionary = text::read_block(&mut reader, rows, false)?;
            Values::Text { codes: TextCodes::Each, dictionary: Arc::new(dictionary) }
        }
        (INTEGERS, ty) if !matches!(ty, SqlType::Double | SqlType::Text | SqlType::Blob) => {
            let integers = integer::decode(&mut reader, rows)?;
            check_range(&integers, ty)?;
            match integers {
                IntegerValues::Constant(value) => Values::Constant(integer_value(value, ty)),
                IntegerValues::Coded(coded) => Values::Coded(coded),
                IntegerValues::Wide(values) => Values::Integers(values),
            }
        }
        _ => return Err(corrupt(format!("a chunk of kind {kind} in a column of type {ty}"))),
    };
    if reader.remaining() > 0 {
        return Err(corrupt("a chunk goes on after its end"));
    }
    Ok(Chunk { ty, rows, values, validity })
}

/// Values of narrow types must fit them, so that scans may narrow without looking.
fn check_range(integers: &IntegerValues, ty: SqlType) -> Result<()> {
    let (least, greatest) = match ty {
        SqlType::Boolean => (0, 1),
        SqlType::Integer | SqlType::Date => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => return Ok(()),
    };
    let fits = match integers {
        IntegerValues::Constant(value) => (least..=greatest).contains(value),
        IntegerValues::Coded(coded) => coded.map.value(0) >= least && coded.map.value(coded.code_max) <= greatest,
        IntegerValues::Wide(values) => values.iter().all(|value| (least..=greatest).contains(value)),
    };
    if fits { Ok(()) } else { Err(corrupt(format!("values out of range for {ty}"))) }
}

fn decode_validity(bits: &[u8], rows: usize) -> Result<Vec<bool>> {
    let mut validity = reserve(rows.next_multiple_of(8))?;
    for byte in bits {
        validity.extend((0..8).map(|bit| byte >> bit & 1 == 1));
    }
    validity.truncate(rows);
    Ok(validity)
}
