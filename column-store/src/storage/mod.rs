//! Columns at rest: encodings, row groups, statistics, and the scan that reads them.
//!
//! A table is cut into row groups of up to [`GROUP_ROWS_MAX`] rows. [`RowGroupBuilder`]
//! takes rows as batches and gives an [`EncodedGroup`]: the bytes of one extent with a
//! chunk for each column, and what the engine has to remember about it
//! ([`RowGroupMeta`]). [`ColumnScan`] reads groups back: it skips what the bounds of the
//! chunks exclude, loads a chunk only when a row needs it, evaluates predicates on codes
//! and widens the values of the rows that are left.
//!
//! | layer | modules |
//! |---|---|
//! | bytes | `format` (tables of everything written), `bytes`, `bits` |
//! | one column | `column` (values being collected), `encoding`, [`chunk`] (decoded) |
//! | one group | `builder`, `arrow`, [`meta`], [`mask`] |
//! | one table | [`statistics`], [`cache`], [`scan`] |
//!
//! Nothing here knows trees, transactions or versions: the engine decides which groups a
//! snapshot has, and which of their rows are deleted.

mod arrow;
mod bits;
mod builder;
mod bytes;
pub mod cache;
pub mod chunk;
mod column;
mod encoding;
mod extent;
mod format;
pub mod mask;
pub mod meta;
pub mod scan;
mod sketch;
pub mod statistics;

pub use builder::{EncodedGroup, RowGroupBuilder};
pub(crate) use bytes::{Reader, corrupt, put_varint};
pub use cache::{CacheStatistics, ChunkCache};
pub use chunk::Chunk;
pub use extent::ExtentReader;
pub use format::{GROUP_ROWS_LIMIT, GROUP_ROWS_MAX, GROUP_TEXT_BYTES_MAX};
pub use mask::RowMask;
pub use meta::{ChunkMeta, Encoding, RowGroupMeta};
pub use scan::{ColumnScan, FilterFunction, ScanGroup, ScanMetrics, ScanRequest};
pub use sketch::DistinctSketch;
pub use statistics::TableStatisticsBuilder;
