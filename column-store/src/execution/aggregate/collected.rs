//! Aggregates that need all values of a group: joined strings, quantiles, first and last.
//!
//! Rows are kept with their group's number and sorted by group and order at the end. Each
//! function then is a rule for what to make of the rows of one group.

use super::Groups;
use super::distinct::DistinctSet;
use crate::Result;
use crate::execution::columns::{Column, ColumnStore, NO_ROW};
use crate::execution::memory::Reservation;
use crate::execution::sort::{SortedBy, compare_values_of, sorted_rows};
use crate::expression::{EvaluatorSet, Predicates, Runtime, Selection, error};
use crate::vector::{Batch, Data, Dictionary, TextVector, Vector};
use gingham_plan::{AggregateCall, AggregateFunction, Expr};
use gingham_types::SqlType;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// The kept column of the group's number, of the argument, and of the second one.
const GROUP: usize = 0;
const VALUE: usize = 1;
const SECOND: usize = 2;

/// One collecting aggregate with its rows.
#[derive(Debug)]
pub(super) struct Collected {
    function: AggregateFunction,
    ty: SqlType,
    evaluators: EvaluatorSet,
    predicates: Option<Predicates>,
    distinct: Option<DistinctSet>,
    has_second: bool,
    store: ColumnStore,
    order: Vec<SortedBy>,
    /// The rows in order, once there are no more.
    sorted: Vec<u32>,
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
            evaluators: EvaluatorSet::new(&expressions, runtime)?,
            predicates: call.filter.as_ref().map(|e| Predicates::new(std::slice::from_ref(e), runtime)).transpose()?,
            distinct: call.distinct.then(|| DistinctSet::new(argument.ty())),
            has_second: call.second.is_some(),
            store: ColumnStore::new(&types),
            order,
            sorted: Vec::new(),
        })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let sorted = self.store.rows() * size_of::<u32>();
        self.store.memory_bytes() + sorted + self.distinct.as_ref().map_or(0, DistinctSet::memory_bytes)
    }

    pub(super) fn update(&mut self, batch: &Batch, groups: Groups<'_>, memory: &Reservation) -> Result<()> {
        let rows: Vec<u32> = match &self.predicates {
            None => (0..batch.rows as u32).collect(),
            Some(predicates) => match predicates.select(batch)? {
                Selection::All => (0..batch.rows as u32).collect(),
                Selection::Rows(rows) => rows,
            },
        };
        let mut columns = self.evaluators.evaluate_rows(batch, &rows)?;
        let keeps_nulls = matches!(self.function, AggregateFunction::First | AggregateFunction::Last);
        let whole = |row: &u32| {
            let valid = |column: &Arc<Vector>| column.is_valid(*row as usize);
            keeps_nulls || (valid(&columns[0]) && (!self.has_second || self.ignores_second() || valid(&columns[1])))
        };
        let mut kept: Vec<u32> = (0..rows.len() as u32).filter(whole).collect();
        if let Some(distinct) = &mut self.distinct {
            let values = Arc::new(columns[0].gather(&kept));
            let own: Vec<u32> = kept.iter().map(|at| rows[*at as usize]).collect();
            let first = distinct.first_rows(&values, groups, Some(&own), memory)?;
            kept = first.into_iter().map(|at| kept[at as usize]).collect();
        }
        let numbers = rows.iter().map(|row| groups.of(*row as usize) as i64).collect();
        columns.insert(GROUP, Arc::new(Vector::new(Data::Int64(numbers))));
        self.store.append(&Batch::new(columns, rows.len()), Some(&kept))
    }

    /// Whether the second argument may be NULL: a separator, a share.
    const fn ignores_second(&self) -> bool {
        matches!(
            self.function,
            AggregateFunction::StringJoin | AggregateFunction::QuantileContinuous | AggregateFunction::QuantileDiscrete
        )
    }

    /// Puts the rows in order: there are no more.
    pub(super) fn prepare(&mut self) {
        self.store.freeze();
        self.sorted = sorted_rows(&self.store, &self.order);
    }

    /// The results of some groups.
    pub(super) fn finish(&self, groups: Range<usize>) -> Result<Vector> {
        let Data::Int64(numbers) = self.store.columns[GROUP].data() else {
            return Err(error::internal("a group's number is no number"));
        };
        let start = |group: usize| self.sorted.partition_point(|row| numbers[*row as usize] < group as i64);
        let mut from = start(groups.start);
        let mut slices = Vec::with_capacity(groups.len());
        for group in groups {
            let length = self.sorted[from..].iter().take_while(|row| numbers[**row as usize] == group as i64).count();
            slices.push(&self.sorted[from..from + length]);
            from += length;
        }
        match self.function {
            AggregateFunction::StringJoin => self.strings(&slices),
            AggregateFunction::QuantileContinuous => self.numbers(&slices, |rows| self.quantile(rows)),
            AggregateFunction::CovariancePopulation
            | AggregateFunction::CovarianceSample
            | AggregateFunction::Correlation => self.numbers(&slices, |rows| Ok(self.covariance(rows))),
            _ => {
                let picked = slices.iter().map(|rows| self.pick(rows)).collect::<Result<Vec<u32>>>()?;
                Ok(self.store.columns[VALUE].gather(&picked))
            }
        }
    }

    /// The row whose value is the result.
    fn pick(&self, rows: &[u32]) -> Result<u32> {
        let last = rows.last().copied().unwrap_or(NO_ROW);
        let first = rows.first().copied().unwrap_or(NO_ROW);
        Ok(match self.function {
            AggregateFunction::Last => last,
            AggregateFunction::Mode => most_frequent(&self.store.columns[VALUE], rows),
            AggregateFunction::QuantileDiscrete => match self.share(rows)? {
                None => NO_ROW,
                Some(share) => {
                    let at = (share * rows.len() as f64).ceil() as usize;
                    rows.get(at.saturating_sub(1)).copied().unwrap_or(last)
                }
            },
            _ => first,
        })
    }

    /// The share of a quantile; `None` where there is no value or no share.
    fn share(&self, rows: &[u32]) -> Result<Option<f64>> {
        match rows.first().and_then(|row| self.double(SECOND, *row)) {
            Some(share) if !(0.0..=1.0).contains(&share) => {
                let message = format!("the share {share} of a quantile is not between 0 and 1");
                Err(error::invalid_argument("22003", message))
            }
            share => Ok(share),
        }
    }

    fn double(&self, column: usize, row: u32) -> Option<f64> {
        let column = self.store.columns.get(column)?;
        match column.data() {
            Data::Double(values) if column.validity().is_none_or(|valid| valid[row as usize]) => {
                values.get(row as usize).copied()
            }
            _ => None,
        }
    }

    fn quantile(&self, rows: &[u32]) -> Result<Option<f64>> {
        let Some(share) = self.share(rows)? else { return Ok(None) };
        let position = share * (rows.len() - 1) as f64;
        let (low, high) = (position.floor(), position.ceil());
        let value = |at: f64| self.double(VALUE, rows[at as usize]);
        Ok(value(low).zip(value(high)).map(|(a, b)| if low < high { a + (b - a) * (position - low) } else { a }))
    }

    /// Covariance or correlation, from the distances to the means.
    fn covariance(&self, rows: &[u32]) -> Option<f64> {
        let pairs = || rows.iter().filter_map(|row| self.double(VALUE, *row).zip(self.double(SECOND, *row)));
        let count = rows.len() as f64;
        let (mut a, mut b) = (0.0, 0.0);
        pairs().for_each(|(x, y)| (a, b) = (a + x, b + y));
        let (mean_a, mean_b) = (a / count, b / count);
        let (mut both, mut squares_a, mut squares_b) = (0.0, 0.0, 0.0);
        for (x, y) in pairs() {
            let (x, y) = (x - mean_a, y - mean_b);
            both += x * y;
            squares_a += x * x;
            squares_b += y * y;
        }
        match self.function {
            AggregateFunction::CovarianceSample => (count > 1.0).then(|| both / (count - 1.0)),
            AggregateFunction::Correlation => {
                (squares_a > 0.0 && squares_b > 0.0).then(|| both / (squares_a * squares_b).sqrt())
            }
            _ => (count > 0.0).then(|| both / count),
        }
    }

    fn numbers(&self, slices: &[&[u32]], value: impl Fn(&[u32]) -> Result<Option<f64>>) -> Result<Vector> {
        let values = slices.iter().map(|rows| value(rows)).collect::<Result<Vec<Option<f64>>>>()?;
        let validity = values.iter().map(Option::is_some).collect();
        Ok(Vector {
            data: Data::Double(values.into_iter().map(Option::unwrap_or_default).collect()),
            validity: Some(validity),
        })
    }

    fn strings(&self, slices: &[&[u32]]) -> Result<Vector> {
        let (value, separator) = (&self.store.columns[VALUE], &self.store.columns[SECOND]);
        let (Data::Text(text), Data::Text(between)) = (value.data(), separator.data()) else {
            return Err(error::internal(format!("a column of {} changed its form", self.ty)));
        };
        let mut dictionary = Dictionary::default();
        let mut codes = Vec::with_capacity(slices.len());
        let mut joined = Vec::new();
        for rows in slices {
            joined.clear();
            for (at, row) in rows.iter().enumerate() {
                let row = *row as usize;
                if at > 0 && separator.validity().is_none_or(|valid| valid[row]) {
                    joined.extend_from_slice(between.bytes(row));
                }
                joined.extend_from_slice(text.bytes(row));
            }
            codes.push(dictionary.push(&joined).ok_or_else(error::text_too_large)?);
        }
        let validity = slices.iter().map(|rows| !rows.is_empty()).collect();
        Ok(Vector {
            data: Data::Text(TextVector { codes, dictionary: Arc::new(dictionary) }),
            validity: Some(validity),
        })
    }
}

/// The first row of the longest run of equal values; rows are in the order of values.
fn most_frequent(column: &Column, rows: &[u32]) -> u32 {
    let mut best = (0, NO_ROW);
    let mut start = 0;
    for at in 1..=rows.len() {
        let same = rows
            .get(at)
            .is_some_and(|row| compare_values_of(column, rows[start] as usize, *row as usize) == Ordering::Equal);
        if !same {
            if at - start > best.0 {
                best = (at - start, rows[start]);
            }
            start = at;
        }
    }
    if rows.is_empty() { NO_ROW } else { best.1 }
}
