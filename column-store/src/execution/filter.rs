//! Rows that satisfy every conjunct.

use super::coalesce::Coalescer;
use super::stage::{Operator, Site, Stage};
use crate::Result;
use crate::expression::{Predicates, Selection};
use crate::source::Step;
use gingham_plan::Expr;

/// Passes the rows for which every conjunct is true.
pub(crate) struct FilterOperator {
    input: Stage,
    predicates: Predicates,
    columns: Vec<usize>,
    output: Coalescer,
}

impl FilterOperator {
    pub(crate) fn new(site: &Site<'_>, predicates: &[Expr], columns: &[usize]) -> Result<Self> {
        Ok(Self {
            input: site.input(0),
            predicates: Predicates::new(predicates, &site.scope.runtime())?,
            columns: columns.to_vec(),
            output: Coalescer::new(site.node.types()),
        })
    }
}

impl Operator for FilterOperator {
    fn next(&mut self) -> Result<Step> {
        let batch = match self.input.next()? {
            Step::Batch(batch) => batch,
            Step::Working => return Ok(Step::Working),
            Step::Finished => return Ok(self.output.finish().map_or(Step::Finished, Step::Batch)),
        };
        let selection = self.predicates.select(&batch)?;
        let kept = batch.project(&self.columns);
        Ok(match selection {
            Selection::All => self.output.push(kept, None)?,
            Selection::Rows(rows) => self.output.push(kept, Some(&rows))?,
        }
        .map_or(Step::Working, Step::Batch))
    }
}
