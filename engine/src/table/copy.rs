//! The columnar copy of a hybrid table.
//!
//! The row tree's key space is cut into ranges, each with one row group that holds
//! exactly the rows of its range: a group under key `a` stands for the keys from `a` up
//! to the next group's key, the first also for everything before it. A change of a row
//! marks the range it falls in, in the same commit. So a columnar scan reads groups
//! where there is no mark and the row tree where there is one, and is never stale; and
//! dropping all groups loses nothing.
//!
//! Invariants: COPY-1, a group without a mark equals its range of the row tree at every
//! commit. COPY-2, without groups there are no marks.

use super::TableState;
use super::column::{put_group, split_group};
use super::strings::Strings;
use crate::access::RowBatch;
use crate::error::Result;
use crate::schema::Table;
use gingham_column_store::storage::RowGroupBuilder;
use gingham_row_store::{Direction, Read, Transaction, TreeId};
use std::ops::Bound;

/// Tables with fewer rows are read from the row tree as fast as from a copy.
const COPY_ROWS_MIN: u64 = 4096;

/// Records that the group over `key` no longer tells the truth.
pub(super) fn mark(transaction: &mut Transaction, table: &Table, key: &[u8], state: &mut TableState) -> Result<()> {
    let has_groups = match state.has_groups {
        Some(known) => known,
        None => *state.has_groups.insert(transaction.count(table.groups_tree())? > 0),
    };
    if !has_groups {
        return Ok(());
    }
    if let Some((from, to)) = &state.marked
        && key >= from.as_slice()
        && to.as_ref().is_none_or(|to| key < to.as_slice())
    {
        return Ok(());
    }
    let below =
        first_key(transaction, table.groups_tree(), Bound::Unbounded, Bound::Included(key), Direction::Reverse)?;
    let (group, from) = match below {
        Some(group) => (group.clone(), group),
        // Before the first group: its range has no lower end.
        None => {
            let first =
                first_key(transaction, table.groups_tree(), Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
            (first.unwrap_or_default(), Vec::new())
        }
    };
    let to =
        first_key(transaction, table.groups_tree(), Bound::Excluded(&group), Bound::Unbounded, Direction::Forward)?;
    transaction.put(table.marks_tree(), &group, &[])?;
    state.marked = Some((from, to));
    Ok(())
}

fn first_key(
    read: &impl Read,
    tree: TreeId,
    lower: Bound<&[u8]>,
    upper: Bound<&[u8]>,
    direction: Direction,
) -> Result<Option<Vec<u8>>> {
    Ok(read.cursor(tree, lower, upper, direction)?.next()?.map(|(key, _)| key.to_vec()))
}

/// One range of the key space in key order.
pub(crate) struct CopyRange {
    /// The group's key.
    pub(crate) key: Vec<u8>,
    /// The group's record.
    pub(crate) record: Vec<u8>,
    /// Bounds of the rows it stands for.
    pub(crate) lower: Bound<Vec<u8>>,
    pub(crate) upper: Bound<Vec<u8>>,
    /// Whether the row tree has to be read instead.
    pub(crate) marked: bool,
}

/// All ranges; none without a copy.
pub(crate) fn ranges(read: &dyn Read, table: &Table) -> Result<Vec<CopyRange>> {
    let everything = (Bound::Unbounded, Bound::Unbounded);
    let mut groups = read.cursor(table.groups_tree(), everything.0, everything.1, Direction::Forward)?;
    let mut ranges: Vec<CopyRange> = Vec::new();
    while let Some((key, record)) = groups.next()? {
        let lower = match ranges.last_mut() {
            Some(previous) => {
                previous.upper = Bound::Excluded(key.to_vec());
                Bound::Included(key.to_vec())
            }
            None => Bound::Unbounded,
        };
        ranges.push(CopyRange {
            key: key.to_vec(),
            record: record.to_vec(),
            lower,
            upper: Bound::Unbounded,
            marked: false,
        });
    }
    let mut marks = read.cursor(table.marks_tree(), everything.0, everything.1, Direction::Forward)?;
    while let Some((key, _)) = marks.next()? {
        if let Ok(position) = ranges.binary_search_by(|range| range.key.as_slice().cmp(key)) {
            ranges[position].marked = true;
        }
    }
    Ok(ranges)
}

/// Rows that a columnar scan has to read from the row tree.
pub(crate) fn uncopied_rows(read: &dyn Read, table: &Table) -> Result<u64> {
    if read.count(table.groups_tree())? == 0 {
        return Ok(read.count(table.rows_tree())?);
    }
    if read.count(table.marks_tree())? == 0 {
        return Ok(0);
    }
    let mut rows = 0;
    for range in ranges(read, table)?.iter().filter(|range| range.marked) {
        let lower = range.lower.as_ref().map(Vec::as_slice);
        let upper = range.upper.as_ref().map(Vec::as_slice);
        rows += read.count_range(table.rows_tree(), lower, upper)?;
    }
    Ok(rows)
}

/// Whether a query that reads the whole table should bring the copy up to date first:
/// when more than a tenth is missing, or with `forced` when anything is.
pub(crate) fn copy_is_due(read: &dyn Read, table: &Table, forced: bool) -> Result<bool> {
    let rows = read.count(table.rows_tree())?;
    let uncopied = uncopied_rows(read, table)?;
    Ok(if forced { uncopied > 0 } else { rows >= COPY_ROWS_MIN && uncopied * 10 > rows })
}

/// Brings the copy up to date: writes new groups over every marked range.
pub(crate) fn refresh_copy(transaction: &mut Transaction, table: &Table) -> Result<()> {
    let ranges = ranges(transaction, table)?;
    if ranges.is_empty() {
        return write_range(transaction, table, Bound::Unbounded, Bound::Unbounded);
    }
    for range in ranges.into_iter().filter(|range| range.marked) {
        transaction.free_extent(&split_group(&range.record)?.0)?;
        transaction.delete(table.groups_tree(), &range.key)?;
        transaction.delete(table.marks_tree(), &range.key)?;
        write_range(transaction, table, range.lower, range.upper)?;
    }
    Ok(())
}

/// Writes groups over the rows between two bounds, each under its first row's key; none
/// if there are no rows. What a range without rows stood for falls to its neighbour,
/// which has the same nothing there.
fn write_range(
    transaction: &mut Transaction,
    table: &Table,
    lower: Bound<Vec<u8>>,
    upper: Bound<Vec<u8>>,
) -> Result<()> {
    let types = table.row_layout.types();
    let columns: Vec<_> = types.iter().copied().enumerate().collect();
    let bounds = (lower.as_ref().map(Vec::as_slice), upper.as_ref().map(Vec::as_slice));
    let mut cursor = transaction.cursor(table.rows_tree(), bounds.0, bounds.1, Direction::Forward)?;
    let mut rows = RowBatch::new(&columns, false);
    let mut builder = RowGroupBuilder::new(types);
    // A lower bound is its range's key already: groups that follow keep it as theirs.
    let mut key: Option<Vec<u8>> = match lower.as_ref() {
        Bound::Included(key) => Some(key.clone()),
        _ => None,
    };
    let mut batch_keys = Strings::default();
    loop {
        let at_end = match cursor.next()? {
            Some((row_key, row)) => {
                rows.push(&table.row_layout.reader(row)?, row_key)?;
                batch_keys.push_bytes(row_key);
                false
            }
            None => true,
        };
        if rows.rows() == gingham_column_store::vector::BATCH_ROWS || (at_end && rows.rows() > 0) {
            let batch = rows.take();
            let mut from = 0;
            while from < batch.rows {
                if key.is_none() {
                    key = Some(batch_keys.get(from).to_vec());
                }
                from += builder.append(&batch, from)?;
                if builder.is_full() {
                    write_group(transaction, table, &mut builder, key.take())?;
                }
            }
            batch_keys.clear();
        }
        if at_end {
            break;
        }
    }
    if builder.rows() > 0 { write_group(transaction, table, &mut builder, key) } else { Ok(()) }
}

fn write_group(
    transaction: &mut Transaction,
    table: &Table,
    builder: &mut RowGroupBuilder,
    key: Option<Vec<u8>>,
) -> Result<()> {
    let key = key.unwrap_or_default();
    let group = builder.finish()?;
    let extent = transaction.write_extent(&group.bytes)?;
    let meta = group.into_meta(extent, 0, Vec::new());
    put_group(transaction, table, &key, &meta)
}
