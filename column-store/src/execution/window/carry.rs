//! What a pass over a large partition carries from row to row: numbers and ranks, and the
//! aggregates of frames that begin where the partition does.

use super::frames::{Bound, Frame, Piece};
use super::sliding::{State, combine};
use super::{Call, Chunk, mark_changes};
use crate::Result;
use crate::execution::aggregate::{exact_results, moment_result};
use crate::execution::columns::{Column, NO_ROW};
use crate::execution::sort::compare_cells;
use crate::expression::error;
use crate::vector::{Batch, Data, Vector};
use gingham_plan::{AggregateFunction, FrameExclusion, FrameUnits, WindowFunction};
use gingham_types::{SqlType, Value};
use std::cmp::Ordering;
use std::ops::Range;

/// Row numbers and ranks.
pub(super) struct Ranks {
    function: WindowFunction,
    /// Rows of the partition, and those that have passed.
    rows: u64,
    passed: u64,
    /// The rank of the last row, dense and not.
    dense: i64,
    rank: i64,
    last: Option<Batch>,
    /// Of `ntile`: the number of tiles, NULL or not known yet.
    tiles: Option<Option<i64>>,
}

impl Ranks {
    pub(super) const fn new(function: WindowFunction, rows: u64) -> Self {
        Self { function, rows, passed: 0, dense: 0, rank: 0, last: None, tiles: None }
    }

    /// The numbers of the next rows.
    pub(super) fn next(&mut self, batch: &Batch, order: &[usize], argument: Option<&Vector>) -> Result<Vector> {
        if self.function == WindowFunction::Ntile {
            return self.tiles(batch.rows, argument);
        }
        let mut changed = vec![false; batch.rows];
        changed[0] = self.last.is_none();
        mark_changes(batch, self.last.as_ref(), order, &mut changed);
        let mut numbers = Vec::with_capacity(batch.rows);
        for (row, changed) in changed.iter().enumerate() {
            let number = (self.passed + row as u64) as i64 + 1;
            if *changed {
                self.dense += 1;
                self.rank = number;
            }
            numbers.push(match self.function {
                WindowFunction::RowNumber => number,
                WindowFunction::DenseRank => self.dense,
                _ => self.rank,
            });
        }
        self.passed += batch.rows as u64;
        self.last = Some(batch.clone());
        if self.function == WindowFunction::PercentRank {
            let others = (self.rows - 1).max(1) as f64;
            return Ok(Vector::new(Data::Double(numbers.iter().map(|rank| (rank - 1) as f64 / others).collect())));
        }
        Ok(Vector::new(Data::Int64(numbers)))
    }

    fn tiles(&mut self, rows: usize, argument: Option<&Vector>) -> Result<Vector> {
        let first = || match argument.map(|argument| (&argument.data, argument.is_valid(0))) {
            Some((Data::Int64(values), true)) => values.first().copied(),
            _ => None,
        };
        let Some(count) = *self.tiles.get_or_insert_with(first) else {
            return Ok(Vector::constant(&Value::Null, SqlType::Integer, rows));
        };
        if count <= 0 {
            return Err(error::invalid_argument("22014", "the argument of ntile must be greater than zero"));
        }
        let count = count as u64;
        let (size, larger) = (self.rows / count, self.rows % count);
        // The first `larger` tiles have one row more.
        let split = larger * (size + 1);
        let tile = |row: u64| {
            let number = if row < split { row / (size + 1) } else { larger + (row - split) / size.max(1) };
            number as i32 + 1
        };
        let tiles = (self.passed..self.passed + rows as u64).map(tile).collect();
        self.passed += rows as u64;
        Ok(Vector::new(Data::Int32(tiles)))
    }
}

/// The frame that a function goes by: `cume_dist` counts the rows up to the last peer.
pub(super) fn frame_of(call: &Call) -> Frame {
    match call.function {
        WindowFunction::CumeDist => Frame {
            units: FrameUnits::Range,
            start: Bound::First,
            end: Bound::Current,
            exclude: FrameExclusion::NoOthers,
            key: None,
        },
        _ => call.frame,
    }
}

/// An aggregate of the rows from the partition's first.
pub(super) struct Running {
    function: WindowFunction,
    /// Rows of the partition, and those that have been taken in.
    rows: u64,
    passed: u64,
    counted: i64,
    /// Sums of the upper and lower halves of exact numbers.
    high: i128,
    low: i128,
    state: State,
    best: Option<Vector>,
}

impl Running {
    pub(super) const fn new(call: &Call, rows: u64) -> Self {
        Self { function: call.function, rows, passed: 0, counted: 0, high: 0, low: 0, state: [0.0; 3], best: None }
    }

    /// Rows taken in.
    pub(super) const fn passed(&self) -> u64 {
        self.passed
    }

    /// The results of some rows of a chunk, whose frames end where `piece` says; the chunk
    /// begins at row `from` of the partition.
    pub(super) fn next(
        &mut self,
        chunk: &Chunk,
        call: &Call,
        piece: &Piece,
        rows: Range<usize>,
        from: u64,
    ) -> Result<Vector> {
        let WindowFunction::Aggregate(function) = self.function else {
            let share = |row: usize| (from + u64::from(piece.ends[row])) as f64 / self.rows as f64;
            self.passed = from + u64::from(piece.ends[rows.end - 1]);
            return Ok(Vector::new(Data::Double(rows.map(share).collect())));
        };
        let counted = chunk.counted(call);
        let column = call.arguments.first().map(|argument| &chunk.store.columns[*argument]);
        let mut counts = Vec::with_capacity(rows.len());
        let mut sums = Vec::new();
        let mut states = Vec::new();
        // Each extreme once, and which of them is that of a row.
        let mut bests = Column::new(call.argument_type);
        let mut picked = Vec::new();
        let mut changed = true;
        for row in rows {
            let end = from + u64::from(piece.ends[row]);
            while self.passed < end {
                let at = (self.passed - from) as usize;
                if counted.as_ref().is_none_or(|counted| counted[at]) {
                    self.counted += 1;
                    if let Some(column) = column {
                        changed |= self.take(function, column, at);
                    }
                }
                self.passed += 1;
            }
            counts.push(self.counted);
            match function {
                AggregateFunction::CountStar | AggregateFunction::Count => {}
                AggregateFunction::Min
                | AggregateFunction::Max
                | AggregateFunction::BoolAnd
                | AggregateFunction::BoolOr => {
                    if let Some(best) = self.best.as_ref().filter(|_| changed) {
                        bests.append(best, None)?;
                        changed = false;
                    }
                    picked.push((bests.len() as u32).checked_sub(1).unwrap_or(NO_ROW));
                }
                _ if matches!(column.map(Column::data), Some(Data::Double(_))) => states.push(self.state),
                _ => {
                    let sum = self.high.checked_mul(1 << 64).and_then(|high| high.checked_add(self.low));
                    sums.push(sum.ok_or_else(|| error::out_of_range(call.ty))?);
                }
            }
        }
        let least = match function {
            AggregateFunction::CountStar | AggregateFunction::Count => return Ok(Vector::new(Data::Int64(counts))),
            AggregateFunction::Min
            | AggregateFunction::Max
            | AggregateFunction::BoolAnd
            | AggregateFunction::BoolOr => {
                bests.freeze();
                return Ok(bests.gather(&picked));
            }
            AggregateFunction::VarianceSample | AggregateFunction::StddevSample => 2,
            _ => 1,
        };
        let data = if states.is_empty() {
            exact_results(function, call.argument_type, call.ty, &sums, &counts)?
        } else {
            let result = |(state, count): (&State, &i64)| match function {
                AggregateFunction::Sum => state[0],
                AggregateFunction::Average => state[0] / *count as f64,
                _ => moment_result(function, *state),
            };
            Data::Double(states.iter().zip(&counts).map(result).collect())
        };
        Ok(Vector { data, validity: Some(counts.iter().map(|count| *count >= least).collect()) })
    }

    /// Takes in a value that counts; whether it is a new extreme.
    fn take(&mut self, function: AggregateFunction, column: &Column, row: usize) -> bool {
        let wanted = match function {
            AggregateFunction::Max | AggregateFunction::BoolOr => Ordering::Greater,
            AggregateFunction::Min | AggregateFunction::BoolAnd => Ordering::Less,
            AggregateFunction::CountStar | AggregateFunction::Count => return false,
            _ => {
                self.add(function, column.data(), row);
                return false;
            }
        };
        let better = self.best.as_ref().is_none_or(|best| compare_cells(column.data(), row, &best.data, 0) == wanted);
        if better {
            self.best = Some(column.gather(&[row as u32]));
        }
        better
    }

    fn add(&mut self, function: AggregateFunction, data: &Data, row: usize) {
        match data {
            Data::Int32(values) => self.low += i128::from(values[row]),
            Data::Int64(values) => self.low += i128::from(values[row]),
            Data::Int128(values) => {
                self.low += i128::from(values[row] as u64);
                self.high += values[row] >> 64;
            }
            Data::Double(values) => {
                let moments = !matches!(function, AggregateFunction::Sum | AggregateFunction::Average);
                let value = if moments { [1.0, values[row], 0.0] } else { [values[row], 0.0, 0.0] };
                self.state = combine(self.state, value, moments);
            }
            _ => {}
        }
    }
}
