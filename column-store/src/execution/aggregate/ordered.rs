//! What collecting aggregates make of the rows of one group, which pass in order.

use super::collected::VALUE;
use crate::Result;
use crate::execution::columns::Column;
use crate::execution::keys::differs;
use crate::expression::error;
use crate::vector::{Batch, Data, Dictionary, TextVector, Vector};
use gingham_plan::AggregateFunction;
use gingham_types::{SqlType, Value};
use std::ops::Range;
use std::sync::Arc;

/// The kept column of the second argument.
const SECOND: usize = VALUE + 1;

/// A value where it stands.
type Picked = (Arc<Vector>, u32);

/// The state of one group.
pub(super) struct Fold {
    function: AggregateFunction,
    /// Rows of the group, and how many have passed.
    count: u64,
    passed: u64,
    /// The share of a quantile: where its value is, and how far from there to the next.
    position: Option<(u64, f64)>,
    picked: Option<Picked>,
    low: Option<f64>,
    high: Option<f64>,
    joined: Vec<u8>,
    /// The run of equal values that is passing, and the length of the longest.
    run: Option<(Picked, u64)>,
    longest: u64,
    pairs: Pairs,
}

/// Means of both values, sums of squared distances from them, and of their product.
#[derive(Default)]
struct Pairs {
    mean_a: f64,
    mean_b: f64,
    squares_a: f64,
    squares_b: f64,
    both: f64,
}

impl Fold {
    pub(super) fn new(function: AggregateFunction, count: u64) -> Self {
        Self {
            function,
            count,
            passed: 0,
            position: None,
            picked: None,
            low: None,
            high: None,
            joined: Vec::new(),
            run: None,
            longest: 0,
            pairs: Pairs::default(),
        }
    }

    /// Takes the next rows.
    pub(super) fn take(&mut self, batch: &Batch, rows: Range<usize>) -> Result<()> {
        if self.passed == 0 {
            self.begin(batch, rows.start)?;
        }
        let values = &batch.columns[VALUE];
        // The rows of this range, counted from the group's first, and the one wanted.
        let passed = self.passed;
        let inside = |at: u64| at.checked_sub(passed).map(|at| rows.start + at as usize).filter(|at| *at < rows.end);
        match self.function {
            AggregateFunction::StringJoin => self.join(batch, rows.clone())?,
            AggregateFunction::QuantileContinuous => {
                if let Some((at, _)) = self.position {
                    self.low = inside(at).map_or(self.low, |row| double(values, row));
                    self.high = inside(at + 1).map_or(self.high, |row| double(values, row));
                }
            }
            AggregateFunction::CovariancePopulation
            | AggregateFunction::CovarianceSample
            | AggregateFunction::Correlation => {
                for row in rows.clone() {
                    if let (Some(a), Some(b)) = (double(values, row), double(&batch.columns[SECOND], row)) {
                        self.pairs.add(a, b, (passed + (row - rows.start) as u64 + 1) as f64);
                    }
                }
            }
            AggregateFunction::Mode => rows.clone().for_each(|row| self.count_run(values, row)),
            function => {
                let wanted = match function {
                    AggregateFunction::Last => Some(self.count - 1),
                    AggregateFunction::QuantileDiscrete => self.position.map(|(at, _)| at),
                    _ => Some(0),
                };
                if let Some(row) = wanted.and_then(inside) {
                    self.picked = Some((Arc::clone(values), row as u32));
                }
            }
        }
        self.passed += rows.len() as u64;
        Ok(())
    }

    /// Bytes of the string that is being joined.
    pub(super) const fn bytes(&self) -> usize {
        self.joined.len()
    }

    /// Finds out from the first row where a quantile is.
    fn begin(&mut self, batch: &Batch, row: usize) -> Result<()> {
        let discrete = self.function == AggregateFunction::QuantileDiscrete;
        if !discrete && self.function != AggregateFunction::QuantileContinuous {
            return Ok(());
        }
        let Some(share) = batch.columns.get(SECOND).and_then(|shares| double(shares, row)) else { return Ok(()) };
        if !(0.0..=1.0).contains(&share) {
            let message = format!("the share {share} of a quantile is not between 0 and 1");
            return Err(error::invalid_argument("22003", message));
        }
        self.position = Some(if discrete {
            let at = (share * self.count as f64).ceil() as u64;
            (at.saturating_sub(1).min(self.count - 1), 0.0)
        } else {
            let position = share * (self.count - 1) as f64;
            (position.floor() as u64, position - position.floor())
        });
        Ok(())
    }

    fn join(&mut self, batch: &Batch, rows: Range<usize>) -> Result<()> {
        let (Data::Text(text), Some(Data::Text(between))) =
            (&batch.columns[VALUE].data, batch.columns.get(SECOND).map(|separator| &separator.data))
        else {
            return Err(error::internal("strings are joined that are none"));
        };
        let added: usize = rows.clone().map(|row| text.bytes(row).len() + between.bytes(row).len()).sum();
        if self.joined.len() + added > u32::MAX as usize {
            return Err(error::text_too_large());
        }
        for row in rows.clone() {
            if self.passed + (row - rows.start) as u64 > 0 && batch.columns[SECOND].is_valid(row) {
                self.joined.extend_from_slice(between.bytes(row));
            }
            self.joined.extend_from_slice(text.bytes(row));
        }
        Ok(())
    }

    /// Counts equal values that follow each other: the first of the longest run is picked.
    fn count_run(&mut self, values: &Arc<Vector>, row: usize) {
        match &mut self.run {
            Some((first, length)) if !differs(&first.0, first.1 as usize, values, row) => *length += 1,
            run => *run = Some(((Arc::clone(values), row as u32), 1)),
        }
        if let Some((first, length)) = &self.run
            && *length > self.longest
        {
            self.longest = *length;
            self.picked = Some(first.clone());
        }
    }

    /// The result, where it is a number.
    fn number(&self) -> Option<f64> {
        let count = self.count as f64;
        match self.function {
            AggregateFunction::QuantileContinuous => {
                let (_, share) = self.position?;
                if share > 0.0 { Some(self.low? + (self.high? - self.low?) * share) } else { self.low }
            }
            AggregateFunction::CovarianceSample => (count > 1.0).then(|| self.pairs.both / (count - 1.0)),
            AggregateFunction::Correlation => {
                let Pairs { squares_a, squares_b, both, .. } = self.pairs;
                (squares_a > 0.0 && squares_b > 0.0).then(|| both / (squares_a * squares_b).sqrt())
            }
            _ => (count > 0.0).then(|| self.pairs.both / count),
        }
    }
}

impl Pairs {
    /// Takes in a pair, the `count`-th (Welford's method, for two values).
    fn add(&mut self, a: f64, b: f64, count: f64) {
        let (from_a, from_b) = (a - self.mean_a, b - self.mean_b);
        self.mean_a += from_a / count;
        self.mean_b += from_b / count;
        self.squares_a += from_a * (a - self.mean_a);
        self.squares_b += from_b * (b - self.mean_b);
        self.both += from_a * (b - self.mean_b);
    }
}

fn double(vector: &Vector, row: usize) -> Option<f64> {
    match &vector.data {
        Data::Double(values) if vector.is_valid(row) => values.get(row).copied(),
        _ => None,
    }
}

/// The results of several groups.
pub(super) enum Results {
    Numbers(Vec<f64>, Vec<bool>),
    Strings(Dictionary, Vec<bool>),
    /// Values picked, and one NULL.
    Values(Column, Vector),
}

impl Results {
    /// No results yet, of type `ty`; values picked are of type `value`.
    pub(super) fn new(function: AggregateFunction, ty: SqlType, value: SqlType) -> Result<Self> {
        Ok(match function {
            AggregateFunction::StringJoin if ty == SqlType::Text => Self::Strings(Dictionary::default(), Vec::new()),
            AggregateFunction::StringJoin => return Err(error::internal(format!("strings joined to {ty}"))),
            AggregateFunction::QuantileContinuous
            | AggregateFunction::CovariancePopulation
            | AggregateFunction::CovarianceSample
            | AggregateFunction::Correlation => Self::Numbers(Vec::new(), Vec::new()),
            _ => Self::Values(Column::new(value), Vector::constant(&Value::Null, value, 1)),
        })
    }

    /// Takes the result of the next group.
    pub(super) fn push(&mut self, fold: Fold) -> Result<()> {
        match self {
            Self::Numbers(numbers, validity) => {
                let number = fold.number();
                numbers.push(number.unwrap_or_default());
                validity.push(number.is_some());
            }
            Self::Strings(dictionary, validity) => {
                dictionary.push(&fold.joined).ok_or_else(error::text_too_large)?;
                validity.push(fold.count > 0);
            }
            Self::Values(column, null) => match &fold.picked {
                Some((vector, row)) => column.append(vector, Some(&[*row]))?,
                None => column.append(null, None)?,
            },
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Vector> {
        Ok(match self {
            Self::Numbers(numbers, validity) => Vector { data: Data::Double(numbers), validity: Some(validity) },
            Self::Strings(dictionary, validity) => {
                let codes = (0..dictionary.len() as u32).collect();
                let text = TextVector { codes, dictionary: Arc::new(dictionary) };
                Vector { data: Data::Text(text), validity: Some(validity) }
            }
            Self::Values(column, _) => column.into_vector(),
        })
    }
}
