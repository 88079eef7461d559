//! From a plan's access path to key ranges of a tree.

use crate::error::{Error, Result};
use crate::schema::Table;
use crate::table;
use gingham_plan::{Expr, KeyBound, RowAccess, SqlError};
use gingham_row_store::TreeId;
use gingham_row_store::key::KeyLayout;
use gingham_types::Value;
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
}

/// Resolves an access path whose expressions are constants by now.
pub(crate) fn access_ranges(table: &Table, access: &RowAccess) -> Result<AccessRanges> {
    let (index, reverse) = match access {
        RowAccess::Full { reverse } => {
            let everything = vec![(Bound::Unbounded, Bound::Unbounded)];
            return Ok(AccessRanges { tree: table.rows_tree(), index: None, ranges: everything, reverse: *reverse });
        }
        RowAccess::Range { index, reverse, .. } => (index, *reverse),
        RowAccess::Keys { index, .. } => (index, false),
    };
    let index = match index {
        // A column table's key is kept as its nameless index.
        None => table.indexes.iter().position(|i| i.info.name.is_empty()),
        Some(id) => Some(
            table
                .indexes
                .iter()
                .position(|i| i.info.id == *id)
                .ok_or_else(|| Error::Sql(SqlError::internal("the plan names an index that is gone")))?,
        ),
    };
    let (tree, layout) = match index {
        None => (table.rows_tree(), &table.key_layout),
        Some(position) => (table.indexes[position].tree, &table.indexes[position].layout),
    };
    let ranges = match access {
        RowAccess::Range { equal, lower, upper, .. } => {
            range(layout, equal, lower.as_ref(), upper.as_ref())?.into_iter().collect()
        }
        RowAccess::Keys { keys, .. } => {
            let mut ranges: Vec<KeyRange> = keys
                .iter()
                .map(|key| range(layout, key, None, None))
                .collect::<Result<Vec<_>>>()?
                .into_iter()
                .flatten()
                .collect();
            ranges.sort_by(|a, b| start(&a.0).cmp(start(&b.0)));
            ranges.dedup();
            ranges
        }
        RowAccess::Full { .. } => Vec::new(),
    };
    Ok(AccessRanges { tree, index, ranges, reverse })
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
) -> Result<Option<KeyRange>> {
    let mut values = Vec::with_capacity(equal.len() + 1);
    for expr in equal {
        match constant(expr)? {
            Value::Null => return Ok(None),
            value => values.push(value),
        }
    }
    let mut common = Vec::new();
    layout.encode(&values, &mut common)?;
    let encode = |bound: &KeyBound| -> Result<Option<(Vec<u8>, bool)>> {
        let value = constant(&bound.value)?;
        if value.is_null() {
            return Ok(None);
        }
        let mut key = Vec::new();
        layout.encode(&[&values[..], &[value]].concat(), &mut key)?;
        Ok(Some((key, bound.inclusive)))
    };
    let mut ends = [None, None];
    for (end, bound) in ends.iter_mut().zip([lower, upper]) {
        if let Some(bound) = bound {
            match encode(bound)? {
                Some(encoded) => *end = Some(encoded),
                None => return Ok(None),
            }
        }
    }
    let descending = layout.columns().get(equal.len()).is_some_and(|c| c.descending);
    let [mut first, mut last] = ends;
    if descending {
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
