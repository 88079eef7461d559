//! The first rows of an order: a bounded number is kept.
//!
//! Rows are gathered until there are twice as many as wanted, then sorted and cut. From
//! then on a row whose first key comes after that of the last kept row is dropped
//! without being gathered, which soon is nearly every row.

use super::Rows;
use super::order::{Order, coarse};
use crate::Result;
use crate::execution::columns::ColumnStore;
use crate::execution::memory::Reservation;
use crate::execution::stage::{Operator, Stage};
use crate::source::Step;
use crate::vector::{BATCH_ROWS, Batch};

/// Rows gathered on top of those wanted before they are cut.
const SLACK_ROWS_MIN: usize = 4 * BATCH_ROWS;

/// Sorts and keeps the first `offset + limit` rows.
pub(super) struct TopOperator {
    input: Stage,
    rows: Rows,
    store: ColumnStore,
    limit: usize,
    offset: usize,
    /// The greatest coarse first key that a row may have.
    threshold: u64,
    /// Rows to put out, once sorted, and how far that has gone.
    sorted: Option<(Vec<u32>, usize)>,
    memory: Reservation,
}

impl TopOperator {
    pub(super) fn new(input: Stage, rows: Rows, limit: usize, offset: usize, memory: Reservation) -> Self {
        Self { input, store: rows.store(), rows, limit, offset, threshold: u64::MAX, sorted: None, memory }
    }

    fn wanted(&self) -> usize {
        self.limit + self.offset
    }

    fn take(&mut self, batch: &Batch) -> Result<()> {
        let batch = self.rows.widen(batch)?;
        match self.rows.keys.first() {
            Some(key) if self.threshold < u64::MAX => {
                let words = coarse(&batch.columns[key.column], key);
                let mut kept = Vec::new();
                for (row, word) in words.iter().enumerate() {
                    if *word <= self.threshold {
                        kept.push(row as u32);
                    }
                }
                self.store.append(&batch, Some(&kept))?;
            }
            _ => self.store.append(&batch, None)?,
        }
        if self.store.rows() >= self.wanted() + self.wanted().max(SLACK_ROWS_MIN) {
            self.cut()?;
        }
        self.memory.resize(self.store.memory_bytes())
    }

    /// The rows that come first, in order.
    fn first(&mut self) -> Vec<u32> {
        self.store.freeze();
        let order = Order::new(&self.store, &self.rows.keys);
        let mut entries = order.entries(&self.store, 0..self.store.rows());
        order.sort_first(&self.store, &mut entries, self.wanted());
        entries.into_iter().map(|(_, row)| row).collect()
    }

    fn cut(&mut self) -> Result<()> {
        let first = self.first();
        let kept = self.store.gather(&first);
        if let (Some(key), Some(last)) = (self.rows.keys.first(), kept.rows.checked_sub(1)) {
            let vector = kept.columns[key.column].gather(&[last as u32]);
            self.threshold = coarse(&vector, key)[0];
        }
        self.store = self.rows.store();
        self.store.append(&kept, None)
    }
}

impl Operator for TopOperator {
    fn next(&mut self) -> Result<Step> {
        if self.limit == 0 {
            return Ok(Step::Finished);
        }
        let Some((numbers, next)) = &mut self.sorted else {
            match self.input.next()? {
                Step::Batch(batch) => self.take(&batch)?,
                Step::Working => {}
                Step::Finished => self.sorted = Some((self.first(), self.offset)),
            }
            return Ok(Step::Working);
        };
        let end = (*next + BATCH_ROWS).min(numbers.len());
        if *next >= end {
            return Ok(Step::Finished);
        }
        let batch = self.store.gather(&numbers[*next..end]);
        *next = end;
        Ok(Step::Batch(self.rows.narrow(batch)))
    }
}
