//! Joins small batches up, so that what follows a selective operator does not pay its
//! cost per batch for a handful of rows.

use super::columns::ColumnStore;
use crate::Result;
use crate::vector::Batch;
use gingham_types::SqlType;

/// Batches of at least this many rows are passed on as they are.
const ROWS_MIN: usize = 512;

/// Collects batches until there are [`ROWS_MIN`] rows.
#[derive(Debug)]
pub(crate) struct Coalescer {
    types: Vec<SqlType>,
    kept: Option<ColumnStore>,
}

impl Coalescer {
    pub(crate) const fn new(types: Vec<SqlType>) -> Self {
        Self { types, kept: None }
    }

    /// Takes a batch, or some of its rows, and gives one when there are enough. The
    /// order of rows is kept.
    pub(crate) fn push(&mut self, batch: Batch, rows: Option<&[u32]>) -> Result<Option<Batch>> {
        let count = rows.map_or(batch.rows, <[u32]>::len);
        if count == 0 {
            return Ok(None);
        }
        if self.kept.is_none() && count >= ROWS_MIN {
            return Ok(Some(rows.map_or_else(|| batch.clone(), |rows| batch.gather(rows))));
        }
        let kept = self.kept.get_or_insert_with(|| ColumnStore::new(&self.types));
        kept.append(&batch, rows)?;
        Ok(if kept.rows() >= ROWS_MIN { self.finish() } else { None })
    }

    /// The rows that are left.
    pub(crate) fn finish(&mut self) -> Option<Batch> {
        self.kept.take().map(ColumnStore::into_batch)
    }
}
