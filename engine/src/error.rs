//! The engine's error: whose fault it is, and how it reads to a client.

use gingham_plan::SqlError;
use std::fmt;

/// The result of the engine's fallible functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed, by what the caller can do about it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The statement or its data is at fault: nothing changed; fix it.
    Sql(SqlError),
    /// The store failed: full, locked, in doubt, damaged. Its kinds say what to do.
    Store(gingham_row_store::Error),
    /// The statement asked for more memory than the budget. The database stays usable.
    OutOfMemory {
        /// Bytes asked for on top of those in use.
        bytes_wanted: u64,
        /// The budget.
        bytes_max: u64,
    },
    /// Stored columns or catalog records are damaged: restore from a copy.
    Corrupt(String),
    /// The statement was cancelled; nothing changed.
    Cancelled,
}

impl Error {
    /// The error as a client sees it: SQLSTATE, message, position and hint.
    pub fn to_sql_error(&self) -> SqlError {
        use gingham_row_store::Error as Store;
        match self {
            Self::Sql(error) => error.clone(),
            Self::Store(error) => {
                let (code, hint) = match error {
                    Store::KeyTooLong { .. } | Store::ValueTooLong { .. } => ("54000", Some("store a shorter value")),
                    Store::Busy => ("55006", Some("try again when the other transaction has ended")),
                    Store::Locked(_) => ("55006", Some("close the database where it is open")),
                    Store::ReadOnly => ("25006", None),
                    Store::Full => ("53100", Some("free space or raise the quota; nothing was committed")),
                    Store::TooLarge(_) => ("53200", None),
                    Store::InDoubt(_) => ("40003", Some("reopen the database to learn whether the commit lasted")),
                    Store::Poisoned(_) | Store::Closed => ("08003", Some("reopen the database")),
                    Store::NotADatabase | Store::Corrupt { .. } => {
                        ("XX001", Some("restore the file from a copy; it was not changed"))
                    }
                    Store::NewerVersion { .. } => ("0A000", Some("open the file with a newer version of Gingham")),
                    Store::Io { .. } => ("58030", None),
                    Store::NotFound(_) => ("58P01", None),
                    _ => ("XX000", None),
                };
                let sql = SqlError::new(code, error.to_string());
                match hint {
                    Some(hint) => sql.hint(hint),
                    None => sql,
                }
            }
            Self::OutOfMemory { .. } => {
                SqlError::new("53200", self.to_string()).hint("raise the memory budget or read fewer rows")
            }
            Self::Corrupt(_) => SqlError::new("XX001", self.to_string()).hint("restore the file from a copy"),
            Self::Cancelled => SqlError::new("57014", self.to_string()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sql(error) => write!(f, "{error}"),
            Self::Store(error) => write!(f, "{error}"),
            Self::OutOfMemory { bytes_wanted, bytes_max } => {
                write!(f, "{bytes_wanted} more bytes would pass the memory budget of {bytes_max} bytes")
            }
            Self::Corrupt(what) => write!(f, "the database is damaged: {what}"),
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

impl From<gingham_column_store::Error> for Error {
    fn from(error: gingham_column_store::Error) -> Self {
        use gingham_column_store::Error as Column;
        match error {
            Column::Sql(error) => Self::Sql(error),
            Column::Store(error) => Self::Store(error),
            Column::Corrupt(what) => Self::Corrupt(what),
            Column::OutOfMemory { bytes_wanted, bytes_max } => Self::OutOfMemory { bytes_wanted, bytes_max },
            Column::Cancelled => Self::Cancelled,
        }
    }
}

/// The way back, for sources that the column store's operators pull on.
impl From<Error> for gingham_column_store::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Sql(error) => Self::Sql(error),
            Error::Store(error) => Self::Store(error),
            Error::Corrupt(what) => Self::Corrupt(what),
            Error::OutOfMemory { bytes_wanted, bytes_max } => Self::OutOfMemory { bytes_wanted, bytes_max },
            Error::Cancelled => Self::Cancelled,
        }
    }
}
