//! The reference to an extent: a run of pages that holds opaque bytes.

use crate::PageId;

/// Bytes of an encoded [`Extent`].
pub const EXTENT_REFERENCE_BYTES: usize = 24;

/// A run of consecutive pages written by `Transaction::write_extent`. Plain data: the
/// owner keeps it (encoded) in a record of a tree, in the same transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Extent {
    /// The first page.
    pub first_page: PageId,
    /// How many pages, checksum table included.
    pub pages: u32,
    /// Bytes of content.
    pub bytes: u64,
    /// Covers the content, by way of the checksum table where there is one.
    pub checksum: u64,
}

impl Extent {
    /// The fixed form, little endian: first page, pages, bytes, checksum.
    pub fn encode(&self) -> [u8; EXTENT_REFERENCE_BYTES] {
        let mut out = [0; EXTENT_REFERENCE_BYTES];
        out[0..4].copy_from_slice(&self.first_page.0.to_le_bytes());
        out[4..8].copy_from_slice(&self.pages.to_le_bytes());
        out[8..16].copy_from_slice(&self.bytes.to_le_bytes());
        out[16..24].copy_from_slice(&self.checksum.to_le_bytes());
        out
    }

    /// Reads the fixed form; `None` if there are not exactly that many bytes.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; EXTENT_REFERENCE_BYTES] = bytes.try_into().ok()?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        Some(Self { first_page: PageId(word(0)), pages: word(4), bytes: long(8), checksum: long(16) })
    }
}
