//! Counting the entries of a range by the counts in inner pages: two ways down, one for
//! each bound, that look at nothing but what lies between them.

use super::{Root, node, search};
use crate::pager::{PageBytes, Pager};
use crate::{PageId, Result};
use std::ops::Bound;

/// One end of a range, as a place among the entries of a page.
#[derive(Clone, Copy)]
enum End<'k> {
    /// Before everything.
    First,
    /// Behind everything.
    Last,
    /// Before the key, or with `true` behind it.
    At(&'k [u8], bool),
}

impl End<'_> {
    /// The cell of an inner page in which the end lies.
    fn cell(self, bytes: &PageBytes) -> usize {
        match self {
            Self::First => 0,
            Self::Last => node::count(bytes).saturating_sub(1),
            Self::At(key, _) => search::inner(bytes, key),
        }
    }

    /// Cells of a leaf before the end.
    fn position(self, bytes: &PageBytes) -> u64 {
        let cells = match self {
            Self::First => 0,
            Self::Last => node::count(bytes),
            Self::At(key, behind) => match search::leaf(bytes, key) {
                Ok(cell) => cell + usize::from(behind),
                Err(cell) => cell,
            },
        };
        cells as u64
    }
}

/// Entries between two bounds; none where they are the wrong way round.
pub(crate) fn count_range(pager: &mut Pager, root: &Root, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<u64> {
    if root.is_empty() {
        return Ok(0);
    }
    let lower = match lower {
        Bound::Unbounded => End::First,
        Bound::Included(key) => End::At(key, false),
        Bound::Excluded(key) => End::At(key, true),
    };
    let upper = match upper {
        Bound::Unbounded => End::Last,
        Bound::Included(key) => End::At(key, true),
        Bound::Excluded(key) => End::At(key, false),
    };
    if let (End::First, End::Last) = (lower, upper) {
        return Ok(root.entries);
    }
    let (mut page, mut level) = (root.page, root.level);
    while level > 0 {
        let bytes = &pager.tree_page(page, level)?.bytes;
        let (from, to) = (lower.cell(bytes), upper.cell(bytes));
        level -= 1;
        if from == to {
            page = node::child(bytes, from);
            continue;
        }
        if from > to {
            return Ok(0);
        }
        let between = sum(bytes, from + 1..to);
        let (first, last) = (node::child(bytes, from), node::child(bytes, to));
        let behind = count_behind(pager, first, level, lower)?;
        return Ok(between.wrapping_add(behind).wrapping_add(count_before(pager, last, level, upper)?));
    }
    let bytes = &pager.tree_page(page, 0)?.bytes;
    Ok(upper.position(bytes).saturating_sub(lower.position(bytes)))
}

/// Entries of a subtree before an end.
fn count_before(pager: &mut Pager, mut page: PageId, mut level: u8, end: End<'_>) -> Result<u64> {
    let mut before = 0u64;
    while level > 0 {
        let bytes = &pager.tree_page(page, level)?.bytes;
        let cell = end.cell(bytes);
        before = before.wrapping_add(sum(bytes, 0..cell));
        page = node::child(bytes, cell);
        level -= 1;
    }
    Ok(before.wrapping_add(end.position(&pager.tree_page(page, 0)?.bytes)))
}

/// Entries of a subtree behind an end.
fn count_behind(pager: &mut Pager, mut page: PageId, mut level: u8, end: End<'_>) -> Result<u64> {
    let mut behind = 0u64;
    while level > 0 {
        let bytes = &pager.tree_page(page, level)?.bytes;
        let cell = end.cell(bytes);
        behind = behind.wrapping_add(sum(bytes, cell + 1..node::count(bytes)));
        page = node::child(bytes, cell);
        level -= 1;
    }
    let bytes = &pager.tree_page(page, 0)?.bytes;
    Ok(behind.wrapping_add(node::count(bytes) as u64 - end.position(bytes)))
}

/// Entries below some cells of an inner page. Wrapping, for a damaged page may say
/// anything; the check of the tree reports that.
fn sum(bytes: &PageBytes, cells: std::ops::Range<usize>) -> u64 {
    cells.fold(0u64, |sum, cell| sum.wrapping_add(node::entries(bytes, cell)))
}
