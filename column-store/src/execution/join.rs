//! Join (signature only in this first commit).
use super::stage::{Operator, Site};
use crate::{Error, Result, source::Step};
pub(crate) struct JoinOperator;
impl JoinOperator {
    pub(crate) fn new(_site: &Site<'_>, _j:&gingham_plan::Join) -> Result<Self> {
        Err(Error::Sql(gingham_plan::SqlError::unsupported("Join")))
    }
}
impl Operator for JoinOperator {
    fn next(&mut self) -> Result<Step> { Ok(Step::Finished) }
}
