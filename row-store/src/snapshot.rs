//! Reading one state of the database while writers go on.

use crate::cursor::Cursor;
use crate::directory::Directory;
use crate::pager::HolderKind;
use crate::state::{Shared, State};
use crate::tree::{self, Root, node};
use crate::{Direction, Extent, Read, Result, TreeId};
use std::ops::Bound;
use std::sync::{Arc, MutexGuard};

/// A state that is kept readable: its pages are not used again while this lives.
pub(crate) struct Held {
    pub(crate) shared: Arc<Shared>,
    pub(crate) directory: Arc<Directory>,
}

impl Drop for Held {
    fn drop(&mut self) {
        // If the lock is poisoned, nothing will be used again anyway.
        if let Ok(mut state) = self.shared.lock_anyway() {
            state.pager.let_go(HolderKind::Memory, self.directory.version);
        }
    }
}

/// One commit of the database, kept readable while writers go on. Clones share it.
#[derive(Clone)]
pub struct Snapshot {
    held: Arc<Held>,
}

impl Snapshot {
    pub(crate) fn new(held: Held) -> Self {
        Self { held: Arc::new(held) }
    }

    /// Calls `f` with a key's value, without copying it unless it overflows its page.
    pub fn get_with<R>(&self, tree: TreeId, key: &[u8], f: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        get_with(&self.held.shared, self.held.directory.root(tree)?, key, f)
    }

    /// The number of the commit this is.
    pub fn sequence(&self) -> u64 {
        self.held.directory.sequence
    }
}

/// Calls `f` with a key's value, outside the lock.
#[inline]
pub(crate) fn get_with<R>(shared: &Shared, root: &Root, key: &[u8], f: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
    get_in(shared.lock()?, root, key, f)
}

/// As [`get_with`], of a state that is locked: the leaf that is found keeps its content
/// whatever happens to its page, so that the lock can go.
#[inline]
pub(crate) fn get_in<R>(
    mut state: MutexGuard<'_, State>,
    root: &Root,
    key: &[u8],
    f: impl FnOnce(&[u8]) -> R,
) -> Result<Option<R>> {
    let Some(located) = tree::locate(&mut state.pager, root, key)? else { return Ok(None) };
    match node::leaf_cell(&located.leaf.bytes, located.cell).1 {
        node::CellValue::Inline(value) => {
            drop(state);
            Ok(Some(f(value)))
        }
        node::CellValue::Overflow { first, bytes } => {
            let mut value = Vec::new();
            tree::read_chain(&mut state.pager, first, bytes, &mut value)?;
            drop(state);
            Ok(Some(f(&value)))
        }
    }
}

impl Read for Snapshot {
    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.get_with(tree, key, <[u8]>::to_vec)
    }

    fn visit(&self, tree: TreeId, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        Ok(self.get_with(tree, key, visit)?.is_some())
    }

    fn contains(&self, tree: TreeId, key: &[u8]) -> Result<bool> {
        let root = self.held.directory.root(tree)?;
        Ok(tree::locate(&mut self.held.shared.lock()?.pager, root, key)?.is_some())
    }

    fn count(&self, tree: TreeId) -> Result<u64> {
        Ok(self.held.directory.root(tree)?.entries)
    }

    fn count_range(&self, tree: TreeId, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<u64> {
        let root = self.held.directory.root(tree)?;
        tree::count_range(&mut self.held.shared.lock()?.pager, root, lower, upper)
    }

    fn cursor(&self, tree: TreeId, lower: Bound<&[u8]>, upper: Bound<&[u8]>, direction: Direction) -> Result<Cursor> {
        let root = *self.held.directory.root(tree)?;
        Ok(Cursor::new(Arc::clone(&self.held), root, lower, upper, direction))
    }

    fn read_extent(&self, extent: &Extent, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.held.shared.lock()?.read_extent(extent, offset, buffer)
    }

    fn trees(&self) -> Vec<TreeId> {
        self.held.directory.trees().iter().map(|entry| entry.0).collect()
    }

    fn tree_exists(&self, tree: TreeId) -> bool {
        self.held.directory.contains(tree)
    }
}
