//! The pager: pages in memory by number, which of them the running transaction may
//! change in place, which are free, and the file they come from.
//!
//! Pages are copied on write. Each page in memory knows the version it was born at; a
//! writer changes a page in place only if it was born after the newest state anybody
//! else can see (ALLOC-3), else it copies it to another number. Changed pages stay in
//! memory until a checkpoint writes them; clean ones are evicted past a budget.

mod allocation;
mod file;
mod holders;
mod load;
mod page;
mod runs;

pub(crate) use allocation::{Journal, JournalMarks};
pub(crate) use file::StoreFile;
pub(crate) use holders::{Freed, HolderKind, Holders};
pub(crate) use page::{Page, PageBytes, verify};
pub(crate) use runs::RunSet;

use crate::format::{self, PAGE_BYTES, WRITE_PAGES_MAX};
use crate::{Error, PageId, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// What is known about one page of the file.
#[derive(Clone)]
struct Slot {
    page: Option<Arc<Page>>,
    /// Read along with a neighbour, and not verified yet: nothing but [`Pager::load`] may
    /// look at it. There is none where there is a page.
    ahead: Option<Arc<Page>>,
    /// The version the page was born at; 0 for pages older than this opening.
    born: u64,
    /// The file lacks this content.
    dirty: bool,
    /// Freed, and kept only for holders: never worth writing.
    doomed: bool,
    /// The file has content of this life of the page.
    on_disk: bool,
    /// Used since the eviction hand last came by.
    referenced: bool,
}

/// Pages that memory is reserved for at once: 1 MiB at the least, and an eighth of what there
/// is up to 8 MiB.
const RESERVED_PAGES_MIN: usize = (1 << 20) / PAGE_BYTES;
const RESERVED_PAGES_MAX: usize = (8 << 20) / PAGE_BYTES;

const UNKNOWN: Slot =
    Slot { page: None, ahead: None, born: 0, dirty: false, doomed: false, on_disk: true, referenced: false };

/// See the module.
pub(crate) struct Pager {
    pub(crate) file: StoreFile,
    slots: Vec<Slot>,
    free: RunSet,
    /// One past the last page that was ever used.
    high_water: u32,
    /// The first page behind the log.
    data_first: u32,
    pub(crate) holders: Holders,
    /// The version that pages born now get.
    clock: u64,
    /// Pages born after this version may be changed in place.
    writable_after: u64,
    pub(crate) journal: Journal,
    /// Extents written since the newest checkpoint: first page to pages and version.
    extent_births: HashMap<u32, (u32, u64)>,
    cached_pages: usize,
    /// Changed pages that a checkpoint has to write.
    dirty_pages: usize,
    /// Changed pages that are doomed: only memory has them, for as long as they are held.
    doomed_pages: usize,
    clean_pages_max: usize,
    /// Past this a chain that is made is written early.
    pub(crate) dirty_bytes_max: u64,
    hand: usize,
    /// Pages that memory was last asked for at once.
    pages_reserved: usize,
    pub(crate) page_reads: u64,
    /// Whether neighbours may be read along: the free pages are known.
    pub(super) reads_ahead: bool,
    /// One past the last page that was read from the file.
    read_end: u32,
    /// Where pages that are read along with others arrive; kept for its memory.
    read_buffer: Vec<u8>,
}

impl Pager {
    /// A pager over pages `data_first..high_water`, of which `free` are free.
    pub(crate) fn new(file: StoreFile, data_first: u32, high_water: u32, free: RunSet, cache_bytes_max: usize) -> Self {
        Self {
            file,
            slots: Vec::new(),
            free,
            high_water,
            data_first,
            holders: Holders::default(),
            clock: 1,
            writable_after: 0,
            journal: Journal::default(),
            extent_births: HashMap::new(),
            cached_pages: 0,
            dirty_pages: 0,
            doomed_pages: 0,
            // A few pages at the least: a path is looked at as a whole.
            clean_pages_max: (cache_bytes_max / PAGE_BYTES).max(64),
            dirty_bytes_max: u64::MAX,
            hand: 0,
            pages_reserved: 0,
            page_reads: 0,
            reads_ahead: false,
            read_end: 0,
            read_buffer: Vec::new(),
        }
    }

    /// The free pages, once they have been read.
    pub(crate) fn set_free(&mut self, free: RunSet) {
        self.free = free;
        self.reads_ahead = true;
    }

    pub(crate) fn cached_bytes(&self) -> u64 {
        self.cached_pages as u64 * PAGE_BYTES as u64
    }

    pub(crate) fn dirty_bytes(&self) -> u64 {
        self.dirty_pages as u64 * PAGE_BYTES as u64
    }

    /// Notes that a page is freed but kept for holders, or no longer so.
    fn set_doomed(&mut self, id: PageId, doomed: bool) {
        let slot = self.slot_mut(id);
        if slot.doomed != doomed {
            slot.doomed = doomed;
            if slot.dirty && doomed {
                self.dirty_pages -= 1;
                self.doomed_pages += 1;
            } else if slot.dirty {
                self.dirty_pages += 1;
                self.doomed_pages -= 1;
            }
        }
    }

    fn slot_mut(&mut self, id: PageId) -> &mut Slot {
        let index = id.0 as usize;
        if index >= self.slots.len() {
            self.slots.resize(index + 1, UNKNOWN);
        }
        &mut self.slots[index]
    }

    /// A page, from memory or the file.
    #[inline]
    pub(crate) fn page(&mut self, id: PageId) -> Result<&Arc<Page>> {
        let index = id.0 as usize;
        if self.slots.get(index).is_none_or(|slot| slot.page.is_none()) {
            self.load(id)?;
        }
        match self.slots.get_mut(index) {
            Some(Slot { page: Some(page), referenced, .. }) => {
                *referenced = true;
                Ok(page)
            }
            _ => Err(Error::TooLarge("page number")),
        }
    }

    /// A page of a tree, at the level its parent says (TREE-3): a damaged file cannot
    /// lead in circles.
    #[inline]
    pub(crate) fn tree_page(&mut self, id: PageId, level: u8) -> Result<&Arc<Page>> {
        let page = self.page(id)?;
        let bytes = &page.bytes;
        let expected = if level == 0 { format::kind::LEAF } else { format::kind::INNER };
        if bytes[format::page::KIND] != expected || bytes[format::page::LEVEL] != level {
            return Err(of_another_level(id, bytes, level));
        }
        Ok(page)
    }

    /// Writes changed pages early, because a transaction has more of them than memory
    /// should hold, and lets them be evicted.
    pub(crate) fn spill(&mut self) -> Result<()> {
        self.write_dirty()?;
        self.evict();
        Ok(())
    }

    /// Spills where a single change has made more changed pages than memory should hold.
    pub(crate) fn spill_if_long(&mut self) -> Result<()> {
        if self.dirty_bytes() > self.dirty_bytes_max { self.spill() } else { Ok(()) }
    }

    /// Makes room for one more clean page: a hand goes round and takes clean pages that
    /// were not used since it last came by.
    fn evict(&mut self) {
        let mut steps = self.slots.len() * 2;
        while self.cached_pages - self.dirty_pages - self.doomed_pages >= self.clean_pages_max && steps > 0 {
            steps -= 1;
            self.hand = if self.hand + 1 < self.slots.len() { self.hand + 1 } else { 0 };
            let slot = &mut self.slots[self.hand];
            if slot.referenced {
                slot.referenced = false;
            } else if !slot.dirty && (slot.page.take().is_some() || slot.ahead.take().is_some()) {
                self.cached_pages -= 1;
            }
        }
    }

    /// Whether the running transaction may change a page in place.
    #[inline]
    fn is_writable(&self, id: PageId) -> bool {
        self.slots.get(id.0 as usize).is_some_and(|slot| slot.born > self.writable_after && slot.page.is_some())
    }

    /// The number under which the running transaction may change a page: its own, or
    /// that of a fresh copy, the original being freed.
    #[inline]
    pub(crate) fn make_writable(&mut self, id: PageId) -> Result<PageId> {
        if self.is_writable(id) { Ok(id) } else { self.copy(id) }
    }

    fn copy(&mut self, id: PageId) -> Result<PageId> {
        let page = Arc::clone(self.page(id)?);
        let born = self.slots[id.0 as usize].born;
        let copy = if born > self.writable_after {
            // Owned, but evicted since it was written: it only had to be loaded.
            return Ok(id);
        } else {
            self.allocate_page()?
        };
        self.install(copy, Arc::new(Page { bytes: page.bytes }))?;
        self.free_page(id);
        Ok(copy)
    }

    /// The bytes of a page that is writable, to be changed.
    #[inline]
    pub(crate) fn page_mut(&mut self, id: PageId) -> Result<&mut PageBytes> {
        if self.slots.get(id.0 as usize).is_none_or(|slot| slot.page.is_none()) {
            // Spilled and evicted meanwhile.
            self.load(id)?;
        }
        debug_assert!(self.is_writable(id), "ALLOC-3: page {} is not this transaction's", id.0);
        let slot = self.slots.get_mut(id.0 as usize).ok_or(Error::TooLarge("page number"))?;
        if !slot.dirty {
            slot.dirty = true;
            self.dirty_pages += 1;
        }
        slot.referenced = true;
        let page = slot.page.as_mut().ok_or(Error::TooLarge("page number"))?;
        Ok(&mut Arc::make_mut(page).bytes)
    }

    /// A new page of the running transaction.
    pub(crate) fn new_page(&mut self, kind: u8, level: u8) -> Result<PageId> {
        let id = self.allocate_page()?;
        self.install(id, Arc::new(Page::empty(kind, level)))?;
        Ok(id)
    }

    /// Gives a page that was allocated its contents.
    fn install(&mut self, id: PageId, page: Arc<Page>) -> Result<()> {
        self.reserve_memory();
        let born = self.clock;
        self.forget_ahead(id);
        let slot = self.slot_mut(id);
        if slot.page.is_some() {
            return Err(Error::corrupt(id.0, "the page is in use, and listed as free"));
        }
        *slot = Slot { page: Some(page), born, dirty: true, on_disk: false, referenced: true, ..UNKNOWN };
        self.cached_pages += 1;
        self.dirty_pages += 1;
        Ok(())
    }

    /// Has the allocator get memory for many pages at once. A module of WebAssembly grows by
    /// no more than is asked for otherwise, a few pages at a time, and with every growth
    /// JavaScript loses its views of the module's memory.
    #[inline]
    fn reserve_memory(&mut self) {
        if cfg!(target_family = "wasm") && self.cached_pages >= self.pages_reserved {
            let pages = (self.cached_pages / 8).clamp(RESERVED_PAGES_MIN, RESERVED_PAGES_MAX);
            let mut room: Vec<u8> = Vec::new();
            // Where there is no room for so much there may be for a page.
            let _ = room.try_reserve_exact(pages * PAGE_BYTES);
            std::hint::black_box(&room);
            self.pages_reserved = self.cached_pages + pages;
        }
    }

    /// Pages that a checkpoint has to write, ascending.
    fn dirty_runs(&self) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for (index, slot) in self.slots.iter().enumerate() {
            if slot.dirty && !slot.doomed {
                match runs.last_mut() {
                    Some((first, pages)) if *first + *pages == index as u32 && (*pages as usize) < WRITE_PAGES_MAX => {
                        *pages += 1;
                    }
                    _ => runs.push((index as u32, 1)),
                }
            }
        }
        runs
    }

    /// Writes all changed pages to their places, consecutive ones at once. They are free
    /// space to every state that recovery can find, so nothing is lost if this fails.
    pub(crate) fn write_dirty(&mut self) -> Result<()> {
        let mut buffer = Vec::new();
        for (first, pages) in self.dirty_runs() {
            buffer.clear();
            for id in first..first + pages {
                if let Some(page) = &mut self.slots[id as usize].page {
                    let bytes = &mut Arc::make_mut(page).bytes;
                    let checksum = format::page_checksum(bytes, id);
                    format::set_u64(bytes, format::page::CHECKSUM, checksum);
                    buffer.extend_from_slice(bytes);
                }
            }
            self.file.write_at(u64::from(first) * PAGE_BYTES as u64, &buffer)?;
            for id in first..first + pages {
                let slot = &mut self.slots[id as usize];
                slot.dirty = false;
                slot.on_disk = true;
                self.dirty_pages -= 1;
            }
        }
        Ok(())
    }

    /// Reads a page's bytes from the file and checks them against what is in memory.
    pub(crate) fn recheck(&mut self, id: PageId) -> Result<()> {
        let on_disk = self.slots.get(id.0 as usize).is_none_or(|slot| !slot.dirty && slot.on_disk);
        if on_disk {
            let mut bytes = [0; PAGE_BYTES];
            self.file.read_at(u64::from(id.0) * PAGE_BYTES as u64, &mut bytes)?;
            verify(&bytes, id)?;
        }
        Ok(())
    }
}

/// A page that is not what its parent says.
#[cold]
fn of_another_level(id: PageId, bytes: &PageBytes, level: u8) -> Error {
    let found = (bytes[format::page::KIND], bytes[format::page::LEVEL]);
    Error::corrupt(id.0, format!("kind {} of level {}, not level {level}", found.0, found.1))
}
