//! A deterministic file system for tests: it remembers every write that no sync has
//! covered, and can lose any of them, tear them, or fail an operation on demand.
//!
//! Operations that change something (`write_at`, `set_len`, `sync`) are counted across
//! all files; a [`Fault`] strikes at one of them. After a crash every handle is dead
//! until [`FaultVfs::lose_power`] or [`FaultVfs::kill_process`] says what the next
//! process finds.

use super::{OpenMode, Vfs, VfsFile};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What happens at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process stops: a write is on its way but not covered, a sync covers nothing,
    /// and every later operation fails.
    Crash,
    /// The operation fails and does nothing.
    Error,
    /// A write writes its first half and reports the device full; others do nothing.
    Short,
    /// The operation reports the device full and does nothing.
    Full,
    /// From here on every operation that needs new space reports the device full.
    FullForever,
}

/// A change that no sync has covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsynced {
    /// Bytes written at an offset.
    Write {
        /// Where.
        offset: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// The length set.
    SetLen(u64),
}

/// What becomes of an unsynced change when power is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It reached the device.
    Keep,
    /// It did not.
    Drop,
    /// Of a write, only these sectors of 512 bytes, counted from its start, did.
    Sectors(Vec<usize>),
    /// Of a write, only the first bytes did.
    Prefix(usize),
}

/// Bytes that a device writes at once.
pub const SECTOR_BYTES: usize = 512;

/// A file's bytes in shared blocks, so that copies of a disk cost next to nothing.
#[derive(Clone, Default)]
struct Content {
    blocks: Vec<Arc<[u8; BLOCK_BYTES]>>,
    bytes: usize,
}

const BLOCK_BYTES: usize = 4096;

impl Content {
    fn resize(&mut self, bytes: usize) {
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

    fn write(&mut self, offset: usize, bytes: &[u8]) {
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

    fn read(&self, offset: usize, buffer: &mut [u8]) -> Option<()> {
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
}

#[derive(Clone, Default)]
struct FileState {
    durable: Content,
    /// What a process sees: the durable content with all unsynced changes.
    current: Content,
    unsynced: Vec<Unsynced>,
    readers: u32,
    writer: bool,
}

impl FileState {
    fn lose_power(&mut self, fate_of: &mut dyn FnMut(usize, &Unsynced) -> Fate) {
        for (index, change) in std::mem::take(&mut self.unsynced).iter().enumerate() {
            let fate = fate_of(index, change);
            match (change, fate) {
                (_, Fate::Drop) => {}
                (Unsynced::SetLen(bytes), _) => self.durable.resize(*bytes as usize),
                (Unsynced::Write { offset, bytes }, Fate::Keep) => {
                    self.durable.write(*offset as usize, bytes);
                }
                (Unsynced::Write { offset, bytes }, Fate::Prefix(length)) => {
                    self.durable.write(*offset as usize, &bytes[..length.min(bytes.len())]);
                }
                (Unsynced::Write { offset, bytes }, Fate::Sectors(sectors)) => {
                    for sector in sectors {
                        let start = (sector * SECTOR_BYTES).min(bytes.len());
                        let end = (start + SECTOR_BYTES).min(bytes.len());
                        self.durable.write(*offset as usize + start, &bytes[start..end]);
                    }
                }
            }
        }
        self.current = self.durable.clone();
    }
}

#[derive(Clone, Default)]
struct Disk {
    files: BTreeMap<String, FileState>,
    operations: u64,
    fault: Option<(u64, Fault)>,
    full: bool,
    dead: bool,
    /// Handles of earlier generations belong to processes that are gone.
    generation: u64,
}

impl Disk {
    /// Counts an operation; the fault that strikes it.
    fn operate(&mut self) -> Option<Fault> {
        let number = self.operations;
        self.operations += 1;
        match self.fault {
            Some((at, fault)) if at == number => {
                self.dead |= fault == Fault::Crash;
                self.full |= fault == Fault::FullForever;
                Some(fault)
            }
            _ => None,
        }
    }

    fn next_process(&mut self) {
        self.dead = false;
        self.full = false;
        self.fault = None;
        self.operations = 0;
        self.generation += 1;
        for file in self.files.values_mut() {
            (file.readers, file.writer) = (0, false);
        }
    }
}

/// See the module. Clones share the files; [`FaultVfs::fork`] copies them.
#[derive(Clone, Default)]
pub struct FaultVfs {
    disk: Arc<Mutex<Disk>>,
}

impl FaultVfs {
    /// No files, no faults.
    pub fn new() -> Self {
        Self::default()
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An independent copy, so that one history can end in many ways.
    pub fn fork(&self) -> Self {
        Self { disk: Arc::new(Mutex::new(self.disk().clone())) }
    }

    /// Lets a fault strike operation number `at`, counted from now.
    pub fn inject(&self, at: u64, fault: Fault) {
        let mut disk = self.disk();
        disk.operations = 0;
        disk.fault = Some((at, fault));
    }

    /// Operations since the last `inject` or the last process's end.
    pub fn operations(&self) -> u64 {
        self.disk().operations
    }

    /// Whether the fault has struck.
    pub fn has_struck(&self) -> bool {
        let disk = self.disk();
        disk.fault.is_some_and(|(at, _)| disk.operations > at)
    }

    /// The changes of a file that no sync has covered.
    pub fn unsynced(&self, name: &str) -> Vec<Unsynced> {
        self.disk().files.get(name).map(|file| file.unsynced.clone()).unwrap_or_default()
    }

    /// Power is lost: each unsynced change meets its fate, and the next process sees
    /// what is left.
    pub fn lose_power(&self, mut fate_of: impl FnMut(usize, &Unsynced) -> Fate) {
        let mut disk = self.disk();
        disk.files.values_mut().for_each(|file| file.lose_power(&mut fate_of));
        disk.next_process();
    }

    /// The process is killed but the system goes on: nothing is lost, and nothing more
    /// durable than before.
    pub fn kill_process(&self) {
        self.disk().next_process();
    }

    /// The bytes of a file as a process sees them.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        let current = self.disk().files.get(name).map(|file| file.current.clone()).unwrap_or_default();
        let mut bytes: Vec<u8> = current.blocks.iter().flat_map(|block| block.iter().copied()).collect();
        bytes.truncate(current.bytes);
        bytes
    }

    /// Replaces a file's bytes, durably.
    pub fn set_bytes(&self, name: &str, bytes: &[u8]) {
        let mut content = Content::default();
        content.write(0, bytes);
        let state = FileState { durable: content.clone(), current: content, ..FileState::default() };
        self.disk().files.insert(name.to_owned(), state);
    }
}

fn crashed() -> Error {
    Error::Io { operation: "crash", message: "the simulated process has ended".into() }
}

fn injected(operation: &'static str) -> Error {
    Error::Io { operation, message: "injected".into() }
}

impl Vfs for FaultVfs {
    fn open(&self, name: &str, mode: OpenMode) -> Result<Box<dyn VfsFile>> {
        let mut disk = self.disk();
        if disk.dead {
            return Err(crashed());
        }
        if mode == OpenMode::Create {
            disk.files.entry(name.to_owned()).or_default();
        }
        let generation = disk.generation;
        let file = disk.files.get_mut(name).ok_or_else(|| Error::NotFound(name.to_owned()))?;
        if file.writer || (mode != OpenMode::ReadOnly && file.readers > 0) {
            return Err(Error::Locked(name.to_owned()));
        }
        match mode {
            OpenMode::ReadOnly => file.readers += 1,
            OpenMode::ReadWrite | OpenMode::Create => file.writer = true,
        }
        Ok(Box::new(FaultFile { disk: Arc::clone(&self.disk), name: name.to_owned(), mode, generation, open: true }))
    }

    fn delete(&self, name: &str) -> Result<()> {
        let mut disk = self.disk();
        let file = disk.files.get(name).ok_or_else(|| Error::NotFound(name.to_owned()))?;
        if file.writer || file.readers > 0 {
            return Err(Error::Locked(name.to_owned()));
        }
        disk.files.remove(name);
        Ok(())
    }

    fn exists(&self, name: &str) -> Result<bool> {
        Ok(self.disk().files.contains_key(name))
    }
}

struct FaultFile {
    disk: Arc<Mutex<Disk>>,
    name: String,
    mode: OpenMode,
    generation: u64,
    open: bool,
}

impl FaultFile {
    /// Runs `operation` on the file, if its process is still there.
    fn with<T>(&self, operation: impl FnOnce(&mut Disk, &str) -> Result<T>) -> Result<T> {
        let mut disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.open {
            return Err(Error::Closed);
        }
        if disk.dead || disk.generation != self.generation {
            return Err(crashed());
        }
        operation(&mut disk, &self.name)
    }

    fn writable(&self) -> Result<()> {
        if self.open && self.mode == OpenMode::ReadOnly { Err(Error::ReadOnly) } else { Ok(()) }
    }
}

fn file<'a>(disk: &'a mut Disk, name: &str) -> Result<&'a mut FileState> {
    disk.files.get_mut(name).ok_or_else(|| Error::NotFound(name.to_owned()))
}

fn change(file: &mut FileState, change: Unsynced) {
    match &change {
        Unsynced::Write { offset, bytes } => file.current.write(*offset as usize, bytes),
        Unsynced::SetLen(bytes) => file.current.resize(*bytes as usize),
    }
    file.unsynced.push(change);
}

impl VfsFile for FaultFile {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.with(|disk, name| {
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            file(disk, name)?
                .current
                .read(start, buffer)
                .ok_or_else(|| Error::Io { operation: "read", message: "read past the end of the file".into() })
        })
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.writable()?;
        self.with(|disk, name| {
            let fault = disk.operate();
            let full = disk.full;
            let file = file(disk, name)?;
            let grows = offset + bytes.len() as u64 > file.current.bytes as u64;
            let written = match fault {
                Some(Fault::Error | Fault::Full) => 0,
                Some(Fault::Short) => bytes.len() / 2,
                _ if full && grows => 0,
                _ => bytes.len(),
            };
            if written > 0 {
                change(file, Unsynced::Write { offset, bytes: bytes[..written].to_vec() });
            }
            match fault {
                Some(Fault::Crash) => Err(crashed()),
                Some(Fault::Error) => Err(injected("write")),
                _ if written < bytes.len() => Err(Error::Full),
                _ => Ok(()),
            }
        })
    }

    fn len(&mut self) -> Result<u64> {
        self.with(|disk, name| Ok(file(disk, name)?.current.bytes as u64))
    }

    fn set_len(&mut self, bytes: u64) -> Result<()> {
        self.writable()?;
        self.with(|disk, name| {
            let fault = disk.operate();
            let full = disk.full;
            let file = file(disk, name)?;
            match fault {
                Some(Fault::Error) => return Err(injected("set_len")),
                Some(Fault::Full | Fault::Short) => return Err(Error::Full),
                _ if full && bytes > file.current.bytes as u64 => return Err(Error::Full),
                _ => change(file, Unsynced::SetLen(bytes)),
            }
            if fault == Some(Fault::Crash) { Err(crashed()) } else { Ok(()) }
        })
    }

    fn sync(&mut self) -> Result<()> {
        self.with(|disk, name| match disk.operate() {
            Some(Fault::Crash) => Err(crashed()),
            Some(Fault::Error) => Err(injected("sync")),
            Some(Fault::Full | Fault::Short) => Err(Error::Full),
            Some(Fault::FullForever) | None => {
                let file = file(disk, name)?;
                file.unsynced.clear();
                file.durable = file.current.clone();
                Ok(())
            }
        })
    }

    fn close(&mut self) -> Result<()> {
        if self.open {
            self.open = false;
            let mut disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
            if disk.generation == self.generation
                && let Some(file) = disk.files.get_mut(&self.name)
            {
                match self.mode {
                    OpenMode::ReadOnly => file.readers -= 1,
                    OpenMode::ReadWrite | OpenMode::Create => file.writer = false,
                }
            }
        }
        Ok(())
    }
}

impl Drop for FaultFile {
    fn drop(&mut self) {
        // Closing cannot fail.
        let _ = self.close();
    }
}
