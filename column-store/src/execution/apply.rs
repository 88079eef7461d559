//! Apply (signature only in this first commit).
use super::stage::{Operator, Site};
use crate::{Error, Result, source::Step};
pub(crate) struct ApplyOperator;
impl ApplyOperator {
    pub(crate) fn new(_site: &Site<'_>, _a:&gingham_plan::Apply) -> Result<Self> {
        Err(Error::Sql(gingham_plan::SqlError::unsupported("Apply")))
    }
}
impl Operator for ApplyOperator {
    fn next(&mut self) -> Result<Step> { Ok(Step::Finished) }
}
