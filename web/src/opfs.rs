//! Files of the browser's origin private file system (OPFS).
//!
//! The file system opens files asynchronously and the engine is synchronous, so
//! JavaScript opens a constant number of access handles before the engine starts and
//! hands them in by name; it also closes them, even after a trap. Names are fixed for
//! the life of an [`OpfsVfs`]: a file "exists" once it was created or has bytes, and
//! deleting it empties it.
//!
//! Access handles are exclusive by nature, across tabs and workers. Handles are
//! JavaScript values, which stay on their thread; they live in a table of that thread
//! and files name them by number.

use gingham::{OpenMode, StoreError as Error, StoreResult as Result, Vfs, VfsFile};
use std::cell::RefCell;
use wasm_bindgen::JsValue;
use web_sys::{FileSystemReadWriteOptions, FileSystemSyncAccessHandle};

/// The most handles that one database may ask for (D-2).
pub(crate) const HANDLES_MAX: usize = 4;

struct Slot {
    name: String,
    handle: FileSystemSyncAccessHandle,
    /// Reused, so that a read or write makes no garbage.
    options: FileSystemReadWriteOptions,
    exists: bool,
    readers: u32,
    writer: bool,
    /// Whether the VFS is still there to open the file again.
    named: bool,
}

impl Slot {
    const fn in_use(&self) -> bool {
        self.named || self.writer || self.readers > 0
    }
}

thread_local! {
    /// Slots of all databases of this worker. A slot goes with the last that uses it: an
    /// open file outlives the VFS it was opened by.
    static SLOTS: RefCell<Vec<Option<Slot>>> = const { RefCell::new(Vec::new()) };
}

/// The files handed in for one database.
pub(crate) struct OpfsVfs {
    slots: Vec<usize>,
}

impl OpfsVfs {
    /// A file system of exactly these files. `handles` are open, in the order of `names`.
    pub(crate) fn new(names: Vec<String>, handles: Vec<FileSystemSyncAccessHandle>) -> Result<Self> {
        if names.len() != handles.len() || handles.len() > HANDLES_MAX {
            return Err(Error::TooLarge("the number of file handles"));
        }
        let mut slots = Vec::with_capacity(names.len());
        for (name, handle) in names.into_iter().zip(handles) {
            let exists = size_of_handle(&handle)? > 0;
            let options = FileSystemReadWriteOptions::new();
            let slot = Slot { name, handle, options, exists, readers: 0, writer: false, named: true };
            slots.push(SLOTS.with_borrow_mut(|table| {
                let free = table.iter().position(Option::is_none).unwrap_or_else(|| {
                    table.push(None);
                    table.len() - 1
                });
                table[free] = Some(slot);
                free
            }));
        }
        Ok(Self { slots })
    }

    fn find(&self, name: &str) -> Result<usize> {
        SLOTS.with_borrow(|table| {
            let is_named = |slot: &&usize| table[**slot].as_ref().is_some_and(|s| s.name == name);
            self.slots.iter().find(is_named).copied().ok_or_else(|| Error::NotFound(name.to_owned()))
        })
    }
}

impl Drop for OpfsVfs {
    fn drop(&mut self) {
        for index in &self.slots {
            release(*index, |slot| slot.named = false);
        }
    }
}

impl Vfs for OpfsVfs {
    fn open(&self, name: &str, mode: OpenMode) -> Result<Box<dyn VfsFile>> {
        let index = self.find(name)?;
        with_slot(index, |slot| {
            if !slot.exists && mode != OpenMode::Create {
                return Err(Error::NotFound(name.to_owned()));
            }
            if slot.writer || (mode != OpenMode::ReadOnly && slot.readers > 0) {
                return Err(Error::Locked(name.to_owned()));
            }
            if mode == OpenMode::ReadOnly {
                slot.readers += 1;
            } else {
                slot.writer = true;
            }
            slot.exists = true;
            Ok(Box::new(OpfsFile { slot: index, mode, open: true }) as Box<dyn VfsFile>)
        })
    }

    fn delete(&self, name: &str) -> Result<()> {
        with_slot(self.find(name)?, |slot| {
            if !slot.exists {
                return Err(Error::NotFound(name.to_owned()));
            }
            if slot.writer || slot.readers > 0 {
                return Err(Error::Locked(name.to_owned()));
            }
            slot.handle.truncate_with_u32(0).map_err(|e| convert("delete", &e))?;
            slot.handle.flush().map_err(|e| convert("delete", &e))?;
            slot.exists = false;
            Ok(())
        })
    }

    fn exists(&self, name: &str) -> Result<bool> {
        match self.find(name) {
            Ok(index) => with_slot(index, |slot| Ok(slot.exists)),
            Err(_) => Ok(false),
        }
    }
}

struct OpfsFile {
    slot: usize,
    mode: OpenMode,
    open: bool,
}

impl OpfsFile {
    fn with<T>(&self, writing: bool, body: impl FnOnce(&mut Slot) -> Result<T>) -> Result<T> {
        if !self.open {
            return Err(Error::Closed);
        }
        if writing && self.mode == OpenMode::ReadOnly {
            return Err(Error::ReadOnly);
        }
        with_slot(self.slot, body)
    }
}

impl VfsFile for OpfsFile {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.with(false, |slot| {
            slot.options.set_at(position(offset)?);
            let wanted = buffer.len() as f64;
            let count =
                slot.handle.read_with_u8_array_and_options(buffer, &slot.options).map_err(|e| convert("read", &e))?;
            if count == wanted {
                Ok(())
            } else {
                Err(io("read", format!("{count} of {wanted} bytes were read at {offset}")))
            }
        })
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.with(true, |slot| {
            slot.options.set_at(position(offset)?);
            let count =
                slot.handle.write_with_u8_array_and_options(bytes, &slot.options).map_err(|e| convert("write", &e))?;
            // A full quota shows as a count that is short or makes no sense.
            if count == bytes.len() as f64 { Ok(()) } else { Err(Error::Full) }
        })
    }

    fn len(&mut self) -> Result<u64> {
        self.with(false, |slot| size_of_handle(&slot.handle))
    }

    fn set_len(&mut self, bytes: u64) -> Result<()> {
        self.with(true, |slot| {
            slot.handle.truncate_with_f64(position(bytes)?).map_err(|e| convert("set_len", &e))?;
            // Extending past the quota has been seen to do nothing without an exception.
            if size_of_handle(&slot.handle)? == bytes { Ok(()) } else { Err(Error::Full) }
        })
    }

    fn sync(&mut self) -> Result<()> {
        self.with(false, |slot| slot.handle.flush().map_err(|e| convert("sync", &e)))
    }

    fn close(&mut self) -> Result<()> {
        if !self.open {
            return Ok(());
        }
        self.open = false;
        let mode = self.mode;
        release(self.slot, |slot| match mode {
            OpenMode::ReadOnly => slot.readers -= 1,
            OpenMode::ReadWrite | OpenMode::Create => slot.writer = false,
        });
        Ok(())
    }
}

impl Drop for OpfsFile {
    fn drop(&mut self) {
        // Giving up ownership cannot fail.
        let _ = self.close();
    }
}

/// Gives up one use of a slot, and the slot with the last of them.
fn release(index: usize, give_up: impl FnOnce(&mut Slot)) {
    SLOTS.with_borrow_mut(|table| {
        if let Some(slot) = table[index].as_mut() {
            give_up(slot);
            if !slot.in_use() {
                table[index] = None;
            }
        }
    });
}

fn with_slot<T>(index: usize, body: impl FnOnce(&mut Slot) -> Result<T>) -> Result<T> {
    SLOTS.with_borrow_mut(|table| body(table[index].as_mut().ok_or(Error::Closed)?))
}

fn size_of_handle(handle: &FileSystemSyncAccessHandle) -> Result<u64> {
    let size = handle.get_size().map_err(|e| convert("len", &e))?;
    // Files are smaller than 2^53 bytes, so that every size is exact.
    if size >= 0.0 && size.fract() == 0.0 {
        Ok(size as u64)
    } else {
        Err(io("len", format!("the browser gave the size {size}")))
    }
}

/// An offset as JavaScript counts: exact below 2^53, and taken modulo 2^64 far beyond.
fn position(offset: u64) -> Result<f64> {
    const EXACT_MAX: u64 = 1 << 53;
    if offset <= EXACT_MAX { Ok(offset as f64) } else { Err(Error::TooLarge("the offset in a file")) }
}

fn io(operation: &'static str, message: String) -> Error {
    Error::Io { operation, message }
}

/// A JavaScript exception as the kind that callers can act on.
fn convert(operation: &'static str, exception: &JsValue) -> Error {
    let text =
        |property: &str| js_sys::Reflect::get(exception, &JsValue::from_str(property)).ok().and_then(|v| v.as_string());
    let name = text("name").unwrap_or_default();
    if name == "QuotaExceededError" {
        return Error::Full;
    }
    let message = text("message").unwrap_or_else(|| format!("{exception:?}"));
    io(operation, if name.is_empty() { message } else { format!("{name}: {message}") })
}
