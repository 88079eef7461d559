//! The seam to where chunks are kept.

use crate::Result;
use gingham_row_store::Extent;

/// Reads extents of one snapshot. The row store's snapshots and transactions are such
/// readers; tests and benches have one in memory.
pub trait ExtentReader {
    /// Fills `buffer` from `offset` of an extent's content.
    ///
    /// # Errors
    /// When the extent is damaged or shorter.
    fn read(&self, extent: &Extent, offset: u64, buffer: &mut [u8]) -> Result<()>;
}

impl<T: gingham_row_store::Read> ExtentReader for T {
    fn read(&self, extent: &Extent, offset: u64, buffer: &mut [u8]) -> Result<()> {
        Ok(self.read_extent(extent, offset, buffer)?)
    }
}
