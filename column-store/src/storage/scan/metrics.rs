//! What a scan did, for EXPLAIN ANALYZE.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one or more scans; shared with whoever shows them.
#[derive(Debug, Default)]
pub struct ScanMetrics {
    groups: AtomicU64,
    groups_pruned: AtomicU64,
    rows_read: AtomicU64,
    rows_out: AtomicU64,
    chunks_read: AtomicU64,
    bytes_read: AtomicU64,
}

macro_rules! counters {
    ($($(#[$doc:meta])* $get:ident, $add:ident;)*) => {
        $($(#[$doc])*
        pub fn $get(&self) -> u64 {
            self.$get.load(Ordering::Relaxed)
        }

        pub(crate) fn $add(&self, more: u64) {
            self.$get.fetch_add(more, Ordering::Relaxed);
        })*
    };
}

impl ScanMetrics {
    counters! {
        /// Row groups looked at, by their metadata at least.
        groups, add_groups;
        /// Row groups excluded without reading a row.
        groups_pruned, add_groups_pruned;
        /// Rows of the groups that were not excluded.
        rows_read, add_rows_read;
        /// Rows put out.
        rows_out, add_rows_out;
        /// Chunks read from their extents, not found in the cache.
        chunks_read, add_chunks_read;
        /// Bytes of those chunks.
        bytes_read, add_bytes_read;
    }
}
