//! Changing the rows of one table: the row, its key, its indexes and what the
//! columnar side must know of it, always together.
//!
//! A row is found by its *locator*: the encoded primary key, or the 8-byte row id of a
//! table without one and of every column table.

mod bulk;
mod column;
mod complete;
mod copy;
mod identity;
mod index;
mod insert;
mod load;
mod references;

pub(crate) use column::{
    ColumnLoad, Extents, group_metas, put_group, read_column_row, row_exists, select, split_group,
};
pub(crate) use copy::{CopyRange, copy_is_due, ranges, refresh_copy, uncopied_rows};
pub(crate) use identity::{column as identity_column, last_number};
pub(crate) use index::{entry_key, fill_index, has_null, prefix_end};
pub(crate) use references::{References, parent_exists};

use crate::database::Shared;
use crate::error::{Error, Result};
use crate::schema::Table;
use gingham_column_store::storage::RowGroupMeta;
use gingham_plan::{SqlError, Storage, TableId};
use gingham_row_store::{Direction, Read, Transaction};
use gingham_types::Value;
use std::collections::HashMap;
use std::ops::Bound;
use std::sync::Arc;

/// What a transaction remembers about a table between statements.
#[derive(Default)]
pub(crate) struct TableState {
    /// The next hidden row id, once known.
    next_row_id: Option<i64>,
    /// The key range `[from, to)` of the group marked last, so that neighbours need no look-up.
    marked: Option<(Vec<u8>, Option<Vec<u8>>)>,
    /// Whether the table has row groups that must be marked, once known.
    has_groups: Option<bool>,
    /// Rows on their way into row groups.
    load: Option<ColumnLoad>,
    /// The numbers of the identity column, once known.
    sequence: Option<identity::Sequence>,
    key: Vec<u8>,
    row: Vec<u8>,
}

/// A write transaction and what is remembered with it.
pub(crate) struct Writer<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) transaction: &'a mut Transaction,
    pub(crate) states: &'a mut HashMap<TableId, TableState>,
    /// What the statement has to settle when its rows are changed.
    pub(crate) references: &'a mut References,
}

/// What became of a row to insert.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Insertion {
    /// It is in, under this locator.
    Inserted,
    /// Nothing changed: the key exists.
    Conflict {
        /// The index that refused it by position in `Table::indexes`; `None` is the primary key.
        index: Option<usize>,
        /// The row that has the key.
        locator: Vec<u8>,
    },
}

impl Writer<'_> {
    /// Adds a row whose values have been cast to the columns' types. Values that the
    /// database makes are filled in.
    ///
    /// # Errors
    /// 23502, 23503 and 23514 for a row that must not be; errors of the store.
    pub(crate) fn insert(&mut self, table: &Table, row: &mut [Value]) -> Result<Insertion> {
        let mut state = self.states.remove(&table.id()).unwrap_or_default();
        let result = complete::complete(self.transaction, table, &mut state, row)
            .and_then(|()| self.references.check(&*self.transaction, table, None, row))
            .and_then(|()| insert::insert(self.transaction, table, row, &mut state));
        self.states.insert(table.id(), state);
        result
    }

    /// Removes a row. `row` gives its values where they are known; for column tables
    /// with a key they must be.
    pub(crate) fn delete(&mut self, table: &Table, locator: &[u8], row: &[Value]) -> Result<()> {
        self.references.note(table, row, None);
        self.remove(table, locator, row)
    }

    fn remove(&mut self, table: &Table, locator: &[u8], row: &[Value]) -> Result<()> {
        let mut state = self.states.remove(&table.id()).unwrap_or_default();
        let result = remove(self.transaction, table, locator, row, &mut state);
        self.states.insert(table.id(), state);
        result
    }

    /// Changes rows: `(locator, old row, new row)`. All old rows go before any new one
    /// comes, so that keys may move over each other. Values that the database makes are
    /// filled in.
    ///
    /// # Errors
    /// 23505 if a new key exists, 23502, 23503 and 23514 for a row that must not be; the
    /// caller rolls back the statement.
    pub(crate) fn update(&mut self, table: &Table, changes: &mut [(Vec<u8>, Vec<Value>, Vec<Value>)]) -> Result<()> {
        let mut moved = Vec::new();
        for (locator, old, new) in changes {
            let mut state = self.states.remove(&table.id()).unwrap_or_default();
            let in_place = complete::complete_changed(self.transaction, table, &mut state, new)
                .and_then(|()| self.references.check(&*self.transaction, table, Some(old), new))
                .and_then(|()| insert::replace_in_place(self.transaction, table, locator, old, new, &mut state));
            self.states.insert(table.id(), state);
            let in_place = in_place?;
            self.references.note(table, old, Some(new));
            if !in_place {
                self.remove(table, locator, old)?;
                moved.push(new);
            }
        }
        for new in moved {
            let mut state = self.states.remove(&table.id()).unwrap_or_default();
            let inserted = insert::insert(self.transaction, table, new, &mut state);
            self.states.insert(table.id(), state);
            if let Insertion::Conflict { index, .. } = inserted? {
                return Err(duplicate_key(table, index, new).into());
            }
        }
        Ok(())
    }

    /// The values of a row; `None` if it is not there.
    pub(crate) fn read_row(&self, table: &Table, locator: &[u8]) -> Result<Option<Vec<Value>>> {
        match self.transaction.get(table.rows_tree(), locator)? {
            Some(bytes) => Ok(Some(table.row_layout.decode_all(&bytes)?)),
            None if table.record.storage == Storage::Column => {
                let columns: Vec<usize> = (0..table.record.columns.len()).collect();
                read_column_row(&*self.transaction, self.shared, table, row_id_of(locator)?, &columns)
            }
            None => Ok(None),
        }
    }

    /// Removes every row, and the memory of numbers given.
    pub(crate) fn clear(&mut self, table: &Table) -> Result<()> {
        self.clear_rows(table)?;
        identity::forget(self.transaction, table.id())
    }

    /// Removes every row.
    pub(crate) fn clear_rows(&mut self, table: &Table) -> Result<()> {
        self.states.remove(&table.id());
        column::free_groups(self.transaction, table)?;
        self.transaction.clear_tree(table.rows_tree())?;
        for index in &table.indexes {
            self.transaction.clear_tree(index.tree)?;
        }
        Ok(())
    }

    /// Writes the rows that wait for a full row group, and the numbers given. Called
    /// before anything reads the transaction, sets a savepoint or commits.
    pub(crate) fn finish_loads(&mut self) -> Result<()> {
        for (table, state) in self.states.iter_mut() {
            identity::write(self.transaction, *table, state)?;
            if let Some(load) = state.load.take() {
                load.finish(self.transaction)?;
            }
        }
        Ok(())
    }
}

/// The metadata of a row group from its record, by way of the cache of decoded ones.
pub(crate) fn group_of(shared: &Shared, key: &[u8], record: &[u8]) -> Result<Arc<RowGroupMeta>> {
    let (extent, meta) = split_group(record)?;
    crate::database::lock(&shared.groups).get(extent, key, meta)
}

/// A row id as a locator.
pub(crate) fn row_id_key(id: i64) -> [u8; 8] {
    ((id as u64) ^ (1 << 63)).to_be_bytes()
}

/// The row id of a locator.
pub(crate) fn row_id_of(locator: &[u8]) -> Result<i64> {
    match locator.try_into() {
        Ok(bytes) => Ok((u64::from_be_bytes(bytes) ^ (1 << 63)) as i64),
        Err(_) => Err(Error::Corrupt("a row id does not have eight bytes".into())),
    }
}

/// Takes the next hidden row id: one past the greatest in use.
fn next_row_id(transaction: &Transaction, table: &Table, state: &mut TableState) -> Result<i64> {
    if let Some(next) = state.next_row_id {
        return Ok(next);
    }
    let mut last = transaction.cursor(table.rows_tree(), Bound::Unbounded, Bound::Unbounded, Direction::Reverse)?;
    let mut next = match last.next()? {
        Some((key, _)) => row_id_of(key)? + 1,
        None => 0,
    };
    if table.record.storage == Storage::Column {
        next = next.max(column::row_id_end(transaction, table)?);
    }
    state.next_row_id = Some(next);
    Ok(next)
}

fn remove(
    transaction: &mut Transaction,
    table: &Table,
    locator: &[u8],
    row: &[Value],
    state: &mut TableState,
) -> Result<()> {
    let stored = match transaction.get(table.rows_tree(), locator)? {
        Some(bytes) if !table.indexes.is_empty() => Some(table.row_layout.decode_all(&bytes)?),
        _ => None,
    };
    let row = stored.as_deref().unwrap_or(row);
    index::remove_entries(transaction, table, locator, row)?;
    let in_tree = transaction.delete(table.rows_tree(), locator)?;
    match table.record.storage {
        Storage::Column if !in_tree => {
            transaction.put(table.marks_tree(), locator, &[])?;
        }
        Storage::Hybrid => copy::mark(transaction, table, locator, state)?,
        _ => {}
    }
    Ok(())
}

/// A value as an error shows it.
fn shortened(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 40 { text.chars().take(40).chain(['…']).collect() } else { text }
}

/// 23505 for a key that exists.
pub(crate) fn duplicate_key(table: &Table, index: Option<usize>, row: &[Value]) -> SqlError {
    let named = index.map(|i| &table.indexes[i]).filter(|index| !index.info.name.is_empty());
    let what = named.map_or("the primary key".to_owned(), |index| format!("index \"{}\"", index.info.name));
    let column = |c: &usize| table.record.columns[*c].name.as_str();
    let names: Vec<&str> = match named.map(|index| &index.info) {
        Some(info) => match &info.special {
            Some(special) => special.keys.iter().map(|(key, _)| key.sql.as_str()).collect(),
            None => info.columns.iter().map(|(c, _)| column(c)).collect(),
        },
        None => table.record.primary_key.iter().map(column).collect(),
    };
    let values = match named {
        // The values are there: they have just been found to conflict.
        Some(index) => index::entry_values(index, row).ok().flatten().unwrap_or_default(),
        None => table.key_values(row),
    };
    let values: Vec<String> = values.iter().map(shortened).collect();
    SqlError::new(
        "23505",
        format!(
            "duplicate key ({})=({}) for {what} of table \"{}\"",
            names.join(", "),
            values.join(", "),
            table.record.name
        ),
    )
    .hint("use ON CONFLICT or INSERT OR REPLACE to change the row that is there")
}
