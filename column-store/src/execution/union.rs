//! All rows of several inputs, one input after the other.

use super::stage::{Operator, Site, Stage};
use crate::Result;
use crate::source::Step;

/// Passes its inputs' batches on.
pub(crate) struct UnionOperator {
    /// Inputs that are not finished, last first.
    inputs: Vec<Stage>,
}

impl UnionOperator {
    pub(crate) fn new(site: &Site<'_>, inputs: usize) -> Self {
        Self { inputs: (0..inputs).rev().map(|index| site.input(index)).collect() }
    }
}

impl Operator for UnionOperator {
    fn next(&mut self) -> Result<Step> {
        let Some(input) = self.inputs.last_mut() else {
            return Ok(Step::Finished);
        };
        match input.next()? {
            Step::Finished => {
                self.inputs.pop();
                Ok(Step::Working)
            }
            step => Ok(step),
        }
    }
}
