//! Exact decimal division and bounds on unscaled values.

use gingham_types::{power_of_ten, rescale};

/// One past the greatest magnitude of 38 digits.
pub(crate) const DECIMAL_BOUND: i128 = 10i128.pow(38);

/// Whether an unscaled value has at most 38 digits.
#[inline]
pub(crate) const fn fits(v: i128) -> bool {
    v > -DECIMAL_BOUND && v < DECIMAL_BOUND
}

/// `a · 10^shift / b` rounded half away from zero; `None` past 128 bits. `b` is not 0.
pub(crate) fn divide(a: i128, b: i128, shift: i32) -> Option<i128> {
    if shift < 0 {
        let factor = u8::try_from(-shift).ok().and_then(power_of_ten)?;
        return match b.checked_mul(factor) {
            Some(divisor) => Some(divide_round(a, divisor)),
            // The divisor passes 10^38 and the dividend does not: the quotient rounds
            // to at most one, by comparing the dividend with half the divisor.
            None => Some(divide_round(rescale(a, u8::try_from(-shift).ok()?, 0)?, b)),
        };
    }
    let shift = u8::try_from(shift).ok()?;
    if let Some(dividend) = power_of_ten(shift).and_then(|factor| a.checked_mul(factor)) {
        return Some(divide_round(dividend, b));
    }
    divide_long(a, b, shift)
}

/// `a / b` rounded half away from zero.
#[inline]
pub(crate) fn divide_round(a: i128, b: i128) -> i128 {
    if let (Ok(a), Ok(b)) = (i64::try_from(a), i64::try_from(b)) {
        // 64-bit division is several times faster, above all in wasm.
        return i128::from(a) / i128::from(b) + i128::from(round_up(a, b));
    }
    let (quotient, remainder) = (a / b, a % b);
    let up = remainder.unsigned_abs() >= b.unsigned_abs() - remainder.unsigned_abs();
    quotient + if up { a.signum() * b.signum() } else { 0 }
}

/// What rounding adds to the truncated quotient of 64-bit numbers.
#[inline]
fn round_up(a: i64, b: i64) -> i64 {
    let remainder = a.wrapping_rem(b).unsigned_abs();
    if remainder >= b.unsigned_abs() - remainder { a.signum() * b.signum() } else { 0 }
}

/// `a / b` rounded half away from zero in 64 bits; `a / b` must not overflow.
#[inline]
pub(crate) fn divide_round_narrow(a: i64, b: i64) -> i64 {
    a.wrapping_div(b).wrapping_add(round_up(a, b))
}

/// Long division digit by digit, for dividends past 128 bits.
fn divide_long(a: i128, b: i128, shift: u8) -> Option<i128> {
    let negative = (a < 0) != (b < 0);
    let (dividend, divisor) = (a.unsigned_abs(), b.unsigned_abs());
    let mut quotient = dividend / divisor;
    let mut remainder = dividend % divisor;
    for _ in 0..shift {
        let (digit, rest) = next_digit(remainder, divisor)?;
        quotient = quotient.checked_mul(10)?.checked_add(digit)?;
        remainder = rest;
    }
    if remainder >= divisor - remainder {
        quotient = quotient.checked_add(1)?;
    }
    let quotient = i128::try_from(quotient).ok()?;
    Some(if negative { -quotient } else { quotient })
}

/// `(10·remainder) / divisor` and its remainder, by additions that stay in 128 bits.
fn next_digit(remainder: u128, divisor: u128) -> Option<(u128, u128)> {
    if let Some(shifted) = remainder.checked_mul(10) {
        return Some((shifted / divisor, shifted % divisor));
    }
    let (mut digit, mut rest) = (0, 0u128);
    for _ in 0..10 {
        rest = rest.checked_add(remainder)?;
        if rest >= divisor {
            rest -= divisor;
            digit += 1;
        }
    }
    Some((digit, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expression_division_rounds_half_away_from_zero() {
        assert_eq!(divide(1, 3, 4), Some(3333));
        assert_eq!(divide(2, 3, 0), Some(1));
        assert_eq!(divide(-1, 2, 0), Some(-1));
        assert_eq!(divide(1, -2, 0), Some(-1));
        assert_eq!(divide(5, 1, -1), Some(1));
        assert_eq!(divide(4, 1, -1), Some(0));
        assert_eq!(divide(i128::from(i64::MIN), -1, 0), Some(1 << 63));
    }

    #[test]
    fn expression_division_survives_wide_dividends() {
        let a = DECIMAL_BOUND - 1;
        assert_eq!(divide(a, a, 20), Some(10i128.pow(20)));
        assert_eq!(divide(a, 7, 6), None);
        assert_eq!(divide(a, a - 1, 30), Some(10i128.pow(30)));
        assert_eq!(divide(a, -3 * 10i128.pow(20), 2), Some(-33_333_333_333_333_333_333));
    }
}
