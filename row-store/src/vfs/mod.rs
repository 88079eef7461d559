//! The seam to files: what the store asks of a place to keep bytes.
//!
//! Guarantees every implementation gives, checked by [`contract`]:
//! * `read_at` fills the whole buffer or fails; bytes beyond the end are an error.
//! * `write_at` writes the whole buffer or fails, and extends the file, the gap
//!   reading as zeros. A count that is short or makes no sense is [`Error::Full`].
//! * After `sync` returns, everything written and every length set before it is
//!   durable. Before that, each write may or may not have reached the device, wholly
//!   or in part, in any order. Bytes that were not written do not change.
//! * A file open for writing is owned exclusively: a second open is [`Error::Locked`]
//!   until the first is closed or dropped.

#[cfg(feature = "fault")]
pub mod contract;
#[cfg(feature = "fault")]
pub mod fault;
mod memory;
#[cfg(not(target_arch = "wasm32"))]
mod native;

pub use memory::MemoryVfs;
#[cfg(not(target_arch = "wasm32"))]
pub use native::NativeVfs;

#[allow(unused_imports, reason = "named by the documentation")]
use crate::Error;
use crate::Result;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Read an existing file; others may read it too.
    ReadOnly,
    /// Read and write an existing file, exclusively.
    ReadWrite,
    /// As [`OpenMode::ReadWrite`], making an empty file if there is none.
    Create,
}

/// A place where files are kept by name.
pub trait Vfs: Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Locked`] or [`Error::Io`].
    fn open(&self, name: &str, mode: OpenMode) -> Result<Box<dyn VfsFile>>;

    /// Removes a file.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none, [`Error::Locked`] while it is open.
    fn delete(&self, name: &str) -> Result<()>;

    /// Whether a file of this name exists.
    fn exists(&self, name: &str) -> Result<bool>;
}

/// An open file. Dropping it closes it.
pub trait VfsFile: Send {
    /// Fills `buffer` from `offset`.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// Writes all of `bytes` at `offset`.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()>;

    /// The file's length in bytes.
    fn len(&mut self) -> Result<u64>;

    /// Whether the file has no bytes.
    fn is_empty(&mut self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Cuts the file, or extends it with zeros.
    fn set_len(&mut self, bytes: u64) -> Result<()>;

    /// Makes everything before this call durable.
    fn sync(&mut self) -> Result<()>;

    /// Gives up ownership; every later operation fails. Closing twice is no error.
    fn close(&mut self) -> Result<()>;
}
