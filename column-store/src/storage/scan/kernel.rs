//! Predicates made ready for one chunk, and the loops that apply them.
//!
//! A test of numbers becomes one range of codes nearly always, because codes grow with
//! values; what does not becomes a table with a byte a code. The dense loops are plain
//! enough to be compiled to vector instructions.

use super::predicate::Test;
use super::ranges::RangeSet;
use super::selection::Selection;
use super::text_test::TextTest;
use crate::source::KeyBits;
use crate::storage::chunk::{Chunk, CodeMap, CodedIntegers, Codes, TextCodes, Values};
use crate::storage::encoding::double::ordered;
use gingham_types::Value;
use std::sync::Arc;

/// Codes up to here get a table when no single range decides.
const TABLE_CODES_MAX: u32 = 1 << 16;

/// A predicate ready for the rows of one chunk.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) kernel: Kernel,
    /// Whether NULL passes.
    pub(crate) on_null: bool,
}

/// How values that are not NULL are tested.
#[derive(Clone, Debug)]
pub(crate) enum Kernel {
    Never,
    Always,
    /// Codes in an inclusive range.
    CodeRange(u32, u32),
    /// 1 for each code that passes; at least 256 entries.
    CodeTable(Arc<Vec<u8>>),
    /// Codes in one of some inclusive ranges.
    CodeRanges(Vec<(u32, u32)>),
    /// 64-bit values, or the ordered bits of doubles, in one of some inclusive ranges.
    Ranges(Vec<(i64, i64)>),
    Decimals(RangeSet),
    /// Strings of a dictionary with an entry a row.
    Strings(Arc<TextTest>),
    /// Integers whose distance from the least is in a set.
    Bits {
        min: i64,
        max: i64,
        bits: Arc<KeyBits>,
    },
}

impl Kernel {
    /// From what each code gives.
    pub(crate) fn of_table(mut table: Vec<u8>) -> Self {
        let count = table.iter().filter(|pass| **pass != 0).count();
        let Some(first) = table.iter().position(|pass| *pass != 0) else { return Self::Never };
        if count == table.len() {
            Self::Always
        } else if table[first..first + count].iter().all(|pass| *pass != 0) {
            Self::CodeRange(first as u32, (first + count - 1) as u32)
        } else {
            table.resize(table.len().max(256), 0);
            Self::CodeTable(Arc::new(table))
        }
    }

    /// From a test of a column's values.
    pub(crate) fn of_test(test: &Test, chunk: &Chunk) -> Self {
        match (test, &chunk.values) {
            (_, Values::Constant(value)) => Self::of_constant(test, value),
            (Test::Numbers(set), Values::Coded(coded)) => Self::of_ranges(set, coded),
            (Test::Numbers(set), Values::Integers(_) | Values::Doubles(_)) => match set.narrow() {
                ranges if ranges.is_empty() => Self::Never,
                ranges => Self::Ranges(ranges),
            },
            (Test::Numbers(set), Values::Decimals(_)) => Self::Decimals(set.clone()),
            (Test::Text(test), Values::Text { codes: TextCodes::Each, .. }) => Self::Strings(Arc::clone(test)),
            (Test::Text(test), Values::Text { dictionary, .. }) => {
                let entries = 0..dictionary.len() as u32;
                Self::of_table(entries.map(|code| u8::from(test.matches(dictionary.get(code)))).collect())
            }
            // A column and its tests have one type.
            _ => Self::Never,
        }
    }

    fn of_constant(test: &Test, value: &Value) -> Self {
        let pass = match test {
            Test::Numbers(set) => number(value).is_some_and(|v| set.contains(v)),
            Test::Text(test) => match value {
                Value::Text(text) => test.matches(text.as_bytes()),
                Value::Blob(bytes) => test.matches(bytes),
                _ => false,
            },
        };
        if pass { Self::Always } else { Self::Never }
    }

    fn of_ranges(set: &RangeSet, coded: &CodedIntegers) -> Self {
        let code_max = u64::from(coded.code_max);
        let mut ranges = Vec::with_capacity(set.ranges().len());
        for (low, high) in set.ranges() {
            let from = coded.map.code_at_least(bound(*low));
            let after = coded.map.code_at_least(bound(*high).saturating_add(1)).min(code_max + 1);
            if from < after {
                ranges.push((from as u32, (after - 1) as u32));
            }
        }
        match ranges.as_slice() {
            [] => Self::Never,
            [(0, high)] if *high == coded.code_max => Self::Always,
            [(low, high)] => Self::CodeRange(*low, *high),
            _ if coded.code_max < TABLE_CODES_MAX => {
                let mut table = vec![0u8; coded.code_max as usize + 1];
                for (low, high) in &ranges {
                    table[*low as usize..=*high as usize].fill(1);
                }
                Self::of_table(table)
            }
            _ => Self::CodeRanges(ranges),
        }
    }
}

/// Keeps arithmetic on bounds far from overflow; values have 64 bits here.
fn bound(value: i128) -> i128 {
    value.clamp(i128::from(i64::MIN) - 1, i128::from(i64::MAX) + 1)
}

/// A value's integer, as tests of numbers see it.
pub(crate) fn number(value: &Value) -> Option<i128> {
    Some(match value {
        Value::Boolean(v) => i128::from(*v),
        Value::Int(v) | Value::Timestamp(v) => i128::from(*v),
        Value::Date(v) => i128::from(*v),
        Value::Decimal { unscaled, .. } => *unscaled,
        Value::Double(v) => i128::from(ordered(*v)),
        _ => return None,
    })
}

impl Prepared {
    /// Deselects the rows that fail.
    pub(crate) fn apply(&self, chunk: &Chunk, selection: &mut Selection) {
        if !chunk.has_nulls() {
            match &self.kernel {
                Kernel::Never => selection.clear(),
                Kernel::Always => {}
                kernel if selection.is_dense() => {
                    let slice = selection.slice();
                    selection.narrow(|mask| dense(kernel, chunk, slice, mask));
                }
                kernel => retain(kernel, chunk, selection, |_| true, false),
            }
            return;
        }
        let Some(validity) = &chunk.validity else {
            if !self.on_null {
                selection.clear();
            }
            return;
        };
        if selection.is_dense() {
            let slice = selection.slice();
            let mut passed = vec![1u8; slice.len()];
            dense(&self.kernel, chunk, slice.clone(), &mut passed);
            let on_null = u8::from(self.on_null);
            selection.narrow(|mask| {
                for ((slot, passed), valid) in mask.iter_mut().zip(&passed).zip(&validity[slice]) {
                    *slot &= if *valid { *passed } else { on_null };
                }
            });
        } else {
            retain(&self.kernel, chunk, selection, |row| validity[row], self.on_null);
        }
    }
}

/// Runs `$body` with the codes as a slice of their own type.
macro_rules! with_codes {
    ($codes:expr, |$slice:ident| $body:expr) => {
        match $codes {
            Codes::U8($slice) => $body,
            Codes::U16($slice) => $body,
            Codes::U32($slice) => $body,
        }
    };
}
pub(crate) use with_codes;

/// Sets the bytes of `mask` to 0 where the rows of `slice` fail.
fn dense(kernel: &Kernel, chunk: &Chunk, slice: std::ops::Range<usize>, mask: &mut [u8]) {
    match (kernel, &chunk.values) {
        (Kernel::Always, _) => {}
        (Kernel::Never, _) => mask.fill(0),
        (Kernel::Ranges(ranges), Values::Integers(values)) => dense_ranges(&values[slice], ranges, |v| v, mask),
        (Kernel::Ranges(ranges), Values::Doubles(values)) => dense_ranges(&values[slice], ranges, ordered, mask),
        (Kernel::Decimals(set), Values::Decimals(values)) => {
            for (slot, value) in mask.iter_mut().zip(&values[slice]) {
                *slot &= u8::from(set.contains(*value));
            }
        }
        (Kernel::Strings(test), Values::Text { codes: TextCodes::Each, dictionary }) => {
            test.mask(&dictionary.offsets()[slice.start..=slice.end], dictionary.bytes(), mask);
        }
        (
            Kernel::Bits { min, max, bits },
            Values::Coded(CodedIntegers { codes, map: CodeMap::Affine { base, factor: 1 }, code_max }),
        ) => {
            let map = (*base, *code_max);
            with_codes!(codes, |codes| dense_bits(&codes[slice], map, (*min, *max), bits, mask));
        }
        (Kernel::Bits { min, max, bits }, values) => {
            for (slot, row) in mask.iter_mut().zip(slice) {
                *slot &= u8::from(integer(values, row).is_some_and(|value| has_bit(value, *min, *max, bits)));
            }
        }
        (kernel, Values::Coded(CodedIntegers { codes, .. }) | Values::Text { codes: TextCodes::Coded(codes), .. }) => {
            match codes {
                Codes::U8(codes) => dense_codes(kernel, &codes[slice], |code| code as u8, mask),
                Codes::U16(codes) => dense_codes(kernel, &codes[slice], |code| code as u16, mask),
                Codes::U32(codes) => dense_codes(kernel, &codes[slice], |code| code, mask),
            }
        }
        // A kernel was made for this chunk.
        _ => mask.fill(0),
    }
}

fn dense_codes<T: Copy + Ord + Into<u32>>(kernel: &Kernel, codes: &[T], narrow: impl Fn(u32) -> T, mask: &mut [u8]) {
    match kernel {
        // A code above the type's range would not be in its chunk.
        Kernel::CodeRange(low, high) => {
            let (low, high) = (narrow(*low), narrow(*high));
            for (slot, code) in mask.iter_mut().zip(codes) {
                *slot &= u8::from(*code >= low) & u8::from(*code <= high);
            }
        }
        Kernel::CodeTable(table) => {
            // A slice stays in registers while the mask is written.
            let table = table.as_slice();
            for (slot, code) in mask.iter_mut().zip(codes) {
                *slot &= table[(*code).into() as usize];
            }
        }
        Kernel::CodeRanges(ranges) => {
            for (slot, code) in mask.iter_mut().zip(codes) {
                *slot &= u8::from(in_ranges(ranges, (*code).into()));
            }
        }
        _ => mask.fill(0),
    }
}

/// Codes that are their value less `base`; without branches, since keys that pass and keys
/// that do not mostly come mixed.
fn dense_bits<T: Copy + Into<u32>>(
    codes: &[T],
    (base, code_max): (i64, u32),
    (min, max): (i64, i64),
    bits: &KeyBits,
    mask: &mut [u8],
) {
    const SMALL: u64 = 1 << 30;
    let (words, shift) = (bits.words(), bits.shift());
    let span = max.wrapping_sub(min) as u64;
    let offset = base.wrapping_sub(min);
    if span < SMALL && offset.unsigned_abs() < SMALL && u64::from(code_max) < SMALL {
        // In 32 bits a distance below zero is still greater than the span.
        let (span, offset) = (span as u32, offset as u32);
        if shift == 0 {
            small_bits(codes, offset, span, words, |distance| distance, mask);
        } else {
            small_bits(codes, offset, span, words, |distance| distance >> shift, mask);
        }
        return;
    }
    for (slot, code) in mask.iter_mut().zip(codes) {
        let distance = offset.wrapping_add(i64::from((*code).into())) as u64;
        let inside = distance <= span;
        let bit = if inside { distance >> shift } else { 0 };
        let word = words.get((bit / 64) as usize).copied().unwrap_or(0);
        *slot &= u8::from(inside) & (word >> (bit % 64)) as u8;
    }
}

#[inline]
fn small_bits<T: Copy + Into<u32>>(
    codes: &[T],
    offset: u32,
    span: u32,
    words: &[u64],
    bit: impl Fn(u32) -> u32,
    mask: &mut [u8],
) {
    for (slot, code) in mask.iter_mut().zip(codes) {
        let distance = (*code).into().wrapping_add(offset);
        // Distances that are too great look at the last bit, in vain.
        let bit = bit(distance.min(span));
        let word = words.get((bit / 64) as usize).copied().unwrap_or(0);
        *slot &= u8::from(distance <= span) & (word >> (bit % 64)) as u8;
    }
}

fn dense_ranges<T: Copy>(values: &[T], ranges: &[(i64, i64)], key: impl Fn(T) -> i64, mask: &mut [u8]) {
    if let [(low, high)] = ranges {
        for (slot, value) in mask.iter_mut().zip(values) {
            let value = key(*value);
            *slot &= u8::from(value >= *low) & u8::from(value <= *high);
        }
    } else {
        for (slot, value) in mask.iter_mut().zip(values) {
            *slot &= u8::from(in_ranges(ranges, key(*value)));
        }
    }
}

#[inline]
fn in_code_range(code: impl Into<u32>, low: u32, high: u32) -> bool {
    code.into().wrapping_sub(low) <= high - low
}

fn in_ranges<T: Copy + Ord>(ranges: &[(T, T)], value: T) -> bool {
    let after = ranges.partition_point(|(low, _)| *low <= value);
    after > 0 && value <= ranges[after - 1].1
}

#[inline]
fn has_bit(value: i64, min: i64, max: i64, bits: &KeyBits) -> bool {
    // Values below the least wrap to distances greater than any in range.
    let distance = value.wrapping_sub(min) as u64;
    distance <= max.wrapping_sub(min) as u64 && bits.may_contain(distance)
}

/// The integer of a row of an integer-like chunk.
#[inline]
pub(crate) fn integer(values: &Values, row: usize) -> Option<i64> {
    match values {
        Values::Coded(coded) => Some(coded.map.value(coded.codes.get(row))),
        Values::Integers(values) => Some(values[row]),
        Values::Constant(value) => number(value).map(|v| v as i64),
        _ => None,
    }
}

/// Keeps the listed rows that pass.
fn retain(kernel: &Kernel, chunk: &Chunk, selection: &mut Selection, valid: impl Fn(usize) -> bool, on_null: bool) {
    macro_rules! retain {
        (|$row:ident| $pass:expr) => {
            selection.retain(|$row| if valid($row) { $pass } else { on_null })
        };
    }
    match (kernel, &chunk.values) {
        (Kernel::Always, _) => retain!(|row| true),
        (Kernel::Never, _) => retain!(|row| false),
        (Kernel::Ranges(ranges), Values::Integers(values)) => retain!(|row| in_ranges(ranges, values[row])),
        (Kernel::Ranges(ranges), Values::Doubles(values)) => retain!(|row| in_ranges(ranges, ordered(values[row]))),
        (Kernel::Decimals(set), Values::Decimals(values)) => retain!(|row| set.contains(values[row])),
        (Kernel::Strings(test), Values::Text { codes: TextCodes::Each, dictionary }) => {
            retain!(|row| test.matches(dictionary.get(row as u32)));
        }
        (
            Kernel::Bits { min, max, bits },
            Values::Coded(CodedIntegers { codes, map: CodeMap::Affine { base, factor: 1 }, .. }),
        ) => {
            with_codes!(codes, |codes| {
                retain!(|row| has_bit(base.wrapping_add(i64::from(codes[row])), *min, *max, bits));
            });
        }
        (Kernel::Bits { min, max, bits }, values) => {
            retain!(|row| integer(values, row).is_some_and(|value| has_bit(value, *min, *max, bits)));
        }
        (kernel, Values::Coded(CodedIntegers { codes, .. }) | Values::Text { codes: TextCodes::Coded(codes), .. }) => {
            match kernel {
                Kernel::CodeRange(low, high) => with_codes!(codes, |codes| {
                    retain!(|row| in_code_range(codes[row], *low, *high));
                }),
                Kernel::CodeTable(table) => with_codes!(codes, |codes| retain!(|row| table[codes[row] as usize] != 0)),
                Kernel::CodeRanges(ranges) => retain!(|row| in_ranges(ranges, codes.get(row))),
                _ => selection.clear(),
            }
        }
        _ => selection.clear(),
    }
}
