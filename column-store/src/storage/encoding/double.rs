//! Doubles as integers: in decimal where that is exact, in the order of their bits
//! otherwise. (The decimal form is ALP's observation, Afroozeh et al., SIGMOD 2023,
//! without its exceptions: measured data has few digits in all rows or in none.)

use super::integer::{self, IntegerValues};
use crate::Result;
use crate::storage::bytes::{Reader, corrupt};
use crate::storage::format::{ORDERED_DOUBLE, SCALED_DIGITS_MAX};
use crate::storage::meta::Encoding;

/// The bits that every NaN is stored with.
const NAN_BITS: u64 = 0x7ff8_0000_0000_0000;

/// Integers of scaled doubles stay exact up to here.
const SCALED_MAX: f64 = 9_007_199_254_740_992.0;

/// Rows that decide how many digits are tried.
const SAMPLE_ROWS: usize = 64;

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

/// Appends `values`; how they were encoded, and how many are distinct if that was counted.
pub(super) fn encode(values: &[f64], out: &mut Vec<u8>) -> (Encoding, Option<usize>) {
    let step = values.len().div_ceil(SAMPLE_ROWS).max(1);
    let digits = POWERS.iter().position(|power| values.iter().step_by(step).all(|v| scaled(*v, *power).is_some()));
    let integers = digits.and_then(|digits| {
        let integers: Option<Vec<i64>> = values.iter().map(|v| scaled(*v, POWERS[digits])).collect();
        Some((digits as u8, integers?))
    });
    let (digits, integers) = integers.unwrap_or_else(|| (ORDERED_DOUBLE, values.iter().map(|v| ordered(*v)).collect()));
    out.push(digits);
    let encoded = integer::encode(&integers, out);
    (encoded.encoding, encoded.distinct.map(|values| values.len()))
}

/// Reads `count` doubles.
pub(super) fn decode(reader: &mut Reader<'_>, count: usize) -> Result<Vec<f64>> {
    let digits = reader.u8()?;
    let integers = match integer::decode(reader, count)? {
        IntegerValues::Wide(values) => values,
        other => other.to_vec(count),
    };
    if digits == ORDERED_DOUBLE {
        return Ok(integers.into_iter().map(from_ordered).collect());
    }
    let power = *POWERS.get(digits as usize).ok_or_else(|| corrupt(format!("doubles of {digits} digits")))?;
    Ok(integers.into_iter().map(|v| v as f64 / power).collect())
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
