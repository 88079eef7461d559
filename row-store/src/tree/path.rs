//! The way from a root to a leaf.

use super::{Root, node, search};
use crate::format::LEVELS_MAX;
use crate::pager::Pager;
use crate::{Error, PageId, Result};

/// Pages from the root (step 0) to a leaf, and the cell taken in each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub(super) pages: [PageId; LEVELS_MAX],
    pub(super) cells: [u16; LEVELS_MAX],
    /// The step of the leaf.
    pub(super) last: usize,
    /// Whether the last cell was taken in every inner page.
    pub(super) rightmost: bool,
    /// Whether the first cell was taken in every inner page.
    pub(super) leftmost: bool,
}

impl Path {
    /// Goes down to the leaf where `key` is or would be.
    pub(super) fn find(pager: &mut Pager, root: &Root, key: &[u8]) -> Result<Self> {
        let mut path = Self {
            pages: [PageId(0); LEVELS_MAX],
            cells: [0; LEVELS_MAX],
            last: root.level as usize,
            rightmost: true,
            leftmost: true,
        };
        let (mut page, mut level) = (root.page, root.level);
        for step in 0..=path.last {
            path.pages[step] = page;
            let bytes = &pager.tree_page(page, level)?.bytes;
            if level == 0 {
                break;
            }
            let cell = search::inner(bytes, key);
            path.rightmost &= cell + 1 == node::count(bytes);
            path.leftmost &= cell == 0;
            path.cells[step] = cell as u16;
            page = node::child(bytes, cell);
            level -= 1;
        }
        Ok(path)
    }

    /// The leaf's page.
    pub(super) fn leaf(&self) -> PageId {
        self.pages[self.last]
    }

    /// The first key that belongs to a later leaf; `None` in the last one.
    pub(super) fn end(&self, pager: &mut Pager) -> Result<Option<Vec<u8>>> {
        for step in (0..self.last).rev() {
            let bytes = &pager.page(self.pages[step])?.bytes;
            let next = self.cells[step] as usize + 1;
            if next < node::count(bytes) {
                return Ok(Some(node::inner_key(bytes, next).to_vec()));
            }
        }
        Ok(None)
    }

    /// Makes every page of the path the transaction's own, from the root down.
    pub(super) fn make_writable(&mut self, pager: &mut Pager, root: &mut Root) -> Result<()> {
        for step in 0..=self.last {
            let page = pager.make_writable(self.pages[step])?;
            if page != self.pages[step] {
                self.pages[step] = page;
                if step == 0 {
                    root.page = page;
                } else {
                    node::set_child(pager.page_mut(self.pages[step - 1])?, self.cells[step - 1] as usize, page);
                }
            }
        }
        Ok(())
    }

    /// Adds to the entry counts of the path's inner pages.
    pub(super) fn add_entries(&self, pager: &mut Pager, difference: i64) -> Result<()> {
        for step in 0..self.last {
            let cell = self.cells[step] as usize;
            let bytes = pager.page_mut(self.pages[step])?;
            let entries = node::entries(bytes, cell)
                .checked_add_signed(difference)
                .ok_or_else(|| Error::corrupt(self.pages[step].0, "an entry count went below zero"))?;
            node::set_entries(bytes, cell, entries);
        }
        Ok(())
    }
}
