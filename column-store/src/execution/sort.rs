//! Sort (signature only in this first commit).
use super::stage::{Operator, Site};
use crate::{Error, Result};
use gingham_plan::{Expr, SortKey};
pub(crate) fn build(_site: &Site<'_>, _k: &[SortKey], _l: Option<&Expr>, _o: Option<&Expr>) -> Result<Box<dyn Operator>> {
    Err(Error::Sql(gingham_plan::SqlError::unsupported("sort")))
}
