//! The build side: rows kept column by column, and the table over their keys.

use super::publish::key_filter;
use super::spec::Spec;
use super::table::JoinTable;
use crate::Result;
use crate::execution::columns::ColumnStore;
use crate::execution::keys::{KeyColumn, KeyWords};
use crate::execution::memory::Reservation;
use crate::source::KeyFilter;
use crate::vector::Batch;

/// The build side while and after it is read.
#[derive(Debug)]
pub(super) struct Build {
    pub(super) store: ColumnStore,
    rows: usize,
    pub(super) keys: Vec<KeyColumn>,
    /// Keys so far; given up when the table is made.
    words: KeyWords,
    pub(super) table: Option<JoinTable>,
    /// For null-aware joins: rows whose first key is NULL.
    pub(super) null_rows: Vec<u32>,
    /// Whether a row has had a match; kept for what is put out at the end.
    pub(super) matched: Vec<bool>,
    /// Whether IN over a row is unknown.
    pub(super) unknown: Vec<bool>,
    memory: Reservation,
}

impl Build {
    pub(super) fn new(spec: &Spec, memory: Reservation) -> Self {
        let keys: Vec<KeyColumn> = spec.key_types.iter().map(|ty| KeyColumn::new(*ty)).collect();
        let columns = keys.iter().map(KeyColumn::width).sum();
        let words = KeyWords { words: vec![Vec::new(); columns], valid: vec![None; columns], rows: 0 };
        Self {
            store: ColumnStore::new(&spec.stored_types),
            rows: 0,
            keys,
            words,
            table: None,
            null_rows: Vec::new(),
            matched: Vec::new(),
            unknown: Vec::new(),
            memory,
        }
    }

    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    /// Keeps a batch.
    pub(super) fn take(&mut self, spec: &Spec, batch: &Batch) -> Result<()> {
        let mut words = KeyWords { rows: batch.rows, ..KeyWords::default() };
        for (key, vector) in self.keys.iter_mut().zip(spec.build_keys.evaluate(batch)?) {
            key.encode(&vector, true, &mut words)?;
        }
        append(&mut self.words, words);
        self.store.append(&batch.project(&spec.stored), None)?;
        self.rows += batch.rows;
        self.account()
    }

    fn account(&mut self) -> Result<()> {
        let words: usize = self.words.words.iter().map(|w| w.capacity() * 8).sum();
        let valid: usize = self.words.valid.iter().flatten().map(Vec::capacity).sum();
        let keys: usize = self.keys.iter().map(KeyColumn::memory_bytes).sum();
        let table = self.table.as_ref().map_or(0, JoinTable::memory_bytes);
        let flags = self.matched.capacity() + self.unknown.capacity() + self.null_rows.capacity() * 4;
        self.memory.resize(self.store.memory_bytes() + words + valid + keys + table + flags)
    }

    /// Publishes the keys and lays out the table; its rows are inserted by slices.
    pub(super) fn seal(&mut self, spec: &Spec) -> Result<()> {
        self.store.freeze();
        let mut column = 0;
        for (index, key) in self.keys.iter().enumerate() {
            if let Some(Some(cell)) = spec.publish.get(index) {
                cell.publish(if self.rows == 0 {
                    KeyFilter::Nothing
                } else {
                    key_filter(key, &self.words, column, spec.null_equal.get(index) == Some(&true))
                });
            }
            column += key.width();
        }
        if let (true, Some(Some(valid))) = (spec.null_aware, self.words.valid.first()) {
            self.null_rows = (0..self.rows as u32).filter(|row| !valid[*row as usize]).collect();
        }
        if spec.drains_build() {
            self.matched = vec![false; self.rows];
            if spec.null_aware {
                self.unknown = vec![false; self.rows];
            }
        }
        if !self.keys.is_empty() {
            let words = std::mem::take(&mut self.words);
            let findable = findable(&self.keys, &words, &spec.null_equal);
            self.table = Some(JoinTable::new(&words, findable, |bytes| self.memory.grow(bytes))?);
        }
        self.account()
    }

    /// Inserts a slice of the rows; `true` when the table is complete.
    pub(super) fn insert_more(&mut self) -> Result<bool> {
        let complete = self.table.as_mut().is_none_or(JoinTable::insert_more);
        self.account()?;
        Ok(complete)
    }

    /// The keys of a probe batch, and which rows have no NULL that equals nothing.
    pub(super) fn probe_words(&mut self, spec: &Spec, batch: &Batch) -> Result<(KeyWords, Option<Vec<bool>>)> {
        let mut words = KeyWords { rows: batch.rows, ..KeyWords::default() };
        for (key, vector) in self.keys.iter_mut().zip(spec.probe_keys.evaluate(batch)?) {
            key.encode(&vector, false, &mut words)?;
        }
        let findable = findable(&self.keys, &words, &spec.null_equal);
        Ok((words, findable))
    }
}

fn append(all: &mut KeyWords, new: KeyWords) {
    let before = all.rows;
    all.rows += new.rows;
    for (all, new) in all.words.iter_mut().zip(&new.words) {
        all.extend_from_slice(new);
    }
    for (valid, new_valid) in all.valid.iter_mut().zip(new.valid) {
        match (valid.as_mut(), new_valid) {
            (None, None) => {}
            (Some(valid), None) => valid.resize(before + new.rows, true),
            (_, Some(new_valid)) => valid.get_or_insert_with(|| vec![true; before]).extend(new_valid),
        }
    }
}

/// Which rows have no NULL in a key where NULL equals nothing; `None` is all.
fn findable(keys: &[KeyColumn], words: &KeyWords, null_equal: &[bool]) -> Option<Vec<bool>> {
    let mut result: Option<Vec<bool>> = None;
    let mut column = 0;
    for (index, key) in keys.iter().enumerate() {
        if let (Some(valid), false) = (&words.valid[column], null_equal.get(index) == Some(&true)) {
            let all = result.get_or_insert_with(|| vec![true; words.rows]);
            for (all, valid) in all.iter_mut().zip(valid) {
                *all &= *valid;
            }
        }
        column += key.width();
    }
    result
}
