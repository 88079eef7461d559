//! VALUES: rows of constants.

use super::stage::{Operator, Site};
use crate::Result;
use crate::expression::{Runtime, batch_from_rows, evaluate_row_with};
use crate::source::Step;
use crate::vector::BATCH_ROWS;
use gingham_plan::Expr;
use gingham_types::{SqlType, Value};

/// Puts out constant rows.
pub(crate) struct ValuesOperator {
    rows: Vec<Vec<Expr>>,
    types: Vec<SqlType>,
    runtime: Runtime,
    next: usize,
}

impl ValuesOperator {
    pub(crate) fn new(site: &Site<'_>, rows: &[Vec<Expr>], types: &[SqlType]) -> Self {
        Self { rows: rows.to_vec(), types: types.to_vec(), runtime: site.scope.runtime(), next: 0 }
    }
}

impl Operator for ValuesOperator {
    fn next(&mut self) -> Result<Step> {
        let end = (self.next + BATCH_ROWS).min(self.rows.len());
        let rows = self.rows[self.next..end]
            .iter()
            .map(|row| row.iter().map(|expr| evaluate_row_with(expr, &[], &self.runtime)).collect())
            .collect::<Result<Vec<Vec<Value>>>>()?;
        self.next = end;
        if rows.is_empty() {
            return Ok(Step::Finished);
        }
        Ok(Step::Batch(batch_from_rows(&rows, &self.types)?))
    }
}
