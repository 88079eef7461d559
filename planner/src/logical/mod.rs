//! The relational tree between binding and physical planning, and the rewrites on it.
//!
//! Columns have numbers that are unique in a statement: [`gingham_plan::Expr::Column`]
//! carries such a number here, not a position. A relation refers to a column of its
//! inputs by number wherever it is in the tree, so that moving a predicate or pulling a
//! subquery up never renames anything. A column that no input provides is an outer
//! reference.

mod condition;
pub(crate) mod decorrelate;
mod idset;
pub(crate) mod pushdown;
mod rel;

pub(crate) use condition::{
    columns_of, conjuncts, disjuncts, push_conjuncts, push_new, rejects_null, substitute, uses_only,
};
pub(crate) use idset::IdSet;
pub(crate) use rel::{Columns, Dependent, Id, Join, Rel, Scan};
