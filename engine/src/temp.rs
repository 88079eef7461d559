//! Where the temporary space of a database is: beside its file, and for a database in
//! memory or opened for reading in the system's folder for temporary files.

use crate::error::Result;
use gingham_column_store::execution::TempSpace;
use gingham_row_store::Vfs;
use std::sync::Arc;

/// Temporary space beside the database `name`, whose owner the caller is.
pub(crate) fn beside(vfs: Arc<dyn Vfs>, name: &str) -> Result<Arc<TempSpace>> {
    Ok(Arc::new(TempSpace::new(vfs, format!("{name}-temp"))?))
}

/// Temporary space of a database without a file of its own. In the browser there is none:
/// statements that need it fail with 53200.
#[cfg(target_arch = "wasm32")]
pub(crate) fn elsewhere() -> Result<Option<Arc<TempSpace>>> {
    Ok(None)
}

/// Temporary space of a database without a file of its own.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn elsewhere() -> Result<Option<Arc<TempSpace>>> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static OPENED: AtomicU64 = AtomicU64::new(0);
    let number = OPENED.fetch_add(1, Ordering::Relaxed);
    let name = format!("gingham-{}-{number}-temp", std::process::id());
    let space = TempSpace::new(Arc::new(TemporaryVfs::new(std::env::temp_dir())), name)?;
    Ok(Some(Arc::new(space)))
}

/// Files of the operating system that lose their name as soon as they are open, so that
/// no crash leaves one behind. Where the system does not allow that they are removed
/// when they are closed.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) struct TemporaryVfs {
    folder: std::path::PathBuf,
    files: gingham_row_store::NativeVfs,
}

#[cfg(not(target_arch = "wasm32"))]
impl TemporaryVfs {
    pub(crate) fn new(folder: impl Into<std::path::PathBuf>) -> Self {
        let folder = folder.into();
        Self { files: gingham_row_store::NativeVfs::new(&folder), folder }
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Vfs for TemporaryVfs {
    fn open(
        &self,
        name: &str,
        mode: gingham_row_store::OpenMode,
    ) -> gingham_row_store::Result<Box<dyn gingham_row_store::VfsFile>> {
        let file = self.files.open(name, mode)?;
        // A file that keeps its name is removed by `delete`.
        let _ = std::fs::remove_file(self.folder.join(name));
        Ok(file)
    }

    fn delete(&self, name: &str) -> gingham_row_store::Result<()> {
        self.files.delete(name)
    }

    fn exists(&self, name: &str) -> gingham_row_store::Result<bool> {
        self.files.exists(name)
    }
}
