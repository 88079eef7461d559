//! Adding an entry or replacing its value; splitting pages.

use super::path::Path;
use super::{Root, node, search};
use crate::format::{KEY_BYTES_MAX, LEVELS_MAX, PAGE_BYTES, VALUE_BYTES_MAX, kind, leaf};
use crate::pager::{PageBytes, Pager};
use crate::{Error, PageId, Result};

/// What to do if the key exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Replace its value.
    Put,
    /// Leave it.
    Insert,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Added,
    Replaced,
    Kept,
}

/// Whether a tree accepts an entry at all; nothing has been touched.
pub(crate) fn check_lengths(key: &[u8], value: &[u8]) -> Result<()> {
    if key.len() > KEY_BYTES_MAX {
        return Err(Error::KeyTooLong { bytes: key.len(), bytes_max: KEY_BYTES_MAX });
    }
    if value.len() > VALUE_BYTES_MAX {
        return Err(Error::ValueTooLong { bytes: value.len(), bytes_max: VALUE_BYTES_MAX });
    }
    Ok(())
}

/// Whether an entry's value stays in its leaf.
pub(super) fn is_inline(key: &[u8], value: &[u8]) -> bool {
    leaf::HEADER_BYTES + key.len() + value.len() <= leaf::CELL_BYTES_MAX
}

/// The cell of an entry, its overflow chain written.
pub(super) fn leaf_cell(pager: &mut Pager, key: &[u8], value: &[u8]) -> Result<Vec<u8>> {
    if is_inline(key, value) {
        let mut cell = vec![0; leaf::HEADER_BYTES + key.len() + value.len()];
        node::fill_leaf_cell(&mut cell, key, value);
        return Ok(cell);
    }
    let first = pager.write_chain(value)?;
    Ok(node::overflow_cell(key, first, value.len() as u64))
}

/// Sets the value of a key.
pub(crate) fn put(pager: &mut Pager, root: &mut Root, key: &[u8], value: &[u8], mode: Mode) -> Result<Outcome> {
    check_lengths(key, value)?;
    if root.is_empty() {
        let cell = leaf_cell(pager, key, value)?;
        let page = pager.new_page(kind::LEAF, 0)?;
        node::push(pager.page_mut(page)?, &cell);
        *root = Root { page, level: 0, entries: 1 };
        return Ok(Outcome::Added);
    }
    let mut path = Path::find(pager, root, key)?;
    let found = search::leaf_for_insert(&pager.page(path.leaf())?.bytes, key);
    match found {
        Ok(_) if mode == Mode::Insert => Ok(Outcome::Kept),
        Ok(index) => {
            path.make_writable(pager, root)?;
            replace(pager, root, &path, index, key, value)?;
            Ok(Outcome::Replaced)
        }
        Err(index) => {
            path.make_writable(pager, root)?;
            path.add_entries(pager, 1)?;
            root.entries += 1;
            let cell_bytes = leaf::HEADER_BYTES + key.len() + value.len();
            if is_inline(key, value) {
                let bytes = pager.page_mut(path.leaf())?;
                if node::fits(bytes, cell_bytes) {
                    node::fill_leaf_cell(node::insert_cell(bytes, index, cell_bytes), key, value);
                    return Ok(Outcome::Added);
                }
            }
            let cell = leaf_cell(pager, key, value)?;
            insert_cell(pager, root, &path, path.last, index, &cell)?;
            Ok(Outcome::Added)
        }
    }
}

/// What became of a value to rewrite.
pub(crate) enum Rewrite {
    /// There is no such key.
    Missing,
    /// The caller left it as it was.
    Kept,
    /// The new value is made, and goes here.
    Made(Place),
}

/// Where a value that exists is.
pub(crate) struct Place {
    path: Path,
    index: usize,
}

/// Calls `make` with the value of a key and the buffer for the one that takes its place;
/// [`put_at`] puts it there. So one search does for reading and changing. Where `make`
/// says `false`, nothing is to be changed.
pub(crate) fn rewrite(
    pager: &mut Pager,
    root: &Root,
    key: &[u8],
    value: &mut Vec<u8>,
    make: &mut dyn FnMut(&[u8], &mut Vec<u8>) -> bool,
) -> Result<Rewrite> {
    value.clear();
    if root.is_empty() {
        return Ok(Rewrite::Missing);
    }
    let path = Path::find(pager, root, key)?;
    let leaf = &pager.page(path.leaf())?.bytes;
    let Ok(index) = search::leaf(leaf, key) else { return Ok(Rewrite::Missing) };
    let made = match node::leaf_cell(leaf, index).1 {
        node::CellValue::Inline(old) => make(old, value),
        node::CellValue::Overflow { first, bytes } => {
            let mut old = Vec::new();
            super::read_chain(pager, first, bytes, &mut old)?;
            make(&old, value)
        }
    };
    if !made {
        return Ok(Rewrite::Kept);
    }
    check_lengths(key, value)?;
    Ok(Rewrite::Made(Place { path, index }))
}

/// Replaces the value of `key`, which is at `place`; the tree has not been changed since
/// it was found.
pub(crate) fn put_at(pager: &mut Pager, root: &mut Root, mut place: Place, key: &[u8], value: &[u8]) -> Result<()> {
    place.path.make_writable(pager, root)?;
    replace(pager, root, &place.path, place.index, key, value)
}

fn replace(pager: &mut Pager, root: &mut Root, path: &Path, index: usize, key: &[u8], value: &[u8]) -> Result<()> {
    if is_inline(key, value) {
        let bytes = pager.page_mut(path.leaf())?;
        if node::replace_value(bytes, index, value) {
            return Ok(());
        }
        let cell_bytes = leaf::HEADER_BYTES + key.len() + value.len();
        if !node::overflows(bytes, index) && node::fits_instead(bytes, index, cell_bytes) {
            node::remove_cell(bytes, index);
            node::fill_leaf_cell(node::insert_cell(bytes, index, cell_bytes), key, value);
            return Ok(());
        }
    }
    free_value(pager, path.leaf(), index)?;
    let cell = leaf_cell(pager, key, value)?;
    let bytes = pager.page_mut(path.leaf())?;
    if node::replace_cell(bytes, index, &cell) {
        return Ok(());
    }
    node::remove_cell(bytes, index);
    insert_cell(pager, root, path, path.last, index, &cell)
}

/// Frees the overflow chain of a cell, if it has one.
pub(super) fn free_value(pager: &mut Pager, leaf: PageId, index: usize) -> Result<()> {
    let (first, bytes) = match node::leaf_cell(&pager.page(leaf)?.bytes, index).1 {
        node::CellValue::Inline(_) => return Ok(()),
        node::CellValue::Overflow { first, bytes } => (first, bytes),
    };
    free_chain(pager, first, bytes)
}

pub(super) fn free_chain(pager: &mut Pager, first: PageId, bytes: u64) -> Result<()> {
    let mut pages = Vec::new();
    pager.walk_chain(first, bytes, &mut |page, _| pages.push(page))?;
    // A damaged chain may name a page twice; freeing it twice would break ALLOC-1.
    let length = pages.len();
    pages.sort_unstable();
    pages.dedup();
    if pages.len() != length {
        return Err(Error::corrupt(first.0, "an overflow chain runs in a circle"));
    }
    for page in pages {
        pager.free_page(page);
    }
    Ok(())
}

/// Puts a cell into the page at `step` of a writable path, splitting it if it is full.
/// The entry counts of the path include the new cell's already.
fn insert_cell(pager: &mut Pager, root: &mut Root, path: &Path, step: usize, index: usize, cell: &[u8]) -> Result<()> {
    let page = path.pages[step];
    let bytes = pager.page_mut(page)?;
    if node::fits(bytes, cell.len()) {
        node::insert_cell(bytes, index, cell.len()).copy_from_slice(cell);
        return Ok(());
    }
    let old = *bytes;
    let level = node::level(&old);
    let page_kind = if level == 0 { kind::LEAF } else { kind::INNER };
    let split = split_point(&old, path, index, cell.len());
    let right = pager.new_page(page_kind, level)?;

    let cells = Cells { old: &old, index, cell };
    if split < node::count(&old) || index < split {
        let bytes = pager.page_mut(page)?;
        node::initialize(bytes, page_kind, level);
        (0..split).for_each(|at| node::push(bytes, cells.get(at)));
    }
    let left_entries = node::total_entries(&pager.page(page)?.bytes);
    let bytes = pager.page_mut(right)?;
    (split..=node::count(&old)).for_each(|at| node::push(bytes, cells.get(at)));
    let right_entries = node::total_entries(bytes);

    let separator = if level == 0 {
        node::separator(cell_key(cells.get(split - 1), level), cell_key(cells.get(split), level)).to_vec()
    } else {
        cell_key(cells.get(split), level).to_vec()
    };
    let up = node::inner_cell(&separator, right, right_entries);
    if step > 0 {
        let parent_cell = path.cells[step - 1] as usize;
        node::set_entries(pager.page_mut(path.pages[step - 1])?, parent_cell, left_entries);
        return insert_cell(pager, root, path, step - 1, parent_cell + 1, &up);
    }
    if level as usize + 1 >= LEVELS_MAX {
        return Err(Error::TooLarge("tree"));
    }
    let new_root = pager.new_page(kind::INNER, level + 1)?;
    let bytes = pager.page_mut(new_root)?;
    node::push(bytes, &node::inner_cell(&[], page, left_entries));
    node::push(bytes, &up);
    root.page = new_root;
    root.level = level + 1;
    Ok(())
}

/// A full page's cells with the new one among them.
struct Cells<'a> {
    old: &'a PageBytes,
    index: usize,
    cell: &'a [u8],
}

impl<'a> Cells<'a> {
    fn get(&self, at: usize) -> &'a [u8] {
        match at.cmp(&self.index) {
            std::cmp::Ordering::Less => node::cell(self.old, at),
            std::cmp::Ordering::Equal => self.cell,
            std::cmp::Ordering::Greater => node::cell(self.old, at - 1),
        }
    }
}

fn cell_key(cell: &[u8], level: u8) -> &[u8] {
    let header = if level == 0 { leaf::HEADER_BYTES } else { crate::format::inner::HEADER_BYTES };
    let length = crate::format::get_u16(cell, 0) as usize;
    &cell[header..header + length]
}

/// How many cells, counting the new one, stay left. Entries that come in ascending
/// order at the tree's end leave full pages behind; the like at its beginning.
fn split_point(old: &PageBytes, path: &Path, index: usize, cell_bytes: usize) -> usize {
    let count = node::count(old);
    if path.rightmost && index == count {
        return count;
    }
    if path.leftmost && index == 0 {
        return 1;
    }
    let half = (node::used_bytes(old) + node::SLOT_BYTES + cell_bytes) / 2;
    let mut left = 0;
    for at in 0..=count {
        let bytes = match at.cmp(&index) {
            std::cmp::Ordering::Less => node::cell(old, at).len(),
            std::cmp::Ordering::Equal => cell_bytes,
            std::cmp::Ordering::Greater => node::cell(old, at - 1).len(),
        };
        left += node::SLOT_BYTES + bytes;
        if left >= half {
            // The cell that crosses the middle goes where it makes the halves more alike;
            // no cell is over a quarter page, so both sides fit.
            let crosses_more_than_half = (left - half) * 2 > node::SLOT_BYTES + bytes;
            return (at + usize::from(!crosses_more_than_half)).clamp(1, count);
        }
    }
    count.max(1)
}

const _: () = assert!(leaf::CELL_BYTES_MAX * 4 + 4 * node::SLOT_BYTES <= PAGE_BYTES - crate::format::page::SLOTS);
