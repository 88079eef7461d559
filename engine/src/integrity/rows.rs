//! Rows against their keys, their NOT NULL columns and the entries of their indexes.

use super::Problems;
use crate::access::{TableAccess, full_scan};
use crate::error::Result;
use crate::schema::{Index, Table};
use crate::table::{entry_key, has_null, identity_column, last_number, parent_exists, row_exists};
use gingham_column_store::expression::evaluate_row;
use gingham_column_store::source::{Step, Tables};
use gingham_row_store::{Direction, Read, Snapshot};
use gingham_types::{SqlType, Value};
use std::ops::Bound;

pub(super) fn check(access: &TableAccess, snapshot: &Snapshot, table: &Table, problems: &mut Problems) -> Result<()> {
    let name = &table.record.name;
    let mut entries = vec![0u64; table.indexes.len()];
    let types = table.row_layout.types();
    let mut source = access.open(&full_scan(table), &[])?;
    loop {
        let batch = match source.next()? {
            Step::Batch(batch) => batch,
            Step::Working => continue,
            Step::Finished => break,
        };
        for row in 0..batch.rows {
            let columns = batch.columns.iter().zip(types.iter().chain([&SqlType::Blob]));
            let mut values: Vec<Value> = columns.map(|(column, ty)| column.value(row, *ty)).collect();
            let Some(Value::Blob(locator)) = values.pop() else { continue };
            check_row(table, &locator, &values, problems)?;
            check_constraints(snapshot, table, &values, problems)?;
            for (index, count) in table.indexes.iter().zip(&mut entries) {
                let Some(mut key) = entry_key(index, &values)? else { continue };
                *count += 1;
                key.extend_from_slice(&locator);
                if !snapshot.contains(index.tree, &key)? {
                    problems.report(format!("a row of table {name} is missing from {}", called(index)));
                }
            }
        }
    }
    for (index, expected) in table.indexes.iter().zip(entries) {
        let found = snapshot.count(index.tree)?;
        if found != expected {
            problems.report(format!("{} of table {name} has {found} entries for {expected} rows", called(index)));
        }
        check_entries(snapshot, table, index, problems)?;
    }
    Ok(())
}

fn called(index: &Index) -> String {
    if index.info.name.is_empty() { "the key index".to_owned() } else { format!("index {}", index.info.name) }
}

fn check_row(table: &Table, locator: &[u8], values: &[Value], problems: &mut Problems) -> Result<()> {
    let name = &table.record.name;
    for (column, value) in table.record.columns.iter().zip(values) {
        if value.is_null() && !column.nullable {
            problems.report(format!("a row of table {name} has NULL in column {}", column.name));
        }
    }
    if !table.has_row_id() {
        let mut expected = Vec::new();
        table.key_layout.encode(&table.key_values(values), &mut expected)?;
        if expected != locator {
            problems.report(format!("a row of table {name} is under another row's key"));
        }
    }
    Ok(())
}

/// A row holds to the table's constraints.
fn check_constraints(snapshot: &Snapshot, table: &Table, row: &[Value], problems: &mut Problems) -> Result<()> {
    let name = &table.record.name;
    for check in &table.record.checks {
        if evaluate_row(&check.condition.expr, row)? == Value::Boolean(false) {
            problems.report(format!("a row of table {name} violates CHECK {}", check.name));
        }
    }
    for (key, parent) in table.record.foreign_keys.iter().zip(&table.parents) {
        if !key.columns.iter().any(|c| row[*c].is_null()) && !parent_exists(snapshot, parent, row)? {
            problems.report(format!("a row of table {name} violates FOREIGN KEY {}", key.name));
        }
    }
    if let Some((ordinal, ..)) = identity_column(table)
        && let Value::Int(number) = row[ordinal]
        && last_number(snapshot, table.id())?.is_some_and(|last| number > last)
    {
        problems.report(format!("table {name} would give out number {number} again"));
    }
    Ok(())
}

/// Every entry leads to a row, and no two of a unique index have the same values.
fn check_entries(snapshot: &Snapshot, table: &Table, index: &Index, problems: &mut Problems) -> Result<()> {
    let name = &table.record.name;
    let mut last: Vec<u8> = Vec::new();
    let mut cursor = snapshot.cursor(index.tree, Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
    while let Some((key, value)) = cursor.next()? {
        let Ok((values, bytes)) = index.layout.decode(key) else {
            problems.report(format!("an entry of {} of table {name} cannot be read", called(index)));
            continue;
        };
        if !value.is_empty() {
            problems.report(format!("an entry of {} of table {name} has a value", called(index)));
        }
        let (prefix, locator) = key.split_at(bytes);
        if !row_exists(snapshot, table, locator)? {
            problems.report(format!("an entry of {} of table {name} leads to no row", called(index)));
        }
        if index.info.unique && !has_null(&values) && prefix == last {
            problems.report(format!("{} of table {name} has the same values twice", called(index)));
        }
        last.clear();
        last.extend_from_slice(prefix);
    }
    Ok(())
}
