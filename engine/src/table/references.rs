//! FOREIGN KEY: what a statement left to check or to do, settled when it has changed
//! its rows.
//!
//! While a statement runs, a row that refers to a key that is not there is refused at
//! once, unless the key may still come: in the same table, or by an action. A row that
//! is deleted, or whose key changes, is noted for every foreign key that refers to it.
//! [`Writer::settle`] then carries out the actions in rounds: first all rows are found
//! that refer to a key of the round, then all are changed, so that keys may move over
//! each other; what that deletes or changes is the next round. Last, a key that is
//! not there must have nobody who refers to it.

use super::{Writer, prefix_end};
use crate::database::Shared;
use crate::error::{Error, Result};
use crate::schema::{Parent, Schema, Table};
use gingham_plan::{ForeignAction, ForeignKeyInfo, SqlError, Storage, TableId};
use gingham_row_store::key::{KeyColumn, KeyLayout};
use gingham_row_store::{Direction, Read, TreeId};
use gingham_types::Value;
use std::collections::{BTreeMap, HashMap};
use std::mem::take;
use std::ops::Bound;

/// Rounds of ON UPDATE actions. Deletions end by themselves, when no rows are left.
const UPDATE_ROUNDS_MAX: usize = 1000;

/// A foreign key: its table, and its position there.
type KeyId = (TableId, usize);

/// A key that went, and what it became if it only changed, in the foreign key's order.
type Gone = (Vec<Value>, Option<Vec<Value>>);

/// What a statement has to settle.
#[derive(Default)]
pub(crate) struct References {
    /// Keys that rows refer to and that were not there when the rows came.
    missing: BTreeMap<KeyId, HashMap<Vec<u8>, Vec<Value>>>,
    gone: BTreeMap<KeyId, Vec<Gone>>,
    /// Whether actions are being carried out: any key may still come.
    settles: bool,
}

impl References {
    pub(crate) fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.gone.is_empty()
    }

    /// Notes that a row went (`new` is `None`) or changed.
    pub(super) fn note(&mut self, table: &Table, old: &[Value], new: Option<&[Value]>) {
        for child in &table.children {
            let before = values(&child.columns, old);
            let after = new.map(|new| values(&child.columns, new));
            if after.as_ref() != Some(&before) && !before.iter().any(Value::is_null) {
                self.gone.entry((child.table, child.position)).or_default().push((before, after));
            }
        }
    }

    /// Refuses or notes a row whose parent is not there. `old` is the row before a change.
    #[inline]
    pub(super) fn check(
        &mut self,
        read: &impl Read,
        table: &Table,
        old: Option<&[Value]>,
        new: &[Value],
    ) -> Result<()> {
        if table.parents.is_empty() { Ok(()) } else { self.check_parents(read, table, old, new) }
    }

    #[inline(never)]
    fn check_parents(&mut self, read: &impl Read, table: &Table, old: Option<&[Value]>, new: &[Value]) -> Result<()> {
        for (position, parent) in table.parents.iter().enumerate() {
            let key = &table.record.foreign_keys[position];
            let is_kept = old.is_some_and(|old| key.columns.iter().all(|c| old[*c] == new[*c]));
            if is_kept || key.columns.iter().any(|c| new[*c].is_null()) || parent_exists(read, parent, new)? {
                continue;
            }
            let wanted = values(&key.columns, new);
            if !self.settles && key.parent != table.id() {
                return Err(no_parent(table, key, &wanted).into());
            }
            let encoded = encoding(table, key).key(&wanted)?;
            self.missing.entry((table.id(), position)).or_default().insert(encoded, wanted);
        }
        Ok(())
    }
}

fn values(columns: &[usize], row: &[Value]) -> Vec<Value> {
    columns.iter().map(|c| row[*c].clone()).collect()
}

/// Encodes the values of a foreign key's columns, in its order.
fn encoding(table: &Table, key: &ForeignKeyInfo) -> KeyLayout {
    let types = table.row_layout.types();
    let column = |c: &usize| KeyColumn { sql_type: types[*c], nullable: true, descending: false };
    KeyLayout::new(key.columns.iter().map(column).collect())
}

/// Whether the key that `row` refers to is there.
pub(crate) fn parent_exists(read: &impl Read, parent: &Parent, row: &[Value]) -> Result<bool> {
    // A value that the other column's type does not have is in no row.
    let Ok(key) = parent.layout.key(&values(&parent.columns, row)) else { return Ok(false) };
    if parent.is_index { Ok(first(read, parent.tree, &key)?.is_some()) } else { Ok(read.contains(parent.tree, &key)?) }
}

/// What follows `prefix` in the first key that begins with it.
fn first(read: &impl Read, tree: TreeId, prefix: &[u8]) -> Result<Option<Vec<u8>>> {
    let end = prefix_end(prefix);
    let mut cursor = read.cursor(tree, Bound::Included(prefix), end.as_ref().map(Vec::as_slice), Direction::Forward)?;
    Ok(cursor.next()?.map(|(key, _)| key[prefix.len()..].to_vec()))
}

fn listed(table: &Table, columns: &[usize], values: &[Value]) -> String {
    let names: Vec<&str> = columns.iter().map(|c| table.record.columns[*c].name.as_str()).collect();
    let values: Vec<String> = values.iter().map(super::shortened).collect();
    format!("({})=({})", names.join(", "), values.join(", "))
}

fn no_parent(table: &Table, key: &ForeignKeyInfo, wanted: &[Value]) -> SqlError {
    let listed = listed(table, &key.columns, wanted);
    let name = &table.record.name;
    SqlError::new(
        "23503",
        format!("a row of table \"{name}\" violates FOREIGN KEY \"{}\": no row has the key {listed}", key.name),
    )
}

fn still_wanted(table: &Table, key: &ForeignKeyInfo, wanted: &[Value]) -> SqlError {
    let listed = listed(table, &key.columns, wanted);
    let name = &table.record.name;
    SqlError::new(
        "23503",
        format!(
            "FOREIGN KEY \"{}\" of table \"{name}\" is violated: rows with {listed} still refer to the key",
            key.name
        ),
    )
}

/// A row to be changed by an action.
struct Change {
    old: Vec<Value>,
    /// `None` to delete it.
    new: Option<Vec<Value>>,
}

impl Writer<'_> {
    /// Carries out what the statement's changes demand of rows that refer to them, and
    /// checks what is left.
    ///
    /// # Errors
    /// 23503; 23502, 23505 and 23514 for what an action would make of a row. The caller
    /// rolls back the statement.
    pub(crate) fn settle(&mut self, schema: &Schema) -> Result<()> {
        self.finish_loads()?;
        self.references.settles = true;
        let mut doubtful: Vec<(KeyId, Vec<Value>)> = Vec::new();
        let mut rounds = 0;
        while !self.references.gone.is_empty() {
            let mut changes: BTreeMap<TableId, BTreeMap<Vec<u8>, Change>> = BTreeMap::new();
            let mut updates = false;
            for (id, keys) in take(&mut self.references.gone) {
                let table = table_of(schema, id.0)?;
                let key = &table.record.foreign_keys[id.1];
                let action = |new: &Option<Vec<Value>>| if new.is_some() { key.on_update } else { key.on_delete };
                let (later, now): (Vec<Gone>, Vec<Gone>) =
                    keys.into_iter().partition(|(_, new)| action(new) == ForeignAction::NoAction);
                doubtful.extend(later.into_iter().map(|(old, _)| (id, old)));
                let wanted: Vec<&[Value]> = now.iter().map(|(old, _)| old.as_slice()).collect();
                for (at, locator) in self.referring(table, key, &wanted, false)? {
                    let (old_key, new_key) = &now[at];
                    let action = action(new_key);
                    if action == ForeignAction::Restrict {
                        return Err(still_wanted(table, key, old_key).into());
                    }
                    let rows = changes.entry(table.id()).or_default();
                    let change = match rows.entry(locator) {
                        std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                        std::collections::btree_map::Entry::Vacant(entry) => {
                            let Some(old) = self.read_row(table, entry.key())? else { continue };
                            let new = Some(old.clone());
                            entry.insert(Change { old, new })
                        }
                    };
                    updates |= action != ForeignAction::Cascade || new_key.is_some();
                    act(change, table, key, action, new_key.as_deref(), self.shared)?;
                    if action == ForeignAction::SetDefault
                        && let Some(new) = &change.new
                    {
                        doubtful.push((id, values(&key.columns, new)));
                    }
                }
            }
            rounds += usize::from(updates);
            if rounds > UPDATE_ROUNDS_MAX {
                return Err(SqlError::new("54001", format!("more than {UPDATE_ROUNDS_MAX} rounds of ON UPDATE")).into());
            }
            for (table, rows) in changes {
                self.change(table_of(schema, table)?, rows)?;
            }
        }
        let missing = take(&mut self.references.missing);
        let missing = missing.into_iter().flat_map(|(id, keys)| keys.into_values().map(move |key| (id, key)));
        self.require(schema, missing, no_parent)?;
        self.require(schema, doubtful.into_iter(), still_wanted)
    }

    fn change(&mut self, table: &Table, rows: BTreeMap<Vec<u8>, Change>) -> Result<()> {
        let mut updates = Vec::new();
        for (locator, change) in rows {
            match change.new {
                None => self.delete(table, &locator, &change.old)?,
                Some(new) => updates.push((locator, change.old, new)),
            }
        }
        self.update(table, &mut updates)
    }

    /// Refuses keys that are not there while rows refer to them.
    fn require(
        &mut self,
        schema: &Schema,
        keys: impl Iterator<Item = (KeyId, Vec<Value>)>,
        error: fn(&Table, &ForeignKeyInfo, &[Value]) -> SqlError,
    ) -> Result<()> {
        let mut absent: BTreeMap<KeyId, Vec<Vec<Value>>> = BTreeMap::new();
        for (id, wanted) in keys {
            let table = table_of(schema, id.0)?;
            let key = &table.record.foreign_keys[id.1];
            let mut row = vec![Value::Null; table.record.columns.len()];
            key.columns.iter().zip(&wanted).for_each(|(column, value)| row[*column] = value.clone());
            let is_whole = !wanted.iter().any(Value::is_null);
            if is_whole && !parent_exists(&*self.transaction, &table.parents[id.1], &row)? {
                absent.entry(id).or_default().push(wanted);
            }
        }
        for (id, wanted) in absent {
            let table = table_of(schema, id.0)?;
            let key = &table.record.foreign_keys[id.1];
            let wanted: Vec<&[Value]> = wanted.iter().map(Vec::as_slice).collect();
            if let Some((at, _)) = self.referring(table, key, &wanted, true)?.first() {
                return Err(error(table, key, wanted[*at]).into());
            }
        }
        Ok(())
    }

    /// The rows of `table` that refer to one of `keys`: its position, and the row's
    /// locator. By an index or key that begins with the foreign key's columns; where
    /// there is none, by reading the table once. With `one`, no more than one row.
    fn referring(
        &self,
        table: &Table,
        key: &ForeignKeyInfo,
        keys: &[&[Value]],
        one: bool,
    ) -> Result<Vec<(usize, Vec<u8>)>> {
        let mut found = Vec::new();
        if keys.is_empty() {
            return Ok(found);
        }
        let transaction = &*self.transaction;
        if let Some(tree) = table.ordered_by(&key.columns) {
            for (at, wanted) in keys.iter().enumerate() {
                let in_order = tree.columns[..key.columns.len()].iter().map(|column| {
                    let position = key.columns.iter().position(|c| c == column);
                    position.and_then(|p| wanted.get(p)).cloned().unwrap_or(Value::Null)
                });
                let Ok(prefix) = tree.layout.key(&in_order.collect::<Vec<_>>()) else { continue };
                let end = prefix_end(&prefix);
                let end = end.as_ref().map(Vec::as_slice);
                let mut cursor = transaction.cursor(tree.tree, Bound::Included(&prefix), end, Direction::Forward)?;
                while let Some((entry, _)) = cursor.next()? {
                    let start = if tree.index.is_some() { tree.layout.encoded_bytes(entry)? } else { 0 };
                    found.push((at, entry[start..].to_vec()));
                    if one {
                        return Ok(found);
                    }
                }
            }
            return Ok(found);
        }
        if table.record.storage == Storage::Column {
            return Err(SqlError::internal("a foreign key of a column table has no index").into());
        }
        let layout = encoding(table, key);
        let wanted: HashMap<Vec<u8>, usize> =
            keys.iter().enumerate().filter_map(|(at, values)| Some((layout.key(values).ok()?, at))).collect();
        let mut cursor =
            transaction.cursor(table.rows_tree(), Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
        let mut encoded = Vec::new();
        while let Some((locator, bytes)) = cursor.next()? {
            let row = table.row_layout.reader(bytes)?;
            let own = key.columns.iter().map(|c| row.value(*c)).collect::<std::result::Result<Vec<Value>, _>>()?;
            encoded.clear();
            layout.encode(&own, &mut encoded)?;
            if let Some(at) = wanted.get(&encoded) {
                found.push((*at, locator.to_vec()));
                if one {
                    break;
                }
            }
        }
        Ok(found)
    }
}

fn table_of(schema: &Schema, id: TableId) -> Result<&Table> {
    let table = schema.table_by_id(id);
    table.map(|table| &**table).ok_or_else(|| Error::Sql(SqlError::internal("a foreign key's table is gone")))
}

/// What an action makes of a row.
fn act(
    change: &mut Change,
    table: &Table,
    key: &ForeignKeyInfo,
    action: ForeignAction,
    new_key: Option<&[Value]>,
    shared: &Shared,
) -> Result<()> {
    match (action, new_key) {
        (ForeignAction::Cascade, None) => change.new = None,
        _ => {
            let Some(new) = &mut change.new else { return Ok(()) };
            for (at, column) in key.columns.iter().enumerate() {
                new[*column] = match (action, new_key, &table.record.columns[*column].default) {
                    (ForeignAction::Cascade, Some(key), _) => key[at].clone(),
                    (ForeignAction::SetDefault, _, Some(default)) => shared.default_value(default)?,
                    _ => Value::Null,
                };
            }
        }
    }
    Ok(())
}
