//! Bulk loads: entries in the order of their keys.

use super::Transaction;
use crate::{Error, Read, Result, TreeId, tree};

/// A load that has begun.
struct Load {
    tree: TreeId,
    /// Builds on the tree; without one its entries go in one by one.
    builder: Option<tree::Builder>,
    entries_before: u64,
    last: Vec<u8>,
    count: u64,
}

impl Transaction {
    /// Adds entries with strictly ascending keys, replacing what has the same key; how
    /// many there were. Fastest where all keys are above those of the tree, which is then
    /// built on bottom up; it must not be read meanwhile.
    ///
    /// # Errors
    /// [`Error::NotSorted`]: like every error after the first entry it leaves the
    /// transaction to be rolled back, wholly or to a savepoint.
    pub fn bulk_load<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &mut self,
        tree: TreeId,
        entries: impl IntoIterator<Item = (K, V)>,
    ) -> Result<u64> {
        // Only this is made for every kind of iterator.
        let mut load = None;
        for (key, value) in entries {
            let load = match &mut load {
                Some(load) => load,
                None => load.insert(self.begin_load(tree, key.as_ref())?),
            };
            self.load_entry(load, key.as_ref(), value.as_ref())?;
        }
        load.map_or(Ok(0), |load| self.finish_load(load))
    }

    fn begin_load(&mut self, tree: TreeId, first: &[u8]) -> Result<Load> {
        let entries_before = self.count(tree)?;
        let builder =
            self.change(|state, directory| tree::Builder::resume(&mut state.pager, directory.root_mut(tree)?, first))?;
        Ok(Load { tree, builder, entries_before, last: Vec::new(), count: 0 })
    }

    fn load_entry(&mut self, load: &mut Load, key: &[u8], value: &[u8]) -> Result<()> {
        load.count += 1;
        let Some(builder) = &mut load.builder else {
            if load.count > 1 && load.last.as_slice() >= key {
                self.broken = Some(Error::NotSorted);
                return Err(Error::NotSorted);
            }
            load.last.clear();
            load.last.extend_from_slice(key);
            return self.put(load.tree, key, value).map(drop);
        };
        // The lock is taken for each entry: the caller's iterator may use the store.
        let pushed = self.shared.lock().and_then(|mut state| {
            builder.push(&mut state.pager, key, value)?;
            if state.is_too_dirty() { state.spill() } else { Ok(()) }
        });
        if let Err(error) = pushed {
            self.broken = Some(error.clone());
            return Err(error);
        }
        self.changes.put(load.tree.0, key, value);
        Ok(())
    }

    fn finish_load(&mut self, load: Load) -> Result<u64> {
        let Some(builder) = load.builder else { return Ok(load.count) };
        let root = self.change(|state, directory| {
            let root = builder.finish(&mut state.pager)?;
            *directory.root_mut(load.tree)? = root;
            Ok(root)
        })?;
        Ok(root.entries - load.entries_before)
    }
}
