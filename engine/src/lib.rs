//! Gingham: a SQL database for the browser and for native programs, with a row store
//! and a column store behind one front end.
//!
//! ```
//! use gingham::{Database, Options, Value};
//!
//! let database = Database::memory(Options::default())?;
//! let mut connection = database.connect();
//! connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)", &[])?;
//! connection.execute("INSERT INTO t VALUES (?, ?)", &[Value::Int(1), Value::Text("one".into())])?;
//! let rows = connection.execute("SELECT v FROM t WHERE k = 1", &[])?.collect_values()?;
//! assert_eq!(rows, [[Value::Text("one".into())]]);
//! # Ok::<(), gingham::Error>(())
//! ```
//!
//! From the top down: a [`Connection`] prepares a [`Statement`]; small known shapes
//! become programs of the fast path, everything else is planned; plans run on the
//! column store's operators over scans of either store; changes go through `table`,
//! which keeps rows, indexes and the columnar side together.

mod access;
mod arrow;
mod connection;
mod database;
mod describe;
mod error;
mod execute;
mod fast;
mod group_cache;
mod integrity;
mod load;
mod options;
mod schema;
pub mod script;
#[cfg(feature = "shell")]
pub mod shell;
mod statement;
mod statistics;
mod table;
mod temp;
mod values;

pub use connection::{Connection, Outcome};
pub use database::Database;
pub use error::{Error, Result};
pub use fast::FoundRow;
pub use load::{CsvImport, CsvOptions};
pub use options::{Options, WallClock};
pub use statement::{Rows, Statement};

pub use gingham_column_store::source::Step;
pub use gingham_column_store::vector;
pub use gingham_plan::{OutputColumn, PlanRequest, Planner, SqlError};
pub use gingham_row_store::{
    Clock, Durability, Error as StoreError, IntegrityReport, MemoryVfs, OpenMode, Result as StoreResult,
    StoreStatistics, Vfs, VfsFile,
};
pub use gingham_types::{Interval, SqlType, Value};

/// The README's examples, so that they compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}

/// The file-system seam, and for tests the file system that fails on demand.
pub mod vfs {
    pub use gingham_row_store::vfs::*;
}
