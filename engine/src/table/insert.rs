//! Adding a row, and changing one that keeps its place.

use super::{Insertion, TableState, copy, index, next_row_id, row_id_key};
use crate::error::Result;
use crate::schema::Table;
use gingham_plan::Storage;
use gingham_row_store::{Read, Transaction};
use gingham_types::Value;

pub(super) fn insert(
    transaction: &mut Transaction,
    table: &Table,
    row: &[Value],
    state: &mut TableState,
) -> Result<Insertion> {
    state.key.clear();
    if table.has_row_id() {
        let id = next_row_id(transaction, table, state)?;
        state.next_row_id = Some(id + 1);
        state.key.extend_from_slice(&row_id_key(id));
    } else if let [column] = table.record.primary_key[..] {
        table.key_layout.encode(std::slice::from_ref(&row[column]), &mut state.key)?;
    } else {
        table.key_layout.encode(&table.key_values(row), &mut state.key)?;
    }
    for (position, index) in table.indexes.iter().enumerate() {
        if let Some(locator) = index::find_conflict(transaction, index, row)? {
            let conflict = if index.info.name.is_empty() { None } else { Some(position) };
            // The primary key of the row is asked first, so that of two conflicts it is named.
            if conflict.is_some() && !table.has_row_id() && transaction.contains(table.rows_tree(), &state.key)? {
                return Ok(Insertion::Conflict { index: None, locator: state.key.clone() });
            }
            return Ok(Insertion::Conflict { index: conflict, locator });
        }
    }
    state.row.clear();
    table.row_layout.encode(row, &mut state.row)?;
    let entries = index::row_entries(table, &state.key, row)?;
    if !transaction.insert(table.rows_tree(), &state.key, &state.row)? {
        return Ok(Insertion::Conflict { index: None, locator: state.key.clone() });
    }
    for (tree, key) in &entries {
        transaction.put(*tree, key, &[])?;
    }
    if table.record.storage == Storage::Hybrid {
        let key = std::mem::take(&mut state.key);
        copy::mark(transaction, table, &key, state)?;
        state.key = key;
    }
    Ok(Insertion::Inserted)
}

/// Writes `new` over the row if its key stays, no unique value moves and it is in the
/// row tree; else changes nothing and returns `false`.
pub(super) fn replace_in_place(
    transaction: &mut Transaction,
    table: &Table,
    locator: &[u8],
    old: &[Value],
    new: &[Value],
    state: &mut TableState,
) -> Result<bool> {
    let key_moves = !table.has_row_id() && table.record.primary_key.iter().any(|c| old[*c] != new[*c]);
    if key_moves || index::unique_moves(table, old, new)? || !transaction.contains(table.rows_tree(), locator)? {
        return Ok(false);
    }
    index::change_entries(transaction, table, locator, old, new)?;
    state.row.clear();
    table.row_layout.encode(new, &mut state.row)?;
    transaction.put(table.rows_tree(), locator, &state.row)?;
    if table.record.storage == Storage::Hybrid {
        copy::mark(transaction, table, locator, state)?;
    }
    Ok(true)
}
