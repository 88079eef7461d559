//! Finding a key among the cells of a page.

use super::node::{compare, count, leaf_key, slot};
use crate::format::get_u16;
use crate::format::inner::HEADER_BYTES as INNER_HEADER_BYTES;
use crate::format::leaf::HEADER_BYTES as LEAF_HEADER_BYTES;
use crate::pager::PageBytes;
use std::cmp::Ordering;

/// A key to search a page for, with its first eight bytes as a number. A page's keys are
/// compared by theirs, one load each, before anything else is looked at: most end there.
struct Probe<'a> {
    key: &'a [u8],
    head: u64,
}

impl<'a> Probe<'a> {
    #[inline]
    fn new(key: &'a [u8]) -> Self {
        let head = match (key.first_chunk(), <[u8; 4]>::try_from(key)) {
            (Some(eight), _) => u64::from_le_bytes(*eight),
            (None, Ok(four)) => u64::from(u32::from_le_bytes(four)),
            _ => short_head(key),
        };
        Self { key, head }
    }
}

/// The head of a key of fewer than eight bytes: zeros stand for those it lacks.
fn short_head(key: &[u8]) -> u64 {
    key.iter().take(8).rev().fold(0, |head, byte| head << 8 | u64::from(*byte))
}

/// The order of the key `header` bytes into the cell at `index` and the probe, as
/// [`compare`] has it. `N` is the header and eight bytes.
///
/// Where heads differ they order the keys, the first byte being the lowest of the number:
/// a zero that stands for a missing byte is below what the longer key has there. Where
/// they are equal and one key has no more than eight bytes, it is the other's prefix.
#[expect(clippy::inline_always, reason = "four places in all, and a call costs as much as the comparison")]
#[inline(always)]
fn order<const N: usize>(bytes: &PageBytes, index: usize, probe: &Probe<'_>) -> Ordering {
    let at = slot(bytes, index);
    let Some((cell, _)) = bytes.get(at..).and_then(<[u8]>::split_first_chunk::<N>) else {
        return order_at_end(bytes, at, N - 8, probe);
    };
    let length = usize::from(u16::from_le_bytes([cell[0], cell[1]]));
    let eight = cell.last_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
    let head = if length < 8 { eight & !(u64::MAX << (8 * length)) } else { eight };
    let difference = head ^ probe.head;
    if difference == 0 {
        return order_by_rest(bytes, at + N - 8, length, probe);
    }
    let shift = difference.trailing_zeros() & !7;
    ((head >> shift) as u8).cmp(&((probe.head >> shift) as u8))
}

/// As [`order`], of keys whose heads are equal.
#[inline]
fn order_by_rest(bytes: &PageBytes, at: usize, length: usize, probe: &Probe<'_>) -> Ordering {
    if length.min(probe.key.len()) <= 8 {
        return length.cmp(&probe.key.len());
    }
    bytes[at + 8..at + length].cmp(&probe.key[8..])
}

/// As [`order`], of a cell so close to the page's end that a head might lie outside.
#[cold]
fn order_at_end(bytes: &PageBytes, at: usize, header: usize, probe: &Probe<'_>) -> Ordering {
    let length = get_u16(bytes, at) as usize;
    compare(&bytes[at + header..at + header + length], probe.key)
}

/// Where a key is among a leaf's cells, or where it would go.
pub(crate) fn leaf(bytes: &PageBytes, key: &[u8]) -> Result<usize, usize> {
    let probe = Probe::new(key);
    let (mut low, mut high) = (0, count(bytes));
    let guess = if high > INTERPOLATED_CELLS_MIN { interpolate(bytes, key, high) } else { None };
    let mut is_guess = guess.is_some();
    let mut middle = guess.unwrap_or(high / 2);
    while low < high {
        let found = order::<{ LEAF_HEADER_BYTES + 8 }>(bytes, middle, &probe);
        match found {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Ok(middle),
        }
        middle = match found {
            // A neighbour is looked at before halving what is left: row numbers are close
            // to evenly spread.
            Ordering::Less if is_guess => low,
            Ordering::Greater if is_guess => high.saturating_sub(1),
            _ => usize::midpoint(low, high),
        };
        is_guess = false;
    }
    Err(low)
}

/// Cells up to which halving is as good as guessing.
const INTERPOLATED_CELLS_MIN: usize = 16;

/// Where an integer key would be if a leaf's keys were evenly spread.
#[inline]
fn interpolate(bytes: &PageBytes, key: &[u8], count: usize) -> Option<usize> {
    let (first, last) = (leaf_key(bytes, 0), leaf_key(bytes, count - 1));
    if first.len() != key.len() || last.len() != key.len() {
        return None;
    }
    let (first, last, key) = (integer(first)?, integer(last)?, integer(key)?);
    // A page has fewer than 2^12 cells: the product stays below 2^64.
    let span = last.checked_sub(first).filter(|span| *span > 0 && *span < 1 << 52)?;
    let distance = key.saturating_sub(first).min(span);
    Some((distance * (count as u64 - 1) / span) as usize)
}

/// A key of one integer column as a number of the same order.
#[inline]
fn integer(key: &[u8]) -> Option<u64> {
    match key.len() {
        8 => key.try_into().ok().map(u64::from_be_bytes),
        4 => key.try_into().ok().map(|bytes| u64::from(u32::from_be_bytes(bytes))),
        _ => None,
    }
}

/// As [`leaf`], trying the end first: ascending insertion always lands there.
#[inline]
pub(crate) fn leaf_for_insert(bytes: &PageBytes, key: &[u8]) -> Result<usize, usize> {
    let count = count(bytes);
    if count > 0 && compare(leaf_key(bytes, count - 1), key) == Ordering::Less {
        return Err(count);
    }
    leaf(bytes, key)
}

/// The child that has a key, if any has: the last whose separator is not above it.
pub(crate) fn inner(bytes: &PageBytes, key: &[u8]) -> usize {
    let probe = Probe::new(key);
    let (mut low, mut high) = (1, count(bytes));
    while low < high {
        let middle = usize::midpoint(low, high);
        if order::<{ INNER_HEADER_BYTES + 8 }>(bytes, middle, &probe) == Ordering::Greater {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low - 1
}

#[cfg(test)]
mod tests {
    use super::super::node::{fill_leaf_cell, initialize, inner_cell, insert_cell, push};
    use super::*;
    use crate::PageId;
    use crate::format::{PAGE_BYTES, kind};

    #[test]
    fn guessing_finds_what_halving_finds() {
        for spread in [|n: u64| n, |n: u64| n * n * n, |n: u64| if n < 100 { n } else { n << 40 }, |n: u64| n * 77 + 5]
        {
            let mut bytes = Box::new([0; PAGE_BYTES]);
            initialize(&mut bytes, kind::LEAF, 0);
            let keys: Vec<[u8; 8]> = (0..200).map(|n| spread(n).to_be_bytes()).collect();
            for (index, key) in keys.iter().enumerate() {
                fill_leaf_cell(insert_cell(&mut bytes, index, LEAF_HEADER_BYTES + key.len() + 1), key, b"v");
            }
            for probe in (0..205u64).flat_map(|n| [spread(n), spread(n).wrapping_add(1), spread(n).wrapping_sub(1)]) {
                let probe = probe.to_be_bytes();
                assert_eq!(leaf(&bytes, &probe), keys.binary_search(&probe));
            }
        }
    }

    /// Keys of all lengths, of which many share their first bytes with others.
    fn keys_of_all_lengths() -> Vec<Vec<u8>> {
        let mut keys = vec![Vec::new()];
        for length in 1..=19 {
            for last in [0, 1, 0x7f, 0x80, 0xff] {
                let mut key = vec![0x61; length];
                key[length - 1] = last;
                keys.push(key.clone());
                key[length / 2] = 0;
                keys.push(key);
            }
        }
        keys.sort();
        keys.dedup();
        keys
    }

    #[test]
    fn keys_of_any_length_are_found_as_their_bytes_order_them() {
        let keys = keys_of_all_lengths();
        for present in [0, 1] {
            let (mut bytes, mut inner_bytes) = (Box::new([0; PAGE_BYTES]), Box::new([0; PAGE_BYTES]));
            initialize(&mut bytes, kind::LEAF, 0);
            initialize(&mut inner_bytes, kind::INNER, 1);
            let there: Vec<&Vec<u8>> = keys.iter().skip(present).step_by(2).collect();
            push(&mut inner_bytes, &inner_cell(b"not looked at", PageId(1), 1));
            for (index, key) in there.iter().enumerate() {
                // Without a value, so that the first cell's key ends where the page does.
                fill_leaf_cell(insert_cell(&mut bytes, index, LEAF_HEADER_BYTES + key.len()), key, b"");
                push(&mut inner_bytes, &inner_cell(key, PageId(1), 1));
            }
            for key in &keys {
                assert_eq!(leaf(&bytes, key), there.binary_search(&key), "{key:?}");
                assert_eq!(inner(&inner_bytes, key), there.partition_point(|other| *other <= key), "{key:?}");
            }
        }
    }
}
