//! Changing a value by what it is.

use super::{LONG_VALUE_BYTES, Transaction};
use crate::tree::{self, Rewrite};
use crate::{Result, TreeId};

impl Transaction {
    /// Sets the value of a key to what `make` writes into `value`, given the one that is
    /// there; whether the key exists. Where `make` returns `false` nothing is changed.
    /// `make` must not use the store. `value` keeps its memory for the next call.
    ///
    /// # Errors
    /// As [`Transaction::put`].
    pub fn rewrite(
        &mut self,
        tree: TreeId,
        key: &[u8],
        value: &mut Vec<u8>,
        make: &mut dyn FnMut(&[u8], &mut Vec<u8>) -> bool,
    ) -> Result<bool> {
        let mut made = false;
        let exists = self.change(|state, directory| {
            let root = directory.root_mut(tree)?;
            match tree::rewrite(&mut state.pager, root, key, value, make)? {
                Rewrite::Missing => Ok(false),
                Rewrite::Kept => Ok(true),
                Rewrite::Made(place) => {
                    if value.len() > LONG_VALUE_BYTES {
                        state.prepare_long_change()?;
                    }
                    made = true;
                    tree::put_at(&mut state.pager, root, place, key, value).map(|()| true)
                }
            }
        })?;
        if made {
            self.changes.put(tree.0, key, value);
        }
        Ok(exists)
    }
}
