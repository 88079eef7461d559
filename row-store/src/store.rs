//! The store: opening, closing, and what concerns the whole file.
use crate::*;
use std::sync::Arc;
fn unfinished<T>() -> Result<T> { Err(Error::Poisoned("unfinished".into())) }
/// An open database file. Clones share it.
#[derive(Clone)]
pub struct Store {}
impl Store {
    /// Opens a database, creating it if missing.
    pub fn open(_vfs: Arc<dyn Vfs>, _name: &str, _options: StoreOptions) -> Result<Self> { unfinished() }
    /// A database in memory that is gone when dropped.
    pub fn memory(_options: StoreOptions) -> Result<Self> { unfinished() }
    /// The newest commit, to read from.
    pub fn snapshot(&self) -> Result<Snapshot> { unfinished() }
    /// Begins the one write transaction there can be; `Busy` if there is one.
    pub fn begin(&self) -> Result<Transaction> { unfinished() }
    /// Makes relaxed commits durable.
    pub fn flush(&self) -> Result<()> { unfinished() }
    /// Milliseconds until the next flush is due by the clock given; `None` if nothing waits.
    pub fn flush_due_ms(&self) -> Option<u64> { None }
    /// Writes everything to its place and empties the log; `Busy` while a transaction is open.
    pub fn checkpoint(&self) -> Result<()> { unfinished() }
    /// Flushes, checkpoints and gives up the file; other clones get `Closed` from then on.
    pub fn close(self) -> Result<()> { unfinished() }
    /// Counters and sizes.
    pub fn statistics(&self) -> StoreStatistics { StoreStatistics::default() }
    /// Verifies everything; `extents` are all that the owner has references to.
    pub fn integrity_check(&self, _extents: &[Extent]) -> Result<IntegrityReport> { unfinished() }
    /// Checkpoints, then hands the file over in order, `(offset, bytes)` at a time.
    pub fn export(&self, _sink: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> { unfinished() }
    /// The whole file as bytes.
    pub fn export_bytes(&self) -> Result<Vec<u8>> { unfinished() }
}
