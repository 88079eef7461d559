//! Writing extents straight to free pages and reading them back, block by block
//! checked.

use crate::format::{PAGE_BYTES, WRITE_PAGES_MAX, block_checksum, extent::BLOCK_BYTES, extent::BYTES_MAX, get_u64};
use crate::state::State;
use crate::{Error, Extent, PageId, Result};
use std::sync::Arc;

/// Tables of checksums kept in memory at the most.
const TABLES_MAX: usize = 1024;

/// Bytes of the checksum table and of the whole extent; a single block has no table.
fn layout(bytes: u64) -> (u64, u64) {
    let blocks = bytes.div_ceil(BLOCK_BYTES as u64);
    if blocks > 1 {
        let table_at = bytes.next_multiple_of(8);
        (table_at, table_at + blocks * 8)
    } else {
        (bytes, bytes)
    }
}

fn page_count(bytes: u64) -> u32 {
    layout(bytes).1.div_ceil(PAGE_BYTES as u64).max(1) as u32
}

fn offset_of(extent: &Extent) -> u64 {
    u64::from(extent.first_page.0) * PAGE_BYTES as u64
}

impl State {
    /// Writes an extent of the running transaction.
    pub(crate) fn write_extent(&mut self, bytes: &[u8]) -> Result<Extent> {
        if bytes.len() > BYTES_MAX {
            return Err(Error::TooLarge("extent"));
        }
        self.sync_recovered().map_err(|error| self.note_sync_failure(error))?;
        let pages = page_count(bytes.len() as u64);
        let first = self.pager.allocate_extent(pages)?;
        let table: Vec<u8> = bytes.chunks(BLOCK_BYTES).flat_map(|block| block_checksum(block).to_le_bytes()).collect();
        let checksum = if table.len() > 8 { block_checksum(&table) } else { block_checksum(bytes) };
        let table = if table.len() > 8 { table.as_slice() } else { &[] };
        self.extents_unsynced = true;
        if let Err(error) = self.write_padded(first, pages, bytes, table) {
            self.pager.abandon_extent();
            return Err(error);
        }
        Ok(Extent { first_page: PageId(first), pages, bytes: bytes.len() as u64, checksum })
    }

    /// Writes content and table, padded to whole pages, at most 1 MiB a call. Whole
    /// parts of the content are written from where they are.
    fn write_padded(&mut self, first: u32, pages: u32, bytes: &[u8], table: &[u8]) -> Result<()> {
        const PART_BYTES: usize = WRITE_PAGES_MAX * PAGE_BYTES;
        let mut at = u64::from(first) * PAGE_BYTES as u64;
        let end = at + u64::from(pages) * PAGE_BYTES as u64;
        let (whole, rest) = bytes.split_at(bytes.len() / PART_BYTES * PART_BYTES);
        for part in whole.chunks(PART_BYTES) {
            self.pager.file.write_at(at, part)?;
            at += part.len() as u64;
        }
        let mut tail = rest.to_vec();
        if !table.is_empty() {
            tail.resize(rest.len().next_multiple_of(8), 0);
            tail.extend_from_slice(table);
        }
        tail.resize((end - at) as usize, 0);
        for part in tail.chunks(PART_BYTES) {
            self.pager.file.write_at(at, part)?;
            at += part.len() as u64;
        }
        Ok(())
    }

    /// Whether a reference could be one that [`State::write_extent`] gave out.
    pub(crate) fn check_extent(&self, extent: &Extent) -> Result<()> {
        let sound = extent.bytes <= BYTES_MAX as u64
            && extent.pages == page_count(extent.bytes)
            && self.pager.is_allocated(extent.first_page.0, extent.pages);
        if sound { Ok(()) } else { Err(Error::corrupt(extent.first_page.0, "there is no such extent")) }
    }

    /// Fills `buffer` from `offset` of an extent.
    pub(crate) fn read_extent(&mut self, extent: &Extent, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.check_extent(extent)?;
        let end = offset.checked_add(buffer.len() as u64).filter(|end| *end <= extent.bytes);
        let Some(end) = end else {
            return Err(Error::corrupt(extent.first_page.0, "read past the end of an extent"));
        };
        let table = self.extent_table(extent)?;
        let mut scratch = Vec::new();
        let mut at = offset;
        let mut rest = buffer;
        while at < end {
            let block = at / BLOCK_BYTES as u64;
            let block_start = block * BLOCK_BYTES as u64;
            let block_bytes = (extent.bytes - block_start).min(BLOCK_BYTES as u64) as usize;
            let within = (at - block_start) as usize;
            let (now, later) = rest.split_at_mut(rest.len().min(block_bytes - within));
            let file_at = offset_of(extent) + block_start;
            let found = if now.len() == block_bytes {
                self.pager.file.read_at(file_at, now)?;
                block_checksum(now)
            } else {
                scratch.resize(block_bytes, 0);
                self.pager.file.read_at(file_at, &mut scratch)?;
                now.copy_from_slice(&scratch[within..within + now.len()]);
                block_checksum(&scratch)
            };
            if table.get(block as usize) != Some(&found) {
                let page = extent.first_page.0 + (block_start / PAGE_BYTES as u64) as u32;
                return Err(Error::corrupt(page, "a block of an extent does not match its checksum"));
            }
            at += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// The checksums of an extent's blocks, themselves checked.
    fn extent_table(&mut self, extent: &Extent) -> Result<Arc<[u64]>> {
        if extent.bytes <= BLOCK_BYTES as u64 {
            return Ok(Arc::new([extent.checksum]));
        }
        let key = (extent.first_page.0, extent.checksum);
        if let Some(table) = self.extent_tables.get(&key) {
            return Ok(Arc::clone(table));
        }
        let (table_at, table_end) = layout(extent.bytes);
        let mut bytes = vec![0; (table_end - table_at) as usize];
        self.pager.file.read_at(offset_of(extent) + table_at, &mut bytes)?;
        if block_checksum(&bytes) != extent.checksum {
            return Err(Error::corrupt(extent.first_page.0, "an extent's table does not match its checksum"));
        }
        let table: Arc<[u64]> = bytes.chunks_exact(8).map(|word| get_u64(word, 0)).collect();
        if self.extent_tables.len() >= TABLES_MAX {
            self.extent_tables.clear();
        }
        self.extent_tables.insert(key, Arc::clone(&table));
        Ok(table)
    }
}
