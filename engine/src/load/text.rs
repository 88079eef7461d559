//! Values of the plainest written form, straight from bytes. What is written otherwise is
//! left to [`gingham_types::cast`], which also tells what is wrong.

use gingham_types::days_from_civil;

/// So many digits always fit 64 bits.
const DIGITS_MAX: usize = 18;

/// Bytes of a date.
const DATE_BYTES: usize = 10;

/// The position of the first byte that is one of three; the length if there is none.
///
/// A word at a time: fields are short, and a call into a longer search would cost more than it saves.
#[inline]
pub(super) fn find(bytes: &[u8], wanted: [u8; 3]) -> usize {
    let (words, tail) = bytes.as_chunks::<{ word::BYTES }>();
    let patterns = word::patterns(wanted);
    for (index, bytes) in words.iter().enumerate() {
        if let Some(at) = word::find(*bytes, &patterns) {
            return index * word::BYTES + at;
        }
    }
    let rest = tail.iter().position(|byte| wanted.contains(byte)).unwrap_or(tail.len());
    words.len() * word::BYTES + rest
}

/// Sixteen bytes in a vector register.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod word {
    use core::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_splat, u64x2, v128, v128_or};

    pub(super) const BYTES: usize = 16;

    #[inline]
    pub(super) fn patterns(wanted: [u8; 3]) -> [v128; 3] {
        wanted.map(|byte| u8x16_splat(byte))
    }

    #[inline]
    pub(super) fn find(bytes: [u8; BYTES], [a, b, c]: &[v128; 3]) -> Option<usize> {
        let both = u128::from_le_bytes(bytes);
        let word = u64x2(both as u64, (both >> 64) as u64);
        let found = v128_or(v128_or(u8x16_eq(word, *a), u8x16_eq(word, *b)), u8x16_eq(word, *c));
        let mask = u8x16_bitmask(found);
        (mask != 0).then(|| mask.trailing_zeros() as usize)
    }
}

/// Eight bytes in a general register.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod word {
    pub(super) const BYTES: usize = 8;

    pub(super) fn patterns(wanted: [u8; 3]) -> [u64; 3] {
        wanted.map(|byte| u64::from_le_bytes([byte; BYTES]))
    }

    #[inline]
    pub(super) fn find(bytes: [u8; BYTES], [a, b, c]: &[u64; 3]) -> Option<usize> {
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        // The high bit of each byte that is 0, exactly: no carry leaves a byte.
        let zeros = |word: u64| !(((word & LOW) + LOW) | word | LOW);
        let word = u64::from_le_bytes(bytes);
        let found = zeros(word ^ a) | zeros(word ^ b) | zeros(word ^ c);
        (found != 0).then(|| found.trailing_zeros() as usize / 8)
    }
}

/// A sign and the bytes after it.
#[inline]
fn signed(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    }
}

/// The number of at most [`DIGITS_MAX`] digits; `None` for any other byte.
#[inline]
fn digits(text: &[u8], before: i64) -> Option<i64> {
    text.iter().try_fold(before, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit <= 9).then(|| number * 10 + i64::from(digit))
    })
}

/// `[-]digits`, up to 18 of them.
#[inline]
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    let (negative, rest) = signed(text);
    if rest.is_empty() || rest.len() > DIGITS_MAX {
        return None;
    }
    let number = digits(rest, 0)?;
    Some(if negative { -number } else { number })
}

/// `[-]digits[.digits]` with no more digits after the point than `scale`, as a multiple of
/// that scale's unit, and below `limit` without its sign.
#[inline]
pub(super) fn decimal(text: &[u8], scale: u8, limit: i64) -> Option<i64> {
    let (negative, rest) = signed(text);
    if rest.len() > DIGITS_MAX {
        return None;
    }
    let (mut number, mut point) = (0, None);
    for (index, byte) in rest.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            number = number * 10 + i64::from(digit);
        } else if *byte == b'.' && point.is_none() {
            point = Some(index);
        } else {
            return None;
        }
    }
    let (whole, fraction) = point.map_or((rest.len(), 0), |point| (point, rest.len() - point - 1));
    let scale = scale as usize;
    if whole == 0 || fraction > scale || whole + scale > DIGITS_MAX {
        return None;
    }
    for _ in fraction..scale {
        number *= 10;
    }
    (number < limit).then_some(if negative { -number } else { number })
}

/// `YYYY-MM-DD`; days of a month past the 28th are left to others.
#[inline]
pub(super) fn date(text: &[u8]) -> Option<i32> {
    let text: &[u8; DATE_BYTES] = text.try_into().ok()?;
    let [a, b, c, d, b'-', e, f, b'-', g, h] =
        text.map(|byte| if byte == b'-' { byte } else { byte.wrapping_sub(b'0') })
    else {
        return None;
    };
    let greatest = a.max(b).max(c).max(d).max(e).max(f).max(g).max(h);
    let pair = |tens: u8, ones: u8| u32::from(tens) * 10 + u32::from(ones);
    let (year, month, day) = (i64::from(pair(a, b) * 100 + pair(c, d)), pair(e, f), pair(g, h));
    // A sign is greater than a digit.
    if greatest > 9 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if day > 28 { last_days(year, month, day) } else { Some(days(year, month, day)) }
}

fn days(year: i64, month: u32, day: u32) -> i32 {
    // Four digits of a year stay far inside the range.
    days_from_civil(year, month, day) as i32
}

fn last_days(year: i64, month: u32, day: u32) -> Option<i32> {
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let found = days(year, month, day);
    (found < days(next_year, next_month, 1)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_types::{SqlType, Value, cast};

    #[test]
    fn the_first_of_three_bytes_is_found_anywhere() {
        for length in 0..40 {
            let plain = vec![0x80u8 | b','; length];
            assert_eq!(find(&plain, *b",\n\r"), length);
            for at in 0..length {
                for byte in *b",\n\r" {
                    let mut bytes = plain.clone();
                    bytes[at] = byte;
                    bytes[length - 1] = if at == length - 1 { byte } else { b'\n' };
                    assert_eq!(find(&bytes, *b",\n\r"), at, "{bytes:?}");
                }
            }
        }
    }

    /// Each gives what the cast gives, or nothing.
    #[test]
    fn what_is_read_is_what_a_cast_reads() {
        let texts = [
            "0",
            "-0",
            "7",
            "-12",
            "+3",
            "",
            "-",
            "1x",
            " 1",
            "999999999999999999",
            "9999999999999999999",
            "1.5",
            ".5",
            "5.",
            "-.5",
            "-0.05",
            "12.345",
            "9999999999999.99",
            "99999999999999.99",
            "1e3",
            "1.2.3",
            "2024-02-29",
            "2023-02-29",
            "2024-12-31",
            "2024-04-31",
            "0001-01-01",
            "9999-12-31",
            "2024-13-01",
            "2024-00-10",
            "2024-1-01",
            "2024-01-00",
            "2024/01/01",
            "-024-01-01",
            "20240-01-0",
        ];
        let mut read = 0;
        for text in texts {
            let value = |ty| cast(&Value::Text(text.to_owned()), ty).ok();
            let decimal_type = SqlType::decimal(15, 2);
            let limit = 10i64.pow(15);
            for (found, expected) in [
                (integer(text.as_bytes()).map(Value::Int), value(SqlType::BigInt)),
                (date(text.as_bytes()).map(Value::Date), value(SqlType::Date)),
                (
                    decimal(text.as_bytes(), 2, limit)
                        .map(|unscaled| Value::Decimal { unscaled: i128::from(unscaled), scale: 2 }),
                    value(decimal_type),
                ),
            ] {
                if found.is_some() {
                    assert_eq!(found, expected, "{text}");
                    read += 1;
                }
            }
        }
        assert_eq!(read, 17, "the plain ones are read");
    }
}
