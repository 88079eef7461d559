//! Bringing trees into fewer and lower pages.

use super::Transaction;
use crate::{Direction, Read, Result, TreeId, tree};
use std::ops::Bound;

impl Transaction {
    /// Writes a tree anew, its pages full and in key order, to the lowest free pages. The
    /// transaction then commits by checkpoint.
    pub fn rebuild_tree(&mut self, tree: TreeId) -> Result<()> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let mut cursor = self.cursor(tree, Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
        let mut builder = tree::Builder::new();
        loop {
            let pushed = match cursor.next() {
                Ok(Some((key, value))) => self.shared.lock().and_then(|mut state| {
                    builder.push(&mut state.pager, key, value)?;
                    if state.is_too_dirty() { state.spill() } else { Ok(()) }
                }),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            if let Err(error) = pushed {
                self.broken = Some(error.clone());
                return Err(error);
            }
        }
        drop(cursor);
        self.change(|state, directory| {
            let rebuilt = builder.finish(&mut state.pager)?;
            let root = directory.root_mut(tree)?;
            tree::clear(&mut state.pager, root)?;
            *root = rebuilt;
            Ok(())
        })?;
        self.changes.demand_checkpoint();
        Ok(())
    }

    /// Moves the pages of a tree that are numbered `boundary` and above to lower free
    /// pages, as far as there are some. The transaction then commits by checkpoint.
    pub fn relocate_tree(&mut self, tree: TreeId, boundary: u32) -> Result<()> {
        self.shared.lock()?.prepare_long_change()?;
        self.change(|state, directory| tree::relocate(&mut state.pager, directory.root_mut(tree)?, boundary))?;
        self.changes.demand_checkpoint();
        Ok(())
    }
}
