//! The store's file, counting what is done to it and remembering whether it failed.

use crate::vfs::VfsFile;
use crate::{Error, Result, mutation};

/// What was done to the file since it was opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileStatistics {
    pub(crate) writes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) flushes: u64,
}

/// An open file.
pub(crate) struct StoreFile {
    file: Box<dyn VfsFile>,
    pub(crate) statistics: FileStatistics,
    /// Content was written that no sync has covered.
    unsynced: bool,
    /// A sync failed. What it covered may be lost though the next one succeeds, so that
    /// there must be no next one.
    sync_failed: Option<Error>,
}

impl StoreFile {
    pub(crate) fn new(file: Box<dyn VfsFile>) -> Self {
        Self { file, statistics: FileStatistics::default(), unsynced: false, sync_failed: None }
    }

    pub(crate) fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.file.read_at(offset, buffer)
    }

    pub(crate) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.statistics.writes += 1;
        self.statistics.written_bytes += bytes.len() as u64;
        self.unsynced = true;
        self.file.write_at(offset, bytes)
    }

    pub(crate) fn len(&mut self) -> Result<u64> {
        self.file.len()
    }

    pub(crate) fn set_len(&mut self, bytes: u64) -> Result<()> {
        self.unsynced = true;
        self.file.set_len(bytes)
    }

    pub(crate) fn sync(&mut self) -> Result<()> {
        if let Some(error) = &self.sync_failed {
            return Err(error.clone());
        }
        self.statistics.flushes += 1;
        match self.file.sync() {
            Ok(()) => {
                self.unsynced = false;
                Ok(())
            }
            Err(error) => {
                if !mutation::is_active("failed flush poisons") {
                    self.sync_failed = Some(error.clone());
                }
                Err(error)
            }
        }
    }

    /// Syncs if anything was written since the last sync.
    pub(crate) fn sync_if_written(&mut self) -> Result<()> {
        if self.unsynced { self.sync() } else { Ok(()) }
    }

    /// The error of the sync that failed, after which nothing may be written.
    pub(crate) fn sync_failure(&self) -> Option<&Error> {
        self.sync_failed.as_ref()
    }

    pub(crate) fn close(&mut self) -> Result<()> {
        self.file.close()
    }
}
