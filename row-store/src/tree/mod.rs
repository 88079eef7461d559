//! The B+tree: entries in the order of their keys, in pages of the pager.
//!
//! A tree is its root page and level; [`Root`] also carries its number of entries.
//! Functions that change a tree copy the path they change (unless it is theirs) and
//! leave the new root behind; whoever kept the old root still sees the old tree.

mod bulk;
mod check;
mod count;
mod delete;
mod insert;
pub(crate) mod node;
mod path;
mod read;
mod relocate;
pub(crate) mod search;
mod sorted;

pub(crate) use bulk::Builder;
pub(crate) use check::{Check, PROBLEMS_MAX, check};
pub(crate) use count::count_range;
pub(crate) use delete::{clear, delete};
pub(crate) use insert::{Mode, Outcome, Rewrite, check_lengths, put, put_at, rewrite};
pub(crate) use read::{descend, locate, read_chain};
pub(crate) use relocate::relocate;
pub(crate) use sorted::apply_run;

use crate::PageId;
use crate::format::NO_PAGE;

/// A tree: where it begins and how much is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    /// The root page; none in an empty tree (TREE-1).
    pub(crate) page: PageId,
    /// The root's level: 0 if it is a leaf.
    pub(crate) level: u8,
    /// Entries in all.
    pub(crate) entries: u64,
}

impl Root {
    pub(crate) const EMPTY: Self = Self { page: PageId(NO_PAGE), level: 0, entries: 0 };

    pub(crate) fn is_empty(&self) -> bool {
        self.page.0 == NO_PAGE
    }
}
