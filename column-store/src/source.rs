//! The seam between operators and tables.

pub use crate::key_bits::KeyBits;
use crate::vector::Batch;
use crate::{Error, Result};
use gingham_plan::{DynamicFilter, Scan};
use std::cell::Cell;
use std::sync::Arc;

/// What a pull on an operator or a source gives.
#[derive(Debug)]
pub enum Step {
    /// Rows, at least one.
    Batch(Batch),
    /// Work was done but no rows are ready: call again. Lets the caller stop between
    /// slices of a long build or sort.
    Working,
    /// There are no more rows.
    Finished,
}

/// A stream of batches from a table.
pub trait Source {
    /// The next step. After `Finished`, `Finished` again.
    ///
    /// # Errors
    /// Damaged data, or an expression that fails on a row.
    fn next(&mut self) -> Result<Step>;

    /// What it has read so far.
    fn counts(&self) -> SourceCounts {
        SourceCounts::default()
    }
}

/// What a source has read, for EXPLAIN ANALYZE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceCounts {
    /// Bytes of chunks that no cache had, and of rows of the row store.
    pub bytes_read: u64,
    /// Row groups looked at.
    pub groups: u64,
    /// Row groups of which nothing but the metadata was needed.
    pub groups_pruned: u64,
}

impl SourceCounts {
    /// Combines the counts of two sources, or what one of them has done since the other.
    #[must_use]
    pub fn with(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            bytes_read: combine(self.bytes_read, other.bytes_read),
            groups: combine(self.groups, other.groups),
            groups_pruned: combine(self.groups_pruned, other.groups_pruned),
        }
    }
}

/// Opens tables for a query. The engine implements it over a snapshot of both stores.
pub trait Tables {
    /// A source for `scan`, whose filters and access bounds contain no parameters,
    /// slots or subqueries any more. Rows that fail a filter are not put out. The
    /// dynamic filters are consulted while reading: they may still be filled in later.
    ///
    /// # Errors
    /// When the table is gone or its data cannot be read.
    fn open(&self, scan: &Scan, filters: &[(DynamicFilter, Arc<FilterCell>)]) -> Result<Box<dyn Source>>;
}

/// A join's filter over one key, empty until its build side is complete.
#[derive(Debug, Default)]
pub struct FilterCell(std::sync::OnceLock<KeyFilter>);

impl FilterCell {
    /// Publishes the filter; later calls are ignored.
    pub fn publish(&self, filter: KeyFilter) {
        let _ = self.0.set(filter);
    }

    /// The filter, once published.
    pub fn get(&self) -> Option<&KeyFilter> {
        self.0.get()
    }
}

/// The keys of a build side, summarized. No false negatives.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyFilter {
    /// There was no key: no row can match.
    Nothing,
    /// Integer-like keys (INTEGER, BIGINT, DATE, TIMESTAMP, DECIMAL as 64 bits).
    Integers {
        /// Least key.
        min: i64,
        /// Greatest key.
        max: i64,
        /// Which `key - min` there are, roughly.
        bits: Option<Arc<KeyBits>>,
    },
    /// Text keys: all of them, sorted, when they are few.
    Texts(Arc<Vec<Vec<u8>>>),
    /// Says nothing.
    Everything,
}

impl KeyFilter {
    /// Whether an integer key may match.
    #[inline]
    pub fn may_contain(&self, key: i64) -> bool {
        match self {
            Self::Nothing => false,
            Self::Integers { min, max, bits } => {
                key >= *min
                    && key <= *max
                    && bits.as_ref().is_none_or(|bits| bits.may_contain(key.wrapping_sub(*min) as u64))
            }
            Self::Texts(_) | Self::Everything => true,
        }
    }
}

/// Lets whoever drives a query stop it between steps.
#[derive(Debug, Default)]
pub struct Cancel(Cell<bool>);

impl Cancel {
    /// Asks the query to stop.
    pub fn cancel(&self) {
        self.0.set(true);
    }

    /// # Errors
    /// [`Error::Cancelled`] after [`Cancel::cancel`].
    pub fn check(&self) -> Result<()> {
        if self.0.get() { Err(Error::Cancelled) } else { Ok(()) }
    }
}
