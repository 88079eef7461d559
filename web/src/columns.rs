//! Whole columns from JavaScript, for bulk inserts.
//!
//! JavaScript lays one column at a time into the input buffer and calls [`read_column`]
//! for it; ts/columns.ts is the twin. From the start of the buffer, every part starting
//! at a multiple of eight:
//!
//! 1. the values, `rows` of them: `u8` 0 or 1 (BOOLEAN), `i32`, `i64`, `f64`; for text
//!    and blobs the `u32` lengths, in UTF-16 units for text and in bytes for blobs;
//! 2. `rows` bytes that are 1 where the value is not NULL, if the column has NULLs;
//! 3. for text and blobs, the bytes of all values one after the other, text as UTF-8.

use crate::input::{malformed, slice, with_input};
use gingham::SqlError;
use gingham::vector::{Data, Dictionary, TextVector, Vector};
use std::sync::Arc;

/// The form of a column in the buffer.
mod form {
    pub(super) const NULLS: u32 = 0;
    pub(super) const BOOLEAN: u32 = 1;
    pub(super) const INT32: u32 = 2;
    pub(super) const INT64: u32 = 3;
    pub(super) const DOUBLE: u32 = 4;
    pub(super) const TEXT: u32 = 5;
    pub(super) const BLOB: u32 = 6;
}

/// Reads the column in the buffer. `bytes` counts the text or blob bytes.
pub(crate) fn read_column(form: u32, rows: u32, has_nulls: bool, bytes: u32) -> Result<Vector, SqlError> {
    let (rows, bytes) = (rows as usize, bytes as usize);
    let value_bytes = match form {
        form::NULLS => 0,
        form::BOOLEAN => 1,
        form::INT32 | form::TEXT | form::BLOB => 4,
        form::INT64 | form::DOUBLE => 8,
        other => return Err(malformed(format!("column form {other}"))),
    };
    with_input(|input| {
        let values = slice(input, 0, rows * value_bytes)?;
        let validity_at = (rows * value_bytes).next_multiple_of(8);
        let validity = if has_nulls { slice(input, validity_at, rows)? } else { &[] };
        let bytes_at = validity_at + validity.len().next_multiple_of(8);
        let tail = slice(input, bytes_at, bytes)?;
        let data = match form {
            form::NULLS => {
                return Ok(Vector { data: Data::Int32(vec![0; rows]), validity: Some(vec![false; rows]) });
            }
            form::BOOLEAN => Data::Boolean(values.iter().map(|v| *v != 0).collect()),
            form::INT32 => Data::Int32(array(values, i32::from_le_bytes)),
            form::INT64 => Data::Int64(array(values, i64::from_le_bytes)),
            form::DOUBLE => Data::Double(array(values, f64::from_le_bytes)),
            _ => {
                let lengths: Vec<u32> = array(values, u32::from_le_bytes);
                let offsets =
                    if form == form::TEXT { text_offsets(&lengths, tail)? } else { byte_offsets(&lengths, tail)? };
                let codes = (0..rows as u32).collect();
                let dictionary = Arc::new(Dictionary::new(offsets, tail.to_vec(), false));
                Data::Text(TextVector { codes, dictionary })
            }
        };
        Ok(Vector { data, validity: has_nulls.then(|| validity.iter().map(|v| *v != 0).collect()) })
    })
}

fn array<T, const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.chunks_exact(N).map(|chunk| read(chunk.try_into().expect("a chunk of N bytes"))).collect()
}

fn byte_offsets(lengths: &[u32], bytes: &[u8]) -> Result<Vec<u32>, SqlError> {
    let mut offsets = Vec::with_capacity(lengths.len() + 1);
    let mut end = 0u32;
    offsets.push(end);
    for length in lengths {
        end = end.checked_add(*length).ok_or_else(|| malformed("lengths past 4 GiB".into()))?;
        offsets.push(end);
    }
    if end as usize == bytes.len() {
        Ok(offsets)
    } else {
        Err(malformed(format!("lengths that add up to {end} for {} bytes", bytes.len())))
    }
}

/// Byte offsets from lengths in UTF-16 units. ASCII, where both are the same, is quick.
fn text_offsets(lengths: &[u32], bytes: &[u8]) -> Result<Vec<u32>, SqlError> {
    let text = std::str::from_utf8(bytes).map_err(|_| malformed("text that is not UTF-8".into()))?;
    if text.is_ascii() {
        return byte_offsets(lengths, bytes);
    }
    let mut offsets = Vec::with_capacity(lengths.len() + 1);
    offsets.push(0);
    let mut characters = text.chars();
    for length in lengths {
        let mut units = 0;
        while units < *length {
            let character = characters.next().ok_or_else(|| malformed("lengths past the text's end".into()))?;
            units += character.len_utf16() as u32;
        }
        if units > *length {
            // Two values met in the middle of a surrogate pair.
            return Err(SqlError::new("22021", "a string ends in half of a surrogate pair"));
        }
        offsets.push((bytes.len() - characters.as_str().len()) as u32);
    }
    if characters.as_str().is_empty() { Ok(offsets) } else { Err(malformed("text past the last length".into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_utf16_units() {
        let text = "añ😀b";
        assert_eq!(text_offsets(&[1, 1, 2, 1], text.as_bytes()), Ok(vec![0, 1, 3, 7, 8]));
        assert_eq!(text_offsets(&[2, 0, 3], text.as_bytes()), Ok(vec![0, 3, 3, 8]));
        assert!(text_offsets(&[1, 1, 1, 2], text.as_bytes()).is_err(), "inside the surrogate pair");
        assert!(text_offsets(&[5, 1], text.as_bytes()).is_err(), "past the end");
        assert!(text_offsets(&[4], text.as_bytes()).is_err(), "text left over");
    }

    #[test]
    fn lengths_must_add_up() {
        assert_eq!(byte_offsets(&[1, 0, 2], b"abc"), Ok(vec![0, 1, 1, 3]));
        assert!(byte_offsets(&[1, 1], b"abc").is_err());
        assert!(byte_offsets(&[u32::MAX, 2], b"abc").is_err());
    }
}
