//! What a build side tells the scans of the probe side about its keys.

use crate::execution::interner::Interner;
use crate::execution::keys::{Bounds, KeyColumn, KeyWords};
use crate::source::KeyFilter;
use gingham_types::{DECIMAL64_DIGITS_MAX, SqlType};
use std::sync::Arc;

/// A bitmap has at most this many bits (4 MiB) …
const BITS_MAX: u128 = 1 << 25;
/// … and, past the first 64 Ki, at most this many a row: an emptier one takes longer to
/// clear than it saves.
const BITS_PER_ROW_MAX: u128 = 1024;
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

fn bitmap(words: &[i64], valid: Option<&[bool]>, bounds: Bounds, bytes_max: usize) -> Option<Arc<Vec<u64>>> {
    let count = bounds.count();
    if count > BITS_MAX.min(bytes_max as u128).min((words.len() as u128 * BITS_PER_ROW_MAX).max(1 << 16)) {
        return None;
    }
    let mut bits = vec![0u64; (count as usize).div_ceil(64)];
    for (row, word) in words.iter().enumerate() {
        if valid.is_none_or(|v| v[row]) {
            let bit = word.wrapping_sub(bounds.min) as u64;
            bits[(bit / 64) as usize] |= 1 << (bit % 64);
        }
    }
    Some(Arc::new(bits))
}
