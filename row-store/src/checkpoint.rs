//! The checkpoint: everything to its place in the file, then the other meta slot.
//!
//! 1. Changed pages, the directory and the free list go to pages that are free in every
//!    state recovery can find (ALLOC-2), and are flushed.
//! 2. The meta slot that is not the newest is written and flushed (META-1). From here
//!    on recovery finds this state.
//! 3. The log starts the next epoch.
//!
//! A failure in step 1 leaves everything as it was; later ones leave it in doubt.

use crate::directory::{Directory, seal};
use crate::format::{self, PAGE_BYTES, WRITE_PAGES_MAX, get_u16, get_u32, set_u16, set_u32};
use crate::meta::Meta;
use crate::pager::{HolderKind, Page, Pager, RunSet};
use crate::state::State;
use crate::{Error, PageId, Result, mutation};

/// Free pages that are worth giving back to the file system: 1 MiB.
const SHRINK_PAGES_MIN: u64 = (1 << 20) / PAGE_BYTES as u64;

impl State {
    /// Writes `directory`, whose pages are in the pager, as the newest checkpoint.
    pub(crate) fn write_checkpoint(&mut self, directory: &Directory) -> Result<()> {
        let mut meta = Meta {
            sequence: self.meta.sequence + 1,
            epoch: self.log.epoch() + 1,
            commit_sequence: directory.sequence,
            directory_first: 0,
            directory_pages: 0,
            free_first: 0,
            free_pages: 0,
            ..self.meta
        };
        if let Err(error) = self.write_checkpoint_data(directory, &mut meta) {
            self.pager.give_back(meta.directory_first, meta.directory_pages);
            self.pager.give_back(meta.free_first, meta.free_pages);
            return Err(self.note_sync_failure(error));
        }
        let published = meta
            .write(&mut self.pager.file)
            .and_then(|()| if mutation::is_active("meta flush") { Ok(()) } else { self.pager.file.sync() });
        if let Err(error) = published {
            return Err(self.poison_in_doubt(error));
        }
        let old = std::mem::replace(&mut self.meta, meta);
        self.extents_unsynced = false;
        self.checkpoint_count += 1;
        if let Err(error) = self.log.start_epoch(&mut self.pager.file, meta.epoch, meta.commit_sequence, meta.checksum)
        {
            return Err(self.poison_in_doubt(error));
        }
        self.pager.forget_births();
        self.pager.let_go_disk_before(directory.version, None);
        self.checkpoint_version = directory.version;
        if !self.ephemeral && !mutation::is_active("checkpoint holds its pages") {
            self.pager.hold(HolderKind::Disk, directory.version);
        }
        self.pager.give_back(old.directory_first, old.directory_pages);
        self.pager.give_back(old.free_first, old.free_pages);
        self.relaxed_since_ms = None;
        Ok(())
    }

    fn write_checkpoint_data(&mut self, directory: &Directory, meta: &mut Meta) -> Result<()> {
        self.sync_recovered()?;
        self.pager.write_dirty()?;

        meta.trees = directory.trees().len() as u32;
        meta.next_tree = directory.next_tree;
        let pages = directory.page_count();
        if pages > 0 {
            meta.directory_first = self.pager.allocate_run(pages)?;
            meta.directory_pages = pages;
            write_pages(&mut self.pager, meta.directory_first, &directory.encode(meta.directory_first))?;
        }

        // Taking the list's own pages can split one run: two spare entries.
        let runs = self.free_after_checkpoint().0.len() + 2;
        let pages = runs.div_ceil(format::free_list::ENTRIES_MAX) as u32;
        meta.free_first = self.pager.allocate_run(pages)?;
        meta.free_pages = pages;
        let (free, end) = self.free_after_checkpoint();
        meta.free_runs = free.len() as u32;
        meta.file_pages = end;
        write_pages(&mut self.pager, meta.free_first, &encode_free_list(&free, meta.free_first, pages))?;

        if mutation::is_active("checkpoint data flush") { Ok(()) } else { self.pager.file.sync() }
    }

    /// ALLOC-4: what the new checkpoint calls free, and the pages the file has then.
    fn free_after_checkpoint(&self) -> (RunSet, u32) {
        let old =
            [(self.meta.directory_first, self.meta.directory_pages), (self.meta.free_first, self.meta.free_pages)];
        self.pager.free_pages_of_checkpoint(&old)
    }

    /// Cuts free pages off the end of the file if there are enough of them, or if so much
    /// of the file is free that much of it may be at the end. Right after a checkpoint.
    pub(crate) fn shrink_file(&mut self) -> Result<()> {
        let free = self.pager.free_page_count();
        let much = free >= u64::from(self.pager.high_water() / 4).max(SHRINK_PAGES_MIN);
        if much || self.free_tail_pages() >= SHRINK_PAGES_MIN { self.pack_and_cut() } else { Ok(()) }
    }

    /// Free pages behind everything but the checkpoint's own pages.
    fn free_tail_pages(&self) -> u64 {
        let meta = &self.meta;
        let own = [(meta.directory_first, meta.directory_pages), (meta.free_first, meta.free_pages)];
        let (mut end, mut free) = (self.pager.high_water(), 0);
        loop {
            let pages = self.pager.free_runs().pages_before(end);
            free += u64::from(pages);
            end -= pages;
            match own.iter().find(|(first, pages)| *pages > 0 && first + pages == end) {
                Some((first, _)) => end = *first,
                None if pages == 0 => return free,
                None => {}
            }
        }
    }

    /// Moves the checkpoint's own pages down if they are behind free ones, then cuts what
    /// is free off the end.
    pub(crate) fn pack_and_cut(&mut self) -> Result<()> {
        let lowest = self.pager.free_runs().iter().next().map_or(u32::MAX, |run| run.0);
        if lowest < self.meta.directory_first.max(self.meta.free_first) {
            let directory = std::sync::Arc::clone(&self.committed);
            self.write_checkpoint(&directory)?;
        }
        self.cut_file()
    }

    fn cut_file(&mut self) -> Result<()> {
        let pages = self.pager.trim();
        let bytes = u64::from(pages.max(self.meta.file_pages)) * PAGE_BYTES as u64;
        let length = self.pager.file.len()?;
        if length > bytes {
            self.pager.file.set_len(bytes)?;
        }
        Ok(())
    }
}

fn write_pages(pager: &mut Pager, first: u32, bytes: &[u8]) -> Result<()> {
    let mut at = u64::from(first) * PAGE_BYTES as u64;
    for part in bytes.chunks(WRITE_PAGES_MAX * PAGE_BYTES) {
        pager.file.write_at(at, part)?;
        at += part.len() as u64;
    }
    Ok(())
}

fn encode_free_list(free: &RunSet, first: u32, pages: u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(pages as usize * PAGE_BYTES);
    let mut runs = free.iter();
    for number in 0..pages {
        let mut page = Page::empty(format::kind::FREE_LIST, 0);
        let mut count = 0;
        for (first, pages) in runs.by_ref().take(format::free_list::ENTRIES_MAX) {
            let at = format::page::SLOTS + count * format::free_list::ENTRY_BYTES;
            set_u32(&mut page.bytes, at, first);
            set_u32(&mut page.bytes, at + 4, pages);
            count += 1;
        }
        set_u16(&mut page.bytes, format::page::COUNT, count as u16);
        seal(&mut page, first + number, &mut out);
    }
    out
}

/// Reads a checkpoint's free list.
pub(crate) fn read_free_list(pager: &mut Pager, meta: &Meta) -> Result<RunSet> {
    let mut free = RunSet::default();
    let mut from = meta.data_first();
    for number in 0..meta.free_pages {
        let outside = || Error::corrupt(meta.free_first, "free list outside the file");
        let id = meta.free_first.checked_add(number).ok_or_else(outside)?;
        let page = &pager.page(PageId(id))?.bytes;
        if page[format::page::KIND] != format::kind::FREE_LIST {
            return Err(Error::corrupt(id, "not a free list page"));
        }
        for index in 0..get_u16(page, format::page::COUNT) as usize {
            let at = format::page::SLOTS + index * format::free_list::ENTRY_BYTES;
            let (first, pages) = (get_u32(page, at), get_u32(page, at + 4));
            let end = first.checked_add(pages).filter(|end| *end <= meta.file_pages);
            let Some(end) = end.filter(|_| first >= from && pages > 0) else {
                return Err(Error::corrupt(id, format!("free run {index} makes no sense")));
            };
            free.insert(first, pages);
            from = end;
        }
    }
    if free.len() != meta.free_runs as usize {
        return Err(Error::corrupt(meta.free_first, "the free list has another number of runs"));
    }
    Ok(free)
}
