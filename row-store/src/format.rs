//! The file's layout: every offset, size and magic number, as `docs/FORMAT.md` has
//! them. All integers are little endian.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The version this program writes and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;

/// The first bytes of a meta slot; frozen for all versions, like the version after it.
pub const MAGIC: [u8; 8] = *b"GINGHAM\0";

/// Bytes in a page.
pub const PAGE_BYTES: usize = 8192;

/// The meta slots are pages 0 and 1; META-1 says which is written when.
pub const META_SLOTS: u32 = 2;

/// The first page of the log.
pub const LOG_FIRST_PAGE: u32 = META_SLOTS;

/// The smallest log: room for the epoch's start and one commit of half a page.
pub const LOG_PAGES_MIN: u32 = 2;

/// The largest log: 256 MiB. Opening reads all of it.
pub const LOG_PAGES_MAX: u32 = 32 * 1024;

/// No page: page 0 is a meta slot, so no tree, chain or run starts there.
pub const NO_PAGE: u32 = 0;

/// The most pages consecutive in one write: per-call overhead dominates in browsers,
/// and 1 MiB was where it stopped mattering.
pub const WRITE_PAGES_MAX: usize = (1 << 20) / PAGE_BYTES;

/// The longest key. An inner page holds at least seven cells of such keys.
pub const KEY_BYTES_MAX: usize = 1024;

/// The longest value: 1 GiB.
pub const VALUE_BYTES_MAX: usize = 1 << 30;

/// The most levels of a tree. Seven children a page reach past any page count.
pub const LEVELS_MAX: usize = 16;

/// Offsets in the header that all pages but meta slots and extents share.
pub mod page {
    /// u64: [`super::page_checksum`] over everything after it.
    pub const CHECKSUM: usize = 0;
    /// u8: one of [`super::kind`].
    pub const KIND: usize = 8;
    /// u8: levels below; 0 in a leaf and outside trees.
    pub const LEVEL: usize = 9;
    /// u16: cells, or entries of a directory or free list page.
    pub const COUNT: usize = 10;
    /// u16: where the lowest cell begins.
    pub const CONTENT_START: usize = 12;
    /// u16: bytes of removed cells above the content start.
    pub const GARBAGE: usize = 14;
    /// u16 offsets of cells, in key order; the page's body in other kinds.
    pub const SLOTS: usize = 16;
}

/// What a page is.
pub mod kind {
    /// Entries of a tree.
    pub const LEAF: u8 = 1;
    /// Children of a tree.
    pub const INNER: u8 = 2;
    /// Part of a value too large for its leaf.
    pub const OVERFLOW: u8 = 3;
    /// Roots of trees.
    pub const DIRECTORY: u8 = 4;
    /// Runs of free pages.
    pub const FREE_LIST: u8 = 5;
}

/// A leaf's cell: u16 key bytes, u16 value bytes, key, value.
pub mod leaf {
    /// u16: bytes in the key.
    pub const KEY_BYTES: usize = 0;
    /// u16: bytes in the value, or [`OVERFLOWS`].
    pub const VALUE_BYTES: usize = 2;
    /// Bytes before the key.
    pub const HEADER_BYTES: usize = 4;
    /// Stands for a value that is an overflow reference: u32 first page, u64 bytes.
    pub const OVERFLOWS: u16 = u16::MAX;
    /// Bytes of an overflow reference.
    pub const REFERENCE_BYTES: usize = 12;
    /// The largest cell with its value inline: four fit a page.
    pub const CELL_BYTES_MAX: usize = 2040;
}

/// An inner page's cell: u16 key bytes, u32 child, u64 entries below, separator key.
pub mod inner {
    /// u16: bytes in the separator. The first cell's separator is never looked at.
    pub const KEY_BYTES: usize = 0;
    /// u32: the child's page.
    pub const CHILD: usize = 2;
    /// u64: entries below the child.
    pub const ENTRIES: usize = 6;
    /// Bytes before the separator.
    pub const HEADER_BYTES: usize = 14;
}

/// An overflow page after the common header.
pub mod overflow {
    /// u32: the next page of the chain, or none.
    pub const NEXT: usize = 16;
    /// u32: bytes of the value in this page.
    pub const BYTES: usize = 20;
    /// The value's bytes.
    pub const DATA: usize = 24;
    /// The most of a value in one page.
    pub const DATA_BYTES_MAX: usize = super::PAGE_BYTES - DATA;
}

/// A directory page's entries: u32 tree, u32 root, u64 entries, u8 level, 3 unused.
pub mod directory {
    /// Bytes of an entry.
    pub const ENTRY_BYTES: usize = 20;
    /// Entries of a page.
    pub const ENTRIES_MAX: usize = (super::PAGE_BYTES - super::page::SLOTS) / ENTRY_BYTES;
}

/// A free list page's entries: u32 first page, u32 pages; ascending, never adjacent.
pub mod free_list {
    /// Bytes of an entry.
    pub const ENTRY_BYTES: usize = 8;
    /// Entries of a page.
    pub const ENTRIES_MAX: usize = (super::PAGE_BYTES - super::page::SLOTS) / ENTRY_BYTES;
}

/// A meta slot. All of it is in the first sector, so that it is torn nowhere.
pub mod meta {
    /// 8 bytes: [`super::MAGIC`].
    pub const MAGIC: usize = 0;
    /// u32: format version.
    pub const VERSION: usize = 8;
    /// u32: page size.
    pub const PAGE_BYTES: usize = 12;
    /// u64: xxh3 of the slot's [`BYTES`] with this field zero, seeded with the slot number.
    pub const CHECKSUM: usize = 16;
    /// u64: one more than the other slot's when written.
    pub const SEQUENCE: usize = 24;
    /// u64: the epoch whose log records follow this state.
    pub const EPOCH: usize = 32;
    /// u64: number of the newest commit in this state.
    pub const COMMIT_SEQUENCE: usize = 40;
    /// u32: pages of the log, which begins at page 2.
    pub const LOG_PAGES: usize = 48;
    /// u32: pages of the file that this state uses.
    pub const FILE_PAGES: usize = 52;
    /// u32: first page of the directory, or none.
    pub const DIRECTORY_FIRST: usize = 56;
    /// u32: consecutive pages of the directory.
    pub const DIRECTORY_PAGES: usize = 60;
    /// u32: trees in the directory.
    pub const TREES: usize = 64;
    /// u32: first page of the free list, or none.
    pub const FREE_FIRST: usize = 68;
    /// u32: consecutive pages of the free list.
    pub const FREE_PAGES: usize = 72;
    /// u32: runs in the free list.
    pub const FREE_RUNS: usize = 76;
    /// u32: the next tree number to give out.
    pub const NEXT_TREE: usize = 80;
    /// Bytes of a slot that are used.
    pub const BYTES: usize = 128;
}

/// A log record: this header, the payload, zeros up to a multiple of 8 bytes.
pub mod record {
    /// 4 bytes: [`MARK_BYTES`].
    pub const MARK: usize = 0;
    /// u32: bytes of payload.
    pub const PAYLOAD_BYTES: usize = 4;
    /// u64: xxh3 of header and payload with this field left out, seeded with the
    /// record's offset in the log.
    pub const CHECKSUM: usize = 8;
    /// u64: the epoch.
    pub const EPOCH: usize = 16;
    /// u64: the commit's number; that of the meta slot in an epoch's start.
    pub const SEQUENCE: usize = 24;
    /// u64: checksum of the record before; that of the meta slot in an epoch's start.
    pub const PREVIOUS: usize = 32;
    /// u64: commits up to this number were durable when the record was made.
    pub const DURABLE_BEFORE: usize = 40;
    /// u8: [`START`] or [`COMMIT`]; 7 unused bytes follow.
    pub const KIND: usize = 48;
    /// Bytes before the payload.
    pub const HEADER_BYTES: usize = 56;
    /// Records begin at multiples of this.
    pub const ALIGNMENT: usize = 8;
    /// What every record begins with.
    pub const MARK_BYTES: [u8; 4] = *b"GREC";
    /// The first record of an epoch.
    pub const START: u8 = 1;
    /// A commit.
    pub const COMMIT: u8 = 2;
}

/// The changes in a commit's payload. Numbers are LEB128; keys share a prefix with the
/// key before.
pub mod change {
    /// tree, shared key bytes, key bytes that follow, value bytes; then both.
    pub const PUT: u8 = 1;
    /// tree, shared key bytes, key bytes that follow; then those.
    pub const DELETE: u8 = 2;
    /// tree.
    pub const CREATE_TREE: u8 = 3;
    /// tree.
    pub const DROP_TREE: u8 = 4;
    /// tree.
    pub const CLEAR_TREE: u8 = 5;
    /// first page, pages.
    pub const ADD_EXTENT: u8 = 6;
    /// first page, pages.
    pub const FREE_EXTENT: u8 = 7;
    /// Added to [`PUT`] and [`DELETE`]: the tree is that of the change before.
    pub const SAME_TREE: u8 = 0x80;
}

/// Extents: content, then, if there is more than one block, a table of one u64 checksum
/// for each block, aligned to 8 bytes.
pub mod extent {
    /// Bytes under one checksum: small enough that reading one column's chunk reads
    /// little else, large enough that the table is 0.01 % of the content.
    pub const BLOCK_BYTES: usize = 64 * 1024;
    /// The largest extent: 1 GiB.
    pub const BYTES_MAX: usize = 1 << 30;
}

/// Reads a u16 at `at`.
#[inline]
pub fn get_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Reads a u32 at `at`.
#[inline]
pub fn get_u32(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

/// Reads a u64 at `at`.
#[inline]
pub fn get_u64(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Writes a u16 at `at`.
#[inline]
pub fn set_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

/// Writes a u32 at `at`.
#[inline]
pub fn set_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Writes a u64 at `at`.
#[inline]
pub fn set_u64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// The checksum of a page: xxh3 over all after the checksum field, seeded with the
/// page's number, so that a page written to the wrong place is found out.
pub fn page_checksum(bytes: &[u8; PAGE_BYTES], page: u32) -> u64 {
    xxh3_64_with_seed(&bytes[page::KIND..], u64::from(page))
}

/// The checksum of a block of an extent.
pub fn block_checksum(bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, 0)
}
