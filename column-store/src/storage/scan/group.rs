//! A row group being scanned: its chunks, loaded when they are first needed.

use super::metrics::ScanMetrics;
use super::{ScanGroup, ScanRequest};
use crate::Result;
use crate::storage::bytes::{corrupt, reserve};
use crate::storage::cache::{ChunkCache, ChunkKey};
use crate::storage::chunk::{Chunk, TextCodes, Values};
use crate::storage::encoding;
use crate::storage::extent::ExtentReader;
use crate::storage::meta::ChunkMeta;
use crate::vector::Dictionary;
use gingham_types::{SqlType, Value};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Where chunks come from.
pub(super) struct ChunkSource<'r> {
    pub(super) reader: Rc<dyn ExtentReader + 'r>,
    pub(super) cache: Arc<ChunkCache>,
    pub(super) metrics: Arc<ScanMetrics>,
    /// Encoded chunks, one after the other: memory that was not used yet costs as much as reading into it.
    pub(super) buffer: RefCell<Vec<u8>>,
}

/// A group and the chunks loaded of it so far.
pub(super) struct OpenGroup {
    pub(super) group: ScanGroup,
    /// By table ordinal.
    chunks: Vec<Option<Arc<Chunk>>>,
}

impl OpenGroup {
    pub(super) fn new(group: ScanGroup, columns: usize) -> Self {
        Self { group, chunks: vec![None; columns] }
    }

    pub(super) fn rows(&self) -> usize {
        self.group.meta.rows as usize
    }

    /// The chunk of a column by table ordinal.
    pub(super) fn chunk(
        &mut self,
        ordinal: usize,
        request: &ScanRequest,
        source: &ChunkSource<'_>,
    ) -> Result<Arc<Chunk>> {
        if let Some(Some(chunk)) = self.chunks.get(ordinal) {
            return Ok(Arc::clone(chunk));
        }
        let ty = *request.types.get(ordinal).ok_or_else(|| corrupt(format!("there is no column {ordinal}")))?;
        let chunk = match self.group.meta.columns.get(ordinal) {
            Some(meta) => self.load(ordinal, meta, ty, source)?,
            None => Arc::new(added_later(ty, request.defaults.get(ordinal), self.rows())),
        };
        if let Some(slot) = self.chunks.get_mut(ordinal) {
            *slot = Some(Arc::clone(&chunk));
        }
        Ok(chunk)
    }

    fn load(&self, ordinal: usize, meta: &ChunkMeta, ty: SqlType, source: &ChunkSource<'_>) -> Result<Arc<Chunk>> {
        let key: ChunkKey = (self.group.meta.extent, ordinal as u32);
        if let Some(chunk) = source.cache.get(&key) {
            return Ok(chunk);
        }
        let mut buffer = source.buffer.borrow_mut();
        let length = meta.bytes as usize;
        if buffer.len() < length {
            *buffer = Vec::new();
            *buffer = reserve(length)?;
            buffer.resize(length, 0);
        }
        let bytes = &mut buffer[..length];
        source.reader.read(&self.group.meta.extent, meta.offset, bytes)?;
        source.metrics.add_chunks_read(1);
        source.metrics.add_bytes_read(u64::from(meta.bytes));
        if xxh3_64(bytes) != meta.checksum {
            return Err(corrupt(format!("column {ordinal} of a row group fails its checksum")));
        }
        let mut chunk = encoding::decode(bytes, ty, self.rows())?;
        if let Values::Text { dictionary, .. } = &mut chunk.values
            && dictionary.distinct()
        {
            *dictionary = source.cache.share(Arc::clone(dictionary));
        }
        let chunk = Arc::new(chunk);
        source.cache.insert(key, &chunk);
        Ok(chunk)
    }
}

/// What a column has in the rows of a group that was written before it was added.
fn added_later(ty: SqlType, default: Option<&Value>, rows: usize) -> Chunk {
    let text = |bytes: &[u8]| Values::Text {
        codes: TextCodes::Same,
        dictionary: Arc::new(Dictionary::new(vec![0, bytes.len() as u32], bytes.to_vec(), true)),
    };
    let values = match default {
        None | Some(Value::Null) => return Chunk::all_null(ty, rows),
        Some(Value::Text(value)) => text(value.as_bytes()),
        Some(Value::Blob(value)) => text(value),
        Some(value) => Values::Constant(value.clone()),
    };
    Chunk { ty, rows, values, validity: None }
}
