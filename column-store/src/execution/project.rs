//! Computed columns.

use super::stage::{Operator, Site, Stage};
use crate::Result;
use crate::expression::EvaluatorSet;
use crate::source::Step;
use crate::vector::Batch;
use gingham_plan::Expr;

/// Computes expressions over every batch.
pub(crate) struct ProjectOperator {
    input: Stage,
    expressions: EvaluatorSet,
}

impl ProjectOperator {
    pub(crate) fn new(site: &Site<'_>, expressions: &[Expr]) -> Result<Self> {
        Ok(Self { input: site.input(0), expressions: EvaluatorSet::new(expressions, &site.scope.runtime())? })
    }
}

impl Operator for ProjectOperator {
    fn next(&mut self) -> Result<Step> {
        Ok(match self.input.next()? {
            Step::Batch(batch) => Step::Batch(Batch::new(self.expressions.evaluate(&batch)?, batch.rows)),
            other => other,
        })
    }
}
