//! Where a result and its answer part, in words.

use gingham_types::SqlType;
use std::fmt;

/// The first difference between a result and the answer. Rows are counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// The result has another number of columns, in its header or in a row.
    ColumnCount {
        /// Columns of the answer.
        expected: usize,
        /// Columns of the result.
        found: usize,
    },
    /// A column's type cannot hold the answer exactly.
    ColumnType {
        /// The column.
        column: String,
        /// What was expected.
        expected: &'static str,
        /// The result's type.
        found: SqlType,
    },
    /// The result has another number of rows.
    RowCount {
        /// Rows of the answer.
        expected: usize,
        /// Rows of the result.
        found: usize,
        /// The first row that differs, or is missing, or is too many.
        first: Box<Difference>,
    },
    /// A row of the answer that the result lacks at its end.
    MissingRow {
        /// The row's number.
        row: usize,
        /// The row.
        expected: String,
    },
    /// A row after the answer's last.
    UnexpectedRow {
        /// The row's number.
        row: usize,
        /// The row.
        found: String,
    },
    /// A value differs.
    Value {
        /// The row's number in the result.
        row: usize,
        /// The column.
        column: String,
        /// The answer's value.
        expected: String,
        /// The result's value.
        found: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ColumnCount { expected, found } => {
                write!(f, "expected {}, found {found}", counted(*expected, "column"))
            }
            Self::ColumnType { column, expected, found } => {
                write!(f, "column {column}: expected {expected}, found type {found}")
            }
            Self::RowCount { expected, found, first } => {
                write!(f, "expected {}, found {found}; {first}", counted(*expected, "row"))
            }
            Self::MissingRow { row, expected } => write!(f, "row {row} is missing: {expected}"),
            Self::UnexpectedRow { row, found } => write!(f, "row {row} is one too many: {found}"),
            Self::Value { row, column, expected, found } => {
                write!(f, "row {row}, column {column}: expected {expected}, found {found}")
            }
        }
    }
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
