//! The columnar scan: row groups in, batches of the rows that satisfy the filters out.

mod metrics;

pub use metrics::ScanMetrics;

use super::{ChunkCache, ExtentReader, RowGroupMeta, RowMask};
use crate::Result;
use crate::source::{FilterCell, Source, Step};
use crate::vector::Batch;
use gingham_plan::Expr;
use gingham_types::{SqlType, Value};
use std::rc::Rc;
use std::sync::Arc;

/// Evaluates predicates that the scan does not evaluate itself: gives the positions of
/// the rows of a batch, ascending, for which all predicates are true. `Expr::Column` is
/// a position in that batch.
pub type FilterFunction = Rc<dyn Fn(&[Expr], &Batch) -> Result<Vec<u32>>>;

/// What to read of a table.
#[derive(Clone, Debug, Default)]
pub struct ScanRequest {
    /// Types of all of the table's columns.
    pub types: Vec<SqlType>,
    /// What columns added after a group was written have in its rows; NULL beyond the
    /// end of the list.
    pub defaults: Vec<Value>,
    /// Ordinals of the columns to put out.
    pub columns: Vec<usize>,
    /// Whether a last column has each row's id: a BLOB of eight bytes, big endian.
    pub locator: bool,
    /// Conjuncts that rows must satisfy; `Expr::Column` is the ordinal in the table.
    /// No parameters, slots or subqueries.
    pub filters: Vec<Expr>,
    /// Joins' filters and the ordinals they apply to. A NULL key matches nothing.
    pub dynamic_filters: Vec<(usize, Arc<FilterCell>)>,
}

/// One row group to read.
#[derive(Clone, Debug)]
pub struct ScanGroup {
    /// Its metadata.
    pub meta: Arc<RowGroupMeta>,
    /// Rows to leave out.
    pub deleted: Option<Arc<RowMask>>,
}

/// A scan over row groups.
pub struct ColumnScan {
    _groups: Vec<ScanGroup>,
}

impl ColumnScan {
    /// A scan of `groups`, in that order.
    pub fn new(
        request: ScanRequest,
        groups: Vec<ScanGroup>,
        reader: Rc<dyn ExtentReader>,
        cache: Arc<ChunkCache>,
        filter: FilterFunction,
        metrics: Arc<ScanMetrics>,
    ) -> Self {
        let _ = (request, reader, cache, filter, metrics);
        Self { _groups: groups }
    }
}

impl Source for ColumnScan {
    fn next(&mut self) -> Result<Step> {
        Err(gingham_plan::SqlError::unsupported("the columnar scan").into())
    }
}
