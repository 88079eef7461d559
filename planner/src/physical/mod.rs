//! From rewritten relations to physical operators: estimates, join order, routes.

mod access;
mod dynamic;
mod estimate;
mod graph;
mod lower;
mod order;
mod plan;
mod selectivity;

pub(crate) use plan::plan_query;
