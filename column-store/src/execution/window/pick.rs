//! Functions that number rows or pick one: arithmetic on positions, then a gather.

use super::frames::{Piece, pieces};
use super::{Call, Chunk};
use crate::Result;
use crate::execution::columns::{Column, NO_ROW};
use crate::expression::error;
use crate::vector::{Data, Vector};
use gingham_plan::WindowFunction;
use std::ops::Range;

pub(super) fn compute(chunk: &Chunk, call: &Call) -> Result<Vector> {
    match call.function {
        WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank => {
            let mut numbers = vec![0; chunk.rows];
            chunk.each_partition(|_, rows| {
                let first_group = chunk.peer_of[rows.start];
                for row in rows.clone() {
                    let group = chunk.peer_of[row];
                    numbers[row] = 1 + match call.function {
                        WindowFunction::RowNumber => (row - rows.start) as i64,
                        WindowFunction::Rank => i64::from(chunk.peers[group as usize]) - rows.start as i64,
                        _ => i64::from(group - first_group),
                    };
                }
            });
            Ok(Vector::new(Data::Int64(numbers)))
        }
        WindowFunction::PercentRank | WindowFunction::CumeDist => {
            let mut shares = vec![0.0; chunk.rows];
            chunk.each_partition(|_, rows| {
                for row in rows.clone() {
                    let group = chunk.peer_of[row] as usize;
                    let before = |row: u32| f64::from(row - rows.start as u32);
                    shares[row] = if call.function == WindowFunction::CumeDist {
                        before(chunk.peers[group + 1]) / rows.len() as f64
                    } else {
                        before(chunk.peers[group]) / (rows.len() - 1).max(1) as f64
                    };
                }
            });
            Ok(Vector::new(Data::Double(shares)))
        }
        WindowFunction::Ntile => ntile(chunk, call),
        WindowFunction::Lag | WindowFunction::Lead => offset(chunk, call),
        _ => from_frame(chunk, call),
    }
}

/// A BIGINT argument by row, `None` at NULL.
fn integer(chunk: &Chunk, call: &Call, argument: usize, row: usize) -> Option<i64> {
    let column = &chunk.store.columns[*call.arguments.get(argument)?];
    match column.data() {
        Data::Int64(values) if column.validity().is_none_or(|valid| valid[row]) => values.get(row).copied(),
        _ => None,
    }
}

fn ntile(chunk: &Chunk, call: &Call) -> Result<Vector> {
    let mut tiles = vec![0i32; chunk.rows];
    let mut valid = vec![true; chunk.rows];
    let mut wrong = false;
    chunk.each_partition(|_, rows| {
        // The count is that of the partition's first row.
        let Some(count) = integer(chunk, call, 0, rows.start) else {
            valid[rows].fill(false);
            return;
        };
        wrong |= count <= 0;
        let count = usize::try_from(count).unwrap_or(1).max(1);
        let (size, larger) = (rows.len() / count, rows.len() % count);
        for (at, tile) in tiles[rows].iter_mut().enumerate() {
            // The first `larger` tiles have one row more.
            let split = larger * (size + 1);
            let number = if at < split { at / (size + 1) } else { larger + (at - split) / size.max(1) };
            *tile = number as i32 + 1;
        }
    });
    if wrong {
        return Err(error::invalid_argument("22014", "the argument of ntile must be greater than zero"));
    }
    Ok(Vector { data: Data::Int32(tiles), validity: Some(valid) })
}

/// Where the rows that are not NULL are: their numbers, and how many come before each row.
struct Values {
    rows: Vec<u32>,
    before: Vec<u32>,
}

impl Values {
    fn new(chunk: &Chunk, column: usize) -> Self {
        let valid = chunk.valid(column);
        let mut rows = Vec::new();
        let mut before = Vec::with_capacity(chunk.rows + 1);
        for row in 0..chunk.rows {
            before.push(rows.len() as u32);
            if valid.is_none_or(|v| v[row]) {
                rows.push(row as u32);
            }
        }
        before.push(rows.len() as u32);
        Self { rows, before }
    }

    fn between(&self, rows: &Range<usize>) -> Range<usize> {
        self.before[rows.start] as usize..self.before[rows.end] as usize
    }
}

/// `lag` and `lead`.
fn offset(chunk: &Chunk, call: &Call) -> Result<Vector> {
    let argument = call.arguments[0];
    let values = call.ignore_nulls.then(|| Values::new(chunk, argument));
    let forward = call.function == WindowFunction::Lead;
    // A row of the partition, the row's default, or NULL.
    let mut picked = vec![NO_ROW; chunk.rows];
    let has_default = call.arguments.len() > 2;
    chunk.each_partition(|_, rows| {
        for row in rows.clone() {
            let Some(offset) = integer(chunk, call, 1, row) else { continue };
            let offset = if forward { offset } else { offset.saturating_neg() };
            let found = match &values {
                None => step(row, offset, &rows),
                Some(_) if offset == 0 => Some(row),
                Some(values) => {
                    let inside = values.between(&rows);
                    // The first value after the row is one step ahead, also from a NULL.
                    let own = values.before[row] as usize;
                    let (from, offset) =
                        if offset > 0 { (values.before[row + 1] as usize, offset - 1) } else { (own, offset) };
                    step(from, offset, &inside).map(|at| values.rows[at] as usize)
                }
            };
            picked[row] = match found {
                Some(found) => found as u32,
                None if has_default => (chunk.rows + row) as u32,
                None => NO_ROW,
            };
        }
    });
    let own = &chunk.store.columns[argument];
    if !has_default {
        return Ok(own.gather(&picked));
    }
    let all: Vec<u32> = (0..chunk.rows as u32).collect();
    let mut both = Column::new(call.ty);
    both.append(&own.gather(&all), None)?;
    both.append(&chunk.store.columns[call.arguments[2]].gather(&all), None)?;
    both.freeze();
    Ok(both.gather(&picked))
}

/// `from + offset`, if that is in range.
fn step(from: usize, offset: i64, range: &Range<usize>) -> Option<usize> {
    let to = usize::try_from((from as i64).checked_add(offset)?).ok()?;
    range.contains(&to).then_some(to)
}

/// `first_value`, `last_value` and `nth_value`.
fn from_frame(chunk: &Chunk, call: &Call) -> Result<Vector> {
    let pieces = pieces(chunk, &call.frame)?;
    let argument = call.arguments[0];
    let values = call.ignore_nulls.then(|| Values::new(chunk, argument));
    let mut picked = vec![NO_ROW; chunk.rows];
    for (row, picked) in picked.iter_mut().enumerate() {
        let (skipped, from_end) = match call.function {
            WindowFunction::First => (0, false),
            WindowFunction::Last => (0, true),
            _ => match integer(chunk, call, 1, row) {
                None => continue,
                Some(count) if count <= 0 => {
                    let message = "the argument of nth_value must be greater than zero";
                    return Err(error::invalid_argument("22016", message));
                }
                Some(count) => (usize::try_from(count - 1).unwrap_or(usize::MAX), false),
            },
        };
        let inside = |piece: &Piece| match &values {
            None => piece.of(row),
            Some(values) => values.between(&piece.of(row)),
        };
        if let Some(at) = nth(&pieces, inside, skipped, from_end) {
            *picked = values.as_ref().map_or(at as u32, |values| values.rows[at]);
        }
    }
    Ok(chunk.store.columns[argument].gather(&picked))
}

/// The position after `skipped` ones, from either end.
fn nth(pieces: &[Piece], inside: impl Fn(&Piece) -> Range<usize>, mut skipped: usize, from_end: bool) -> Option<usize> {
    if from_end {
        return pieces.iter().rev().map(inside).find(|range| !range.is_empty()).map(|range| range.end - 1);
    }
    for range in pieces.iter().map(inside) {
        if skipped < range.len() {
            return Some(range.start + skipped);
        }
        skipped -= range.len();
    }
    None
}
