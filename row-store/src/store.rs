//! The store: opening, closing, and what concerns the whole file.

use crate::format::PAGE_BYTES;
use crate::snapshot::{self, Held};
use crate::state::{Shared, State};
use crate::vfs::{MemoryVfs, OpenMode, Vfs};
use crate::{
    Error, Extent, IntegrityReport, Result, Snapshot, StoreOptions, StoreStatistics, Transaction, TreeId, integrity,
    open,
};
use std::sync::Arc;

/// Bytes handed to an export's sink at once.
const EXPORT_BYTES: usize = 1 << 20;

/// An open database file. Clones share it; the file is given up when the last one,
/// every snapshot, cursor and transaction is gone, or by [`Store::close`].
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

impl Store {
    /// Opens a database, making one if there is none (unless read-only).
    ///
    /// # Errors
    /// [`Error::Locked`], [`Error::NotADatabase`], [`Error::NewerVersion`],
    /// [`Error::Corrupt`], [`Error::NotFound`] or what the file says.
    pub fn open(vfs: Arc<dyn Vfs>, name: &str, options: StoreOptions) -> Result<Self> {
        let mode = if options.read_only { OpenMode::ReadOnly } else { OpenMode::Create };
        let file = vfs.open(name, mode)?;
        Ok(Self { shared: Shared::new(open::open(file, options, false)?) })
    }

    /// A database in memory that is gone when dropped. It keeps no log.
    pub fn memory(options: StoreOptions) -> Result<Self> {
        let file = MemoryVfs::new().open("memory", OpenMode::Create)?;
        Ok(Self { shared: Shared::new(open::open(file, StoreOptions { read_only: false, ..options }, true)?) })
    }

    /// The newest commit, to read from.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let directory = self.shared.lock()?.hold_committed();
        Ok(Snapshot::new(Held { shared: Arc::clone(&self.shared), directory }))
    }

    /// Calls `visit` with the value of a key in the newest commit, without copying it
    /// unless it overflows its page; whether the key exists. For one look-up the quickest
    /// way, since no state is held for it.
    ///
    /// # Errors
    /// [`Error::NoSuchTree`] or what the file says.
    pub fn visit(&self, tree: TreeId, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let state = self.shared.lock()?;
        let root = *state.committed.root(tree)?;
        Ok(snapshot::get_in(state, &root, key, visit)?.is_some())
    }

    /// Begins the one write transaction there can be.
    ///
    /// # Errors
    /// [`Error::Busy`] if there is one, [`Error::ReadOnly`].
    pub fn begin(&self) -> Result<Transaction> {
        Transaction::begin(&self.shared)
    }

    /// Makes relaxed commits durable.
    pub fn flush(&self) -> Result<()> {
        self.shared.lock()?.flush()
    }

    /// Milliseconds until relaxed commits have to be flushed, by the clock in the
    /// options (without one, the whole delay); `None` if none waits.
    pub fn flush_due_ms(&self) -> Option<u64> {
        self.shared.lock().ok()?.flush_due_ms()
    }

    /// Writes everything to its place and empties the log.
    ///
    /// # Errors
    /// [`Error::Busy`] while a transaction is open; [`Error::Full`] leaves everything as
    /// it was.
    pub fn checkpoint(&self) -> Result<()> {
        let mut state = self.shared.lock()?;
        if state.ephemeral {
            return Ok(());
        }
        state.checkpoint()?;
        state.shrink_file()
    }

    /// As [`Store::checkpoint`], and cuts every free page off the file's end.
    ///
    /// # Errors
    /// As [`Store::checkpoint`].
    pub fn compact(&self) -> Result<()> {
        let mut state = self.shared.lock()?;
        if state.ephemeral {
            state.pager.trim();
            return Ok(());
        }
        state.checkpoint()?;
        state.pack_and_cut()
    }

    /// Flushes, checkpoints and gives up the file. Other handles get [`Error::Closed`]
    /// from then on.
    ///
    /// # Errors
    /// [`Error::Busy`] while a transaction is open, and the store stays open.
    pub fn close(self) -> Result<()> {
        let mut state = self.shared.lock()?;
        if state.writer_open {
            return Err(Error::Busy);
        }
        let written = Self::write_all(&mut state);
        let closed = state.pager.file.close();
        state.failure = Some(Error::Closed);
        written.and(closed)
    }

    fn write_all(state: &mut State) -> Result<()> {
        if state.options.read_only || state.ephemeral {
            return Ok(());
        }
        match state.checkpoint() {
            Ok(()) => {
                state.shrink_file()?;
                state.pager.file.sync_if_written()
            }
            // The log keeps what there is no room for elsewhere.
            Err(Error::Full) if state.failure.is_none() => state.flush(),
            Err(error) => Err(error),
        }
    }

    /// Counters and sizes; zeros once the store is unusable.
    pub fn statistics(&self) -> StoreStatistics {
        let Ok(state) = self.shared.lock() else { return StoreStatistics::default() };
        let (pager, file) = (&state.pager, &state.pager.file.statistics);
        StoreStatistics {
            page_bytes: PAGE_BYTES as u32,
            pages: u64::from(pager.high_water()),
            free_pages: pager.free_page_count(),
            held_pages: pager.holders.pending_pages(),
            file_bytes: u64::from(pager.high_water()) * PAGE_BYTES as u64,
            log_bytes: state.log.used_bytes(),
            flush_count: file.flushes,
            write_count: file.writes,
            written_bytes: file.written_bytes,
            page_reads: pager.page_reads,
            checkpoint_count: state.checkpoint_count,
            cache_bytes: pager.cached_bytes(),
            dirty_bytes: pager.dirty_bytes(),
            commit_sequence: state.committed.sequence,
        }
    }

    /// Verifies every page: that trees are in order and counted right, that checksums
    /// hold, and that each page has exactly one owner. `extents` are all that the owner
    /// has references to in the newest commit.
    ///
    /// # Errors
    /// [`Error::Busy`] while a transaction is open. What is wrong is in the report.
    pub fn integrity_check(&self, extents: &[Extent]) -> Result<IntegrityReport> {
        let mut state = self.shared.lock()?;
        if state.writer_open {
            return Err(Error::Busy);
        }
        Ok(integrity::check(&mut state, extents))
    }

    /// Checkpoints, then hands the file over in order, `(offset, bytes)` at a time. The
    /// sink must not use this store.
    ///
    /// # Errors
    /// [`Error::Busy`] while a transaction is open, and whatever the sink returns.
    pub fn export(&self, sink: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let mut state = self.shared.lock()?;
        if !state.options.read_only {
            state.checkpoint_for_export()?;
        }
        let length = state.pager.file.len()?;
        let mut buffer = vec![0; EXPORT_BYTES.min(length as usize)];
        let mut at = 0;
        while at < length {
            let part = &mut buffer[..EXPORT_BYTES.min((length - at) as usize)];
            state.pager.file.read_at(at, part)?;
            sink(at, part)?;
            at += part.len() as u64;
        }
        Ok(())
    }

    /// The whole file as bytes, as [`Store::export`] hands it over.
    pub fn export_bytes(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.export(&mut |_, bytes| {
            out.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok(out)
    }
}

impl State {
    /// A checkpoint also of a database in memory, which has no meta slot until then.
    fn checkpoint_for_export(&mut self) -> Result<()> {
        if !self.ephemeral {
            return self.checkpoint();
        }
        if self.writer_open {
            return Err(Error::Busy);
        }
        let directory = Arc::clone(&self.committed);
        self.write_checkpoint(&directory)
    }
}
