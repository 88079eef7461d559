//! The write transaction.
use crate::*;
use std::ops::Bound;
fn unfinished<T>() -> Result<T> { Err(Error::Poisoned("unfinished".into())) }
/// A point in a transaction to which it can be rolled back. Plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint { pub(crate) version: u64 }
/// The one write transaction. Dropping it rolls back.
pub struct Transaction {}
impl Transaction {
    /// Makes an empty tree with a number never used before.
    pub fn create_tree(&mut self) -> Result<TreeId> { unfinished() }
    /// Makes an empty tree with a number of the caller's choice.
    pub fn create_tree_with_id(&mut self, _tree: TreeId) -> Result<()> { unfinished() }
    /// Removes a tree and everything in it.
    pub fn drop_tree(&mut self, _tree: TreeId) -> Result<()> { unfinished() }
    /// Removes everything in a tree.
    pub fn clear_tree(&mut self, _tree: TreeId) -> Result<()> { unfinished() }
    /// Sets a key's value; whether it replaced one.
    pub fn put(&mut self, _tree: TreeId, _key: &[u8], _value: &[u8]) -> Result<bool> { unfinished() }
    /// Adds a key; `false`, changing nothing, if it exists.
    pub fn insert(&mut self, _tree: TreeId, _key: &[u8], _value: &[u8]) -> Result<bool> { unfinished() }
    /// Removes a key; whether it existed.
    pub fn delete(&mut self, _tree: TreeId, _key: &[u8]) -> Result<bool> { unfinished() }
    /// Removes the keys between two bounds; how many there were.
    pub fn delete_range(&mut self, _tree: TreeId, _lower: Bound<&[u8]>, _upper: Bound<&[u8]>) -> Result<u64> { unfinished() }
    /// Adds entries with strictly ascending keys; fastest into an empty tree. How many were added.
    pub fn bulk_load<K: AsRef<[u8]>, V: AsRef<[u8]>>(&mut self, _tree: TreeId, _entries: impl IntoIterator<Item = (K, V)>) -> Result<u64> { unfinished() }
    /// Writes opaque bytes to consecutive pages at once, to be referenced from a record of this transaction.
    pub fn write_extent(&mut self, _bytes: &[u8]) -> Result<Extent> { unfinished() }
    /// Gives an extent's pages back when the transaction commits.
    pub fn free_extent(&mut self, _extent: &Extent) -> Result<()> { unfinished() }
    /// Marks a point to roll back to.
    pub fn savepoint(&mut self) -> Result<Savepoint> { unfinished() }
    /// Undoes everything since the savepoint, which stays usable; later savepoints are gone.
    pub fn rollback_to(&mut self, _savepoint: &Savepoint) -> Result<()> { unfinished() }
    /// Forgets a savepoint and all later ones, keeping the changes.
    pub fn release(&mut self, _savepoint: Savepoint) -> Result<()> { unfinished() }
    /// Commits, by default with the store's durability.
    pub fn commit(self, _durability: Option<Durability>) -> Result<CommitInfo> { unfinished() }
    /// Undoes everything.
    pub fn rollback(self) {}
    /// Calls `f` with a key's value.
    pub fn get_with<R>(&self, _tree: TreeId, _key: &[u8], _f: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> { unfinished() }
}
