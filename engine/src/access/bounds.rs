//! From a plan's access path to key ranges of a tree.

use crate::error::{Error, Result};
use crate::schema::Table;
use crate::table;
use gingham_column_store::source::{FilterCell, KeyFilter};
use gingham_plan::{Expr, FilterId, KeyBound, RowAccess, SqlError};
use gingham_row_store::TreeId;
use gingham_row_store::key::{KeyLayout, present_mark};
use gingham_types::{SqlType, Value};
use std::ops::Bound;

/// A range of keys of one tree.
pub(crate) type KeyRange = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// The tree to walk, whether it is an index (by position), the ranges in the order to
/// read them, and whether each is read backwards.
pub(crate) struct AccessRanges {
    pub(crate) tree: TreeId,
    pub(crate) index: Option<usize>,
    pub(crate) ranges: Vec<KeyRange>,
    pub(crate) reverse: bool,
    /// The ranges come from a join's filter instead, once it is there.
    pub(crate) lookup: Option<Lookup>,
}

/// Keys that a join will ask for.
pub(crate) struct Lookup {
    pub(crate) filter: FilterId,
    /// The values of the leading key columns.
    equal: Vec<Value>,
    layout: KeyLayout,
}

impl AccessRanges {
    /// One range of the rows by key.
    pub(crate) fn of_rows(table: &Table, range: KeyRange, reverse: bool) -> Self {
        Self { tree: table.rows_tree(), index: None, ranges: vec![range], reverse, lookup: None }
    }
}

impl Lookup {
    /// The ranges of the keys that a join has, in key order; `None` if it does not list
    /// them or has more than `keys_max`.
    pub(crate) fn ranges(&self, cell: &FilterCell, keys_max: usize) -> Option<Result<Vec<KeyRange>>> {
        let column = self.layout.columns().get(self.equal.len())?;
        let values: Vec<Value> = match (cell.get()?, column.sql_type) {
            (KeyFilter::Texts(texts), SqlType::Text) if texts.len() <= keys_max => {
                texts.iter().map(|text| String::from_utf8(text.clone()).ok().map(Value::Text)).collect::<Option<_>>()?
            }
            (_, ty) => {
                let value = |key: &i64| match ty {
                    SqlType::Integer | SqlType::BigInt => Some(Value::Int(*key)),
                    SqlType::Date => i32::try_from(*key).ok().map(Value::Date),
                    SqlType::Timestamp => Some(Value::Timestamp(*key)),
                    SqlType::Decimal { scale, .. } => Some(Value::Decimal { unscaled: (*key).into(), scale }),
                    _ => None,
                };
                let keys = cell.integers().filter(|keys| keys.len() <= keys_max)?;
                keys.iter().map(value).collect::<Option<_>>()?
            }
        };
        let mut key = self.equal.clone();
        let mut range = |value: Value| -> Result<KeyRange> {
            key.truncate(self.equal.len());
            key.push(value);
            let mut common = Vec::new();
            self.layout.encode(&key, &mut common)?;
            Ok(key_range(&common, None, None))
        };
        // Ascending values are descending keys where the column descends.
        let ranges: Result<Vec<KeyRange>> = if column.descending {
            values.into_iter().rev().map(&mut range).collect()
        } else {
            values.into_iter().map(&mut range).collect()
        };
        Some(ranges)
    }
}

/// Resolves an access path whose expressions are constants by now.
pub(crate) fn access_ranges(table: &Table, access: &RowAccess) -> Result<AccessRanges> {
    let reverse = match access {
        RowAccess::Full { reverse } => {
            return Ok(AccessRanges::of_rows(table, (Bound::Unbounded, Bound::Unbounded), *reverse));
        }
        RowAccess::Range { reverse, .. } => *reverse,
        RowAccess::Keys { .. } | RowAccess::Lookup { .. } => false,
    };
    let index = match access.index() {
        // A column table's key is kept as its nameless index.
        None => table.indexes.iter().position(|i| i.info.name.is_empty()),
        Some(id) => Some(
            table
                .indexes
                .iter()
                .position(|i| i.info.id == id)
                .ok_or_else(|| Error::Sql(SqlError::internal("the plan names an index that is gone")))?,
        ),
    };
    let (tree, layout) = match index {
        None => (table.rows_tree(), &table.key_layout),
        Some(position) => (table.indexes[position].tree, &table.indexes[position].layout),
    };
    let mut lookup = None;
    let ranges = match access {
        RowAccess::Range { equal, lower, upper, not_null, .. } => {
            range(layout, equal, lower.as_ref(), upper.as_ref(), *not_null)?.into_iter().collect()
        }
        RowAccess::Lookup { equal, filter, .. } => {
            let equal = equal.iter().map(constant).collect::<Result<Vec<Value>>>()?;
            if !equal.contains(&Value::Null) {
                lookup = Some(Lookup { filter: *filter, equal, layout: layout.clone() });
            }
            Vec::new()
        }
        RowAccess::Keys { keys, .. } => {
            let mut ranges: Vec<KeyRange> = keys
                .iter()
                .map(|key| range(layout, key, None, None, false))
                .collect::<Result<Vec<_>>>()?
                .into_iter()
                .flatten()
                .collect();
            sort_ranges(&mut ranges);
            ranges
        }
        RowAccess::Full { .. } => Vec::new(),
    };
    Ok(AccessRanges { tree, index, ranges, reverse, lookup })
}

/// Puts the ranges of single keys in key order and drops repeats.
pub(crate) fn sort_ranges(ranges: &mut Vec<KeyRange>) {
    ranges.sort_by(|a, b| start(&a.0).cmp(start(&b.0)));
    ranges.dedup();
}

fn start(bound: &Bound<Vec<u8>>) -> &[u8] {
    match bound {
        Bound::Included(key) | Bound::Excluded(key) => key,
        Bound::Unbounded => &[],
    }
}

/// `None` when a bound is NULL, which nothing satisfies.
fn range(
    layout: &KeyLayout,
    equal: &[Expr],
    lower: Option<&KeyBound>,
    upper: Option<&KeyBound>,
    not_null: bool,
) -> Result<Option<KeyRange>> {
    let values = equal.iter().map(constant).collect::<Result<Vec<Value>>>()?;
    let end = |bound: Option<&KeyBound>| -> Result<Option<(Value, bool)>> {
        bound.map(|b| Ok((constant(&b.value)?, b.inclusive))).transpose()
    };
    value_range(layout, &values, [end(lower)?, end(upper)?], not_null)
}

/// The keys whose leading columns equal `equal` and whose next one lies between two
/// ends, each with whether it is included. A column with an end is not NULL, nor is it
/// with `not_null`. `None` when a value is NULL, which nothing equals.
pub(crate) fn value_range(
    layout: &KeyLayout,
    equal: &[Value],
    ends: [Option<(Value, bool)>; 2],
    not_null: bool,
) -> Result<Option<KeyRange>> {
    if equal.iter().chain(ends.iter().flatten().map(|(value, _)| value)).any(Value::is_null) {
        return Ok(None);
    }
    let mut common = Vec::new();
    layout.encode(equal, &mut common)?;
    let next = layout.columns().get(equal.len());
    let is_bounded = not_null || ends.iter().any(Option::is_some);
    let mut encoded = [None, None];
    for (slot, end) in encoded.iter_mut().zip(ends) {
        if let Some((value, inclusive)) = end {
            let mut key = Vec::new();
            layout.encode(&[equal, &[value]].concat(), &mut key)?;
            *slot = Some((key, inclusive));
        }
    }
    if let Some(column) = next
        && is_bounded
        && column.nullable
    {
        common.push(present_mark(column.descending));
    }
    let [mut first, mut last] = encoded;
    if next.is_some_and(|column| column.descending) {
        std::mem::swap(&mut first, &mut last);
    }
    Ok(Some(key_range(&common, first, last)))
}

/// The keys that start with `common` from `first` to `last`, each with whether it is included.
pub(crate) fn key_range(common: &[u8], first: Option<(Vec<u8>, bool)>, last: Option<(Vec<u8>, bool)>) -> KeyRange {
    let lower = match first {
        Some((key, true)) => Bound::Included(key),
        Some((key, false)) => match table::prefix_end(&key) {
            Bound::Excluded(end) => Bound::Included(end),
            // Past the greatest key there is nothing.
            _ => Bound::Excluded(vec![u8::MAX; key.len() + 1]),
        },
        None if common.is_empty() => Bound::Unbounded,
        None => Bound::Included(common.to_vec()),
    };
    let upper = match last {
        Some((key, true)) => table::prefix_end(&key),
        Some((key, false)) => Bound::Excluded(key),
        None if common.is_empty() => Bound::Unbounded,
        None => table::prefix_end(common),
    };
    (lower, upper)
}

fn constant(expr: &Expr) -> Result<Value> {
    match expr {
        Expr::Literal { value, .. } => Ok(value.clone()),
        other => Err(SqlError::internal(format!("a key bound is not constant: {other}")).into()),
    }
}
