//! The rows of every row's frame: first and one past the last, for each of up to three
//! pieces that EXCLUDE leaves. Within a partition both never go down.

use super::Chunk;
use crate::Result;
use crate::execution::aggregate::double_order;
use crate::execution::columns::Column;
use crate::expression::error;
use crate::vector::Data;
use gingham_plan::{FrameExclusion, FrameUnits};
use std::ops::Range;

/// One end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    First,
    Before(u64),
    Current,
    After(u64),
    Last,
    /// A kept column that the key is compared with.
    Value(usize),
}

/// A frame over kept columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) units: FrameUnits,
    pub(super) start: Bound,
    pub(super) end: Bound,
    pub(super) exclude: FrameExclusion,
    /// The column that values bound, and whether it descends.
    pub(super) key: Option<(usize, bool)>,
}

impl Frame {
    /// Whether every row's frame is its partition.
    pub(super) fn is_whole(&self) -> bool {
        self.start == Bound::First && self.end == Bound::Last && self.exclude == FrameExclusion::NoOthers
    }

    /// Whether every row's frame starts where its partition does.
    pub(super) fn is_running(&self) -> bool {
        self.start == Bound::First && self.exclude == FrameExclusion::NoOthers
    }
}

/// For each row the start and the end of a piece of its frame.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) starts: Vec<u32>,
    pub(super) ends: Vec<u32>,
}

impl Piece {
    /// The rows of a row's piece.
    pub(super) fn of(&self, row: usize) -> Range<usize> {
        self.starts[row] as usize..self.ends[row] as usize
    }
}

/// The pieces of every row's frame, in the order of their rows.
pub(super) fn pieces(chunk: &Chunk, frame: &Frame) -> Result<Vec<Piece>> {
    let mut starts = vec![0; chunk.rows];
    let mut ends = vec![0; chunk.rows];
    edges(chunk, frame, frame.start, false, &mut starts)?;
    edges(chunk, frame, frame.end, true, &mut ends)?;
    for (start, end) in starts.iter().zip(&mut ends) {
        *end = (*end).max(*start);
    }
    let whole = Piece { starts, ends };
    // The rows from `from` to `to` of each row are left out.
    let peers = |row: usize| {
        let group = chunk.peer_of[row] as usize;
        (chunk.peers[group], chunk.peers[group + 1])
    };
    let current = |row: usize| (row as u32, row as u32 + 1);
    Ok(match frame.exclude {
        FrameExclusion::NoOthers => vec![whole],
        FrameExclusion::CurrentRow => without(&whole, &[&current]),
        FrameExclusion::Group => without(&whole, &[&peers]),
        FrameExclusion::Ties => {
            without(&whole, &[&|row| (peers(row).0, row as u32), &|row| (row as u32 + 1, peers(row).1)])
        }
    })
}

/// What ranges of rows, in order, leave of a piece.
fn without(whole: &Piece, holes: &[&dyn Fn(usize) -> (u32, u32)]) -> Vec<Piece> {
    let rows = whole.starts.len();
    let clamped = |row: usize, at: u32| at.clamp(whole.starts[row], whole.ends[row]);
    (0..=holes.len())
        .map(|number| {
            let start = |row| match number.checked_sub(1) {
                None => whole.starts[row],
                Some(before) => clamped(row, holes[before](row).1),
            };
            let end = |row| holes.get(number).map_or(whole.ends[row], |hole| clamped(row, hole(row).0));
            Piece { starts: (0..rows).map(start).collect(), ends: (0..rows).map(end).collect() }
        })
        .collect()
}

/// One edge of every row's frame: its first row, or with `end` one past its last.
fn edges(chunk: &Chunk, frame: &Frame, bound: Bound, end: bool, edges: &mut [u32]) -> Result<()> {
    if let Bound::Value(column) = bound {
        let Some((key, descending)) = frame.key else { return Err(error::internal("a frame without its key")) };
        let keys = order_words(&chunk.store.columns[key], chunk.rows, descending)?;
        let bounds = order_words(&chunk.store.columns[column], chunk.rows, descending)?;
        chunk.each_partition(|_, rows| value_edges(chunk.valid(key), &keys, &bounds, rows, end, edges));
        return Ok(());
    }
    let past = usize::from(end);
    chunk.each_partition(|_, rows| {
        let first_group = chunk.peer_of[rows.start] as usize;
        let last_group = chunk.peer_of[rows.end - 1] as usize + 1;
        // Positions are those of rows, or of groups whose rows are looked up.
        let by_rows = frame.units == FrameUnits::Rows;
        let (low, high) = if by_rows { (rows.start, rows.end) } else { (first_group, last_group) };
        for row in rows.clone() {
            let own = if by_rows { row } else { chunk.peer_of[row] as usize };
            let at = match bound {
                Bound::First => low,
                Bound::Before(count) => own.saturating_add(past).saturating_sub(offset(count)).clamp(low, high),
                Bound::Current => own + past,
                Bound::After(count) => own.saturating_add(past).saturating_add(offset(count)).clamp(low, high),
                Bound::Last | Bound::Value(_) => high,
            };
            edges[row] = if by_rows { at as u32 } else { chunk.peers[at] };
        }
    });
    Ok(())
}

fn offset(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Edges by value: both the key and the bounds ascend, NULLs together at one end.
fn value_edges(
    valid: Option<&[bool]>,
    keys: &[i128],
    bounds: &[i128],
    rows: Range<usize>,
    end: bool,
    edges: &mut [u32],
) {
    let is_valid = |row: usize| valid.is_none_or(|v| v[row]);
    let first = rows.clone().find(|row| is_valid(*row)).unwrap_or(rows.end);
    let last = (first..rows.end).find(|row| !is_valid(*row)).unwrap_or(rows.end);
    let mut at = first;
    for row in rows.clone() {
        if is_valid(row) {
            while at < last && (keys[at] < bounds[row] || (end && keys[at] == bounds[row])) {
                at += 1;
            }
            edges[row] = at as u32;
        } else {
            // NULLs come before all values or after them.
            let nulls = if row < first { rows.start..first } else { last..rows.end };
            edges[row] = if end { nulls.end } else { nulls.start } as u32;
        }
    }
}

/// A column's values as integers in the order of the rows; any at NULL.
fn order_words(column: &Column, rows: usize, descending: bool) -> Result<Vec<i128>> {
    let mut words: Vec<i128> = match column.data() {
        Data::Int32(v) => v[..rows].iter().map(|v| i128::from(*v)).collect(),
        Data::Int64(v) => v[..rows].iter().map(|v| i128::from(*v)).collect(),
        Data::Int128(v) => v[..rows].to_vec(),
        Data::Double(v) => v[..rows].iter().map(|v| i128::from(double_order(*v))).collect(),
        _ => return Err(error::internal("a RANGE frame over a key that is no number")),
    };
    if descending {
        words.iter_mut().for_each(|word| *word = -*word);
    }
    Ok(words)
}
