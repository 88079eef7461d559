//! Batches in temporary space that are read any number of times, in any order.

use super::codec::{decode, encode};
use super::space::Block;
use crate::Result;
use crate::execution::memory::Reservation;
use crate::storage::Reader;
use crate::vector::Batch;

/// Batches by number.
#[derive(Debug)]
pub(crate) struct Shelf {
    blocks: Vec<Block>,
    /// The first row of each batch, and the end.
    starts: Vec<u64>,
}

impl Shelf {
    pub(crate) fn new() -> Self {
        Self { blocks: Vec::new(), starts: vec![0] }
    }

    /// Batches.
    pub(crate) const fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Rows of all batches.
    pub(crate) fn rows(&self) -> u64 {
        self.starts[self.blocks.len()]
    }

    /// The first row of a batch; at [`Shelf::len`] the end.
    pub(crate) fn start(&self, batch: usize) -> u64 {
        self.starts[batch]
    }

    /// The batch that a row is in; the last one for rows past the end.
    pub(crate) fn batch_of(&self, row: u64) -> usize {
        self.starts.partition_point(|start| *start <= row).saturating_sub(1).min(self.blocks.len().saturating_sub(1))
    }

    /// Bytes of memory held.
    pub(crate) const fn memory_bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<Block>() + self.starts.capacity() * size_of::<u64>()
    }

    /// Adds a batch, which has rows.
    pub(crate) fn push(&mut self, batch: &Batch, memory: &Reservation) -> Result<()> {
        let mut bytes = Vec::new();
        encode(batch, None, &mut bytes)?;
        self.blocks.push(memory.temp(bytes.len())?.write(&bytes)?);
        memory.spilled(bytes.len() as u64);
        self.starts.push(self.rows_before_last() + batch.rows as u64);
        Ok(())
    }

    fn rows_before_last(&self) -> u64 {
        self.starts.last().copied().unwrap_or_default()
    }

    /// A batch by its number.
    pub(crate) fn get(&self, batch: usize) -> Result<Batch> {
        let mut bytes = Vec::new();
        self.blocks[batch].read(&mut bytes)?;
        decode(&mut Reader::new(&bytes))
    }
}
