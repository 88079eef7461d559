//! A partition that memory does not hold.
//!
//! Its rows go to temporary space, and each function passes over them segment by segment,
//! with as many rows around a segment as the frames of its rows reach ([`Reach`]). What
//! a frame that begins with the partition has had is carried along ([`super::carry`]), as
//! are numbers and ranks. A frame that reaches far in other ways needs the rows it spans,
//! though only of the columns that the function reads.

use super::carry::{Ranks, Running};
use super::frames::{Bound, Piece, pieces};
use super::sliding::as_aggregate;
use super::{Call, Chunk, mark_changes};
use crate::execution::aggregate::{Accumulators, Groups};
use crate::execution::columns::{Column, ColumnStore};
use crate::execution::memory::Reservation;
use crate::execution::spill::Shelf;
use crate::expression::{Runtime, error};
use crate::vector::{BATCH_ROWS, Batch, Data, Vector};
use crate::{Error, Result};
use gingham_plan::{FrameExclusion, WindowFunction};
use gingham_types::SqlType;
use std::sync::Arc;

/// Batches of a segment, if there is memory for so many.
const SEGMENT_BATCHES_MAX: usize = 8;
/// Bytes a row that a segment takes, its columns aside: edges, groups, results.
const ROW_BYTES: usize = 64;
/// So many rows are read at a time however little memory there is: a batch, and those
/// around it.
const ROWS_MIN: usize = 3 * BATCH_ROWS;

/// One partition on its way through the functions.
pub(super) struct Large {
    rows: Shelf,
    /// The results of each function, batch by batch as the rows.
    results: Vec<Shelf>,
    pass: Option<Pass>,
    /// The next batch to put out.
    next: usize,
}

/// One function over the partition.
struct Pass {
    way: Way,
    results: Shelf,
    /// The batch that the next segment begins with.
    next: usize,
    /// The first row that later segments need.
    low: u64,
}

enum Way {
    Ranks(Ranks),
    /// An aggregate over all rows; its result, once they have been read.
    Whole(Box<Accumulators>, Vec<usize>, Option<Vector>),
    /// The value of one row.
    Fixed(u64),
    Running(Running),
    /// Rows around, as far as the frame reaches.
    Around(Call),
}

impl Large {
    pub(super) fn new() -> Self {
        Self { rows: Shelf::new(), results: Vec::new(), pass: None, next: 0 }
    }

    pub(super) fn push(&mut self, batch: &Batch, memory: &Reservation) -> Result<()> {
        self.rows.push(batch, memory)
    }

    /// Goes on; rows with their results once every function has passed, and `false` with
    /// the last of them.
    pub(super) fn advance(
        &mut self,
        calls: &[Call],
        site: &PassSite<'_>,
        memory: &mut Reservation,
    ) -> Result<(Option<Batch>, bool)> {
        if let Some(call) = calls.get(self.results.len()) {
            let mut pass = match self.pass.take() {
                Some(pass) => pass,
                None => Pass::new(call, &self.rows, site)?,
            };
            if pass.advance(call, &self.rows, site, memory)? {
                self.pass = Some(pass);
            } else {
                self.results.push(pass.results);
            }
            let held = self.rows.memory_bytes() + self.results.iter().map(Shelf::memory_bytes).sum::<usize>();
            memory.force(held);
            return Ok((None, true));
        }
        let mut columns = self.rows.get(self.next)?.columns;
        columns.truncate(site.width);
        let rows = self.rows.start(self.next + 1) - self.rows.start(self.next);
        for results in &self.results {
            columns.extend(results.get(self.next)?.columns);
        }
        self.next += 1;
        Ok((Some(Batch::new(columns, rows as usize)), self.next < self.rows.len()))
    }
}

/// What a pass needs to know of its operator.
pub(super) struct PassSite<'a> {
    /// Types of the kept columns, and how many of them are the input's.
    pub(super) types: &'a [SqlType],
    pub(super) width: usize,
    /// The columns that rows are ordered by.
    pub(super) order: &'a [usize],
    pub(super) runtime: &'a Runtime,
}

impl Pass {
    fn new(call: &Call, rows: &Shelf, site: &PassSite<'_>) -> Result<Self> {
        Ok(Self { way: Way::of(call, rows.rows(), site)?, results: Shelf::new(), next: 0, low: 0 })
    }

    /// Does some of the work; `false` when all of it is done.
    fn advance(&mut self, call: &Call, rows: &Shelf, site: &PassSite<'_>, memory: &mut Reservation) -> Result<bool> {
        match &mut self.way {
            Way::Ranks(ranks) => {
                let batch = rows.get(self.next)?;
                let argument = call.arguments.first().map(|column| &*batch.columns[*column]);
                let result = ranks.next(&batch, site.order, argument)?;
                self.put(result, memory)?;
            }
            Way::Whole(accumulators, wanted, result @ None) => {
                if self.next < rows.len() {
                    let batch = rows.get(self.next)?.project(wanted);
                    accumulators.update(&batch, Groups::One, memory)?;
                    self.next += 1;
                    make_room(accumulators, memory)?;
                } else if accumulators.has_rest() && !accumulators.fold_rest(memory)? {
                    make_room(accumulators, memory)?;
                } else {
                    accumulators.complete(memory)?;
                    *result = accumulators.finish(0..1, memory)?.pop();
                    self.next = 0;
                }
                return Ok(true);
            }
            Way::Whole(_, _, Some(value)) => {
                let count = (rows.start(self.next + 1) - rows.start(self.next)) as usize;
                let result = value.gather(&vec![0; count]);
                self.put(result, memory)?;
            }
            Way::Fixed(row) => {
                let at = rows.batch_of(*row);
                let value = rows.get(at)?.columns[call.arguments[0]].gather(&[(*row - rows.start(at)) as u32]);
                let count = (rows.start(self.next + 1) - rows.start(self.next)) as usize;
                self.put(value.gather(&vec![0; count]), memory)?;
            }
            Way::Running(_) | Way::Around(_) => self.segment(call, rows, site, memory)?,
        }
        Ok(self.next < rows.len())
    }

    /// Keeps the results of the next batch.
    fn put(&mut self, result: Vector, memory: &Reservation) -> Result<()> {
        let rows = result.len();
        self.results.push(&Batch::new(vec![Arc::new(result)], rows), memory)?;
        self.next += 1;
        Ok(())
    }

    /// The rows that a segment needs, the first of them, and the frames of all.
    fn rows_around(
        &self,
        reach: &Reach<'_>,
        call: &Call,
        site: &PassSite<'_>,
        memory: &mut Reservation,
    ) -> Result<(Chunk, u64, Vec<Piece>)> {
        match &self.way {
            Way::Around(own) if matches!(own.function, WindowFunction::Lag | WindowFunction::Lead) => {
                let (low, high) = reach.of_offsets(own)?;
                Ok((reach.chunk(low, high, own, site, memory)?, low, Vec::new()))
            }
            Way::Around(own) => reach.of_frames(self.low, own, site, memory),
            _ => reach.of_frames(self.low, call, site, memory),
        }
    }

    /// Computes the next batches from the rows around them.
    fn segment(&mut self, call: &Call, rows: &Shelf, site: &PassSite<'_>, memory: &mut Reservation) -> Result<()> {
        // As many rows as those that frames reach back to are read again for it, or more,
        // if there is memory for them.
        let fitting = memory.bytes_available() / (BATCH_ROWS * ROW_BYTES);
        let behind = self.next - rows.batch_of(self.low).min(self.next);
        let batches = SEGMENT_BATCHES_MAX.max(behind).min(fitting.saturating_sub(behind + 2)).max(1);
        let mut end = (self.next + batches).min(rows.len());
        let (reach, (chunk, low, pieces)) = loop {
            let reach = Reach { rows, first: rows.start(self.next), end: rows.start(end) };
            match self.rows_around(&reach, call, site, memory) {
                // Long strings: as few rows as possible.
                Err(Error::OutOfMemory { .. }) if end > self.next + 1 => end = self.next + 1,
                found => break (reach, found?),
            }
        };
        let own = (reach.first - low) as usize..(reach.end - low) as usize;
        let (result, needed) = match &mut self.way {
            Way::Running(running) => {
                let result = running.next(&chunk, call, &pieces[0], own.clone(), low)?;
                (result, running.passed().saturating_sub(1))
            }
            Way::Around(call) => {
                let result = chunk.compute(call, site.runtime, memory)?;
                let last = own.end - 1;
                let first = pieces.iter().map(|piece| piece.starts[last]).min().map_or(low, |row| low + u64::from(row));
                (result.gather(&(own.start as u32..own.end as u32).collect::<Vec<u32>>()), first)
            }
            _ => return Err(error::internal("a function that needs no rows around")),
        };
        self.low = self.low.max(needed.min(reach.end));
        let mut from = 0;
        for batch in self.next..end {
            let count = (rows.start(batch + 1) - rows.start(batch)) as u32;
            self.put(result.gather(&(from..from + count).collect::<Vec<u32>>()), memory)?;
            from += count;
        }
        Ok(())
    }
}

/// Has an aggregate give up memory that is not to be had.
fn make_room(accumulators: &mut Accumulators, memory: &mut Reservation) -> Result<()> {
    let wanted = accumulators.memory_bytes() + accumulators.growth_bytes(BATCH_ROWS);
    if !memory.try_resize(wanted) {
        if accumulators.spill_collected(memory)? < wanted / 2 {
            accumulators.fill_up(memory)?;
        }
        memory.force(accumulators.memory_bytes());
    }
    Ok(())
}

impl Way {
    fn of(call: &Call, rows: u64, site: &PassSite<'_>) -> Result<Self> {
        let frame = &call.frame;
        let plain = frame.exclude == FrameExclusion::NoOthers && !call.ignore_nulls;
        let to_self = matches!(frame.end, Bound::Current | Bound::After(_));
        let from_self = matches!(frame.start, Bound::First | Bound::Before(_) | Bound::Current);
        Ok(match call.function {
            WindowFunction::RowNumber
            | WindowFunction::Rank
            | WindowFunction::DenseRank
            | WindowFunction::PercentRank
            | WindowFunction::Ntile => Self::Ranks(Ranks::new(call.function, rows)),
            WindowFunction::Aggregate(function) if frame.is_whole() => {
                let (aggregate, wanted) = as_aggregate(call, function, site.types);
                let mut accumulators = Accumulators::new(&[aggregate], site.runtime)?;
                accumulators.resize(1);
                Self::Whole(Box::new(accumulators), wanted, None)
            }
            WindowFunction::Aggregate(_) if frame.is_running() => Self::Running(Running::new(call, rows)),
            WindowFunction::CumeDist => Self::Running(Running::new(call, rows)),
            WindowFunction::First if plain && frame.start == Bound::First && (to_self || frame.end == Bound::Last) => {
                Self::Fixed(0)
            }
            WindowFunction::Last if plain && frame.end == Bound::Last && from_self => Self::Fixed(rows - 1),
            // The last row is the same in a frame that begins later.
            WindowFunction::Last if plain && from_self && to_self => {
                let mut call = call.clone();
                call.frame.start = Bound::Current;
                Self::Around(call)
            }
            _ => Self::Around(call.clone()),
        })
    }
}

/// A segment, and how far around it rows are needed.
struct Reach<'a> {
    rows: &'a Shelf,
    first: u64,
    end: u64,
}

impl Reach<'_> {
    /// The rows that `lag` and `lead` look at.
    fn of_offsets(&self, call: &Call) -> Result<(u64, u64)> {
        let (mut low, mut high) = (self.first, self.end);
        if call.ignore_nulls {
            return Ok((0, self.rows.rows()));
        }
        for batch in self.rows.batch_of(self.first)..=self.rows.batch_of(self.end - 1) {
            let offsets = &self.rows.get(batch)?.columns[call.arguments[1]];
            let Data::Int64(values) = &offsets.data else { continue };
            for (row, offset) in values.iter().enumerate().filter(|(row, _)| offsets.is_valid(*row)) {
                let row = self.rows.start(batch) + row as u64;
                let ahead = (call.function == WindowFunction::Lead) == (*offset >= 0);
                let to = if ahead {
                    row.saturating_add(offset.unsigned_abs())
                } else {
                    row.saturating_sub(offset.unsigned_abs())
                };
                // Past the end there is nothing to look at.
                low = low.min(to);
                high = high.max((to + 1).min(self.rows.rows()));
            }
        }
        Ok((low, high))
    }

    /// The rows that frames reach: from `low`, which earlier segments have found, to
    /// beyond the last of them, so that the groups of peers there are whole.
    fn of_frames(
        &self,
        low: u64,
        call: &Call,
        site: &PassSite<'_>,
        memory: &mut Reservation,
    ) -> Result<(Chunk, u64, Vec<Piece>)> {
        let low = low.min(self.first);
        let mut high = self.end.saturating_add(BATCH_ROWS as u64).min(self.rows.rows());
        loop {
            let chunk = self.chunk(low, high, call, site, memory)?;
            let frame = super::carry::frame_of(call);
            let pieces = pieces(&chunk, &frame)?;
            let last = (self.end - low) as usize - 1;
            let group_end = chunk.peers[chunk.peer_of[last] as usize + 1] as usize;
            let reached = pieces.iter().map(|piece| piece.ends[last] as usize).max().unwrap_or(0).max(group_end);
            if reached < chunk.rows || high == self.rows.rows() {
                return Ok((chunk, low, pieces));
            }
            // As much again, so that reading stays linear.
            high = high.saturating_add((high - low).max(BATCH_ROWS as u64)).min(self.rows.rows());
        }
    }

    /// Rows as one partition, with the columns that a function reads.
    fn chunk(&self, low: u64, high: u64, call: &Call, site: &PassSite<'_>, memory: &mut Reservation) -> Result<Chunk> {
        let count = (high - low) as usize;
        let take = |memory: &mut Reservation, bytes: usize| {
            if count > ROWS_MIN {
                return memory.resize(count * ROW_BYTES + bytes);
            }
            memory.force(count * ROW_BYTES + bytes);
            Ok(())
        };
        take(memory, 0)?;
        let wanted = columns_of(call);
        let mut columns: Vec<Column> = site.types.iter().map(|ty| Column::new(*ty)).collect();
        let mut changes = Vec::new();
        let mut before: Option<Batch> = None;
        for number in self.rows.batch_of(low)..=self.rows.batch_of(high - 1) {
            let batch = self.rows.get(number)?;
            let start = self.rows.start(number);
            let range = low.saturating_sub(start) as u32..(high - start).min(batch.rows as u64) as u32;
            let batch = batch.gather(&range.collect::<Vec<u32>>());
            let mut changed = vec![false; batch.rows];
            mark_changes(&batch, before.as_ref(), site.order, &mut changed);
            changes.extend(changed);
            for column in &wanted {
                columns[*column].append(&batch.columns[*column], None)?;
            }
            let bytes: usize = columns.iter().map(Column::memory_bytes).sum();
            take(memory, bytes)?;
            before = Some(batch);
        }
        let rows = changes.len();
        let mut peers = vec![0];
        let mut peer_of = Vec::with_capacity(rows);
        for (row, changed) in changes.iter().enumerate() {
            if *changed && row > 0 {
                peers.push(row as u32);
            }
            peer_of.push(peers.len() as u32 - 1);
        }
        peers.push(rows as u32);
        let mut store = ColumnStore::of(columns, rows);
        store.freeze();
        let partitions = vec![0, rows as u32];
        let types = site.types.to_vec();
        Ok(Chunk { store, types, rows, partitions, peers, peer_of, results: Vec::new(), next: 0 })
    }
}

/// The kept columns that a function reads, each once.
fn columns_of(call: &Call) -> Vec<usize> {
    let mut columns: Vec<usize> = call.arguments.iter().chain(&call.filter).copied().collect();
    columns.extend(call.order.iter().map(|key| key.column));
    columns.extend(call.frame.key.map(|(column, _)| column));
    for bound in [call.frame.start, call.frame.end] {
        if let Bound::Value(column) = bound {
            columns.push(column);
        }
    }
    columns.sort_unstable();
    columns.dedup();
    columns
}
