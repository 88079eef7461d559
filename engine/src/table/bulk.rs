//! Adding many rows at once to a table with a row tree.
//!
//! Rows are encoded a slice at a time and put in the order of their keys. Keys above all
//! that the tree has, as loads in key order bring them, are appended to it page by page
//! without a look-up; others go in one by one, neighbours after each other. Entries of
//! indexes likewise.

use super::strings::Strings;
use super::{Insertion, TableState, copy, index, next_row_id, row_id_key};
use crate::error::Result;
use crate::schema::Table;
use gingham_column_store::vector::Batch;
use gingham_plan::Storage;
use gingham_row_store::{Direction, Read, Transaction, TreeId};
use gingham_types::Value;
use std::ops::{Bound, Range};

/// Rows encoded at a time: some megabytes.
const SLICE_ROWS: usize = 1 << 15;

/// Adds all rows of a batch whose values are of the columns' types and not NULL where
/// they may not be. Otherwise the first conflict found, and the row that has it: the
/// caller undoes the statement.
pub(super) fn insert_rows(
    transaction: &mut Transaction,
    table: &Table,
    batch: &Batch,
    state: &mut TableState,
) -> Result<Option<(Insertion, Vec<Value>)>> {
    for start in (0..batch.rows).step_by(SLICE_ROWS) {
        let slice = start..(start + SLICE_ROWS).min(batch.rows);
        if let Some((conflict, row)) = insert_slice(transaction, table, batch, slice, state)? {
            return Ok(Some((conflict, values(table, batch, row))));
        }
    }
    Ok(None)
}

fn values(table: &Table, batch: &Batch, row: usize) -> Vec<Value> {
    batch.columns.iter().zip(table.row_layout.types()).map(|(column, ty)| column.value(row, *ty)).collect()
}

fn insert_slice(
    transaction: &mut Transaction,
    table: &Table,
    batch: &Batch,
    slice: Range<usize>,
    state: &mut TableState,
) -> Result<Option<(Insertion, usize)>> {
    let (mut keys, mut rows) = (Strings::default(), Strings::default());
    let mut indexes: Vec<IndexEntries> = table.indexes.iter().map(|_| IndexEntries::default()).collect();
    for position in slice.clone() {
        let row = values(table, batch, position);
        if table.has_row_id() {
            let id = next_row_id(transaction, table, state)?;
            state.next_row_id = Some(id + 1);
            keys.push(|out| {
                out.extend_from_slice(&row_id_key(id));
                Ok(())
            })?;
        } else {
            keys.push(|out| Ok(table.key_layout.encode(&table.key_values(&row), out)?))?;
        }
        rows.push(|out| Ok(table.row_layout.encode(&row, out)?))?;
        let locator = keys.get(position - slice.start);
        for (entries, index) in indexes.iter_mut().zip(&table.indexes) {
            let Some(values) = index::entry_values(index, &row)? else { continue };
            entries.rows.push(position - slice.start);
            entries.is_unique.push(index.info.unique && !index::has_null(&values));
            let values_bytes = &mut entries.values_bytes;
            entries.keys.push(|out| {
                let start = out.len();
                index.layout.encode(&values, out)?;
                values_bytes.push(out.len() - start);
                out.extend_from_slice(locator);
                Ok(())
            })?;
        }
    }
    let order = keys.order();
    let at = |position: usize| order.as_ref().map_or(position, |order| order[position] as usize);
    let count = slice.len();
    if let Some(again) = (1..count).find(|position| keys.get(at(position - 1)) == keys.get(at(*position))) {
        let locator = keys.get(at(again)).to_vec();
        return Ok(Some((Insertion::Conflict { index: None, locator }, slice.start + at(again))));
    }
    let appends = is_above(transaction, table.rows_tree(), keys.get(at(0)))?;
    if !appends {
        for position in 0..count {
            if transaction.contains(table.rows_tree(), keys.get(at(position)))? {
                let locator = keys.get(at(position)).to_vec();
                return Ok(Some((Insertion::Conflict { index: None, locator }, slice.start + at(position))));
            }
        }
    }
    for (position, entries) in indexes.iter().enumerate() {
        if let Some((locator, row)) = entries.insert(transaction, table.indexes[position].tree)? {
            let index = if table.indexes[position].info.name.is_empty() { None } else { Some(position) };
            return Ok(Some((Insertion::Conflict { index, locator }, slice.start + row)));
        }
    }
    transaction
        .bulk_load(table.rows_tree(), (0..count).map(|position| (keys.get(at(position)), rows.get(at(position)))))?;
    if table.record.storage == Storage::Hybrid {
        // All keys above the tree's are in the range of the last group.
        for position in 0..if appends { 1 } else { count } {
            copy::mark(transaction, table, keys.get(at(position)), state)?;
        }
    }
    Ok(None)
}

/// Whether a key is above all in a tree.
fn is_above(transaction: &Transaction, tree: TreeId, key: &[u8]) -> Result<bool> {
    let mut cursor = transaction.cursor(tree, Bound::Unbounded, Bound::Unbounded, Direction::Reverse)?;
    Ok(cursor.next()?.is_none_or(|(last, _)| last < key))
}

/// The entries of a slice in one index, which may leave rows out.
#[derive(Default)]
struct IndexEntries {
    keys: Strings,
    /// Which row of the slice each is for.
    rows: Vec<usize>,
    /// Bytes of each key that the indexed values take; the locator follows.
    values_bytes: Vec<usize>,
    /// Whether no other entry may have the same values.
    is_unique: Vec<bool>,
}

impl IndexEntries {
    fn values(&self, at: usize) -> &[u8] {
        &self.keys.get(at)[..self.values_bytes[at]]
    }

    /// Adds the entries; or the locator that has a row's values already, and the row.
    fn insert(&self, transaction: &mut Transaction, tree: TreeId) -> Result<Option<(Vec<u8>, usize)>> {
        let order = self.keys.order();
        let at = |position: usize| order.as_ref().map_or(position, |order| order[position] as usize);
        let count = self.values_bytes.len();
        if count == 0 {
            return Ok(None);
        }
        let locator = |row: usize| self.keys.get(row)[self.values_bytes[row]..].to_vec();
        for position in 1..count {
            let (before, row) = (at(position - 1), at(position));
            if self.is_unique[before] && self.is_unique[row] && self.values(before) == self.values(row) {
                return Ok(Some((locator(before), self.rows[row])));
            }
        }
        // Equal values of another row are below them or, with a greater locator, above.
        if !is_above(transaction, tree, self.values(at(0)))? {
            for row in (0..count).map(at).filter(|row| self.is_unique[*row]) {
                if let Some(found) = index::find_by_index(transaction, tree, self.values(row))? {
                    return Ok(Some((found, self.rows[row])));
                }
            }
        }
        transaction.bulk_load(tree, (0..count).map(|position| (self.keys.get(at(position)), [])))?;
        Ok(None)
    }
}
