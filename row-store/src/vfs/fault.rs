//! A deterministic file system for tests: it remembers every write that no sync has
//! covered, and can lose any of them, tear them, or fail an operation on demand.
//!
//! Operations that change something (`write_at`, `set_len`, `sync`) are counted across
//! all files; a [`Fault`] strikes at one of them. After a crash every handle is dead
//! until [`FaultVfs::lose_power`] or [`FaultVfs::kill_process`] says what the next
//! process finds.

mod content;
mod fates;
mod random;

use self::content::Content;
pub use self::fates::fates;
pub use self::random::Random;
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
    /// A sync fails and what it should have covered is lost, though it can still be read
    /// and later syncs succeed, as on systems that drop pages they could not write. Other
    /// operations fail and do nothing.
    LostSync,
}

/// A change that no sync has covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsynced {
    /// Bytes written at an offset.
    Write {
        /// Where.
        offset: u64,
        /// What.
        bytes: Arc<[u8]>,
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
    /// Makes everything durable that no sync before has covered.
    fn sync(&mut self) {
        for change in std::mem::take(&mut self.unsynced) {
            apply(&mut self.durable, &change);
        }
    }

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
    /// What was found at each operation, if it is recorded.
    history: Option<Vec<Disk>>,
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

    /// Records what a crash at the operation that is going on would leave.
    fn record(&mut self) {
        if let Some(mut history) = self.history.take() {
            history.push(self.clone());
            self.history = Some(history);
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

    /// Records from here on, at each operation, what a crash there would leave.
    pub fn start_recording(&self) {
        self.disk().history = Some(Vec::new());
    }

    /// Ends the recording: a disk for each operation, in order, as [`Fault::Crash`] at it
    /// would have left it. Of all of them the next step is to lose power or to kill.
    pub fn stop_recording(&self) -> Vec<FaultVfs> {
        let history = self.disk().history.take().unwrap_or_default();
        history.into_iter().map(|disk| Self { disk: Arc::new(Mutex::new(disk)) }).collect()
    }

    /// A number that differs between disks whose files differ, in all likelihood: so that
    /// histories that end alike are looked at once. Unsynced changes count.
    pub fn digest(&self) -> u64 {
        let disk = self.disk();
        let of_file = |file: &FileState| file.durable.digest().rotate_left(1) ^ file.current.digest();
        disk.files.values().fold(0, |digest, file| digest.rotate_left(7) ^ of_file(file))
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
        self.disk().files.get(name).map(|file| file.current.to_vec()).unwrap_or_default()
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

fn apply(content: &mut Content, change: &Unsynced) {
    match change {
        Unsynced::Write { offset, bytes } => content.write(*offset as usize, bytes),
        Unsynced::SetLen(bytes) => content.resize(*bytes as usize),
    }
}

fn change(file: &mut FileState, change: Unsynced) {
    apply(&mut file.current, &change);
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
                Some(Fault::Error | Fault::Full | Fault::LostSync) => 0,
                Some(Fault::Short) => bytes.len() / 2,
                _ if full && grows => 0,
                _ => bytes.len(),
            };
            if written > 0 {
                change(file, Unsynced::Write { offset, bytes: bytes[..written].into() });
            }
            disk.record();
            match fault {
                Some(Fault::Crash) => Err(crashed()),
                Some(Fault::Error | Fault::LostSync) => Err(injected("write")),
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
                Some(Fault::Error | Fault::LostSync) => return Err(injected("set_len")),
                Some(Fault::Full | Fault::Short) => return Err(Error::Full),
                _ if full && bytes > file.current.bytes as u64 => return Err(Error::Full),
                _ => change(file, Unsynced::SetLen(bytes)),
            }
            disk.record();
            if fault == Some(Fault::Crash) { Err(crashed()) } else { Ok(()) }
        })
    }

    fn sync(&mut self) -> Result<()> {
        self.with(|disk, name| {
            let fault = disk.operate();
            disk.record();
            let file = file(disk, name)?;
            match fault {
                Some(Fault::Crash) => Err(crashed()),
                Some(Fault::Error) => Err(injected("sync")),
                Some(Fault::Full | Fault::Short) => Err(Error::Full),
                Some(Fault::LostSync) => {
                    file.unsynced.clear();
                    Err(injected("sync"))
                }
                Some(Fault::FullForever) | None => {
                    file.sync();
                    Ok(())
                }
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
