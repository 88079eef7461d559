//! From datafusion-sql's logical plan to relations with Gingham's types.

mod aggregate;
mod call;
mod coerce;
mod fold;
mod join;
mod query;
mod relation;
mod rows;
mod scalar;
mod subquery;
mod window;

pub(crate) use coerce::{arithmetic_type, assign, cast_to};
pub(crate) use fold::fold;
pub(crate) use query::{Converter, Scope};
pub(crate) use relation::constant_behind;
