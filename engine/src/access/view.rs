//! One state of the database as queries read it.

use super::{access_ranges, open_column_scan, row_scan};
use crate::database::Shared;
use crate::error::{Error, Result};
use crate::schema::{Schema, Table};
use crate::table;
use gingham_column_store::source::{FilterCell, Source, Tables};
use gingham_plan::{DynamicFilter, Route, RowAccess, Scan, SqlError, Storage};
use gingham_row_store::row::RowReader;
use gingham_row_store::{Cursor, Direction, Extent, Read, Snapshot, Transaction, TreeId};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A commit, or an open transaction's own state. Clones share it.
#[derive(Clone)]
pub(crate) enum View {
    Snapshot(Snapshot),
    Transaction(Arc<Mutex<Option<Transaction>>>),
}

/// Locks a connection's transaction; a panic elsewhere does not make it unreadable.
pub(crate) fn lock_transaction(transaction: &Mutex<Option<Transaction>>) -> MutexGuard<'_, Option<Transaction>> {
    transaction.lock().unwrap_or_else(PoisonError::into_inner)
}

impl View {
    /// Calls `f` with the state.
    pub(crate) fn read<R>(&self, f: impl FnOnce(&dyn Read) -> Result<R>) -> Result<R> {
        match self {
            Self::Snapshot(snapshot) => f(snapshot),
            Self::Transaction(transaction) => match lock_transaction(transaction).as_ref() {
                Some(transaction) => f(transaction),
                None => Err(SqlError::new("25000", "the transaction that this result belongs to has ended").into()),
            },
        }
    }

    pub(crate) fn cursor(
        &self,
        tree: TreeId,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
        direction: Direction,
    ) -> Result<Cursor> {
        self.read(|read| Ok(read.cursor(tree, lower, upper, direction)?))
    }

    /// Calls `f` with the row of a locator, from whichever place it is kept in; of a row
    /// group only the columns `wanted` are read.
    pub(crate) fn with_row(
        &self,
        shared: &Shared,
        table: &Table,
        locator: &[u8],
        wanted: &[usize],
        f: impl FnOnce(&RowReader<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut f = Some(f);
        let mut result = Ok(());
        let mut visit = |bytes: &[u8]| {
            if let Some(f) = f.take() {
                result = table.row_layout.reader(bytes).map_err(Error::from).and_then(|row| f(&row));
            }
        };
        self.read(|read| {
            if read.visit(table.rows_tree(), locator, &mut visit)? {
                return Ok(());
            }
            let row = match table.record.storage {
                Storage::Column => table::read_column_row(read, shared, table, table::row_id_of(locator)?, wanted)?,
                _ => None,
            };
            let missing =
                || Error::Corrupt(format!("an index of table {} names a row that is gone", table.record.name));
            let mut bytes = Vec::new();
            table.row_layout.encode(&row.ok_or_else(missing)?, &mut bytes)?;
            visit(&bytes);
            Ok(())
        })?;
        result
    }

    pub(crate) fn read_extent(&self, extent: &Extent, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.read(|read| Ok(read.read_extent(extent, offset, buffer)?))
    }
}

/// Opens scans on a [`View`].
pub(crate) struct TableAccess {
    pub(crate) shared: Arc<Shared>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) view: View,
}

impl Tables for TableAccess {
    fn open(
        &self,
        scan: &Scan,
        filters: &[(DynamicFilter, Arc<FilterCell>)],
    ) -> gingham_column_store::Result<Box<dyn Source>> {
        let table = self
            .schema
            .table_by_id(scan.table)
            .ok_or_else(|| SqlError::internal(format!("the plan names table {}, which is gone", scan.name)))?;
        let plan = row_scan::RowScanPlan {
            shared: Arc::clone(&self.shared),
            table: Arc::clone(table),
            columns: scan.columns.clone(),
            locator: scan.locator,
            filters: scan.filters.clone(),
            dynamic_filters: filters.to_vec(),
            limit: None,
        };
        match &scan.route {
            Route::Row(access) if table.record.storage != Storage::Column || !is_full(access) => {
                let ranges = access_ranges(table, access)?;
                Ok(Box::new(row_scan::RowScan::new(plan, self.view.clone(), ranges)?))
            }
            _ => Ok(open_column_scan(&self.shared, &self.view, plan)?),
        }
    }
}

/// Every row of a table with its locator, in key order.
pub(crate) fn full_scan(table: &Table) -> Scan {
    let types = table.row_layout.types();
    Scan {
        table: table.id(),
        name: table.record.name.clone(),
        columns: (0..types.len()).collect(),
        types: types.to_vec(),
        locator: true,
        filters: Vec::new(),
        dynamic_filters: Vec::new(),
        route: Route::Row(RowAccess::Full { reverse: false }),
        row_cost_us: None,
        column_cost_us: None,
        reason: String::new(),
        rows: 0.0,
    }
}

/// A column table has no B+tree to walk whole.
const fn is_full(access: &RowAccess) -> bool {
    matches!(access, RowAccess::Full { .. })
}
