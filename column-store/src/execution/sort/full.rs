//! Sorting all rows: sorted runs, one a step, merged while they are put out.

use super::Rows;
use super::order::{Entry, Order};
use crate::Result;
use crate::execution::columns::ColumnStore;
use crate::execution::memory::Reservation;
use crate::execution::stage::{Operator, Stage};
use crate::source::Step;
use crate::vector::BATCH_ROWS;
use std::cmp::Ordering;

/// Rows of a run: sorted in some milliseconds.
const RUN_ROWS: usize = 1 << 16;

/// Sorts its whole input.
pub(super) struct SortOperator {
    input: Stage,
    rows: Rows,
    store: ColumnStore,
    phase: Phase,
    skip: u64,
    remaining: u64,
    memory: Reservation,
}

enum Phase {
    Take,
    /// Runs sorted so far.
    Runs(Order, Vec<Vec<Entry>>),
    Merge(Order, Merge),
}

impl SortOperator {
    pub(super) fn new(input: Stage, rows: Rows, limit: u64, offset: u64, memory: Reservation) -> Self {
        Self { input, store: rows.store(), rows, phase: Phase::Take, skip: offset, remaining: limit, memory }
    }
}

impl Operator for SortOperator {
    fn next(&mut self) -> Result<Step> {
        let store = &mut self.store;
        match &mut self.phase {
            Phase::Take => match self.input.next()? {
                Step::Batch(batch) => {
                    store.append(&self.rows.widen(&batch)?, None)?;
                    self.memory.resize(store.memory_bytes())?;
                }
                Step::Working => {}
                Step::Finished => {
                    store.freeze();
                    self.memory.resize(store.memory_bytes() + store.rows() * size_of::<Entry>())?;
                    self.phase = Phase::Runs(Order::new(store, &self.rows.keys), Vec::new());
                }
            },
            Phase::Runs(order, runs) => {
                let start = runs.len() * RUN_ROWS;
                let end = (start + RUN_ROWS).min(store.rows());
                if start < end {
                    let mut run = order.entries(store, start..end);
                    order.sort(store, &mut run);
                    runs.push(run);
                }
                if end == store.rows() {
                    let runs = std::mem::take(runs);
                    let Phase::Runs(order, _) = std::mem::replace(&mut self.phase, Phase::Take) else {
                        return Ok(Step::Finished);
                    };
                    let merge = Merge::new(runs, |a, b| order.compare(store, a, b));
                    self.phase = Phase::Merge(order, merge);
                }
            }
            Phase::Merge(order, merge) => {
                let mut numbers = Vec::with_capacity(BATCH_ROWS);
                while numbers.len() < BATCH_ROWS && self.remaining > 0 {
                    let Some((_, row)) = merge.next(|a, b| order.compare(store, a, b)) else {
                        break;
                    };
                    if self.skip > 0 {
                        self.skip -= 1;
                    } else {
                        self.remaining -= 1;
                        numbers.push(row);
                    }
                }
                if numbers.is_empty() {
                    return Ok(Step::Finished);
                }
                return Ok(Step::Batch(self.rows.narrow(store.gather(&numbers))));
            }
        }
        Ok(Step::Working)
    }
}

/// Sorted runs and a heap over their first entries.
struct Merge {
    runs: Vec<Vec<Entry>>,
    /// For each run, the next entry.
    next: Vec<usize>,
    /// Runs that are not exhausted; the one whose next entry comes first is on top.
    heap: Vec<usize>,
}

impl Merge {
    fn new(runs: Vec<Vec<Entry>>, compare: impl Fn(Entry, Entry) -> Ordering) -> Self {
        let mut merge = Self { next: vec![0; runs.len()], heap: (0..runs.len()).collect(), runs };
        for at in (0..merge.heap.len() / 2).rev() {
            merge.sift_down(at, &compare);
        }
        merge
    }

    fn next(&mut self, compare: impl Fn(Entry, Entry) -> Ordering) -> Option<Entry> {
        let run = *self.heap.first()?;
        let entry = self.runs[run][self.next[run]];
        self.next[run] += 1;
        if self.next[run] == self.runs[run].len() {
            self.heap.swap_remove(0);
        }
        self.sift_down(0, &compare);
        Some(entry)
    }

    fn head(&self, at: usize) -> Entry {
        let run = self.heap[at];
        self.runs[run][self.next[run]]
    }

    fn sift_down(&mut self, mut at: usize, compare: &impl Fn(Entry, Entry) -> Ordering) {
        loop {
            let children = 2 * at + 1..(2 * at + 3).min(self.heap.len());
            let least = children.min_by(|a, b| compare(self.head(*a), self.head(*b)));
            match least {
                Some(child) if compare(self.head(child), self.head(at)) == Ordering::Less => {
                    self.heap.swap(child, at);
                    at = child;
                }
                _ => return,
            }
        }
    }
}
