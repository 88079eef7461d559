//! Secondary indexes: trees from the indexed values to locators.
//!
//! An entry's key is the encoded columns followed by the row's locator, its value is
//! empty. So entries are distinct even where values repeat, a range of values is a
//! range of keys, and uniqueness is the absence of an entry with the same prefix. A
//! NULL is equal to nothing: it never conflicts.

use crate::error::Result;
use crate::schema::{Index, Table};
use gingham_plan::Storage;
use gingham_row_store::{Direction, Read, Transaction, TreeId};
use gingham_types::Value;
use std::ops::Bound;

/// The encoded columns of `row` in the index.
pub(super) fn prefix(index: &Index, row: &[Value]) -> Result<Vec<u8>> {
    let values: Vec<Value> = index.info.columns.iter().map(|(column, _)| row[*column].clone()).collect();
    let mut key = Vec::new();
    index.layout.encode(&values, &mut key)?;
    Ok(key)
}

pub(super) fn has_null(index: &Index, row: &[Value]) -> bool {
    index.info.columns.iter().any(|(column, _)| row[*column].is_null())
}

/// The least key past all keys that start with `prefix`; unbounded if there is none.
pub(crate) fn prefix_end(prefix: &[u8]) -> Bound<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return Bound::Excluded(end);
        }
    }
    Bound::Unbounded
}

/// The locator of a row that a unique index has under the same values as `row`.
pub(crate) fn find_conflict(read: &impl Read, index: &Index, row: &[Value]) -> Result<Option<Vec<u8>>> {
    if !index.info.unique || has_null(index, row) {
        return Ok(None);
    }
    find_by_index(read, index.tree, &prefix(index, row)?)
}

/// The locator of the first entry with the encoded values `prefix`.
pub(super) fn find_by_index(read: &impl Read, tree: TreeId, prefix: &[u8]) -> Result<Option<Vec<u8>>> {
    let upper = prefix_end(prefix);
    let upper = upper.as_ref().map(Vec::as_slice);
    let mut cursor = read.cursor(tree, Bound::Included(prefix), upper, Direction::Forward)?;
    Ok(cursor.next()?.map(|(key, _)| key[prefix.len()..].to_vec()))
}

pub(crate) fn add_entries(transaction: &mut Transaction, table: &Table, locator: &[u8], row: &[Value]) -> Result<()> {
    for index in &table.indexes {
        let mut key = prefix(index, row)?;
        key.extend_from_slice(locator);
        transaction.put(index.tree, &key, &[])?;
    }
    Ok(())
}

pub(crate) fn remove_entries(
    transaction: &mut Transaction,
    table: &Table,
    locator: &[u8],
    row: &[Value],
) -> Result<()> {
    for index in &table.indexes {
        let mut key = prefix(index, row)?;
        key.extend_from_slice(locator);
        transaction.delete(index.tree, &key)?;
    }
    Ok(())
}

/// Changes the entries of a row that keeps its locator.
pub(crate) fn change_entries(
    transaction: &mut Transaction,
    table: &Table,
    locator: &[u8],
    old: &[Value],
    new: &[Value],
) -> Result<()> {
    for index in &table.indexes {
        let (mut before, mut after) = (prefix(index, old)?, prefix(index, new)?);
        if before != after {
            before.extend_from_slice(locator);
            after.extend_from_slice(locator);
            transaction.delete(index.tree, &before)?;
            transaction.put(index.tree, &after, &[])?;
        }
    }
    Ok(())
}

/// Fills a new index from the rows there are, in key order. Returns the values of a
/// row that a unique index cannot take.
pub(crate) fn fill_index(
    transaction: &mut Transaction,
    table: &Table,
    index: &Index,
    rows: &mut dyn Iterator<Item = Result<(Vec<u8>, Vec<Value>)>>,
) -> Result<Option<Vec<Value>>> {
    debug_assert!(table.record.storage != Storage::Column || index.info.unique || !index.info.columns.is_empty());
    let mut entries = Vec::new();
    for row in rows {
        let (locator, row) = row?;
        let mut key = prefix(index, &row)?;
        let values_bytes = key.len();
        key.extend_from_slice(&locator);
        entries.push((key, values_bytes, has_null(index, &row)));
    }
    entries.sort_unstable();
    if index.info.unique {
        let duplicate = entries.windows(2).find(|pair| {
            let [(a, a_len, a_null), (b, b_len, b_null)] = pair else { return false };
            !a_null && !b_null && a[..*a_len] == b[..*b_len]
        });
        if let Some([(key, ..), ..]) = duplicate {
            return Ok(Some(index.layout.decode(key)?.0));
        }
    }
    transaction.bulk_load(index.tree, entries.into_iter().map(|(key, ..)| (key, [])))?;
    Ok(None)
}
