//! Many changes of one tree at once.

use super::{LONG_VALUE_BYTES, Transaction};
use crate::{Error, Result, TreeId, tree};

impl Transaction {
    /// Makes changes of one tree in ascending order of their keys; `None` removes a key.
    /// Finds the way to each leaf once, and so is faster than one change after the other.
    ///
    /// # Errors
    /// [`Error::NotSorted`], [`Error::KeyTooLong`] and [`Error::ValueTooLong`] change nothing.
    pub fn apply(&mut self, tree: TreeId, changes: &[(&[u8], Option<&[u8]>)]) -> Result<()> {
        if !changes.is_sorted_by(|(a, _), (b, _)| a <= b) {
            return Err(Error::NotSorted);
        }
        for (key, value) in changes {
            tree::check_lengths(key, value.unwrap_or_default())?;
            if value.is_some_and(|value| value.len() > LONG_VALUE_BYTES) {
                self.shared.lock()?.prepare_long_change()?;
            }
        }
        self.change(|state, directory| {
            let mut rest = changes;
            while !rest.is_empty() {
                let done = tree::apply_run(&mut state.pager, directory.root_mut(tree)?, rest)?;
                rest = &rest[done..];
                if state.is_too_dirty() {
                    state.spill()?;
                }
            }
            Ok(())
        })?;
        for (key, value) in changes {
            match value {
                Some(value) => self.changes.put(tree.0, key, value),
                None => self.changes.delete(tree.0, key),
            }
        }
        Ok(())
    }
}
