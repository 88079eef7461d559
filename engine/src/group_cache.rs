//! Decoded metadata of row groups, as much of it as its budget holds.

use crate::error::Result;
use gingham_column_store::storage::{ChunkMeta, RowGroupMeta};
use gingham_row_store::Extent;
use std::collections::HashMap;
use std::sync::Arc;

type Key = (Extent, Vec<u8>);

/// A cache in two generations: when the younger one has half of the budget it becomes the
/// older one, whose entries are forgotten unless they are asked for again.
#[derive(Debug)]
pub(crate) struct GroupCache {
    bytes_max: usize,
    young: HashMap<Key, Arc<RowGroupMeta>>,
    young_bytes: usize,
    old: HashMap<Key, Arc<RowGroupMeta>>,
}

impl GroupCache {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, young: HashMap::new(), young_bytes: 0, old: HashMap::new() }
    }

    /// The metadata of a group, decoded from `record` if it is not there.
    pub(crate) fn get(&mut self, extent: Extent, key: &[u8], record: &[u8]) -> Result<Arc<RowGroupMeta>> {
        let key = (extent, key.to_vec());
        if let Some(known) = self.young.get(&key) {
            return Ok(Arc::clone(known));
        }
        let meta = match self.old.remove(&key) {
            Some(meta) => meta,
            None => Arc::new(RowGroupMeta::decode(record)?),
        };
        // The record's length stands for what a column's bounds and sketch have apart.
        self.young_bytes +=
            size_of::<(Key, RowGroupMeta)>() + key.1.len() + record.len() + meta.columns.len() * size_of::<ChunkMeta>();
        if self.young_bytes * 2 > self.bytes_max {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young.insert(key, Arc::clone(&meta));
        Ok(meta)
    }
}
