//! The meta slots: which checkpoint is the newest, and where it begins.

use crate::format::{
    FORMAT_VERSION, LOG_PAGES_MAX, LOG_PAGES_MIN, MAGIC, META_SLOTS, PAGE_BYTES, get_u32, get_u64, meta, set_u32,
    set_u64,
};
use crate::pager::StoreFile;
use crate::{Error, Result, mutation};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What a meta slot says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) sequence: u64,
    pub(crate) epoch: u64,
    pub(crate) commit_sequence: u64,
    pub(crate) log_pages: u32,
    pub(crate) file_pages: u32,
    pub(crate) directory_first: u32,
    pub(crate) directory_pages: u32,
    pub(crate) trees: u32,
    pub(crate) free_first: u32,
    pub(crate) free_pages: u32,
    pub(crate) free_runs: u32,
    pub(crate) next_tree: u32,
    /// The slot's checksum, with which the epoch's log begins.
    pub(crate) checksum: u64,
}

impl Meta {
    pub(crate) fn log_bytes(&self) -> u64 {
        u64::from(self.log_pages) * PAGE_BYTES as u64
    }

    /// The first page behind the log.
    pub(crate) fn data_first(&self) -> u32 {
        META_SLOTS + self.log_pages
    }

    /// The slot this meta belongs into: META-1.
    fn slot(&self) -> u32 {
        if mutation::is_active("meta slots alternate") { 0 } else { (self.sequence % u64::from(META_SLOTS)) as u32 }
    }

    /// Writes the slot and sets the checksum.
    pub(crate) fn write(&mut self, file: &mut StoreFile) -> Result<()> {
        let mut bytes = [0; meta::BYTES];
        bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
        set_u32(&mut bytes, meta::VERSION, FORMAT_VERSION);
        set_u32(&mut bytes, meta::PAGE_BYTES, PAGE_BYTES as u32);
        set_u64(&mut bytes, meta::SEQUENCE, self.sequence);
        set_u64(&mut bytes, meta::EPOCH, self.epoch);
        set_u64(&mut bytes, meta::COMMIT_SEQUENCE, self.commit_sequence);
        set_u32(&mut bytes, meta::LOG_PAGES, self.log_pages);
        set_u32(&mut bytes, meta::FILE_PAGES, self.file_pages);
        set_u32(&mut bytes, meta::DIRECTORY_FIRST, self.directory_first);
        set_u32(&mut bytes, meta::DIRECTORY_PAGES, self.directory_pages);
        set_u32(&mut bytes, meta::TREES, self.trees);
        set_u32(&mut bytes, meta::FREE_FIRST, self.free_first);
        set_u32(&mut bytes, meta::FREE_PAGES, self.free_pages);
        set_u32(&mut bytes, meta::FREE_RUNS, self.free_runs);
        set_u32(&mut bytes, meta::NEXT_TREE, self.next_tree);
        self.checksum = xxh3_64_with_seed(&bytes, u64::from(self.slot()));
        set_u64(&mut bytes, meta::CHECKSUM, self.checksum);
        file.write_at(u64::from(self.slot()) * PAGE_BYTES as u64, &bytes)
    }

    /// Reads a slot's bytes; `None` if they are not whole.
    fn decode(bytes: &[u8; meta::BYTES], slot: u32) -> Option<Self> {
        let mut without = *bytes;
        set_u64(&mut without, meta::CHECKSUM, 0);
        let checksum = get_u64(bytes, meta::CHECKSUM);
        if checksum != xxh3_64_with_seed(&without, u64::from(slot)) {
            return None;
        }
        let found = Self {
            sequence: get_u64(bytes, meta::SEQUENCE),
            epoch: get_u64(bytes, meta::EPOCH),
            commit_sequence: get_u64(bytes, meta::COMMIT_SEQUENCE),
            log_pages: get_u32(bytes, meta::LOG_PAGES),
            file_pages: get_u32(bytes, meta::FILE_PAGES),
            directory_first: get_u32(bytes, meta::DIRECTORY_FIRST),
            directory_pages: get_u32(bytes, meta::DIRECTORY_PAGES),
            trees: get_u32(bytes, meta::TREES),
            free_first: get_u32(bytes, meta::FREE_FIRST),
            free_pages: get_u32(bytes, meta::FREE_PAGES),
            free_runs: get_u32(bytes, meta::FREE_RUNS),
            next_tree: get_u32(bytes, meta::NEXT_TREE),
            checksum,
        };
        let whole = get_u32(bytes, meta::PAGE_BYTES) as usize == PAGE_BYTES
            && (LOG_PAGES_MIN..=LOG_PAGES_MAX).contains(&found.log_pages)
            && found.file_pages >= found.data_first()
            && found.slot() == slot;
        whole.then_some(found)
    }
}

/// Reads both slots and returns the newest whole one (REC-1).
///
/// # Errors
/// [`Error::NotADatabase`], [`Error::NewerVersion`] or [`Error::Corrupt`].
pub(crate) fn read_newest(file: &mut StoreFile) -> Result<Meta> {
    let length = file.len()?;
    let mut newest: Option<Meta> = None;
    let mut magic = false;
    for slot in 0..META_SLOTS {
        let mut bytes = [0; meta::BYTES];
        let at = u64::from(slot) * PAGE_BYTES as u64;
        if at + meta::BYTES as u64 > length {
            continue;
        }
        file.read_at(at, &mut bytes)?;
        if bytes[..MAGIC.len()] != MAGIC {
            continue;
        }
        magic = true;
        let version = get_u32(&bytes, meta::VERSION);
        if version > FORMAT_VERSION {
            return Err(Error::NewerVersion { found: version, supported: FORMAT_VERSION });
        }
        if let Some(found) = Meta::decode(&bytes, slot)
            && newest.is_none_or(|newest| found.sequence > newest.sequence)
        {
            newest = Some(found);
        }
    }
    match newest {
        Some(newest) if u64::from(newest.file_pages) * PAGE_BYTES as u64 > length => Err(Error::corrupt(
            newest.slot(),
            format!("the file has {length} bytes, but {} pages are in use", newest.file_pages),
        )),
        Some(newest) => Ok(newest),
        None if magic => Err(Error::corrupt(0, "neither meta slot is whole")),
        None => Err(Error::NotADatabase),
    }
}
