//! Doubles as integers: in decimal where that is exact for most of them, in the order of
//! their bits otherwise. Those few that are no short decimals stand apart, with their rows
//! (ALP, Afroozeh et al., SIGMOD 2023; its exceptions are patched in here too, its two
//! exponents are one, for the frame finds a common factor of its own).

use super::integer::{self, Encoded, IntegerValues};
use crate::Result;
use crate::storage::bytes::{Reader, corrupt, put_varint};
use crate::storage::format::{DOUBLE_EXCEPTIONS, ORDERED_DOUBLE, SCALED_DIGITS_MAX};
use crate::storage::meta::Encoding;

/// The bits that every NaN is stored with.
const NAN_BITS: u64 = 0x7ff8_0000_0000_0000;

/// Integers of scaled doubles stay exact up to here.
const SCALED_MAX: f64 = 9_007_199_254_740_992.0;

/// Rows that decide how many digits are tried.
const SAMPLE_ROWS: usize = 64;

/// One in so many rows may be no decimal: an exception takes ten bytes, a decimal rarely
/// less than one.
const ROWS_PER_EXCEPTION_MIN: usize = 8;

const POWERS: [f64; SCALED_DIGITS_MAX as usize + 1] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// The bits of a double as an integer of the same order: -infinity first, -0 just before
/// 0, NaN last.
#[inline]
pub(crate) const fn ordered(value: f64) -> i64 {
    let bits = if value.is_nan() { NAN_BITS } else { value.to_bits() } as i64;
    flip(bits)
}

/// The double of [`ordered`].
#[inline]
pub(crate) const fn from_ordered(key: i64) -> f64 {
    f64::from_bits(flip(key) as u64)
}

const fn flip(bits: i64) -> i64 {
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

fn scaled(value: f64, power: f64) -> Option<i64> {
    let integer = (value * power).round();
    let exact = integer.abs() <= SCALED_MAX && (integer / power).to_bits() == value.to_bits();
    exact.then_some(integer as i64)
}

/// Doubles as integers of some digits; `exceptions` are the rows and ordered bits of those
/// that are none, in whose places neighbours stand.
struct Scaled {
    digits: u8,
    integers: Vec<i64>,
    exceptions: (Vec<i64>, Vec<i64>),
}

/// The decimal form of `values`, with the fewest digits that suit a sample best.
fn scale(values: &[f64]) -> Option<Scaled> {
    let step = values.len().div_ceil(SAMPLE_ROWS).max(1);
    let suited = |power: &f64| values.iter().step_by(step).filter(|v| scaled(**v, *power).is_some()).count();
    let (digits, suited) = POWERS.iter().map(suited).enumerate().rev().max_by_key(|(_, count)| *count)?;
    let sampled = values.len().div_ceil(step);
    if (sampled - suited) * ROWS_PER_EXCEPTION_MIN > sampled {
        return None;
    }
    let mut integers: Vec<i64> = Vec::with_capacity(values.len());
    let (mut rows, mut bits) = (Vec::new(), Vec::new());
    for (row, value) in values.iter().enumerate() {
        let integer = match scaled(*value, POWERS[digits]) {
            Some(integer) => {
                if rows.len() == row {
                    integers.fill(integer);
                }
                integer
            }
            None => {
                if (rows.len() + 1) * ROWS_PER_EXCEPTION_MIN > values.len() {
                    return None;
                }
                rows.push(row as i64);
                bits.push(ordered(*value));
                integers.last().copied().unwrap_or_default()
            }
        };
        integers.push(integer);
    }
    Some(Scaled { digits: digits as u8, integers, exceptions: (rows, bits) })
}

/// Appends `values`; how they were encoded, and how many are distinct if that was counted.
pub(super) fn encode(values: &[f64], out: &mut Vec<u8>) -> (Encoding, Option<usize>) {
    let told = |encoded: Encoded| (encoded.encoding, encoded.distinct.map(|values| values.len()));
    let scaled = scale(values);
    if let Some(Scaled { digits, integers, exceptions }) = &scaled
        && exceptions.0.is_empty()
    {
        out.push(*digits);
        return told(integer::encode(integers, out));
    }
    let start = out.len();
    out.push(ORDERED_DOUBLE);
    let keys: Vec<i64> = values.iter().map(|v| ordered(*v)).collect();
    let encoded = told(integer::encode(&keys, out));
    let Some(Scaled { digits, integers, exceptions: (rows, bits) }) = scaled else { return encoded };
    let mut decimal = vec![digits | DOUBLE_EXCEPTIONS];
    put_varint(&mut decimal, rows.len() as u64);
    integer::encode(&rows, &mut decimal);
    integer::encode(&bits, &mut decimal);
    let encoding = integer::encode(&integers, &mut decimal).encoding;
    if decimal.len() >= out.len() - start {
        return encoded;
    }
    out.truncate(start);
    out.extend(decimal);
    (encoding, None)
}

/// Reads `count` doubles.
pub(super) fn decode(reader: &mut Reader<'_>, count: usize) -> Result<Vec<f64>> {
    let form = reader.u8()?;
    let has_exceptions = form != ORDERED_DOUBLE && form & DOUBLE_EXCEPTIONS != 0;
    let exceptions = if has_exceptions { read_exceptions(reader, count)? } else { Vec::new() };
    let integers = match integer::decode(reader, count)? {
        IntegerValues::Wide(values) => values,
        other => other.to_vec(count),
    };
    if form == ORDERED_DOUBLE {
        return Ok(integers.into_iter().map(from_ordered).collect());
    }
    let digits = form & !DOUBLE_EXCEPTIONS;
    let power = *POWERS.get(digits as usize).ok_or_else(|| corrupt(format!("doubles of {digits} digits")))?;
    let mut values: Vec<f64> = integers.into_iter().map(|v| v as f64 / power).collect();
    for (row, key) in exceptions {
        values[row] = from_ordered(key);
    }
    Ok(values)
}

/// The rows, all below `rows`, and the ordered bits of exceptions.
fn read_exceptions(reader: &mut Reader<'_>, rows: usize) -> Result<Vec<(usize, i64)>> {
    let count = reader.count(rows)?;
    if count == 0 {
        return Err(corrupt("doubles with exceptions of which there are none"));
    }
    let positions = integer::decode(reader, count)?.to_vec(count);
    let keys = integer::decode(reader, count)?.to_vec(count);
    if !positions.is_sorted_by(|a, b| a < b) || positions[0] < 0 || positions[count - 1] >= rows as i64 {
        return Err(corrupt("exceptions of doubles are not in the order of their rows"));
    }
    Ok(positions.into_iter().map(|row| row as usize).zip(keys).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_and_undone() {
        let values = [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN];
        assert!(values.map(ordered).is_sorted_by(|a, b| a < b));
        assert!(values.iter().all(|v| from_ordered(ordered(*v)).total_cmp(v).is_eq()));
    }
}
