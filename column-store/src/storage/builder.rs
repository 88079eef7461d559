//! Collecting the rows of one group and encoding them.

use super::arrow::append_array;
use super::column::{Column, mismatch};
use super::encoding;
use super::format::{CHUNK_ALIGNMENT, GROUP_ROWS_MAX, GROUP_TEXT_BYTES_MAX};
use super::meta::{ChunkMeta, RowGroupMeta};
use crate::vector::Batch;
use crate::{Error, Result};
use arrow_array::RecordBatch;
use gingham_plan::SqlError;
use gingham_row_store::Extent;
use gingham_types::{SqlType, Value};
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// Rows appended before the text collected is measured again: strings of a megabyte
/// then still stay below the 4 GiB that one column may have.
const ROWS_STEP: usize = 512;

/// Collects rows until a group is full. Holds one group's rows at most.
///
/// After an error the rows collected so far are of unequal columns: drop the builder.
#[derive(Debug)]
pub struct RowGroupBuilder {
    columns: Vec<Column>,
    rows: usize,
}

/// A group ready to be written: its bytes go to an extent, then
/// [`EncodedGroup::into_meta`] gives the record.
#[derive(Clone, Debug)]
pub struct EncodedGroup {
    /// The content of the extent.
    pub bytes: Vec<u8>,
    /// Rows.
    pub rows: u32,
    /// One for each column.
    pub columns: Vec<ChunkMeta>,
}

impl EncodedGroup {
    /// The metadata of the group, once its bytes are in `extent`.
    pub fn into_meta(self, extent: Extent, first_row_id: u64, tag: Vec<u8>) -> RowGroupMeta {
        RowGroupMeta { rows: self.rows, first_row_id, extent, tag, columns: self.columns }
    }
}

impl RowGroupBuilder {
    /// A builder for rows of these types.
    pub fn new(types: &[SqlType]) -> Self {
        Self { columns: types.iter().map(|ty| Column::new(*ty)).collect(), rows: 0 }
    }

    /// Rows collected.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Whether no row was collected.
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether the group takes no more rows and has to be finished.
    pub fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// How many rows the group takes yet.
    fn room(&self) -> usize {
        let text_bytes: usize = self.columns.iter().map(Column::text_bytes).sum();
        if text_bytes >= GROUP_TEXT_BYTES_MAX { 0 } else { GROUP_ROWS_MAX - self.rows }
    }

    /// Takes rows of a batch, whose columns are of the builder's types, from row `from`
    /// on; gives how many it took. Fewer than all when the group is full: finish it and
    /// go on with the rest.
    ///
    /// # Errors
    /// If the columns are others, or one's text exceeds 4 GiB.
    pub fn append(&mut self, batch: &Batch, from: usize) -> Result<usize> {
        if batch.columns.len() != self.columns.len() {
            return Err(self.wrong_count(batch.columns.len()));
        }
        self.append_steps(from, batch.rows, |column, index, rows| {
            column.append_vector(&batch.columns[index], rows.start, rows.end)
        })
    }

    /// As [`RowGroupBuilder::append`], from Arrow: arrays of the types' natural Arrow
    /// types or narrower ones.
    ///
    /// # Errors
    /// As [`RowGroupBuilder::append`]; also for a value that the type does not hold.
    pub fn append_arrow(&mut self, batch: &RecordBatch, from: usize) -> Result<usize> {
        if batch.num_columns() != self.columns.len() {
            return Err(self.wrong_count(batch.num_columns()));
        }
        self.append_steps(from, batch.num_rows(), |column, index, rows| {
            append_array(column, batch.column(index).as_ref(), rows.start, rows.end)
        })
    }

    /// Appends rows `from..to` a step at a time while there is room.
    fn append_steps(
        &mut self,
        from: usize,
        to: usize,
        append: impl Fn(&mut Column, usize, Range<usize>) -> Result<()>,
    ) -> Result<usize> {
        let mut next = from;
        while next < to && !self.is_full() {
            let count = (to - next).min(self.room()).min(ROWS_STEP);
            for (index, column) in self.columns.iter_mut().enumerate() {
                append(column, index, next..next + count)?;
            }
            self.rows += count;
            next += count;
        }
        Ok(next - from)
    }

    /// Takes one row; the group must not be full.
    ///
    /// # Errors
    /// If a value is not of its column's type, or the group is full.
    pub fn append_row(&mut self, row: &[Value]) -> Result<()> {
        if row.len() != self.columns.len() {
            return Err(self.wrong_count(row.len()));
        }
        if self.is_full() {
            return Err(SqlError::internal("a row for a full row group").into());
        }
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.append_value(value)?;
        }
        self.rows += 1;
        Ok(())
    }

    fn wrong_count(&self, found: usize) -> Error {
        let ty = self.columns.first().map_or(SqlType::Null, |column| column.ty);
        mismatch(ty, format!("{found} columns where there are {}", self.columns.len()))
    }

    /// The group of the rows taken; the builder is empty again, after an error to be dropped.
    ///
    /// # Errors
    /// If no row was taken.
    pub fn finish(&mut self) -> Result<EncodedGroup> {
        if self.rows == 0 {
            return Err(SqlError::internal("a row group without rows").into());
        }
        let (columns, rows) = (std::mem::take(&mut self.columns), std::mem::take(&mut self.rows));
        let mut bytes = Vec::new();
        let mut metas = Vec::with_capacity(columns.len());
        for mut column in columns {
            column.fill_front()?;
            bytes.resize(bytes.len().next_multiple_of(CHUNK_ALIGNMENT), 0);
            let offset = bytes.len();
            let encoded = encoding::encode(&column, &mut bytes);
            let chunk = &bytes[offset..];
            metas.push(ChunkMeta {
                offset: offset as u64,
                bytes: u32::try_from(chunk.len()).map_err(|_| mismatch(column.ty, "over 4 GiB"))?,
                checksum: xxh3_64(chunk),
                encoding: encoded.encoding,
                nulls: column.nulls as u32,
                distinct_estimate: encoded.distinct_estimate,
                min: encoded.min,
                max: encoded.max,
                sketch: encoded.sketch,
            });
            // The next group is likely to be as large.
            self.columns.push(column.sibling());
        }
        Ok(EncodedGroup { bytes, rows: rows as u32, columns: metas })
    }
}
