//! The row store: one file of checksummed pages that holds B+trees and extents, one
//! redo log, one commit.
//!
//! From the bottom up: [`vfs`] keeps bytes, the pager keeps pages and says which are
//! free, the log makes commits durable, the trees keep entries in key order, and
//! [`Store`], [`Transaction`] and [`Snapshot`] are what other crates use. [`key`] and
//! [`mod@row`] turn SQL values into bytes and back. `docs/FORMAT.md` describes the file.
//!
//! The crate knows no Arrow and no SQL.

#![forbid(unsafe_code)]

mod checkpoint;
mod cursor;
mod directory;
mod error;
mod extent;
mod extent_io;
pub mod format;
mod integrity;
pub mod key;
mod log;
mod meta;
pub mod mutation;
mod open;
mod options;
mod pager;
mod read;
pub mod row;
mod snapshot;
mod state;
mod store;
mod transaction;
mod tree;
pub mod vfs;

pub use cursor::Cursor;
pub use error::{Error, Result};
pub use extent::{EXTENT_REFERENCE_BYTES, Extent};
pub use options::{Clock, CommitInfo, Durability, IntegrityReport, StoreOptions, StoreStatistics};
pub use read::{Direction, Read};
pub use snapshot::Snapshot;
pub use store::Store;
pub use transaction::{Savepoint, Transaction};
#[cfg(not(target_arch = "wasm32"))]
pub use vfs::NativeVfs;
pub use vfs::{MemoryVfs, OpenMode, Vfs, VfsFile};

/// The number of a page: its offset in the file divided by the page size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageId(pub u32);

/// The number of a tree, stable for its life. Numbers below 16 are the engine's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeId(pub u32);
