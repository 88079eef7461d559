//! Single rows of a group by position, for look-ups by a key.

use super::group::{ChunkSource, OpenGroup};
use super::materialize::{RowSet, materialize};
use super::metrics::ScanMetrics;
use super::{ScanGroup, ScanRequest};
use crate::Result;
use crate::storage::bytes::corrupt;
use crate::storage::{ChunkCache, ExtentReader, RowGroupMeta};
use crate::vector::Batch;
use gingham_row_store::Extent;
use gingham_types::SqlType;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

struct Borrowed<'r>(&'r dyn ExtentReader);

impl ExtentReader for Borrowed<'_> {
    fn read(&self, extent: &Extent, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.0.read(extent, offset, buffer)
    }
}

/// The rows at `positions`, ascending, of one group: a batch of `columns` (ordinals in a
/// table of these `types`). Loads only the chunks of those columns, by way of the cache.
///
/// # Errors
/// Damaged data, or a position that the group does not have.
pub fn read_rows(
    meta: &Arc<RowGroupMeta>,
    positions: &[u32],
    types: &[SqlType],
    columns: &[usize],
    reader: &dyn ExtentReader,
    cache: &Arc<ChunkCache>,
) -> Result<Batch> {
    if positions.iter().any(|position| *position >= meta.rows) {
        return Err(corrupt(format!("a row group of {} rows is asked for a later one", meta.rows)));
    }
    let request = ScanRequest { types: types.to_vec(), ..ScanRequest::default() };
    let source = ChunkSource {
        reader: Rc::new(Borrowed(reader)),
        cache: Arc::clone(cache),
        metrics: Arc::new(ScanMetrics::default()),
        buffer: RefCell::default(),
    };
    let mut open = OpenGroup::new(ScanGroup { meta: Arc::clone(meta), deleted: None }, types.len());
    let rows = RowSet::of(positions);
    let vectors = columns
        .iter()
        .map(|ordinal| Ok(Arc::new(materialize(&*open.chunk(*ordinal, &request, &source)?, &rows))))
        .collect::<Result<Vec<_>>>()?;
    Ok(Batch::new(vectors, positions.len()))
}
