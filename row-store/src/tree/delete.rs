//! Removing an entry, merging pages that became small, and removing a whole tree.

use super::insert::{free_chain, free_value};
use super::path::Path;
use super::{Root, node, search};
use crate::pager::Pager;
use crate::{Error, PageId, Result};

/// A page with less in it than this looks for a neighbour to merge with.
pub(super) const UNDERFULL_BYTES: usize = node::CAPACITY_BYTES / 4;

/// Two pages merge if the result leaves room to grow, so that they do not split again
/// at the next insertion.
const MERGED_BYTES_MAX: usize = node::CAPACITY_BYTES * 7 / 8;

/// Removes a key; whether it existed.
pub(crate) fn delete(pager: &mut Pager, root: &mut Root, key: &[u8]) -> Result<bool> {
    if root.is_empty() {
        return Ok(false);
    }
    let mut path = Path::find(pager, root, key)?;
    let Ok(index) = search::leaf(&pager.page(path.leaf())?.bytes, key) else { return Ok(false) };
    path.make_writable(pager, root)?;
    free_value(pager, path.leaf(), index)?;
    path.add_entries(pager, -1)?;
    root.entries = root.entries.wrapping_sub(1);
    node::remove_cell(pager.page_mut(path.leaf())?, index);
    rebalance(pager, root, &path)?;
    Ok(true)
}

/// From the leaf up: removes empty pages and merges small ones.
fn rebalance(pager: &mut Pager, root: &mut Root, path: &Path) -> Result<()> {
    for step in (1..=path.last).rev() {
        let page = path.pages[step];
        let bytes = &pager.page(page)?.bytes;
        let parent = path.pages[step - 1];
        if node::count(bytes) == 0 {
            node::remove_cell(pager.page_mut(parent)?, path.cells[step - 1] as usize);
            pager.free_page(page);
        } else if node::used_bytes(bytes) < UNDERFULL_BYTES {
            if !merge(pager, parent, path.cells[step - 1] as usize)? {
                break;
            }
        } else {
            break;
        }
    }
    shrink_root(pager, root)
}

/// While the root has a single child, that is the root; without cells there is no tree.
fn shrink_root(pager: &mut Pager, root: &mut Root) -> Result<()> {
    loop {
        let bytes = &pager.tree_page(root.page, root.level)?.bytes;
        match node::count(bytes) {
            0 => {
                pager.free_page(root.page);
                *root = Root::EMPTY;
                return Ok(());
            }
            1 if root.level > 0 => {
                let child = node::child(bytes, 0);
                pager.free_page(root.page);
                root.page = child;
                root.level -= 1;
            }
            _ => return Ok(()),
        }
    }
}

/// Merges the child at `cell` with a neighbour if both fit one page.
fn merge(pager: &mut Pager, parent: PageId, cell: usize) -> Result<bool> {
    let count = node::count(&pager.page(parent)?.bytes);
    if cell + 1 < count && merge_pair(pager, parent, cell)? {
        return Ok(true);
    }
    Ok(cell > 0 && merge_pair(pager, parent, cell - 1)?)
}

/// Merges the children at `left` and the cell after it into the left one.
fn merge_pair(pager: &mut Pager, parent: PageId, left: usize) -> Result<bool> {
    let bytes = &pager.page(parent)?.bytes;
    let child_level = node::level(bytes) - 1;
    let (left_page, right_page) = (node::child(bytes, left), node::child(bytes, left + 1));
    let right_entries = node::entries(bytes, left + 1);
    let separator = node::inner_key(bytes, left + 1).to_vec();
    if left_page == right_page {
        return Err(Error::corrupt(parent.0, "two cells name the same child"));
    }
    let right = std::sync::Arc::clone(pager.tree_page(right_page, child_level)?);
    let left_used = node::used_bytes(&pager.tree_page(left_page, child_level)?.bytes);
    // An inner page's first separator is not kept; merged, it needs the parent's.
    let more = if child_level > 0 { separator.len() } else { 0 };
    if left_used + node::used_bytes(&right.bytes) + more > MERGED_BYTES_MAX {
        return Ok(false);
    }
    let left_page = {
        let writable = pager.make_writable(left_page)?;
        if writable != left_page {
            node::set_child(pager.page_mut(parent)?, left, writable);
        }
        writable
    };
    let bytes = pager.page_mut(left_page)?;
    let count = node::count(bytes);
    for index in 0..node::count(&right.bytes) {
        if index == 0 && child_level > 0 {
            let first = node::inner_cell(&separator, node::child(&right.bytes, 0), node::entries(&right.bytes, 0));
            node::insert_cell(bytes, count, first.len()).copy_from_slice(&first);
        } else {
            let cell = node::cell(&right.bytes, index);
            node::insert_cell(bytes, count + index, cell.len()).copy_from_slice(cell);
        }
    }
    let bytes = pager.page_mut(parent)?;
    let entries = node::entries(bytes, left).wrapping_add(right_entries);
    node::set_entries(bytes, left, entries);
    node::remove_cell(bytes, left + 1);
    drop(right);
    pager.free_page(right_page);
    Ok(true)
}

/// Frees every page of a tree and leaves it empty.
pub(crate) fn clear(pager: &mut Pager, root: &mut Root) -> Result<()> {
    if !root.is_empty() {
        // All is read before anything is freed, so that a damaged page changes nothing.
        let (mut pages, mut chains) = (Vec::new(), Vec::new());
        collect(pager, root.page, root.level, &mut pages, &mut chains)?;
        let length = pages.len();
        pages.sort_unstable();
        pages.dedup();
        if pages.len() != length {
            return Err(Error::corrupt(root.page.0, "a page is in the tree twice"));
        }
        for (first, bytes) in chains {
            free_chain(pager, first, bytes)?;
        }
        for page in pages {
            pager.free_page(page);
        }
        *root = Root::EMPTY;
    }
    Ok(())
}

fn collect(
    pager: &mut Pager,
    page: PageId,
    level: u8,
    pages: &mut Vec<PageId>,
    chains: &mut Vec<(PageId, u64)>,
) -> Result<()> {
    if pages.len() as u64 > u64::from(pager.high_water()) {
        return Err(Error::corrupt(page.0, "a tree has more pages than the file"));
    }
    let current = std::sync::Arc::clone(pager.tree_page(page, level)?);
    for index in 0..node::count(&current.bytes) {
        if level > 0 {
            collect(pager, node::child(&current.bytes, index), level - 1, pages, chains)?;
        } else if let node::CellValue::Overflow { first, bytes } = node::leaf_cell(&current.bytes, index).1 {
            chains.push((first, bytes));
        }
    }
    pages.push(page);
    Ok(())
}
