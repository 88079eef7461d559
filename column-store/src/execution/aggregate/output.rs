//! Results of aggregates from their state.

use super::accumulators::{Accumulators, Call, State};
use super::moments;
use crate::Result;
use crate::execution::keys::narrow;
use crate::execution::memory::Reservation;
use crate::expression::{decimal, error};
use crate::vector::{Data, Vector};
use gingham_plan::AggregateFunction;
use gingham_types::{SqlType, power_of_ten};
use std::ops::Range;

impl Accumulators {
    /// The results of the next groups, one vector a call: those of one call of this
    /// function follow those of the call before.
    pub(crate) fn finish(&mut self, range: Range<usize>, memory: &Reservation) -> Result<Vec<Vector>> {
        let mut results = Vec::with_capacity(self.calls.len());
        for call in &self.calls {
            results.push(match call.collected {
                Some(collected) => self.collected[collected].finish(range.clone(), memory)?,
                None => self.finish_call(call, range.clone())?,
            });
        }
        Ok(results)
    }

    fn finish_call(&self, call: &Call, range: Range<usize>) -> Result<Vector> {
        let counts: Vec<i64> = range.clone().map(|group| self.counted(group, call.input)).collect();
        let Some(accumulator) = call.accumulator.map(|at| &self.list[at]) else {
            return Ok(Vector::new(Data::Int64(counts)));
        };
        // The sample variance of a single value is NULL too.
        let least = match call.function {
            AggregateFunction::VarianceSample | AggregateFunction::StddevSample => 2,
            _ => 1,
        };
        let data = match &accumulator.state {
            State::Integers { word, upper }
                if upper.is_empty()
                    && call.function == AggregateFunction::Sum
                    && matches!(call.ty, SqlType::BigInt | SqlType::Decimal { .. }) =>
            {
                Data::Int64(range.map(|group| self.words[group * self.stride + word]).collect())
            }
            State::Integers { word, upper } => {
                let sums: Vec<i128> = range.map(|group| self.sum(group, *word, upper)).collect();
                exact_results(call.function, call.argument_type, call.ty, &sums, &counts)?
            }
            State::Doubles { word } => {
                let sums = range.map(|group| f64::from_bits(self.words[group * self.stride + word] as u64));
                let average = call.function == AggregateFunction::Average;
                let value = |(sum, count): (f64, &i64)| if average { sum / *count as f64 } else { sum };
                Data::Double(sums.zip(&counts).map(value).collect())
            }
            State::Extreme(extremes) => extremes.finish(range, &self.words, self.stride)?,
            State::Moments { word } => {
                let at = range.map(|group| group * self.stride + word);
                Data::Double(at.map(|at| moment_result(call.function, moments::read(&self.words, at))).collect())
            }
        };
        let valid: Vec<bool> = counts.iter().map(|count| *count >= least).collect();
        Ok(Vector { data, validity: if valid.iter().all(|v| *v) { None } else { Some(valid) } })
    }
}

/// Sums and averages from exact sums and the numbers of values.
pub(crate) fn exact_results(
    function: AggregateFunction,
    argument: SqlType,
    ty: SqlType,
    sums: &[i128],
    counts: &[i64],
) -> Result<Data> {
    let average = function == AggregateFunction::Average;
    let from = argument.as_decimal().map_or(0, |(_, scale)| scale);
    let pairs = sums.iter().zip(counts);
    match ty {
        SqlType::Double => {
            let unit = power_of_ten(from).unwrap_or(1) as f64;
            let value = |(sum, count): (&i128, &i64)| *sum as f64 / if average { *count as f64 * unit } else { unit };
            Ok(Data::Double(pairs.map(value).collect()))
        }
        SqlType::Decimal { scale, .. } if average => {
            let value = |(sum, count): (&i128, &i64)| {
                if *count == 0 {
                    return Ok(0);
                }
                let shift = i32::from(scale) - i32::from(from);
                decimal::divide(*sum, i128::from(*count), shift)
                    .filter(|v| decimal::fits(*v))
                    .ok_or_else(|| error::out_of_range(ty))
            };
            Ok(narrow(pairs.map(value).collect::<Result<Vec<i128>>>()?))
        }
        ty => {
            let sums = sums.iter().map(|sum| sum_in_range(*sum, ty)).collect::<Result<Vec<i128>>>()?;
            Ok(narrow(sums))
        }
    }
}

/// The sum, if its type holds it.
pub(super) fn sum_in_range(sum: i128, ty: SqlType) -> Result<i128> {
    let fits = if ty == SqlType::BigInt { i64::try_from(sum).is_ok() } else { decimal::fits(sum) };
    if fits { Ok(sum) } else { Err(error::out_of_range(ty)) }
}

/// Variances and deviations from count, mean and sum of squared differences.
pub(crate) fn moment_result(function: AggregateFunction, [count, _, squares]: [f64; 3]) -> f64 {
    match function {
        AggregateFunction::VariancePopulation => squares / count,
        AggregateFunction::StddevPopulation => (squares / count).sqrt(),
        AggregateFunction::StddevSample => (squares / (count - 1.0)).sqrt(),
        _ => squares / (count - 1.0),
    }
}
