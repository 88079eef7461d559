//! Batches as bytes, for temporary space only: never in the database file.
//!
//! | part | bytes |
//! |---|---|
//! | rows, columns | varint each |
//! | for each column: form | one, the top bit set where NULLs are told apart |
//! | validity, if told | one a row |
//! | values | little endian; strings as entries (count, a length each, all bytes) and, unless there is one a row, 16-bit codes |

use crate::Result;
use crate::expression::error;
use crate::storage::{Reader, corrupt, put_varint};
use crate::vector::{Batch, Data, Dictionary, TextVector, Vector};
use gingham_types::Interval;
use std::sync::Arc;

const NULLS: u8 = 0x80;

/// Rows of a batch that [`decode`] believes in: what an operator puts out may be longer
/// than a common batch, but not by much.
const ROWS_MAX: usize = 1 << 24;
const COLUMNS_MAX: usize = 1 << 20;

/// Up to this many rows have codes of 16 bits; more have an entry each.
const CODED_ROWS_MAX: usize = 1 << 15;

/// Appends the rows of a batch, or those that `rows` names.
pub(super) fn encode(batch: &Batch, rows: Option<&[u32]>, out: &mut Vec<u8>) -> Result<()> {
    put_varint(out, rows.map_or(batch.rows, <[u32]>::len) as u64);
    put_varint(out, batch.columns.len() as u64);
    for column in &batch.columns {
        let picked;
        let column: &Vector = match rows {
            None => column,
            Some(rows) => {
                picked = column.gather(rows);
                &picked
            }
        };
        encode_vector(column, out)?;
    }
    Ok(())
}

fn encode_vector(vector: &Vector, out: &mut Vec<u8>) -> Result<()> {
    let form = match &vector.data {
        Data::Boolean(_) => 0,
        Data::Int32(_) => 1,
        Data::Int64(_) => 2,
        Data::Int128(_) => 3,
        Data::Double(_) => 4,
        Data::Interval(_) => 5,
        Data::Text(text) if text.dictionary.len() > 2 * text.len() || text.len() > CODED_ROWS_MAX => 6,
        Data::Text(_) => 7,
    };
    out.push(form | if vector.validity.is_some() { NULLS } else { 0 });
    if let Some(validity) = &vector.validity {
        out.extend(validity.iter().map(|valid| u8::from(*valid)));
    }
    match &vector.data {
        Data::Boolean(v) => out.extend(v.iter().map(|v| u8::from(*v))),
        Data::Int32(v) => v.iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes())),
        Data::Int64(v) => v.iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes())),
        Data::Int128(v) => v.iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes())),
        Data::Double(v) => v.iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes())),
        Data::Interval(v) => {
            for v in v {
                out.extend_from_slice(&v.months.to_le_bytes());
                out.extend_from_slice(&v.days.to_le_bytes());
                out.extend_from_slice(&v.micros.to_le_bytes());
            }
        }
        Data::Text(text) if form == 6 => encode_entries(&text.dictionary, text.codes.iter().copied(), false, out)?,
        Data::Text(text) => {
            // Only the entries that are used, in the order of their first use.
            let mut table = vec![u16::MAX; text.dictionary.len()];
            let mut used = Vec::new();
            let mut codes = Vec::with_capacity(text.len() * 2);
            for code in &text.codes {
                let entry = &mut table[*code as usize];
                if *entry == u16::MAX {
                    *entry = used.len() as u16;
                    used.push(*code);
                }
                codes.extend_from_slice(&entry.to_le_bytes());
            }
            encode_entries(&text.dictionary, used.into_iter(), text.dictionary.distinct(), out)?;
            out.extend_from_slice(&codes);
        }
    }
    Ok(())
}

fn encode_entries(
    dictionary: &Dictionary,
    codes: impl ExactSizeIterator<Item = u32> + Clone,
    distinct: bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    put_varint(out, codes.len() as u64);
    out.push(u8::from(distinct));
    let mut end = 0u64;
    for code in codes.clone() {
        end += dictionary.get(code).len() as u64;
        let end = u32::try_from(end).map_err(|_| error::text_too_large())?;
        out.extend_from_slice(&end.to_le_bytes());
    }
    codes.for_each(|code| out.extend_from_slice(dictionary.get(code)));
    Ok(())
}

/// Reads a batch that [`encode`] wrote.
pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Batch> {
    let rows = reader.count(ROWS_MAX)?;
    let columns = reader.count(COLUMNS_MAX)?;
    let columns = (0..columns).map(|_| decode_vector(reader, rows).map(Arc::new)).collect::<Result<Vec<_>>>()?;
    Ok(Batch::new(columns, rows))
}

fn decode_vector(reader: &mut Reader<'_>, rows: usize) -> Result<Vector> {
    let form = reader.u8()?;
    let validity = match form & NULLS {
        0 => None,
        _ => Some(reader.bytes(rows)?.iter().map(|v| *v != 0).collect()),
    };
    let data = match form & !NULLS {
        0 => Data::Boolean(reader.bytes(rows)?.iter().map(|v| *v != 0).collect()),
        1 => Data::Int32(words::<4>(reader, rows)?.map(i32::from_le_bytes).collect()),
        2 => Data::Int64(words::<8>(reader, rows)?.map(i64::from_le_bytes).collect()),
        3 => Data::Int128(words::<16>(reader, rows)?.map(i128::from_le_bytes).collect()),
        4 => Data::Double(words::<8>(reader, rows)?.map(f64::from_le_bytes).collect()),
        5 => Data::Interval(words::<16>(reader, rows)?.map(interval).collect()),
        6 => {
            let dictionary = Arc::new(decode_entries(reader, rows)?);
            Data::Text(TextVector { codes: (0..dictionary.len() as u32).collect(), dictionary })
        }
        7 => {
            let dictionary = Arc::new(decode_entries(reader, rows)?);
            let codes: Vec<u32> = words::<2>(reader, rows)?.map(|code| u32::from(u16::from_le_bytes(code))).collect();
            if codes.iter().any(|code| *code as usize >= dictionary.len()) {
                return Err(corrupt("a code of a spilled batch has no entry"));
            }
            Data::Text(TextVector { codes, dictionary })
        }
        form => return Err(corrupt(format!("a spilled batch has form {form}"))),
    };
    if data.len() != rows {
        return Err(corrupt("a spilled batch has columns of unequal length"));
    }
    Ok(Vector { data, validity })
}

fn words<'a, const N: usize>(
    reader: &mut Reader<'a>,
    rows: usize,
) -> Result<impl Iterator<Item = [u8; N]> + use<'a, N>> {
    let (words, _) = reader.bytes(rows * N)?.as_chunks::<N>();
    Ok(words.iter().copied())
}

fn interval(bytes: [u8; 16]) -> Interval {
    let word = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    let micros = u64::from(u32::from_le_bytes(word(8))) | u64::from(u32::from_le_bytes(word(12))) << 32;
    Interval { months: i32::from_le_bytes(word(0)), days: i32::from_le_bytes(word(4)), micros: micros as i64 }
}

fn decode_entries(reader: &mut Reader<'_>, most: usize) -> Result<Dictionary> {
    let count = reader.count(most)?;
    let distinct = reader.u8()? != 0;
    let mut offsets = Vec::with_capacity(count + 1);
    offsets.push(0);
    offsets.extend(words::<4>(reader, count)?.map(u32::from_le_bytes));
    if !offsets.is_sorted() {
        return Err(corrupt("strings of a spilled batch overlap"));
    }
    let bytes = reader.bytes(offsets.last().map_or(0, |end| *end as usize))?;
    Ok(Dictionary::new(offsets, bytes.to_vec(), distinct))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(strings: &[&str], distinct: bool, codes: &[u32]) -> Data {
        let mut dictionary = Dictionary::default();
        strings.iter().for_each(|s| assert!(dictionary.push(s.as_bytes()).is_some()));
        Data::Text(TextVector { codes: codes.to_vec(), dictionary: Arc::new(dictionary.with_distinct(distinct)) })
    }

    fn batch() -> Batch {
        let with_null = |data| Vector { data, validity: Some(vec![true, false, true]) };
        let interval = |micros| Interval { months: -1, days: 2, micros };
        let columns = vec![
            Vector::new(Data::Boolean(vec![true, false, true])),
            with_null(Data::Int32(vec![1, -2, i32::MIN])),
            Vector::new(Data::Int64(vec![i64::MIN, 0, i64::MAX])),
            with_null(Data::Int128(vec![i128::MIN, -1, i128::MAX])),
            Vector::new(Data::Double(vec![0.5, f64::INFINITY, -0.0])),
            Vector::new(Data::Interval(vec![interval(i64::MIN), interval(0), interval(7)])),
            with_null(text(&["a", "", "long string", "unused"], true, &[2, 0, 2])),
            Vector::new(text(&["0", "1", "2", "3", "4", "5", "6", "7", "8"], true, &[8, 1, 8])),
        ];
        Batch::new(columns.into_iter().map(Arc::new).collect(), 3)
    }

    #[test]
    fn execution_spilled_batches_come_back() {
        let mut bytes = Vec::new();
        encode(&batch(), None, &mut bytes).expect("small");
        encode(&batch(), Some(&[2, 0]), &mut bytes).expect("small");
        let mut reader = Reader::new(&bytes);
        assert_eq!(decode(&mut reader).expect("whole"), batch());
        assert_eq!(decode(&mut reader).expect("whole"), batch().gather(&[2, 0]));
        assert_eq!(reader.remaining(), 0);
    }

    #[test]
    fn execution_damaged_batches_are_errors() {
        let mut bytes = Vec::new();
        encode(&batch(), None, &mut bytes).expect("small");
        for at in 0..bytes.len() {
            assert!(decode(&mut Reader::new(&bytes[..at])).is_err(), "cut at {at}");
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            // Whatever comes of it, no panic.
            let _ = decode(&mut Reader::new(&damaged));
        }
    }
}
