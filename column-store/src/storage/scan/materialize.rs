//! Widening the values of selected rows into vectors.

use super::kernel::with_codes;
use crate::storage::chunk::{Chunk, CodeMap, CodedIntegers, Codes, TextCodes, Values};
use crate::vector::{Data, Dictionary, TextVector, Vector};
use gingham_types::SqlType;
use std::ops::Range;
use std::sync::Arc;

/// Which rows of a group to put out.
#[derive(Clone, Debug)]
pub(crate) enum RowSet<'a> {
    /// Rows without a gap.
    Range(Range<usize>),
    /// Ascending positions.
    List(&'a [u32]),
}

impl RowSet<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Range(range) => range.len(),
            Self::List(list) => list.len(),
        }
    }
}

/// The values of a chunk at some rows.
pub(crate) fn materialize(chunk: &Chunk, rows: &RowSet<'_>) -> Vector {
    let data = match &chunk.values {
        Values::Constant(value) => {
            let vector = Vector::constant(value, chunk.ty, rows.len());
            if chunk.validity.is_none() {
                return vector;
            }
            vector.data
        }
        Values::Coded(coded) => materialize_coded(coded, chunk.ty, rows),
        Values::Integers(values) if is_32_bit(chunk.ty) => Data::Int32(pick(values, rows, |v| v as i32)),
        Values::Integers(values) => Data::Int64(pick(values, rows, |v| v)),
        Values::Decimals(values) => Data::Int128(pick(values, rows, |v| v)),
        Values::Doubles(values) => Data::Double(pick(values, rows, |v| v)),
        Values::Text { codes, dictionary } => {
            let codes = match (codes, rows) {
                (TextCodes::Same, _) => vec![0; rows.len()],
                (TextCodes::Each, RowSet::Range(range)) => (range.start as u32..range.end as u32).collect(),
                (TextCodes::Each, RowSet::List(list)) => list.to_vec(),
                (TextCodes::Coded(codes), _) => with_codes!(codes, |codes| pick_codes(codes, rows, |code| code)),
            };
            Data::Text(TextVector { codes, dictionary: Arc::clone(dictionary) })
        }
    };
    let validity = chunk.validity.as_ref().map(|validity| pick(validity, rows, |valid| valid));
    Vector { data, validity: validity.filter(|validity| validity.contains(&false)) }
}

const fn is_32_bit(ty: SqlType) -> bool {
    matches!(ty, SqlType::Integer | SqlType::Date)
}

#[inline]
fn pick<S: Copy, T>(values: &[S], rows: &RowSet<'_>, widen: impl Fn(S) -> T) -> Vec<T> {
    match rows {
        RowSet::Range(range) => values[range.clone()].iter().map(|v| widen(*v)).collect(),
        RowSet::List(list) => list.iter().map(|row| widen(values[*row as usize])).collect(),
    }
}

#[inline]
fn pick_codes<C: Copy + Into<u32>, T>(codes: &[C], rows: &RowSet<'_>, widen: impl Fn(u32) -> T) -> Vec<T> {
    pick(codes, rows, |code| widen(code.into()))
}

fn materialize_coded(coded: &CodedIntegers, ty: SqlType, rows: &RowSet<'_>) -> Data {
    let codes = &coded.codes;
    match &coded.map {
        CodeMap::List(list) => with_codes!(codes, |codes| match ty {
            SqlType::Boolean => Data::Boolean(pick_codes(codes, rows, |code| list[code as usize] != 0)),
            ty if is_32_bit(ty) => Data::Int32(pick_codes(codes, rows, |code| list[code as usize] as i32)),
            _ => Data::Int64(pick_codes(codes, rows, |code| list[code as usize])),
        }),
        CodeMap::Affine { base, factor } => with_codes!(codes, |codes| match ty {
            SqlType::Boolean => Data::Boolean(pick_codes(codes, rows, |code| *base + i64::from(code) != 0)),
            // A multiplication is several instructions on some targets.
            ty if is_32_bit(ty) && *factor == 1 => {
                let base = *base as i32;
                Data::Int32(pick_codes(codes, rows, |code| base.wrapping_add(code as i32)))
            }
            ty if is_32_bit(ty) => {
                // Values fit 32 bits, so arithmetic modulo 2^32 gives them.
                let (base, factor) = (*base as i32, *factor as i32);
                Data::Int32(pick_codes(codes, rows, |code| base.wrapping_add((code as i32).wrapping_mul(factor))))
            }
            _ if *factor == 1 => Data::Int64(pick_codes(codes, rows, |code| base.wrapping_add(i64::from(code)))),
            // 32-bit products are much cheaper than 64-bit ones in vector instructions.
            _ if i64::from(coded.code_max).saturating_mul(*factor) <= i64::from(u32::MAX) => {
                let factor = *factor as u32;
                Data::Int64(pick_codes(codes, rows, |code| base.wrapping_add(i64::from(code.wrapping_mul(factor)))))
            }
            _ => Data::Int64(pick_codes(codes, rows, |code| {
                base.wrapping_add(i64::from(code).wrapping_mul(*factor))
            })),
        }),
    }
}

/// The row ids of some rows, each a BLOB of eight bytes, big endian.
pub(crate) fn locators(first_row_id: u64, rows: &RowSet<'_>) -> Vector {
    let mut bytes = Vec::with_capacity(rows.len() * 8);
    let mut add = |row: u64| bytes.extend_from_slice(&first_row_id.wrapping_add(row).to_be_bytes());
    match rows {
        RowSet::Range(range) => range.clone().for_each(|row| add(row as u64)),
        RowSet::List(list) => list.iter().for_each(|row| add(u64::from(*row))),
    }
    let offsets = (0..=rows.len() as u32).map(|entry| entry * 8).collect();
    let dictionary = Arc::new(Dictionary::new(offsets, bytes, true));
    Vector::new(Data::Text(TextVector { codes: (0..rows.len() as u32).collect(), dictionary }))
}
