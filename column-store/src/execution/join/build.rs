//! The build side: rows kept column by column, and the table over their keys.

use super::publish::{key_filter, listed_integers};
use super::spec::Spec;
use super::table::{JoinTable, table_bytes};
use crate::Result;
use crate::execution::columns::ColumnStore;
use crate::execution::keys::{KeyColumn, KeyWords, text_vector};
use crate::execution::memory::Reservation;
use crate::source::KeyFilter;
use crate::vector::{Batch, Dictionary, Vector};
use std::sync::Arc;

/// Rows of the build side: their keys, then the columns to keep.
pub(super) type BuildRows = Batch;

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
    pub(super) memory: Reservation,
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

    /// Forgets all rows, for others to come.
    pub(super) fn clear(&mut self, spec: &Spec) {
        *self = Self::new(spec, self.memory.take());
        self.account();
    }

    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    /// Whether there is memory for so many rows more, the table over them included.
    pub(super) fn has_room(&mut self, rows: usize) -> Result<bool> {
        let words: usize = self.words.words.iter().map(|w| (w.capacity().max(w.len() + rows)) * 8).sum();
        let valid: usize = self.words.valid.iter().flatten().map(Vec::capacity).sum();
        let table = table_bytes(self.rows + rows, self.words.words.len());
        let wanted = self.store.grown_bytes(rows) + words + valid + self.keys_bytes() + table;
        // Rows in motion while others wait in temporary space.
        let granted = self.memory.try_resize(wanted + wanted / 16);
        if !granted {
            self.memory.temp(wanted)?;
        }
        Ok(granted)
    }

    /// Keeps rows.
    pub(super) fn take(&mut self, rows: &BuildRows) -> Result<()> {
        let mut words = KeyWords { rows: rows.rows, ..KeyWords::default() };
        for (key, vector) in self.keys.iter_mut().zip(&rows.columns) {
            key.encode(vector, true, &mut words)?;
        }
        append(&mut self.words, words);
        let stored = Batch { columns: rows.columns[self.keys.len()..].to_vec(), rows: rows.rows };
        self.store.append(&stored, None)?;
        self.rows += rows.rows;
        self.account();
        Ok(())
    }

    /// Some of the rows kept, as they came. Nothing can be added any more.
    pub(super) fn give_back(&self, strings: &[Option<Arc<Dictionary>>], range: std::ops::Range<usize>) -> BuildRows {
        let mut column = 0;
        let mut columns: Vec<Arc<Vector>> = Vec::new();
        for (key, strings) in self.keys.iter().zip(strings) {
            let words: Vec<Vec<i64>> = (column..column + key.width())
                .map(|column| self.words.words[column].get(range.clone()).unwrap_or_default().to_vec())
                .collect();
            let valid = self.words.valid[column].as_ref().map(|valid| valid[range.clone()].to_vec());
            column += key.width();
            columns.push(Arc::new(match strings {
                None => key.decode(&words, valid),
                Some(strings) => text_vector(&words[0], valid, strings),
            }));
        }
        let rows: Vec<u32> = (range.start as u32..range.end as u32).collect();
        columns.extend(self.store.gather(&rows).columns);
        Batch { columns, rows: rows.len() }
    }

    /// Makes the rows ready for [`Build::give_back`].
    pub(super) fn begin_giving_back(&mut self) -> Vec<Option<Arc<Dictionary>>> {
        self.store.freeze();
        self.keys.iter_mut().map(KeyColumn::take_strings).collect()
    }

    fn keys_bytes(&self) -> usize {
        self.keys.iter().map(KeyColumn::memory_bytes).sum()
    }

    /// Counts what is held.
    fn account(&mut self) {
        let words: usize = self.words.words.iter().map(|w| w.capacity() * 8).sum();
        let valid: usize = self.words.valid.iter().flatten().map(Vec::capacity).sum();
        let table = self.table.as_ref().map_or(0, JoinTable::memory_bytes);
        let flags = self.matched.capacity() + self.unknown.capacity() + self.null_rows.capacity() * 4;
        self.memory.force(self.store.memory_bytes() + words + valid + self.keys_bytes() + table + flags);
    }

    /// Publishes the keys and lays out the table; its rows are inserted by slices.
    /// `publishes` when these are all rows of the build side.
    pub(super) fn seal(&mut self, spec: &Spec, publishes: bool) {
        self.store.freeze();
        let mut column = 0;
        for (index, key) in self.keys.iter().enumerate() {
            if let (Some(Some(cell)), true) = (spec.publish.get(index), publishes) {
                if let Some(list) = listed_integers(key, &self.words, column) {
                    cell.publish_integers(list);
                }
                cell.publish(if self.rows == 0 {
                    KeyFilter::Nothing
                } else {
                    let bits_max = self.memory.bytes_available();
                    key_filter(key, &self.words, column, spec.null_equal.get(index) == Some(&true), bits_max)
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
            let held = self.store.memory_bytes() + words.words.iter().map(|w| w.capacity() * 8).sum::<usize>();
            self.table = Some(JoinTable::new(&words, findable, |bytes| self.memory.try_resize(held + bytes)));
        }
        self.account();
    }

    /// Inserts a slice of the rows; `true` when the table is complete.
    pub(super) fn insert_more(&mut self) -> bool {
        let complete = self.table.as_mut().is_none_or(JoinTable::insert_more);
        self.account();
        complete
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
