//! Runs: rows in temporary space in the order in which they were put there.

use super::codec::{decode, encode};
use super::space::{Block, TempSpace};
use crate::Result;
use crate::execution::coalesce::Coalescer;
use crate::execution::memory::Reservation;
use crate::storage::Reader;
use crate::vector::Batch;
use gingham_types::SqlType;
use std::collections::VecDeque;
use std::sync::Arc;

/// Blocks written and read at a time. Above 256 KiB a device is no faster; below 4 KiB
/// space is wasted.
const BLOCK_BYTES_MIN: usize = 4 << 10;
const BLOCK_BYTES_MAX: usize = 256 << 10;

/// The size of blocks for an operator that can have `bytes_available`: small enough for
/// one in each of the partitions, or of the runs being merged, beside what it keeps.
pub(crate) fn block_bytes(bytes_available: usize) -> usize {
    (bytes_available / 128).clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX)
}

/// Rows in temporary space.
#[derive(Debug, Default)]
pub(crate) struct Run {
    blocks: VecDeque<Block>,
    rows: u64,
}

impl Run {
    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }
}

/// Writes a run.
#[derive(Debug)]
pub(crate) struct RunWriter {
    space: Arc<TempSpace>,
    block_bytes: usize,
    buffer: Vec<u8>,
    run: Run,
}

impl RunWriter {
    pub(crate) fn new(space: &Arc<TempSpace>, block_bytes: usize) -> Self {
        Self { space: Arc::clone(space), block_bytes, buffer: Vec::new(), run: Run::default() }
    }

    /// Adds the rows of a batch, or those that `rows` names. Bytes written are noted in
    /// `memory`.
    pub(crate) fn push(&mut self, batch: &Batch, rows: Option<&[u32]>, memory: &Reservation) -> Result<()> {
        let count = rows.map_or(batch.rows, <[u32]>::len);
        if count == 0 {
            return Ok(());
        }
        encode(batch, rows, &mut self.buffer)?;
        self.run.rows += count as u64;
        if self.buffer.len() >= self.block_bytes { self.flush(memory) } else { Ok(()) }
    }

    fn flush(&mut self, memory: &Reservation) -> Result<()> {
        if !self.buffer.is_empty() {
            self.run.blocks.push_back(self.space.write(&self.buffer)?);
            memory.spilled(self.buffer.len() as u64);
            self.buffer.clear();
        }
        Ok(())
    }

    pub(crate) fn finish(mut self, memory: &Reservation) -> Result<Run> {
        self.flush(memory)?;
        Ok(self.run)
    }
}

/// Reads a run once; its space is free again block by block.
#[derive(Debug)]
pub(crate) struct RunReader {
    blocks: VecDeque<Block>,
    block: Vec<u8>,
    at: usize,
    small: Option<Coalescer>,
}

impl RunReader {
    /// A reader of rows of these types that joins small batches up.
    pub(crate) fn new(run: Run, types: &[SqlType]) -> Self {
        Self { small: Some(Coalescer::new(types.to_vec())), ..Self::of_batches(run) }
    }

    /// A reader of the batches as they were written.
    pub(crate) fn of_batches(run: Run) -> Self {
        Self { blocks: run.blocks, block: Vec::new(), at: 0, small: None }
    }

    /// The next rows.
    pub(crate) fn next(&mut self) -> Result<Option<Batch>> {
        loop {
            while self.at < self.block.len() {
                let mut reader = Reader::new(&self.block[self.at..]);
                let batch = decode(&mut reader)?;
                self.at = self.block.len() - reader.remaining();
                let batch = match &mut self.small {
                    Some(small) => small.push(batch, None)?,
                    None => Some(batch),
                };
                if batch.is_some() {
                    return Ok(batch);
                }
            }
            let Some(block) = self.blocks.pop_front() else {
                return Ok(self.small.as_mut().and_then(Coalescer::finish));
            };
            block.read(&mut self.block)?;
            self.at = 0;
        }
    }
}
