//! The workload that is cut: small, but everything the store can do to its file is in
//! it. It keeps every state it committed, so that what a crash left can be recognized.

use super::{Content, EXTENT_PREFIX, open, read_content};
use gingham_row_store::vfs::fault::{Fault, FaultVfs};
use gingham_row_store::{Durability, Error, Extent, Read, Result, Store, Transaction, TreeId};
use std::collections::BTreeMap;

pub(crate) const TREE: TreeId = TreeId(20);

/// As long as the values of the workload's relaxed commits.
pub(crate) const MARKER_VALUE: &[u8] = &[b'm'; 700];

/// A key of the shape that relaxed commits and markers have.
pub(crate) fn small_key(letter: u8, number: u32) -> Vec<u8> {
    [&[letter], number.to_be_bytes().as_slice()].concat()
}

/// What was committed, how far it is guaranteed, and how the run ended.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    /// States in order of commit; the last may be one whose commit failed.
    states: Vec<Content>,
    /// States from here on may be found; earlier ones were superseded durably.
    guaranteed: usize,
    /// References to the extents of the last state.
    extents: BTreeMap<u8, Extent>,
    pub(crate) operations: u64,
    pub(crate) finished: bool,
    pub(crate) stopped_by: Option<Error>,
}

impl Workload {
    /// Runs from nothing, crashing at operation `cut`.
    pub(crate) fn run(vfs: &FaultVfs, cut: Option<u64>) -> Self {
        Self::run_with(vfs, cut.map(|at| (at, Fault::Crash)))
    }

    /// Runs from nothing, with a fault at an operation.
    pub(crate) fn run_with(vfs: &FaultVfs, fault: Option<(u64, Fault)>) -> Self {
        if let Some((at, fault)) = fault {
            vfs.inject(at, fault);
        }
        let mut workload = Self {
            states: vec![Content::default()],
            guaranteed: 0,
            extents: BTreeMap::new(),
            operations: 0,
            finished: false,
            stopped_by: None,
        };
        workload.drive(|workload| workload.all_steps(vfs));
        workload.operations = vfs.operations();
        workload
    }

    /// Goes on with what another process left: reads what is there, then writes over
    /// free space and commits.
    pub(crate) fn go_on(&self, vfs: &FaultVfs) -> Self {
        let mut workload = self.clone();
        workload.finished = false;
        workload.drive(|workload| workload.second_process(vfs));
        workload
    }

    fn drive(&mut self, steps: impl FnOnce(&mut Self) -> Result<()>) {
        match steps(self) {
            Ok(()) => self.finished = true,
            Err(error) => self.stopped_by = Some(error),
        }
    }

    /// Whether a state may be found after losing power.
    pub(crate) fn allows(&self, content: &Content) -> bool {
        self.states[self.guaranteed..].contains(content)
    }

    /// Where a state that is not allowed comes from, for the message.
    pub(crate) fn describe(&self, content: &Content) -> String {
        match self.states.iter().rposition(|state| state == content) {
            Some(index) => format!("state {index}, though {} was acknowledged", self.guaranteed),
            None => format!("{} entries and {} extents", content.entries.len(), content.extents.len()),
        }
    }

    /// After recovery each allowed state may have a marker on top.
    pub(crate) fn allow_marker(&mut self, letter: u8, _vfs: &FaultVfs) {
        let more: Vec<Content> = self.states[self.guaranteed..]
            .iter()
            .map(|state| {
                let mut state = state.clone();
                state.entries.insert(small_key(letter, 0), MARKER_VALUE.to_vec());
                state
            })
            .collect();
        self.states.extend(more);
    }

    fn last(&self) -> Content {
        self.states.last().cloned().unwrap_or_default()
    }

    /// One transaction: changes the database and the expected content alike.
    fn commit(
        &mut self,
        store: &Store,
        durability: Durability,
        changes: impl FnOnce(&mut Change<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut transaction = store.begin()?;
        let mut change = Change { transaction: &mut transaction, content: self.last(), extents: self.extents.clone() };
        changes(&mut change)?;
        let Change { content, extents, .. } = change;
        // From here on the commit may be found, acknowledged or not.
        self.states.push(content);
        let before = std::mem::replace(&mut self.extents, extents);
        let info = match transaction.commit(Some(durability)) {
            Ok(info) => info,
            Err(error) => {
                if !matches!(error, Error::InDoubt(_)) {
                    // The store says that nothing was committed: hold it to that.
                    self.states.pop();
                    self.extents = before;
                }
                return Err(error);
            }
        };
        if durability == Durability::Strict {
            assert!(info.durable);
            self.guaranteed = self.states.len() - 1;
        }
        Ok(())
    }

    fn all_steps(&mut self, vfs: &FaultVfs) -> Result<()> {
        let store = open(vfs)?;
        self.first_commits(&store)?;
        self.relaxed_commits(&store)?;
        self.extents_over_extents(&store)?;
        self.large_transaction(&store)?;
        self.checkpoint_and_reuse(&store)?;
        store.close()?;
        self.guaranteed = self.states.len() - 1;

        let store = open(vfs)?;
        self.commit(&store, Durability::Strict, |change| change.put(small_key(b'r', 0), vec![b'r'; 700]))?;
        // Left open without closing: the log has commits.
        self.commit(&store, Durability::Strict, |change| change.put(small_key(b'r', 1), vec![b'r'; 700]))?;
        drop(store);
        let store = open(vfs)?;
        self.commit(&store, Durability::Strict, |change| {
            change.free_extent(3)?;
            change.write_extent(6, 26_000)
        })?;
        for number in 2..5 {
            self.commit(&store, Durability::Relaxed, |change| change.put(small_key(b'r', number), vec![b'q'; 700]))?;
        }
        store.flush()?;
        self.guaranteed = self.states.len() - 1;
        // So much that the file is cut when it is freed.
        self.commit(&store, Durability::Strict, |change| change.write_extent(8, 1_100_000))?;
        store.checkpoint()?;
        self.commit(&store, Durability::Strict, |change| change.free_extent(8))?;
        let before = store.statistics().pages;
        store.checkpoint()?;
        assert!(store.statistics().pages < before, "the file was cut");
        self.commit(&store, Durability::Strict, |change| change.put(small_key(b'e', 2), b"smaller".to_vec()))?;
        for number in 5..7 {
            self.commit(&store, Durability::Relaxed, |change| change.put(small_key(b'r', number), vec![b'q'; 700]))?;
        }
        drop(store);
        Ok(())
    }

    fn first_commits(&mut self, store: &Store) -> Result<()> {
        self.commit(store, Durability::Strict, |change| {
            change.transaction.create_tree_with_id(TREE)?;
            change.put(small_key(b'a', 0), b"first".to_vec())
        })?;
        for number in 1..4 {
            self.commit(store, Durability::Strict, |change| change.put(small_key(b'a', number), b"more".to_vec()))?;
        }
        // Enough to split a leaf and to grow a root.
        self.commit(store, Durability::Strict, |change| {
            (0..250u32).try_for_each(|number| change.put(small_key(b'b', number * 7919 % 1000), vec![b'b'; 30]))
        })?;
        self.commit(store, Durability::Strict, |change| change.put(b"overflow".to_vec(), vec![b'o'; 9000]))
    }

    fn relaxed_commits(&mut self, store: &Store) -> Result<()> {
        for number in 0..4 {
            self.commit(store, Durability::Relaxed, |change| change.put(small_key(b'c', number), vec![b'c'; 700]))?;
        }
        store.flush()?;
        self.guaranteed = self.states.len() - 1;
        // A strict commit takes the relaxed ones before it along.
        self.commit(store, Durability::Relaxed, |change| change.delete(&small_key(b'c', 1)))?;
        self.commit(store, Durability::Strict, |change| change.put(small_key(b'c', 9), vec![b'c'; 700]))
    }

    fn extents_over_extents(&mut self, store: &Store) -> Result<()> {
        self.commit(store, Durability::Strict, |change| change.write_extent(1, 70_000))?;
        self.commit(store, Durability::Strict, |change| change.write_extent(2, 12_000))?;
        // Freed and written again between two flushes: the first may come back.
        self.commit(store, Durability::Relaxed, |change| {
            // Records of more than a sector, so that a tear can end between them.
            change.write_extent(3, 20_000)?;
            change.put(small_key(b'c', 2), vec![b'd'; 700])
        })?;
        self.commit(store, Durability::Relaxed, |change| {
            change.free_extent(3)?;
            change.put(small_key(b'c', 2), vec![b'e'; 700])
        })?;
        self.commit(store, Durability::Relaxed, |change| change.write_extent(4, 20_000))?;
        self.commit(store, Durability::Relaxed, |change| change.free_extent(2))?;
        self.commit(store, Durability::Relaxed, |change| change.write_extent(5, 12_000))?;
        store.flush()?;
        self.guaranteed = self.states.len() - 1;
        // A transaction that is rolled back leaves its extent's pages to the next.
        let mut transaction = store.begin()?;
        transaction.write_extent(&vec![7; 30_000])?;
        transaction.put(TREE, b"gone", b"gone")?;
        transaction.rollback();
        self.commit(store, Durability::Strict, |change| {
            change.free_extent(4)?;
            change.delete(b"overflow")
        })
    }

    fn large_transaction(&mut self, store: &Store) -> Result<()> {
        self.commit(store, Durability::Strict, |change| {
            (0..300u32).try_for_each(|number| change.put(small_key(b'd', number), vec![number as u8; 100]))?;
            change.write_extent(3, 20_000)
        })?;
        self.commit(store, Durability::Strict, |change| change.put(small_key(b'e', 0), b"after".to_vec()))
    }

    fn checkpoint_and_reuse(&mut self, store: &Store) -> Result<()> {
        store.checkpoint()?;
        // Extent 1 is in the checkpoint: its pages must survive until the next one.
        self.commit(store, Durability::Strict, |change| change.free_extent(1))?;
        self.commit(store, Durability::Strict, |change| change.write_extent(7, 66_000))?;
        self.commit(store, Durability::Strict, |change| {
            (0..200u32).try_for_each(|number| change.delete(&small_key(b'd', number)))
        })?;
        self.commit(store, Durability::Strict, |change| change.put(b"overflow".to_vec(), vec![b'p'; 20_000]))?;
        store.checkpoint()?;
        self.commit(store, Durability::Strict, |change| change.free_extent(7))?;
        store.checkpoint()?;
        self.commit(store, Durability::Strict, |change| change.put(small_key(b'e', 1), b"again".to_vec()))
    }

    fn second_process(&mut self, vfs: &FaultVfs) -> Result<()> {
        let store = open(vfs)?;
        let (content, extents) = read_content(&store).map_err(Error::Poisoned)?;
        assert!(self.allows(&content), "a killed process loses nothing that was acknowledged");
        // What was seen here may be lost again with the power until a commit of this
        // process is acknowledged, for the process before was killed before its flush.
        self.extents = content.extents.keys().copied().zip(extents).collect();
        self.states.push(content);
        if !store.snapshot()?.tree_exists(TREE) {
            return Ok(());
        }
        self.commit(&store, Durability::Strict, |change| {
            // Small ones first: they go into every gap that seems free.
            (20..26).try_for_each(|number| change.write_extent(number, 8000))?;
            (26..30).try_for_each(|number| change.write_extent(number, 20_000))
        })?;
        self.commit(&store, Durability::Strict, |change| change.put(small_key(b's', 0), b"second".to_vec()))?;
        drop(store);
        Ok(())
    }
}

/// The changes of one transaction, made to the database and to the expected content.
struct Change<'a> {
    transaction: &'a mut Transaction,
    content: Content,
    extents: BTreeMap<u8, Extent>,
}

impl Change<'_> {
    fn put(&mut self, key: Vec<u8>, value: Vec<u8>) -> Result<()> {
        self.transaction.put(TREE, &key, &value)?;
        self.content.entries.insert(key, value);
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.transaction.delete(TREE, key)?;
        self.content.entries.remove(key);
        Ok(())
    }

    fn write_extent(&mut self, number: u8, bytes: usize) -> Result<()> {
        let content: Vec<u8> = (0..bytes).map(|at| number ^ (at as u8) ^ (at >> 8) as u8).collect();
        let extent = self.transaction.write_extent(&content)?;
        self.transaction.put(TREE, &[EXTENT_PREFIX, number], &extent.encode())?;
        self.content.extents.insert(number, content);
        self.extents.insert(number, extent);
        Ok(())
    }

    fn free_extent(&mut self, number: u8) -> Result<()> {
        let extent = self.extents.remove(&number).expect("the workload frees what it wrote");
        self.transaction.free_extent(&extent)?;
        self.transaction.delete(TREE, &[EXTENT_PREFIX, number])?;
        self.content.extents.remove(&number);
        Ok(())
    }
}
