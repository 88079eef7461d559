//! What can go wrong while columns are stored, read or computed with.

use gingham_plan::SqlError;
use std::fmt;

/// The result of this crate's fallible functions.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the column store, by what the caller can do about it.
#[derive(Debug)]
pub enum Error {
    /// The data or the statement is at fault (division by zero, overflow, a cast that
    /// does not parse): report it with its SQLSTATE.
    Sql(SqlError),
    /// The row store below failed: its own kinds say what to do.
    Store(gingham_row_store::Error),
    /// Stored bytes are damaged: restore from a copy.
    Corrupt(String),
    /// The memory budget is exhausted and the operator cannot spill: raise it.
    OutOfMemory {
        /// Bytes asked for on top of those in use.
        bytes_wanted: u64,
        /// The budget.
        bytes_max: u64,
    },
    /// The statement was cancelled.
    Cancelled,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sql(error) => write!(f, "{error}"),
            Self::Store(error) => write!(f, "{error}"),
            Self::Corrupt(what) => write!(f, "the column store is damaged: {what}"),
            Self::OutOfMemory { bytes_wanted, bytes_max } => {
                write!(f, "{bytes_wanted} more bytes would pass the memory budget of {bytes_max} bytes")
            }
            Self::Cancelled => f.write_str("the statement was cancelled"),
        }
    }
}

impl std::error::Error for Error {}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Self {
        Self::Sql(error)
    }
}

impl From<gingham_types::CastError> for Error {
    fn from(error: gingham_types::CastError) -> Self {
        Self::Sql(error.into())
    }
}

impl From<gingham_row_store::Error> for Error {
    fn from(error: gingham_row_store::Error) -> Self {
        Self::Store(error)
    }
}
