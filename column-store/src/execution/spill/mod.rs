//! Rows that do not fit the memory budget, in temporary space.
//!
//! Temporary space ([`TempSpace`]) is one file of a database that holds nothing of
//! worth: it is never flushed, emptied whenever nobody uses it, and removed when the
//! database is opened and when it is closed. Rows go there batch by batch ([`codec`]),
//! many batches to a block ([`run`]), divided by a hash of their keys where they will be
//! worked on part by part ([`partition`]), or each by itself to be read again ([`shelf`]).

mod buffer;
mod codec;
mod partition;
mod run;
mod shelf;
mod space;

pub use buffer::RowBuffer;
pub(crate) use partition::{LEVELS_MAX, Partitions, row_hashes};
pub(crate) use run::{Run, RunReader, RunWriter, block_bytes};
pub(crate) use shelf::Shelf;
pub use space::TempSpace;
