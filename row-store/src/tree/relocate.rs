//! Moving the last pages of a tree down, so that the file can be cut behind the rest.

use super::insert::free_chain;
use super::{Root, node, read_chain};
use crate::pager::Pager;
use crate::{PageId, Result};
use std::sync::Arc;

/// Moves pages numbered `boundary` and above to lower free pages, as far as there are
/// some. Pages that lead to them move as well, as they change.
pub(crate) fn relocate(pager: &mut Pager, root: &mut Root, boundary: u32) -> Result<()> {
    if !root.is_empty() {
        root.page = relocate_page(pager, root.page, root.level, boundary)?;
    }
    Ok(())
}

fn relocate_page(pager: &mut Pager, id: PageId, level: u8, boundary: u32) -> Result<PageId> {
    if level == 0 {
        return relocate_leaf(pager, id, boundary);
    }
    let page = Arc::clone(pager.tree_page(id, level)?);
    let mut moved = Vec::new();
    for index in 0..node::count(&page.bytes) {
        let child = node::child(&page.bytes, index);
        let now = relocate_page(pager, child, level - 1, boundary)?;
        if now != child {
            moved.push((index, now));
        }
    }
    drop(page);
    if moved.is_empty() && !is_to_move(pager, id, boundary) {
        return Ok(id);
    }
    let id = pager.make_writable(id)?;
    let bytes = pager.page_mut(id)?;
    for (index, child) in moved {
        node::set_child(bytes, index, child);
    }
    Ok(id)
}

fn relocate_leaf(pager: &mut Pager, id: PageId, boundary: u32) -> Result<PageId> {
    let page = Arc::clone(pager.tree_page(id, 0)?);
    let mut chains = Vec::new();
    for index in 0..node::count(&page.bytes) {
        if let (key, node::CellValue::Overflow { first, bytes }) = node::leaf_cell(&page.bytes, index) {
            let mut last = first;
            pager.walk_chain(first, bytes, &mut |page, _| last = last.max(page))?;
            if is_to_move(pager, last, boundary) {
                chains.push((index, key.to_vec(), first, bytes));
            }
        }
    }
    drop(page);
    if chains.is_empty() && !is_to_move(pager, id, boundary) {
        return Ok(id);
    }
    let id = pager.make_writable(id)?;
    let mut value = Vec::new();
    for (index, key, first, bytes) in chains {
        read_chain(pager, first, bytes, &mut value)?;
        free_chain(pager, first, bytes)?;
        let cell = node::overflow_cell(&key, pager.write_chain(&value)?, bytes);
        let replaced = node::replace_cell(pager.page_mut(id)?, index, &cell);
        assert!(replaced, "a reference to a chain has one length");
    }
    pager.spill_if_long()?;
    Ok(id)
}

/// Whether a page is behind the boundary and there is a lower one for it.
fn is_to_move(pager: &Pager, id: PageId, boundary: u32) -> bool {
    id.0 >= boundary && pager.free_runs().iter().next().is_some_and(|(first, _)| first < boundary)
}
