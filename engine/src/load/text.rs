//! Values of the plainest written form, straight from bytes. What is written otherwise is
//! left to [`gingham_types::cast`], which also tells what is wrong.

use gingham_types::days_from_civil;

/// So many digits always fit 64 bits.
const DIGITS_MAX: usize = 18;

/// Bytes of a date.
const DATE_BYTES: usize = 10;

/// Eight times the digit 0.
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

/// The position of the first byte that is one of three; the length if there is none.
pub(super) fn find(bytes: &[u8], wanted: [u8; 3]) -> usize {
    Places::new(bytes, wanted).next().unwrap_or(bytes.len())
}

/// The positions of all bytes that are one of three, in order.
///
/// A block is looked through at once: fields are short, and a search for each would cost more
/// than the bytes do.
#[derive(Debug)]
pub(super) struct Places<'a> {
    bytes: &'a [u8],
    wanted: [u8; 3],
    /// Where the next block begins.
    next: usize,
    /// A bit for each position in the block before it that has not been given yet.
    found: u64,
}

const BLOCK_BYTES: usize = u64::BITS as usize;

impl<'a> Places<'a> {
    pub(super) const fn new(bytes: &'a [u8], wanted: [u8; 3]) -> Self {
        Self { bytes, wanted, next: 0, found: 0 }
    }
}

impl Iterator for Places<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            let rest = self.bytes.get(self.next..).filter(|rest| !rest.is_empty())?;
            self.found = match rest.first_chunk::<BLOCK_BYTES>() {
                Some(block) => block::find(block, self.wanted),
                None => rest.iter().rev().fold(0, |found, byte| found << 1 | u64::from(self.wanted.contains(byte))),
            };
            self.next += BLOCK_BYTES;
        }
        let at = self.next - BLOCK_BYTES + self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        Some(at)
    }
}

/// Sixteen bytes at a time, in vector registers.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod block {
    use super::BLOCK_BYTES;
    use core::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_splat, u64x2, v128_or};

    #[inline]
    pub(super) fn find(block: &[u8; BLOCK_BYTES], wanted: [u8; 3]) -> u64 {
        let [a, b, c] = wanted.map(|byte| u8x16_splat(byte));
        let (words, _) = block.as_chunks::<16>();
        words.iter().rev().fold(0, |found, bytes| {
            let both = u128::from_le_bytes(*bytes);
            let word = u64x2(both as u64, (both >> 64) as u64);
            let mask = u8x16_bitmask(v128_or(v128_or(u8x16_eq(word, a), u8x16_eq(word, b)), u8x16_eq(word, c)));
            found << 16 | u64::from(mask)
        })
    }
}

/// Eight bytes at a time, in general registers.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod block {
    use super::BLOCK_BYTES;

    #[inline]
    pub(super) fn find(block: &[u8; BLOCK_BYTES], wanted: [u8; 3]) -> u64 {
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        // Brings the lowest bits of eight bytes together in the highest byte.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        let [a, b, c] = wanted.map(|byte| u64::from_le_bytes([byte; 8]));
        // The high bit of each byte that is 0, exactly: no carry leaves a byte.
        let zeros = |word: u64| !(((word & LOW) + LOW) | word | LOW);
        let (words, _) = block.as_chunks::<8>();
        words.iter().rev().fold(0, |found, bytes| {
            let word = u64::from_le_bytes(*bytes);
            let high = zeros(word ^ a) | zeros(word ^ b) | zeros(word ^ c);
            found << 8 | (high >> 7).wrapping_mul(GATHER) >> 56
        })
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

/// Eight digits, the first in the lowest byte, as numbers below 10 each; `None` if one is no digit.
#[inline]
fn checked(digits: u64) -> Option<u64> {
    // Sets the high bit of each byte above 9; one that carries has its own set.
    let above = digits | digits.wrapping_add(0x7676_7676_7676_7676);
    (above & 0x8080_8080_8080_8080 == 0).then_some(digits)
}

/// Each two of eight digits as a number, in the lower byte of 16 bits.
#[inline]
const fn pairs(digits: u64) -> u64 {
    (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff
}

/// The number of at most eight digits, all at once.
#[inline]
fn short_number(text: &[u8]) -> Option<i64> {
    let (Some(first), Some(last)) = (text.first(), text.last()) else { return Some(0) };
    let unused = u64::BITS - 8 * text.len() as u32;
    // The digits end with the word; a byte that two of the parts have is the same in both.
    let word = match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << unused | u64::from(u32::from_le_bytes(*last)) << 32
        }
        _ => {
            let middle = text.len() / 2;
            u64::from(*first) << unused
                | u64::from(text[middle]) << (unused + 8 * middle as u32)
                | u64::from(*last) << 56
        }
    };
    let pairs = pairs(checked(word ^ ZEROS << unused)?);
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some(((fours * 10_000 + (fours >> 32)) & 0xffff_ffff) as i64)
}

/// The number of at most [`DIGITS_MAX`] digits; `None` for any other byte.
#[inline]
fn number(text: &[u8]) -> Option<i64> {
    match text.len().checked_sub(8) {
        None | Some(0) => short_number(text),
        Some(high) => long_number(text, high),
    }
}

fn long_number(text: &[u8], high: usize) -> Option<i64> {
    let (high, low) = text.split_at(high);
    Some(number(high)? * 100_000_000 + short_number(low)?)
}

/// `[-]digits`, up to 18 of them.
#[inline]
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    let (negative, rest) = signed(text);
    if rest.is_empty() || rest.len() > DIGITS_MAX {
        return None;
    }
    let number = number(rest)?;
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
    let scale = usize::from(scale);
    // Most have all digits that their scale has.
    let usual = rest.len().wrapping_sub(scale + 1);
    let point = match rest.get(usual) {
        Some(b'.') => usual,
        _ => rest.iter().position(|byte| *byte == b'.').unwrap_or(rest.len()),
    };
    let (whole, fraction) = (&rest[..point], rest.get(point + 1..).unwrap_or_default());
    if whole.is_empty() || fraction.len() > scale || whole.len() + scale > DIGITS_MAX {
        return None;
    }
    let number = number(whole)? * POWERS_OF_TEN[scale] + number(fraction)? * POWERS_OF_TEN[scale - fraction.len()];
    (number < limit).then_some(if negative { -number } else { number })
}

/// Up to 10 to the power of [`DIGITS_MAX`].
const POWERS_OF_TEN: [i64; DIGITS_MAX + 1] = {
    let mut powers = [1; DIGITS_MAX + 1];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// `YYYY-MM-DD`; days of a month past the 28th are left to others.
#[inline]
pub(super) fn date(text: &[u8]) -> Option<i32> {
    let text: &[u8; DATE_BYTES] = text.try_into().ok()?;
    let [a, b, c, d, b'-', e, f, b'-', g, h] = *text else { return None };
    let pairs = pairs(checked(u64::from_le_bytes([a, b, c, d, e, f, g, h]) ^ ZEROS)?);
    let pair = |at: u32| (pairs >> (16 * at)) as u32 & 0xff;
    let (year, month, day) = (i64::from(pair(0) * 100 + pair(1)), pair(2), pair(3));
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
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
        for length in 0..150 {
            let plain = vec![0x80u8 | b','; length];
            assert_eq!(find(&plain, *b",\n\r"), length);
            for at in 0..length {
                for byte in *b",\n\r" {
                    let mut bytes = plain.clone();
                    bytes[at] = byte;
                    bytes[length - 1] = if at == length - 1 { byte } else { b'\n' };
                    assert_eq!(find(&bytes, *b",\n\r"), at, "{bytes:?}");
                    let all: Vec<usize> = Places::new(&bytes, *b",\n\r").collect();
                    let expected = if at == length - 1 { vec![at] } else { vec![at, length - 1] };
                    assert_eq!(all, expected, "{bytes:?}");
                }
            }
        }
    }

    /// Digits are read eight at a time: as a loop over them would, and no byte but a digit.
    #[test]
    fn numbers_of_any_length_are_read_and_nothing_else_is() {
        let mut random = 1u64;
        for length in 1..=DIGITS_MAX {
            for _ in 0..200 {
                let mut next = || {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (random >> 33) as usize
                };
                let mut text: Vec<u8> = (0..length).map(|_| b'0' + (next() % 10) as u8).collect();
                let expected = text.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
                assert_eq!(integer(&text), Some(expected), "{text:?}");
                let at = next() % length;
                for byte in [b'/', b':', b' ', b'.', 0, 0x7f, 0x80, 0xb0, 0xff] {
                    text[at] = byte;
                    assert_eq!(integer(&text), None, "{text:?}");
                }
                text[at] = b'.';
                let whole = text[..at].iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
                let fraction = text[at + 1..].iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
                let digits = length - 1 - at;
                let read = (at > 0 && digits <= 6 && at + 6 <= DIGITS_MAX)
                    .then(|| whole * 1_000_000 + fraction * 10i64.pow(6 - digits as u32));
                assert_eq!(decimal(&text, 6, i64::MAX), read, "{text:?}");
            }
        }
    }

    /// Every date there is in the plain form.
    #[test]
    fn dates_are_those_of_the_calendar() {
        let mut expected = days(1, 1, 1);
        for year in 1..=9999 {
            for month in 1..=12 {
                for day in 1..=31 {
                    let text = format!("{year:04}-{month:02}-{day:02}");
                    let Some(found) = date(text.as_bytes()) else {
                        assert!(day > 28, "{text}");
                        continue;
                    };
                    assert_eq!(found, expected, "{text}");
                    expected += 1;
                }
            }
        }
        assert_eq!(expected, days(10_000, 1, 1));
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
