//! Order that comes for free: a walk of the row store along the primary key or an index.

use super::access::{SEEK_US, fetch_us, row_us};
use super::estimate::Estimator;
use super::keys::{Key, KeyAccess, keys};
use crate::logical::{IdSet, columns_of};
use gingham_plan::{
    AggregateCall, AggregateFunction, Expr, Node, Route, RouteSetting, RowAccess, Scan, SortKey, Storage, TableInfo,
};
use gingham_types::{SqlType, Value};

/// Rows that a LIMIT by parameter is taken to ask for.
const LIMIT_UNKNOWN: f64 = 100.0;
/// One comparison of a sort, in microseconds.
const COMPARE_US: f64 = 0.02;

/// Turns a scan into one that delivers `order`, if it can and that is cheaper than
/// sorting what the chosen route reads. Whether it did: the sort is then not needed.
pub(super) fn deliver(
    node: &mut Node,
    order: &[SortKey],
    limit: Option<&Expr>,
    offset: Option<&Expr>,
    estimator: &Estimator<'_>,
    setting: RouteSetting,
) -> bool {
    let Some((scan, table)) = walkable(node, estimator, setting) else { return false };
    let own: IdSet = (0..table.columns.len()).collect();
    let count = |e: Option<&Expr>, none: f64| match e {
        None => none,
        Some(Expr::Literal { value: Value::Int(n), .. }) => *n as f64,
        Some(Expr::Literal { .. }) => f64::MAX,
        Some(_) => LIMIT_UNKNOWN,
    };
    let wanted = count(limit, f64::MAX) + count(offset, 0.0);
    let rows = scan.rows.max(1.0);
    // What the chosen route costs, and sorting its rows.
    let chosen = match &scan.route {
        Route::Column => scan.column_cost_us,
        Route::Row(_) => scan.row_cost_us,
    };
    let sorted = chosen.unwrap_or(f64::MAX) + rows * COMPARE_US * rows.log2().max(1.0);
    let mut best: Option<(f64, RowAccess)> = None;
    for key in keys(table, &scan.filters, &|ordinal| Expr::column(ordinal, table.columns[ordinal].ty)) {
        let found = key.access(&scan.filters, &own);
        let Some(reverse) = direction(&key, &found, scan, order) else { continue };
        let Some(access) = ordered(found.access, reverse) else { continue };
        let is_chosen =
            matches!(&scan.route, Route::Row(chosen) if ordered(chosen.clone(), reverse).as_ref() == Some(&access));
        // Rows of the walk that the other filters drop are read as well.
        let walked = if is_chosen { rows } else { walked_rows(scan, table, &key, &found.narrowing, estimator) };
        let share = (wanted / rows).min(1.0);
        let read = read_columns(scan);
        let cost = SEEK_US + walked * share * (row_us(read.len()) + fetch_us(table, key.index, &read));
        if (is_chosen || cost < sorted) && best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, access));
        }
    }
    let Some((cost, access)) = best else { return false };
    scan.reason += match &scan.route {
        Route::Row(chosen) if same_walk(chosen, &access) => " in order",
        _ => ", another key delivers the order",
    };
    scan.row_cost_us = Some(cost);
    scan.route = Route::Row(access);
    true
}

/// The scan, if its route may be changed to a walk of the row store.
fn walkable<'n, 'c>(
    node: &'n mut Node,
    estimator: &Estimator<'c>,
    setting: RouteSetting,
) -> Option<(&'n mut Scan, &'c TableInfo)> {
    let Node::Scan(scan) = node else { return None };
    let table = estimator.catalog.table_by_id(scan.table)?;
    let is_free = scan.dynamic_filters.is_empty()
        && table.storage != Storage::Column
        && !(setting == RouteSetting::Column && scan.route == Route::Column);
    is_free.then_some((scan, table))
}

/// The table's columns that the scan reads.
fn read_columns(scan: &Scan) -> Vec<usize> {
    let mut read: IdSet = scan.columns.iter().copied().collect();
    scan.filters.iter().for_each(|e| columns_of(e, &mut read));
    read.iter().collect()
}

/// Rows that a walk restricted by the filters `used` has.
fn walked_rows(scan: &Scan, table: &TableInfo, key: &Key, used: &[Expr], estimator: &Estimator<'_>) -> f64 {
    let all = table.statistics.rows as f64;
    if used.is_empty() {
        return all;
    }
    if used.len() == scan.filters.len() {
        return scan.rows;
    }
    estimator.walked(table, used).clamp(scan.rows, all.max(scan.rows)).max(if key.unique { 1.0 } else { 0.0 })
}

fn ordered(access: RowAccess, backwards: bool) -> Option<RowAccess> {
    match access {
        RowAccess::Full { .. } => Some(RowAccess::Full { reverse: backwards }),
        RowAccess::Range { index: None, equal, lower: None, upper: None, .. } if equal.is_empty() => {
            Some(RowAccess::Full { reverse: backwards })
        }
        RowAccess::Range { index, equal, lower, upper, not_null, .. } => {
            Some(RowAccess::Range { index, equal, lower, upper, reverse: backwards, not_null })
        }
        RowAccess::Keys { .. } | RowAccess::Lookup { .. } => None,
    }
}

fn same_walk(a: &RowAccess, b: &RowAccess) -> bool {
    ordered(a.clone(), false) == ordered(b.clone(), false)
}

/// Whether a walk along `key`, from the first column that is not fixed, has the order
/// wanted; and whether backwards.
fn direction(key: &Key, found: &KeyAccess, scan: &Scan, order: &[SortKey]) -> Option<bool> {
    let mut reverse = None;
    let mut expected = key.parts[found.fixed..].iter();
    for wanted in order {
        let Expr::Column { index, ty } = wanted.expr else { return None };
        let ordinal = *scan.columns.get(index)?;
        let column = Expr::column(ordinal, ty);
        // What is fixed is in any order.
        if key.parts[..found.fixed].iter().any(|part| part.expr == column) {
            continue;
        }
        let Some(part) = expected.next() else {
            // After the whole of a unique key nothing is left to order by.
            return if key.unique && key.parts.iter().all(|part| !part.nullable) { reverse } else { None };
        };
        // NULLs are the greatest values in every key; a key does not tell -0 from 0.
        let nulls_fit = !part.nullable || wanted.nulls_first == wanted.descending;
        let backwards = wanted.descending != part.descending;
        if part.expr != column || !nulls_fit || reverse.is_some_and(|reverse| reverse != backwards) {
            return None;
        }
        reverse = Some(backwards);
    }
    Some(reverse.unwrap_or(false))
}

/// The input of an aggregate without groups that is all `min` and `max` of one column:
/// the first and the last entries of a key are as good as all.
pub(super) fn extremes(
    node: &mut Node,
    aggregates: &[AggregateCall],
    estimator: &Estimator<'_>,
    setting: RouteSetting,
) -> bool {
    let Some((scan, table)) = walkable(node, estimator, setting) else { return false };
    let mut wanted = [false; 2];
    let mut column = None;
    for call in aggregates {
        let greatest = match call.function {
            AggregateFunction::Min => false,
            AggregateFunction::Max => true,
            _ => return false,
        };
        let (Some(Expr::Column { index, ty }), None) = (&call.argument, &call.filter) else { return false };
        // A DOUBLE's key does not tell -0 from 0.
        if *ty == SqlType::Double || column.is_some_and(|column| column != *index) {
            return false;
        }
        column = Some(*index);
        wanted[usize::from(greatest)] = true;
    }
    let Some(ordinal) = column.and_then(|index| scan.columns.get(index)).copied() else { return false };
    let own: IdSet = (0..table.columns.len()).collect();
    let expr = Expr::column(ordinal, table.columns[ordinal].ty);
    for key in keys(table, &scan.filters, &|ordinal| Expr::column(ordinal, table.columns[ordinal].ty)) {
        let found = key.access(&scan.filters, &own);
        let Some(part) = key.parts.get(found.fixed) else { continue };
        if part.expr != expr || found.used.len() != scan.filters.len() {
            continue;
        }
        let RowAccess::Range { index, equal, lower, upper, .. } = found.access else { continue };
        let end = |greatest: bool| {
            let access = RowAccess::Range {
                index,
                equal: equal.clone(),
                lower: lower.clone(),
                upper: upper.clone(),
                reverse: greatest != part.descending,
                not_null: part.nullable,
            };
            let end = Scan {
                route: Route::Row(access),
                row_cost_us: Some(SEEK_US),
                reason: format!("one end of {}", key.name),
                rows: 1.0,
                ..scan.clone()
            };
            let limit = Some(Expr::literal(Value::Int(1), SqlType::BigInt));
            Node::Limit { input: Box::new(Node::Scan(end)), limit, offset: None }
        };
        let mut inputs: Vec<Node> = [false, true].into_iter().filter(|g| wanted[usize::from(*g)]).map(end).collect();
        let Some(last) = inputs.pop() else { return false };
        *node = if inputs.is_empty() {
            last
        } else {
            inputs.push(last);
            Node::Union { inputs }
        };
        return true;
    }
    false
}
