//! Bytes that operators hold, against a budget.
//!
//! Every operator that keeps rows has a [`Reservation`] and asks it before it grows. A
//! refusal means: spill. So that an operator low in the tree can still work when one
//! above it has filled the memory, each has a floor that is set aside for it from the
//! start: half of the budget in equal parts, the other half going to whoever asks first.

use super::spill::TempSpace;
use crate::vector::{Batch, Data, Vector};
use crate::{Error, Result};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most that is set aside for an operator before it asks: enough to spill in large
/// blocks.
const FLOOR_BYTES_MAX: u64 = 16 << 20;

/// Growth from this size on is tried out at the allocator, so that a module or process
/// that has no more memory gives an error instead of aborting.
const PROBE_BYTES_MIN: u64 = 1 << 20;

/// A bound on what the operators of all queries of a database hold together.
#[derive(Debug)]
pub struct MemoryPool {
    bytes_max: u64,
    used: AtomicU64,
}

impl MemoryPool {
    /// A pool of `bytes_max` bytes.
    pub const fn new(bytes_max: u64) -> Self {
        Self { bytes_max, used: AtomicU64::new(0) }
    }

    /// The bound.
    pub const fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Bytes in use now.
    pub fn bytes_used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

/// A bound on the memory of one query, and where its operators may spill.
#[derive(Debug)]
pub struct MemoryBudget {
    bytes_max: u64,
    pool: Option<Arc<MemoryPool>>,
    temp: Option<Arc<TempSpace>>,
    /// Bytes in use, and the most of them at one time.
    used: Cell<u64>,
    peak: Cell<u64>,
    /// Bytes in use or set aside.
    charged: Cell<u64>,
    /// What is set aside for one operator.
    floor: Cell<u64>,
    spilled: Cell<u64>,
}

impl MemoryBudget {
    /// A budget of `bytes_max` bytes and nowhere to spill.
    pub const fn new(bytes_max: u64) -> Self {
        Self {
            bytes_max,
            pool: None,
            temp: None,
            used: Cell::new(0),
            peak: Cell::new(0),
            charged: Cell::new(0),
            floor: Cell::new(0),
            spilled: Cell::new(0),
        }
    }

    /// As large a budget as the pool, shared with the pool's other users.
    pub fn of_pool(pool: &Arc<MemoryPool>) -> Self {
        Self { pool: Some(Arc::clone(pool)), ..Self::new(pool.bytes_max) }
    }

    /// Lets operators spill to `temp`.
    #[must_use]
    pub fn with_temp(mut self, temp: Option<Arc<TempSpace>>) -> Self {
        self.temp = temp;
        self
    }

    /// Bytes in use now.
    pub const fn bytes_used(&self) -> u64 {
        self.used.get()
    }

    /// The most bytes in use at one time so far.
    pub const fn bytes_peak(&self) -> u64 {
        self.peak.get()
    }

    /// Bytes written to temporary space so far.
    pub const fn bytes_spilled(&self) -> u64 {
        self.spilled.get()
    }

    /// Sets aside a floor for each of `operators`.
    pub(crate) fn set_aside(&self, operators: usize) {
        let operators = operators.max(1) as u64;
        self.floor.set((self.bytes_max / 2 / operators).min(FLOOR_BYTES_MAX));
        self.charged.set(self.floor.get() * operators);
    }

    fn exhausted(&self, bytes_wanted: u64) -> Error {
        Error::OutOfMemory { bytes_wanted, bytes_max: self.bytes_max }
    }
}

/// What one operator has used, for EXPLAIN ANALYZE.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) peak: Cell<u64>,
    pub(crate) spilled: Cell<u64>,
}

/// One operator's share of a budget, given back when dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Rc<MemoryBudget>,
    tally: Rc<Tally>,
    bytes: u64,
}

impl Reservation {
    /// The share of an operator for which a floor has been set aside.
    pub(crate) fn new(budget: &Rc<MemoryBudget>, tally: &Rc<Tally>) -> Self {
        Self { budget: Rc::clone(budget), tally: Rc::clone(tally), bytes: 0 }
    }

    /// What `bytes` of this operator's count for.
    fn charge(&self, bytes: u64) -> u64 {
        bytes.max(self.budget.floor.get())
    }

    /// What all others hold and may count on.
    fn others(&self) -> u64 {
        self.budget.charged.get().saturating_sub(self.charge(self.bytes))
    }

    /// The most that the share can be just now.
    pub(crate) fn bytes_available(&self) -> usize {
        let in_query = self.budget.bytes_max.saturating_sub(self.others());
        let in_pool = self
            .budget
            .pool
            .as_ref()
            .map_or(u64::MAX, |pool| pool.bytes_max.saturating_sub(pool.bytes_used().saturating_sub(self.bytes)));
        in_query.min(in_pool).max(self.budget.floor.get()).min(usize::MAX as u64 / 4) as usize
    }

    /// Makes the share `bytes` in all, if that is possible.
    #[must_use]
    pub(crate) fn try_resize(&mut self, bytes: usize) -> bool {
        let wanted = bytes as u64;
        if wanted > self.bytes {
            let granted = wanted <= self.budget.floor.get() || bytes <= self.bytes_available();
            if !granted || !has_memory(wanted - self.bytes) {
                return false;
            }
        }
        self.force(bytes);
        true
    }

    /// Makes the share `bytes` in all.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when others need what is left.
    pub(crate) fn resize(&mut self, bytes: usize) -> Result<()> {
        let more = (bytes as u64).saturating_sub(self.bytes);
        if self.try_resize(bytes) { Ok(()) } else { Err(self.budget.exhausted(more)) }
    }

    /// Sees that there is room for `bytes` that are not kept for long.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn check(&self, bytes: usize) -> Result<()> {
        if bytes <= self.bytes_available() { Ok(()) } else { Err(self.budget.exhausted(bytes as u64)) }
    }

    /// Counts what is held already or cannot be avoided.
    pub(crate) fn force(&mut self, bytes: usize) {
        let bytes = bytes as u64;
        let budget = &self.budget;
        budget.charged.set(self.others() + self.charge(bytes));
        let used = budget.used.get().saturating_sub(self.bytes) + bytes;
        budget.used.set(used);
        budget.peak.set(budget.peak.get().max(used));
        if let Some(pool) = &budget.pool {
            pool.used.fetch_add(bytes.wrapping_sub(self.bytes), Ordering::Relaxed);
        }
        self.tally.peak.set(self.tally.peak.get().max(bytes));
        self.bytes = bytes;
    }

    /// The share, leaving an empty one.
    pub(crate) fn take(&mut self) -> Self {
        let empty = Self::new(&self.budget, &self.tally);
        std::mem::replace(self, empty)
    }

    /// Where to spill.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when there is no place: the operator must do without.
    pub(crate) fn temp(&self, bytes_wanted: usize) -> Result<&Arc<TempSpace>> {
        self.budget.temp.as_ref().ok_or_else(|| self.budget.exhausted(bytes_wanted as u64))
    }

    /// Notes bytes written to temporary space.
    pub(crate) fn spilled(&self, bytes: u64) {
        self.tally.spilled.set(self.tally.spilled.get() + bytes);
        self.budget.spilled.set(self.budget.spilled.get() + bytes);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // The floor stays set aside: below an apply the operator is started again.
        self.force(0);
    }
}

/// Whether the allocator has as much, as far as it can tell.
fn has_memory(bytes: u64) -> bool {
    if bytes < PROBE_BYTES_MIN {
        return true;
    }
    let mut probe: Vec<u8> = Vec::new();
    let granted = usize::try_from(bytes).is_ok_and(|bytes| probe.try_reserve_exact(bytes).is_ok());
    // Else the allocation may be optimized away.
    std::hint::black_box(&probe);
    granted
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
