//! Where a scan reads from: the row store by key, range, index or in full, or the column store.
//!
//! Costs are microseconds of a browser's worker; they need to be right to a factor of
//! two where the two ways differ by ten.

use super::estimate::{Estimate, Estimator, filtered};
use super::keys::{Key, keys};
use super::selectivity::selectivity;
use crate::logical::{IdSet, Scan, columns_of};
use gingham_plan::{Expr, Route, RouteSetting, RowAccess, Storage, TableInfo};

/// Descent to a key.
pub(super) const SEEK_US: f64 = 1.0;
/// One step along the leaves.
pub(super) const STEP_US: f64 = 0.15;
/// One column of one row decoded.
pub(super) const DECODE_US: f64 = 0.02;
/// One value of a column scanned.
const VALUE_US: f64 = 0.0015;
/// Starting a columnar scan.
const COLUMN_START_US: f64 = 20.0;

/// A chosen access with both costs.
pub(super) struct Access {
    pub(super) route: Route,
    pub(super) row_cost_us: Option<f64>,
    pub(super) column_cost_us: Option<f64>,
    pub(super) reason: String,
}

struct RowWay {
    access: RowAccess,
    cost: f64,
    reason: String,
    by_key: bool,
}

/// Chooses how to read `scan`, of which the columns with ordinals `columns` are wanted.
pub(super) fn choose(
    estimator: &Estimator<'_>,
    scan: &Scan,
    columns: &[usize],
    setting: RouteSetting,
    dynamic: bool,
) -> Access {
    let table = &estimator.catalog.tables[scan.table];
    let base = estimator.table(scan);
    let result = filtered(base.clone(), &scan.filters);
    let mut filter_columns = IdSet::default();
    scan.filters.iter().for_each(|f| columns_of(f, &mut filter_columns));
    let tested: Vec<usize> =
        (0..scan.columns.len()).filter(|ordinal| filter_columns.contains(scan.columns[*ordinal])).collect();
    let (wanted, filter_columns) = (columns.len(), tested.len());
    let touched = (wanted + filter_columns).max(1);

    let read = columns.iter().chain(&tested).copied().collect();
    let row = best_row(table, scan, &base, Reading { columns: read, per_row: row_us(touched) });
    let keyed = row.by_key;
    let row_available = table.storage != Storage::Column || keyed;
    let column_available = table.storage != Storage::Row;
    let statistics = &table.statistics;
    let uncopied = statistics.rows_uncopied.min(statistics.rows) as f64;
    let copied = base.rows - uncopied;
    let column_cost = column_available.then(|| {
        let share = (result.rows / base.rows.max(1.0)).min(1.0);
        let values = copied * (filter_columns as f64 + wanted as f64 * share.max(0.05));
        COLUMN_START_US + values * VALUE_US + uncopied * (STEP_US + DECODE_US * touched as f64)
    });
    let row_cost = row_available.then_some(row.cost);
    let use_row = match (setting, row_cost, column_cost) {
        (_, None, _) => false,
        (_, Some(_), None) => true,
        (RouteSetting::Row, ..) => true,
        (RouteSetting::Column, ..) => false,
        (RouteSetting::Auto, Some(row), Some(column)) => row <= column,
    };
    let forced = setting != RouteSetting::Auto && row_cost.is_some() && column_cost.is_some();
    let reason = if forced {
        "route is set".to_owned()
    } else if use_row {
        if column_cost.is_none() && !keyed { "row storage".to_owned() } else { row.reason }
    } else if row_cost.is_none() {
        "column storage".to_owned()
    } else if dynamic {
        "joins filter the scan".to_owned()
    } else {
        format!("{touched} columns of many rows")
    };
    let route = if use_row { Route::Row(row.access) } else { Route::Column };
    Access { route, row_cost_us: row_cost, column_cost_us: column_cost, reason }
}

/// What is read of each row, and what that costs beyond finding it.
struct Reading {
    columns: Vec<usize>,
    per_row: f64,
}

/// Moving to the next row and decoding so many of its columns.
pub(super) fn row_us(columns: usize) -> f64 {
    STEP_US + DECODE_US * columns as f64
}

/// What it costs to get from an entry of a key to the row, which is elsewhere unless the
/// entry has the columns itself.
pub(super) fn fetch_us(table: &TableInfo, index: Option<gingham_plan::IndexId>, columns: &[usize]) -> f64 {
    match index.and_then(|id| table.index_by_id(id)) {
        Some(index) if table.index_has(index, columns.iter().copied()) => 0.0,
        None if table.storage != Storage::Column => 0.0,
        _ => SEEK_US,
    }
}

fn best_row(table: &TableInfo, scan: &Scan, base: &Estimate, reading: Reading) -> RowWay {
    let mut best = RowWay {
        access: RowAccess::Full { reverse: false },
        cost: SEEK_US + base.rows * reading.per_row,
        reason: "few rows".to_owned(),
        by_key: false,
    };
    let column = |ordinal: usize| Expr::column(scan.columns[ordinal], table.columns[ordinal].ty);
    let own: IdSet = scan.columns.iter().copied().collect();
    for key in keys(table, &scan.filters, &column) {
        let Some(way) = keyed(table, scan, base, &key, &own, &reading) else { continue };
        // A key decides between equal costs, so that tables without statistics use theirs.
        if way.cost < best.cost || (way.by_key && !best.by_key && way.cost <= best.cost * 1.5) {
            best = way;
        }
    }
    best
}

/// Access through one key, if the filters restrict it.
fn keyed(table: &TableInfo, scan: &Scan, base: &Estimate, key: &Key, own: &IdSet, reading: &Reading) -> Option<RowWay> {
    let found = key.access(&scan.filters, own);
    if found.used.is_empty() {
        return None;
    }
    let share = (base.rows * selectivity(&found.narrowing, base)).max(1.0);
    let rows = found.points.map_or(share, |points| share.min(points as f64));
    let seeks = match &found.access {
        RowAccess::Keys { keys, .. } => keys.len() as f64,
        _ => 1.0,
    };
    let fetch = fetch_us(table, key.index, &reading.columns);
    let many = if found.points == Some(1) { "one row" } else { "few rows" };
    Some(RowWay {
        access: found.access,
        cost: seeks * SEEK_US + rows * (reading.per_row + fetch),
        reason: format!("{many} by {}", key.name),
        by_key: true,
    })
}
