//! Nested index joins: the probe side reads only the keys that the build side has.
//!
//! A join publishes its build side's keys to the scans of its probe side anyway. A scan
//! whose table has a key that begins with that column can look them up one by one
//! instead of reading everything and dropping what does not match.

use super::access::{SEEK_US, fetch_us, row_us};
use super::estimate::Estimator;
use super::keys::keys;
use crate::logical::{IdSet, columns_of};
use gingham_plan::{Expr, FilterId, Node, Route, RouteSetting, RowAccess, Scan, Storage};
use gingham_types::{DECIMAL64_DIGITS_MAX, SqlType};

/// Keys of a build side are handed over one by one up to about this many.
const KEYS_MAX: f64 = 4096.0;
/// Strings are handed over up to this many.
const TEXTS_MAX: f64 = 1024.0;

/// Turns the scans below `node` that consult `filter`, which will have about `keys_count`
/// keys, into lookups of those keys where that is cheaper.
pub(super) fn look_up(
    node: &mut Node,
    filter: FilterId,
    keys_count: f64,
    estimator: &Estimator<'_>,
    setting: RouteSetting,
) {
    match node {
        Node::Scan(scan) => {
            if let Some((access, cost, reason)) = lookup(scan, filter, keys_count, estimator, setting) {
                scan.route = Route::Row(access);
                scan.row_cost_us = Some(cost);
                scan.reason = reason;
            }
        }
        Node::Filter { input, .. }
        | Node::Project { input, .. }
        | Node::Aggregate { input, .. }
        | Node::Expand { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. } => look_up(input, filter, keys_count, estimator, setting),
        Node::Join(join) => {
            look_up(&mut join.left, filter, keys_count, estimator, setting);
            look_up(&mut join.right, filter, keys_count, estimator, setting);
        }
        Node::Window(window) => look_up(&mut window.input, filter, keys_count, estimator, setting),
        Node::Apply(apply) => look_up(&mut apply.input, filter, keys_count, estimator, setting),
        Node::Union { inputs } => {
            inputs.iter_mut().for_each(|input| look_up(input, filter, keys_count, estimator, setting));
        }
        // A recursion's scans run again and again, with other keys each time.
        Node::Recursive(_) | Node::Values { .. } | Node::Cte { .. } | Node::Work { .. } | Node::Series { .. } => {}
    }
}

fn lookup(
    scan: &Scan,
    filter: FilterId,
    keys_count: f64,
    estimator: &Estimator<'_>,
    setting: RouteSetting,
) -> Option<(RowAccess, f64, String)> {
    let column = scan.dynamic_filters.iter().find(|f| f.filter == filter)?.column;
    let table = estimator.catalog.table_by_id(scan.table)?;
    let ty = table.columns.get(column)?.ty;
    let is_listed = match ty {
        SqlType::Integer | SqlType::BigInt | SqlType::Date | SqlType::Timestamp => keys_count <= KEYS_MAX,
        SqlType::Decimal { precision, .. } => precision <= DECIMAL64_DIGITS_MAX && keys_count <= KEYS_MAX,
        SqlType::Text => keys_count <= TEXTS_MAX,
        _ => false,
    };
    let is_fixed = setting == RouteSetting::Column && scan.route == Route::Column;
    if !is_listed || is_fixed {
        return None;
    }
    let chosen = match &scan.route {
        Route::Column => scan.column_cost_us?,
        Route::Row(_) => scan.row_cost_us?,
    };
    let mut read: IdSet = scan.columns.iter().copied().collect();
    scan.filters.iter().for_each(|e| columns_of(e, &mut read));
    read.extend(scan.dynamic_filters.iter().map(|f| f.column));
    let read: Vec<usize> = read.iter().collect();
    let own: IdSet = (0..table.columns.len()).collect();
    let expr = Expr::column(column, ty);
    let mut best: Option<(RowAccess, f64, String)> = None;
    for key in keys(table, &scan.filters, &|ordinal| Expr::column(ordinal, table.columns[ordinal].ty)) {
        let found = key.access(&scan.filters, &own);
        if key.parts.get(found.fixed).is_none_or(|part| part.expr != expr) {
            continue;
        }
        let RowAccess::Range { index, equal, .. } = found.access else { continue };
        let rows_per_key = if key.unique && found.fixed + 1 == key.parts.len() {
            1.0
        } else {
            estimator.rows_per_value(table, column)
        };
        let fetch = if table.storage == Storage::Column { SEEK_US } else { fetch_us(table, index, &read) };
        let cost = keys_count * (SEEK_US + rows_per_key * (row_us(read.len()) + fetch));
        if cost < chosen && best.as_ref().is_none_or(|(_, least, _)| cost < *least) {
            let reason = format!("a join asks for few keys of {}", key.name);
            best = Some((RowAccess::Lookup { index, equal, filter }, cost, reason));
        }
    }
    best
}
