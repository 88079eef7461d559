//! Collecting the rows of one group and encoding them.

use super::meta::{ChunkMeta, RowGroupMeta};
use crate::Result;
use crate::vector::Batch;
use arrow_array::RecordBatch;
use gingham_row_store::Extent;
use gingham_types::{SqlType, Value};

/// Collects rows until a group is full. Holds one group's rows at most.
#[derive(Debug)]
pub struct RowGroupBuilder {
    types: Vec<SqlType>,
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
        Self { types: types.to_vec() }
    }

    /// Rows collected.
    pub fn rows(&self) -> usize {
        0
    }

    /// Whether the group takes no more rows and has to be finished.
    pub fn is_full(&self) -> bool {
        false
    }

    /// Takes rows of a batch, whose columns are of the builder's types, from row `from`
    /// on; gives how many it took. Fewer than all when the group is full: finish it and
    /// go on with the rest.
    pub fn append(&mut self, batch: &Batch, from: usize) -> Result<usize> {
        let _ = (batch, from, &self.types);
        Err(gingham_plan::SqlError::unsupported("building row groups").into())
    }

    /// As [`RowGroupBuilder::append`], from Arrow: arrays of the types' natural Arrow
    /// types or narrower ones.
    pub fn append_arrow(&mut self, batch: &RecordBatch, from: usize) -> Result<usize> {
        let _ = (batch, from);
        Err(gingham_plan::SqlError::unsupported("building row groups").into())
    }

    /// Takes one row; the group must not be full.
    pub fn append_row(&mut self, row: &[Value]) -> Result<()> {
        let _ = row;
        Err(gingham_plan::SqlError::unsupported("building row groups").into())
    }

    /// The group of the rows taken, which are at least one; the builder is empty again.
    pub fn finish(&mut self) -> Result<EncodedGroup> {
        Err(gingham_plan::SqlError::unsupported("building row groups").into())
    }
}
