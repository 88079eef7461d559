//! Finding one key, and putting overflow chains together.

use super::{Root, node, search};
use crate::format::PAGE_BYTES;
use crate::pager::{Page, Pager};
use crate::{PageId, Result};
use std::ops::Bound;
use std::sync::Arc;

/// A key that was found: its leaf and cell.
pub(crate) struct Located {
    pub(crate) leaf: Arc<Page>,
    pub(crate) cell: usize,
}

/// Finds a key. The leaf comes along, so that the value can be read without the pager.
#[inline]
pub(crate) fn locate(pager: &mut Pager, root: &Root, key: &[u8]) -> Result<Option<Located>> {
    if root.is_empty() {
        return Ok(None);
    }
    let (mut page, mut level) = (root.page, root.level);
    while level > 0 {
        let bytes = &pager.tree_page(page, level)?.bytes;
        page = node::child(bytes, search::inner(bytes, key));
        level -= 1;
    }
    let leaf = pager.tree_page(page, 0)?;
    match search::leaf(&leaf.bytes, key) {
        Ok(cell) => Ok(Some(Located { leaf: Arc::clone(leaf), cell })),
        Err(_) => Ok(None),
    }
}

/// Goes down to the leaf where `bound` lies, noting the way: the inner pages and the
/// cell taken in each. Unbounded is the first leaf, or with `last` the last.
pub(crate) fn descend(
    pager: &mut Pager,
    from: (PageId, u8),
    bound: Bound<&[u8]>,
    last: bool,
    way: &mut Vec<(Arc<Page>, usize)>,
) -> Result<Arc<Page>> {
    let (mut page, mut level) = from;
    while level > 0 {
        let inner = Arc::clone(pager.tree_page(page, level)?);
        let cell = match bound {
            Bound::Included(key) | Bound::Excluded(key) => search::inner(&inner.bytes, key),
            Bound::Unbounded if last => node::count(&inner.bytes) - 1,
            Bound::Unbounded => 0,
        };
        page = node::child(&inner.bytes, cell);
        level -= 1;
        way.push((inner, cell));
    }
    Ok(Arc::clone(pager.tree_page(page, 0)?))
}

/// Puts the value of an overflow chain together in `out`.
pub(crate) fn read_chain(pager: &mut Pager, first: PageId, bytes: u64, out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    // Of a damaged length no more than the file could hold.
    let file_bytes = u64::from(pager.high_water()) * PAGE_BYTES as u64;
    out.reserve_exact(bytes.min(file_bytes) as usize);
    pager.walk_chain(first, bytes, &mut |_, part| out.extend_from_slice(part))
}
