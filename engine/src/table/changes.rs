//! Changes of the rows of a statement, some at a time, so that memory does not grow with
//! their number.

use super::{Together, Writer};
use crate::database::Shared;
use crate::error::Result;
use crate::schema::Table;
use gingham_column_store::execution::RowBuffer;
use gingham_column_store::expression::batch_from_rows;
use gingham_column_store::vector::Batch;
use gingham_types::Value;
use std::sync::Arc;

/// A row to change: its locator, what it is, and what it becomes.
pub(crate) type Change = (Vec<u8>, Vec<Value>, Vec<Value>);

/// So many rows, or rows of so many bytes, are changed together.
pub(super) const ROWS_TOGETHER: usize = 1 << 15;
pub(super) const BYTES_TOGETHER: usize = 16 << 20;

/// Rows that wait to be changed, and those that have lost their place.
pub(crate) struct Changes {
    waiting: Vec<Change>,
    bytes: usize,
    /// They come back when all that the statement changes have gone, so that keys may
    /// move over each other.
    moved: RowBuffer,
    /// What rows become, where it is asked for.
    returned: Option<Vec<Vec<Value>>>,
    count: u64,
}

impl Changes {
    pub(crate) fn new(shared: &Shared, returns: bool) -> Self {
        let moved = RowBuffer::new(&shared.budget());
        Self { waiting: Vec::new(), bytes: 0, moved, returned: returns.then(Vec::new), count: 0 }
    }

    /// Takes up a change. Every row is to be given once.
    pub(crate) fn push(&mut self, change: Change) {
        self.bytes += change.0.len() + row_bytes(&change.1) + row_bytes(&change.2);
        self.waiting.push(change);
    }

    /// Whether those that wait should be made before more are taken up.
    pub(crate) fn are_many(&self) -> bool {
        self.waiting.len() >= ROWS_TOGETHER || self.bytes >= BYTES_TOGETHER
    }

    /// Makes the changes that wait.
    ///
    /// # Errors
    /// As [`Writer::update`].
    pub(crate) fn make(&mut self, writer: &mut Writer<'_>, table: &Arc<Table>) -> Result<()> {
        let mut changes = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        self.count += changes.len() as u64;
        let moved = writer.update_kept(table, &mut changes)?;
        if !moved.is_empty() {
            let rows: Vec<Vec<Value>> = moved.into_iter().map(|at| changes[at].2.clone()).collect();
            self.moved.push(batch_from_rows(&rows, table.row_layout.types())?)?;
        }
        if let Some(returned) = &mut self.returned {
            returned.extend(changes.into_iter().map(|(.., new)| new));
        }
        Ok(())
    }

    /// Takes up rows of a column table that stands alone, whose locators are the last column.
    pub(crate) fn replace(&mut self, writer: &mut Writer<'_>, table: &Arc<Table>, batch: &Batch) -> Result<()> {
        let columns: Vec<usize> = (0..table.record.columns.len()).collect();
        let rows = batch.project(&columns);
        super::load::check_rows(table, &rows)?;
        writer.remove_alone(table, batch)?;
        self.count += rows.rows as u64;
        Ok(self.moved.push(rows)?)
    }

    /// Makes the changes that still wait and puts rows back that have lost their place.
    ///
    /// # Returns
    /// How many rows have changed, and what they are now where that was asked for.
    ///
    /// # Errors
    /// As [`Writer::update`].
    pub(crate) fn finish(mut self, writer: &mut Writer<'_>, table: &Arc<Table>) -> Result<(u64, Vec<Vec<Value>>)> {
        self.make(writer, table)?;
        writer.free_dead_groups(table, self.count)?;
        writer.insert_moved(table, &mut self.moved)?;
        Ok((self.count, self.returned.unwrap_or_default()))
    }
}

impl Together {
    /// Whether the changes should be made before more are taken up.
    pub(crate) fn are_many(&self) -> bool {
        let (rows, bytes) = self.size();
        rows >= ROWS_TOGETHER || bytes >= BYTES_TOGETHER
    }
}

fn row_bytes(row: &[Value]) -> usize {
    let long = |value: &Value| match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        _ => 0,
    };
    size_of_val(row) + row.iter().map(long).sum::<usize>()
}
