//! Exact decimal arithmetic helpers: scale changes, comparison, text.

use std::cmp::Ordering;

/// Most digits a DECIMAL can have; they fit an `i128`.
pub const DECIMAL_DIGITS_MAX: u8 = 38;
/// Most digits that always fit an `i64`.
pub const DECIMAL64_DIGITS_MAX: u8 = 18;

/// `10^n` for `n` up to 38; `None` past it.
pub const fn power_of_ten(n: u8) -> Option<i128> {
    10i128.checked_pow(n as u32)
}

/// Digits of `v` without sign; 1 for zero.
pub(crate) fn digits(v: i128) -> u8 {
    v.unsigned_abs().checked_ilog10().unwrap_or(0) as u8 + 1
}

/// `unscaled` of scale `from` brought to scale `to`, rounding halves away from zero.
/// `None` on overflow of 128 bits.
pub fn rescale(unscaled: i128, from: u8, to: u8) -> Option<i128> {
    match from.cmp(&to) {
        Ordering::Equal => Some(unscaled),
        Ordering::Less => unscaled.checked_mul(power_of_ten(to - from)?),
        Ordering::Greater => match power_of_ten(from - to) {
            Some(divisor) => Some(divide_round(unscaled, divisor)),
            None => Some(0),
        },
    }
}

/// `a / b` rounded half away from zero, for `b > 0`.
pub(crate) fn divide_round(a: i128, b: i128) -> i128 {
    let quotient = a / b;
    let remainder = a % b;
    if remainder.unsigned_abs() >= b.unsigned_abs() - remainder.unsigned_abs() {
        quotient + a.signum()
    } else {
        quotient
    }
}

/// The order of `x / 10^s` and `y / 10^t`, without overflow.
pub(crate) fn compare(x: i128, s: u8, y: i128, t: u8) -> Ordering {
    let scale = s.max(t);
    match (rescale_up(x, scale - s), rescale_up(y, scale - t)) {
        (Some(a), Some(b)) => a.cmp(&b),
        // The side that overflowed has the greater magnitude: its sign decides.
        (None, _) => x.cmp(&0),
        (_, None) => 0.cmp(&y),
    }
}

fn rescale_up(v: i128, by: u8) -> Option<i128> {
    v.checked_mul(power_of_ten(by)?)
}

pub(crate) fn to_double(unscaled: i128, scale: u8) -> f64 {
    // Both operands are exact below 2^53 and 10^22, so the quotient is correctly
    // rounded for every number of up to 15 digits.
    unscaled as f64 / 10f64.powi(i32::from(scale))
}

/// `unscaled / 10^scale` as text, always with `scale` digits after the point.
pub fn format_decimal(unscaled: i128, scale: u8) -> String {
    let digits = unscaled.unsigned_abs().to_string();
    let sign = if unscaled < 0 { "-" } else { "" };
    let scale = scale as usize;
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// Reads `[+-]digits[.digits]` (no exponent) as `(unscaled, scale)`, the scale being
/// the digits written after the point. `None` if the text is not such a number or has
/// more than 38 digits.
pub fn parse_decimal(text: &str) -> Option<(i128, u8)> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut unscaled = 0i128;
    for byte in whole.bytes().chain(fraction.bytes()) {
        if !byte.is_ascii_digit() {
            return None;
        }
        unscaled = unscaled.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
    }
    let scale = u8::try_from(fraction.len()).ok().filter(|s| *s <= DECIMAL_DIGITS_MAX)?;
    if digits(unscaled) > DECIMAL_DIGITS_MAX {
        return None;
    }
    Some((if negative { -unscaled } else { unscaled }, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for (text, unscaled, scale) in [("0.05", 5, 2), ("-12.30", -1230, 2), ("7", 7, 0), (".5", 5, 1)] {
            assert_eq!(parse_decimal(text), Some((unscaled, scale)), "{text}");
        }
        assert_eq!(format_decimal(5, 2), "0.05");
        assert_eq!(format_decimal(-1230, 2), "-12.30");
        assert_eq!(parse_decimal("1e3"), None);
        assert_eq!(parse_decimal(""), None);
        assert_eq!(parse_decimal("999999999999999999999999999999999999999"), None);
    }

    #[test]
    fn rescaling_rounds_half_away_from_zero() {
        assert_eq!(rescale(125, 2, 1), Some(13));
        assert_eq!(rescale(-125, 2, 1), Some(-13));
        assert_eq!(rescale(124, 2, 1), Some(12));
        assert_eq!(rescale(1, 0, 38), Some(10i128.pow(38)));
        assert_eq!(rescale(2, 0, 38), None);
    }

    #[test]
    fn comparison_survives_overflow() {
        assert_eq!(compare(i128::MAX, 0, 1, 30), Ordering::Greater);
        assert_eq!(compare(i128::MIN, 0, 1, 30), Ordering::Less);
        assert_eq!(compare(1, 30, i128::MAX, 0), Ordering::Less);
    }
}
