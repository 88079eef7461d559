//! The write transaction: changes, savepoints, commit and rollback.

mod apply;
mod load;
mod rebuild;
mod rewrite;

use crate::cursor::Cursor;
use crate::directory::Directory;
use crate::log::{ChangeMark, ChangeWriter, Log};
use crate::pager::{HolderKind, JournalMarks};
use crate::snapshot::{self, Held};
use crate::state::{Shared, State};
use crate::tree::{self, Mode, Outcome};
use crate::{CommitInfo, Direction, Durability, Error, Extent, Read, Result, TreeId, mutation};
use std::ops::Bound;
use std::sync::Arc;

/// A value whose pages may be written while its chain is made.
const LONG_VALUE_BYTES: usize = 4 << 20;

/// A point in a transaction to which it can be rolled back. Plain data, good for the
/// transaction it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint {
    version: u64,
}

struct SavepointState {
    version: u64,
    directory: Directory,
    changes: ChangeMark,
    journal: JournalMarks,
}

/// The one write transaction. Dropping it rolls back.
pub struct Transaction {
    shared: Arc<Shared>,
    /// The transaction's own state of the database.
    directory: Directory,
    /// Where it began.
    base: Arc<Directory>,
    changes: ChangeWriter,
    savepoints: Vec<SavepointState>,
    /// A change failed half-way; only rolling back helps.
    broken: Option<Error>,
    ended: bool,
}

impl Transaction {
    pub(crate) fn begin(shared: &Arc<Shared>) -> Result<Self> {
        let mut state = shared.lock()?;
        if state.options.read_only {
            return Err(Error::ReadOnly);
        }
        if state.writer_open {
            return Err(Error::Busy);
        }
        state.writer_open = true;
        let base = state.hold_committed();
        let payload_bytes_max = if state.ephemeral { 0 } else { Log::payload_bytes_max(state.log.bytes_max()) };
        Ok(Self {
            shared: Arc::clone(shared),
            directory: Directory::clone(&base),
            base,
            changes: ChangeWriter::new(payload_bytes_max),
            savepoints: Vec::new(),
            broken: None,
            ended: false,
        })
    }

    /// Makes a change. If it fails half-way the transaction is broken, so that the half
    /// of a change can never be committed.
    #[inline]
    fn change<T>(&mut self, change: impl FnOnce(&mut State, &mut Directory) -> Result<T>) -> Result<T> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let mut state = self.shared.lock()?;
        let mut result = change(&mut state, &mut self.directory);
        if state.is_too_dirty()
            && let Err(error) = state.spill()
        {
            result = Err(error);
        }
        if let Err(error) = &result {
            let harmless = matches!(
                error,
                Error::NoSuchTree(_) | Error::TreeExists(_) | Error::KeyTooLong { .. } | Error::ValueTooLong { .. }
            );
            if !harmless {
                self.broken = Some(error.clone());
            }
        }
        result
    }

    /// Makes an empty tree with a number that no tree had before.
    pub fn create_tree(&mut self) -> Result<TreeId> {
        let tree = TreeId(self.directory.next_tree);
        if tree.0 == u32::MAX {
            return Err(Error::TooLarge("tree number"));
        }
        self.create_tree_with_id(tree)?;
        Ok(tree)
    }

    /// Makes an empty tree with a number of the caller's choice.
    pub fn create_tree_with_id(&mut self, tree: TreeId) -> Result<()> {
        self.change(|_, directory| directory.create(tree))?;
        self.changes.create_tree(tree.0);
        Ok(())
    }

    /// Removes a tree and everything in it.
    pub fn drop_tree(&mut self, tree: TreeId) -> Result<()> {
        self.change(|state, directory| {
            tree::clear(&mut state.pager, directory.root_mut(tree)?)?;
            directory.remove(tree)
        })?;
        self.changes.drop_tree(tree.0);
        Ok(())
    }

    /// Removes everything in a tree.
    pub fn clear_tree(&mut self, tree: TreeId) -> Result<()> {
        self.change(|state, directory| tree::clear(&mut state.pager, directory.root_mut(tree)?))?;
        self.changes.clear_tree(tree.0);
        Ok(())
    }

    fn set(&mut self, tree: TreeId, key: &[u8], value: &[u8], mode: Mode) -> Result<Outcome> {
        if value.len() > LONG_VALUE_BYTES {
            self.shared.lock()?.prepare_long_change()?;
        }
        let outcome =
            self.change(|state, directory| tree::put(&mut state.pager, directory.root_mut(tree)?, key, value, mode))?;
        if outcome != Outcome::Kept {
            self.changes.put(tree.0, key, value);
        }
        Ok(outcome)
    }

    /// Sets a key's value; whether it replaced one.
    pub fn put(&mut self, tree: TreeId, key: &[u8], value: &[u8]) -> Result<bool> {
        Ok(self.set(tree, key, value, Mode::Put)? == Outcome::Replaced)
    }

    /// Adds a key; `false`, changing nothing, if it exists.
    pub fn insert(&mut self, tree: TreeId, key: &[u8], value: &[u8]) -> Result<bool> {
        Ok(self.set(tree, key, value, Mode::Insert)? == Outcome::Added)
    }

    /// Removes a key; whether it existed.
    pub fn delete(&mut self, tree: TreeId, key: &[u8]) -> Result<bool> {
        let existed = self.change(|state, directory| tree::delete(&mut state.pager, directory.root_mut(tree)?, key))?;
        if existed {
            self.changes.delete(tree.0, key);
        }
        Ok(existed)
    }

    /// Removes the keys between two bounds; how many there were.
    pub fn delete_range(&mut self, tree: TreeId, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<u64> {
        if (lower, upper) == (Bound::Unbounded, Bound::Unbounded) {
            let count = self.count(tree)?;
            self.clear_tree(tree)?;
            return Ok(count);
        }
        /// Keys that are collected before they are removed; a cursor that is open while
        /// pages change would make them be copied.
        const BATCH_KEYS: usize = 1024;
        let mut removed = 0;
        loop {
            let mut keys = Vec::new();
            let mut cursor = self.cursor(tree, lower, upper, Direction::Forward)?;
            while keys.len() < BATCH_KEYS
                && let Some((key, _)) = cursor.next()?
            {
                keys.push(key.to_vec());
            }
            drop(cursor);
            for key in &keys {
                removed += u64::from(self.delete(tree, key)?);
            }
            if keys.len() < BATCH_KEYS {
                return Ok(removed);
            }
        }
    }

    /// Writes opaque bytes to consecutive free pages at once. The returned reference is
    /// to be kept in a record, in this transaction.
    ///
    /// # Errors
    /// [`Error::Full`] and other failures to write leave the transaction as it was.
    pub fn write_extent(&mut self, bytes: &[u8]) -> Result<Extent> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let extent = self.shared.lock()?.write_extent(bytes)?;
        self.changes.add_extent(extent.first_page.0, extent.pages);
        Ok(extent)
    }

    /// Gives an extent's pages back when the transaction commits. The caller removes
    /// the reference; freeing an extent twice is a bug of the caller.
    pub fn free_extent(&mut self, extent: &Extent) -> Result<()> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let mut state = self.shared.lock()?;
        state.check_extent(extent)?;
        state.pager.free_extent(extent.first_page.0, extent.pages);
        drop(state);
        self.changes.free_extent(extent.first_page.0, extent.pages);
        Ok(())
    }

    /// Marks a point to roll back to.
    pub fn savepoint(&mut self) -> Result<Savepoint> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let mut state = self.shared.lock()?;
        let version = state.pager.next_version();
        state.pager.hold(HolderKind::Memory, version);
        self.savepoints.push(SavepointState {
            version,
            directory: self.directory.clone(),
            changes: self.changes.mark(),
            journal: state.pager.journal.marks(),
        });
        Ok(Savepoint { version })
    }

    fn savepoint_index(&self, savepoint: Savepoint) -> Result<usize> {
        self.savepoints.binary_search_by_key(&savepoint.version, |s| s.version).map_err(|_| Error::NoSuchSavepoint)
    }

    /// Undoes everything since the savepoint, which stays usable; later ones are gone.
    pub fn rollback_to(&mut self, savepoint: &Savepoint) -> Result<()> {
        let index = self.savepoint_index(*savepoint)?;
        let mut state = self.shared.lock()?;
        for later in self.savepoints.drain(index + 1..) {
            state.pager.let_go(HolderKind::Memory, later.version);
        }
        let target = &self.savepoints[index];
        state.pager.undo(target.version, target.journal);
        self.directory = target.directory.clone();
        self.changes.cut(target.changes);
        self.broken = None;
        Ok(())
    }

    /// Forgets a savepoint and all later ones, keeping the changes.
    pub fn release(&mut self, savepoint: Savepoint) -> Result<()> {
        let index = self.savepoint_index(savepoint)?;
        let mut state = self.shared.lock()?;
        for released in self.savepoints.drain(index..) {
            state.pager.let_go(HolderKind::Memory, released.version);
        }
        state.pager.sweep(savepoint.version);
        Ok(())
    }

    /// Commits, by default with the store's durability.
    ///
    /// # Errors
    /// [`Error::InDoubt`] if only reopening can tell whether the commit lasted. After
    /// any other error nothing was committed.
    pub fn commit(mut self, durability: Option<Durability>) -> Result<CommitInfo> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock()?;
        let durability = durability.unwrap_or(state.options.durability);
        self.let_go_savepoints(&mut state);
        if !self.changes.has_changes() {
            if durability == Durability::Strict && !state.ephemeral {
                state.flush()?;
            }
            let info = CommitInfo { sequence: self.base.sequence, durable: !state.log.has_buffered() };
            self.end(&mut state);
            return Ok(info);
        }
        let mut directory = self.directory.clone();
        directory.version = state.pager.next_version();
        directory.sequence = self.base.sequence + 1;
        let info = state.commit(directory, self.changes.payload(), durability)?;
        self.ended = true;
        state.writer_open = false;
        state.pager.let_go(HolderKind::Memory, self.base.version);
        Ok(info)
    }

    /// Undoes everything.
    pub fn rollback(self) {}

    fn let_go_savepoints(&mut self, state: &mut State) {
        for savepoint in self.savepoints.drain(..) {
            state.pager.let_go(HolderKind::Memory, savepoint.version);
        }
    }

    /// Undoes everything and ends the transaction.
    fn end(&mut self, state: &mut State) {
        self.ended = true;
        self.let_go_savepoints(state);
        state.pager.undo(self.base.version, JournalMarks::default());
        state.pager.let_go(HolderKind::Memory, self.base.version);
        state.writer_open = false;
    }

    /// Calls `f` with a key's value, without copying it unless it overflows its page.
    pub fn get_with<R>(&self, tree: TreeId, key: &[u8], f: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        snapshot::get_with(&self.shared, self.directory.root(tree)?, key, f)
    }
}

impl State {
    /// Makes the running transaction's state the newest commit.
    fn commit(&mut self, directory: Directory, payload: Option<&[u8]>, durability: Durability) -> Result<CommitInfo> {
        let (version, sequence) = (directory.version, directory.sequence);
        if self.ephemeral {
            self.publish(directory);
            return Ok(CommitInfo { sequence, durable: false });
        }
        let due = self.is_too_dirty() || self.holds_too_much();
        let Some(payload) = payload.filter(|payload| !due && self.log.accepts(payload.len())) else {
            // LOG-3, LOG-5: no epoch of this opening yet, or no room for the record.
            self.write_checkpoint(&directory)?;
            self.publish(directory);
            return Ok(CommitInfo { sequence, durable: true });
        };
        self.log.append(sequence, payload);
        // ALLOC-2: recovery may find this commit from now on.
        self.publish(directory);
        if mutation::is_active("unflushed commits hold their pages") {
            self.pager.let_go_disk_before(version, Some(self.checkpoint_version));
        }
        self.pager.hold(HolderKind::Disk, version);
        match durability {
            Durability::Strict => self.flush()?,
            Durability::Relaxed => self.relax()?,
        }
        Ok(CommitInfo { sequence, durable: !self.log.has_buffered() })
    }

    fn publish(&mut self, directory: Directory) {
        self.pager.settle();
        self.committed = Arc::new(directory);
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.ended
            && let Ok(mut state) = Arc::clone(&self.shared).lock_anyway()
        {
            self.end(&mut state);
        }
    }
}

impl Read for Transaction {
    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.get_with(tree, key, <[u8]>::to_vec)
    }

    fn visit(&self, tree: TreeId, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        Ok(self.get_with(tree, key, visit)?.is_some())
    }

    fn contains(&self, tree: TreeId, key: &[u8]) -> Result<bool> {
        let root = self.directory.root(tree)?;
        Ok(tree::locate(&mut self.shared.lock()?.pager, root, key)?.is_some())
    }

    fn count(&self, tree: TreeId) -> Result<u64> {
        Ok(self.directory.root(tree)?.entries)
    }

    fn count_range(&self, tree: TreeId, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<u64> {
        let root = self.directory.root(tree)?;
        tree::count_range(&mut self.shared.lock()?.pager, root, lower, upper)
    }

    /// The cursor sees the state at its creation: while it lives, changing a page
    /// copies it.
    fn cursor(&self, tree: TreeId, lower: Bound<&[u8]>, upper: Bound<&[u8]>, direction: Direction) -> Result<Cursor> {
        let root = *self.directory.root(tree)?;
        let mut state = self.shared.lock()?;
        let version = state.pager.next_version();
        state.pager.hold(HolderKind::Memory, version);
        drop(state);
        let directory = self.directory.without_trees(version);
        let held = Held { shared: Arc::clone(&self.shared), directory: Arc::new(directory) };
        Ok(Cursor::new(Arc::new(held), root, lower, upper, direction))
    }

    fn read_extent(&self, extent: &Extent, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.shared.lock()?.read_extent(extent, offset, buffer)
    }

    fn trees(&self) -> Vec<TreeId> {
        self.directory.trees().iter().map(|entry| entry.0).collect()
    }

    fn tree_exists(&self, tree: TreeId) -> bool {
        self.directory.contains(tree)
    }
}
