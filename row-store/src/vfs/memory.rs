//! Files in memory, for databases that need not last and for tests.
//!
//! A file is a list of fixed chunks, so that growing never copies what is there.

use super::{OpenMode, Vfs, VfsFile};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const CHUNK_BYTES: usize = 64 * 1024;

#[derive(Default)]
struct Content {
    chunks: Vec<Box<[u8]>>,
    bytes: u64,
}

impl Content {
    fn set_len(&mut self, bytes: u64) -> Result<()> {
        let count = usize::try_from(bytes.div_ceil(CHUNK_BYTES as u64)).map_err(|_| Error::Full)?;
        if bytes < self.bytes {
            self.chunks.truncate(count);
            let tail = (bytes % CHUNK_BYTES as u64) as usize;
            if tail != 0
                && let Some(last) = self.chunks.last_mut()
            {
                last[tail..].fill(0);
            }
        }
        while self.chunks.len() < count {
            self.chunks.push(vec![0; CHUNK_BYTES].into_boxed_slice());
        }
        self.bytes = bytes;
        Ok(())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let end = offset.checked_add(buffer.len() as u64).filter(|end| *end <= self.bytes);
        if end.is_none() {
            return Err(Error::Io { operation: "read", message: "read past the end of the file".into() });
        }
        let mut at = offset as usize;
        let mut rest = buffer;
        while !rest.is_empty() {
            let within = at % CHUNK_BYTES;
            let (now, later) = rest.split_at_mut(rest.len().min(CHUNK_BYTES - within));
            now.copy_from_slice(&self.chunks[at / CHUNK_BYTES][within..within + now.len()]);
            at += now.len();
            rest = later;
        }
        Ok(())
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let end = offset.checked_add(bytes.len() as u64).ok_or(Error::Full)?;
        if end > self.bytes {
            self.set_len(end)?;
        }
        let mut at = offset as usize;
        let mut rest = bytes;
        while !rest.is_empty() {
            let within = at % CHUNK_BYTES;
            let (now, later) = rest.split_at(rest.len().min(CHUNK_BYTES - within));
            self.chunks[at / CHUNK_BYTES][within..within + now.len()].copy_from_slice(now);
            at += now.len();
            rest = later;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Entry {
    content: Mutex<Content>,
    owners: Mutex<Owners>,
}

#[derive(Default)]
struct Owners {
    readers: u32,
    writer: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while one of these is held, so the content is whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file system in memory. Clones share the files.
#[derive(Clone, Default)]
pub struct MemoryVfs {
    files: Arc<Mutex<BTreeMap<String, Arc<Entry>>>>,
}

impl MemoryVfs {
    /// An empty file system.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a file there, as when importing a database; replaces one of the same name.
    pub fn insert(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let entry = Entry::default();
        lock(&entry.content).write_at(0, bytes)?;
        lock(&self.files).insert(name.to_owned(), Arc::new(entry));
        Ok(())
    }

    /// The bytes of a file.
    pub fn bytes(&self, name: &str) -> Result<Vec<u8>> {
        let entry = lock(&self.files).get(name).cloned().ok_or_else(|| Error::NotFound(name.to_owned()))?;
        let content = lock(&entry.content);
        let mut bytes = vec![0; content.bytes as usize];
        content.read_at(0, &mut bytes)?;
        Ok(bytes)
    }
}

impl Vfs for MemoryVfs {
    fn open(&self, name: &str, mode: OpenMode) -> Result<Box<dyn VfsFile>> {
        let mut files = lock(&self.files);
        let entry = match files.get(name) {
            Some(entry) => Arc::clone(entry),
            None if mode == OpenMode::Create => Arc::clone(files.entry(name.to_owned()).or_default()),
            None => return Err(Error::NotFound(name.to_owned())),
        };
        let mut owners = lock(&entry.owners);
        if owners.writer || (mode != OpenMode::ReadOnly && owners.readers > 0) {
            return Err(Error::Locked(name.to_owned()));
        }
        match mode {
            OpenMode::ReadOnly => owners.readers += 1,
            OpenMode::ReadWrite | OpenMode::Create => owners.writer = true,
        }
        drop(owners);
        Ok(Box::new(MemoryFile { entry, mode, open: true }))
    }

    fn delete(&self, name: &str) -> Result<()> {
        let mut files = lock(&self.files);
        let entry = files.get(name).ok_or_else(|| Error::NotFound(name.to_owned()))?;
        let owners = lock(&entry.owners);
        if owners.writer || owners.readers > 0 {
            return Err(Error::Locked(name.to_owned()));
        }
        drop(owners);
        files.remove(name);
        Ok(())
    }

    fn exists(&self, name: &str) -> Result<bool> {
        Ok(lock(&self.files).contains_key(name))
    }
}

struct MemoryFile {
    entry: Arc<Entry>,
    mode: OpenMode,
    open: bool,
}

impl MemoryFile {
    fn content(&self, writing: bool) -> Result<MutexGuard<'_, Content>> {
        if !self.open {
            return Err(Error::Closed);
        }
        if writing && self.mode == OpenMode::ReadOnly {
            return Err(Error::ReadOnly);
        }
        Ok(lock(&self.entry.content))
    }
}

impl VfsFile for MemoryFile {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.content(false)?.read_at(offset, buffer)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.content(true)?.write_at(offset, bytes)
    }

    fn len(&mut self) -> Result<u64> {
        Ok(self.content(false)?.bytes)
    }

    fn set_len(&mut self, bytes: u64) -> Result<()> {
        self.content(true)?.set_len(bytes)
    }

    fn sync(&mut self) -> Result<()> {
        self.content(false).map(drop)
    }

    fn close(&mut self) -> Result<()> {
        if self.open {
            self.open = false;
            let mut owners = lock(&self.entry.owners);
            match self.mode {
                OpenMode::ReadOnly => owners.readers -= 1,
                OpenMode::ReadWrite | OpenMode::Create => owners.writer = false,
            }
        }
        Ok(())
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        // Closing a file in memory cannot fail.
        let _ = self.close();
    }
}
