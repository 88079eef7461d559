//! The state of all aggregates of all groups.
//!
//! State is row-wise: the words of one group stand side by side, the number of its rows
//! first, so that a row of input touches one cache line whatever the number of
//! aggregates. What is rarely needed stands apart and is made at first use: the number
//! of rows that an aggregate did not count (NULLs, FILTER, DISTINCT), the upper halves
//! of sums, strings.
//!
//! Calls share what they can: SUM, AVG and COUNT of one argument are one input, and SUM
//! and AVG one sum.

use super::Groups;
use super::collected::Collected;
use super::distinct::DistinctSet;
use super::extremes::Extremes;
use super::moments;
use super::runs;
use super::sums::{self, SumBatch};
use crate::Result;
use crate::execution::group_table::growth;
use crate::execution::memory::Reservation;
use crate::expression::{Evaluator, Predicates, Runtime, Selection, error};
use crate::vector::{Batch, Data, Vector};
use gingham_plan::{AggregateCall, AggregateFunction, Expr};
use gingham_types::SqlType;
use std::ops::Range;
use std::sync::Arc;

/// Words that Welford's method keeps: count, mean, sum of squared differences.
const MOMENT_WORDS: usize = 3;

/// What the calls read: an argument over the rows of a filter, each value once if distinct.
#[derive(Debug)]
pub(super) struct Input {
    argument: Option<Expr>,
    filter: Option<Expr>,
    evaluator: Option<Evaluator>,
    predicates: Option<Predicates>,
    distinct: Option<DistinctSet>,
    /// For each group, rows that do not count; empty while there is none.
    pub(super) excluded: Vec<u64>,
}

/// What is kept of an input.
#[derive(Debug)]
pub(super) enum State {
    /// Sum of integers: a word and its upper half.
    Integers { word: usize, upper: Vec<i64> },
    /// Sum of doubles: a word holding its bits.
    Doubles { word: usize },
    /// Least or greatest.
    Extreme(Extremes),
    /// Mean and variance: [`MOMENT_WORDS`] words.
    Moments { word: usize },
}

/// One kept thing over one input.
#[derive(Debug)]
pub(super) struct Accumulator {
    pub(super) input: usize,
    function: AggregateFunction,
    pub(super) state: State,
}

/// Where one call's result comes from.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) function: AggregateFunction,
    pub(super) argument_type: SqlType,
    pub(super) ty: SqlType,
    /// `None` for COUNT(*) without a filter.
    pub(super) input: Option<usize>,
    /// `None` for counts.
    pub(super) accumulator: Option<usize>,
    /// For the functions that keep all values.
    pub(super) collected: Option<usize>,
}

/// All aggregates of an operator.
#[derive(Debug)]
pub(crate) struct Accumulators {
    pub(super) inputs: Vec<Input>,
    pub(super) list: Vec<Accumulator>,
    pub(super) calls: Vec<Call>,
    pub(super) collected: Vec<Collected>,
    /// Words a group; word 0 counts its rows.
    pub(super) stride: usize,
    pub(super) words: Vec<i64>,
    groups: usize,
    /// Whether all there is are counts, and sums over all rows.
    sums_only: bool,
}

impl Accumulators {
    pub(crate) fn new(calls: &[AggregateCall], runtime: &Runtime) -> Result<Self> {
        let mut all = Self {
            inputs: Vec::new(),
            list: Vec::new(),
            calls: Vec::new(),
            collected: Vec::new(),
            stride: 1,
            words: Vec::new(),
            groups: 0,
            sums_only: false,
        };
        for call in calls {
            all.add(call, runtime)?;
        }
        all.sums_only = all.collected.is_empty()
            && all.inputs.iter().all(|input| input.predicates.is_none() && input.distinct.is_none())
            && all.list.iter().all(|accumulator| matches!(accumulator.state, State::Integers { .. }));
        Ok(all)
    }

    fn add(&mut self, call: &AggregateCall, runtime: &Runtime) -> Result<()> {
        let argument_type = call.argument.as_ref().map_or(SqlType::Null, Expr::ty);
        let (function, ty) = (call.function, call.ty);
        let mut new = Call { function, argument_type, ty, input: None, accumulator: None, collected: None };
        if function.is_collected() {
            new.collected = Some(self.collected.len());
            self.collected.push(Collected::new(call, runtime)?);
            self.calls.push(new);
            return Ok(());
        }
        let is_count = matches!(call.function, AggregateFunction::CountStar | AggregateFunction::Count);
        if call.argument.is_some() || call.filter.is_some() {
            let input = self.input(call, runtime)?;
            new.input = Some(input);
            if !is_count {
                new.accumulator = Some(self.accumulator(call.function, argument_type, input)?);
            }
        } else if !is_count {
            return Err(error::internal(format!("{:?} without an argument", call.function)));
        }
        self.calls.push(new);
        Ok(())
    }

    /// The input of a call, shared with calls before it.
    fn input(&mut self, call: &AggregateCall, runtime: &Runtime) -> Result<usize> {
        // A value more than once changes neither the least nor the greatest.
        let distinct = call.distinct
            && !matches!(
                call.function,
                AggregateFunction::Min
                    | AggregateFunction::Max
                    | AggregateFunction::BoolAnd
                    | AggregateFunction::BoolOr
            );
        let same = |input: &Input| {
            input.argument == call.argument && input.filter == call.filter && input.distinct.is_some() == distinct
        };
        if let Some(found) = self.inputs.iter().position(same) {
            return Ok(found);
        }
        self.inputs.push(Input {
            argument: call.argument.clone(),
            filter: call.filter.clone(),
            evaluator: call.argument.as_ref().map(|e| Evaluator::new(e, runtime)).transpose()?,
            predicates: call.filter.as_ref().map(|e| Predicates::new(std::slice::from_ref(e), runtime)).transpose()?,
            distinct: call.argument.as_ref().filter(|_| distinct).map(|e| DistinctSet::new(&[e.ty()])),
            excluded: Vec::new(),
        });
        Ok(self.inputs.len() - 1)
    }

    fn accumulator(&mut self, function: AggregateFunction, ty: SqlType, input: usize) -> Result<usize> {
        let function = shared(function);
        if let Some(found) = self.list.iter().position(|a| a.input == input && a.function == function) {
            return Ok(found);
        }
        let word = self.stride;
        let state = match (function, ty) {
            (AggregateFunction::Sum, SqlType::Double) => State::Doubles { word },
            (AggregateFunction::Sum, _) if ty.is_numeric() => State::Integers { word, upper: Vec::new() },
            (AggregateFunction::VarianceSample, SqlType::Double) => State::Moments { word },
            (AggregateFunction::Min, _) => State::Extreme(Extremes::new(ty, false, word)),
            (AggregateFunction::Max, _) => State::Extreme(Extremes::new(ty, true, word)),
            _ => return Err(error::internal(format!("{function:?} over {ty}"))),
        };
        self.stride += match &state {
            State::Integers { .. } | State::Doubles { .. } => 1,
            State::Extreme(extremes) => extremes.words(),
            State::Moments { .. } => MOMENT_WORDS,
        };
        self.list.push(Accumulator { input, function, state });
        Ok(self.list.len() - 1)
    }

    /// Makes room for `groups` groups.
    pub(crate) fn resize(&mut self, groups: usize) {
        if groups <= self.groups {
            return;
        }
        let from = self.groups * self.stride;
        self.words.resize(groups * self.stride, 0);
        for accumulator in &mut self.list {
            if let State::Extreme(extremes) = &mut accumulator.state {
                extremes.resize(groups, &mut self.words[from..], self.stride);
            }
        }
        self.groups = groups;
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let sets = self.sets().map(DistinctSet::memory_bytes).sum::<usize>();
        let excluded = self.inputs.iter().map(|i| i.excluded.capacity() * 8).sum::<usize>();
        let apart = self.list.iter().map(|a| match &a.state {
            State::Integers { upper, .. } => upper.capacity() * 8,
            State::Extreme(extremes) => extremes.memory_bytes(),
            State::Doubles { .. } | State::Moments { .. } => 0,
        });
        let collected = self.collected.iter().map(Collected::memory_bytes).sum::<usize>();
        collected + self.words.capacity() * 8 + sets + excluded + apart.sum::<usize>()
    }

    /// Bytes that this many groups more may take, and as many more distinct and kept values.
    pub(crate) fn growth_bytes(&self, added: usize) -> usize {
        let sets = self.sets().map(|set| set.growth_bytes(added)).sum::<usize>();
        let collected = self.collected.iter().map(|collected| collected.growth_bytes(added)).sum::<usize>();
        growth(self.words.len(), self.words.capacity(), added * self.stride) * 8 + sets + collected
    }

    fn sets(&self) -> impl Iterator<Item = &DistinctSet> {
        let inputs = self.inputs.iter().filter_map(|input| input.distinct.as_ref());
        inputs.chain(self.collected.iter().filter_map(Collected::distinct))
    }

    /// Whether there are distinct sets.
    pub(crate) fn has_sets(&self) -> bool {
        self.sets().next().is_some()
    }

    /// Whether distinct sets have put values aside.
    pub(crate) fn has_rest(&self) -> bool {
        self.sets().any(DistinctSet::has_rest)
    }

    /// From now on distinct sets put new values aside.
    pub(crate) fn fill_up(&mut self, memory: &Reservation) -> Result<()> {
        let inputs = self.inputs.iter_mut().filter_map(|input| input.distinct.as_mut());
        let mut sets = inputs.chain(self.collected.iter_mut().filter_map(Collected::distinct_mut));
        sets.try_for_each(|set| set.fill_up(memory))
    }

    /// Gives the rows of collecting aggregates to temporary space; how many bytes that frees.
    pub(crate) fn spill_collected(&mut self, memory: &Reservation) -> Result<usize> {
        self.collected.iter_mut().try_fold(0, |freed, collected| Ok(freed + collected.spill(memory)?))
    }

    /// How many of the groups of a range, one at least, have results of so many bytes.
    pub(crate) fn fitting(&self, range: Range<usize>, bytes_max: u64) -> usize {
        let mut bytes = 0;
        let fits = |group: &usize| {
            bytes += self.collected.iter().map(|collected| collected.result_bytes(*group)).sum::<u64>();
            bytes <= bytes_max
        };
        range.take_while(fits).count().max(1)
    }

    /// Folds some of what distinct sets have put aside; `true` when there is no more.
    pub(crate) fn fold_rest(&mut self, memory: &Reservation) -> Result<bool> {
        let Self { inputs, list, words, stride, groups: group_count, .. } = self;
        for (index, input) in inputs.iter_mut().enumerate() {
            let Some(set) = &mut input.distinct else { continue };
            let Some((values, groups)) = set.next_of_rest(memory)? else { continue };
            groups.iter().for_each(|group| input.excluded[*group as usize] -= 1);
            for accumulator in list.iter_mut().filter(|accumulator| accumulator.input == index) {
                accumulator.state.fold(&values.columns[0], Groups::Numbers(&groups), words, *stride, *group_count)?;
            }
            return Ok(false);
        }
        for collected in &mut self.collected {
            if !collected.fold_rest(memory)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Folds a batch into its groups.
    pub(crate) fn update(&mut self, batch: &Batch, groups: Groups<'_>, memory: &Reservation) -> Result<()> {
        let mut plain = SumBatch::new(batch.rows);
        plain.count_rows();
        let spread;
        let each = match groups {
            // Only sums are made by runs.
            Groups::Runs(starts, numbers) if !self.sums_only => {
                spread = runs::spread(starts, numbers, batch.rows);
                Groups::Numbers(&spread)
            }
            groups => groups,
        };
        let mut read: Vec<Read> = Vec::with_capacity(self.inputs.len());
        for input in &mut self.inputs {
            read.push(input.read(batch, each, self.groups, memory)?);
        }
        for collected in &mut self.collected {
            collected.update(batch, each, memory)?;
        }
        let Self { inputs: _, list, words, stride, .. } = self;
        for (index, accumulator) in list.iter_mut().enumerate() {
            let Read { values: Some(values), rows } = &read[accumulator.input] else {
                continue;
            };
            if rows.is_none() && plain.take(index, &accumulator.state, values) {
                continue;
            }
            let picked;
            let groups = match (each, rows) {
                (Groups::Numbers(_) | Groups::Runs(..), Some(rows)) => {
                    picked = rows.iter().map(|row| each.of(*row as usize) as u32).collect::<Vec<u32>>();
                    Groups::Numbers(&picked)
                }
                (groups, _) => groups,
            };
            accumulator.state.fold(values, groups, words, *stride, self.groups)?;
        }
        plain.fold(groups, words, *stride, self.groups, list)
    }

    /// Makes the results ready and sees that every sum is within its type, so that no row
    /// is put out before an error.
    pub(crate) fn complete(&mut self, memory: &Reservation) -> Result<()> {
        self.collected.iter_mut().try_for_each(|collected| collected.prepare(memory))?;
        for call in &self.calls {
            let sum = call.accumulator.map(|at| &self.list[at].state);
            if let (AggregateFunction::Sum, Some(State::Integers { word, upper })) = (call.function, sum)
                && !upper.is_empty()
            {
                for group in 0..self.groups {
                    super::output::sum_in_range(self.sum(group, *word, upper), call.ty)?;
                }
            }
        }
        Ok(())
    }

    /// The sum of a group.
    pub(super) fn sum(&self, group: usize, word: usize, upper: &[i64]) -> i128 {
        let low = i128::from(self.words[group * self.stride + word]);
        low + (i128::from(upper.get(group).copied().unwrap_or(0)) << 64)
    }

    /// How many rows of a group an input counted.
    pub(super) fn counted(&self, group: usize, input: Option<usize>) -> i64 {
        let rows = self.words[group * self.stride];
        let excluded = input.and_then(|input| self.inputs[input].excluded.get(group)).copied().unwrap_or(0);
        rows - excluded as i64
    }
}

impl State {
    /// Folds values without NULLs into the words of their groups.
    fn fold(
        &mut self,
        values: &Vector,
        groups: Groups<'_>,
        words: &mut [i64],
        stride: usize,
        group_count: usize,
    ) -> Result<()> {
        match self {
            Self::Integers { word, upper } => {
                sums::add_integers(values, groups, words, stride, *word, upper, group_count)?;
            }
            Self::Doubles { word } => sums::add_doubles(values, groups, words, stride, *word),
            Self::Extreme(extremes) => extremes.update(values, groups, words, stride)?,
            Self::Moments { word } => moments::update(values, groups, words, stride, *word),
        }
        Ok(())
    }
}

/// The function whose state serves `function` too.
const fn shared(function: AggregateFunction) -> AggregateFunction {
    match function {
        AggregateFunction::Average => AggregateFunction::Sum,
        AggregateFunction::BoolAnd => AggregateFunction::Min,
        AggregateFunction::BoolOr => AggregateFunction::Max,
        AggregateFunction::VariancePopulation
        | AggregateFunction::StddevSample
        | AggregateFunction::StddevPopulation => AggregateFunction::VarianceSample,
        other => other,
    }
}

/// What an input gave for a batch.
struct Read {
    /// Values of the rows that count, without NULLs; `None` without an argument.
    values: Option<Arc<Vector>>,
    /// The rows that count; `None` is all.
    rows: Option<Vec<u32>>,
}

impl Input {
    fn read(&mut self, batch: &Batch, groups: Groups<'_>, group_count: usize, memory: &Reservation) -> Result<Read> {
        let mut rows: Option<Vec<u32>> = match &self.predicates {
            None => None,
            Some(predicates) => match predicates.select(batch)? {
                Selection::All => None,
                Selection::Rows(rows) => Some(rows),
            },
        };
        let mut values = match &self.evaluator {
            None => None,
            Some(evaluator) => Some(match &rows {
                None => evaluator.evaluate(batch)?,
                Some(rows) => evaluator.evaluate_rows(batch, rows)?,
            }),
        };
        let nulls = values.as_ref().and_then(|v| v.validity.as_ref()).filter(|valid| valid.contains(&false));
        if let Some(validity) = nulls {
            let kept: Vec<u32> = (0..validity.len() as u32).filter(|row| validity[*row as usize]).collect();
            keep(&mut values, &mut rows, kept);
        }
        if let (Some(distinct), Some(vector)) = (&mut self.distinct, &values) {
            let candidates = Batch::new(vec![Arc::clone(vector)], vector.len());
            let kept = distinct.first_rows(&candidates, groups, rows.as_deref(), memory)?;
            if kept.len() < vector.len() {
                keep(&mut values, &mut rows, kept);
            }
        }
        if let Some(rows) = &rows {
            self.exclude(batch.rows, rows, groups, group_count);
        }
        Ok(Read { values, rows })
    }

    /// Counts the rows that are not in `rows`.
    fn exclude(&mut self, count: usize, rows: &[u32], groups: Groups<'_>, group_count: usize) {
        self.excluded.resize(group_count.max(self.excluded.len()), 0);
        match groups {
            Groups::One => self.excluded[0] += (count - rows.len()) as u64,
            groups => {
                let mut counted = rows.iter().copied().peekable();
                for row in 0..count {
                    let group = groups.of(row);
                    if counted.peek() == Some(&(row as u32)) {
                        counted.next();
                    } else {
                        self.excluded[group] += 1;
                    }
                }
            }
        }
    }
}

/// Narrows values and their rows to some of the values.
fn keep(values: &mut Option<Arc<Vector>>, rows: &mut Option<Vec<u32>>, kept: Vec<u32>) {
    if let Some(vector) = values {
        let mut picked = vector.gather(&kept);
        picked.validity = None;
        *vector = Arc::new(picked);
    }
    *rows = Some(match rows.take() {
        None => kept,
        Some(rows) => kept.iter().map(|at| rows[*at as usize]).collect(),
    });
}

/// The values as 64-bit integers, where they have that form.
pub(super) fn as_integers(data: &Data) -> Option<std::borrow::Cow<'_, [i64]>> {
    match data {
        Data::Int64(v) => Some(std::borrow::Cow::Borrowed(v)),
        Data::Int32(v) => Some(std::borrow::Cow::Owned(v.iter().map(|v| i64::from(*v)).collect())),
        Data::Boolean(v) => Some(std::borrow::Cow::Owned(v.iter().map(|v| i64::from(*v)).collect())),
        _ => None,
    }
}
