//! The temporary file of a database and its free space.

use crate::storage::corrupt;
use crate::{Error, Result};
use gingham_row_store::{Error as StoreError, OpenMode, Vfs, VfsFile};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// Space is given out in multiples of this, a page of every device in use.
const UNIT_BYTES: u64 = 4096;

/// A file for rows that do not fit memory, made at first use. Shared by all queries of a
/// database.
pub struct TempSpace {
    vfs: Arc<dyn Vfs>,
    name: String,
    state: Mutex<State>,
    written: AtomicU64,
}

#[derive(Default)]
struct State {
    file: Option<Box<dyn VfsFile>>,
    closed: bool,
    /// Free ranges below `end`: where each begins and its bytes. No two touch.
    free: BTreeMap<u64, u64>,
    end: u64,
}

impl fmt::Debug for TempSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TempSpace").field("name", &self.name).field("written", &self.written).finish_non_exhaustive()
    }
}

impl TempSpace {
    /// Space in the file `name`, whose owner the caller is. What a crash left in it is
    /// removed.
    ///
    /// # Errors
    /// What the file system says; that there is no such file is no error.
    pub fn new(vfs: Arc<dyn Vfs>, name: String) -> Result<Self> {
        if vfs.exists(&name)? {
            vfs.delete(&name)?;
        }
        Ok(Self { vfs, name, state: Mutex::default(), written: AtomicU64::new(0) })
    }

    /// Bytes written since the database was opened.
    pub fn bytes_written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Bytes in use now.
    pub fn bytes_used(&self) -> u64 {
        let state = self.state();
        state.end - state.free.values().sum::<u64>()
    }

    /// Gives up and removes the file. What is still in it can no longer be read.
    pub fn close(&self) {
        let mut state = self.state();
        let made = state.file.take();
        *state = State { closed: true, ..State::default() };
        drop(made.map(|mut file| file.close()));
        // A file that stays is emptied when the database is opened the next time.
        let _ = self.vfs.delete(&self.name);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a block.
    pub(crate) fn write(self: &Arc<Self>, bytes: &[u8]) -> Result<Block> {
        let mut state = self.state();
        state.open(self)?;
        let offset = state.allocate(bytes.len() as u64);
        // From here on the block frees its space, also when writing it fails.
        let block = Block { space: Arc::clone(self), offset, bytes: bytes.len(), checksum: xxh3_64(bytes) };
        let written = state.file.as_mut().map_or(Err(StoreError::Closed), |file| file.write_at(offset, bytes));
        drop(state);
        written?;
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(block)
    }
}

impl Drop for TempSpace {
    fn drop(&mut self) {
        self.close();
    }
}

impl State {
    fn open(&mut self, space: &TempSpace) -> Result<()> {
        if self.closed {
            return Err(StoreError::Closed.into());
        }
        if self.file.is_none() {
            let mut file = space.vfs.open(&space.name, OpenMode::Create)?;
            file.set_len(0)?;
            self.file = Some(file);
        }
        Ok(())
    }

    /// The first free range that is large enough, else the end of the file.
    fn allocate(&mut self, bytes: u64) -> u64 {
        let bytes = bytes.next_multiple_of(UNIT_BYTES);
        let found = self.free.iter().find(|(_, free)| **free >= bytes).map(|(offset, free)| (*offset, *free));
        let Some((offset, free)) = found else {
            self.end += bytes;
            return self.end - bytes;
        };
        self.free.remove(&offset);
        if free > bytes {
            self.free.insert(offset + bytes, free - bytes);
        }
        offset
    }

    fn release(&mut self, offset: u64, bytes: u64) {
        let (mut from, mut to) = (offset, offset + bytes.next_multiple_of(UNIT_BYTES));
        if let Some((before, free)) = self.free.range(..from).next_back().map(|(at, free)| (*at, *free))
            && before + free == from
        {
            self.free.remove(&before);
            from = before;
        }
        if let Some(free) = self.free.remove(&to) {
            to += free;
        }
        if to < self.end {
            self.free.insert(from, to - from);
            return;
        }
        self.end = from;
        // Nobody uses the file: give the space back. A file that cannot be cut stays as
        // long as it is and is used again.
        if let (0, Some(file)) = (from, &mut self.file) {
            let _ = file.set_len(0);
        }
    }
}

/// Bytes in temporary space, whose space is free again when this is dropped.
pub(crate) struct Block {
    space: Arc<TempSpace>,
    offset: u64,
    bytes: usize,
    checksum: u64,
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block").field("offset", &self.offset).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Block {
    /// Reads the bytes into `out`, in place of what is there.
    pub(crate) fn read(&self, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        if out.try_reserve_exact(self.bytes).is_err() {
            return Err(Error::OutOfMemory { bytes_wanted: self.bytes as u64, bytes_max: isize::MAX as u64 });
        }
        out.resize(self.bytes, 0);
        let mut state = self.space.state();
        let file = state.file.as_mut().ok_or(StoreError::Closed)?;
        file.read_at(self.offset, out)?;
        if xxh3_64(out) != self.checksum {
            return Err(corrupt("temporary space gives other bytes than were written"));
        }
        Ok(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let mut state = self.space.state();
        if !state.closed {
            state.release(self.offset, self.bytes as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_row_store::MemoryVfs;

    fn space(vfs: &MemoryVfs) -> Arc<TempSpace> {
        Arc::new(TempSpace::new(Arc::new(vfs.clone()), "t".to_owned()).expect("there is no file"))
    }

    #[test]
    fn execution_temp_space_is_used_again_and_given_back() {
        let vfs = MemoryVfs::new();
        let space = space(&vfs);
        let mut blocks: Vec<Block> = (0..10u8).map(|v| space.write(&[v; 5000]).expect("room")).collect();
        assert_eq!(space.bytes_used(), 10 * 8192);
        let mut bytes = Vec::new();
        blocks[7].read(&mut bytes).expect("reads");
        assert_eq!(bytes, [7; 5000]);
        drop(blocks.drain(2..6));
        let again = space.write(&[9; 30_000]).expect("room");
        assert_eq!((again.offset, space.bytes_used()), (2 * 8192, 6 * 8192 + 32_768));
        drop((blocks, again));
        assert_eq!((space.bytes_used(), vfs.bytes("t").expect("is there").len()), (0, 0));
        drop(space);
        assert!(!vfs.exists("t").expect("answers"));
    }

    #[test]
    fn execution_temp_space_removes_what_a_crash_left() {
        let vfs = MemoryVfs::new();
        vfs.insert("t", &[1; 100]).expect("room");
        let space = space(&vfs);
        assert!(!vfs.exists("t").expect("answers"));
        let block = space.write(b"x").expect("room");
        space.close();
        let mut bytes = Vec::new();
        assert!(block.read(&mut bytes).is_err(), "a closed file cannot be read");
        assert!(space.write(b"x").is_err());
    }
}
