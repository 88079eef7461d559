//! Reading pages from the file, and which neighbours are read along.
//!
//! A call into the file system costs about as much as sixteen pages take to copy
//! (measured in OPFS), so that a page seldom comes alone: where the whole file fits into
//! the cache a miss reads the pages around it, and elsewhere those behind it once the one
//! before it was the last that was read. What came along is verified when it is asked for.

use super::{Page, Pager, verify};
use crate::format::PAGE_BYTES;
use crate::{Error, PageId, Result};
use std::sync::Arc;

/// Pages that one call reads at the most: 128 KiB.
const READ_PAGES_MAX: u32 = 16;

impl Pager {
    /// Brings a page that is not in memory there, verified.
    #[cold]
    pub(super) fn load(&mut self, id: PageId) -> Result<()> {
        if id.0 < self.data_first || id.0 >= self.high_water {
            return Err(Error::corrupt(id.0, "a reference leads to a page outside the file"));
        }
        let page = match self.slot_mut(id).ahead.take() {
            Some(page) => {
                self.cached_pages -= 1;
                page
            }
            None => self.read(id)?,
        };
        verify(&page.bytes, id)?;
        self.page_reads += 1;
        self.evict();
        self.cached_pages += 1;
        self.slot_mut(id).page = Some(page);
        Ok(())
    }

    /// Reads a page and leaves the neighbours that came along in their slots.
    fn read(&mut self, id: PageId) -> Result<Arc<Page>> {
        let (first, end) = self.window(id.0);
        if end - first > 1 {
            let mut buffer = std::mem::take(&mut self.read_buffer);
            buffer.resize(READ_PAGES_MAX as usize * PAGE_BYTES, 0);
            let bytes = &mut buffer[..(end - first) as usize * PAGE_BYTES];
            // A file that is shorter than its pages, as before the first checkpoint, or
            // that fails elsewhere: what was asked for is read alone.
            let is_read = self.file.read_at(u64::from(first) * PAGE_BYTES as u64, bytes).is_ok();
            let page = is_read.then(|| self.share_out(id, first, bytes));
            self.read_buffer = buffer;
            if let Some(page) = page {
                return Ok(page);
            }
        }
        let mut page = Arc::new(Page { bytes: [0; PAGE_BYTES] });
        let bytes = &mut Arc::make_mut(&mut page).bytes;
        self.file.read_at(u64::from(id.0) * PAGE_BYTES as u64, bytes).map_err(|error| match error {
            Error::Closed => Error::Closed,
            other => Error::corrupt(id.0, other.to_string()),
        })?;
        self.read_end = id.0 + 1;
        Ok(page)
    }

    /// Puts the pages of a read into their slots, but for the one that is returned.
    fn share_out(&mut self, id: PageId, first: u32, bytes: &[u8]) -> Arc<Page> {
        self.reserve_memory();
        let (pages, _) = bytes.as_chunks::<PAGE_BYTES>();
        let mut wanted = None;
        for (number, bytes) in (first..).zip(pages) {
            let page = Arc::new(Page { bytes: *bytes });
            if number == id.0 {
                wanted = Some(page);
            } else {
                self.slot_mut(PageId(number)).ahead = Some(page);
                self.cached_pages += 1;
            }
        }
        self.read_end = first + pages.len() as u32;
        wanted.expect("the window has the page it was made for")
    }

    /// The pages to read with one that is missing: consecutive ones that are in use and not
    /// in memory. A free page is never among them: it may get other content behind the
    /// pager's back.
    fn window(&self, id: u32) -> (u32, u32) {
        let fits = (self.high_water - self.data_first) as usize <= self.clean_pages_max / 2;
        let follows = id == self.read_end;
        if !self.reads_ahead || !(fits || follows) {
            return (id, id + 1);
        }
        let start = if fits { id - id % READ_PAGES_MAX } else { id };
        let is_missing = |number: &u32| {
            let slot = self.slots.get(*number as usize);
            slot.is_none_or(|slot| slot.page.is_none() && slot.ahead.is_none()) && !self.free.overlaps(*number, 1)
        };
        let room = self.clean_pages_max.saturating_sub(self.cached_pages).min(READ_PAGES_MAX as usize) as u32;
        let first = (start.max(self.data_first)..id).rev().take_while(is_missing).last().unwrap_or(id);
        let last = (first + READ_PAGES_MAX).min(self.high_water);
        let end = (id + 1..last).take_while(is_missing).last().map_or(id + 1, |last| last + 1);
        if room == 0 { (id, id + 1) } else { (first, end.min(first + room.max(id + 1 - first))) }
    }

    /// Drops what was read along of a page that gets other content.
    pub(super) fn forget_ahead(&mut self, id: PageId) {
        if self.slots.get_mut(id.0 as usize).is_some_and(|slot| slot.ahead.take().is_some()) {
            self.cached_pages -= 1;
        }
    }
}
