//! The directory: the root of every tree in one state of the database.

use crate::format::{self, LEVELS_MAX, PAGE_BYTES, get_u16, get_u32, get_u64, set_u16, set_u32, set_u64};
use crate::pager::{Page, Pager};
use crate::tree::Root;
use crate::{Error, PageId, Result, TreeId};

/// The first tree number that `create_tree` gives out; those below are the engine's.
pub(crate) const TREE_FIRST: u32 = 16;

/// One state of the database: what a snapshot keeps.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    /// Ascending by number.
    trees: Vec<(TreeId, Root)>,
    pub(crate) next_tree: u32,
    /// The version at which this state ended being changed.
    pub(crate) version: u64,
    /// The number of the commit.
    pub(crate) sequence: u64,
}

impl Directory {
    pub(crate) fn new() -> Self {
        Self { trees: Vec::new(), next_tree: TREE_FIRST, version: 0, sequence: 0 }
    }

    /// The same state at another version, without its trees, for who has the root he
    /// needs.
    pub(crate) fn without_trees(&self, version: u64) -> Self {
        Self { trees: Vec::new(), version, ..*self }
    }

    pub(crate) fn trees(&self) -> &[(TreeId, Root)] {
        &self.trees
    }

    #[inline]
    fn find(&self, tree: TreeId) -> std::result::Result<usize, usize> {
        self.trees.binary_search_by_key(&tree, |entry| entry.0)
    }

    #[inline]
    pub(crate) fn root(&self, tree: TreeId) -> Result<&Root> {
        match self.find(tree) {
            Ok(index) => Ok(&self.trees[index].1),
            Err(_) => Err(Error::NoSuchTree(tree.0)),
        }
    }

    #[inline]
    pub(crate) fn root_mut(&mut self, tree: TreeId) -> Result<&mut Root> {
        match self.find(tree) {
            Ok(index) => Ok(&mut self.trees[index].1),
            Err(_) => Err(Error::NoSuchTree(tree.0)),
        }
    }

    pub(crate) fn contains(&self, tree: TreeId) -> bool {
        self.find(tree).is_ok()
    }

    pub(crate) fn create(&mut self, tree: TreeId) -> Result<()> {
        match self.find(tree) {
            Ok(_) => Err(Error::TreeExists(tree.0)),
            Err(index) => {
                self.trees.insert(index, (tree, Root::EMPTY));
                self.next_tree = self.next_tree.max(tree.0.saturating_add(1));
                Ok(())
            }
        }
    }

    pub(crate) fn remove(&mut self, tree: TreeId) -> Result<()> {
        let index = self.find(tree).map_err(|_| Error::NoSuchTree(tree.0))?;
        self.trees.remove(index);
        Ok(())
    }

    /// How many pages the directory takes in the file.
    pub(crate) fn page_count(&self) -> u32 {
        self.trees.len().div_ceil(format::directory::ENTRIES_MAX) as u32
    }

    /// The pages of the directory, to be written from page `first` on.
    pub(crate) fn encode(&self, first: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.page_count() as usize * PAGE_BYTES);
        for (number, trees) in self.trees.chunks(format::directory::ENTRIES_MAX).enumerate() {
            let mut page = Page::empty(format::kind::DIRECTORY, 0);
            set_u16(&mut page.bytes, format::page::COUNT, trees.len() as u16);
            for (index, (tree, root)) in trees.iter().enumerate() {
                let at = format::page::SLOTS + index * format::directory::ENTRY_BYTES;
                set_u32(&mut page.bytes, at, tree.0);
                set_u32(&mut page.bytes, at + 4, root.page.0);
                set_u64(&mut page.bytes, at + 8, root.entries);
                page.bytes[at + 16] = root.level;
            }
            seal(&mut page, first + number as u32, &mut out);
        }
        out
    }

    /// Reads the directory of a checkpoint.
    pub(crate) fn decode(pager: &mut Pager, first: u32, pages: u32, count: u32) -> Result<Self> {
        let mut directory = Self::new();
        for number in 0..pages {
            let id = first.checked_add(number).ok_or_else(|| Error::corrupt(first, "directory outside the file"))?;
            let page = &pager.page(PageId(id))?.bytes;
            if page[format::page::KIND] != format::kind::DIRECTORY {
                return Err(Error::corrupt(id, "not a directory page"));
            }
            for index in 0..get_u16(page, format::page::COUNT) as usize {
                let at = format::page::SLOTS + index * format::directory::ENTRY_BYTES;
                let tree = TreeId(get_u32(page, at));
                let root =
                    Root { page: PageId(get_u32(page, at + 4)), level: page[at + 16], entries: get_u64(page, at + 8) };
                let ascending = directory.trees.last().is_none_or(|last| last.0 < tree);
                if !ascending || root.level as usize >= LEVELS_MAX {
                    return Err(Error::corrupt(id, format!("directory entry {index} makes no sense")));
                }
                directory.trees.push((tree, root));
            }
        }
        if directory.trees.len() != count as usize {
            let found = directory.trees.len();
            return Err(Error::corrupt(first, format!("the directory has {found} trees, not {count}")));
        }
        Ok(directory)
    }
}

/// Sets a page's checksum and appends it to `out`.
pub(crate) fn seal(page: &mut Page, id: u32, out: &mut Vec<u8>) {
    let checksum = format::page_checksum(&page.bytes, id);
    set_u64(&mut page.bytes, format::page::CHECKSUM, checksum);
    out.extend_from_slice(&page.bytes);
}
