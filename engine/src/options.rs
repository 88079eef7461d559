//! What can be chosen when a database is opened.

use gingham_plan::Planner;
use gingham_row_store::{Clock, Durability, StoreOptions};
use std::fmt;
use std::sync::Arc;

/// Metadata of row groups past this is read again where it is wanted: some thousand groups.
const GROUP_METADATA_BYTES_MAX: usize = 16 << 20;

/// With less for changed pages a transaction would write single pages.
const CHANGED_PAGES_BYTES_MIN: usize = 512 << 10;

/// Microseconds since 1970-01-01 00:00 UTC.
pub type WallClock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// How a database is opened.
pub struct Options {
    /// When a commit is acknowledged.
    pub durability: Durability,
    /// Memory of the database, in bytes: an eighth for pages of the row store, as much for
    /// changed pages, a quarter for decoded columns, and what these leave for the
    /// operators of all statements together, which spill to temporary space past it.
    pub memory_bytes_max: u64,
    /// The most memory for pages of the row store, in bytes.
    pub page_cache_bytes_max: usize,
    /// The most memory for decoded columns, in bytes.
    pub chunk_cache_bytes_max: usize,
    /// Refuse every write.
    pub read_only: bool,
    /// Monotonic milliseconds, for relaxed durability and EXPLAIN ANALYZE. Without one,
    /// native builds use the system's.
    pub clock: Option<Clock>,
    /// Microseconds since 1970 in UTC, for `now()`. Without one, native builds use the
    /// system's.
    pub wall_clock: Option<WallClock>,
    /// Plans what the fast path does not. Without one, the planner that is part of the
    /// build (feature `planner`); without that too, such statements are refused.
    pub planner: Option<Box<dyn Planner>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Strict,
            memory_bytes_max: 1 << 30,
            page_cache_bytes_max: 64 << 20,
            chunk_cache_bytes_max: 256 << 20,
            read_only: false,
            clock: None,
            wall_clock: None,
            planner: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("durability", &self.durability)
            .field("page_cache_bytes_max", &self.page_cache_bytes_max)
            .field("chunk_cache_bytes_max", &self.chunk_cache_bytes_max)
            .field("memory_bytes_max", &self.memory_bytes_max)
            .field("read_only", &self.read_only)
            .finish_non_exhaustive()
    }
}

/// The parts of a database's memory, in bytes.
pub(crate) struct Shares {
    pub(crate) pages: usize,
    pub(crate) changed_pages: usize,
    pub(crate) chunks: usize,
    pub(crate) group_metadata: usize,
    pub(crate) operators: u64,
}

impl Options {
    pub(crate) fn shares(&self) -> Shares {
        let part = |divisor: u64, most: usize| {
            usize::try_from(self.memory_bytes_max / divisor).map_or(most, |bytes| bytes.min(most))
        };
        let pages = part(8, self.page_cache_bytes_max);
        let changed_pages = part(8, StoreOptions::default().dirty_bytes_max);
        let chunks = part(4, self.chunk_cache_bytes_max);
        let group_metadata = part(32, GROUP_METADATA_BYTES_MAX);
        let caches = (pages + changed_pages + chunks + group_metadata) as u64;
        Shares { pages, changed_pages, chunks, group_metadata, operators: self.memory_bytes_max - caches }
    }

    pub(crate) fn store_options(&self) -> StoreOptions {
        let shares = self.shares();
        StoreOptions {
            cache_bytes_max: shares.pages,
            dirty_bytes_max: shares.changed_pages.max(CHANGED_PAGES_BYTES_MIN),
            durability: self.durability,
            read_only: self.read_only,
            clock: self.clock.clone(),
            ..StoreOptions::default()
        }
    }
}
