//! DISTINCT in an aggregate: a set of (group, value).
//!
//! A set for which there is no more memory takes no more pairs: pairs that it does not
//! have are put aside in temporary space, divided by their hash, and looked at part by
//! part when the input has ended.

use super::Groups;
use crate::Result;
use crate::execution::group_table::{GroupTable, NO_GROUP};
use crate::execution::keys::{KeyColumn, KeyWords};
use crate::execution::memory::Reservation;
use crate::execution::spill::{LEVELS_MAX, Partitions, Run, RunReader, row_hashes};
use crate::vector::{Batch, Data, Vector};
use gingham_types::SqlType;
use std::sync::Arc;

/// The place of the value among the columns that are put aside.
const VALUE: usize = 1;

/// The values that each group has had.
#[derive(Debug)]
pub(super) struct DistinctSet {
    /// Types of what is put aside: the group, the value, what goes with it.
    types: Vec<SqlType>,
    key: KeyColumn,
    table: GroupTable,
    /// Pairs put aside, once the set is full.
    rest: Option<Partitions>,
    level: u32,
    waiting: Vec<(Run, u32)>,
    reader: Option<RunReader>,
}

impl DistinctSet {
    /// An empty set of values of the first of `types`; the others are those of columns
    /// that a value takes along when it is put aside.
    pub(super) fn new(types: &[SqlType]) -> Self {
        let types: Vec<SqlType> = std::iter::once(SqlType::Integer).chain(types.iter().copied()).collect();
        let (key, table) = empty(types[VALUE], usize::MAX);
        Self { types, key, table, rest: None, level: 0, waiting: Vec::new(), reader: None }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.key.memory_bytes() + self.table.memory_bytes()
    }

    pub(super) fn growth_bytes(&self, added: usize) -> usize {
        if self.rest.is_some() { 0 } else { self.table.growth_bytes(added) }
    }

    /// Whether pairs have been put aside.
    pub(super) fn has_rest(&self) -> bool {
        self.rest.is_some() || self.reader.is_some() || !self.waiting.is_empty()
    }

    /// From now on new pairs are put aside.
    pub(super) fn fill_up(&mut self, memory: &Reservation) -> Result<()> {
        if self.rest.is_none() && self.table.groups() > 0 {
            self.rest = Some(Partitions::new(memory, self.level)?);
        }
        Ok(())
    }

    /// The positions in `values` of those that are new in their group; none when the set
    /// is full. `rows` are the rows of the batch that the values belong to. Only columns
    /// that the values take along have NULLs.
    pub(super) fn first_rows(
        &mut self,
        values: &Batch,
        groups: Groups<'_>,
        rows: Option<&[u32]>,
        memory: &Reservation,
    ) -> Result<Vec<u32>> {
        let mut keys = KeyWords { rows: values.rows, ..KeyWords::default() };
        let group = |at: usize| groups.of(rows.map_or(at, |rows| rows[at] as usize)) as i64;
        keys.words.push((0..values.rows).map(group).collect());
        keys.valid.push(None);
        self.key.encode(&values.columns[0], self.rest.is_none(), &mut keys)?;
        if let Some(rest) = &mut self.rest {
            let numbers = self.table.find(&keys);
            let new: Vec<u32> = (0..numbers.len() as u32).filter(|at| numbers[*at as usize] == NO_GROUP).collect();
            let groups = Data::Int32(keys.words[0].iter().map(|group| *group as i32).collect());
            let mut columns = vec![Arc::new(Vector::new(groups))];
            columns.extend(values.columns.iter().cloned());
            let hashes = row_hashes(&columns[..=VALUE], &self.types[..=VALUE], values.rows)?;
            let pairs = Batch::new(columns, values.rows);
            rest.push(&pairs, &hashes, Some(&new), |_| true, memory)?;
            return Ok(Vec::new());
        }
        // Numbers are given in the order of the rows: the first row of a new pair is the
        // one whose number is the next.
        let mut next = self.table.groups() as u32;
        let numbers = self.table.assign(&keys)?;
        let mut first = Vec::new();
        for (at, number) in numbers.iter().enumerate() {
            if *number == next {
                first.push(at as u32);
                next += 1;
            }
        }
        Ok(first)
    }

    /// Of the pairs put aside, some values that are new in their groups; `None` when
    /// there are no more. What the set had before is forgotten.
    pub(super) fn next_of_rest(&mut self, memory: &Reservation) -> Result<Option<(Batch, Vec<u32>)>> {
        loop {
            let batch = self.reader.as_mut().map_or(Ok(None), RunReader::next)?;
            if let Some(batch) = batch {
                let groups: Vec<u32> = match &batch.columns[0].data {
                    Data::Int32(groups) => groups.iter().map(|group| *group as u32).collect(),
                    _ => Vec::new(),
                };
                let values = Batch::new(batch.columns[VALUE..].to_vec(), batch.rows);
                let first = self.first_rows(&values, Groups::Numbers(&groups), None, memory)?;
                let groups = first.iter().map(|at| groups[*at as usize]).collect();
                return Ok(Some((values.gather(&first), groups)));
            }
            if let Some(rest) = self.rest.take() {
                let level = (self.level + 1).min(LEVELS_MAX);
                let runs = rest.finish(memory)?.into_iter().filter(|run| run.rows() > 0);
                self.waiting.extend(runs.map(|run| (run, level)));
            }
            let Some((run, level)) = self.waiting.pop() else {
                self.reader = None;
                return Ok(None);
            };
            (self.key, self.table) = empty(self.types[VALUE], memory.bytes_available());
            self.level = level;
            self.reader = Some(RunReader::new(run, &self.types));
        }
    }
}

fn empty(ty: SqlType, bytes_max: usize) -> (KeyColumn, GroupTable) {
    let key = KeyColumn::new(ty);
    // A constant group number packs into no bits, so that one form serves both.
    let table = GroupTable::new(1 + key.width(), 0, bytes_max);
    (key, table)
}
