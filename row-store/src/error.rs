//! The crate's one error type. Variants are split by what the caller can do about them.

use std::fmt;

/// The result of every fallible operation of the row store.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The key is longer than a tree accepts. Fix the data.
    KeyTooLong {
        /// Bytes in the key.
        bytes: usize,
        /// The most a key may have.
        bytes_max: usize,
    },
    /// The value is longer than a tree accepts. Fix the data.
    ValueTooLong {
        /// Bytes in the value.
        bytes: usize,
        /// The most a value may have.
        bytes_max: usize,
    },
    /// A bulk load's keys do not ascend strictly. Fix the input.
    NotSorted,
    /// A value does not fit the type or the number of columns it is encoded for.
    InvalidRow(String),
    /// There is no tree of this number in this state of the database.
    NoSuchTree(u32),
    /// A tree of this number exists already.
    TreeExists(u32),
    /// The savepoint was released, or undone by rolling back to an earlier one.
    NoSuchSavepoint,
    /// A write transaction is open. Try again when it has ended.
    Busy,
    /// Another process or tab has the database open. Try again later.
    Locked(String),
    /// There is no such file.
    NotFound(String),
    /// The database was opened for reading only.
    ReadOnly,
    /// The device or quota is full: nothing was committed. Free space and try again.
    Full,
    /// Memory or address space is exhausted.
    TooLarge(&'static str),
    /// The operating system or browser refused an operation.
    Io {
        /// The operation, as `write` or `sync`.
        operation: &'static str,
        /// What the system said.
        message: String,
    },
    /// Writing the commit failed part-way: whether it lasted is known after reopening.
    InDoubt(Box<Error>),
    /// An earlier failure left the handle unusable. Reopen the database.
    Poisoned(String),
    /// The handle was closed.
    Closed,
    /// The file is not a Gingham database.
    NotADatabase,
    /// The file was written by a newer version.
    NewerVersion {
        /// The version in the file.
        found: u32,
        /// The newest version this program reads.
        supported: u32,
    },
    /// The file is damaged.
    Corrupt {
        /// The damaged page, or the page that names what is missing.
        page: u32,
        /// What was found to be wrong.
        what: String,
    },
}

impl Error {
    pub(crate) fn corrupt(page: u32, what: impl Into<String>) -> Self {
        Self::Corrupt { page, what: what.into() }
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn io(operation: &'static str, error: &dyn fmt::Display) -> Self {
        Self::Io { operation, message: error.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyTooLong { bytes, bytes_max } => {
                write!(f, "key of {bytes} bytes is longer than the {bytes_max} bytes a key may have")
            }
            Self::ValueTooLong { bytes, bytes_max } => {
                write!(f, "value of {bytes} bytes is longer than the {bytes_max} bytes a value may have")
            }
            Self::NotSorted => f.write_str("the keys of a bulk load must ascend strictly"),
            Self::InvalidRow(what) => write!(f, "row cannot be encoded or decoded: {what}"),
            Self::NoSuchTree(tree) => write!(f, "there is no tree {tree}"),
            Self::TreeExists(tree) => write!(f, "tree {tree} exists already"),
            Self::NoSuchSavepoint => f.write_str("the savepoint is no longer there"),
            Self::Busy => f.write_str("a write transaction is open"),
            Self::Locked(name) => write!(f, "database '{name}' is open elsewhere"),
            Self::NotFound(name) => write!(f, "there is no file '{name}'"),
            Self::ReadOnly => f.write_str("the database is open for reading only"),
            Self::Full => f.write_str("no space is left on the device or in the quota"),
            Self::TooLarge(what) => write!(f, "{what} is too large"),
            Self::Io { operation, message } => write!(f, "{operation} failed: {message}"),
            Self::InDoubt(cause) => write!(f, "whether the commit lasted is in doubt until reopening: {cause}"),
            Self::Poisoned(cause) => write!(f, "the database must be reopened after an earlier failure: {cause}"),
            Self::Closed => f.write_str("the database is closed"),
            Self::NotADatabase => f.write_str("the file is not a Gingham database"),
            Self::NewerVersion { found, supported } => write!(
                f,
                "the file has format version {found}, newer than version {supported}, the newest this program reads"
            ),
            Self::Corrupt { page, what } => write!(f, "the database is damaged at page {page}: {what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::InDoubt(cause) => Some(cause.as_ref()),
            _ => None,
        }
    }
}
