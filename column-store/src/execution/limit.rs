//! LIMIT and OFFSET.

use super::stage::{Operator, Site, Stage};
use crate::Result;
use crate::expression::{Runtime, error, evaluate_row_with};
use crate::source::Step;
use gingham_plan::Expr;
use gingham_types::Value;

/// Passes at most `remaining` rows after skipping `skip`.
pub(crate) struct LimitOperator {
    input: Stage,
    skip: u64,
    remaining: u64,
}

impl LimitOperator {
    pub(crate) fn new(site: &Site<'_>, limit: Option<&Expr>, offset: Option<&Expr>) -> Result<Self> {
        let (remaining, skip) = bounds(limit, offset, &site.scope.runtime())?;
        Ok(Self { input: site.input(0), skip, remaining })
    }
}

impl Operator for LimitOperator {
    fn next(&mut self) -> Result<Step> {
        if self.remaining == 0 {
            return Ok(Step::Finished);
        }
        let batch = match self.input.next()? {
            Step::Batch(batch) => batch,
            other => return Ok(other),
        };
        let rows = batch.rows as u64;
        let from = self.skip.min(rows);
        self.skip -= from;
        let to = from + self.remaining.min(rows - from);
        self.remaining -= to - from;
        if to == from {
            return Ok(Step::Working);
        }
        if to - from == rows {
            return Ok(Step::Batch(batch));
        }
        let kept: Vec<u32> = (from as u32..to as u32).collect();
        Ok(Step::Batch(batch.gather(&kept)))
    }
}

/// The values of LIMIT (all rows when absent or NULL) and OFFSET (none).
///
/// # Errors
/// 2201W and 2201X when negative.
pub(crate) fn bounds(limit: Option<&Expr>, offset: Option<&Expr>, runtime: &Runtime) -> Result<(u64, u64)> {
    let value = |expr: Option<&Expr>, code, name: &str| -> Result<Option<u64>> {
        match expr.map(|e| evaluate_row_with(e, &[], runtime)).transpose()? {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Int(v)) => u64::try_from(v)
                .map(Some)
                .map_err(|_| error::invalid_argument(code, format!("{name} must not be negative"))),
            Some(other) => Err(error::internal(format!("{name} of type {}", other.sql_type()))),
        }
    };
    Ok((value(limit, "2201W", "LIMIT")?.unwrap_or(u64::MAX), value(offset, "2201X", "OFFSET")?.unwrap_or(0)))
}
