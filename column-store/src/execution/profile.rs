//! What each operator did, for EXPLAIN ANALYZE.

use crate::source::SourceCounts;
use gingham_plan::{Query, explain};

/// One operator's counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeProfile {
    /// Rows put out.
    pub rows: u64,
    /// Batches put out.
    pub batches: u64,
    /// Milliseconds in the operator and its inputs; 0 without a clock.
    pub time_ms: f64,
    /// How often the operator was started: more than once below an apply.
    pub starts: u64,
    /// The most bytes that the operator held at one time.
    pub memory_bytes: u64,
    /// Bytes that it wrote to temporary space.
    pub spilled_bytes: u64,
    /// For scans, what they read.
    pub read: SourceCounts,
}

/// The operators of a query, each tree in the order of [`explain::walk`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// One list for each common table expression.
    pub ctes: Vec<Vec<NodeProfile>>,
    /// One list for each scalar subquery.
    pub subqueries: Vec<Vec<NodeProfile>>,
    /// The query itself.
    pub root: Vec<NodeProfile>,
}

impl Profile {
    pub(crate) fn new(query: &Query) -> Self {
        let blank = |node| {
            let mut count = 0;
            explain::walk(node, &mut |_| count += 1);
            vec![NodeProfile::default(); count]
        };
        Self {
            ctes: query.ctes.iter().map(blank).collect(),
            subqueries: query.subqueries.iter().map(blank).collect(),
            root: blank(&query.root),
        }
    }

    /// All of it in the order in which [`explain::lines`] lists operators (it prints a
    /// heading before each common table expression and each subquery).
    pub fn in_order(&self) -> impl Iterator<Item = &NodeProfile> {
        self.ctes.iter().flatten().chain(self.subqueries.iter().flatten()).chain(&self.root)
    }
}
