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
    /// Ascending positions by runs of neighbours, and how many there are.
    Runs(Vec<Range<usize>>, usize),
}

/// Positions are copied by runs if these have at least so many rows on average: a run is
/// widened in vector instructions, but starting one costs as much as a few rows.
pub(super) const RUN_ROWS_MIN: usize = 16;

impl<'a> RowSet<'a> {
    /// Ascending positions in the form that is copied fastest.
    pub(crate) fn of(rows: &'a [u32]) -> Self {
        let breaks: usize = rows.windows(2).map(|pair| usize::from(pair[1] - pair[0] != 1)).sum();
        if rows.is_empty() || (breaks + 1) * RUN_ROWS_MIN > rows.len() {
            return Self::List(rows);
        }
        let run = |run: &[u32]| run[0] as usize..run[0] as usize + run.len();
        if breaks == 0 {
            return Self::Range(run(rows));
        }
        let mut runs = Vec::with_capacity(breaks + 1);
        runs.extend(rows.chunk_by(|a, b| b - a == 1).map(run));
        Self::Runs(runs, rows.len())
    }

    pub(crate) const fn len(&self) -> usize {
        match self {
            Self::Range(range) => range.end - range.start,
            Self::List(list) => list.len(),
            Self::Runs(_, count) => *count,
        }
    }

    /// The positions, ascending.
    pub(crate) fn positions(&self) -> Vec<u32> {
        let range = |range: &Range<usize>| range.start as u32..range.end as u32;
        match self {
            Self::Range(rows) => range(rows).collect(),
            Self::List(list) => list.to_vec(),
            Self::Runs(runs, _) => runs.iter().flat_map(range).collect(),
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
                (TextCodes::Each, rows) => rows.positions(),
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
        RowSet::Runs(runs, count) => {
            let mut out = Vec::with_capacity(*count);
            for run in runs {
                out.extend(values[run.clone()].iter().map(|v| widen(*v)));
            }
            out
        }
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
    for row in rows.positions() {
        bytes.extend_from_slice(&first_row_id.wrapping_add(u64::from(row)).to_be_bytes());
    }
    let offsets = (0..=rows.len() as u32).map(|entry| entry * 8).collect();
    let dictionary = Arc::new(Dictionary::new(offsets, bytes, true));
    Vector::new(Data::Text(TextVector { codes: (0..rows.len() as u32).collect(), dictionary }))
}
