//! Rows read off the entries of an index that has every column wanted.

use crate::error::Result;
use crate::schema::Table;
use gingham_row_store::key::KeyLayout;
use gingham_types::{SqlType, Value};

/// Turns an index's entries into rows of the indexed columns and the primary key's.
pub(crate) struct EntryReader {
    /// Table ordinals in the order of the entry's values; `None` stands for an expression.
    ordinals: Vec<Option<usize>>,
    /// The primary key behind the indexed columns; none for row ids.
    key_layout: Option<KeyLayout>,
    values: Vec<Value>,
}

impl EntryReader {
    /// A reader for the index at `position`, if its entries have all of `columns`. A
    /// DOUBLE's key does not tell -0 from 0.
    pub(crate) fn new(table: &Table, position: usize, columns: &[usize]) -> Option<Self> {
        let index = &table.indexes[position];
        let key: &[usize] = if table.has_row_id() { &[] } else { &table.record.primary_key };
        let mut ordinals = index.info.entry_columns();
        ordinals.extend(key.iter().copied().map(Some));
        let all = table.row_layout.types();
        if !columns.iter().all(|c| ordinals.contains(&Some(*c)) && all[*c] != SqlType::Double) {
            return None;
        }
        let key_layout = (!key.is_empty()).then(|| table.key_layout.clone());
        Some(Self { ordinals, key_layout, values: Vec::new() })
    }

    /// Where a table's column is in the rows that are read.
    pub(crate) fn place(&self, ordinal: usize) -> usize {
        self.ordinals.iter().position(|c| *c == Some(ordinal)).unwrap_or(ordinal)
    }

    /// The values of an entry, and how many bytes come before its locator.
    pub(crate) fn read(&mut self, entry: &KeyLayout, key: &[u8]) -> Result<(&[Value], usize)> {
        self.values.clear();
        let values_bytes = entry.decode_into(key, &mut self.values)?;
        if let Some(layout) = &self.key_layout {
            layout.decode_into(&key[values_bytes..], &mut self.values)?;
        }
        Ok((&self.values, values_bytes))
    }
}
