//! Batches that are kept to be read several times, in memory as far as they fit.

use super::codec::{decode, encode};
use super::space::Block;
use crate::Result;
use crate::execution::memory::{MemoryBudget, Reservation, Tally, batch_bytes};
use crate::storage::Reader;
use crate::vector::Batch;
use std::rc::Rc;

/// Batches in their order.
#[derive(Debug)]
pub struct RowBuffer {
    batches: Vec<Kept>,
    memory: Reservation,
    bytes: usize,
    rows: usize,
    taken: usize,
}

#[derive(Debug)]
enum Kept {
    Memory(Batch),
    Spilled(Block),
    /// Given up by [`RowBuffer::take_next`].
    Taken,
}

impl RowBuffer {
    /// An empty buffer.
    pub fn new(budget: &Rc<MemoryBudget>) -> Self {
        Self::with_tally(budget, &Rc::default())
    }

    pub(crate) fn with_tally(budget: &Rc<MemoryBudget>, tally: &Rc<Tally>) -> Self {
        Self { batches: Vec::new(), memory: Reservation::new(budget, tally), bytes: 0, rows: 0, taken: 0 }
    }

    /// Rows kept, those taken included.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Keeps a batch.
    ///
    /// # Errors
    /// Out of memory, where there is no temporary space; errors of the file system.
    pub fn push(&mut self, batch: Batch) -> Result<()> {
        self.rows += batch.rows;
        let bytes = self.bytes + batch_bytes(&batch) + size_of::<Kept>();
        if self.memory.try_resize(bytes) {
            self.bytes = bytes;
            self.batches.push(Kept::Memory(batch));
            return Ok(());
        }
        let mut encoded = Vec::new();
        encode(&batch, None, &mut encoded)?;
        let block = self.memory.temp(bytes - self.bytes)?.write(&encoded)?;
        self.memory.spilled(encoded.len() as u64);
        self.bytes += size_of::<Kept>();
        self.memory.force(self.bytes);
        self.batches.push(Kept::Spilled(block));
        Ok(())
    }

    /// Batch number `index`; `None` past the last.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn get(&self, index: usize) -> Result<Option<Batch>> {
        match self.batches.get(index) {
            None | Some(Kept::Taken) => Ok(None),
            Some(Kept::Memory(batch)) => Ok(Some(batch.clone())),
            Some(Kept::Spilled(block)) => {
                let mut bytes = Vec::new();
                block.read(&mut bytes)?;
                decode(&mut Reader::new(&bytes)).map(Some)
            }
        }
    }

    /// The next batch that has not been taken yet, given up; `None` after the last.
    ///
    /// # Errors
    /// As [`RowBuffer::get`].
    pub fn take_next(&mut self) -> Result<Option<Batch>> {
        let batch = self.get(self.taken)?;
        if let (Some(kept), Some(batch)) = (self.batches.get_mut(self.taken), &batch) {
            if matches!(std::mem::replace(kept, Kept::Taken), Kept::Memory(_)) {
                self.bytes = self.bytes.saturating_sub(batch_bytes(batch));
                self.memory.force(self.bytes);
            }
            self.taken += 1;
        }
        Ok(batch)
    }
}
