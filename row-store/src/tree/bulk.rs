//! Building a tree from entries in ascending order, bottom up.

use super::insert::{check_lengths, leaf_cell};
use super::path::Path;
use super::{Root, node};
use crate::format::{LEVELS_MAX, kind, leaf};
use crate::pager::Pager;
use crate::{Error, PageId, Result};

/// Bytes left free in a page that is built, so that the first insertions into the
/// middle do not split every page they meet: a sixteenth.
const SLACK_BYTES: usize = node::CAPACITY_BYTES / 16;

/// A tree under construction: the open page of each level, the leaf first.
pub(crate) struct Builder {
    open: Vec<PageId>,
    last_key: Vec<u8>,
    entries: u64,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self { open: Vec::new(), last_key: Vec::new(), entries: 0 }
    }

    /// Takes up a tree to which entries from `key` on are to be added, if that is above
    /// all it has. Until [`Builder::finish`] the tree's entry counts are not right.
    pub(crate) fn resume(pager: &mut Pager, root: &mut Root, key: &[u8]) -> Result<Option<Self>> {
        if root.is_empty() {
            return Ok(Some(Self::new()));
        }
        let mut path = Path::find(pager, root, key)?;
        let leaf = &pager.page(path.leaf())?.bytes;
        let last = match node::count(leaf) {
            0 => return Ok(None),
            count => node::leaf_key(leaf, count - 1).to_vec(),
        };
        if !path.rightmost || node::compare(key, &last).is_le() {
            return Ok(None);
        }
        path.make_writable(pager, root)?;
        let open = path.pages[..=path.last].iter().rev().copied().collect();
        Ok(Some(Self { open, last_key: last, entries: root.entries }))
    }

    /// Adds an entry whose key is above all before it.
    pub(crate) fn push(&mut self, pager: &mut Pager, key: &[u8], value: &[u8]) -> Result<()> {
        check_lengths(key, value)?;
        if self.entries > 0 && node::compare(key, &self.last_key).is_le() {
            return Err(Error::NotSorted);
        }
        if self.open.is_empty() {
            self.open.push(pager.new_page(kind::LEAF, 0)?);
        }
        let cell_bytes = leaf::HEADER_BYTES + key.len() + value.len();
        let bytes = pager.page_mut(self.open[0])?;
        if cell_bytes <= leaf::CELL_BYTES_MAX && node::fits(bytes, cell_bytes + SLACK_BYTES) {
            let index = node::count(bytes);
            node::fill_leaf_cell(node::insert_cell(bytes, index, cell_bytes), key, value);
        } else {
            let cell = leaf_cell(pager, key, value)?;
            let bytes = pager.page_mut(self.open[0])?;
            if node::count(bytes) == 0 || node::fits(bytes, cell.len() + SLACK_BYTES) {
                node::push(bytes, &cell);
            } else {
                let separator = node::separator(&self.last_key, key).to_vec();
                self.close(pager, 0, &separator)?;
                node::push(pager.page_mut(self.open[0])?, &cell);
            }
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.entries += 1;
        Ok(())
    }

    /// Replaces the open page of a level by a new one, to which `separator` leads.
    fn close(&mut self, pager: &mut Pager, level: usize, separator: &[u8]) -> Result<()> {
        if level + 1 >= LEVELS_MAX {
            return Err(Error::TooLarge("tree"));
        }
        let full = self.open[level];
        let page_kind = if level == 0 { kind::LEAF } else { kind::INNER };
        let fresh = pager.new_page(page_kind, level as u8)?;
        self.open[level] = fresh;
        let parent_level = level + 1;
        if self.open.len() == parent_level {
            let parent = pager.new_page(kind::INNER, parent_level as u8)?;
            node::push(pager.page_mut(parent)?, &node::inner_cell(&[], full, 0));
            self.open.push(parent);
        }
        let entries = node::total_entries(&pager.page(full)?.bytes);
        let bytes = pager.page_mut(self.open[parent_level])?;
        let last = node::count(bytes) - 1;
        node::set_entries(bytes, last, entries);
        let cell = node::inner_cell(separator, fresh, 0);
        if node::fits(bytes, cell.len() + SLACK_BYTES) {
            node::push(bytes, &cell);
        } else {
            self.close(pager, parent_level, separator)?;
            node::push(pager.page_mut(self.open[parent_level])?, &cell);
        }
        Ok(())
    }

    /// The finished tree.
    pub(crate) fn finish(self, pager: &mut Pager) -> Result<Root> {
        let Some(root) = self.open.last() else { return Ok(Root::EMPTY) };
        for level in 1..self.open.len() {
            let entries = node::total_entries(&pager.page(self.open[level - 1])?.bytes);
            let bytes = pager.page_mut(self.open[level])?;
            let last = node::count(bytes) - 1;
            node::set_entries(bytes, last, entries);
        }
        Ok(Root { page: *root, level: (self.open.len() - 1) as u8, entries: self.entries })
    }
}
