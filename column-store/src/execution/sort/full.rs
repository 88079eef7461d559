//! Sorting all rows: sorted runs, one a step, merged while they are put out.
//!
//! Rows are kept until memory runs out. Then those there are become one run in temporary
//! space, and at the end all runs are merged from there.

use super::Rows;
use super::external::{External, Merged};
use super::order::{Entry, Order};
use crate::Result;
use crate::execution::columns::ColumnStore;
use crate::execution::memory::Reservation;
use crate::execution::spill::{Run, RunWriter, block_bytes};
use crate::execution::stage::{Operator, Stage};
use crate::source::Step;
use crate::vector::{BATCH_ROWS, Batch};
use std::cmp::Ordering;

/// Rows of a run in memory: sorted in some milliseconds.
const RUN_ROWS: usize = 1 << 16;

/// Rows that are put out or spilled at a time: so many that merging them from many runs
/// stays within memory.
pub(super) const SPILLED_ROWS_MIN: usize = 16;

/// Sorts its whole input.
pub(super) struct SortOperator {
    pub(super) input: Stage,
    pub(super) rows: Rows,
    pub(super) store: ColumnStore,
    phase: Phase,
    skip: u64,
    remaining: u64,
    pub(super) memory: Reservation,
    input_finished: bool,
    /// A batch for which there was no memory.
    pending: Option<Batch>,
    spilled: Vec<Run>,
}

enum Phase {
    Take,
    /// Runs in memory sorted so far.
    Runs(Order, Vec<Vec<Entry>>),
    Merge(Order, Merge, Target),
    External(Box<External>),
}

/// Where merged rows go.
enum Target {
    Output,
    /// To temporary space, so many rows at a time.
    Run(RunWriter, usize),
}

impl SortOperator {
    pub(super) fn new(input: Stage, rows: Rows, limit: u64, offset: u64, memory: Reservation) -> Self {
        Self {
            input,
            store: rows.store(),
            rows,
            phase: Phase::Take,
            skip: offset,
            remaining: limit,
            memory,
            input_finished: false,
            pending: None,
            spilled: Vec::new(),
        }
    }

    /// Keeps a batch if there is memory for it, or if there are no other rows.
    fn take(&mut self, batch: Batch) -> Result<()> {
        let entries = (self.store.rows() + batch.rows) * size_of::<Entry>();
        let wanted = self.store.grown_bytes(batch.rows) + entries;
        // What merging needs beside the rows.
        let wanted = wanted + wanted / 8;
        if !self.memory.try_resize(wanted) {
            self.memory.temp(wanted)?;
            if self.store.rows() > 0 {
                self.pending = Some(batch);
                self.sort_kept();
                return Ok(());
            }
        }
        self.store.append(&batch, None)?;
        self.memory.force(self.store.memory_bytes() + entries);
        Ok(())
    }

    /// Begins to sort the rows kept.
    fn sort_kept(&mut self) {
        self.store.freeze();
        self.phase = Phase::Runs(Order::new(&self.store, &self.rows.layout.keys), Vec::new());
    }

    /// Where the rows kept go once they are sorted.
    fn target(&self) -> Result<Target> {
        if self.input_finished && self.spilled.is_empty() {
            return Ok(Target::Output);
        }
        let bytes = block_bytes(self.memory.bytes_available());
        let row_bytes = self.store.memory_bytes() / self.store.rows().max(1);
        let rows = (bytes / row_bytes.max(1)).clamp(SPILLED_ROWS_MIN, BATCH_ROWS);
        Ok(Target::Run(RunWriter::new(self.memory.temp(bytes)?, bytes), rows))
    }

    /// After the rows kept have gone to temporary space.
    fn spilled(&mut self, run: Run) -> Result<()> {
        self.spilled.push(run);
        self.store = self.rows.store();
        self.memory.force(0);
        self.phase = Phase::Take;
        match self.pending.take() {
            Some(batch) => self.take(batch),
            None => self.end_of_input(),
        }
    }

    fn end_of_input(&mut self) -> Result<()> {
        self.input_finished = true;
        if self.spilled.is_empty() || self.store.rows() > 0 {
            self.sort_kept();
            return Ok(());
        }
        let runs = std::mem::take(&mut self.spilled);
        let external = External::new(runs, &self.rows.layout, &self.memory)?;
        self.memory.force(external.memory_bytes());
        self.phase = Phase::External(Box::new(external));
        Ok(())
    }

    /// Sorts one more run in memory.
    fn sort_more(&mut self) -> Result<()> {
        let Phase::Runs(order, runs) = &mut self.phase else {
            return Ok(());
        };
        let store = &self.store;
        let start = runs.len() * RUN_ROWS;
        let end = (start + RUN_ROWS).min(store.rows());
        if start < end {
            let mut run = order.entries(store, start..end);
            order.sort(store, &mut run);
            runs.push(run);
        }
        if end == store.rows() {
            let target = self.target()?;
            if let Phase::Runs(order, runs) = std::mem::replace(&mut self.phase, Phase::Take) {
                let merge = Merge::new(runs, |a, b| order.compare(&self.store, a, b));
                self.phase = Phase::Merge(order, merge, target);
            }
        }
        Ok(())
    }

    /// Puts the next rows out, or into temporary space.
    fn merge_more(&mut self) -> Result<Step> {
        let Phase::Merge(order, merge, target) = &mut self.phase else {
            return Ok(Step::Finished);
        };
        let (mut none, mut all) = (0, u64::MAX);
        let (skip, remaining, wanted) = match target {
            Target::Output => (&mut self.skip, &mut self.remaining, BATCH_ROWS),
            Target::Run(_, rows) => (&mut none, &mut all, *rows),
        };
        let mut numbers = Vec::with_capacity(wanted);
        while numbers.len() < wanted && *remaining > 0 {
            let Some((_, row)) = merge.next(|a, b| order.compare(&self.store, a, b)) else {
                break;
            };
            if *skip > 0 {
                *skip -= 1;
            } else {
                *remaining -= 1;
                numbers.push(row);
            }
        }
        if let Target::Run(writer, _) = target
            && !numbers.is_empty()
        {
            writer.push(&self.store.gather(&numbers), None, &self.memory)?;
            return Ok(Step::Working);
        }
        if !numbers.is_empty() {
            return Ok(Step::Batch(self.rows.narrow(self.store.gather(&numbers))));
        }
        match std::mem::replace(&mut self.phase, Phase::Take) {
            Phase::Merge(.., Target::Run(writer, _)) => {
                let run = writer.finish(&self.memory)?;
                self.spilled(run)?;
                Ok(Step::Working)
            }
            _ => Ok(Step::Finished),
        }
    }

    fn merge_external(&mut self) -> Result<Step> {
        let Phase::External(external) = &mut self.phase else {
            return Ok(Step::Finished);
        };
        if self.remaining == 0 {
            return Ok(Step::Finished);
        }
        let wanted = BATCH_ROWS.min(usize::try_from(self.remaining.saturating_add(self.skip)).unwrap_or(BATCH_ROWS));
        let batch = match external.next(wanted, &self.rows.layout, &self.memory)? {
            Merged::Batch(batch) => batch,
            Merged::Working => return Ok(Step::Working),
            Merged::Finished => return Ok(Step::Finished),
        };
        let skipped = self.skip.min(batch.rows as u64);
        self.skip -= skipped;
        let kept = (batch.rows as u64 - skipped).min(self.remaining);
        self.remaining -= kept;
        if kept == 0 {
            return Ok(Step::Working);
        }
        let batch = self.rows.narrow(batch);
        if kept == batch.rows as u64 {
            return Ok(Step::Batch(batch));
        }
        let rows: Vec<u32> = (skipped as u32..(skipped + kept) as u32).collect();
        Ok(Step::Batch(batch.gather(&rows)))
    }
}

impl Operator for SortOperator {
    fn next(&mut self) -> Result<Step> {
        match &self.phase {
            Phase::Take => match self.input.next()? {
                Step::Batch(batch) => {
                    let batch = self.rows.widen(&batch)?;
                    self.take(batch)?;
                }
                Step::Working => {}
                Step::Finished => self.end_of_input()?,
            },
            Phase::Runs(..) => self.sort_more()?,
            Phase::Merge(..) => return self.merge_more(),
            Phase::External(_) => return self.merge_external(),
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
