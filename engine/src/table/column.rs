//! Column tables: bulk loads into row groups, and reading single rows back.
//!
//! Row groups are records of the groups tree under their first row id. A row of a group
//! is deleted by putting its row id into the marks tree; rows inserted one by one wait
//! in the row tree (the delta) until a bulk load or a refresh writes them.

use super::strings::Strings;
use super::{duplicate_key, group_of, index, row_id_key, row_id_of};
use crate::database::Shared;
use crate::error::{Error, Result};
use crate::schema::Table;
use arrow_array::RecordBatch;
use gingham_column_store::execution::{MemoryBudget, MemoryPool, RowSorter, TempSpace};
use gingham_column_store::expression::Predicates;
use gingham_column_store::storage::{ExtentReader, RowGroupBuilder, RowGroupMeta, read_rows};
use gingham_column_store::vector::Batch;
use gingham_plan::{SqlError, Storage};
use gingham_row_store::{Direction, EXTENT_REFERENCE_BYTES, Extent, Read, Transaction};
use gingham_types::Value;
use std::ops::Bound;
use std::rc::Rc;
use std::sync::Arc;

/// A group's record: the extent, so that it can be freed and found in caches without
/// reading on, then the metadata.
pub(crate) fn put_group(transaction: &mut Transaction, table: &Table, key: &[u8], meta: &RowGroupMeta) -> Result<()> {
    let mut record = meta.extent.encode().to_vec();
    record.extend(meta.encode());
    transaction.put(table.groups_tree(), key, &record)?;
    Ok(())
}

/// The extent of a group's record, and the bytes of its metadata.
pub(crate) fn split_group(record: &[u8]) -> Result<(Extent, &[u8])> {
    record
        .split_at_checked(EXTENT_REFERENCE_BYTES)
        .and_then(|(extent, meta)| Some((Extent::decode(extent)?, meta)))
        .ok_or_else(|| Error::Corrupt("the record of a row group is too short".into()))
}

/// Every row group of a table.
pub(crate) fn group_metas(read: &dyn Read, table: &Table) -> Result<Vec<RowGroupMeta>> {
    let mut metas = Vec::new();
    if table.record.storage != Storage::Row {
        let mut cursor = read.cursor(table.groups_tree(), Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
        while let Some((_, record)) = cursor.next()? {
            metas.push(RowGroupMeta::decode(split_group(record)?.1)?);
        }
    }
    Ok(metas)
}

/// Frees every row group and its marks.
pub(super) fn free_groups(transaction: &mut Transaction, table: &Table) -> Result<()> {
    if table.record.storage == Storage::Row {
        return Ok(());
    }
    let mut extents = Vec::new();
    let mut cursor = transaction.cursor(table.groups_tree(), Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
    while let Some((_, record)) = cursor.next()? {
        extents.push(split_group(record)?.0);
    }
    for extent in &extents {
        transaction.free_extent(extent)?;
    }
    transaction.clear_tree(table.groups_tree())?;
    transaction.clear_tree(table.marks_tree())?;
    Ok(())
}

/// Removes rows of a table without indexes.
pub(super) fn remove_rows(transaction: &mut Transaction, table: &Table, locators: &Strings) -> Result<()> {
    let order = locators.order();
    let at = |position: usize| locators.get(order.as_ref().map_or(position, |order| order[position] as usize));
    let Some(last) = locators.len().checked_sub(1) else { return Ok(()) };
    // Rows of groups and rows of the delta lie apart: mostly there is nothing to look up.
    let (lower, upper) = (Bound::Included(at(0)), Bound::Included(at(last)));
    let has_delta = transaction.cursor(table.rows_tree(), lower, upper, Direction::Forward)?.next()?.is_some();
    let (mut rows, mut marks) = (Vec::new(), Vec::new());
    for locator in (0..=last).map(at) {
        if has_delta && transaction.contains(table.rows_tree(), locator)? {
            rows.push((locator, None));
        } else {
            marks.push((locator, Some(&[][..])));
        }
    }
    transaction.apply(table.rows_tree(), &rows)?;
    Ok(transaction.apply(table.marks_tree(), &marks)?)
}

/// Frees the row groups that have no row left, with their marks.
pub(super) fn free_dead_groups(transaction: &mut Transaction, table: &Table) -> Result<()> {
    let mut groups = Vec::new();
    let mut cursor = transaction.cursor(table.groups_tree(), Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
    while let Some((key, record)) = cursor.next()? {
        let (extent, meta) = split_group(record)?;
        groups.push((row_id_of(key)?, i64::from(RowGroupMeta::decode(meta)?.rows), extent));
    }
    drop(cursor);
    for (first, rows, extent) in groups {
        let (key, end) = (row_id_key(first), row_id_key(first + rows));
        let (lower, upper) = (Bound::Included(&key[..]), Bound::Excluded(&end[..]));
        let mut cursor = transaction.cursor(table.marks_tree(), lower, upper, Direction::Forward)?;
        let mut marked = 0;
        while cursor.next()?.is_some() {
            marked += 1;
        }
        drop(cursor);
        if marked == rows {
            let marks: Vec<[u8; 8]> = (first..first + rows).map(row_id_key).collect();
            let gone: Vec<(&[u8], Option<&[u8]>)> = marks.iter().map(|mark| (&mark[..], None)).collect();
            transaction.apply(table.marks_tree(), &gone)?;
            transaction.delete(table.groups_tree(), &key)?;
            transaction.free_extent(&extent)?;
        }
    }
    Ok(())
}

/// One past the greatest row id of any group.
pub(super) fn row_id_end(read: &impl Read, table: &Table) -> Result<i64> {
    let mut cursor = read.cursor(table.groups_tree(), Bound::Unbounded, Bound::Unbounded, Direction::Reverse)?;
    match cursor.next()? {
        Some((key, record)) => Ok(row_id_of(key)? + i64::from(RowGroupMeta::decode(split_group(record)?.1)?.rows)),
        None => Ok(0),
    }
}

/// Puts the rows of a load in the order that the table has them in.
pub(crate) struct LoadSorter {
    rows: RowSorter,
    memory: Arc<MemoryPool>,
    temp: Option<Arc<TempSpace>>,
}

impl LoadSorter {
    pub(super) fn new(table: &Table, shared: &Shared) -> Self {
        let rows = RowSorter::new(table.row_layout.types(), &table.record.sort_by, shared.sort_bytes());
        Self { rows, memory: Arc::clone(&shared.memory), temp: shared.temp.clone() }
    }

    fn budget(&self) -> Rc<MemoryBudget> {
        Rc::new(MemoryBudget::of_pool(&self.memory).with_temp(self.temp.clone()))
    }
}

/// Rows on their way into row groups of a column table.
pub(crate) struct ColumnLoad {
    builder: RowGroupBuilder,
    table: Arc<Table>,
    /// Row id of the builder's first row.
    first_row_id: i64,
    /// Rows that wait to be sorted, in a table that has an order.
    sorter: Option<LoadSorter>,
}

impl ColumnLoad {
    pub(super) fn new(table: &Arc<Table>, first_row_id: i64, sorter: Option<LoadSorter>) -> Self {
        Self { builder: RowGroupBuilder::new(table.row_layout.types()), table: Arc::clone(table), first_row_id, sorter }
    }

    /// The row id that the next row gets.
    pub(super) fn next_row_id(&self) -> i64 {
        let waiting = self.sorter.as_ref().map_or(0, |sorter| sorter.rows.rows());
        self.first_row_id + (self.builder.rows() + waiting) as i64
    }

    /// Takes all rows of a batch with the table's columns.
    ///
    /// # Errors
    /// 23502 for NULLs in NOT NULL columns, 23505 for keys that exist.
    pub(crate) fn append(&mut self, transaction: &mut Transaction, batch: &Batch) -> Result<()> {
        refuse_nulls(&self.table, batch)?;
        if let Some(sorter) = &mut self.sorter {
            let budget = sorter.budget();
            return Ok(sorter.rows.push(batch, &budget)?);
        }
        if !self.table.indexes.is_empty() {
            let table = Arc::clone(&self.table);
            let types = table.row_layout.types();
            let rows = (0..batch.rows)
                .map(|row| batch.columns.iter().zip(types).map(|(c, ty)| c.value(row, *ty)).collect::<Vec<Value>>());
            self.add_index_entries(transaction, rows)?;
        }
        let mut from = 0;
        while from < batch.rows {
            from += self.builder.append(batch, from)?;
            self.write_if_full(transaction)?;
        }
        Ok(())
    }

    /// As [`ColumnLoad::append`], from Arrow.
    pub(crate) fn append_arrow(&mut self, transaction: &mut Transaction, batch: &RecordBatch) -> Result<()> {
        for (column, array) in self.table.record.columns.iter().zip(batch.columns()) {
            refuse_null(&self.table, column, array.null_count() > 0)?;
        }
        if !self.table.indexes.is_empty() || self.sorter.is_some() {
            // Keys are checked row by row, so the rows are needed as values.
            let vectors = crate::arrow::from_arrow(batch, self.table.row_layout.types())?;
            return self.append(transaction, &vectors);
        }
        let mut from = 0;
        while from < batch.num_rows() {
            from += self.builder.append_arrow(batch, from)?;
            self.write_if_full(transaction)?;
        }
        Ok(())
    }

    fn add_index_entries(
        &mut self,
        transaction: &mut Transaction,
        rows: impl Iterator<Item = Vec<Value>>,
    ) -> Result<()> {
        for (offset, row) in rows.enumerate() {
            for (position, entry) in self.table.indexes.iter().enumerate() {
                if index::find_conflict(transaction, entry, &row)?.is_some() {
                    return Err(duplicate_key(&self.table, Some(position), &row).into());
                }
            }
            let locator = row_id_key(self.next_row_id() + offset as i64);
            for (tree, key) in index::row_entries(&self.table, &locator, &row)? {
                transaction.put(tree, &key, &[])?;
            }
        }
        Ok(())
    }

    fn write_if_full(&mut self, transaction: &mut Transaction) -> Result<()> {
        if self.builder.is_full() { self.write(transaction) } else { Ok(()) }
    }

    fn write(&mut self, transaction: &mut Transaction) -> Result<()> {
        let group = self.builder.finish()?;
        let extent = transaction.write_extent(&group.bytes)?;
        // The first row id is kept as its key reads, so that the locators a columnar
        // scan puts out are keys.
        let key = row_id_key(self.first_row_id);
        self.first_row_id += i64::from(group.rows);
        let meta = group.into_meta(extent, u64::from_be_bytes(key), Vec::new());
        put_group(transaction, &self.table, &key, &meta)
    }

    /// Writes what waits for a full group.
    pub(super) fn finish(mut self, transaction: &mut Transaction) -> Result<()> {
        if let Some(mut sorter) = self.sorter.take() {
            let budget = sorter.budget();
            while let Some(batch) = sorter.rows.next(&budget)? {
                self.append(transaction, &batch)?;
            }
        }
        if self.builder.rows() > 0 { self.write(transaction) } else { Ok(()) }
    }
}

/// 23502 for NULLs in NOT NULL columns.
pub(super) fn refuse_nulls(table: &Table, batch: &Batch) -> Result<()> {
    for (column, vector) in table.record.columns.iter().zip(&batch.columns) {
        let has_null = vector.validity.as_ref().is_some_and(|v| v.contains(&false));
        refuse_null(table, column, has_null)?;
    }
    Ok(())
}

fn refuse_null(table: &Table, column: &gingham_plan::ColumnInfo, has_null: bool) -> Result<()> {
    if has_null && !column.nullable {
        let message =
            format!("NULL in column \"{}\" of table \"{}\", which is NOT NULL", column.name, table.record.name);
        return Err(SqlError::new("23502", message).into());
    }
    Ok(())
}

/// The extents of one state of the database.
pub(crate) struct Extents<'a>(pub(crate) &'a dyn Read);

impl ExtentReader for Extents<'_> {
    fn read(&self, extent: &Extent, offset: u64, buffer: &mut [u8]) -> gingham_column_store::Result<()> {
        Ok(self.0.read_extent(extent, offset, buffer)?)
    }
}

/// Whether there is a row of this locator.
pub(crate) fn row_exists(read: &dyn Read, table: &Table, locator: &[u8]) -> Result<bool> {
    if read.contains(table.rows_tree(), locator)? {
        return Ok(true);
    }
    if table.record.storage != Storage::Column || read.contains(table.marks_tree(), locator)? {
        return Ok(false);
    }
    let id = row_id_of(locator)?;
    let mut cursor =
        read.cursor(table.groups_tree(), Bound::Unbounded, Bound::Included(locator), Direction::Reverse)?;
    let Some((first, record)) = cursor.next()? else { return Ok(false) };
    Ok(id - row_id_of(first)? < i64::from(RowGroupMeta::decode(split_group(record)?.1)?.rows))
}

/// The values of one row of a group, those of `columns` (others are NULL); `None` if it
/// is not there or deleted. Chunks come from the cache, so that looking up many rows of a
/// group decodes it once.
pub(crate) fn read_column_row(
    read: &dyn Read,
    shared: &Shared,
    table: &Table,
    row_id: i64,
    columns: &[usize],
) -> Result<Option<Vec<Value>>> {
    let mut found = None;
    read_group_rows(read, shared, table, &[row_id_key(row_id)], columns, &mut |_, row| found = Some(row))?;
    Ok(found)
}

/// As [`read_column_row`] for many rows: of each group at most once for neighbours in
/// `locators`, however little the cache keeps. `put` gets the position of each row found.
pub(super) fn read_group_rows(
    read: &dyn Read,
    shared: &Shared,
    table: &Table,
    locators: &[[u8; 8]],
    columns: &[usize],
    put: &mut dyn FnMut(usize, Vec<Value>),
) -> Result<()> {
    let types = table.row_layout.types();
    let mut order: Vec<usize> = (0..locators.len()).collect();
    order.sort_by_key(|at| locators[*at]);
    let mut rest = order.as_slice();
    while let Some(first) = rest.first() {
        let key = locators[*first];
        let mut cursor =
            read.cursor(table.groups_tree(), Bound::Unbounded, Bound::Included(&key), Direction::Reverse)?;
        let Some((group, record)) = cursor.next()? else {
            rest = &rest[1..];
            continue;
        };
        let (meta, start) = (group_of(shared, group, record)?, row_id_of(group)?);
        let position = |at: &usize| {
            let position = row_id_of(&locators[*at]).ok()?.checked_sub(start)?;
            u32::try_from(position).ok().filter(|position| *position < meta.rows)
        };
        let (mut rows, mut positions) = (Vec::new(), Vec::new());
        let mut taken = 0;
        while let Some(position) = rest.get(taken).and_then(position) {
            if !read.contains(table.marks_tree(), &locators[rest[taken]])? {
                rows.push(rest[taken]);
                positions.push(position);
            }
            taken += 1;
        }
        rest = &rest[taken.max(1)..];
        if rows.is_empty() {
            continue;
        }
        let batch = read_rows(&meta, &positions, types, columns, &Extents(read), &shared.chunks)?;
        for (position, at) in rows.into_iter().enumerate() {
            let mut row = vec![Value::Null; types.len()];
            for (column, vector) in columns.iter().zip(&batch.columns) {
                row[*column] = vector.value(position, types[*column]);
            }
            put(at, row);
        }
    }
    Ok(())
}

/// The rows of a batch that satisfy constant-resolved filters, as the scan asks for them.
pub(crate) fn select(filters: &[gingham_plan::Expr], batch: &Batch) -> gingham_column_store::Result<Vec<u32>> {
    use gingham_column_store::expression::{Runtime, Selection};
    Ok(match Predicates::new(filters, &Runtime::default())?.select(batch)? {
        Selection::All => (0..batch.rows as u32).collect(),
        Selection::Rows(rows) => rows,
    })
}
