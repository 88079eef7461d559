//! Changing the rows of one table: the row, its key, its indexes and what the
//! columnar side must know of it, always together.
//!
//! A row is found by its *locator*: the encoded primary key, or the 8-byte row id of a
//! table without one and of every column table.

mod bulk;
mod changes;
mod column;
mod complete;
mod copy;
mod identity;
mod index;
mod insert;
mod load;
mod references;
mod states;
mod strings;
mod together;

pub(crate) use changes::{Change, Changes};
pub(crate) use column::{
    ColumnLoad, Extents, group_metas, put_group, read_column_row, row_exists, select, split_group,
};
pub(crate) use complete::refuse_null;
pub(crate) use copy::{CopyRange, copy_is_due, ranges, refresh_copy, uncopied_rows};
pub(crate) use identity::{column as identity_column, last_number};
pub(crate) use index::{build_index, build_index_of, entry_key, has_null, prefix_end};
pub(crate) use references::{References, parent_exists};
pub(crate) use states::TableStates;
pub(crate) use strings::Strings;
pub(crate) use together::Together;

use self::load::COLUMN_BULK_ROWS_MIN;
use crate::database::Shared;
use crate::error::{Error, Result};
use crate::schema::Table;
use gingham_column_store::storage::RowGroupMeta;
use gingham_column_store::vector::{Batch, Data};
use gingham_plan::{SqlError, Storage};
use gingham_row_store::{Direction, Read, Transaction};
use gingham_types::Value;
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

impl TableState {
    /// Whether a row group is being filled, whose rows nothing can read yet.
    pub(crate) const fn is_loading(&self) -> bool {
        self.load.is_some()
    }
}

/// A write transaction and what is remembered with it.
pub(crate) struct Writer<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) transaction: &'a mut Transaction,
    pub(crate) states: &'a mut TableStates,
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
        let state = self.states.of(table.id());
        complete::complete(self.transaction, table, state, row)?;
        self.references.check(&*self.transaction, table, None, row)?;
        insert::insert(self.transaction, table, row, state)
    }

    /// Removes a row. `row` gives its values where they are known; for column tables
    /// with a key they must be.
    pub(crate) fn delete(&mut self, table: &Table, locator: &[u8], row: &[Value]) -> Result<()> {
        self.references.note(table, row, None);
        remove(self.transaction, table, locator, row, self.states.of(table.id()))
    }

    /// Removes rows whose values are known: `(locator, row)`.
    pub(crate) fn delete_all(&mut self, table: &Table, rows: &[(Vec<u8>, Vec<Value>)]) -> Result<()> {
        if table.record.storage == Storage::Column {
            return rows.iter().try_for_each(|(locator, row)| self.delete(table, locator, row));
        }
        let mut together = Together::new(table);
        for (locator, row) in rows {
            self.references.note(table, row, None);
            together.remove(table, locator, row)?;
        }
        self.apply(table, together)
    }

    /// Removes rows of a column table of which nothing else depends, see
    /// [`Table::stands_alone`]; the locators are the last column of `batch`.
    pub(crate) fn remove_alone(&mut self, table: &Table, batch: &Batch) -> Result<()> {
        let mut locators = Strings::default();
        for row in 0..batch.rows {
            locators.push_bytes(locator(batch, row)?);
        }
        column::remove_rows(self.transaction, table, &locators)
    }

    /// Frees what a statement has left without rows, when it changed so many.
    pub(crate) fn free_dead_groups(&mut self, table: &Table, changes: u64) -> Result<()> {
        if table.record.storage == Storage::Column && changes >= COLUMN_BULK_ROWS_MIN as u64 {
            column::free_dead_groups(self.transaction, table)?;
        }
        Ok(())
    }

    /// Makes changes that were taken up together.
    pub(crate) fn apply(&mut self, table: &Table, together: Together) -> Result<()> {
        together.apply(self.transaction, table, self.states.of(table.id()))
    }

    /// Changes rows. All old rows go before any new one comes, so that keys may move over
    /// each other. Values that the database makes are filled in.
    ///
    /// # Errors
    /// 23505 if a new key exists, 23502, 23503 and 23514 for a row that must not be; the
    /// caller rolls back the statement.
    pub(crate) fn update(&mut self, table: &Table, changes: &mut [Change]) -> Result<()> {
        for at in self.update_kept(table, changes)? {
            let new = &changes[at].2;
            if let Insertion::Conflict { index, .. } =
                insert::insert(self.transaction, table, new, self.states.of(table.id()))?
            {
                return Err(duplicate_key(table, index, new).into());
            }
        }
        Ok(())
    }

    /// As [`Writer::update`] for rows that keep their place. The others are removed: the
    /// positions in `changes` of rows that have to come back, by [`Writer::insert_moved`],
    /// when all that the statement changes have gone.
    pub(crate) fn update_kept(&mut self, table: &Table, changes: &mut [Change]) -> Result<Vec<usize>> {
        let state = self.states.of(table.id());
        let mut moved = Vec::new();
        // Rows of a column table may be in a row group, where none keeps its place.
        let is_bulk = changes.len() > 1 && table.record.storage != Storage::Column;
        let mut together = is_bulk.then(|| Together::new(table));
        for (position, (locator, old, new)) in changes.iter_mut().enumerate() {
            complete::complete_changed(self.transaction, table, state, new)?;
            self.references.check(&*self.transaction, table, Some(old), new)?;
            let in_place = match &mut together {
                None => insert::replace_in_place(self.transaction, table, locator, old, new, state)?,
                Some(together) => together.take(table, locator, old, new)?,
            };
            self.references.note(table, old, Some(new));
            if !in_place {
                remove(self.transaction, table, locator, old, state)?;
                moved.push(position);
            }
        }
        if let Some(together) = together {
            together.apply(self.transaction, table, state)?;
        }
        Ok(moved)
    }

    /// Changes columns of a row that nothing else depends on (see
    /// [`Table::is_plain`]): `make` writes the new row given the bytes of the old one.
    /// Whether there is such a row.
    ///
    /// # Errors
    /// What `make` returns, with nothing changed; errors of the store.
    pub(crate) fn rewrite(
        &mut self,
        table: &Table,
        locator: &[u8],
        mut make: impl FnMut(&[u8], &mut Vec<u8>) -> Result<()>,
    ) -> Result<bool> {
        let state = self.states.of(table.id());
        let mut made = Ok(());
        let exists = self.transaction.rewrite(table.rows_tree(), locator, &mut state.row, &mut |old, new| {
            made = make(old, new);
            made.is_ok()
        })?;
        made?;
        if exists && table.record.storage == Storage::Hybrid {
            copy::mark(self.transaction, table, locator, state)?;
        }
        Ok(exists)
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

    /// As [`Writer::read_row`] for the rows whose locators are the last column of `batch`.
    pub(crate) fn read_rows(&self, table: &Table, batch: &Batch) -> Result<Vec<Option<Vec<Value>>>> {
        let mut rows = vec![None; batch.rows];
        let (mut in_groups, mut positions) = (Vec::new(), Vec::new());
        for (row, found) in rows.iter_mut().enumerate() {
            let locator = locator(batch, row)?;
            let mut decoded = Ok(());
            let is_there = self.transaction.visit(table.rows_tree(), locator, &mut |bytes| {
                decoded = table.row_layout.decode_all(bytes).map(|values| *found = Some(values));
            })?;
            decoded?;
            if !is_there && table.record.storage == Storage::Column {
                in_groups.push(row_id_key(row_id_of(locator)?));
                positions.push(row);
            }
        }
        let columns: Vec<usize> = (0..table.record.columns.len()).collect();
        column::read_group_rows(&*self.transaction, self.shared, table, &in_groups, &columns, &mut |at, row| {
            rows[positions[at]] = Some(row);
        })?;
        Ok(rows)
    }

    /// Removes every row, and the memory of numbers given.
    pub(crate) fn clear(&mut self, table: &Table) -> Result<()> {
        self.clear_rows(table)?;
        identity::forget(self.transaction, table.id())
    }

    /// Removes every row.
    pub(crate) fn clear_rows(&mut self, table: &Table) -> Result<()> {
        self.states.remove(table.id());
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
            identity::write(self.transaction, table, state)?;
            if let Some(load) = state.load.take() {
                load.finish(self.transaction)?;
            }
        }
        Ok(())
    }
}

/// The locator in the last column of a plan's source.
pub(crate) fn locator(batch: &Batch, row: usize) -> Result<&[u8]> {
    match batch.columns.last().map(|column| &column.data) {
        Some(Data::Text(locators)) => Ok(locators.bytes(row)),
        _ => Err(SqlError::internal("the plan's source has no row locator").into()),
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
    for (tree, key) in index::row_entries(table, locator, row)? {
        transaction.delete(tree, &key)?;
    }
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
