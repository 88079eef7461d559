//! A column of values at equal distances.

use super::stage::{Operator, Site};
use crate::Result;
use crate::expression::{Runtime, error, evaluate_row_with};
use crate::source::Step;
use crate::vector::{BATCH_ROWS, Batch, Data, Vector};
use gingham_plan::{BinaryOp, Expr};
use gingham_types::{Interval, SqlType, Value};
use std::sync::Arc;

/// How far apart values are.
#[derive(Clone, Copy, Debug)]
enum Distance {
    Number(i64),
    Time(Interval),
}

/// Puts out a series; nothing once `next` is `None`.
pub(crate) struct SeriesOperator {
    next: Option<i64>,
    stop: i64,
    distance: Distance,
    forward: bool,
}

impl SeriesOperator {
    pub(crate) fn new(site: &Site<'_>, bounds: [&Expr; 3]) -> Result<Self> {
        let runtime = site.scope.runtime();
        let [start, stop, step] = bounds.map(|expr| evaluate_row_with(expr, &[], &runtime));
        let (start, stop, step) = (start?, stop?, step?);
        let number = |value: &Value| match value {
            Value::Int(v) | Value::Timestamp(v) => Some(*v),
            _ => None,
        };
        let distance = match step {
            Value::Int(step) => Distance::Number(step),
            Value::Interval(step) => Distance::Time(step),
            _ => Distance::Number(1),
        };
        let forward = match distance {
            Distance::Number(step) => step >= 0,
            Distance::Time(step) => i64::from(step.months) * 30 + i64::from(step.days) >= 0 && step.micros >= 0,
        };
        let zero = match distance {
            Distance::Number(step) => step == 0,
            Distance::Time(step) => step == Interval::default(),
        };
        if zero {
            return Err(error::invalid_argument("22023", "the step of a series must not be zero"));
        }
        let null = step.is_null();
        let next = number(&start).filter(|_| !null && !stop.is_null());
        Ok(Self { next, stop: number(&stop).unwrap_or(0), distance, forward })
    }

    fn advance(&self, from: i64) -> Result<Option<i64>> {
        match self.distance {
            Distance::Number(step) => Ok(from.checked_add(step)),
            Distance::Time(step) => {
                let literal = |value, ty| Box::new(Expr::literal(value, ty));
                let left = literal(Value::Timestamp(from), SqlType::Timestamp);
                let right = literal(Value::Interval(step), SqlType::Interval);
                let sum = Expr::Binary { op: BinaryOp::Add, left, right, ty: SqlType::Timestamp };
                match evaluate_row_with(&sum, &[], &Runtime::default())? {
                    Value::Timestamp(next) => Ok(Some(next)),
                    _ => Ok(None),
                }
            }
        }
    }
}

impl Operator for SeriesOperator {
    fn next(&mut self) -> Result<Step> {
        let mut values = Vec::new();
        while let Some(next) = self.next.filter(|_| values.len() < BATCH_ROWS) {
            let past = if self.forward { next > self.stop } else { next < self.stop };
            if past {
                self.next = None;
                break;
            }
            values.push(next);
            self.next = self.advance(next)?;
        }
        if values.is_empty() {
            return Ok(Step::Finished);
        }
        let rows = values.len();
        Ok(Step::Batch(Batch::new(vec![Arc::new(Vector::new(Data::Int64(values)))], rows)))
    }
}
