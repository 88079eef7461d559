//! Writing extents straight to free pages and reading them back, block by block
//! checked.

use crate::format::{PAGE_BYTES, WRITE_PAGES_MAX, block_checksum, extent::BLOCK_BYTES, extent::BYTES_MAX, get_u64};
use crate::state::State;
use crate::{Error, Extent, PageId, Result};
use std::sync::Arc;

/// Tables of checksums kept in memory at the most.
const TABLES_MAX: usize = 1024;

/// Most blocks read by one call: the call has a cost of its own in the browser.
const READ_BLOCKS_MAX: u64 = 16;

/// The blocks that were read last for the sake of a part of them. Chunks of a row group lie one
/// after the other and seldom end with a block, so that the next one begins in the last. The
/// memory serves one read after the other.
pub(crate) struct LastBlocks {
    /// None while they are being read.
    extent: Option<Extent>,
    first: u64,
    bytes: Vec<u8>,
}

impl LastBlocks {
    pub(crate) const fn new() -> Self {
        Self { extent: None, first: 0, bytes: Vec::new() }
    }

    /// What there is of an extent from an offset on.
    fn get(&self, extent: &Extent, at: u64) -> Option<&[u8]> {
        if self.extent.as_ref() != Some(extent) {
            return None;
        }
        let within = at.checked_sub(self.first * BLOCK_BYTES as u64)?;
        self.bytes.get(usize::try_from(within).ok()?..).filter(|bytes| !bytes.is_empty())
    }
}

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
        let mut at = offset;
        let mut rest = buffer;
        while at < end {
            let part = self.read_blocks(extent, &table, at, rest)?;
            at += part as u64;
            rest = &mut rest[part..];
        }
        Ok(())
    }

    /// Fills the front of `buffer` from `at` on, by one read at most; how much of it.
    fn read_blocks(&mut self, extent: &Extent, table: &[u64], at: u64, buffer: &mut [u8]) -> Result<usize> {
        const BLOCK: u64 = BLOCK_BYTES as u64;
        if let Some(found) = self.last_blocks.get(extent, at) {
            let part = buffer.len().min(found.len());
            buffer[..part].copy_from_slice(&found[..part]);
            return Ok(part);
        }
        let first = at / BLOCK;
        let start = first * BLOCK;
        let within = (at - start) as usize;
        let blocks = ((at + buffer.len() as u64).div_ceil(BLOCK) - first).min(READ_BLOCKS_MAX);
        let bytes = (((first + blocks) * BLOCK).min(extent.bytes) - start) as usize;
        let part = buffer.len().min(bytes - within);
        if part == bytes {
            self.read_checked(extent, table, first, &mut buffer[..part])?;
            return Ok(part);
        }
        self.last_blocks.extent = None;
        let mut found = std::mem::take(&mut self.last_blocks.bytes);
        found.resize(bytes, 0);
        self.read_checked(extent, table, first, &mut found)?;
        buffer[..part].copy_from_slice(&found[within..within + part]);
        self.last_blocks = LastBlocks { extent: Some(*extent), first, bytes: found };
        Ok(part)
    }

    /// Reads whole blocks and checks each.
    fn read_checked(&mut self, extent: &Extent, table: &[u64], first: u64, blocks: &mut [u8]) -> Result<()> {
        self.pager.file.read_at(offset_of(extent) + first * BLOCK_BYTES as u64, blocks)?;
        for (block, bytes) in (first..).zip(blocks.chunks(BLOCK_BYTES)) {
            if table.get(block as usize) != Some(&block_checksum(bytes)) {
                let page = extent.first_page.0 + (block * (BLOCK_BYTES / PAGE_BYTES) as u64) as u32;
                return Err(Error::corrupt(page, "a block of an extent does not match its checksum"));
            }
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
