//! Comparing two integer-like columns row by row.

use super::kernel::{integer, with_codes};
use super::selection::Selection;
use super::text_test::satisfies;
use crate::storage::chunk::{Chunk, CodeMap, CodedIntegers, Codes, Values};
use crate::vector::BATCH_ROWS;
use gingham_plan::BinaryOp;

/// Values of a whole slice are widened for the listed rows if these are one in so many at
/// least: that costs a fraction of looking up a single value.
const ROWS_PER_LISTED_MAX: usize = 32;

/// Whether [`apply`] can compare the chunks: none has decimals beyond 64 bits.
pub(crate) fn applies(left: &Chunk, right: &Chunk) -> bool {
    let narrow = |chunk: &Chunk| match &chunk.values {
        Values::Coded(_) | Values::Integers(_) => true,
        Values::Constant(value) => super::kernel::number(value).is_none_or(|v| i64::try_from(v).is_ok()),
        _ => false,
    };
    narrow(left) && narrow(right)
}

/// Deselects the rows for which `left op right` is not true.
pub(crate) fn apply(left: &Chunk, op: BinaryOp, right: &Chunk, selection: &mut Selection) {
    if !selection.is_dense() && selection.count() * ROWS_PER_LISTED_MAX >= selection.slice().len() {
        let slice = selection.slice();
        let both = if slice.len() <= BATCH_ROWS {
            narrow(left, slice.clone()).zip(narrow(right, slice.clone()))
        } else {
            None
        };
        if let Some((a, b)) = both.filter(|_| left.validity.is_none() && right.validity.is_none()) {
            selection.retain(|row| satisfies(op, a[row - slice.start].cmp(&b[row - slice.start])));
            return;
        }
    }
    if !selection.is_dense() || selection.slice().len() > BATCH_ROWS {
        selection.retain(|row| {
            left.is_valid(row)
                && right.is_valid(row)
                && integer(&left.values, row)
                    .zip(integer(&right.values, row))
                    .is_some_and(|(a, b)| satisfies(op, a.cmp(&b)))
        });
        return;
    }
    let slice = selection.slice();
    let rows = slice.len();
    selection.narrow(|mask| {
        if let (Some(a), Some(b)) = (narrow(left, slice.clone()), narrow(right, slice.clone())) {
            compare(op, &a[..rows], &b[..rows], mask);
        } else {
            compare(op, &wide(left, slice.clone())[..rows], &wide(right, slice.clone())[..rows], mask);
        }
        for chunk in [left, right] {
            if let Some(validity) = &chunk.validity {
                for (slot, valid) in mask.iter_mut().zip(&validity[slice.clone()]) {
                    *slot &= u8::from(*valid);
                }
            } else if chunk.has_nulls() {
                mask.fill(0);
            }
        }
    });
}

fn compare<T: Copy + Ord>(op: BinaryOp, left: &[T], right: &[T], mask: &mut [u8]) {
    fn run<T: Copy>(left: &[T], right: &[T], mask: &mut [u8], pass: impl Fn(T, T) -> bool) {
        for ((slot, a), b) in mask.iter_mut().zip(left).zip(right) {
            *slot &= u8::from(pass(*a, *b));
        }
    }
    match op {
        BinaryOp::Equal => run(left, right, mask, |a, b| a == b),
        BinaryOp::NotEqual => run(left, right, mask, |a, b| a != b),
        BinaryOp::Less => run(left, right, mask, |a, b| a < b),
        BinaryOp::LessOrEqual => run(left, right, mask, |a, b| a <= b),
        BinaryOp::Greater => run(right, left, mask, |a, b| a < b),
        _ => run(right, left, mask, |a, b| a <= b),
    }
}

/// The values of a slice in 32 bits, if all values of the chunk fit.
fn narrow(chunk: &Chunk, slice: std::ops::Range<usize>) -> Option<[i32; BATCH_ROWS]> {
    let Values::Coded(CodedIntegers { codes, map: CodeMap::Affine { base, factor: 1 }, code_max }) = &chunk.values
    else {
        return None;
    };
    let base = i32::try_from(*base).ok()?;
    i32::try_from(i64::from(base) + i64::from(*code_max)).ok()?;
    let mut out = [0; BATCH_ROWS];
    with_codes!(codes, |codes| {
        for (value, code) in out.iter_mut().zip(&codes[slice]) {
            *value = base.wrapping_add(*code as i32);
        }
    });
    Some(out)
}

/// The values of a slice in 64 bits.
fn wide(chunk: &Chunk, slice: std::ops::Range<usize>) -> [i64; BATCH_ROWS] {
    let mut out = [0; BATCH_ROWS];
    for (value, row) in out.iter_mut().zip(slice) {
        *value = integer(&chunk.values, row).unwrap_or_default();
    }
    out
}
