//! Bytes that operators hold, against a budget.

use crate::vector::{Batch, Data, Vector};
use crate::{Error, Result};
use std::cell::Cell;
use std::rc::Rc;

/// A bound on the memory of whatever shares it: one query, or all of a connection.
#[derive(Debug)]
pub struct MemoryBudget {
    bytes_max: u64,
    /// Bytes in use, and the most of them at one time.
    used: Cell<u64>,
    peak: Cell<u64>,
}

impl MemoryBudget {
    /// A budget of `bytes_max` bytes.
    pub const fn new(bytes_max: u64) -> Self {
        Self { bytes_max, used: Cell::new(0), peak: Cell::new(0) }
    }

    /// Bytes in use now.
    pub const fn bytes_used(&self) -> u64 {
        self.used.get()
    }

    /// The most bytes in use at one time so far.
    pub const fn bytes_peak(&self) -> u64 {
        self.peak.get()
    }
}

/// One operator's share of a budget, given back when dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Rc<MemoryBudget>,
    bytes: u64,
}

impl Reservation {
    pub(crate) fn new(budget: &Rc<MemoryBudget>) -> Self {
        Self { budget: Rc::clone(budget), bytes: 0 }
    }

    /// Makes the share `bytes` in all.
    pub(crate) fn resize(&mut self, bytes: usize) -> Result<()> {
        let bytes = bytes as u64;
        let others = self.budget.used.get().saturating_sub(self.bytes);
        let used = others.saturating_add(bytes);
        if used > self.budget.bytes_max && bytes > self.bytes {
            return Err(Error::OutOfMemory { bytes_wanted: bytes - self.bytes, bytes_max: self.budget.bytes_max });
        }
        self.budget.used.set(used);
        self.budget.peak.set(self.budget.peak.get().max(used));
        self.bytes = bytes;
        Ok(())
    }

    /// Adds to the share.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<()> {
        self.resize(self.bytes as usize + bytes)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.used.set(self.budget.used.get().saturating_sub(self.bytes));
    }
}

/// Bytes of a vector, its dictionary not counted: that is shared.
pub(crate) fn vector_bytes(vector: &Vector) -> usize {
    let width = match &vector.data {
        Data::Boolean(_) => 1,
        Data::Int32(_) | Data::Text(_) => 4,
        Data::Int64(_) | Data::Double(_) => 8,
        Data::Int128(_) | Data::Interval(_) => 16,
    };
    vector.len() * (width + usize::from(vector.validity.is_some()))
}

/// Bytes of a batch that is kept: dictionaries count as far as its rows can use them.
pub(crate) fn batch_bytes(batch: &Batch) -> usize {
    let text = |vector: &Vector| match &vector.data {
        Data::Text(text) => {
            let entries = text.dictionary.len().max(1);
            text.dictionary.memory_bytes().saturating_mul(batch.rows.min(entries)) / entries
        }
        _ => 0,
    };
    batch.columns.iter().map(|column| vector_bytes(column) + text(column)).sum()
}
