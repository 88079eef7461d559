//! From rewritten relations to physical operators: estimates, join order, routes.

mod access;
mod block;
mod dynamic;
mod eager;
mod estimate;
mod graph;
mod implication;
mod join;
mod keys;
mod lookup;
mod lower;
mod order;
mod ordered;
mod plan;
mod selectivity;
mod window;

pub(crate) use plan::plan_query;
