//! `PRAGMA integrity_check`: both stores against each other.

use crate::access::View;
use crate::database::Shared;
use crate::error::Result;
use crate::schema::{Schema, Table};
use crate::table::{self, ranges, split_group};
use gingham_column_store::expression::evaluate_row;
use gingham_plan::Storage;
use gingham_row_store::{Direction, Extent, IntegrityReport, Read};
use gingham_types::Value;
use std::ops::Bound;
use std::sync::Arc;

/// Checks pages and trees, then indexes against tables and groups against marks.
pub(crate) fn check(shared: &Arc<Shared>) -> Result<IntegrityReport> {
    let (snapshot, schema) = shared.snapshot()?;
    let mut extents = Vec::new();
    let mut problems = Vec::new();
    for table in schema.tables() {
        table_extents(&snapshot, table, &mut extents)?;
        check_indexes(&snapshot, table, &mut problems)?;
        check_copy(&View::Snapshot(snapshot.clone()), table, &mut problems)?;
    }
    let mut report = shared.store.integrity_check(&extents)?;
    report.problems.extend(problems);
    let _: &Schema = &schema;
    Ok(report)
}

fn table_extents(read: &impl Read, table: &Table, extents: &mut Vec<Extent>) -> Result<()> {
    if table.record.storage == Storage::Row {
        return Ok(());
    }
    let mut cursor = read.cursor(table.groups_tree(), Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
    while let Some((_, record)) = cursor.next()? {
        extents.push(split_group(record)?.0);
    }
    Ok(())
}

/// Every row has its entry in every index, and there are no others.
fn check_indexes(read: &impl Read, table: &Table, problems: &mut Vec<String>) -> Result<()> {
    let name = &table.record.name;
    let in_groups: u64 = match table.record.storage {
        Storage::Column => {
            let groups: u64 = table::group_metas(read, table)?.iter().map(|g| u64::from(g.rows)).sum();
            groups.saturating_sub(read.count(table.marks_tree())?)
        }
        _ => 0,
    };
    let rows = read.count(table.rows_tree())? + in_groups;
    for index in &table.indexes {
        let entries = read.count(index.tree)?;
        if entries != rows {
            problems.push(format!("index {} of table {name} has {entries} entries for {rows} rows", index.info.name));
        }
    }
    let mut cursor = read.cursor(table.rows_tree(), Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
    while let Some((key, row)) = cursor.next()? {
        let values = table.row_layout.decode_all(row)?;
        check_constraints(read, table, &values, problems)?;
        for index in &table.indexes {
            let indexed: Vec<_> = index.info.columns.iter().map(|(column, _)| values[*column].clone()).collect();
            let mut entry = Vec::new();
            index.layout.encode(&indexed, &mut entry)?;
            entry.extend_from_slice(key);
            if !read.contains(index.tree, &entry)? {
                problems.push(format!("a row of table {name} is missing from index {}", index.info.name));
            }
        }
        if !table.has_row_id() {
            let mut expected = Vec::new();
            table.key_layout.encode(&table.key_values(&values), &mut expected)?;
            if expected != key {
                problems.push(format!("a row of table {name} is under another row's key"));
            }
        }
    }
    Ok(())
}

/// A row of the row tree holds to the table's constraints.
fn check_constraints(read: &impl Read, table: &Table, row: &[Value], problems: &mut Vec<String>) -> Result<()> {
    let name = &table.record.name;
    for check in &table.record.checks {
        if evaluate_row(&check.condition.expr, row)? == Value::Boolean(false) {
            problems.push(format!("a row of table {name} violates CHECK {}", check.name));
        }
    }
    for (key, parent) in table.record.foreign_keys.iter().zip(&table.parents) {
        if !key.columns.iter().any(|c| row[*c].is_null()) && !table::parent_exists(read, parent, row)? {
            problems.push(format!("a row of table {name} violates FOREIGN KEY {}", key.name));
        }
    }
    if let Some((ordinal, ..)) = table::identity_column(table)
        && let Value::Int(number) = row[ordinal]
        && table::last_number(read, table.id())?.is_some_and(|last| number > last)
    {
        problems.push(format!("table {name} would give out number {number} again"));
    }
    Ok(())
}

/// COPY-1 by counts: a group without a mark has as many rows as its range.
fn check_copy(view: &View, table: &Table, problems: &mut Vec<String>) -> Result<()> {
    if table.record.storage != Storage::Hybrid {
        return Ok(());
    }
    view.read(|read| {
        for range in ranges(read, table)?.iter().filter(|range| !range.marked) {
            let meta = gingham_column_store::storage::RowGroupMeta::decode(split_group(&range.record)?.1)?;
            let lower = range.lower.as_ref().map(Vec::as_slice);
            let upper = range.upper.as_ref().map(Vec::as_slice);
            let rows = read.count_range(table.rows_tree(), lower, upper)?;
            if rows != u64::from(meta.rows) {
                problems.push(format!(
                    "a row group of table {} has {} rows where the table has {rows}",
                    table.record.name, meta.rows
                ));
            }
        }
        Ok(())
    })
}
