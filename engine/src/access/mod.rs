//! Reading tables for queries: the column store's [`Tables`] seam over both stores.
//!
//! [`Tables`]: gingham_column_store::source::Tables

mod bounds;
mod column_scan;
mod entry;
mod row_batch;
mod row_scan;
mod view;
mod walk;

pub(crate) use bounds::{AccessRanges, KeyRange, access_ranges, sort_ranges, value_range};
pub(crate) use column_scan::open_column_scan;
pub(crate) use row_batch::RowBatch;
pub(crate) use row_scan::{RowScan, RowScanPlan};
pub(crate) use view::{TableAccess, View, full_scan, lock_transaction};
pub(crate) use walk::{RowValues, Walk};
