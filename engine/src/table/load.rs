//! Rows in bulk: straight into the row groups of a column table, else into the trees.

use super::column::LoadSorter;
use super::{ColumnLoad, Insertion, Writer, bulk, column, complete, duplicate_key, next_row_id};
use crate::error::Result;
use crate::schema::Table;
use arrow_array::RecordBatch;
use gingham_column_store::execution::{BatchJoiner, RowBuffer, RowSorter};
use gingham_column_store::expression::batch_from_rows;
use gingham_column_store::vector::Batch;
use gingham_plan::Storage;
use gingham_row_store::Transaction;
use gingham_types::Value;
use std::sync::Arc;

/// Fewer rows than this wait in a column table's delta: a row group of them would cost
/// more than it saves.
pub(super) const COLUMN_BULK_ROWS_MIN: usize = 1024;

/// Rows that are completed and checked one by one before they become columns again.
const CHECKED_ROWS: usize = 4096;

impl Table {
    /// Whether a row has to be looked at for more than NOT NULL and keys.
    fn looks_at_rows(&self) -> bool {
        self.generates || !self.record.checks.is_empty() || !self.parents.is_empty()
    }
}

/// Refuses rows that break NOT NULL or CHECK.
pub(super) fn check_rows(table: &Table, batch: &Batch) -> Result<()> {
    if table.record.checks.is_empty() && column::refuse_nulls(table, batch).is_ok() {
        return Ok(());
    }
    let types = table.row_layout.types();
    let mut row = Vec::with_capacity(types.len());
    for position in 0..batch.rows {
        row.clear();
        row.extend(batch.columns.iter().zip(types).map(|(column, ty)| column.value(position, *ty)));
        complete::check(table, &row)?;
    }
    Ok(())
}

impl Writer<'_> {
    /// Adds all rows of a batch in the table's types.
    ///
    /// # Errors
    /// As [`Writer::insert`], and 23505 for keys that exist; the caller rolls back the
    /// statement.
    pub(crate) fn insert_batch(&mut self, table: &Arc<Table>, batch: &Batch) -> Result<()> {
        // Row ids of a group have no gaps: while one is being filled, all rows go there.
        let is_loading = self.states.is_loading(table.id());
        if table.record.storage == Storage::Column && (is_loading || batch.rows >= COLUMN_BULK_ROWS_MIN) {
            return self.load(table, batch);
        }
        // A NULL that must not be is told row by row.
        if table.looks_at_rows() || column::refuse_nulls(table, batch).is_err() {
            return self.insert_rows(table, batch);
        }
        self.put_back(table, batch)
    }

    fn insert_rows(&mut self, table: &Table, batch: &Batch) -> Result<()> {
        let types = table.row_layout.types();
        let mut row = Vec::with_capacity(types.len());
        for position in 0..batch.rows {
            row.clear();
            row.extend(batch.columns.iter().zip(types).map(|(c, ty)| c.value(position, *ty)));
            if let Insertion::Conflict { index, .. } = self.insert(table, &mut row)? {
                return Err(duplicate_key(table, index, &row).into());
            }
        }
        Ok(())
    }

    /// Adds rows to a column table as row groups.
    ///
    /// # Errors
    /// As [`Writer::insert`], and 23505 for keys that exist.
    fn load(&mut self, table: &Arc<Table>, batch: &Batch) -> Result<()> {
        if !table.looks_at_rows() {
            return self.load_columns(table, |load, transaction| load.append(transaction, batch));
        }
        let types = table.row_layout.types();
        let mut from = 0;
        while from < batch.rows {
            let to = batch.rows.min(from + CHECKED_ROWS);
            let mut rows: Vec<Vec<Value>> = (from..to)
                .map(|row| batch.columns.iter().zip(types).map(|(c, ty)| c.value(row, *ty)).collect())
                .collect();
            let state = self.states.of(table.id());
            for row in &mut rows {
                complete::complete(self.transaction, table, state, row)?;
                self.references.check(&*self.transaction, table, None, row)?;
            }
            let part = batch_from_rows(&rows, types)?;
            self.load_columns(table, |load, transaction| load.append(transaction, &part))?;
            from = to;
        }
        Ok(())
    }

    /// As [`Writer::load`], from Arrow columns in declared order.
    pub(crate) fn load_arrow(&mut self, table: &Arc<Table>, batch: &RecordBatch) -> Result<()> {
        if table.looks_at_rows() {
            let columns = crate::arrow::from_arrow(batch, table.row_layout.types())?;
            return self.load(table, &columns);
        }
        self.load_columns(table, |load, transaction| load.append_arrow(transaction, batch))
    }

    /// Puts back the rows of a table that was emptied, checked again.
    ///
    /// # Errors
    /// 23502 and 23514 for rows that the table does not take any more.
    pub(crate) fn refill(&mut self, table: &Arc<Table>, rows: &mut RowBuffer) -> Result<()> {
        while let Some(batch) = rows.take_next()? {
            check_rows(table, &batch)?;
            self.put_back(table, &batch)?;
        }
        Ok(())
    }

    /// Adds rows that a statement has taken out to change them, complete and checked.
    ///
    /// # Errors
    /// 23505 for keys that exist; the caller rolls back the statement.
    pub(crate) fn insert_moved(&mut self, table: &Arc<Table>, rows: &mut RowBuffer) -> Result<()> {
        let mut joined = BatchJoiner::new(table.row_layout.types());
        while let Some(batch) = rows.take_next()? {
            if let Some(batch) = joined.push(batch)? {
                self.put_back(table, &batch)?;
            }
        }
        joined.finish().map_or(Ok(()), |batch| self.put_back(table, &batch))
    }

    fn put_back(&mut self, table: &Arc<Table>, batch: &Batch) -> Result<()> {
        let is_loading = self.states.is_loading(table.id());
        if table.record.storage == Storage::Column && (is_loading || batch.rows >= COLUMN_BULK_ROWS_MIN) {
            return self.load_columns(table, |load, transaction| load.append(transaction, batch));
        }
        match bulk::insert_rows(self.transaction, table, batch, self.states.of(table.id()))? {
            Some((Insertion::Conflict { index, .. }, row)) => Err(duplicate_key(table, index, &row).into()),
            _ => Ok(()),
        }
    }

    /// Adds rows of a column table that were its own before, in the order given.
    pub(crate) fn load_sorted(&mut self, table: &Arc<Table>, sorter: &mut RowSorter) -> Result<()> {
        let state = self.states.of(table.id());
        let first = next_row_id(self.transaction, table, state)?;
        let mut load = ColumnLoad::new(table, first, None);
        while let Some(batch) = sorter.next(&self.shared.budget())? {
            load.append(self.transaction, &batch)?;
        }
        state.next_row_id = Some(load.next_row_id());
        load.finish(self.transaction)?;
        Ok(())
    }

    /// A column table's bulk load: rows go into row groups directly.
    fn load_columns(
        &mut self,
        table: &Arc<Table>,
        append: impl FnOnce(&mut ColumnLoad, &mut Transaction) -> Result<()>,
    ) -> Result<()> {
        let state = self.states.of(table.id());
        let mut load = match state.load.take() {
            Some(load) => load,
            None => {
                let first = next_row_id(self.transaction, table, state)?;
                let sorted = !table.record.sort_by.is_empty();
                ColumnLoad::new(table, first, sorted.then(|| LoadSorter::new(table, self.shared)))
            }
        };
        let result = append(&mut load, self.transaction);
        state.next_row_id = Some(load.next_row_id());
        state.load = Some(load);
        result
    }
}
