//! Aggregates over frames.
//!
//! Over whole partitions they are those of groups. Counts and exact sums of a frame are
//! differences of sums from the start. The least and the greatest come from a queue of
//! candidates, for frames only move forward. Sums of doubles are added up as the frame
//! grows, or taken from a tree of partial sums, as subtracting would lose digits.

use super::frames::{Piece, pieces};
use super::{Call, Chunk};
use crate::Result;
use crate::execution::aggregate::{Accumulators, Groups, exact_results, moment_result};
use crate::execution::columns::NO_ROW;
use crate::execution::memory::Reservation;
use crate::execution::sort::{SortedBy, compare_values_of};
use crate::expression::{Runtime, error};
use crate::vector::{BATCH_ROWS, Batch, Data, Vector};
use gingham_plan::{AggregateCall, AggregateFunction, Expr, SortKey};
use gingham_types::SqlType;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

/// Frames of so few rows are added up row by row.
const DIRECT_ROWS_MAX: usize = 32;

pub(super) fn aggregate(
    chunk: &Chunk,
    call: &Call,
    function: AggregateFunction,
    runtime: &Runtime,
    memory: &Reservation,
) -> Result<Vector> {
    if call.frame.is_whole() {
        return whole(chunk, call, function, runtime, memory);
    }
    let pieces = pieces(chunk, &call.frame)?;
    let counted = chunk.counted(call);
    let counts = counts(&pieces, chunk.rows, counted.as_deref());
    let least = match function {
        AggregateFunction::CountStar | AggregateFunction::Count => {
            return Ok(Vector::new(Data::Int64(counts)));
        }
        AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::BoolAnd | AggregateFunction::BoolOr => {
            let greatest = matches!(function, AggregateFunction::Max | AggregateFunction::BoolOr);
            return Ok(extremes(chunk, call, &pieces, counted.as_deref(), greatest));
        }
        AggregateFunction::VarianceSample | AggregateFunction::StddevSample => 2,
        _ => 1,
    };
    let column = &chunk.store.columns[call.arguments[0]];
    let data = match column.data() {
        Data::Double(values) => {
            let moments = !matches!(function, AggregateFunction::Sum | AggregateFunction::Average);
            let states = doubles(chunk, call, &pieces, values, counted.as_deref(), moments);
            let result = |(state, count): (&State, &i64)| match function {
                AggregateFunction::Sum => state[0],
                AggregateFunction::Average => state[0] / *count as f64,
                _ => moment_result(function, *state),
            };
            Data::Double(states.iter().zip(&counts).map(result).collect())
        }
        data => {
            let sums = exact_sums(data, &pieces, chunk.rows, counted.as_deref())
                .ok_or_else(|| error::out_of_range(call.ty))?;
            exact_results(function, call.argument_type, call.ty, &sums, &counts)?
        }
    };
    let valid: Vec<bool> = counts.iter().map(|count| *count >= least).collect();
    Ok(Vector { data, validity: Some(valid) })
}

/// A call as an aggregate over some of the kept columns, whose numbers are the second part.
pub(super) fn as_aggregate(call: &Call, function: AggregateFunction, types: &[SqlType]) -> (AggregateCall, Vec<usize>) {
    let keys = call.order.iter().map(|key| key.column);
    let wanted: Vec<usize> = call.arguments.iter().chain(&call.filter).copied().chain(keys).collect();
    let place = |column: usize| {
        let at = wanted.iter().position(|own| *own == column).unwrap_or(0);
        Expr::column(at, types[column])
    };
    let order =
        |key: &SortedBy| SortKey { expr: place(key.column), descending: key.descending, nulls_first: key.nulls_first };
    let aggregate = AggregateCall {
        function,
        argument: call.arguments.first().map(|column| place(*column)),
        distinct: call.distinct,
        filter: call.filter.map(place),
        second: call.arguments.get(1).map(|column| place(*column)),
        order: call.order.iter().map(order).collect(),
        ty: call.ty,
    };
    (aggregate, wanted)
}

/// One group a partition.
fn whole(
    chunk: &Chunk,
    call: &Call,
    function: AggregateFunction,
    runtime: &Runtime,
    memory: &Reservation,
) -> Result<Vector> {
    let (aggregate, wanted) = as_aggregate(call, function, &chunk.types);
    let mut accumulators = Accumulators::new(&[aggregate], runtime)?;
    let mut number_of = vec![0u32; chunk.rows];
    chunk.each_partition(|number, rows| number_of[rows].fill(number as u32));
    accumulators.resize(chunk.partitions.len() - 1);
    for start in (0..chunk.rows).step_by(BATCH_ROWS) {
        let end = (start + BATCH_ROWS).min(chunk.rows);
        let rows: Vec<u32> = (start as u32..end as u32).collect();
        let columns = wanted.iter().map(|column| Arc::new(chunk.store.columns[*column].gather(&rows))).collect();
        accumulators.update(&Batch::new(columns, rows.len()), Groups::Numbers(&number_of[start..end]), memory)?;
    }
    accumulators.complete(memory)?;
    let mut results = accumulators.finish(0..chunk.partitions.len() - 1, memory)?;
    results
        .pop()
        .map(|result| result.gather(&number_of))
        .ok_or_else(|| error::internal("an aggregate without a result"))
}

/// How many rows of each frame count.
fn counts(pieces: &[Piece], rows: usize, counted: Option<&[bool]>) -> Vec<i64> {
    let before = counted.map(|counted| {
        let mut total = 0u32;
        let add = |counted: &bool| {
            total += u32::from(*counted);
            total
        };
        std::iter::once(0).chain(counted.iter().map(add)).collect::<Vec<u32>>()
    });
    let count = |row| {
        let one = |piece: &Piece| match (&before, piece.of(row)) {
            (None, rows) => rows.len() as i64,
            (Some(before), rows) => i64::from(before[rows.end] - before[rows.start]),
        };
        pieces.iter().map(one).sum()
    };
    (0..rows).map(count).collect()
}

/// Sums of integers and decimals; `None` where one is past 128 bits. Halves are summed
/// apart, so that sums from the start cannot overflow.
fn exact_sums(data: &Data, pieces: &[Piece], rows: usize, counted: Option<&[bool]>) -> Option<Vec<i128>> {
    let sums_of = |value: &dyn Fn(usize) -> i128| {
        let mut total = 0i128;
        let mut before = Vec::with_capacity(rows + 1);
        before.push(0);
        for row in 0..rows {
            if counted.is_none_or(|c| c[row]) {
                total += value(row);
            }
            before.push(total);
        }
        let sum = |row| {
            let one = |piece: &Piece| before[piece.ends[row] as usize] - before[piece.starts[row] as usize];
            pieces.iter().map(one).sum::<i128>()
        };
        (0..rows).map(sum).collect::<Vec<i128>>()
    };
    match data {
        Data::Int32(v) => Some(sums_of(&|row| i128::from(v[row]))),
        Data::Int64(v) => Some(sums_of(&|row| i128::from(v[row]))),
        Data::Int128(v) => {
            let low = sums_of(&|row| i128::from(v[row] as u64));
            let high = sums_of(&|row| v[row] >> 64);
            let join = |(high, low): (i128, i128)| high.checked_mul(1 << 64)?.checked_add(low);
            high.into_iter().zip(low).map(join).collect()
        }
        _ => None,
    }
}

/// The rows with the least or greatest value of each frame.
fn extremes(chunk: &Chunk, call: &Call, pieces: &[Piece], counted: Option<&[bool]>, greatest: bool) -> Vector {
    let column = &chunk.store.columns[call.arguments[0]];
    let better = |a: u32, b: u32| {
        let order = compare_values_of(column, a as usize, b as usize);
        order == if greatest { Ordering::Greater } else { Ordering::Less }
    };
    let mut best = vec![NO_ROW; chunk.rows];
    let mut candidates: VecDeque<u32> = VecDeque::new();
    for piece in pieces {
        chunk.each_partition(|_, rows| {
            candidates.clear();
            let mut taken = rows.start;
            for row in rows {
                let frame = piece.of(row);
                taken = taken.max(frame.start);
                while taken < frame.end {
                    let new = taken as u32;
                    taken += 1;
                    if counted.is_none_or(|c| c[new as usize]) {
                        while candidates.back().is_some_and(|old| better(new, *old)) {
                            candidates.pop_back();
                        }
                        candidates.push_back(new);
                    }
                }
                while candidates.front().is_some_and(|old| (*old as usize) < frame.start) {
                    candidates.pop_front();
                }
                if let Some(found) = candidates.front().filter(|_| !frame.is_empty())
                    && (best[row] == NO_ROW || better(*found, best[row]))
                {
                    best[row] = *found;
                }
            }
        });
    }
    column.gather(&best)
}

/// A sum in the first place; or count, mean and sum of squared differences from it.
pub(super) type State = [f64; 3];

/// The state of the rows of both.
pub(super) fn combine(a: State, b: State, moments: bool) -> State {
    if !moments {
        return [a[0] + b[0], 0.0, 0.0];
    }
    if a[0] == 0.0 || b[0] == 0.0 {
        return if a[0] == 0.0 { b } else { a };
    }
    // Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm", 1979.
    let count = a[0] + b[0];
    let difference = b[1] - a[1];
    let mean = a[1] + difference * b[0] / count;
    [count, mean, a[2] + b[2] + difference * difference * a[0] * b[0] / count]
}

/// States over each frame of doubles.
fn doubles(
    chunk: &Chunk,
    call: &Call,
    pieces: &[Piece],
    values: &[f64],
    counted: Option<&[bool]>,
    moments: bool,
) -> Vec<State> {
    let leaf = |row: usize| {
        let counts = counted.is_none_or(|c| c[row]);
        if !counts {
            return [0.0; 3];
        }
        if moments { [1.0, values[row], 0.0] } else { [values[row], 0.0, 0.0] }
    };
    let add = |state: State, rows: std::ops::Range<usize>| {
        rows.fold(
            state,
            |state, row| {
                if counted.is_none_or(|c| c[row]) { combine(state, leaf(row), moments) } else { state }
            },
        )
    };
    let mut states = vec![[0.0; 3]; chunk.rows];
    let mut tree: Vec<State> = Vec::new();
    chunk.each_partition(|_, rows| {
        if call.frame.is_running() {
            let mut taken = rows.start;
            let mut state = [0.0; 3];
            for row in rows {
                let end = pieces[0].of(row).end;
                state = add(state, taken.min(end)..end);
                taken = taken.max(end);
                states[row] = state;
            }
            return;
        }
        tree.clear();
        for row in rows.clone() {
            for piece in pieces {
                let frame = piece.of(row);
                if frame.len() <= DIRECT_ROWS_MAX {
                    states[row] = add(states[row], frame);
                    continue;
                }
                if tree.is_empty() {
                    // Leaves behind, each node before them over its two children.
                    tree.resize(rows.len(), [0.0; 3]);
                    tree.extend(rows.clone().map(leaf));
                    for at in (1..rows.len()).rev() {
                        tree[at] = combine(tree[2 * at], tree[2 * at + 1], moments);
                    }
                }
                let sum = query(&tree, frame.start - rows.start, frame.end - rows.start, moments);
                states[row] = combine(states[row], sum, moments);
            }
        }
    });
    states
}

/// The state of leaves `from..to`, from left to right.
fn query(tree: &[State], from: usize, to: usize, moments: bool) -> State {
    let leaves = tree.len() / 2;
    let (mut left, mut right) = ([0.0; 3], [0.0; 3]);
    let (mut from, mut to) = (from + leaves, to + leaves);
    while from < to {
        if from % 2 == 1 {
            left = combine(left, tree[from], moments);
            from += 1;
        }
        if to % 2 == 1 {
            to -= 1;
            right = combine(tree[to], right, moments);
        }
        from /= 2;
        to /= 2;
    }
    combine(left, right, moments)
}
