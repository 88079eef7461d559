//! Secondary indexes: trees from the indexed values to locators.
//!
//! An entry's key is the encoded values followed by the row's locator, its value is
//! empty. So entries are distinct even where values repeat, a range of values is a
//! range of keys, and uniqueness is the absence of an entry with the same prefix. A
//! NULL is equal to nothing: it never conflicts.

use super::locator;
use super::strings::Strings;
use crate::error::Result;
use crate::schema::{Index, Table};
use gingham_column_store::execution::RowBuffer;
use gingham_column_store::expression::evaluate_row;
use gingham_plan::StoredExpr;
use gingham_row_store::format::KEY_BYTES_MAX;
use gingham_row_store::{Direction, Error as StoreError, Read, Transaction, TreeId};
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

/// The keys of a row's entries, each with its tree. They are made before anything is
/// changed, so that a key that cannot be made or is too long leaves no half of a change.
pub(super) fn row_entries(table: &Table, locator: &[u8], row: &[Value]) -> Result<Vec<(TreeId, Vec<u8>)>> {
    let mut entries = Vec::with_capacity(table.indexes.len());
    for index in &table.indexes {
        if let Some(mut key) = entry_key(index, row)? {
            key.extend_from_slice(locator);
            if key.len() > KEY_BYTES_MAX {
                return Err(StoreError::KeyTooLong { bytes: key.len(), bytes_max: KEY_BYTES_MAX }.into());
            }
            entries.push((index.tree, key));
        }
    }
    Ok(entries)
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

/// Whether a row's entry may be another one after a change of the row.
pub(super) fn may_move(index: &Index, old: &[Value], new: &[Value]) -> bool {
    let moves = |column: &usize| old[*column] != new[*column];
    match &index.info.special {
        None => index.info.columns.iter().any(|(column, _)| moves(column)),
        Some(_) => index.info.columns_read().iter().any(moves),
    }
}

/// Whether an index has an entry for a row.
pub(super) fn has_entry(index: &Index, row: &[Value]) -> Result<bool> {
    match index.info.special.as_ref().and_then(|special| special.predicate.as_ref()) {
        Some(predicate) => Ok(evaluate_row(&predicate.expr, row)? == Value::Boolean(true)),
        None => Ok(true),
    }
}

/// Appends the key, but for the locator, of the entry that a row has; whether one of the
/// values is NULL.
pub(super) fn encode_entry(index: &Index, row: &[Value], out: &mut Vec<u8>) -> Result<bool> {
    let mut null = false;
    match &index.info.special {
        None => {
            for (position, (column, _)) in index.info.columns.iter().enumerate() {
                index.layout.encode_at(position, &row[*column], out)?;
                null |= row[*column].is_null();
            }
        }
        Some(special) => {
            for (position, (key, _)) in special.keys.iter().enumerate() {
                let value = match key.column() {
                    Some(column) => row[column].clone(),
                    None => evaluate_row(&key.expr, row)?,
                };
                index.layout.encode_at(position, &value, out)?;
                null |= value.is_null();
            }
        }
    }
    Ok(null)
}

/// Entries of so many bytes are sorted and put into the tree together.
const BYTES_TOGETHER: usize = 32 << 20;

/// The entries of an index that is being built.
#[derive(Default)]
struct NewEntries {
    keys: Strings,
    /// Bytes of each key that the indexed values take, and whether one of them is NULL.
    values: Vec<(usize, bool)>,
    /// Whether the tree has entries already.
    has_more: bool,
}

impl NewEntries {
    /// Adds a row's entry. Of the row only the values that the index reads are looked at.
    /// Returns the values of a row that a unique index cannot take.
    fn push(
        &mut self,
        transaction: &mut Transaction,
        index: &Index,
        locator: &[u8],
        row: &[Value],
    ) -> Result<Option<Vec<Value>>> {
        if !has_entry(index, row)? {
            return Ok(None);
        }
        let values = &mut self.values;
        self.keys.push(|out| {
            let start = out.len();
            let null = encode_entry(index, row, out)?;
            values.push((out.len() - start, null));
            out.extend_from_slice(locator);
            Ok(())
        })?;
        if self.keys.bytes() < BYTES_TOGETHER { Ok(None) } else { self.build(transaction, index) }
    }

    /// Puts the entries into the tree in key order. Returns the values of a row that a
    /// unique index cannot take.
    fn build(&mut self, transaction: &mut Transaction, index: &Index) -> Result<Option<Vec<Value>>> {
        let order = self.keys.order();
        let at = |position: usize| order.as_ref().map_or(position, |order| order[position] as usize);
        let count = self.keys.len();
        if index.info.unique {
            let values = |entry: usize| &self.keys.get(entry)[..self.values[entry].0];
            for position in 0..count {
                let entry = at(position);
                if self.values[entry].1 {
                    continue;
                }
                let again =
                    position > 0 && !self.values[at(position - 1)].1 && values(at(position - 1)) == values(entry);
                if again || (self.has_more && find_by_index(transaction, index.tree, values(entry))?.is_some()) {
                    return Ok(Some(index.layout.decode(self.keys.get(entry))?.0));
                }
            }
        }
        transaction.bulk_load(index.tree, (0..count).map(|position| (self.keys.get(at(position)), [])))?;
        self.has_more = true;
        self.keys.clear();
        self.values.clear();
        Ok(None)
    }
}

/// Builds a new index over a table whose rows are in its row tree. Returns the values of
/// a row that a unique index cannot take.
pub(crate) fn build_index(transaction: &mut Transaction, table: &Table, index: &Index) -> Result<Option<Vec<Value>>> {
    let mut entries = NewEntries::default();
    let columns = index.info.columns_read();
    let mut row = vec![Value::Null; table.row_layout.types().len()];
    let mut cursor = transaction.cursor(table.rows_tree(), Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
    while let Some((locator, bytes)) = cursor.next()? {
        let reader = table.row_layout.reader(bytes)?;
        for column in &columns {
            row[*column] = reader.value(*column)?;
        }
        if let Some(values) = entries.push(transaction, index, locator, &row)? {
            return Ok(Some(values));
        }
    }
    drop(cursor);
    entries.build(transaction, index)
}

/// As [`build_index`] over rows of which the index's `columns` are given, then the locator.
pub(crate) fn build_index_of(
    transaction: &mut Transaction,
    table: &Table,
    index: &Index,
    columns: &[usize],
    rows: &mut RowBuffer,
) -> Result<Option<Vec<Value>>> {
    let types = table.row_layout.types();
    let mut entries = NewEntries::default();
    let mut row = vec![Value::Null; types.len()];
    while let Some(batch) = rows.take_next()? {
        for position in 0..batch.rows {
            for (column, vector) in columns.iter().zip(&batch.columns) {
                row[*column] = vector.value(position, types[*column]);
            }
            if let Some(values) = entries.push(transaction, index, locator(&batch, position)?, &row)? {
                return Ok(Some(values));
            }
        }
    }
    entries.build(transaction, index)
}
