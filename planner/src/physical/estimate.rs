//! How many rows a relation has, and what its columns hold.
//!
//! The usual assumptions: values are uniform, predicates and columns independent, the
//! smaller set of join keys is contained in the larger. They are wrong often and good
//! enough to order joins. A column's `distinct` is the size of its domain after
//! predicates on that column alone; how many of them occur among the rows is
//! [`occurring`].

use super::graph::{Graph, ITEMS_MAX};
use super::selectivity::{restrict, selectivity};
use crate::logical::{Columns, Id, IdSet, Rel, Scan, columns_of};
use gingham_plan::{AggregateFunction, Catalog, DateField, Expr, Function, IndexInfo, JoinKind, TableInfo};
use gingham_types::{SqlType, Value, civil_from_days};
use std::collections::HashMap;

/// What is known of one column.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ColumnEstimate {
    /// Size of the domain; 0 is unknown.
    pub(crate) distinct: f64,
    /// Share of NULLs.
    pub(crate) nulls: f64,
    /// Least and greatest value on a number line.
    pub(crate) range: Option<(f64, f64)>,
    /// Mean and standard deviation, for sums.
    pub(crate) spread: Option<(f64, f64)>,
}

/// A set of columns that tells all rows apart.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) columns: Vec<Id>,
    /// Columns that the key determines.
    pub(crate) determines: IdSet,
    /// Keys that exist before any predicate.
    pub(crate) domain: f64,
}

/// What is known of a relation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Estimate {
    pub(crate) rows: f64,
    pub(crate) columns: HashMap<Id, ColumnEstimate>,
    pub(crate) keys: Vec<Key>,
}

impl Estimate {
    pub(crate) fn column(&self, id: Id) -> ColumnEstimate {
        self.columns.get(&id).copied().unwrap_or_default()
    }

    /// The domain of a column, at least 1; the rows where nothing is known.
    pub(crate) fn domain(&self, id: Id) -> f64 {
        let distinct = self.column(id).distinct;
        if distinct > 0.0 { distinct } else { self.rows.max(1.0) }
    }

    /// How many values of a column occur.
    pub(crate) fn occurring(&self, id: Id) -> f64 {
        occurring(self.domain(id), self.rows)
    }
}

/// How many of `domain` values are met by `rows` draws.
pub(crate) fn occurring(domain: f64, rows: f64) -> f64 {
    if domain <= 1.0 {
        return 1.0;
    }
    (domain * (1.0 - (-rows / domain).exp())).clamp(1.0, rows.max(1.0))
}

/// Makes estimates.
#[derive(Clone, Copy)]
pub(crate) struct Estimator<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) columns: &'a Columns,
    /// Estimates of the shared common table expressions, with their column numbers.
    pub(crate) ctes: &'a [(Estimate, Vec<Id>)],
}

impl Estimator<'_> {
    pub(crate) fn estimate(&self, rel: &Rel) -> Estimate {
        match rel {
            Rel::Scan(scan) => self.scan(scan),
            Rel::Values { rows, columns } => {
                let rows = rows.len() as f64;
                let unknown = ColumnEstimate { distinct: rows, ..ColumnEstimate::default() };
                Estimate { rows, columns: columns.iter().map(|c| (*c, unknown)).collect(), keys: Vec::new() }
            }
            Rel::Filter { input, predicates } => filtered(self.estimate(input), predicates),
            Rel::Extend { input, expressions } => extended(self.estimate(input), expressions),
            Rel::Aggregate { input, groups, aggregates } => {
                let input = self.estimate(input);
                aggregated(&input, groups, aggregates)
            }
            Rel::Window { input, calls, .. } => {
                let mut estimate = self.estimate(input);
                estimate.columns.extend(calls.iter().map(|(id, _)| (*id, ColumnEstimate::default())));
                estimate
            }
            Rel::Expand { input, keys, sets, number } => {
                let mut estimate = self.estimate(input);
                let added: Vec<(Id, ColumnEstimate)> =
                    keys.iter().map(|(id, key)| (*id, computed(key, &estimate))).collect();
                estimate.columns.extend(added);
                let distinct = sets.len() as f64;
                estimate.columns.insert(*number, ColumnEstimate { distinct, ..ColumnEstimate::default() });
                estimate.rows *= distinct;
                estimate.keys.clear();
                estimate
            }
            // What a recursion comes to is not known: some rounds of its start.
            Rel::Recursive { start, .. } => {
                Estimate { rows: (self.estimate(&start.0).rows * 10.0).max(1000.0), ..Estimate::default() }
            }
            Rel::Work { .. } => Estimate { rows: 100.0, ..Estimate::default() },
            Rel::Series { bounds, .. } => {
                let ends = match &**bounds {
                    [Expr::Literal { value: a, .. }, Expr::Literal { value: b, .. }, _] => on_line(a).zip(on_line(b)),
                    _ => None,
                };
                let rows = ends.map_or(1000.0, |(a, b)| ((b - a).abs() + 1.0).min(1e9));
                Estimate { rows, ..Estimate::default() }
            }
            Rel::Join(join) => {
                let (left, right) = (self.estimate(&join.left), self.estimate(&join.right));
                let rows = left.rows.max(right.rows);
                let mut columns = left.columns;
                if matches!(join.kind, JoinKind::Inner | JoinKind::Left | JoinKind::Full) {
                    columns.extend(right.columns);
                }
                Estimate { rows, columns, keys: Vec::new() }
            }
            // Refused when it is lowered; a graph has no numbers for so many.
            Rel::Block { inputs, dependents, .. } if inputs.len() + dependents.len() >= ITEMS_MAX => {
                Estimate { rows: 1.0, ..Estimate::default() }
            }
            Rel::Block { inputs, predicates, dependents } => Graph::new(self, inputs, predicates, dependents).total(),
            Rel::Apply { input, output, .. } => {
                let mut estimate = self.estimate(input);
                estimate.columns.extend(output.iter().map(|id| (*id, ColumnEstimate::default())));
                estimate
            }
            Rel::Sort { input, limit, .. } | Rel::Limit { input, limit, .. } => {
                let mut estimate = self.estimate(input);
                if let Some(Expr::Literal { value: Value::Int(limit), .. }) = limit {
                    estimate.rows = estimate.rows.min(*limit as f64);
                }
                estimate
            }
            Rel::Union { inputs, columns } => {
                let estimates: Vec<Estimate> = inputs.iter().map(|(input, _)| self.estimate(input)).collect();
                let rows = estimates.iter().map(|e| e.rows).sum();
                let column = |position: usize| {
                    let distinct =
                        estimates.iter().zip(inputs).map(|(e, (_, ids))| e.domain(ids[position])).fold(0.0, f64::max);
                    ColumnEstimate { distinct, ..ColumnEstimate::default() }
                };
                let columns = columns.iter().enumerate().map(|(position, id)| (*id, column(position))).collect();
                Estimate { rows, columns, keys: Vec::new() }
            }
            Rel::Cte { cte, columns } => {
                let Some((estimate, ids)) = self.ctes.get(*cte) else {
                    return Estimate { rows: 1000.0, ..Estimate::default() };
                };
                let renamed: HashMap<Id, Id> = ids.iter().copied().zip(columns.iter().copied()).collect();
                let rename = |id: &Id| renamed.get(id).copied();
                let keys = estimate.keys.iter().filter_map(|key| {
                    let columns = key.columns.iter().map(rename).collect::<Option<Vec<Id>>>()?;
                    let determines = key.determines.iter().filter_map(|id| rename(&id)).collect();
                    Some(Key { columns, determines, domain: key.domain })
                });
                Estimate {
                    rows: estimate.rows,
                    columns: estimate.columns.iter().filter_map(|(id, c)| Some((rename(id)?, *c))).collect(),
                    keys: keys.collect(),
                }
            }
        }
    }

    /// A table before its filters.
    pub(crate) fn table(&self, scan: &Scan) -> Estimate {
        table_estimate(&self.catalog.tables[scan.table], &scan.columns)
    }

    /// Rows of a table that satisfy filters whose columns are ordinals.
    pub(crate) fn walked(&self, table: &TableInfo, filters: &[Expr]) -> f64 {
        let ordinals: Vec<Id> = (0..table.columns.len()).collect();
        filtered(table_estimate(table, &ordinals), filters).rows
    }

    /// Rows of a table that have the same value in a column.
    pub(crate) fn rows_per_value(&self, table: &TableInfo, ordinal: usize) -> f64 {
        let rows = table.statistics.rows as f64;
        let distinct = table.statistics.columns.get(ordinal).map_or(0.0, |c| c.distinct as f64);
        // Of an unknown column take what selectivity does.
        let distinct = if distinct > 0.0 { distinct } else { (rows / 10.0).clamp(1.0, 1000.0) };
        (rows / distinct).max(1.0)
    }

    fn scan(&self, scan: &Scan) -> Estimate {
        filtered(self.table(scan), &scan.filters)
    }
}

/// A table whose columns have the numbers `ids`, before any filter.
fn table_estimate(table: &TableInfo, ids: &[Id]) -> Estimate {
    let statistics = &table.statistics;
    let rows = statistics.rows as f64;
    let mut columns = HashMap::with_capacity(ids.len());
    for (ordinal, id) in ids.iter().enumerate() {
        let estimate = match statistics.columns.get(ordinal) {
            Some(known) => ColumnEstimate {
                distinct: known.distinct as f64,
                nulls: if rows > 0.0 { known.nulls as f64 / rows } else { 0.0 },
                range: known.min.as_ref().and_then(on_line).zip(known.max.as_ref().and_then(on_line)),
                spread: None,
            },
            None => ColumnEstimate::default(),
        };
        columns.insert(*id, estimate);
    }
    let determines: IdSet = ids.iter().copied().collect();
    let mut keys = Vec::new();
    let primary = (!table.primary_key.is_empty()).then(|| table.primary_key.clone());
    let unique = table.indexes.iter().filter_map(IndexInfo::unique_columns);
    for ordinals in primary.into_iter().chain(unique) {
        let ids: Vec<Id> = ordinals.iter().map(|ordinal: &usize| ids[*ordinal]).collect();
        if let [id] = ids.as_slice() {
            columns.entry(*id).and_modify(|c| c.distinct = rows);
        }
        keys.push(Key { columns: ids, determines: determines.clone(), domain: rows.max(1.0) });
    }
    Estimate { rows, columns, keys }
}

/// A value's place on a number line.
pub(crate) fn on_line(value: &Value) -> Option<f64> {
    match value {
        Value::Int(v) => Some(*v as f64),
        Value::Double(v) => Some(*v),
        Value::Decimal { unscaled, scale } => Some(*unscaled as f64 / 10f64.powi(i32::from(*scale))),
        Value::Date(v) => Some(f64::from(*v)),
        Value::Timestamp(v) => Some(*v as f64),
        _ => None,
    }
}

/// After predicates.
pub(crate) fn filtered(mut estimate: Estimate, predicates: &[Expr]) -> Estimate {
    let share = selectivity(predicates, &estimate);
    restrict(predicates, &mut estimate);
    estimate.rows *= share;
    estimate
}

fn extended(mut estimate: Estimate, expressions: &[(Id, Expr)]) -> Estimate {
    for (id, expr) in expressions {
        let column = computed(expr, &estimate);
        estimate.columns.insert(*id, column);
    }
    estimate
}

/// What an expression's values are like.
fn computed(expr: &Expr, input: &Estimate) -> ColumnEstimate {
    match expr {
        Expr::Column { index, .. } => return input.column(*index),
        Expr::Literal { .. } => return ColumnEstimate { distinct: 1.0, ..ColumnEstimate::default() },
        Expr::Cast { expr, .. } | Expr::Negate(expr) => {
            let inner = computed(expr, input);
            return ColumnEstimate { range: None, ..inner };
        }
        Expr::Call { function: Function::Extract(field), arguments, .. } => {
            let range = arguments.first().map(|a| (a.ty(), computed(a, input))).and_then(|(ty, c)| match ty {
                SqlType::Date => c.range,
                _ => None,
            });
            let year = |days: f64| civil_from_days(days as i64).0 as f64;
            let distinct = match (field, range) {
                (DateField::Year, Some((low, high))) => year(high) - year(low) + 1.0,
                (DateField::Month, _) => 12.0,
                (DateField::Quarter, _) => 4.0,
                (DateField::Day, _) => 31.0,
                (DateField::DayOfWeek, _) => 7.0,
                _ => 50.0,
            };
            return ColumnEstimate { distinct, ..ColumnEstimate::default() };
        }
        _ if expr.ty() == SqlType::Boolean => {
            return ColumnEstimate { distinct: 2.0, ..ColumnEstimate::default() };
        }
        _ => {}
    }
    let mut used = IdSet::default();
    columns_of(expr, &mut used);
    let distinct = used.iter().map(|id| input.domain(id)).product::<f64>().min(input.rows.max(1.0));
    ColumnEstimate { distinct, ..ColumnEstimate::default() }
}

fn aggregated(input: &Estimate, groups: &[(Id, Expr)], aggregates: &[(Id, gingham_plan::AggregateCall)]) -> Estimate {
    let rows = group_count(input, groups).min(input.rows.max(1.0));
    let mut columns: HashMap<Id, ColumnEstimate> =
        groups.iter().map(|(id, expr)| (*id, computed(expr, input))).collect();
    for (id, call) in aggregates {
        let argument = call.argument.as_ref().map(|a| computed(a, input)).unwrap_or_default();
        let size = input.rows / rows.max(1.0);
        let spread = match (call.function, argument.range) {
            (AggregateFunction::Sum, Some((low, high))) => {
                let (middle, width) = (f64::midpoint(low, high), high - low);
                // Groups vary in size as counts do, values as uniform ones.
                Some((size * middle, (size * (width * width / 12.0 + middle * middle)).sqrt()))
            }
            (AggregateFunction::Count | AggregateFunction::CountStar, _) => Some((size, size.sqrt())),
            _ => None,
        };
        let range = match call.function {
            AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::Average => argument.range,
            _ => None,
        };
        columns.insert(*id, ColumnEstimate { distinct: rows, nulls: 0.0, range, spread });
    }
    let mut keys = Vec::new();
    if !groups.is_empty() {
        keys.push(Key {
            columns: groups.iter().map(|(id, _)| *id).collect(),
            determines: columns.keys().copied().collect(),
            domain: rows.max(1.0),
        });
    }
    Estimate { rows, columns, keys }
}

/// How many groups there are: the product of the keys' values, columns that a key among
/// them determines left out.
fn group_count(input: &Estimate, groups: &[(Id, Expr)]) -> f64 {
    if groups.is_empty() {
        return 1.0;
    }
    let plain: IdSet = groups
        .iter()
        .filter_map(|(_, e)| match e {
            Expr::Column { index, .. } => Some(*index),
            _ => None,
        })
        .collect();
    let mut skipped = IdSet::default();
    let mut count = 1.0f64;
    for key in &input.keys {
        if key.columns.iter().all(|c| plain.contains(*c) && !skipped.contains(*c)) {
            skipped.union(&key.determines);
            count *= occurring(key.domain, input.rows);
        }
    }
    for (_, expr) in groups {
        let value = match expr {
            Expr::Column { index, .. } if skipped.contains(*index) => continue,
            Expr::Column { index, .. } => input.domain(*index),
            other => computed(other, input).distinct.max(1.0),
        };
        count *= value;
    }
    occurring(count, input.rows)
}
