//! What the handles of one open database share, behind one lock.

use crate::directory::Directory;
use crate::extent_io::LastBlocks;
use crate::format::PAGE_BYTES;
use crate::log::Log;
use crate::meta::Meta;
use crate::pager::{HolderKind, Pager};
use crate::{Error, Result, StoreOptions, mutation};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Bytes of relaxed commits that wait at the most; past it they are flushed at once.
const RELAXED_BYTES_MAX: usize = 256 * 1024;

/// Pages waiting for a checkpoint that are no reason for one: 16 MiB.
const HELD_PAGES_MAX: u64 = (16 << 20) / PAGE_BYTES as u64;

/// The lock and what is behind it.
pub(crate) struct Shared {
    state: Mutex<State>,
}

impl Shared {
    pub(crate) fn new(state: State) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// The state, if the database is usable.
    #[inline]
    pub(crate) fn lock(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.lock_anyway()?;
        match &state.failure {
            None => Ok(state),
            Some(error) => Err(error.clone()),
        }
    }

    /// The state, also after a failure or closing.
    pub(crate) fn lock_anyway(&self) -> Result<MutexGuard<'_, State>> {
        self.state.lock().map_err(|_| Error::Poisoned("an internal invariant did not hold".into()))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Ok(state) = self.state.get_mut()
            && state.failure.is_none()
        {
            // Nobody is left to hear of a failure; `close` is there to report it.
            let _ = state.flush();
            let _ = state.pager.file.close();
        }
    }
}

/// See the module.
pub(crate) struct State {
    pub(crate) pager: Pager,
    pub(crate) log: Log,
    /// The newest checkpoint.
    pub(crate) meta: Meta,
    pub(crate) checkpoint_version: u64,
    pub(crate) checkpoint_count: u64,
    /// The newest commit.
    pub(crate) committed: Arc<Directory>,
    pub(crate) options: StoreOptions,
    /// Nothing has to last: no log, no checkpoints but for export.
    pub(crate) ephemeral: bool,
    pub(crate) writer_open: bool,
    /// Extents were written that no sync has covered.
    pub(crate) extents_unsynced: bool,
    /// What recovery found may not be durable (REC-5).
    pub(crate) recovered_unsynced: bool,
    /// When the oldest relaxed commit began to wait.
    pub(crate) relaxed_since_ms: Option<u64>,
    /// Why nothing works any more.
    pub(crate) failure: Option<Error>,
    /// Block checksums of extents that were read, by first page and checksum.
    pub(crate) extent_tables: HashMap<(u32, u64), Arc<[u64]>>,
    /// See [`LastBlocks`].
    pub(crate) last_blocks: LastBlocks,
}

impl State {
    /// Makes the handle unusable.
    pub(crate) fn poison(&mut self, error: &Error) {
        if self.failure.is_none() && !mutation::is_active("failed flush poisons") {
            self.failure = Some(Error::Poisoned(error.to_string()));
        }
    }

    pub(crate) fn poison_in_doubt(&mut self, error: Error) -> Error {
        self.poison(&error);
        Error::InDoubt(Box::new(error))
    }

    /// After a failed sync nothing can be relied on: the handle is poisoned.
    pub(crate) fn note_sync_failure(&mut self, error: Error) -> Error {
        if let Some(failure) = self.pager.file.sync_failure().cloned() {
            self.poison(&failure);
        }
        error
    }

    /// REC-5: what recovery saw must be durable before anything is written over pages
    /// that only an older state uses.
    pub(crate) fn sync_recovered(&mut self) -> Result<()> {
        if self.recovered_unsynced {
            if !mutation::is_active("recovered state flush") {
                self.pager.file.sync()?;
            }
            self.recovered_unsynced = false;
        }
        Ok(())
    }

    /// Makes all commits durable.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if !self.log.has_buffered() {
            return Ok(());
        }
        // LOG-4: an extent before the record that refers to it.
        let extents =
            if self.extents_unsynced && !mutation::is_active("extent flush") { self.pager.file.sync() } else { Ok(()) };
        match extents.and_then(|()| self.log.flush(&mut self.pager.file)) {
            Ok(()) => {
                self.extents_unsynced = false;
                self.relaxed_since_ms = None;
                let (version, keep) = (self.committed.version, self.checkpoint_version);
                self.pager.let_go_disk_before(version, Some(keep));
                Ok(())
            }
            Err(error) => Err(self.poison_in_doubt(error)),
        }
    }

    /// Milliseconds until relaxed commits have to be flushed.
    pub(crate) fn flush_due_ms(&self) -> Option<u64> {
        if !self.log.has_buffered() {
            return None;
        }
        let delay = u64::from(self.options.relaxed_delay_ms);
        Some(match (&self.options.clock, self.relaxed_since_ms) {
            (Some(clock), Some(since)) => since.saturating_add(delay).saturating_sub(clock()),
            _ => delay,
        })
    }

    /// A relaxed commit was appended: flushes if too much waits, or for too long.
    pub(crate) fn relax(&mut self) -> Result<()> {
        if self.relaxed_since_ms.is_none() {
            self.relaxed_since_ms = self.options.clock.as_ref().map(|clock| clock());
        }
        let due = self.options.clock.is_some() && self.flush_due_ms() == Some(0);
        if due || self.log.buffered_bytes() > RELAXED_BYTES_MAX { self.flush() } else { Ok(()) }
    }

    /// Whether changed pages take more memory than they may.
    #[inline]
    pub(crate) fn is_too_dirty(&self) -> bool {
        !self.ephemeral && self.pager.dirty_bytes() > self.options.dirty_bytes_max as u64
    }

    /// Whether so many pages wait for the next checkpoint to become free that the file
    /// grows for want of them: more than a quarter of it and more than 16 MiB.
    pub(crate) fn holds_too_much(&self) -> bool {
        let held = self.pager.holders.pending_disk_pages();
        held > u64::from(self.pager.high_water() / 4).max(HELD_PAGES_MAX)
    }

    /// Writes the running transaction's changed pages to their places before it commits.
    #[cold]
    pub(crate) fn spill(&mut self) -> Result<()> {
        self.sync_recovered().map_err(|error| self.note_sync_failure(error))?;
        self.pager.spill()
    }

    /// Lets pages be written in the middle of a change that makes many, as a long value's
    /// chain does, so that memory need not hold them.
    #[cold]
    pub(crate) fn prepare_long_change(&mut self) -> Result<()> {
        if !self.ephemeral {
            self.sync_recovered().map_err(|error| self.note_sync_failure(error))?;
            self.pager.dirty_bytes_max = self.options.dirty_bytes_max as u64;
        }
        Ok(())
    }

    /// Whether a checkpoint would change nothing.
    fn is_checkpointed(&self) -> bool {
        self.committed.version == self.checkpoint_version
    }

    /// Writes the newest commit as a checkpoint.
    pub(crate) fn checkpoint(&mut self) -> Result<()> {
        if self.writer_open {
            return Err(Error::Busy);
        }
        if self.options.read_only {
            return Err(Error::ReadOnly);
        }
        if self.is_checkpointed() {
            return Ok(());
        }
        let directory = Arc::clone(&self.committed);
        self.write_checkpoint(&directory)
    }

    /// Begins to keep the newest commit for a reader; returns it.
    pub(crate) fn hold_committed(&mut self) -> Arc<Directory> {
        self.pager.hold(HolderKind::Memory, self.committed.version);
        Arc::clone(&self.committed)
    }
}
