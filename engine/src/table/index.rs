//! Secondary indexes: trees from the indexed values to locators.
//!
//! An entry's key is the encoded values followed by the row's locator, its value is
//! empty. So entries are distinct even where values repeat, a range of values is a
//! range of keys, and uniqueness is the absence of an entry with the same prefix. A
//! NULL is equal to nothing: it never conflicts.

use crate::error::Result;
use crate::schema::{Index, Table};
use gingham_column_store::expression::evaluate_row;
use gingham_plan::StoredExpr;
use gingham_row_store::{Direction, Read, Transaction, TreeId};
use gingham_types::Value;
use std::ops::Bound;

/// The values of a row's entry; `None` if the index leaves the row out.
pub(crate) fn entry_values(index: &Index, row: &[Value]) -> Result<Option<Vec<Value>>> {
    let Some(special) = &index.info.special else {
        return Ok(Some(index.info.columns.iter().map(|(column, _)| row[*column].clone()).collect()));
    };
    if let Some(predicate) = &special.predicate
        && evaluate_row(&predicate.expr, row)? != Value::Boolean(true)
    {
        return Ok(None);
    }
    let value = |(key, _): &(StoredExpr, bool)| match key.column() {
        Some(column) => Ok(row[column].clone()),
        None => Ok(evaluate_row(&key.expr, row)?),
    };
    special.keys.iter().map(value).collect::<Result<_>>().map(Some)
}

/// The key of a row's entry but for the locator; `None` if the index leaves the row out.
pub(crate) fn entry_key(index: &Index, row: &[Value]) -> Result<Option<Vec<u8>>> {
    let Some(values) = entry_values(index, row)? else { return Ok(None) };
    let mut key = Vec::new();
    index.layout.encode(&values, &mut key)?;
    Ok(Some(key))
}

/// Whether a value is NULL, so that the entry conflicts with none.
pub(crate) fn has_null(values: &[Value]) -> bool {
    values.iter().any(Value::is_null)
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
    if !index.info.unique {
        return Ok(None);
    }
    match entry_values(index, row)? {
        Some(values) if !has_null(&values) => {
            let mut key = Vec::new();
            index.layout.encode(&values, &mut key)?;
            find_by_index(read, index.tree, &key)
        }
        _ => Ok(None),
    }
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
        if let Some(mut key) = entry_key(index, row)? {
            key.extend_from_slice(locator);
            transaction.put(index.tree, &key, &[])?;
        }
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
        if let Some(mut key) = entry_key(index, row)? {
            key.extend_from_slice(locator);
            transaction.delete(index.tree, &key)?;
        }
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
        let (before, after) = (entry_key(index, old)?, entry_key(index, new)?);
        if before == after {
            continue;
        }
        if let Some(mut key) = before {
            key.extend_from_slice(locator);
            transaction.delete(index.tree, &key)?;
        }
        if let Some(mut key) = after {
            key.extend_from_slice(locator);
            transaction.put(index.tree, &key, &[])?;
        }
    }
    Ok(())
}

/// Whether a row's entry in a unique index moves, so that it has to be checked anew.
pub(crate) fn unique_moves(table: &Table, old: &[Value], new: &[Value]) -> Result<bool> {
    for index in table.indexes.iter().filter(|index| index.info.unique) {
        if entry_key(index, old)? != entry_key(index, new)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Fills a new index from the rows there are, in key order. Returns the values of a
/// row that a unique index cannot take.
pub(crate) fn fill_index(
    transaction: &mut Transaction,
    index: &Index,
    rows: &mut dyn Iterator<Item = Result<(Vec<u8>, Vec<Value>)>>,
) -> Result<Option<Vec<Value>>> {
    let mut entries = Vec::new();
    for row in rows {
        let (locator, row) = row?;
        let Some(values) = entry_values(index, &row)? else { continue };
        let mut key = Vec::new();
        index.layout.encode(&values, &mut key)?;
        let values_bytes = key.len();
        key.extend_from_slice(&locator);
        entries.push((key, values_bytes, has_null(&values)));
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
