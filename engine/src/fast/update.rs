//! UPDATE of the rows along a key.

use super::path::Path;
use super::program::NewValue;
use super::run::{int, new_value, row_at};
use crate::access::AccessRanges;
use crate::error::Result;
use crate::schema::Table;
use crate::table::{Together, Writer, refuse_null};
use gingham_row_store::{Direction, Read};
use gingham_types::Value;

/// Changes the rows along a path, all of which are found before the first is changed.
pub(super) fn update_all(
    table: &Table,
    path: &Path,
    assignments: &[(usize, NewValue)],
    parameters: &[Value],
    writer: &mut Writer<'_>,
) -> Result<u64> {
    let access = path.access(table, parameters)?;
    if assignments.iter().all(|(column, _)| table.is_free(*column)) {
        return patch_all(table, &access, assignments, parameters, writer);
    }
    let types = table.row_layout.types();
    let mut changes = Vec::new();
    for (lower, upper) in &access.ranges {
        let (lower, upper) = (lower.as_ref().map(Vec::as_slice), upper.as_ref().map(Vec::as_slice));
        let mut cursor = writer.transaction.cursor(access.tree, lower, upper, Direction::Forward)?;
        while let Some((key, row)) = cursor.next()? {
            let Some((locator, old)) = row_at(table, access.index, key, row, writer)? else { continue };
            let mut new = old.clone();
            for (column, value) in assignments {
                new[*column] = new_value(value, |c| int(&old[c]), types[*column], parameters)?;
            }
            changes.push((locator, old, new));
        }
    }
    writer.update(table, &mut changes)?;
    Ok(changes.len() as u64)
}

/// Changes the bytes of rows where nothing but indexes depends on the columns that change.
fn patch_all(
    table: &Table,
    access: &AccessRanges,
    assignments: &[(usize, NewValue)],
    parameters: &[Value],
    writer: &mut Writer<'_>,
) -> Result<u64> {
    let types = table.row_layout.types();
    // The columns of the indexes whose entries move.
    let mut indexed: Vec<usize> = Vec::new();
    for index in &table.indexes {
        let columns = index.info.columns_read();
        if assignments.iter().any(|(column, _)| columns.contains(column)) {
            indexed.extend(columns);
        }
    }
    let mut together = Together::new(table);
    let (mut old, mut new) = (vec![Value::Null; types.len()], vec![Value::Null; types.len()]);
    let (mut changes, mut fetched) = (Vec::new(), Vec::new());
    let mut changed = 0;
    for (lower, upper) in &access.ranges {
        let (lower, upper) = (lower.as_ref().map(Vec::as_slice), upper.as_ref().map(Vec::as_slice));
        let mut cursor = writer.transaction.cursor(access.tree, lower, upper, Direction::Forward)?;
        while let Some((key, row)) = cursor.next()? {
            let (locator, row) = match access.index {
                None => (key, row),
                Some(position) => {
                    let locator = &key[table.indexes[position].layout.encoded_bytes(key)?..];
                    fetched.clear();
                    let mut fetch = |row: &[u8]| fetched.extend_from_slice(row);
                    if !writer.transaction.visit(table.rows_tree(), locator, &mut fetch)? {
                        continue;
                    }
                    (locator, fetched.as_slice())
                }
            };
            let reader = table.row_layout.reader(row)?;
            for column in &indexed {
                old[*column] = reader.value(*column)?;
                new[*column] = old[*column].clone();
            }
            changes.clear();
            for (column, value) in assignments {
                let value = new_value(value, |column| reader.int(column), types[*column], parameters)?;
                refuse_null(table, *column, &value)?;
                if indexed.contains(column) {
                    new[*column] = value.clone();
                }
                changes.push((*column, value));
            }
            together.patch(table, (locator, row), &old, &new, &changes)?;
            changed += 1;
        }
    }
    writer.apply(table, together)?;
    Ok(changed)
}
