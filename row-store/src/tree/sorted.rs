//! Changes of one tree in the order of their keys: the way down is looked for once a leaf.

use super::delete::UNDERFULL_BYTES;
use super::insert::{check_lengths, is_inline};
use super::path::Path;
use super::{Mode, Root, delete, node, put, search};
use crate::Result;
use crate::format::leaf;
use crate::pager::{PageBytes, Pager};

/// A key and its new value; `None` removes the key.
type Change<'a> = (&'a [u8], Option<&'a [u8]>);

/// Makes the first changes of an ascending list that lie in one leaf; how many, at least one.
pub(crate) fn apply_run(pager: &mut Pager, root: &mut Root, changes: &[Change<'_>]) -> Result<usize> {
    let Some(&(first, value)) = changes.first() else { return Ok(0) };
    let mut done = 0;
    if !root.is_empty() {
        let mut path = Path::find(pager, root, first)?;
        let end = path.end(pager)?;
        path.make_writable(pager, root)?;
        let mut added = 0;
        let bytes = pager.page_mut(path.leaf())?;
        for (key, value) in changes {
            if end.as_ref().is_some_and(|end| node::compare(key, end).is_ge()) {
                break;
            }
            let Some(difference) = apply_in_leaf(bytes, key, *value, path.last == 0) else { break };
            added += difference;
            done += 1;
        }
        path.add_entries(pager, added)?;
        root.entries = root.entries.wrapping_add_signed(added);
    }
    if done == 0 {
        // The leaf splits, shrinks or has overflow chains to look after.
        match value {
            Some(value) => put(pager, root, first, value, Mode::Put).map(drop)?,
            None => delete(pager, root, first).map(drop)?,
        }
        done = 1;
    }
    Ok(done)
}

/// Makes a change if it concerns nothing but a leaf's cells; how many entries more there are.
fn apply_in_leaf(bytes: &mut PageBytes, key: &[u8], value: Option<&[u8]>, is_root: bool) -> Option<i64> {
    let found = search::leaf(bytes, key);
    let Some(value) = value else {
        let Ok(index) = found else { return Some(0) };
        let left = node::used_bytes(bytes) - node::SLOT_BYTES - node::cell(bytes, index).len();
        let stays = node::count(bytes) > 1 && (is_root || left >= UNDERFULL_BYTES);
        if !stays || node::overflows(bytes, index) {
            return None;
        }
        node::remove_cell(bytes, index);
        return Some(-1);
    };
    check_lengths(key, value).ok()?;
    if !is_inline(key, value) {
        return None;
    }
    let cell_bytes = leaf::HEADER_BYTES + key.len() + value.len();
    match found {
        Ok(index) => {
            if node::overflows(bytes, index) {
                return None;
            }
            if node::replace_value(bytes, index, value) {
                return Some(0);
            }
            if node::used_bytes(bytes) - node::cell(bytes, index).len() + cell_bytes > node::CAPACITY_BYTES {
                return None;
            }
            node::remove_cell(bytes, index);
            node::fill_leaf_cell(node::insert_cell(bytes, index, cell_bytes), key, value);
            Some(0)
        }
        Err(index) => {
            if !node::fits(bytes, cell_bytes) {
                return None;
            }
            node::fill_leaf_cell(node::insert_cell(bytes, index, cell_bytes), key, value);
            Some(1)
        }
    }
}
