//! What can be chosen when a store is opened, and what it reports about itself.

use std::fmt;
use std::sync::Arc;

/// When a commit is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// After its log record has been flushed: it survives loss of power.
    #[default]
    Strict,
    /// At once. The record is flushed within [`StoreOptions::relaxed_delay_ms`], on
    /// `flush`, on close, and before anything strict. Atomic and ordered all the same.
    Relaxed,
}

/// A source of monotonic milliseconds, given by the embedder; the store has no clock.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// How a store is opened.
#[derive(Clone)]
pub struct StoreOptions {
    /// Memory for clean pages. Pages changed since the last checkpoint come on top.
    pub cache_bytes_max: usize,
    /// The default for transactions that do not choose.
    pub durability: Durability,
    /// The longest a relaxed commit waits, if the embedder calls `flush` when
    /// `flush_due_ms` says so.
    pub relaxed_delay_ms: u32,
    /// Refuse every write; the file is opened shared and never changed.
    pub read_only: bool,
    /// Bytes of redo log, used when a file is created; rounded up to pages.
    pub log_bytes: u32,
    /// Changed pages that make a commit checkpoint even if the log has room, in bytes.
    pub dirty_bytes_max: usize,
    /// Lets a relaxed commit flush by itself once the oldest waiting one is due.
    pub clock: Option<Clock>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            cache_bytes_max: 64 << 20,
            durability: Durability::Strict,
            relaxed_delay_ms: 100,
            read_only: false,
            log_bytes: 1 << 20,
            dirty_bytes_max: 64 << 20,
            clock: None,
        }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions")
            .field("cache_bytes_max", &self.cache_bytes_max)
            .field("durability", &self.durability)
            .field("relaxed_delay_ms", &self.relaxed_delay_ms)
            .field("read_only", &self.read_only)
            .field("log_bytes", &self.log_bytes)
            .field("dirty_bytes_max", &self.dirty_bytes_max)
            .field("clock", &self.clock.is_some())
            .finish()
    }
}

/// Counters and sizes of an open store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStatistics {
    /// Bytes in a page.
    pub page_bytes: u32,
    /// Pages in the file, meta slots and log included.
    pub pages: u64,
    /// Pages that can be used again at once.
    pub free_pages: u64,
    /// Pages no longer part of the newest commit, kept for snapshots and recovery.
    pub held_pages: u64,
    /// Bytes the file has, or would have after a checkpoint.
    pub file_bytes: u64,
    /// Bytes of log used in this epoch.
    pub log_bytes: u64,
    /// Flushes since opening.
    pub flush_count: u64,
    /// Writes since opening.
    pub write_count: u64,
    /// Bytes written since opening.
    pub written_bytes: u64,
    /// Pages read from the file since opening.
    pub page_reads: u64,
    /// Checkpoints since opening.
    pub checkpoint_count: u64,
    /// Bytes of pages in memory.
    pub cache_bytes: u64,
    /// Bytes of pages in memory that the file does not have yet.
    pub dirty_bytes: u64,
    /// Sequence number of the newest commit.
    pub commit_sequence: u64,
}

/// What a commit did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    /// The commit's number; each commit that changed something has the next.
    pub sequence: u64,
    /// Whether it is on the device already.
    pub durable: bool,
}

/// What `integrity_check` found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrityReport {
    /// One sentence for each thing that is wrong; empty if all is well.
    pub problems: Vec<String>,
    /// Pages of trees, overflow chains included.
    pub tree_pages: u64,
    /// Pages of the extents that were given.
    pub extent_pages: u64,
    /// Free pages.
    pub free_pages: u64,
    /// Entries in all trees.
    pub entries: u64,
}

impl IntegrityReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
}
