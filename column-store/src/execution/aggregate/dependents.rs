//! Text keys that the other keys decide.
//!
//! In `GROUP BY id, name, address` rows that agree in the id agree in the rest, as a rule.
//! As long as that holds groups are found by the other keys alone: the texts of a group's
//! first row are kept and those of its other rows compared with them, which is mostly a
//! comparison of codes, and no string is hashed. The first row that disagrees ends it.

use crate::Result;
use crate::execution::columns::Column;
use crate::execution::keys::KeyColumn;
use crate::vector::{Data, Vector};
use gingham_types::SqlType;
use std::sync::Arc;

/// The texts of each group's first row.
#[derive(Debug)]
pub(super) struct Dependents {
    /// For each key, its values by group if it is text.
    columns: Vec<Option<Column>>,
}

/// Whether a key is one that others may decide.
pub(super) const fn is_dependent(key: &KeyColumn) -> bool {
    key.interner.is_some()
}

impl Dependents {
    /// `None` where no other key could decide, or there is nothing to be decided.
    pub(super) fn new(keys: &[KeyColumn], types: &[SqlType]) -> Option<Self> {
        let texts = keys.iter().filter(|key| is_dependent(key)).count();
        let column = |(key, ty): (&KeyColumn, &SqlType)| is_dependent(key).then(|| Column::new(*ty));
        (texts > 0 && texts < keys.len()).then(|| Self { columns: keys.iter().zip(types).map(column).collect() })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.columns.iter().flatten().map(Column::memory_bytes).sum()
    }

    /// Bytes that this many groups more may take.
    pub(super) fn growth_bytes(&self, added: usize) -> usize {
        self.columns.iter().flatten().map(|column| column.growth_bytes(added)).sum()
    }

    /// Takes the groups from number `known` on, each from its first row: numbers are given
    /// in the order of the rows.
    pub(super) fn append(&mut self, keys: &[Arc<Vector>], numbers: &[u32], known: usize) -> Result<()> {
        let mut next = known as u32;
        let mut firsts = Vec::new();
        for (row, number) in numbers.iter().enumerate() {
            if *number == next {
                firsts.push(row as u32);
                next += 1;
            }
        }
        let texts = self.columns.iter_mut().zip(keys).filter_map(|(column, key)| Some((column.as_mut()?, key)));
        for (column, key) in texts {
            column.append(key, Some(&firsts))?;
        }
        Ok(())
    }

    /// The rows whose texts are not those of their group. Rows of no group are left out.
    pub(super) fn disagreeing(&self, keys: &[Arc<Vector>], numbers: &[u32]) -> Vec<u32> {
        let mut rows: Vec<u32> = Vec::new();
        for (column, key) in self.columns.iter().zip(keys) {
            let (Some(column), Data::Text(text)) = (column, &key.data) else { continue };
            let known = column.validity();
            let same_dictionary = column.codes_in(&text.dictionary).unwrap_or_default();
            for (row, number) in numbers.iter().enumerate() {
                let group = *number as usize;
                if group >= column.len() {
                    continue;
                }
                let valid = key.is_valid(row);
                let agrees = valid == known.is_none_or(|known| known[group])
                    && (!valid
                        || same_dictionary.get(group) == Some(&text.codes[row])
                        || column.text(group) == text.bytes(row));
                if !agrees {
                    rows.push(row as u32);
                }
            }
        }
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// Makes the texts ready for [`Dependents::vector`]; nothing can be added any more.
    pub(super) fn freeze(&mut self) {
        self.columns.iter_mut().flatten().for_each(Column::freeze);
    }

    /// The texts of some groups, for a key that is text.
    pub(super) fn vector(&self, key: usize, groups: std::ops::Range<usize>) -> Option<Vector> {
        let rows: Vec<u32> = (groups.start as u32..groups.end as u32).collect();
        self.columns.get(key)?.as_ref().map(|column| column.gather(&rows))
    }
}
