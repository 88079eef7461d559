//! SQL text and a catalog snapshot in, a physical plan out.
//!
//! The way of a statement: [`text`] reads tokens and a syntax tree and bounds their
//! depth; [`bind`] lets datafusion-sql resolve names against the catalog; [`convert`]
//! turns its logical plan into relations with Gingham's types, subqueries becoming joins
//! where they can; [`logical`] moves predicates and flattens joins; [`physical`]
//! estimates, orders joins, routes each scan to a store and emits operators.
//! [`statement`] does the rest of SQL around queries.
//!
//! The planner does no I/O, has no clock, and keeps nothing between statements but what
//! it can rebuild from the catalog. Bad SQL is an error with an SQLSTATE and, where
//! possible, a position; it never panics.

mod bind;
mod convert;
mod logical;
mod physical;
mod statement;
mod text;

use bind::{Binder, Functions, Tables};
use datafusion_common::config::ConfigOptions;
use gingham_plan::{PlanRequest, Planner, SqlError, Statement};
use statement::Session;
use text::Source;

/// The planner. Cheap to keep, not cheap to make: it builds the function table.
#[derive(Debug)]
pub struct SqlPlanner {
    functions: Functions,
    options: ConfigOptions,
    tables: Tables,
}

impl SqlPlanner {
    /// A planner for any number of statements.
    pub fn new() -> Self {
        let mut options = ConfigOptions::new();
        // It would copy plans and so hide that a common table expression is named twice.
        options.sql_parser.enable_subquery_sort_elimination = false;
        Self { functions: Functions::new(), options, tables: Tables::default() }
    }

    fn plan_statement(&mut self, request: &PlanRequest<'_>) -> Result<Statement, SqlError> {
        let source = Source::read(request.sql)?;
        let binder = Binder::new(request.catalog, &self.functions, &self.options, &mut self.tables);
        Session { binder, setting: request.route }.plan(&source)
    }
}

impl Default for SqlPlanner {
    fn default() -> Self {
        Self::new()
    }
}

impl Planner for SqlPlanner {
    fn plan(&mut self, request: &PlanRequest<'_>) -> Result<Statement, SqlError> {
        // A fault of a dependency must not take the database down with it. In wasm a
        // panic aborts, so there the module is what is lost.
        let planned = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.plan_statement(request)));
        planned.unwrap_or_else(|_| {
            self.tables = Tables::default();
            Err(SqlError::internal("the planner failed on this statement"))
        })
    }
}
