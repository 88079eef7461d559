//! Sums of integers, in two levels.
//!
//! A sum is kept as a 64-bit word, wrapping, and an upper half that is made when the
//! word first overflows: sums of decimals rarely do, and a carry in every addition
//! would cost more than the addition.
//!
//! Over few groups a batch is summed apart first, several columns at a time, with no
//! check at all: the bits of the values bound what 2,048 of them can add up to. Two
//! copies of the partial sums take turns, so that rows of one group in a row do not
//! wait for each other.

use super::Groups;
use super::accumulators::{Accumulator, State, as_integers};
use super::runs;
use crate::Result;
use crate::expression::{bits_of, error};
use crate::vector::{BATCH_ROWS, Data, Vector};
use gingham_types::SqlType;
use std::sync::Arc;

/// Partial sums are made for up to this many groups: beyond, they would not stay in
/// the first-level cache and adding them up would cost as much as the rows.
const PARTIAL_GROUPS_MAX: usize = 256;

/// Columns summed in one pass over the rows.
const LANES: usize = 4;

static ONES: [i64; BATCH_ROWS] = [1; BATCH_ROWS];

/// The columns of a batch that are summed over all rows, together.
pub(super) struct SumBatch {
    rows: usize,
    /// Which accumulator each is for; `None` counts rows.
    columns: Vec<(Option<usize>, Arc<Vector>)>,
    counts: bool,
}

impl SumBatch {
    pub(super) const fn new(rows: usize) -> Self {
        Self { rows, columns: Vec::new(), counts: false }
    }

    /// Counts the rows of every group in word 0.
    pub(super) fn count_rows(&mut self) {
        self.counts = true;
    }

    /// Takes a column if it is one to sum as 64-bit integers.
    pub(super) fn take(&mut self, accumulator: usize, state: &State, values: &Arc<Vector>) -> bool {
        let fits = matches!(state, State::Integers { .. }) && matches!(values.data, Data::Int64(_) | Data::Int32(_));
        if fits {
            self.columns.push((Some(accumulator), Arc::clone(values)));
        }
        fits
    }

    /// Adds everything taken to the state.
    pub(super) fn fold(
        self,
        groups: Groups<'_>,
        words: &mut [i64],
        stride: usize,
        group_count: usize,
        list: &mut [Accumulator],
    ) -> Result<()> {
        let numbers = match groups {
            Groups::One => None,
            Groups::Numbers(numbers) => Some(numbers),
            Groups::Runs(starts, numbers) => {
                return self.fold_runs((starts, numbers), words, stride, group_count, list);
            }
        };
        if self.columns.is_empty() {
            if self.counts {
                count_rows(self.rows, numbers, words, stride, group_count);
            }
            return Ok(());
        }
        let ones;
        let ones: &[i64] = if self.rows <= BATCH_ROWS {
            &ONES[..self.rows]
        } else {
            ones = vec![1i64; self.rows];
            &ones
        };
        let slices: Vec<(Option<usize>, std::borrow::Cow<'_, [i64]>)> = self
            .columns
            .iter()
            .filter_map(|(accumulator, vector)| Some((*accumulator, as_integers(&vector.data)?)))
            .collect();
        // (word, accumulator, values)
        let mut columns: Vec<(usize, Option<usize>, &[i64])> = Vec::with_capacity(slices.len() + 1);
        if self.counts {
            columns.push((0, None, ones));
        }
        for (accumulator, values) in &slices {
            if let Some(State::Integers { word, .. }) = accumulator.map(|at| &list[at].state) {
                columns.push((*word, *accumulator, values));
            }
        }
        add_all(&columns, numbers, words, stride, group_count, list)
    }

    /// Adds everything taken, run by run.
    fn fold_runs(
        self,
        (starts, numbers): (&[u32], &[u32]),
        words: &mut [i64],
        stride: usize,
        group_count: usize,
        list: &mut [Accumulator],
    ) -> Result<()> {
        let mut sums: Vec<(usize, Option<usize>, Vec<i64>)> = Vec::with_capacity(self.columns.len() + 1);
        if self.counts {
            sums.push((0, None, runs::lengths(starts, self.rows)));
        }
        for (accumulator, vector) in &self.columns {
            let Some(values) = as_integers(&vector.data) else { continue };
            if !sum_fits(&values) {
                let numbers = runs::spread(starts, numbers, self.rows);
                return self.fold(Groups::Numbers(&numbers), words, stride, group_count, list);
            }
            if let Some(State::Integers { word, .. }) = accumulator.map(|at| &list[at].state) {
                sums.push((*word, *accumulator, runs::sums(&values, starts)));
            }
        }
        let columns: Vec<SumColumn<'_>> = sums.iter().map(|(word, of, sums)| (*word, *of, sums.as_slice())).collect();
        add_all(&columns, Some(numbers), words, stride, group_count, list)
    }
}

/// Adds columns to all groups' state, or to the only group's.
fn add_all(
    columns: &[SumColumn<'_>],
    numbers: Option<&[u32]>,
    words: &mut [i64],
    stride: usize,
    group_count: usize,
    list: &mut [Accumulator],
) -> Result<()> {
    let mut carries = Vec::new();
    for chunk in columns.chunks(LANES) {
        match chunk {
            [a] => add_columns([*a], numbers, words, stride, group_count, &mut carries),
            [a, b] => add_columns([*a, *b], numbers, words, stride, group_count, &mut carries),
            [a, b, c] => add_columns([*a, *b, *c], numbers, words, stride, group_count, &mut carries),
            [a, b, c, d] => add_columns([*a, *b, *c, *d], numbers, words, stride, group_count, &mut carries),
            _ => {}
        }
    }
    for carry in carries {
        if let Some(State::Integers { upper, .. }) = carry.accumulator.map(|at| &mut list[at].state) {
            add_upper(upper, carry.group, carry.amount, group_count)?;
        }
    }
    Ok(())
}

/// Counts rows in word 0, which they cannot overflow.
fn count_rows(rows: usize, numbers: Option<&[u32]>, words: &mut [i64], stride: usize, group_count: usize) {
    let Some(numbers) = numbers else {
        words[0] += rows as i64;
        return;
    };
    let numbers = &numbers[..rows];
    if group_count > PARTIAL_GROUPS_MAX {
        for number in numbers {
            words[*number as usize * stride] += 1;
        }
        return;
    }
    // Two counts a group take turns, as in `partial_sums`.
    let mut counts = vec![[0i64; 2]; group_count];
    let (pairs, last) = numbers.as_chunks::<2>();
    for [even, odd] in pairs {
        counts[*even as usize][0] += 1;
        counts[*odd as usize][1] += 1;
    }
    last.iter().for_each(|number| counts[*number as usize][0] += 1);
    for (group, [even, odd]) in counts.into_iter().enumerate() {
        words[group * stride] += even + odd;
    }
}

/// An addition that overflowed its word.
struct Carry {
    accumulator: Option<usize>,
    group: usize,
    amount: i64,
}

type SumColumn<'a> = (usize, Option<usize>, &'a [i64]);

fn add_columns<const N: usize>(
    columns: [SumColumn<'_>; N],
    numbers: Option<&[u32]>,
    words: &mut [i64],
    stride: usize,
    group_count: usize,
    carries: &mut Vec<Carry>,
) {
    let rows = columns.first().map_or(0, |(_, _, values)| values.len());
    let bounded = columns.iter().all(|(_, _, values)| sum_fits(values));
    let Some(numbers) = numbers else {
        for (word, accumulator, values) in columns {
            add_to_one(values, &mut words[word], accumulator, carries);
        }
        return;
    };
    let numbers = &numbers[..rows];
    let values = columns.map(|(_, _, values)| &values[..rows]);
    if bounded && group_count <= PARTIAL_GROUPS_MAX {
        for (group, sums) in partial_sums(numbers, values, group_count).into_iter().enumerate() {
            for ((word, accumulator, _), sum) in columns.iter().zip(sums) {
                add_word(&mut words[group * stride + word], sum, *accumulator, group, carries);
            }
        }
        return;
    }
    for (row, number) in numbers.iter().enumerate() {
        let group = *number as usize;
        let state = &mut words[group * stride..(group + 1) * stride];
        for ((word, accumulator, _), values) in columns.iter().zip(values) {
            add_word(&mut state[*word], values[row], *accumulator, group, carries);
        }
    }
}

/// The sums of several columns by group, over one batch. They do not overflow. Even and
/// odd rows add to sums of their own.
fn partial_sums<const N: usize>(numbers: &[u32], values: [&[i64]; N], group_count: usize) -> Vec<[i64; N]> {
    let mut halves = vec![[0i64; N]; group_count * 2];
    let rows = numbers.len();
    let values = values.map(|values| &values[..rows]);
    for row in 0..rows {
        let sums = &mut halves[numbers[row] as usize * 2 + row % 2];
        for lane in 0..N {
            sums[lane] = sums[lane].wrapping_add(values[lane][row]);
        }
    }
    let add = |pair: &[[i64; N]]| std::array::from_fn(|lane| pair[0][lane].wrapping_add(pair[1][lane]));
    halves.chunks_exact(2).map(add).collect()
}

#[inline]
fn add_word(word: &mut i64, value: i64, accumulator: Option<usize>, group: usize, carries: &mut Vec<Carry>) {
    let (sum, overflow) = word.overflowing_add(value);
    *word = sum;
    if overflow {
        carries.push(Carry { accumulator, group, amount: if value < 0 { -1 } else { 1 } });
    }
}

fn add_to_one(values: &[i64], word: &mut i64, accumulator: Option<usize>, carries: &mut Vec<Carry>) {
    if sum_fits(values) {
        let sum = values.iter().fold(0i64, |sum, v| sum.wrapping_add(*v));
        add_word(word, sum, accumulator, 0, carries);
    } else {
        for value in values {
            add_word(word, *value, accumulator, 0, carries);
        }
    }
}

/// Whether no order of adding these values can overflow 64 bits: the magnitudes have at
/// most `63 - log2(values)` bits.
fn sum_fits(values: &[i64]) -> bool {
    let headroom = usize::BITS - values.len().leading_zeros();
    64 - bits_of(values) > headroom + 1
}

fn add_upper(upper: &mut Vec<i64>, group: usize, amount: i64, group_count: usize) -> Result<()> {
    if upper.len() < group_count {
        upper.resize(group_count, 0);
    }
    upper[group] = upper[group].checked_add(amount).ok_or_else(|| error::out_of_range(SqlType::decimal(38, 0)))?;
    Ok(())
}

/// Adds values of any integer form, some of them perhaps past 64 bits.
pub(super) fn add_integers(
    values: &Vector,
    groups: Groups<'_>,
    words: &mut [i64],
    stride: usize,
    word: usize,
    upper: &mut Vec<i64>,
    group_count: usize,
) -> Result<()> {
    if let Some(narrow) = as_integers(&values.data) {
        for (row, value) in narrow.iter().enumerate() {
            let group = groups.of(row);
            let (sum, overflow) = words[group * stride + word].overflowing_add(*value);
            words[group * stride + word] = sum;
            if overflow {
                add_upper(upper, group, if *value < 0 { -1 } else { 1 }, group_count)?;
            }
        }
    } else if let Data::Int128(wide) = &values.data {
        for (row, value) in wide.iter().enumerate() {
            let group = groups.of(row);
            // The lower half as a signed word, and what that leaves for the upper.
            let low = *value as i64;
            let high = ((*value - i128::from(low)) >> 64) as i64;
            let (sum, overflow) = words[group * stride + word].overflowing_add(low);
            words[group * stride + word] = sum;
            let carry = if overflow { if low < 0 { -1 } else { 1 } } else { 0 };
            if high != 0 || carry != 0 {
                add_upper(upper, group, high, group_count)?;
                add_upper(upper, group, carry, group_count)?;
            }
        }
    }
    Ok(())
}

/// Adds doubles, in the order of the rows within each group.
pub(super) fn add_doubles(values: &Vector, groups: Groups<'_>, words: &mut [i64], stride: usize, word: usize) {
    let Data::Double(values) = &values.data else {
        return;
    };
    for (row, value) in values.iter().enumerate() {
        let word = &mut words[groups.of(row) * stride + word];
        *word = (f64::from_bits(*word as u64) + value).to_bits() as i64;
    }
}
