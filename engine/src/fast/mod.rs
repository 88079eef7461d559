//! The fast path (D-12): statements of small known shapes, bound to row-store programs
//! without the planner.
//!
//! Lookups of points, lists and ranges by the primary key or an index, in its order too,
//! `count`, `sum`, `min` and `max` of those, a whole-table read of a row table, INSERT …
//! VALUES, UPDATE and DELETE by key or a range of one, CREATE and DROP of the usual tables
//! and indexes, and transaction control. What is
//! not recognized with certainty is left to the planner, which also words every error
//! about names and syntax: [`compile`] never fails, it declines.

mod aggregate;
mod definition;
mod lexer;
mod lookup;
mod parser;
mod path;
mod program;
mod run;
mod update;

pub(crate) use lexer::Parameters;
pub use lookup::FoundRow;
pub(crate) use program::Program;
pub(crate) use run::{ProgramResult, run};

use crate::schema::Schema;
use gingham_plan::RouteSetting;

/// The program of a statement, if it is of a known shape.
pub(crate) fn compile(sql: &str, schema: &Schema, route: RouteSetting) -> Option<Program> {
    program::bind(parser::parse(sql)?, schema, route)
}
