//! Aggregate (signature only in this first commit).
use super::stage::{Operator, Site};
use crate::{Error, Result, source::Step};
pub(crate) struct AggregateOperator;
impl AggregateOperator {
    pub(crate) fn new(_site: &Site<'_>, _groups:&[gingham_plan::Expr],_a:&[gingham_plan::AggregateCall],_r:f64) -> Result<Self> {
        Err(Error::Sql(gingham_plan::SqlError::unsupported("Aggregate")))
    }
}
impl Operator for AggregateOperator {
    fn next(&mut self) -> Result<Step> { Ok(Step::Finished) }
}
