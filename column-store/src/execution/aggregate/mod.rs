//! Grouping and aggregates.
//!
//! Every batch is turned into group numbers ([`GroupTable`]) and then folded into the
//! state of its groups ([`Accumulators`]); the input is not kept but for the functions
//! that need it whole ([`collected`]).

mod accumulators;
mod collected;
mod distinct;
mod extremes;
mod moments;
mod output;
mod sums;

use super::group_table::GroupTable;
use super::keys::{KeyColumn, KeyWords};
use super::memory::Reservation;
use super::stage::{Operator, Site, Stage};
use crate::Result;
use crate::expression::EvaluatorSet;
use crate::source::Step;
use crate::vector::{BATCH_ROWS, Batch, Data, Dictionary, TextVector, Vector};
pub(crate) use accumulators::Accumulators;
pub(crate) use extremes::double_order;
use gingham_plan::{AggregateCall, Expr};
pub(crate) use output::{exact_results, moment_result};
use std::sync::Arc;

/// Estimates above this many groups do not size anything before the groups exist.
const GROUPS_EXPECTED_MAX: f64 = 4_000_000.0;

/// Which group each row of a batch is in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Groups<'a> {
    /// All rows in group 0.
    One,
    /// A group number a row.
    Numbers(&'a [u32]),
}

impl Groups<'_> {
    /// The group of a row.
    #[inline]
    pub(crate) fn of(self, row: usize) -> usize {
        match self {
            Self::One => 0,
            Self::Numbers(numbers) => numbers[row] as usize,
        }
    }
}

/// Groups its whole input, then puts out a row a group.
pub(crate) struct AggregateOperator {
    input: Stage,
    key_expressions: EvaluatorSet,
    keys: Vec<KeyColumn>,
    table: GroupTable,
    accumulators: Accumulators,
    memory: Reservation,
    output: Option<Output>,
}

/// Progress of the output.
struct Output {
    next: usize,
    groups: usize,
    /// For each text key, its strings.
    dictionaries: Vec<Option<Arc<Dictionary>>>,
}

impl AggregateOperator {
    pub(crate) fn new(site: &Site<'_>, groups: &[Expr], calls: &[AggregateCall], estimate: f64) -> Result<Self> {
        let runtime = site.scope.runtime();
        let keys: Vec<KeyColumn> = groups.iter().map(|group| KeyColumn::new(group.ty())).collect();
        let columns = keys.iter().map(KeyColumn::width).sum();
        let expected = if estimate.is_finite() { estimate.clamp(0.0, GROUPS_EXPECTED_MAX) as usize } else { 0 };
        Ok(Self {
            input: site.input(0),
            key_expressions: EvaluatorSet::new(groups, &runtime)?,
            keys,
            table: GroupTable::new(columns, expected),
            accumulators: Accumulators::new(calls, &runtime)?,
            memory: site.scope.context.reservation(),
            output: None,
        })
    }

    fn take(&mut self, batch: &Batch) -> Result<()> {
        if self.keys.is_empty() {
            self.accumulators.resize(1);
            self.accumulators.update(batch, Groups::One)?;
        } else {
            let mut words = KeyWords { rows: batch.rows, ..KeyWords::default() };
            for (key, vector) in self.keys.iter_mut().zip(self.key_expressions.evaluate(batch)?) {
                key.encode(&vector, true, &mut words)?;
            }
            let numbers = self.table.assign(&words)?;
            self.accumulators.resize(self.table.groups());
            self.accumulators.update(batch, Groups::Numbers(&numbers))?;
        }
        let keys: usize = self.keys.iter().map(KeyColumn::memory_bytes).sum();
        self.memory.resize(keys + self.table.memory_bytes() + self.accumulators.memory_bytes())
    }

    fn begin_output(&mut self) -> Result<Output> {
        if self.keys.is_empty() {
            self.accumulators.resize(1);
        }
        self.accumulators.complete()?;
        let strings = |key: &KeyColumn| key.interner.as_ref().map(|interner| Arc::new(interner.strings().clone()));
        let groups = if self.keys.is_empty() { 1 } else { self.table.groups() };
        Ok(Output { next: 0, groups, dictionaries: self.keys.iter().map(strings).collect() })
    }

    fn key_vectors(&self, output: &Output, range: &std::ops::Range<usize>) -> Vec<Arc<Vector>> {
        let mut column = 0;
        let mut vectors = Vec::with_capacity(self.keys.len());
        for (key, dictionary) in self.keys.iter().zip(&output.dictionaries) {
            let (first, valid) = self.table.words(column, range.clone());
            let mut words = vec![first];
            words.extend((1..key.width()).map(|half| self.table.words(column + half, range.clone()).0));
            column += key.width();
            vectors.push(Arc::new(match dictionary {
                None => key.decode(&words, valid),
                Some(dictionary) => text_vector(&words[0], valid, dictionary),
            }));
        }
        vectors
    }
}

/// Strings by number; a dictionary without entries has only NULLs to give.
fn text_vector(numbers: &[i64], valid: Option<Vec<bool>>, dictionary: &Arc<Dictionary>) -> Vector {
    if dictionary.is_empty() {
        return Vector::constant(&gingham_types::Value::Null, gingham_types::SqlType::Text, numbers.len());
    }
    let codes = numbers.iter().map(|number| *number as u32).collect();
    Vector { data: Data::Text(TextVector { codes, dictionary: Arc::clone(dictionary) }), validity: valid }
}

impl Operator for AggregateOperator {
    fn next(&mut self) -> Result<Step> {
        let mut output = match self.output.take() {
            Some(output) => output,
            None => match self.input.next()? {
                Step::Batch(batch) => {
                    self.take(&batch)?;
                    return Ok(Step::Working);
                }
                Step::Working => return Ok(Step::Working),
                Step::Finished => self.begin_output()?,
            },
        };
        let range = output.next..(output.next + BATCH_ROWS).min(output.groups);
        if range.is_empty() {
            return Ok(Step::Finished);
        }
        output.next = range.end;
        let mut columns = self.key_vectors(&output, &range);
        columns.extend(self.accumulators.finish(range.clone())?.into_iter().map(Arc::new));
        self.output = Some(output);
        Ok(Step::Batch(Batch::new(columns, range.len())))
    }
}
