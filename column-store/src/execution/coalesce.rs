//! Joins small batches up, so that what follows a selective operator does not pay its
//! cost per batch for a handful of rows.

use super::columns::ColumnStore;
use crate::Result;
use crate::vector::Batch;
use gingham_types::SqlType;

/// Batches of at least this many rows are passed on as they are.
const ROWS_MIN: usize = 512;

/// Rows of a batch that [`BatchJoiner`] gives.
const JOINED_ROWS: usize = 1 << 15;

/// Joins batches up to large ones, for what has a cost a batch.
#[derive(Debug)]
pub struct BatchJoiner {
    types: Vec<SqlType>,
    kept: ColumnStore,
}

impl BatchJoiner {
    /// A joiner of batches of these types.
    pub fn new(types: &[SqlType]) -> Self {
        Self { types: types.to_vec(), kept: ColumnStore::new(types) }
    }

    /// Takes a batch, and gives one when there are enough rows. Their order is kept.
    ///
    /// # Errors
    /// If the batch is of other types.
    pub fn push(&mut self, batch: Batch) -> Result<Option<Batch>> {
        if self.kept.rows() == 0 && batch.rows >= JOINED_ROWS {
            return Ok(Some(batch));
        }
        self.kept.append(&batch, None)?;
        Ok(if self.kept.rows() >= JOINED_ROWS { self.finish() } else { None })
    }

    /// The rows that are left.
    pub fn finish(&mut self) -> Option<Batch> {
        let kept = std::mem::replace(&mut self.kept, ColumnStore::new(&self.types));
        (kept.rows() > 0).then(|| kept.into_batch())
    }
}

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
