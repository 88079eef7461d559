//! From datafusion-sql's logical plan to relations with Gingham's types.

mod aggregate;
mod call;
mod coerce;
mod collected;
mod fold;
mod grouping;
mod join;
mod query;
mod recursive;
mod relation;
mod rows;
mod scalar;
mod series;
mod subquery;
mod time;
mod window;

pub(crate) use coerce::{arithmetic_type, assign, cast_to};
pub(crate) use fold::fold;
pub(crate) use query::{Converter, Scope};
pub(crate) use relation::constant_behind;
