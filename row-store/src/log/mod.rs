//! The redo log: a fixed region of the file in which each commit of an epoch is one
//! record. Records are appended in memory and written with the next flush: LOG-1.

mod changes;
mod record;

pub(crate) use changes::{Change, ChangeMark, ChangeReader, ChangeWriter};
pub(crate) use record::{Scan, append_start, record_bytes, scan};

use crate::format::{LOG_FIRST_PAGE, PAGE_BYTES};
use crate::pager::StoreFile;
use crate::{Error, Result};
use record::Header;

/// The appending end of the log.
pub(crate) struct Log {
    bytes_max: u64,
    epoch: u64,
    /// This opening of the database started the epoch, and may append (LOG-3).
    owned: bool,
    /// Where the next record goes, buffered ones included.
    end: u64,
    /// Records that are not written yet; they go before `end`.
    buffer: Vec<u8>,
    /// Checksum of the last record.
    previous: u64,
    /// Number of the last commit in the log or the checkpoint before it.
    sequence: u64,
    durable_sequence: u64,
}

impl Log {
    /// The log of an epoch that an earlier opening appended to: read only.
    pub(crate) fn foreign(bytes_max: u64, epoch: u64, end: u64, sequence: u64) -> Self {
        Self {
            bytes_max,
            epoch,
            owned: false,
            end,
            buffer: Vec::new(),
            previous: 0,
            sequence,
            durable_sequence: sequence,
        }
    }

    /// Appends to an epoch of an earlier opening: what LOG-3 forbids, for the mutation
    /// that proves why.
    pub(crate) fn adopt(&mut self, scan: &Scan, meta: &crate::meta::Meta) {
        self.owned = true;
        self.previous = scan.last_checksum;
        self.end = scan.end as u64;
        self.sequence = scan.commits.last().map_or(meta.commit_sequence, |commit| commit.0);
        self.durable_sequence = self.sequence;
    }

    /// The most bytes of changes a commit may have and still go into an empty log: half
    /// of it, so that large transactions do not evict each other.
    pub(crate) fn payload_bytes_max(bytes_max: u64) -> usize {
        (bytes_max / 2) as usize
    }

    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        self.end
    }

    pub(crate) fn has_buffered(&self) -> bool {
        !self.buffer.is_empty()
    }

    pub(crate) fn buffered_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Whether a commit with such a payload can be appended now.
    pub(crate) fn accepts(&self, payload_bytes: usize) -> bool {
        self.owned && self.end + record_bytes(payload_bytes) as u64 <= self.bytes_max
    }

    /// Appends a commit to the buffer.
    pub(crate) fn append(&mut self, sequence: u64, payload: &[u8]) {
        debug_assert!(self.accepts(payload.len()), "LOG-1: the region has a fixed size");
        debug_assert_eq!(sequence, self.sequence + 1, "LOG-2: commits follow each other");
        let header = Header {
            kind: crate::format::record::COMMIT,
            epoch: self.epoch,
            sequence,
            previous: self.previous,
            durable_before: self.durable_sequence,
        };
        self.previous = record::append(&mut self.buffer, self.end, &header, payload);
        self.end += record_bytes(payload.len()) as u64;
        self.sequence = sequence;
    }

    /// Writes the buffer with one write and makes it durable with one sync.
    pub(crate) fn flush(&mut self, file: &mut StoreFile) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let at = u64::from(LOG_FIRST_PAGE) * PAGE_BYTES as u64 + self.end - self.buffer.len() as u64;
        file.write_at(at, &self.buffer)?;
        if !crate::mutation::is_active("log flush") {
            file.sync()?;
        }
        self.buffer.clear();
        self.durable_sequence = self.sequence;
        Ok(())
    }

    /// Starts an epoch: everything up to `sequence` is in the checkpoint. The start is
    /// written but not flushed; nothing depends on it unless the meta slot is lost.
    pub(crate) fn start_epoch(
        &mut self,
        file: &mut StoreFile,
        epoch: u64,
        sequence: u64,
        meta_checksum: u64,
    ) -> Result<()> {
        let mut start = Vec::new();
        self.previous = append_start(&mut start, epoch, sequence, meta_checksum);
        self.buffer.clear();
        self.epoch = epoch;
        self.owned = true;
        self.end = start.len() as u64;
        self.sequence = sequence;
        self.durable_sequence = sequence;
        file.write_at(u64::from(LOG_FIRST_PAGE) * PAGE_BYTES as u64, &start)
    }
}

/// Reads the whole region.
#[inline(never)]
pub(crate) fn read_region(file: &mut StoreFile, bytes: u64) -> Result<Vec<u8>> {
    let mut region = vec![0; usize::try_from(bytes).map_err(|_| Error::TooLarge("log"))?];
    file.read_at(u64::from(LOG_FIRST_PAGE) * PAGE_BYTES as u64, &mut region)?;
    Ok(region)
}
