//! The fast path (D-12): statements of small known shapes, bound to row-store programs
//! without the planner.
//!
//! A point or range lookup by primary key, `count(*)`, a whole-table read of a row
//! table, INSERT … VALUES, UPDATE and DELETE by key, and transaction control. What is
//! not recognized with certainty is left to the planner, which also words every error
//! about names and syntax: [`compile`] never fails, it declines.

mod lexer;
mod parser;
mod program;
mod run;

pub(crate) use lexer::Parameters;
pub(crate) use program::Program;
pub(crate) use run::{ProgramResult, run};

use crate::schema::Schema;
use gingham_plan::RouteSetting;

/// The program of a statement, if it is of a known shape.
pub(crate) fn compile(sql: &str, schema: &Schema, route: RouteSetting) -> Option<Program> {
    program::bind(parser::parse(sql)?, schema, route)
}
