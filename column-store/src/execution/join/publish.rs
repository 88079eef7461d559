//! What a build side tells the scans of the probe side about its keys.

use crate::execution::interner::Interner;
use crate::execution::keys::{Bounds, KeyColumn, KeyWords};
use crate::source::{KeyBits, KeyFilter};
use gingham_types::{DECIMAL64_DIGITS_MAX, SqlType};
use std::sync::Arc;

/// A set of keys has at most this many bits (4 MiB) …
const BITS_MAX: u64 = 1 << 25;
/// … and, past the first 64 Ki, at most this many a row: with so many hardly another key
/// shares a bit with one of the set, and clearing more takes longer than it saves.
const BITS_PER_ROW_MAX: u64 = 1024;
/// Integers are listed for look-ups up to this many: putting them in order takes a tenth
/// of a millisecond.
const INTEGERS_MAX: usize = 4096;
/// Sets of strings up to this size are worth comparing with.
const TEXTS_MAX: usize = 1024;

/// The filter over one key: `column` is its first column in `keys`. A bitmap takes an
/// eighth of `bytes_max` at most.
pub(super) fn key_filter(
    key: &KeyColumn,
    keys: &KeyWords,
    column: usize,
    null_equal: bool,
    bytes_max: usize,
) -> KeyFilter {
    let (words, valid) = (&keys.words[column], keys.valid[column].as_deref());
    let bounds = Bounds::of(words, valid);
    if null_equal && bounds.nulls {
        return KeyFilter::Everything;
    }
    if bounds.min > bounds.max {
        return KeyFilter::Nothing;
    }
    match key.ty {
        SqlType::Text | SqlType::Blob => key.interner.as_ref().map_or(KeyFilter::Everything, texts),
        SqlType::Decimal { precision, .. } if precision > DECIMAL64_DIGITS_MAX => KeyFilter::Everything,
        SqlType::Integer | SqlType::BigInt | SqlType::Date | SqlType::Timestamp | SqlType::Decimal { .. } => {
            KeyFilter::Integers { min: bounds.min, max: bounds.max, bits: bitmap(words, valid, bounds, bytes_max) }
        }
        _ => KeyFilter::Everything,
    }
}

/// The keys one by one, if they are integer-like and few enough to be looked up.
pub(super) fn listed_integers(key: &KeyColumn, keys: &KeyWords, column: usize) -> Option<Vec<i64>> {
    let (words, valid) = (&keys.words[column], keys.valid[column].as_deref());
    let is_listed = words.len() <= INTEGERS_MAX && key.width() == 1 && key.interner.is_none();
    is_listed.then(|| {
        let is_valid = |row: usize| valid.is_none_or(|v| v[row]);
        let mut list: Vec<i64> = (0..words.len()).filter(|row| is_valid(*row)).map(|row| words[row]).collect();
        list.sort_unstable();
        list.dedup();
        list
    })
}

/// The filter over one key of which only the bounds are known.
pub(super) fn bounds_filter(ty: SqlType, bounds: Bounds, null_equal: bool) -> KeyFilter {
    let integers =
        matches!(ty, SqlType::Integer | SqlType::BigInt | SqlType::Date | SqlType::Timestamp | SqlType::Decimal { .. });
    if !integers || KeyColumn::new(ty).width() > 1 || (null_equal && bounds.nulls) {
        return KeyFilter::Everything;
    }
    if bounds.min > bounds.max {
        return KeyFilter::Nothing;
    }
    KeyFilter::Integers { min: bounds.min, max: bounds.max, bits: None }
}

fn texts(interner: &Interner) -> KeyFilter {
    let strings = interner.strings();
    if strings.len() > TEXTS_MAX {
        return KeyFilter::Everything;
    }
    let mut texts: Vec<Vec<u8>> = (0..strings.len() as u32).map(|code| strings.get(code).to_vec()).collect();
    texts.sort_unstable();
    KeyFilter::Texts(Arc::new(texts))
}

fn bitmap(words: &[i64], valid: Option<&[bool]>, bounds: Bounds, bytes_max: usize) -> Option<Arc<KeyBits>> {
    let rows = words.len() as u64;
    let bits_max = rows.saturating_mul(BITS_PER_ROW_MAX).clamp(1 << 16, BITS_MAX).min(bytes_max as u64).max(64);
    let greatest = bounds.max.wrapping_sub(bounds.min) as u64;
    let bits = 64 - greatest.leading_zeros();
    let shift = bits.saturating_sub(bits_max.ilog2());
    // With fewer than eight bits a row too much would pass to be worth a test.
    if rows.saturating_mul(8) > greatest >> shift && shift > 0 {
        return None;
    }
    let mut set = KeyBits::new(greatest, shift);
    for (row, word) in words.iter().enumerate() {
        if valid.is_none_or(|v| v[row]) {
            set.insert(word.wrapping_sub(bounds.min) as u64);
        }
    }
    Some(Arc::new(set))
}
