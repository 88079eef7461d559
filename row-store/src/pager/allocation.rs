//! Giving pages out and taking them back, so that a transaction can be undone and no
//! page is used again while any holder needs it.

use super::{Freed, HolderKind, Page, Pager, RunSet};
use crate::format::{self, NO_PAGE};
use crate::{Error, PageId, Result};
use std::sync::Arc;

/// Freed entries that a transaction collects before it looks which are free at once.
const SWEEP_ENTRIES: usize = 256;

/// What the running transaction allocated and freed, in order.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    allocated: Vec<PageId>,
    /// Runs of extents it wrote: first page, pages, born.
    extents: Vec<(u32, u32, u64)>,
    freed: Vec<Freed>,
    /// Length of `freed` at which to sweep it next.
    sweep_at: usize,
}

impl Journal {
    pub(crate) fn marks(&self) -> JournalMarks {
        JournalMarks { allocated: self.allocated.len() }
    }

    pub(crate) fn freed(&self) -> &[Freed] {
        &self.freed
    }
}

/// A position in the journal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JournalMarks {
    allocated: usize,
}

impl Pager {
    /// Takes the lowest free page, or one at the end. The caller installs its content.
    pub(super) fn allocate_page(&mut self) -> Result<PageId> {
        let id = match self.free.take_page() {
            Some(page) => page,
            None => self.extend(1)?,
        };
        self.journal.allocated.push(PageId(id));
        Ok(PageId(id))
    }

    fn extend(&mut self, pages: u32) -> Result<u32> {
        let first = self.high_water;
        self.high_water = first.checked_add(pages).filter(|end| *end < u32::MAX).ok_or(Error::Full)?;
        Ok(first)
    }

    /// Takes consecutive pages outside any transaction's journal, for a checkpoint.
    pub(crate) fn allocate_run(&mut self, pages: u32) -> Result<u32> {
        match self.free.take_run(pages) {
            Some(first) => Ok(first),
            None => self.extend(pages),
        }
    }

    /// Takes consecutive pages for an extent of the running transaction.
    pub(crate) fn allocate_extent(&mut self, pages: u32) -> Result<u32> {
        let first = self.allocate_run(pages)?;
        self.journal.extents.push((first, pages, self.clock));
        self.extent_births.insert(first, (pages, self.clock));
        Ok(first)
    }

    /// Takes back an extent that could not be written: the last one allocated.
    pub(crate) fn abandon_extent(&mut self) {
        if let Some((first, pages, _)) = self.journal.extents.pop() {
            self.release(first, pages);
        }
    }

    /// Whether a run lies in the file's data and none of it is free.
    pub(crate) fn is_allocated(&self, first: u32, pages: u32) -> bool {
        first >= self.data_first
            && pages > 0
            && first.checked_add(pages).is_some_and(|end| end <= self.high_water)
            && !self.free.overlaps(first, pages)
    }

    /// The running transaction lets go of a page.
    pub(crate) fn free_page(&mut self, id: PageId) {
        let (clock, writable_after) = (self.clock, self.writable_after);
        let slot = self.slot_mut(id);
        let (born, on_disk) = (slot.born, slot.on_disk);
        if born > writable_after {
            // Nobody else ever saw it; if it was spilled, no recovery knows of it.
            self.release(id.0, 1);
            return;
        }
        self.set_doomed(id, true);
        self.journal.freed.push(Freed { first: id.0, pages: 1, born, died: clock, on_disk });
        self.sweep_when_long();
    }

    /// The running transaction lets go of an extent.
    pub(crate) fn free_extent(&mut self, first: u32, pages: u32) {
        // Older ones are as old as the checkpoint, which then holds them.
        let born = self.extent_births.get(&first).filter(|birth| birth.0 == pages).map_or(0, |birth| birth.1);
        self.journal.freed.push(Freed { first, pages, born, died: self.clock, on_disk: true });
    }

    /// Makes a run free: nobody needs it.
    fn release(&mut self, first: u32, pages: u32) {
        let end = (first as usize + pages as usize).min(self.slots.len());
        for slot in self.slots.get_mut(first as usize..end).unwrap_or_default() {
            if slot.page.is_some() {
                self.cached_pages -= 1;
                self.dirty_pages -= usize::from(slot.dirty && !slot.doomed);
                self.doomed_pages -= usize::from(slot.dirty && slot.doomed);
            }
            self.cached_pages -= usize::from(slot.ahead.is_some());
            *slot = super::UNKNOWN;
        }
        self.free.insert(first, pages);
    }

    fn release_all(&mut self, freed: &[Freed]) {
        for run in freed {
            self.release(run.first, run.pages);
        }
    }

    fn sweep_when_long(&mut self) {
        if self.journal.freed.len() >= self.journal.sweep_at.max(SWEEP_ENTRIES) {
            self.sweep(0);
            self.journal.sweep_at = self.journal.freed.len() * 2;
        }
    }

    /// Releases single pages that the transaction both made and freed and that no
    /// savepoint or cursor needs, among the entries freed after `version`.
    pub(crate) fn sweep(&mut self, version: u64) {
        let from = self.journal.freed.partition_point(|freed| freed.died <= version);
        let begin = self.journal.freed.len();
        let mut kept = from;
        for index in from..begin {
            let freed = self.journal.freed[index];
            // Extents wait for the commit: the journal lists them until then.
            let own = freed.pages == 1
                && self.slots.get(freed.first as usize).is_some_and(|slot| slot.doomed && slot.born == freed.born);
            if own && self.holders.blocker(&freed).is_none() {
                self.release(freed.first, 1);
            } else {
                self.journal.freed[kept] = freed;
                kept += 1;
            }
        }
        self.journal.freed.truncate(kept);
    }

    /// Starts a new version, so that what exists is told apart from what comes; returns
    /// the version that ended.
    pub(crate) fn next_version(&mut self) -> u64 {
        let version = self.clock;
        self.clock += 1;
        version
    }

    pub(crate) fn hold(&mut self, kind: HolderKind, version: u64) {
        self.holders.register(kind, version);
        self.writable_after = self.holders.newest_in_memory();
    }

    pub(crate) fn let_go(&mut self, kind: HolderKind, version: u64) {
        let mut free = Vec::new();
        self.holders.release(kind, version, &mut free);
        self.writable_after = self.holders.newest_in_memory();
        self.release_all(&free);
    }

    /// Only the states from `version` on (and `keep`) can be found by recovery now.
    pub(crate) fn let_go_disk_before(&mut self, version: u64, keep: Option<u64>) {
        let mut free = Vec::new();
        self.holders.release_disk_before(version, keep, &mut free);
        self.release_all(&free);
    }

    /// Undoes every allocation and every freeing since `version` ended. Cursors that saw
    /// a state in between keep its pages.
    pub(crate) fn undo(&mut self, version: u64, marks: JournalMarks) {
        while let Some(freed) = self.journal.freed.pop_if(|freed| freed.died > version) {
            if freed.pages == 1 {
                self.set_doomed(PageId(freed.first), false);
            }
        }
        let died_at = self.clock;
        for id in self.journal.allocated.split_off(marks.allocated.min(self.journal.allocated.len())) {
            // A page that was given back meanwhile is unknown here, or in its next life.
            let slot = self.slots.get(id.0 as usize).filter(|slot| slot.born > version && !slot.doomed);
            if let Some((born, on_disk)) = slot.map(|slot| (slot.born, slot.on_disk)) {
                self.set_doomed(id, true);
                self.retire_or_release(Freed { first: id.0, pages: 1, born, died: died_at, on_disk });
            }
        }
        while let Some((first, pages, born)) = self.journal.extents.pop_if(|(_, _, born)| *born > version) {
            self.retire_or_release(Freed { first, pages, born, died: died_at, on_disk: true });
        }
        self.journal.sweep_at = 0;
    }

    fn retire_or_release(&mut self, freed: Freed) {
        if !self.holders.retire(freed) {
            self.release(freed.first, freed.pages);
        }
    }

    /// The transaction has committed: what it freed is free, or kept for its holders.
    pub(crate) fn settle(&mut self) {
        let journal = std::mem::take(&mut self.journal);
        for freed in journal.freed {
            self.retire_or_release(freed);
        }
    }

    /// A checkpoint has everything: extents are no younger than it any more.
    pub(crate) fn forget_births(&mut self) {
        self.extent_births.clear();
    }

    /// Gives back a run that [`Pager::allocate_run`] gave out and nothing refers to.
    pub(crate) fn give_back(&mut self, first: u32, pages: u32) {
        if pages > 0 {
            self.release(first, pages);
        }
    }

    /// Takes a run that recovery found in the log out of the free pages (REC-4).
    pub(crate) fn reserve(&mut self, first: u32, pages: u32) -> Result<()> {
        let end = first.checked_add(pages).filter(|end| *end < u32::MAX);
        let Some(end) = end.filter(|_| first >= self.data_first && pages > 0) else {
            return Err(Error::corrupt(first, "the log names an extent outside the file"));
        };
        if end > self.high_water {
            let gap = self.high_water;
            self.high_water = end;
            self.free.insert(gap, end - gap);
        }
        if self.free.remove(first, pages) != u64::from(pages) {
            return Err(Error::corrupt(first, "the log names an extent over pages in use"));
        }
        Ok(())
    }

    /// Frees what was reserved and turned out not to be needed.
    pub(crate) fn unreserve(&mut self, first: u32, pages: u32) {
        self.release(first, pages);
    }

    /// The free pages as a new checkpoint sees them (ALLOC-4): those free now, and those
    /// kept only for holders, for no holder outlives this process, and the `old` runs of
    /// the checkpoint before. Also the file's pages, without what is free at its end.
    pub(crate) fn free_pages_of_checkpoint(&self, old: &[(u32, u32)]) -> (RunSet, u32) {
        let mut free = self.free.clone();
        for (first, pages) in old {
            free.insert(*first, *pages);
        }
        for freed in self.holders.pending().chain(self.journal.freed()) {
            free.insert(freed.first, freed.pages);
        }
        let mut end = self.high_water;
        while let Some(first) = free.take_tail(end) {
            end = first;
        }
        (free, end)
    }

    pub(crate) fn free_page_count(&self) -> u64 {
        self.free.pages()
    }

    pub(crate) fn free_runs(&self) -> &RunSet {
        &self.free
    }

    pub(crate) fn high_water(&self) -> u32 {
        self.high_water
    }

    pub(crate) fn data_first(&self) -> u32 {
        self.data_first
    }

    /// Lowers the high water mark past free pages at the end and returns it.
    pub(crate) fn trim(&mut self) -> u32 {
        while let Some(first) = self.free.take_tail(self.high_water) {
            self.high_water = first;
        }
        self.slots.truncate(self.high_water as usize);
        self.high_water
    }

    /// Writes a value as a chain of overflow pages; returns the first.
    pub(crate) fn write_chain(&mut self, value: &[u8]) -> Result<PageId> {
        let mut next = NO_PAGE;
        // From the end, so that each page knows the next.
        for part in value.chunks(format::overflow::DATA_BYTES_MAX).rev() {
            let id = self.allocate_page()?;
            let mut page = Page::empty(format::kind::OVERFLOW, 0);
            format::set_u32(&mut page.bytes, format::overflow::NEXT, next);
            format::set_u32(&mut page.bytes, format::overflow::BYTES, part.len() as u32);
            page.bytes[format::overflow::DATA..format::overflow::DATA + part.len()].copy_from_slice(part);
            self.install(id, Arc::new(page))?;
            next = id.0;
            self.spill_if_long()?;
        }
        Ok(PageId(next))
    }

    /// Calls `visit` with each page of a chain and the part of the value in it. The
    /// value's length bounds the walk.
    pub(crate) fn walk_chain(&mut self, first: PageId, bytes: u64, visit: &mut dyn FnMut(PageId, &[u8])) -> Result<()> {
        let (mut id, mut left) = (first, bytes);
        if bytes > format::VALUE_BYTES_MAX as u64 {
            return Err(Error::corrupt(first.0, format!("a value of {bytes} bytes")));
        }
        while left > 0 {
            let page = &self.page(id)?.bytes;
            let length = format::get_u32(page, format::overflow::BYTES) as usize;
            // OVERFLOW-1: every page but the last is full.
            let expected = left.min(format::overflow::DATA_BYTES_MAX as u64);
            if page[format::page::KIND] != format::kind::OVERFLOW || length as u64 != expected {
                return Err(Error::corrupt(id.0, "an overflow chain does not match its value's length"));
            }
            visit(id, &page[format::overflow::DATA..format::overflow::DATA + length]);
            left -= length as u64;
            id = PageId(format::get_u32(page, format::overflow::NEXT));
        }
        Ok(())
    }
}
