//! Sources of rows that are no tables: the work table of a recursion, and series.

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion_expr::{Expr, TableSource};
use std::sync::Arc;

/// The rows of a recursive common table expression's last round.
#[derive(Debug)]
pub(crate) struct WorkHandle {
    pub(crate) name: String,
    pub(super) schema: SchemaRef,
}

impl TableSource for WorkHandle {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// `generate_series(start, stop [, step])`.
#[derive(Debug)]
pub(crate) struct SeriesHandle {
    pub(crate) arguments: Vec<Expr>,
    schema: SchemaRef,
}

impl SeriesHandle {
    pub(super) fn new(arguments: Vec<Expr>) -> Self {
        // The type is near enough for datafusion-sql; `convert` types the arguments.
        let field = Field::new("generate_series", DataType::Int64, true);
        Self { arguments, schema: Arc::new(Schema::new(vec![field])) }
    }
}

impl TableSource for SeriesHandle {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
