//! Window functions over rows that arrive sorted by partition and order.
//!
//! Rows are kept until whole partitions are there, several small ones at a time, so that
//! every function runs over many rows at once. Frames are computed as two numbers a row
//! ([`frames`]); what picks a row of a frame is arithmetic on them ([`pick`]), and
//! aggregates slide in time linear in the rows, or nearly so ([`sliding`]). A partition
//! that memory does not hold is worked on in temporary space ([`large`]).

mod carry;
mod frames;
mod large;
mod pick;
mod sliding;

use super::columns::ColumnStore;
use super::keys::differs;
use super::memory::Reservation;
use super::sort::SortedBy;
use super::stage::{Operator, Site, Stage};
use crate::Result;
use crate::expression::{EvaluatorSet, Runtime};
use crate::source::Step;
use crate::vector::{BATCH_ROWS, Batch, Data, Vector};
use frames::{Bound, Frame};
use gingham_plan::{Expr, FrameBound, SortKey, Window, WindowFunction};
use gingham_types::SqlType;
use large::{Large, PassSite};
use std::sync::Arc;

/// Rows gathered before complete partitions are computed.
const CHUNK_ROWS: usize = 8 * BATCH_ROWS;

/// Bytes a row that a function takes: the edges of its frame, and its result.
const CALL_ROW_BYTES: usize = 32;

/// One function over kept columns.
#[derive(Clone)]
struct Call {
    function: WindowFunction,
    arguments: Vec<usize>,
    argument_type: SqlType,
    distinct: bool,
    filter: Option<usize>,
    ignore_nulls: bool,
    order: Vec<SortedBy>,
    frame: Frame,
    ty: SqlType,
}

/// What is kept of the input: its columns, then what the functions need besides.
struct Kept {
    types: Vec<SqlType>,
    width: usize,
    extra: Vec<Expr>,
}

impl Kept {
    /// The kept column of an expression.
    fn column(&mut self, expr: &Expr) -> usize {
        if let Expr::Column { index, .. } = expr {
            return *index;
        }
        let at = self.extra.iter().position(|e| e == expr).unwrap_or_else(|| {
            self.types.push(expr.ty());
            self.extra.push(expr.clone());
            self.extra.len() - 1
        });
        self.width + at
    }

    fn bound(&mut self, bound: &FrameBound) -> Bound {
        match bound {
            FrameBound::UnboundedPreceding => Bound::First,
            FrameBound::Preceding(count) => Bound::Before(*count),
            FrameBound::CurrentRow => Bound::Current,
            FrameBound::Following(count) => Bound::After(*count),
            FrameBound::UnboundedFollowing => Bound::Last,
            FrameBound::Value(expr) => Bound::Value(self.column(expr)),
        }
    }

    fn key(&mut self, key: &SortKey) -> SortedBy {
        SortedBy { column: self.column(&key.expr), descending: key.descending, nulls_first: key.nulls_first }
    }

    fn call(&mut self, call: &gingham_plan::WindowCall) -> Call {
        let frame = Frame {
            units: call.frame.units,
            start: self.bound(&call.frame.start),
            end: self.bound(&call.frame.end),
            exclude: call.frame.exclude,
            key: call.frame.key.as_ref().map(|(key, descending)| (self.column(key), *descending)),
        };
        Call {
            function: call.function,
            arguments: call.arguments.iter().map(|e| self.column(e)).collect(),
            argument_type: call.arguments.first().map_or(SqlType::Null, Expr::ty),
            distinct: call.distinct,
            filter: call.filter.as_ref().map(|e| self.column(e)),
            ignore_nulls: call.ignore_nulls,
            order: call.order.iter().map(|key| self.key(key)).collect(),
            frame,
            ty: call.ty,
        }
    }
}

/// Rows that partitions and groups of peers begin at.
#[derive(Debug, Default)]
struct Starts {
    partitions: Vec<u32>,
    peers: Vec<u32>,
}

/// Computes window functions.
pub(crate) struct WindowOperator {
    input: Stage,
    kept: Kept,
    extra: EvaluatorSet,
    partition: Vec<usize>,
    order: Vec<usize>,
    calls: Vec<Call>,
    runtime: Runtime,
    store: ColumnStore,
    starts: Starts,
    /// The last batch, whose last row the next one's first is compared with.
    last: Option<Batch>,
    /// Rows at which the store is looked at for complete partitions.
    target: usize,
    finished: bool,
    chunk: Option<Chunk>,
    /// A partition that memory does not hold, and whether all of it is there.
    large: Option<Large>,
    is_complete: bool,
    /// Rows after a large partition.
    pending: Option<Batch>,
    memory: Reservation,
}

/// Complete partitions.
struct Chunk {
    store: ColumnStore,
    /// Types of the kept columns.
    types: Vec<SqlType>,
    rows: usize,
    /// Where each partition starts, and the end.
    partitions: Vec<u32>,
    /// Where each group of peers starts, and the end.
    peers: Vec<u32>,
    /// The group of peers of each row.
    peer_of: Vec<u32>,
    results: Vec<Vector>,
    /// The next row to put out.
    next: usize,
}

impl WindowOperator {
    pub(crate) fn new(site: &Site<'_>, window: &Window) -> Result<Self> {
        let types = window.input.types();
        let mut kept = Kept { width: types.len(), types, extra: Vec::new() };
        let partition = window.partition.iter().map(|e| kept.column(e)).collect();
        let order = window.order.iter().map(|key| kept.column(&key.expr)).collect();
        let calls = window.calls.iter().map(|call| kept.call(call)).collect();
        let runtime = site.scope.runtime();
        Ok(Self {
            input: site.input(0),
            extra: EvaluatorSet::new(&kept.extra, &runtime)?,
            store: ColumnStore::new(&kept.types),
            kept,
            partition,
            order,
            calls,
            runtime,
            starts: Starts::default(),
            last: None,
            target: CHUNK_ROWS,
            finished: false,
            chunk: None,
            large: None,
            is_complete: false,
            pending: None,
            memory: site.reservation(),
        })
    }

    fn take(&mut self, batch: &Batch) -> Result<()> {
        let mut columns = batch.columns.clone();
        columns.extend(self.extra.evaluate(batch)?);
        self.keep(Batch::new(columns, batch.rows))
    }

    /// Keeps rows with all columns that the functions need.
    fn keep(&mut self, batch: Batch) -> Result<()> {
        let mut new = vec![false; batch.rows];
        new[0] = self.last.is_none();
        mark_changes(&batch, self.last.as_ref(), &self.partition, &mut new);
        if let Some(large) = &mut self.large {
            let Some(end) = new.iter().position(|new| *new) else {
                large.push(&batch, &self.memory)?;
                self.last = Some(batch);
                return Ok(());
            };
            if end > 0 {
                large.push(&batch.gather(&(0..end as u32).collect::<Vec<u32>>()), &self.memory)?;
            }
            self.pending = Some(batch.gather(&(end as u32..batch.rows as u32).collect::<Vec<u32>>()));
            (self.is_complete, self.last) = (true, None);
            return Ok(());
        }
        let first = self.store.rows() as u32;
        let starts = |new: &[bool]| -> Vec<u32> {
            (0..new.len() as u32).filter(|row| new[*row as usize]).map(|row| first + row).collect()
        };
        self.starts.partitions.extend(starts(&new));
        mark_changes(&batch, self.last.as_ref(), &self.order, &mut new);
        self.starts.peers.extend(starts(&new));
        self.store.append(&batch, None)?;
        self.last = Some(batch);
        let rows = self.store.rows();
        let bytes = self.store.memory_bytes() + self.starts.peers.capacity() * 4 + self.working_bytes(rows);
        if self.memory.try_resize(bytes) {
            return if rows >= self.target { self.cut() } else { Ok(()) };
        }
        self.memory.temp(bytes)?;
        self.memory.force(bytes);
        // Complete partitions first; one that is not goes to temporary space.
        if self.starts.partitions.last().is_some_and(|start| *start > 0) { self.cut() } else { self.set_aside() }
    }

    /// Bytes that computing the functions of so many rows takes beside them.
    const fn working_bytes(&self, rows: usize) -> usize {
        rows * (size_of::<u32>() + self.calls.len() * CALL_ROW_BYTES)
    }

    /// Moves the one partition kept to temporary space.
    fn set_aside(&mut self) -> Result<()> {
        let mut store = std::mem::replace(&mut self.store, ColumnStore::new(&self.kept.types));
        store.freeze();
        self.starts = Starts::default();
        let mut large = Large::new();
        for start in (0..store.rows()).step_by(BATCH_ROWS) {
            let rows: Vec<u32> = (start as u32..(start + BATCH_ROWS).min(store.rows()) as u32).collect();
            large.push(&store.gather(&rows), &self.memory)?;
        }
        self.memory.force(0);
        (self.large, self.is_complete) = (Some(large), false);
        Ok(())
    }

    /// Goes on with a large partition that is complete.
    fn advance_large(&mut self, mut large: Large) -> Result<Step> {
        let site =
            PassSite { types: &self.kept.types, width: self.kept.width, order: &self.order, runtime: &self.runtime };
        let (batch, more) = large.advance(&self.calls, &site, &mut self.memory)?;
        if more {
            self.large = Some(large);
        } else {
            self.memory.force(0);
            self.target = CHUNK_ROWS;
            if let Some(pending) = self.pending.take() {
                self.keep(pending)?;
            }
        }
        Ok(batch.map_or(Step::Working, Step::Batch))
    }

    /// Takes the complete partitions out of the store, if there are any.
    fn cut(&mut self) -> Result<()> {
        let rows = self.store.rows();
        let cut = if self.finished { rows } else { self.starts.partitions.last().map_or(0, |row| *row as usize) };
        if cut == 0 {
            // One partition so far: wait for twice as much, so that looking stays cheap.
            self.target = rows * 2;
            return Ok(());
        }
        let mut store = std::mem::replace(&mut self.store, ColumnStore::new(&self.kept.types));
        store.freeze();
        let rest: Vec<u32> = (cut as u32..rows as u32).collect();
        if !rest.is_empty() {
            self.store.append(&store.gather(&rest), None)?;
        }
        let split = |starts: &mut Vec<u32>| {
            let at = starts.partition_point(|row| (*row as usize) < cut);
            let later = starts.split_off(at).into_iter().map(|row| row - cut as u32).collect();
            let mut own = std::mem::replace(starts, later);
            own.push(cut as u32);
            own
        };
        let partitions = split(&mut self.starts.partitions);
        let peers = split(&mut self.starts.peers);
        let mut peer_of = Vec::with_capacity(cut);
        for (number, pair) in peers.windows(2).enumerate() {
            peer_of.resize(pair[1] as usize, number as u32);
        }
        self.target = CHUNK_ROWS;
        self.chunk = Some(Chunk {
            store,
            types: self.kept.types.clone(),
            rows: cut,
            partitions,
            peers,
            peer_of,
            results: Vec::new(),
            next: 0,
        });
        Ok(())
    }
}

impl Operator for WindowOperator {
    fn next(&mut self) -> Result<Step> {
        if let Some(mut chunk) = self.chunk.take() {
            // One function a step.
            if let Some(call) = self.calls.get(chunk.results.len()) {
                let result = chunk.compute(call, &self.runtime, &self.memory)?;
                chunk.results.push(result);
                let bytes = self.store.memory_bytes() + chunk.memory_bytes() + self.working_bytes(chunk.rows);
                self.memory.force(bytes);
                self.chunk = Some(chunk);
                return Ok(Step::Working);
            }
            let batch = chunk.put_out(self.kept.width);
            if chunk.next < chunk.rows {
                self.chunk = Some(chunk);
            }
            return Ok(Step::Batch(batch));
        }
        if self.is_complete
            && let Some(large) = self.large.take()
        {
            return self.advance_large(large);
        }
        if self.finished {
            return Ok(Step::Finished);
        }
        match self.input.next()? {
            Step::Batch(batch) => self.take(&batch)?,
            Step::Working => {}
            Step::Finished => {
                (self.finished, self.is_complete) = (true, true);
                if self.store.rows() > 0 {
                    self.cut()?;
                }
            }
        }
        Ok(Step::Working)
    }
}

impl Chunk {
    fn memory_bytes(&self) -> usize {
        let numbers = self.partitions.capacity() + self.peers.capacity() + self.peer_of.capacity();
        self.store.memory_bytes() + numbers * size_of::<u32>()
    }

    /// Calls `f` with every partition's number and rows.
    fn each_partition(&self, mut f: impl FnMut(usize, std::ops::Range<usize>)) {
        for (number, pair) in self.partitions.windows(2).enumerate() {
            f(number, pair[0] as usize..pair[1] as usize);
        }
    }

    fn compute(&self, call: &Call, runtime: &Runtime, memory: &Reservation) -> Result<Vector> {
        match call.function {
            WindowFunction::Aggregate(function) => sliding::aggregate(self, call, function, runtime, memory),
            _ => pick::compute(self, call),
        }
    }

    /// The next rows with their results.
    fn put_out(&mut self, width: usize) -> Batch {
        let range = self.next as u32..(self.next + BATCH_ROWS).min(self.rows) as u32;
        self.next = range.end as usize;
        let rows: Vec<u32> = range.collect();
        let kept = self.store.columns[..width].iter().map(|column| column.gather(&rows));
        let results = self.results.iter().map(|result| result.gather(&rows));
        Batch::new(kept.chain(results).map(Arc::new).collect(), rows.len())
    }

    /// Which values of a kept column are not NULL, and true if it is a filter.
    fn valid(&self, column: usize) -> Option<&[bool]> {
        self.store.columns[column].validity()
    }

    /// Which rows count for an aggregate; `None` is all.
    fn counted(&self, call: &Call) -> Option<Vec<bool>> {
        let argument = call.arguments.first().and_then(|column| self.valid(*column));
        let mut counted = argument.map(|valid| valid[..self.rows].to_vec());
        if let Some(filter) = call.filter {
            let column = &self.store.columns[filter];
            let counted = counted.get_or_insert_with(|| vec![true; self.rows]);
            if let Data::Boolean(values) = column.data() {
                for (row, counted) in counted.iter_mut().enumerate() {
                    *counted &= values[row] && column.validity().is_none_or(|valid| valid[row]);
                }
            }
        }
        counted
    }
}

/// Sets the flag of every row of a batch that differs from the row before it in one of
/// `columns`; the row before the first is the last of `before`.
fn mark_changes(batch: &Batch, before: Option<&Batch>, columns: &[usize], changed: &mut [bool]) {
    for column in columns {
        let vector = &*batch.columns[*column];
        if let Some(before) = before {
            let previous = &*before.columns[*column];
            changed[0] |= differs(previous, previous.len() - 1, vector, 0);
        }
        for (row, changed) in changed.iter_mut().enumerate().skip(1) {
            *changed |= differs(vector, row - 1, vector, row);
        }
    }
}
