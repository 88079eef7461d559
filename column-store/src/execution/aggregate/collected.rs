//! Aggregates that need all values of a group: joined strings, quantiles, first and last.
//!
//! Rows are kept with their group's number, in temporary space where memory does not hold
//! them, and read back in the order of groups and of ORDER BY. Each function is a rule
//! for what to make of the rows of one group as they pass ([`super::ordered`]).

use super::Groups;
use super::distinct::DistinctSet;
use super::ordered::{Fold, Results};
use crate::Result;
use crate::execution::memory::Reservation;
use crate::execution::sort::{SortedBy, SortedRuns};
use crate::expression::{EvaluatorSet, Predicates, Runtime, Selection, error};
use crate::vector::{Batch, Data, Vector};
use gingham_plan::{AggregateCall, AggregateFunction, Expr};
use gingham_types::SqlType;
use std::ops::Range;
use std::sync::Arc;

/// The kept column of the group's number, and of the argument; a second one follows.
const GROUP: usize = 0;
pub(super) const VALUE: usize = 1;

/// One collecting aggregate with its rows.
#[derive(Debug)]
pub(super) struct Collected {
    function: AggregateFunction,
    ty: SqlType,
    value_type: SqlType,
    evaluators: EvaluatorSet,
    predicates: Option<Predicates>,
    distinct: Option<DistinctSet>,
    has_second: bool,
    rows: SortedRuns,
    /// For each group, how many rows are kept, and the bytes of what joining them gives.
    counts: Vec<u64>,
    joined: Vec<u64>,
    /// Rows being read back, and the next of them.
    batch: Option<Batch>,
    at: usize,
}

impl Collected {
    pub(super) fn new(call: &AggregateCall, runtime: &Runtime) -> Result<Self> {
        let Some(argument) = &call.argument else {
            return Err(error::internal(format!("{:?} without an argument", call.function)));
        };
        let mut expressions: Vec<&Expr> = vec![argument];
        expressions.extend(&call.second);
        let mut order = vec![SortedBy { column: GROUP, descending: false, nulls_first: false }];
        for key in &call.order {
            let at = expressions.iter().position(|e| **e == key.expr).unwrap_or_else(|| {
                expressions.push(&key.expr);
                expressions.len() - 1
            });
            order.push(SortedBy { column: VALUE + at, descending: key.descending, nulls_first: key.nulls_first });
        }
        let types: Vec<SqlType> = std::iter::once(SqlType::BigInt).chain(expressions.iter().map(|e| e.ty())).collect();
        let expressions: Vec<Expr> = expressions.into_iter().cloned().collect();
        Ok(Self {
            function: call.function,
            ty: call.ty,
            value_type: argument.ty(),
            evaluators: EvaluatorSet::new(&expressions, runtime)?,
            predicates: call.filter.as_ref().map(|e| Predicates::new(std::slice::from_ref(e), runtime)).transpose()?,
            distinct: call.distinct.then(|| DistinctSet::new(&types[VALUE..])),
            has_second: call.second.is_some(),
            rows: SortedRuns::new(types, order),
            counts: Vec::new(),
            joined: Vec::new(),
            batch: None,
            at: 0,
        })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.rows.memory_bytes() + (self.counts.capacity() + self.joined.capacity()) * size_of::<u64>()
    }

    /// Bytes that this many rows more may add.
    pub(super) fn growth_bytes(&self, added: usize) -> usize {
        self.rows.growth_bytes(added)
    }

    /// What DISTINCT keeps.
    pub(super) fn distinct(&self) -> Option<&DistinctSet> {
        self.distinct.as_ref()
    }

    pub(super) fn distinct_mut(&mut self) -> Option<&mut DistinctSet> {
        self.distinct.as_mut()
    }

    /// Gives the rows kept to temporary space; how many bytes that frees.
    pub(super) fn spill(&mut self, memory: &Reservation) -> Result<usize> {
        let before = self.rows.memory_bytes();
        self.rows.spill(memory)?;
        Ok(before - self.rows.memory_bytes())
    }

    pub(super) fn update(&mut self, batch: &Batch, groups: Groups<'_>, memory: &Reservation) -> Result<()> {
        let rows: Vec<u32> = match &self.predicates {
            None => (0..batch.rows as u32).collect(),
            Some(predicates) => match predicates.select(batch)? {
                Selection::All => (0..batch.rows as u32).collect(),
                Selection::Rows(rows) => rows,
            },
        };
        let columns = self.evaluators.evaluate_rows(batch, &rows)?;
        let keeps_nulls = matches!(self.function, AggregateFunction::First | AggregateFunction::Last);
        let whole = |row: &u32| {
            let valid = |column: &Arc<Vector>| column.is_valid(*row as usize);
            keeps_nulls || (valid(&columns[0]) && (!self.has_second || self.ignores_second() || valid(&columns[1])))
        };
        let mut kept: Vec<u32> = (0..rows.len() as u32).filter(whole).collect();
        let numbers: Vec<u32> = rows.iter().map(|row| groups.of(*row as usize) as u32).collect();
        if let Some(distinct) = &mut self.distinct {
            let values = columns.iter().map(|column| Arc::new(column.gather(&kept))).collect();
            let own: Vec<u32> = kept.iter().map(|at| numbers[*at as usize]).collect();
            let values = Batch::new(values, kept.len());
            let first = distinct.first_rows(&values, Groups::Numbers(&own), None, memory)?;
            kept = first.into_iter().map(|at| kept[at as usize]).collect();
        }
        self.keep(columns, &numbers, &kept)
    }

    /// Keeps some rows, of which `numbers` are the groups.
    fn keep(&mut self, mut columns: Vec<Arc<Vector>>, numbers: &[u32], kept: &[u32]) -> Result<()> {
        for row in kept {
            let group = numbers[*row as usize] as usize;
            if group >= self.counts.len() {
                self.counts.resize(group + 1, 0);
            }
            self.counts[group] += 1;
        }
        if self.function == AggregateFunction::StringJoin {
            self.joined.resize(self.counts.len(), 0);
            for column in columns.iter().take(2) {
                let Data::Text(text) = &column.data else { continue };
                for row in kept {
                    self.joined[numbers[*row as usize] as usize] += text.bytes(*row as usize).len() as u64;
                }
            }
        }
        let words = numbers.iter().map(|number| i64::from(*number)).collect();
        columns.insert(GROUP, Arc::new(Vector::new(Data::Int64(words))));
        self.rows.append(&Batch::new(columns, numbers.len()), kept)
    }

    /// Keeps some of the rows that DISTINCT has put aside; `true` when there are no more.
    pub(super) fn fold_rest(&mut self, memory: &Reservation) -> Result<bool> {
        let Some(distinct) = &mut self.distinct else { return Ok(true) };
        let Some((values, groups)) = distinct.next_of_rest(memory)? else { return Ok(true) };
        let all: Vec<u32> = (0..values.rows as u32).collect();
        self.keep(values.columns, &groups, &all)?;
        Ok(false)
    }

    /// Whether the second argument may be NULL: a separator, a share.
    const fn ignores_second(&self) -> bool {
        matches!(
            self.function,
            AggregateFunction::StringJoin | AggregateFunction::QuantileContinuous | AggregateFunction::QuantileDiscrete
        )
    }

    /// Puts the rows in order: there are no more.
    pub(super) fn prepare(&mut self, memory: &Reservation) -> Result<()> {
        self.rows.begin(memory)
    }

    /// Bytes of a group's result, where that is a joined string.
    pub(super) fn result_bytes(&self, group: usize) -> u64 {
        self.joined.get(group).copied().unwrap_or(0)
    }

    /// The results of the next groups: those of one call follow those of the call before.
    pub(super) fn finish(&mut self, groups: Range<usize>, memory: &Reservation) -> Result<Vector> {
        let mut results = Results::new(self.function, self.ty, self.value_type)?;
        for group in groups {
            let count = self.counts.get(group).copied().unwrap_or(0);
            let mut fold = Fold::new(self.function, count);
            let mut left = count;
            while left > 0 {
                let batch = match &self.batch {
                    Some(batch) if self.at < batch.rows => batch,
                    _ => {
                        self.at = 0;
                        self.batch = self.rows.next(memory)?;
                        self.batch.as_ref().ok_or_else(|| error::internal("rows of a group are missing"))?
                    }
                };
                let take = left.min((batch.rows - self.at) as u64) as usize;
                fold.take(batch, self.at..self.at + take)?;
                self.at += take;
                left -= take as u64;
                memory.check(fold.bytes())?;
            }
            results.push(fold)?;
        }
        results.finish()
    }
}
