//! Order that comes for free: a scan of the row store in the order of its primary key.

use super::estimate::Estimator;
use gingham_plan::{Expr, Node, Route, RouteSetting, RowAccess, SortKey, Storage, TableInfo};
use gingham_types::Value;

/// Rows that a LIMIT by parameter is taken to ask for.
const LIMIT_UNKNOWN: f64 = 100.0;
/// One row read in key order, in microseconds.
const ROW_US: f64 = 0.3;

/// Turns a scan into one that delivers `keys`' order, if it can and that is cheaper than
/// sorting what the chosen route reads. Whether it did: the sort is then not needed.
pub(super) fn deliver(
    node: &mut Node,
    keys: &[SortKey],
    limit: Option<&Expr>,
    offset: Option<&Expr>,
    estimator: &Estimator<'_>,
    setting: RouteSetting,
) -> bool {
    let Node::Scan(scan) = node else { return false };
    if !scan.dynamic_filters.is_empty() || (setting == RouteSetting::Column && scan.route == Route::Column) {
        return false;
    }
    let Some(table) = estimator.catalog.table_by_id(scan.table) else { return false };
    let Some((reverse, equal)) = direction(table, &scan.columns, &scan.route, keys) else { return false };
    let by_key = matches!(&scan.route, Route::Row(RowAccess::Range { index: None, .. }));
    let already_row = by_key || matches!(scan.route, Route::Row(RowAccess::Full { .. }));
    if !already_row {
        let Some(limit) = limit else { return false };
        let count = |e: Option<&Expr>, unknown: f64| match e {
            None => 0.0,
            Some(Expr::Literal { value: Value::Int(n), .. }) => *n as f64,
            Some(_) => unknown,
        };
        let wanted = count(Some(limit), LIMIT_UNKNOWN) + count(offset, LIMIT_UNKNOWN);
        // Rows that the filters drop are read as well.
        let all = table.statistics.rows as f64;
        let read = wanted * (all / scan.rows.max(1.0)).max(1.0);
        let chosen = if scan.route == Route::Column { scan.column_cost_us } else { scan.row_cost_us };
        if equal > 0 || read.min(all) * ROW_US >= chosen.unwrap_or(f64::MAX) {
            return false;
        }
        scan.route = Route::Row(RowAccess::Full { reverse });
        scan.reason = "delivers the order".to_owned();
        return true;
    }
    if let Route::Row(RowAccess::Range { reverse: r, .. } | RowAccess::Full { reverse: r }) = &mut scan.route {
        *r = reverse;
        scan.reason += " in order";
        return true;
    }
    false
}

/// Whether the primary key's order, from the first column that is not fixed by an
/// equality, is that of `keys`; whether backwards; and how many columns are fixed.
fn direction(table: &TableInfo, columns: &[usize], route: &Route, keys: &[SortKey]) -> Option<(bool, usize)> {
    if table.storage == Storage::Column || table.primary_key.is_empty() {
        return None;
    }
    let equal = match route {
        Route::Row(RowAccess::Range { index: None, equal, .. }) => equal.len(),
        Route::Row(RowAccess::Full { .. }) | Route::Column => 0,
        Route::Row(_) => return None,
    };
    let reverse = keys.first()?.descending;
    let mut expected = table.primary_key[equal..].iter();
    for key in keys {
        let Expr::Column { index, .. } = key.expr else { return None };
        if key.descending != reverse {
            return None;
        }
        // After the whole key nothing is left to order by.
        let Some(ordinal) = expected.next() else { return Some((reverse, equal)) };
        if columns.get(index) != Some(ordinal) {
            return None;
        }
    }
    Some((reverse, equal))
}
