//! What can be chosen when a database is opened.

use gingham_plan::Planner;
use gingham_row_store::{Clock, Durability, StoreOptions};
use std::fmt;

/// How a database is opened.
pub struct Options {
    /// When a commit is acknowledged.
    pub durability: Durability,
    /// Memory for pages of the row store, in bytes.
    pub page_cache_bytes_max: usize,
    /// Memory for decoded columns, in bytes.
    pub chunk_cache_bytes_max: usize,
    /// Memory that one statement's operators may hold, in bytes.
    pub memory_bytes_max: u64,
    /// Refuse every write.
    pub read_only: bool,
    /// Monotonic milliseconds, for relaxed durability and EXPLAIN ANALYZE. Without one,
    /// native builds use the system's.
    pub clock: Option<Clock>,
    /// Plans what the fast path does not. Without one, the planner that is part of the
    /// build (feature `planner`); without that too, such statements are refused.
    pub planner: Option<Box<dyn Planner>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Strict,
            page_cache_bytes_max: 64 << 20,
            chunk_cache_bytes_max: 256 << 20,
            memory_bytes_max: 1 << 30,
            read_only: false,
            clock: None,
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

impl Options {
    pub(crate) fn store_options(&self) -> StoreOptions {
        StoreOptions {
            cache_bytes_max: self.page_cache_bytes_max,
            durability: self.durability,
            read_only: self.read_only,
            clock: self.clock.clone(),
            ..StoreOptions::default()
        }
    }
}
