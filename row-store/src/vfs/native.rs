//! Files of the operating system: positioned reads and writes, `fdatasync`, and the
//! system's advisory lock on the file itself for exclusive ownership.

use super::{OpenMode, Vfs, VfsFile};
use crate::{Error, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Files below one directory; a name is a path relative to it (or absolute).
#[derive(Clone, Debug)]
pub struct NativeVfs {
    directory: PathBuf,
}

impl NativeVfs {
    /// Files below `directory`, which must exist.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

fn convert(operation: &'static str, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::WriteZero => Error::Full,
        _ => Error::io(operation, error),
    }
}

/// Makes a file's directory entry durable; without it a new database could vanish.
fn sync_directory(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let directory = File::open(parent).map_err(|e| convert("open", &e))?;
        directory.sync_all().map_err(|e| convert("sync", &e))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

impl Vfs for NativeVfs {
    fn open(&self, name: &str, mode: OpenMode) -> Result<Box<dyn VfsFile>> {
        let path = self.path(name);
        let fresh = mode == OpenMode::Create && !path.exists();
        let opened = OpenOptions::new()
            .read(true)
            .write(mode != OpenMode::ReadOnly)
            .create(mode == OpenMode::Create)
            .truncate(false)
            .open(&path);
        let file = match opened {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound && mode != OpenMode::Create => {
                return Err(Error::NotFound(name.to_owned()));
            }
            Err(e) => return Err(convert("open", &e)),
        };
        let locked = if mode == OpenMode::ReadOnly { file.try_lock_shared() } else { file.try_lock() };
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Locked(name.to_owned())),
            Err(TryLockError::Error(e)) => return Err(convert("lock", &e)),
        }
        if fresh {
            sync_directory(&path)?;
        }
        Ok(Box::new(NativeFile { file: Some(file), read_only: mode == OpenMode::ReadOnly }))
    }

    fn delete(&self, name: &str) -> Result<()> {
        // Opening for writing proves that nobody else owns the file.
        let mut file = self.open(name, OpenMode::ReadWrite)?;
        let path = self.path(name);
        file.close()?;
        std::fs::remove_file(&path).map_err(|e| convert("delete", &e))?;
        sync_directory(&path)
    }

    fn exists(&self, name: &str) -> Result<bool> {
        self.path(name).try_exists().map_err(|e| convert("exists", &e))
    }
}

struct NativeFile {
    file: Option<File>,
    read_only: bool,
}

impl NativeFile {
    fn file(&self, writing: bool) -> Result<&File> {
        if writing && self.read_only {
            return Err(Error::ReadOnly);
        }
        self.file.as_ref().ok_or(Error::Closed)
    }
}

#[cfg(unix)]
fn read_all(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(unix)]
fn write_all(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_all(file: &File, mut offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        offset += count as u64;
        buffer = &mut buffer[count..];
    }
    Ok(())
}

#[cfg(windows)]
fn write_all(file: &File, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        offset += count as u64;
        bytes = &bytes[count..];
    }
    Ok(())
}

impl VfsFile for NativeFile {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        read_all(self.file(false)?, offset, buffer).map_err(|e| convert("read", &e))
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        write_all(self.file(true)?, offset, bytes).map_err(|e| convert("write", &e))
    }

    fn len(&mut self) -> Result<u64> {
        Ok(self.file(false)?.metadata().map_err(|e| convert("len", &e))?.len())
    }

    fn set_len(&mut self, bytes: u64) -> Result<()> {
        self.file(true)?.set_len(bytes).map_err(|e| convert("set_len", &e))
    }

    fn sync(&mut self) -> Result<()> {
        self.file(false)?.sync_data().map_err(|e| convert("sync", &e))
    }

    fn close(&mut self) -> Result<()> {
        // Dropping the file releases its lock.
        self.file = None;
        Ok(())
    }
}
