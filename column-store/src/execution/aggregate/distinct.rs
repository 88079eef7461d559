//! DISTINCT in an aggregate: a set of (group, value).

use super::Groups;
use crate::Result;
use crate::execution::group_table::GroupTable;
use crate::execution::keys::{KeyColumn, KeyWords};
use crate::vector::Vector;
use gingham_types::SqlType;

/// The values that each group has had.
#[derive(Debug)]
pub(super) struct DistinctSet {
    key: KeyColumn,
    table: GroupTable,
}

impl DistinctSet {
    pub(super) fn new(ty: SqlType) -> Self {
        let key = KeyColumn::new(ty);
        // A constant group number packs into no bits, so that one form serves both.
        let table = GroupTable::new(1 + key.width(), 0);
        Self { key, table }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.key.memory_bytes() + self.table.memory_bytes()
    }

    /// The positions in `values` of those that are new in their group. `rows` are the
    /// rows of the batch that the values belong to; none is NULL.
    pub(super) fn first_rows(&mut self, values: &Vector, groups: Groups<'_>, rows: Option<&[u32]>) -> Result<Vec<u32>> {
        let mut keys = KeyWords { rows: values.len(), ..KeyWords::default() };
        let group = |at: usize| groups.of(rows.map_or(at, |rows| rows[at] as usize)) as i64;
        keys.words.push((0..values.len()).map(group).collect());
        keys.valid.push(None);
        self.key.encode(values, true, &mut keys)?;
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
}
