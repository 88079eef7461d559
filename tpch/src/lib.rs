//! TPC-H for Gingham: the data, the 22 queries, their answers, a loader and a checker.
//!
//! - [`batches`] generates the rows of a table as columns, [`to_record_batch`] makes
//!   Arrow batches of them, [`csv`] writes them to files;
//! - [`QueryNumber::sql`] is a query's text, [`Answer`] its right result,
//!   [`check`](check::check) compares a result with it;
//! - [`load`] and [`run_query`] drive a database behind [`SqlTarget`].
//!
//! What is measured here is derived from TPC-H and not comparable with published
//! results: neither the refresh functions nor the throughput test is run.

mod answers;
mod arrow;
pub mod check;
pub mod csv;
mod error;
mod generate;
mod load;
mod queries;
mod run;
mod scale;
mod schema;
mod shape;
mod target;

pub use answers::Answer;
pub use arrow::{arrow_schema, to_record_batch};
pub use error::Error;
pub use generate::{Batch, ColumnData, Progress, ROWS_DEFAULT, ROWS_MAX, TextColumn, batches, row_count_estimate};
pub use load::{Layout, Loaded, TableLoad, load};
pub use queries::{QUERY_COUNT, QueryNumber};
pub use run::{QueryRun, run_query};
pub use scale::ScaleFactor;
pub use schema::{Column, ColumnType, DECIMAL_PRECISION, DECIMAL_SCALE, PrimaryKeys, Storage, Table};
pub use shape::{ResultColumn, ResultKind, Shape};
pub use target::{ResultSet, SqlTarget};
