//! Row groups and marks: that a copy has what its range of the row tree has, and that
//! the groups of a column table do not overlap.

use super::Problems;
use crate::database::Shared;
use crate::error::Result;
use crate::schema::Table;
use crate::table::{CopyRange, Extents, ranges, row_id_of, split_group};
use gingham_column_store::storage::{RowGroupMeta, read_rows};
use gingham_column_store::vector::{BATCH_ROWS, Vector};
use gingham_plan::Storage;
use gingham_row_store::{Direction, Read, Snapshot};
use gingham_types::{SqlType, Value, compare_values};
use std::ops::Bound;
use std::sync::Arc;

pub(super) fn check(shared: &Shared, snapshot: &Snapshot, table: &Table, problems: &mut Problems) -> Result<()> {
    match table.record.storage {
        Storage::Row => Ok(()),
        Storage::Hybrid => check_copy(shared, snapshot, table, problems),
        Storage::Column => check_column_groups(snapshot, table, problems),
    }
}

/// COPY-1 and COPY-2.
fn check_copy(shared: &Shared, snapshot: &Snapshot, table: &Table, problems: &mut Problems) -> Result<()> {
    let name = &table.record.name;
    let ranges = ranges(snapshot, table)?;
    let marked = ranges.iter().filter(|range| range.marked).count() as u64;
    let marks = snapshot.count(table.marks_tree())?;
    if marks != marked {
        problems.report(format!("table {name} has {} marks of no row group", marks - marked));
    }
    for range in &ranges {
        let meta = Arc::new(RowGroupMeta::decode(split_group(&range.record)?.1)?);
        if meta.extent != split_group(&range.record)?.0 {
            problems.report(format!("a row group of table {name} names two extents"));
        }
        if !range.marked {
            check_group(shared, snapshot, table, range, &meta, problems)?;
        }
    }
    Ok(())
}

/// A group without a mark equals its range.
fn check_group(
    shared: &Shared,
    snapshot: &Snapshot,
    table: &Table,
    range: &CopyRange,
    meta: &Arc<RowGroupMeta>,
    problems: &mut Problems,
) -> Result<()> {
    let name = &table.record.name;
    let (lower, upper) = (range.lower.as_ref().map(Vec::as_slice), range.upper.as_ref().map(Vec::as_slice));
    let rows = snapshot.count_range(table.rows_tree(), lower, upper)?;
    if rows != u64::from(meta.rows) {
        problems.report(format!("a row group of table {name} has {} rows where the table has {rows}", meta.rows));
        return Ok(());
    }
    let types = table.row_layout.types();
    let columns: Vec<usize> = (0..types.len()).collect();
    let mut cursor = snapshot.cursor(table.rows_tree(), lower, upper, Direction::Forward)?;
    for first in (0..meta.rows).step_by(BATCH_ROWS) {
        let positions: Vec<u32> = (first..meta.rows.min(first + BATCH_ROWS as u32)).collect();
        let batch = read_rows(meta, &positions, types, &columns, &Extents(snapshot), &shared.chunks)?;
        for row in 0..batch.rows {
            let Some((_, bytes)) = cursor.next()? else { return Ok(()) };
            let stored = table.row_layout.decode_all(bytes)?;
            let same = |((vector, ty), value): ((&Arc<Vector>, &SqlType), &Value)| {
                let copied = vector.value(row, *ty);
                copied.is_null() == value.is_null() && compare_values(&copied, value).is_eq()
            };
            if !batch.columns.iter().zip(types).zip(&stored).all(same) {
                problems.report(format!("a row group of table {name} has another row than the table"));
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Groups of a column table ascend without overlap, marks and the delta fit them.
fn check_column_groups(snapshot: &Snapshot, table: &Table, problems: &mut Problems) -> Result<()> {
    let name = &table.record.name;
    let everything = (Bound::Unbounded, Bound::Unbounded);
    let mut groups: Vec<(i64, i64)> = Vec::new();
    let mut cursor = snapshot.cursor(table.groups_tree(), everything.0, everything.1, Direction::Forward)?;
    while let Some((key, record)) = cursor.next()? {
        let (extent, meta) = split_group(record)?;
        let meta = RowGroupMeta::decode(meta)?;
        let first = row_id_of(key)?;
        if meta.extent != extent {
            problems.report(format!("a row group of table {name} names two extents"));
        }
        if groups.last().is_some_and(|(_, end)| first < *end) {
            problems.report(format!("row groups of table {name} overlap at row {first}"));
        }
        groups.push((first, first.saturating_add(i64::from(meta.rows))));
    }
    let in_group = |id: i64| {
        let after = groups.partition_point(|(first, _)| *first <= id);
        after > 0 && id < groups[after - 1].1
    };
    for (tree, inside, what) in [
        (table.marks_tree(), true, "a deleted row that belongs to no row group"),
        (table.rows_tree(), false, "a row that is in a row group as well"),
    ] {
        let mut cursor = snapshot.cursor(tree, everything.0, everything.1, Direction::Forward)?;
        while let Some((key, _)) = cursor.next()? {
            if in_group(row_id_of(key)?) != inside {
                problems.report(format!("table {name} has {what}"));
            }
        }
    }
    Ok(())
}
