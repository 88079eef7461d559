//! Sorted runs in temporary space, merged into fewer until one pass merges them all.

use super::Layout;
use super::order::{Cell, coarse, compare_rows};
use crate::Result;
use crate::execution::columns::ColumnStore;
use crate::execution::memory::Reservation;
use crate::execution::spill::{Run, RunReader, RunWriter, block_bytes};
use crate::vector::Batch;
use std::cmp::Ordering;
use std::collections::VecDeque;

/// Runs merged at a time at the most: beyond, blocks are read in too random an order.
const FAN_IN_MAX: usize = 64;

/// Runs on their way to becoming one. Runs stay in the order in which their rows came, so
/// that rows equal in every key do.
#[derive(Debug)]
pub(super) struct External {
    /// Runs of this pass, and those it has made.
    waiting: VecDeque<Run>,
    merged: VecDeque<Run>,
    merging: Merger,
    /// Where merged rows go; `None` in the last pass.
    writer: Option<RunWriter>,
    fan_in: usize,
    bytes: usize,
}

impl External {
    /// Bytes that merging takes.
    pub(super) const fn memory_bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn new(runs: Vec<Run>, rows: &Layout, memory: &Reservation) -> Result<Self> {
        // A run being merged has a block and the rows of another, and what is put out is
        // made of a batch of each.
        let bytes = memory.bytes_available();
        let run_bytes = 4 * block_bytes(bytes);
        let fan_in = (bytes / run_bytes).clamp(2, FAN_IN_MAX);
        let mut external = Self {
            bytes: fan_in.min(runs.len()) * run_bytes,
            waiting: runs.into(),
            merged: VecDeque::new(),
            merging: Merger::new(Vec::new(), rows)?,
            writer: None,
            fan_in,
        };
        external.begin(rows, memory)?;
        Ok(external)
    }

    /// Takes up the next runs to merge.
    fn begin(&mut self, rows: &Layout, memory: &Reservation) -> Result<()> {
        let is_last = self.merged.is_empty() && self.waiting.len() <= self.fan_in;
        let count = self.fan_in.min(self.waiting.len());
        self.merging = Merger::new(self.waiting.drain(..count).collect(), rows)?;
        self.writer = if is_last {
            None
        } else {
            let bytes = memory.bytes_available();
            Some(RunWriter::new(memory.temp(bytes)?, block_bytes(bytes)))
        };
        Ok(())
    }

    /// The next rows of the last pass: at most `wanted`, `Working` before it begins,
    /// `Finished` at the end.
    pub(super) fn next(&mut self, wanted: usize, rows: &Layout, memory: &Reservation) -> Result<Merged> {
        let batch = self.merging.next(wanted, rows)?;
        let Some(writer) = &mut self.writer else {
            return Ok(batch.map_or(Merged::Finished, Merged::Batch));
        };
        if let Some(batch) = batch {
            writer.push(&batch, None, memory)?;
            return Ok(Merged::Working);
        }
        if let Some(writer) = self.writer.take() {
            self.merged.push_back(writer.finish(memory)?);
        }
        if self.waiting.is_empty() {
            std::mem::swap(&mut self.waiting, &mut self.merged);
        }
        self.begin(rows, memory)?;
        Ok(Merged::Working)
    }
}

/// What a step of merging gives.
pub(super) enum Merged {
    Batch(Batch),
    Working,
    Finished,
}

/// Runs being merged, and a heap over their next rows.
#[derive(Debug)]
struct Merger {
    sources: Vec<Source>,
    /// Sources with rows left; the one whose next row comes first is on top.
    heap: Vec<usize>,
}

#[derive(Debug)]
struct Source {
    reader: RunReader,
    batch: Batch,
    /// The next row.
    row: usize,
    /// Integers in the order of the first key.
    coarse: Vec<u64>,
    /// Which of the batches being put together this one is.
    part: Option<usize>,
}

impl Source {
    /// A value of the next row.
    fn cell(&self, column: usize) -> Cell<'_> {
        let vector = &self.batch.columns[column];
        Cell { data: &vector.data, validity: vector.validity.as_deref(), row: self.row }
    }

    /// Goes on to the next batch; `false` if there is none.
    fn advance(&mut self, rows: &Layout) -> Result<bool> {
        let Some(batch) = self.reader.next()? else {
            return Ok(false);
        };
        self.coarse = match rows.keys.first() {
            Some(key) => coarse(&batch.columns[key.column], key),
            None => vec![0; batch.rows],
        };
        (self.batch, self.row, self.part) = (batch, 0, None);
        Ok(true)
    }
}

impl Merger {
    fn new(runs: Vec<Run>, rows: &Layout) -> Result<Self> {
        let mut merger = Self { sources: Vec::with_capacity(runs.len()), heap: Vec::new() };
        for run in runs {
            let reader = RunReader::of_batches(run);
            let batch = Batch { columns: Vec::new(), rows: 0 };
            let mut source = Source { reader, batch, row: 0, coarse: Vec::new(), part: None };
            if source.advance(rows)? {
                merger.heap.push(merger.sources.len());
                merger.sources.push(source);
            }
        }
        for at in (0..merger.heap.len() / 2).rev() {
            merger.sift_down(at, rows);
        }
        Ok(merger)
    }

    /// The next rows, at most `wanted`; `None` at the end.
    fn next(&mut self, wanted: usize, rows: &Layout) -> Result<Option<Batch>> {
        // Rows are taken batch by batch and then put in order, so that each column is
        // gathered twice instead of value by value.
        let mut parts: Vec<(Batch, Vec<u32>)> = Vec::new();
        let mut order: Vec<(usize, u32)> = Vec::with_capacity(wanted);
        while order.len() < wanted {
            let Some(top) = self.heap.first().copied() else {
                break;
            };
            let source = &mut self.sources[top];
            let part = *source.part.get_or_insert_with(|| {
                parts.push((source.batch.clone(), Vec::new()));
                parts.len() - 1
            });
            order.push((part, parts[part].1.len() as u32));
            parts[part].1.push(source.row as u32);
            source.row += 1;
            if source.row == source.batch.rows && !source.advance(rows)? {
                self.heap.swap_remove(0);
            }
            self.sift_down(0, rows);
        }
        self.sources.iter_mut().for_each(|source| source.part = None);
        if order.is_empty() {
            return Ok(None);
        }
        let mut store = ColumnStore::new(&rows.types);
        let mut starts = Vec::with_capacity(parts.len());
        for (batch, picked) in &parts {
            starts.push(store.rows() as u32);
            store.append(batch, Some(picked))?;
        }
        store.freeze();
        let numbers: Vec<u32> = order.iter().map(|(part, at)| starts[*part] + at).collect();
        Ok(Some(store.gather(&numbers)))
    }

    /// The order of the next rows of two sources; the earlier run's comes first.
    fn compare(&self, a: usize, b: usize, rows: &Layout) -> Ordering {
        let (left, right) = (&self.sources[a], &self.sources[b]);
        let whole = || compare_rows(&rows.keys, |column| (left.cell(column), right.cell(column)));
        left.coarse[left.row].cmp(&right.coarse[right.row]).then_with(whole).then(a.cmp(&b))
    }

    fn sift_down(&mut self, mut at: usize, rows: &Layout) {
        loop {
            let children = 2 * at + 1..(2 * at + 3).min(self.heap.len());
            let least = children.min_by(|a, b| self.compare(self.heap[*a], self.heap[*b], rows));
            match least {
                Some(child) if self.compare(self.heap[child], self.heap[at], rows) == Ordering::Less => {
                    self.heap.swap(child, at);
                    at = child;
                }
                _ => return,
            }
        }
    }
}
