//! What a snapshot and a transaction have in common: reading one state of the database.

use crate::{Cursor, Extent, Result, TreeId};
use std::ops::Bound;

/// The order a cursor moves in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Keys ascend.
    Forward,
    /// Keys descend.
    Reverse,
}

/// Reading one state: the commit a snapshot was taken of, or a transaction's own.
pub trait Read {
    /// The value of a key.
    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Calls `visit` with the value of a key, without copying it unless it overflows
    /// its page. Returns whether the key exists.
    fn visit(&self, tree: TreeId, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool>;

    /// Whether a key exists.
    fn contains(&self, tree: TreeId, key: &[u8]) -> Result<bool>;

    /// Entries in a tree; does not walk it.
    fn count(&self, tree: TreeId) -> Result<u64>;

    /// Entries between two bounds; walks two paths, not the leaves between.
    fn count_range(&self, tree: TreeId, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<u64>;

    /// A cursor over the entries between two bounds. It owns what it needs: it sees the
    /// state at its creation and outlives the snapshot or transaction.
    fn cursor(&self, tree: TreeId, lower: Bound<&[u8]>, upper: Bound<&[u8]>, direction: Direction) -> Result<Cursor>;

    /// Reads from an extent. Every block touched is checked against its checksum.
    fn read_extent(&self, extent: &Extent, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// The trees there are, ascending.
    fn trees(&self) -> Vec<TreeId>;

    /// Whether a tree exists.
    fn tree_exists(&self, tree: TreeId) -> bool;
}
