//! The database under test, as this crate sees it.

use arrow_array::RecordBatch;
use gingham_types::{SqlType, Value};

/// What a statement returned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultSet {
    /// Name and type of each column.
    pub columns: Vec<(String, SqlType)>,
    /// The rows, each with one value a column.
    pub rows: Vec<Vec<Value>>,
}

/// A database that takes SQL and batches. Errors are its own words.
pub trait SqlTarget {
    /// Runs one statement to its end and returns all its rows (none for DDL and DML).
    fn execute(&mut self, sql: &str) -> Result<ResultSet, String>;

    /// Appends rows to a table. The batch has the table's columns in order: Int32,
    /// Decimal128(15,2), Date32 and Utf8 without NULLs.
    fn load(&mut self, table: &str, batch: RecordBatch) -> Result<(), String>;
}
