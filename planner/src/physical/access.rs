//! Where a scan reads from: the row store by key, range, index or in full, or the column store.
//!
//! Costs are microseconds of a browser's worker; they need to be right to a factor of
//! two where the two ways differ by ten.

use super::estimate::{Estimate, Estimator, filtered};
use super::selectivity::selectivity;
use crate::logical::{IdSet, Scan, columns_of, uses_only};
use gingham_plan::{BinaryOp, Expr, IndexId, KeyBound, Route, RouteSetting, RowAccess, Storage, TableInfo};

/// Descent to a key.
const SEEK_US: f64 = 1.0;
/// One step along the leaves.
const STEP_US: f64 = 0.15;
/// One column of one row decoded.
const DECODE_US: f64 = 0.02;
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

/// Chooses how to read `scan`, of which `columns` are wanted.
pub(super) fn choose(
    estimator: &Estimator<'_>,
    scan: &Scan,
    wanted: usize,
    setting: RouteSetting,
    dynamic: bool,
) -> Access {
    let table = &estimator.catalog.tables[scan.table];
    let base = estimator.table(scan);
    let result = filtered(base.clone(), &scan.filters);
    let mut filter_columns = IdSet::default();
    scan.filters.iter().for_each(|f| columns_of(f, &mut filter_columns));
    let filter_columns = filter_columns.iter().filter(|id| scan.columns.contains(id)).count();
    let touched = (wanted + filter_columns).max(1);

    let row = best_row(table, scan, &base, touched);
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

fn best_row(table: &TableInfo, scan: &Scan, base: &Estimate, touched: usize) -> RowWay {
    let per_row = STEP_US + DECODE_US * touched as f64;
    let mut best = RowWay {
        access: RowAccess::Full { reverse: false },
        cost: SEEK_US + base.rows * per_row,
        reason: "few rows".to_owned(),
        by_key: false,
    };
    let primary: Vec<(usize, bool)> = table.primary_key.iter().map(|c| (*c, false)).collect();
    let secondary = table.indexes.iter().map(|i| (Some(i.id), i.columns.as_slice(), i.unique));
    let primary = (!primary.is_empty()).then_some((None, primary.as_slice(), true));
    for (index, columns, unique) in primary.into_iter().chain(secondary) {
        let Some(way) = keyed(table, scan, base, index, columns, unique, per_row) else { continue };
        // A key decides between equal costs, so that tables without statistics use theirs.
        if way.cost < best.cost || (way.by_key && !best.by_key && way.cost <= best.cost * 1.5) {
            best = way;
        }
    }
    best
}

/// Access through one key, if the filters restrict it.
fn keyed(
    table: &TableInfo,
    scan: &Scan,
    base: &Estimate,
    index: Option<IndexId>,
    columns: &[(usize, bool)],
    unique: bool,
    per_row: f64,
) -> Option<RowWay> {
    let own: IdSet = scan.columns.iter().copied().collect();
    let mut equal = Vec::new();
    let mut used = Vec::new();
    let mut access = None;
    for (ordinal, descending) in columns {
        let id = scan.columns[*ordinal];
        let mut bounds = Bounds::default();
        for filter in &scan.filters {
            bounds.read(filter, id, &own);
        }
        if let Some((value, filter)) = bounds.equal {
            equal.push(value);
            used.push(filter);
            continue;
        }
        if let Some((list, filter)) = bounds.list
            && equal.is_empty()
        {
            used.push(filter);
            let keys = list.into_iter().map(|key| vec![key]).collect();
            access = Some(RowAccess::Keys { index, keys });
        } else if (bounds.lower.is_some() || bounds.upper.is_some()) && !descending {
            used.extend(bounds.lower.iter().chain(&bounds.upper).map(|(_, filter)| filter.clone()));
            access = Some(RowAccess::Range {
                index,
                equal: std::mem::take(&mut equal),
                lower: bounds.lower.map(|(b, _)| b),
                upper: bounds.upper.map(|(b, _)| b),
                reverse: false,
            });
        }
        break;
    }
    let whole = equal.len() == columns.len();
    let access = match access {
        Some(access) => access,
        None if equal.is_empty() => return None,
        None if whole && unique => RowAccess::Keys { index, keys: vec![equal] },
        None => RowAccess::Range { index, equal, lower: None, upper: None, reverse: false },
    };
    let point = matches!(&access, RowAccess::Keys { .. }) && whole && unique;
    let rows = if point { 1.0 } else { (base.rows * selectivity(&used, base)).max(1.0) };
    let seeks = match &access {
        RowAccess::Keys { keys, .. } => keys.len() as f64,
        _ => 1.0,
    };
    // Each entry of a secondary index leads to a row elsewhere.
    let fetch = if index.is_some() || table.storage == Storage::Column { SEEK_US } else { 0.0 };
    let name = match index {
        None => "the primary key".to_owned(),
        Some(id) => {
            table.indexes.iter().find(|i| i.id == id).map_or("an index".to_owned(), |i| format!("index {}", i.name))
        }
    };
    let reason = if point { format!("one row by {name}") } else { format!("few rows by {name}") };
    Some(RowWay { access, cost: seeks * SEEK_US + rows * (per_row + fetch), reason, by_key: true })
}

/// What the filters say of one key column, each with its filter.
#[derive(Default)]
struct Bounds {
    equal: Option<(Expr, Expr)>,
    list: Option<(Vec<Expr>, Expr)>,
    lower: Option<(KeyBound, Expr)>,
    upper: Option<(KeyBound, Expr)>,
}

impl Bounds {
    fn read(&mut self, filter: &Expr, id: usize, own: &IdSet) {
        let column = |e: &Expr| matches!(e, Expr::Column { index, .. } if *index == id);
        let constant = |e: &Expr| {
            let mut used = IdSet::default();
            columns_of(e, &mut used);
            !used.intersects(own)
        };
        match filter {
            Expr::InList { expr, list, negated: false }
                if column(expr) && list.iter().all(|e| uses_only(e, &IdSet::default())) =>
            {
                self.list.get_or_insert_with(|| (list.clone(), filter.clone()));
            }
            Expr::Binary { op, left, right, .. } => {
                let (op, value) = if column(left) && constant(right) {
                    (*op, right)
                } else if column(right) && constant(left) {
                    (op.swapped(), left)
                } else {
                    return;
                };
                let bound = |inclusive| (KeyBound { value: (**value).clone(), inclusive }, filter.clone());
                match op {
                    BinaryOp::Equal => {
                        self.equal.get_or_insert_with(|| ((**value).clone(), filter.clone()));
                    }
                    BinaryOp::Greater => tighter(&mut self.lower, bound(false), true),
                    BinaryOp::GreaterOrEqual => tighter(&mut self.lower, bound(true), true),
                    BinaryOp::Less => tighter(&mut self.upper, bound(false), false),
                    BinaryOp::LessOrEqual => tighter(&mut self.upper, bound(true), false),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// Keeps the tighter of two bounds where both are constants; the first otherwise.
fn tighter(slot: &mut Option<(KeyBound, Expr)>, new: (KeyBound, Expr), lower: bool) {
    let replaces = match slot {
        None => true,
        Some((old, _)) => match (&old.value, &new.0.value) {
            (Expr::Literal { value: a, .. }, Expr::Literal { value: b, .. }) => {
                let order = gingham_types::compare_values(b, a);
                let stricter = if lower { order.is_gt() } else { order.is_lt() };
                stricter || (order.is_eq() && !new.0.inclusive)
            }
            _ => false,
        },
    };
    if replaces {
        *slot = Some(new);
    }
}
