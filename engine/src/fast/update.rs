//! UPDATE of the rows along a key.

use super::path::Path;
use super::program::NewValue;
use super::run::{int, new_value};
use crate::access::AccessRanges;
use crate::error::Result;
use crate::schema::Table;
use crate::table::{Changes, Strings, Together, Writer, refuse_null};
use gingham_row_store::{Direction, Read};
use gingham_types::{SqlType, Value};
use std::ops::Bound;
use std::sync::Arc;

/// What is done with the rows along a path.
trait Visit {
    /// Takes up a row, given by its bytes.
    fn take(&mut self, locator: &[u8], row: &[u8]) -> Result<()>;
    /// Whether the changes that wait should be made before more rows are taken up.
    fn are_many(&self) -> bool;
    /// Makes the changes that wait.
    fn make(&mut self, writer: &mut Writer<'_>) -> Result<()>;
}

/// Changes the rows along a path, each once.
#[inline(never)]
pub(super) fn update_all(
    table: &Arc<Table>,
    path: &Path,
    assignments: &[(usize, NewValue)],
    parameters: &[Value],
    writer: &mut Writer<'_>,
) -> Result<u64> {
    let access = path.access(table, parameters)?;
    let types = table.row_layout.types();
    if assignments.iter().all(|(column, _)| table.is_free(*column)) {
        let mut patches = Patches::new(table, assignments, parameters);
        along(table, &access, assignments, writer, &mut patches)?;
        return Ok(patches.changed);
    }
    let changes = Changes::new(writer.shared, false);
    let mut whole = Whole { table, types, assignments, parameters, changes };
    along(table, &access, assignments, writer, &mut whole)?;
    Ok(whole.changes.finish(writer, table)?.0)
}

/// Shows `visit` the rows along a path, some at a time: a cursor that is open while
/// pages change would make them be copied.
fn along(
    table: &Table,
    access: &AccessRanges,
    assignments: &[(usize, NewValue)],
    writer: &mut Writer<'_>,
    visit: &mut dyn Visit,
) -> Result<()> {
    let mut fetched = Vec::new();
    // Entries that move would be met again.
    let moves = access.index.is_some_and(|position| {
        let read = table.indexes[position].info.columns_read();
        table.generates || assignments.iter().any(|(column, _)| read.contains(column))
    });
    let mut found = Strings::default();
    for (lower, upper) in &access.ranges {
        let upper = upper.as_ref().map(Vec::as_slice);
        let mut lower = lower.clone();
        loop {
            let from = lower.as_ref().map(Vec::as_slice);
            let mut cursor = writer.transaction.cursor(access.tree, from, upper, Direction::Forward)?;
            let mut last = None;
            while let Some((key, row)) = cursor.next()? {
                match access.index {
                    None => visit.take(key, row)?,
                    Some(position) => {
                        let locator = &key[table.indexes[position].layout.encoded_bytes(key)?..];
                        if moves {
                            found.push_bytes(locator);
                        } else if fetch(table, locator, writer, &mut fetched)? {
                            visit.take(locator, &fetched)?;
                        }
                    }
                }
                if visit.are_many() {
                    last = Some(key.to_vec());
                    break;
                }
            }
            drop(cursor);
            let Some(last) = last else { break };
            visit.make(writer)?;
            lower = Bound::Excluded(last);
        }
    }
    for locator in (0..found.len()).map(|at| found.get(at)) {
        if fetch(table, locator, writer, &mut fetched)? {
            visit.take(locator, &fetched)?;
        }
        if visit.are_many() {
            visit.make(writer)?;
        }
    }
    visit.make(writer)
}

/// Reads a row into `row`; whether it is there.
fn fetch(table: &Table, locator: &[u8], writer: &Writer<'_>, row: &mut Vec<u8>) -> Result<bool> {
    row.clear();
    Ok(writer.transaction.visit(table.rows_tree(), locator, &mut |bytes| row.extend_from_slice(bytes))?)
}

/// Changes of rows as values.
struct Whole<'a> {
    table: &'a Arc<Table>,
    types: &'a [SqlType],
    assignments: &'a [(usize, NewValue)],
    parameters: &'a [Value],
    changes: Changes,
}

impl Visit for Whole<'_> {
    fn take(&mut self, locator: &[u8], row: &[u8]) -> Result<()> {
        let old = self.table.row_layout.decode_all(row)?;
        let mut new = old.clone();
        for (column, value) in self.assignments {
            new[*column] = new_value(value, |c| int(&old[c]), self.types[*column], self.parameters)?;
        }
        self.changes.push((locator.to_vec(), old, new));
        Ok(())
    }

    fn are_many(&self) -> bool {
        self.changes.are_many()
    }

    fn make(&mut self, writer: &mut Writer<'_>) -> Result<()> {
        self.changes.make(writer, self.table)
    }
}

/// Changes of rows' bytes, where nothing but indexes depends on the columns that change.
struct Patches<'a> {
    table: &'a Table,
    assignments: &'a [(usize, NewValue)],
    parameters: &'a [Value],
    /// The columns of the indexes whose entries move.
    indexed: Vec<usize>,
    old: Vec<Value>,
    new: Vec<Value>,
    values: Vec<(usize, Value)>,
    together: Together,
    changed: u64,
}

impl<'a> Patches<'a> {
    fn new(table: &'a Table, assignments: &'a [(usize, NewValue)], parameters: &'a [Value]) -> Self {
        let mut indexed: Vec<usize> = Vec::new();
        for index in &table.indexes {
            let columns = index.info.columns_read();
            if assignments.iter().any(|(column, _)| columns.contains(column)) {
                indexed.extend(columns);
            }
        }
        let nulls = || vec![Value::Null; table.row_layout.types().len()];
        let (old, new, together) = (nulls(), nulls(), Together::new(table));
        Self { table, assignments, parameters, indexed, old, new, values: Vec::new(), together, changed: 0 }
    }
}

impl Visit for Patches<'_> {
    fn take(&mut self, locator: &[u8], row: &[u8]) -> Result<()> {
        let types = self.table.row_layout.types();
        let reader = self.table.row_layout.reader(row)?;
        for column in &self.indexed {
            self.old[*column] = reader.value(*column)?;
            self.new[*column] = self.old[*column].clone();
        }
        self.values.clear();
        for (column, value) in self.assignments {
            let value = new_value(value, |column| reader.int(column), types[*column], self.parameters)?;
            refuse_null(self.table, *column, &value)?;
            if self.indexed.contains(column) {
                self.new[*column] = value.clone();
            }
            self.values.push((*column, value));
        }
        self.together.patch(self.table, (locator, row), &self.old, &self.new, &self.values)?;
        self.changed += 1;
        Ok(())
    }

    fn are_many(&self) -> bool {
        self.together.are_many()
    }

    fn make(&mut self, writer: &mut Writer<'_>) -> Result<()> {
        writer.apply(self.table, std::mem::replace(&mut self.together, Together::new(self.table)))
    }
}
