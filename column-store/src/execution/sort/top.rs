//! The first rows of an order: a bounded number is kept.
//!
//! Rows are gathered until there are twice as many as wanted, then sorted and cut. A row
//! whose first key comes after that of the last one kept is dropped without being
//! gathered, which soon is nearly every row; where few are wanted, from the first on.

use super::full::SortOperator;
use super::order::{Order, coarse};
use crate::Result;
use crate::execution::stage::Operator;
use crate::source::Step;
use crate::vector::{BATCH_ROWS, Batch};
use std::collections::BinaryHeap;

/// Rows gathered on top of those wanted before they are cut.
const SLACK_ROWS_MIN: usize = 4 * BATCH_ROWS;

/// Sorts and keeps the first `offset + limit` rows.
pub(super) struct TopOperator {
    /// The rows kept, and what takes over when there is no memory for them.
    sort: Option<SortOperator>,
    limit: usize,
    offset: usize,
    /// The greatest coarse first key that a row may have.
    threshold: u64,
    /// The coarse first keys that come first, if few rows are wanted.
    least: BinaryHeap<u64>,
    /// Rows to put out, once sorted, and how far that has gone.
    sorted: Option<(Vec<u32>, usize)>,
    overflowed: bool,
}

impl TopOperator {
    pub(super) const fn new(sort: SortOperator, limit: usize, offset: usize) -> Self {
        Self {
            sort: Some(sort),
            limit,
            offset,
            threshold: u64::MAX,
            least: BinaryHeap::new(),
            sorted: None,
            overflowed: false,
        }
    }

    /// The sort of all rows, with those kept so far, where memory does not suffice even
    /// for the first rows. Rows equal in every key are in the order in which they came.
    pub(super) fn overflow(&mut self) -> Option<SortOperator> {
        if self.overflowed { self.sort.take() } else { None }
    }

    fn wanted(&self) -> usize {
        self.limit + self.offset
    }

    /// Keeps the least coarse keys of all rows so far, as many as are wanted: what comes
    /// after the greatest of them is not among the first.
    fn lower_threshold(&mut self, words: &[u64]) {
        for word in words {
            if self.least.len() < self.wanted() {
                self.least.push(*word);
            } else if let Some(mut greatest) = self.least.peek_mut()
                && *word < *greatest
            {
                *greatest = *word;
            }
        }
        if let Some(greatest) = self.least.peek().filter(|_| self.least.len() >= self.wanted()) {
            self.threshold = self.threshold.min(*greatest);
        }
    }

    fn take(&mut self, sort: &mut SortOperator, batch: &Batch) -> Result<()> {
        let batch = sort.rows.widen(batch)?;
        match sort.rows.layout.keys.first() {
            Some(key) if self.threshold < u64::MAX || self.wanted() <= BATCH_ROWS => {
                let words = coarse(&batch.columns[key.column], key);
                if self.wanted() <= BATCH_ROWS {
                    self.lower_threshold(&words);
                }
                let mut kept = Vec::new();
                for (row, word) in words.iter().enumerate() {
                    if *word <= self.threshold {
                        kept.push(row as u32);
                    }
                }
                sort.store.append(&batch, Some(&kept))?;
            }
            _ => sort.store.append(&batch, None)?,
        }
        if sort.store.rows() >= self.wanted() + self.wanted().max(SLACK_ROWS_MIN) {
            self.cut(sort)?;
        }
        // Cutting needs the rows it keeps twice.
        let bytes = sort.store.memory_bytes();
        if !sort.memory.try_resize(bytes * 2) {
            sort.memory.temp(bytes * 2)?;
            sort.memory.force(bytes);
            self.overflowed = true;
        }
        Ok(())
    }

    /// The rows that come first, in order.
    fn first(&self, sort: &mut SortOperator) -> Vec<u32> {
        sort.store.freeze();
        let order = Order::new(&sort.store, &sort.rows.layout.keys);
        let mut entries = order.entries(&sort.store, 0..sort.store.rows());
        order.sort_first(&sort.store, &mut entries, self.wanted());
        entries.into_iter().map(|(_, row)| row).collect()
    }

    fn cut(&mut self, sort: &mut SortOperator) -> Result<()> {
        let first = self.first(sort);
        let kept = sort.store.gather(&first);
        if let (Some(key), Some(last)) = (sort.rows.layout.keys.first(), kept.rows.checked_sub(1)) {
            let vector = kept.columns[key.column].gather(&[last as u32]);
            self.threshold = coarse(&vector, key)[0];
        }
        sort.store = sort.rows.store();
        sort.store.append(&kept, None)
    }

    fn advance(&mut self, sort: &mut SortOperator) -> Result<Step> {
        let Some((numbers, next)) = &mut self.sorted else {
            match sort.input.next()? {
                Step::Batch(batch) => self.take(sort, &batch)?,
                Step::Working => {}
                Step::Finished => self.sorted = Some((self.first(sort), self.offset)),
            }
            return Ok(Step::Working);
        };
        let end = (*next + BATCH_ROWS).min(numbers.len());
        if *next >= end {
            return Ok(Step::Finished);
        }
        let batch = sort.store.gather(&numbers[*next..end]);
        *next = end;
        Ok(Step::Batch(sort.rows.narrow(batch)))
    }
}

impl Operator for TopOperator {
    fn next(&mut self) -> Result<Step> {
        let (Some(mut sort), true) = (self.sort.take(), self.limit > 0) else {
            return Ok(Step::Finished);
        };
        let step = self.advance(&mut sort);
        self.sort = Some(sort);
        step
    }
}
