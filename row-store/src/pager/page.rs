//! A page in memory, and the checks it passes before anything else looks at it.

use crate::format::{self, PAGE_BYTES, kind, page};
use crate::tree::node;
use crate::{Error, PageId, Result};

/// The bytes of a page.
pub(crate) type PageBytes = [u8; PAGE_BYTES];

/// One page's content, shared between the cache and readers.
#[derive(Clone)]
pub(crate) struct Page {
    pub(crate) bytes: PageBytes,
}

impl Page {
    pub(crate) fn empty(kind: u8, level: u8) -> Self {
        let mut bytes = [0; PAGE_BYTES];
        node::initialize(&mut bytes, kind, level);
        Self { bytes }
    }
}

/// Checks a page read from the file: PAGE-1, and that no offset or length in it leads
/// outside, so that the code of the trees may index freely.
pub(crate) fn verify(bytes: &PageBytes, id: PageId) -> Result<()> {
    let stored = format::get_u64(bytes, page::CHECKSUM);
    let computed = format::page_checksum(bytes, id.0);
    if stored != computed {
        return Err(Error::corrupt(id.0, format!("checksum is {stored:016x}, content has {computed:016x}")));
    }
    let what = match bytes[page::KIND] {
        kind::LEAF | kind::INNER => node::verify(bytes),
        kind::OVERFLOW => verify_overflow(bytes),
        kind::DIRECTORY => verify_entries(bytes, format::directory::ENTRIES_MAX),
        kind::FREE_LIST => verify_entries(bytes, format::free_list::ENTRIES_MAX),
        other => Err(format!("there is no page kind {other}")),
    };
    what.map_err(|what| Error::corrupt(id.0, what))
}

fn verify_overflow(bytes: &PageBytes) -> std::result::Result<(), String> {
    let length = format::get_u32(bytes, format::overflow::BYTES) as usize;
    if length == 0 || length > format::overflow::DATA_BYTES_MAX {
        return Err(format!("overflow page with {length} bytes"));
    }
    Ok(())
}

fn verify_entries(bytes: &PageBytes, entries_max: usize) -> std::result::Result<(), String> {
    let count = format::get_u16(bytes, page::COUNT) as usize;
    if count > entries_max {
        return Err(format!("{count} entries where {entries_max} fit"));
    }
    Ok(())
}
