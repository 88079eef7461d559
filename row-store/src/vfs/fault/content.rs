//! A file's bytes as the simulated disk keeps them.

use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// A file's bytes in shared blocks, so that copies of a disk cost next to nothing.
#[derive(Clone, Default)]
pub(super) struct Content {
    blocks: Vec<Arc<[u8; BLOCK_BYTES]>>,
    pub(super) bytes: usize,
}

const BLOCK_BYTES: usize = 4096;

impl Content {
    pub(super) fn resize(&mut self, bytes: usize) {
        self.blocks.resize_with(bytes.div_ceil(BLOCK_BYTES), || Arc::new([0; BLOCK_BYTES]));
        let tail = bytes % BLOCK_BYTES;
        if bytes < self.bytes
            && tail != 0
            && let Some(last) = self.blocks.last_mut()
        {
            Arc::make_mut(last)[tail..].fill(0);
        }
        self.bytes = bytes;
    }

    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        if self.bytes < offset + bytes.len() {
            self.resize(offset + bytes.len());
        }
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let within = at % BLOCK_BYTES;
            let (now, later) = rest.split_at(rest.len().min(BLOCK_BYTES - within));
            Arc::make_mut(&mut self.blocks[at / BLOCK_BYTES])[within..within + now.len()].copy_from_slice(now);
            at += now.len();
            rest = later;
        }
    }

    pub(super) fn read(&self, offset: usize, buffer: &mut [u8]) -> Option<()> {
        offset.checked_add(buffer.len()).filter(|end| *end <= self.bytes)?;
        let (mut at, mut rest) = (offset, buffer);
        while !rest.is_empty() {
            let within = at % BLOCK_BYTES;
            let (now, later) = rest.split_at_mut(rest.len().min(BLOCK_BYTES - within));
            now.copy_from_slice(&self.blocks[at / BLOCK_BYTES][within..within + now.len()]);
            at += now.len();
            rest = later;
        }
        Some(())
    }

    pub(super) fn to_vec(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.blocks.iter().flat_map(|block| block.iter().copied()).collect();
        bytes.truncate(self.bytes);
        bytes
    }

    /// A number that differs between contents that differ, in all likelihood.
    pub(super) fn digest(&self) -> u64 {
        let mut hasher = Xxh3::new();
        self.blocks.iter().for_each(|block| hasher.update(block.as_slice()));
        hasher.update(&(self.bytes as u64).to_le_bytes());
        hasher.digest()
    }
}
