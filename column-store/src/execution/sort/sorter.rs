//! Rows sorted for whoever is no operator: loads.

use super::{Key, SortedRuns};
use crate::Result;
use crate::execution::memory::{MemoryBudget, Reservation};
use crate::vector::Batch;
use gingham_types::SqlType;
use std::rc::Rc;

/// Takes rows, then gives them in order: ascending with NULL last, descending with NULL
/// first. Rows equal in every key stay in the order in which they came.
#[derive(Debug)]
pub struct RowSorter {
    runs: SortedRuns,
    bytes_max: usize,
    rows: usize,
    begun: bool,
}

impl RowSorter {
    /// A sorter of rows of `types` by columns, each with whether it descends, that keeps
    /// about `bytes_max` bytes in memory.
    pub fn new(types: &[SqlType], keys: &[(usize, bool)], bytes_max: usize) -> Self {
        let key = |(column, descending): &(usize, bool)| Key {
            column: *column,
            descending: *descending,
            nulls_first: *descending,
        };
        let runs = SortedRuns::new(types.to_vec(), keys.iter().map(key).collect());
        Self { runs, bytes_max, rows: 0, begun: false }
    }

    /// Rows that have been taken and not been given yet.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Takes rows. `budget` says where those go that are too many.
    ///
    /// # Errors
    /// Out of memory where there is no temporary space; errors of the file system.
    pub fn push(&mut self, batch: &Batch, budget: &Rc<MemoryBudget>) -> Result<()> {
        self.runs.append(batch, &(0..batch.rows as u32).collect::<Vec<u32>>())?;
        self.rows += batch.rows;
        if self.runs.memory_bytes() > self.bytes_max {
            self.runs.spill(&Reservation::new(budget, &Rc::default()))?;
        }
        Ok(())
    }

    /// The next rows in order; there are no more to take.
    ///
    /// # Errors
    /// As [`RowSorter::push`].
    pub fn next(&mut self, budget: &Rc<MemoryBudget>) -> Result<Option<Batch>> {
        let memory = Reservation::new(budget, &Rc::default());
        if !self.begun {
            self.begun = true;
            self.runs.begin(&memory)?;
        }
        let batch = self.runs.next(&memory)?;
        self.rows -= batch.as_ref().map_or(0, |batch| batch.rows);
        Ok(batch)
    }
}
