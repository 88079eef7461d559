//! The slotted page of leaves and inner pages: reading, adding and removing cells.
//!
//! Slots grow up from the header, cells grow down from the end. All functions expect a
//! page that passed [`verify`] or was made by [`initialize`].

use crate::PageId;
use crate::format::{
    LEVELS_MAX, PAGE_BYTES, get_u16, get_u32, get_u64, inner, kind, leaf, page, set_u16, set_u32, set_u64,
};
use crate::pager::PageBytes;
use std::cmp::Ordering;

/// Bytes of a page for slots and cells.
pub(crate) const CAPACITY_BYTES: usize = PAGE_BYTES - page::SLOTS;

/// Bytes of a slot.
pub(crate) const SLOT_BYTES: usize = 2;

/// The value of a leaf's cell.
pub(crate) enum CellValue<'a> {
    /// In the cell.
    Inline(&'a [u8]),
    /// In a chain of overflow pages.
    Overflow {
        /// The chain's first page.
        first: PageId,
        /// Bytes of the value.
        bytes: u64,
    },
}

pub(crate) fn initialize(bytes: &mut PageBytes, page_kind: u8, level: u8) {
    bytes[..page::SLOTS].fill(0);
    bytes[page::KIND] = page_kind;
    bytes[page::LEVEL] = level;
    set_u16(bytes, page::CONTENT_START, PAGE_BYTES as u16);
}

#[inline]
pub(crate) fn level(bytes: &PageBytes) -> u8 {
    bytes[page::LEVEL]
}

#[inline]
pub(crate) fn is_leaf(bytes: &PageBytes) -> bool {
    bytes[page::KIND] == kind::LEAF
}

#[inline]
pub(crate) fn count(bytes: &PageBytes) -> usize {
    get_u16(bytes, page::COUNT) as usize
}

#[inline]
pub(super) fn slot(bytes: &PageBytes, index: usize) -> usize {
    get_u16(bytes, page::SLOTS + index * SLOT_BYTES) as usize
}

#[inline]
pub(crate) fn leaf_key(bytes: &PageBytes, index: usize) -> &[u8] {
    let at = slot(bytes, index);
    let length = get_u16(bytes, at + leaf::KEY_BYTES) as usize;
    &bytes[at + leaf::HEADER_BYTES..at + leaf::HEADER_BYTES + length]
}

#[inline]
pub(crate) fn leaf_cell(bytes: &PageBytes, index: usize) -> (&[u8], CellValue<'_>) {
    let at = slot(bytes, index);
    let key_bytes = get_u16(bytes, at + leaf::KEY_BYTES) as usize;
    let value_bytes = get_u16(bytes, at + leaf::VALUE_BYTES);
    let key_at = at + leaf::HEADER_BYTES;
    let value_at = key_at + key_bytes;
    let key = &bytes[key_at..value_at];
    if value_bytes == leaf::OVERFLOWS {
        let first = PageId(get_u32(bytes, value_at));
        (key, CellValue::Overflow { first, bytes: get_u64(bytes, value_at + 4) })
    } else {
        (key, CellValue::Inline(&bytes[value_at..value_at + value_bytes as usize]))
    }
}

#[inline]
pub(crate) fn inner_key(bytes: &PageBytes, index: usize) -> &[u8] {
    let at = slot(bytes, index);
    let length = get_u16(bytes, at + inner::KEY_BYTES) as usize;
    &bytes[at + inner::HEADER_BYTES..at + inner::HEADER_BYTES + length]
}

#[inline]
pub(crate) fn child(bytes: &PageBytes, index: usize) -> PageId {
    PageId(get_u32(bytes, slot(bytes, index) + inner::CHILD))
}

#[inline]
pub(crate) fn set_child(bytes: &mut PageBytes, index: usize, child: PageId) {
    let at = slot(bytes, index) + inner::CHILD;
    set_u32(bytes, at, child.0);
}

#[inline]
pub(crate) fn entries(bytes: &PageBytes, index: usize) -> u64 {
    get_u64(bytes, slot(bytes, index) + inner::ENTRIES)
}

#[inline]
pub(crate) fn set_entries(bytes: &mut PageBytes, index: usize, entries: u64) {
    let at = slot(bytes, index) + inner::ENTRIES;
    set_u64(bytes, at, entries);
}

/// Entries below or in a page.
pub(crate) fn total_entries(bytes: &PageBytes) -> u64 {
    if is_leaf(bytes) {
        count(bytes) as u64
    } else {
        // Wrapping: counts of a damaged page may be anything; the check reports them.
        (0..count(bytes)).fold(0, |sum: u64, index| sum.wrapping_add(entries(bytes, index)))
    }
}

/// The order of two keys: by bytes, the prefix first. Eight bytes are compared as one
/// number, which is all there is to keys of one integer column.
#[inline]
pub(crate) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    if let (Some((head_a, rest_a)), Some((head_b, rest_b))) = (a.split_first_chunk(), b.split_first_chunk()) {
        return u64::from_be_bytes(*head_a).cmp(&u64::from_be_bytes(*head_b)).then_with(|| rest_a.cmp(rest_b));
    }
    if let (Ok(a), Ok(b)) = (<[u8; 4]>::try_from(a), <[u8; 4]>::try_from(b)) {
        return u32::from_be_bytes(a).cmp(&u32::from_be_bytes(b));
    }
    a.cmp(b)
}

/// Bytes that can be added without compacting, a slot included.
#[inline]
fn contiguous_free(bytes: &PageBytes) -> usize {
    get_u16(bytes, page::CONTENT_START) as usize - page::SLOTS - count(bytes) * SLOT_BYTES
}

/// Bytes that slots and cells take.
#[inline]
pub(crate) fn used_bytes(bytes: &PageBytes) -> usize {
    CAPACITY_BYTES - contiguous_free(bytes) - get_u16(bytes, page::GARBAGE) as usize
}

/// Whether a cell of `cell_bytes` fits, perhaps after compacting.
#[inline]
pub(crate) fn fits(bytes: &PageBytes, cell_bytes: usize) -> bool {
    used_bytes(bytes) + SLOT_BYTES + cell_bytes <= CAPACITY_BYTES
}

/// The bytes of a cell.
pub(crate) fn cell(bytes: &PageBytes, index: usize) -> &[u8] {
    let at = slot(bytes, index);
    &bytes[at..at + cell_length(bytes, at)]
}

#[inline]
fn cell_length(bytes: &PageBytes, at: usize) -> usize {
    let key_bytes = get_u16(bytes, at) as usize;
    if is_leaf(bytes) {
        leaf::HEADER_BYTES + key_bytes + leaf_value_bytes(get_u16(bytes, at + leaf::VALUE_BYTES))
    } else {
        inner::HEADER_BYTES + key_bytes
    }
}

/// Bytes that the value of a leaf's cell takes there, by the cell's field.
#[inline]
const fn leaf_value_bytes(field: u16) -> usize {
    if field == leaf::OVERFLOWS { leaf::REFERENCE_BYTES } else { field as usize }
}

/// Makes room for a cell that [`fits`] and returns it to be filled.
#[inline]
pub(crate) fn insert_cell(bytes: &mut PageBytes, index: usize, cell_bytes: usize) -> &mut [u8] {
    if contiguous_free(bytes) < SLOT_BYTES + cell_bytes {
        compact(bytes);
    }
    let count = count(bytes);
    let start = get_u16(bytes, page::CONTENT_START) as usize - cell_bytes;
    let slot_at = page::SLOTS + index * SLOT_BYTES;
    bytes.copy_within(slot_at..page::SLOTS + count * SLOT_BYTES, slot_at + SLOT_BYTES);
    set_u16(bytes, slot_at, start as u16);
    set_u16(bytes, page::COUNT, (count + 1) as u16);
    set_u16(bytes, page::CONTENT_START, start as u16);
    &mut bytes[start..start + cell_bytes]
}

/// Overwrites a cell with one of the same length; `false` if the length differs.
pub(crate) fn replace_cell(bytes: &mut PageBytes, index: usize, new: &[u8]) -> bool {
    let at = slot(bytes, index);
    if cell_length(bytes, at) != new.len() {
        return false;
    }
    bytes[at..at + new.len()].copy_from_slice(new);
    true
}

/// Overwrites a leaf's inline value with one of the same length; `false` if the length differs.
pub(crate) fn replace_value(bytes: &mut PageBytes, index: usize, value: &[u8]) -> bool {
    let at = slot(bytes, index);
    if get_u16(bytes, at + leaf::VALUE_BYTES) as usize != value.len() {
        return false;
    }
    let value_at = at + leaf::HEADER_BYTES + get_u16(bytes, at + leaf::KEY_BYTES) as usize;
    bytes[value_at..value_at + value.len()].copy_from_slice(value);
    true
}

/// Whether the value of a leaf's cell is in a chain of overflow pages.
pub(crate) fn overflows(bytes: &PageBytes, index: usize) -> bool {
    get_u16(bytes, slot(bytes, index) + leaf::VALUE_BYTES) == leaf::OVERFLOWS
}

/// Whether a cell of `cell_bytes` fits in the place of another.
pub(crate) fn fits_instead(bytes: &PageBytes, index: usize, cell_bytes: usize) -> bool {
    used_bytes(bytes) - cell(bytes, index).len() + cell_bytes <= CAPACITY_BYTES
}

pub(crate) fn remove_cell(bytes: &mut PageBytes, index: usize) {
    let count = count(bytes);
    let at = slot(bytes, index);
    let length = cell_length(bytes, at);
    let start = get_u16(bytes, page::CONTENT_START) as usize;
    if at == start {
        set_u16(bytes, page::CONTENT_START, (start + length) as u16);
    } else {
        let garbage = get_u16(bytes, page::GARBAGE) as usize + length;
        set_u16(bytes, page::GARBAGE, garbage as u16);
    }
    let slot_at = page::SLOTS + index * SLOT_BYTES;
    bytes.copy_within(slot_at + SLOT_BYTES..page::SLOTS + count * SLOT_BYTES, slot_at);
    set_u16(bytes, page::COUNT, (count - 1) as u16);
    if count == 1 {
        set_u16(bytes, page::CONTENT_START, PAGE_BYTES as u16);
        set_u16(bytes, page::GARBAGE, 0);
    }
}

/// Makes the free space of a page one piece.
pub(crate) fn close_gaps(bytes: &mut PageBytes) {
    if get_u16(bytes, page::GARBAGE) > 0 {
        compact(bytes);
    }
}

/// Moves all cells to the end of the page, leaving no gaps.
fn compact(bytes: &mut PageBytes) {
    let old = *bytes;
    initialize(bytes, old[page::KIND], level(&old));
    for index in 0..count(&old) {
        push(bytes, cell(&old, index));
    }
}

/// Adds a cell that is known to fit behind the last one.
#[inline]
pub(crate) fn push(bytes: &mut PageBytes, cell: &[u8]) {
    let count = count(bytes);
    let start = get_u16(bytes, page::CONTENT_START) as usize - cell.len();
    bytes[start..start + cell.len()].copy_from_slice(cell);
    set_u16(bytes, page::SLOTS + count * SLOT_BYTES, start as u16);
    set_u16(bytes, page::COUNT, (count + 1) as u16);
    set_u16(bytes, page::CONTENT_START, start as u16);
}

/// Writes a leaf's cell with its value inline.
#[inline]
pub(crate) fn fill_leaf_cell(cell: &mut [u8], key: &[u8], value: &[u8]) {
    set_u16(cell, leaf::KEY_BYTES, key.len() as u16);
    set_u16(cell, leaf::VALUE_BYTES, value.len() as u16);
    let value_at = leaf::HEADER_BYTES + key.len();
    cell[leaf::HEADER_BYTES..value_at].copy_from_slice(key);
    cell[value_at..].copy_from_slice(value);
}

/// A leaf's cell whose value is a chain of overflow pages.
pub(crate) fn overflow_cell(key: &[u8], first: PageId, value_bytes: u64) -> Vec<u8> {
    let value_at = leaf::HEADER_BYTES + key.len();
    let mut cell = vec![0; value_at + leaf::REFERENCE_BYTES];
    set_u16(&mut cell, leaf::KEY_BYTES, key.len() as u16);
    set_u16(&mut cell, leaf::VALUE_BYTES, leaf::OVERFLOWS);
    cell[leaf::HEADER_BYTES..value_at].copy_from_slice(key);
    set_u32(&mut cell, value_at, first.0);
    set_u64(&mut cell, value_at + 4, value_bytes);
    cell
}

/// An inner page's cell.
pub(crate) fn inner_cell(key: &[u8], child: PageId, entries: u64) -> Vec<u8> {
    let mut cell = vec![0; inner::HEADER_BYTES + key.len()];
    set_u16(&mut cell, inner::KEY_BYTES, key.len() as u16);
    set_u32(&mut cell, inner::CHILD, child.0);
    set_u64(&mut cell, inner::ENTRIES, entries);
    cell[inner::HEADER_BYTES..].copy_from_slice(key);
    cell
}

/// The shortest key above `left` and not above `right`: what an inner page needs to
/// tell two children apart.
pub(crate) fn separator<'a>(left: &[u8], right: &'a [u8]) -> &'a [u8] {
    let shared = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    &right[..right.len().min(shared + 1)]
}

/// Checks that every slot and length stays inside the page.
pub(crate) fn verify(bytes: &PageBytes) -> Result<(), String> {
    let leaf_page = is_leaf(bytes);
    let (count, page_level) = (count(bytes), level(bytes) as usize);
    if leaf_page != (page_level == 0) || page_level >= LEVELS_MAX {
        return Err(format!("page of level {page_level}"));
    }
    let slots_end = page::SLOTS + count * SLOT_BYTES;
    let start = get_u16(bytes, page::CONTENT_START) as usize;
    if count == 0 || slots_end > start || start > PAGE_BYTES {
        return Err(format!("{count} cells above offset {start}"));
    }
    let header = if leaf_page { leaf::HEADER_BYTES } else { inner::HEADER_BYTES };
    let mut used = 0;
    for (index, slot) in bytes[page::SLOTS..slots_end].chunks_exact(SLOT_BYTES).enumerate() {
        let at = usize::from(u16::from_le_bytes([slot[0], slot[1]]));
        let outside = || Err(format!("cell {index} is outside the page"));
        if at < start || at + header > PAGE_BYTES {
            return outside();
        }
        let key_bytes = get_u16(bytes, at) as usize;
        let value_bytes = if leaf_page { leaf_value_bytes(get_u16(bytes, at + leaf::VALUE_BYTES)) } else { 0 };
        let length = header + key_bytes + value_bytes;
        if at + length > PAGE_BYTES {
            return outside();
        }
        if key_bytes > crate::format::KEY_BYTES_MAX {
            return Err(format!("key of cell {index} is too long"));
        }
        used += length;
    }
    // Cells that overlap would let a later change write outside the page.
    if used + get_u16(bytes, page::GARBAGE) as usize != PAGE_BYTES - start {
        return Err("cells overlap".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::search;

    fn leaf_with(keys: &[&[u8]]) -> Box<PageBytes> {
        let mut bytes = Box::new([0; PAGE_BYTES]);
        initialize(&mut bytes, kind::LEAF, 0);
        for key in keys {
            let index = search::leaf(&bytes, key).expect_err("keys are distinct");
            fill_leaf_cell(insert_cell(&mut bytes, index, leaf::HEADER_BYTES + key.len() + 1), key, b"v");
        }
        bytes
    }

    #[test]
    fn cells_are_kept_in_order_and_found() {
        let bytes = leaf_with(&[b"m", b"a", b"zz", b"b"]);
        assert_eq!(verify(&bytes), Ok(()));
        assert_eq!(search::leaf(&bytes, b"b"), Ok(1));
        assert_eq!(search::leaf(&bytes, b"z"), Err(3));
        assert_eq!(search::leaf_for_insert(&bytes, b"zzz"), Err(4));
    }

    #[test]
    fn removed_cells_give_their_bytes_back() {
        let mut bytes = leaf_with(&[b"a", b"b", b"c"]);
        let before = used_bytes(&bytes);
        remove_cell(&mut bytes, 1);
        assert_eq!(used_bytes(&bytes), before - SLOT_BYTES - leaf::HEADER_BYTES - 2);
        assert_eq!(verify(&bytes), Ok(()));
        remove_cell(&mut bytes, 0);
        remove_cell(&mut bytes, 0);
        assert_eq!(used_bytes(&bytes), 0);
    }

    #[test]
    fn separators_are_short() {
        assert_eq!(separator(b"apple", b"banana"), b"b");
        assert_eq!(separator(b"ab", b"abc"), b"abc");
        assert_eq!(separator(b"abcd", b"abdzzz"), b"abd");
    }

    #[test]
    fn integer_keys_compare_as_bytes_do() {
        for (a, b) in [(&[0u8; 8], &[0, 0, 0, 0, 0, 0, 0, 1]), (&[1, 0, 0, 0, 0, 0, 0, 0], &[0, 255, 0, 0, 0, 0, 0, 0])]
        {
            assert_eq!(compare(a, b), a.as_slice().cmp(b));
        }
        assert_eq!(compare(b"abcd", b"abcde"), Ordering::Less);
        assert_eq!(compare(b"abcdefgh", b"abcdefghi"), Ordering::Less);
        assert_eq!(compare(b"abcdefghz", b"abcdefgia"), Ordering::Less);
    }
}
