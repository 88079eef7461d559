//! A walk over key ranges: rows one after the other, each where it lies.

use super::bounds::{AccessRanges, KeyRange};
use super::entry::EntryReader;
use super::view::View;
use crate::database::Shared;
use crate::error::Result;
use crate::schema::Table;
use gingham_row_store::row::RowReader;
use gingham_row_store::{Cursor, Direction, TreeId};
use gingham_types::Value;
use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

/// A row on the way.
#[derive(Clone, Copy)]
pub(crate) enum RowValues<'a> {
    /// Of the table; columns go by their ordinals.
    Row(&'a RowReader<'a>),
    /// Of an index's entry that has every column wanted; columns go by [`Walk::place`].
    Entry(&'a [Value]),
}

impl RowValues<'_> {
    /// An INTEGER, BIGINT, DATE (days) or TIMESTAMP (microseconds); `None` is NULL, as it
    /// is for a column of another type.
    #[inline]
    pub(crate) fn int(&self, place: usize) -> Option<i64> {
        match self {
            Self::Row(row) => row.int(place),
            Self::Entry(values) => match values.get(place)? {
                Value::Int(value) | Value::Timestamp(value) => Some(*value),
                Value::Date(value) => Some(i64::from(*value)),
                _ => None,
            },
        }
    }

    #[inline]
    pub(crate) fn is_null(&self, place: usize) -> bool {
        match self {
            Self::Row(row) => row.is_null(place),
            Self::Entry(values) => values.get(place).is_none_or(Value::is_null),
        }
    }
}

/// Moves over the rows of a path.
pub(crate) struct Walk {
    shared: Arc<Shared>,
    table: Arc<Table>,
    view: View,
    tree: TreeId,
    index: Option<usize>,
    /// Reads rows off the index's entries, if those have all that is wanted.
    entries: Option<EntryReader>,
    /// Ordinals of the columns that are read.
    wanted: Vec<usize>,
    ranges: VecDeque<KeyRange>,
    direction: Direction,
    cursor: Option<Cursor>,
    bytes_read: u64,
}

impl Walk {
    /// A walk along `access` that reads the columns `wanted`; `access.lookup` is the
    /// caller's to resolve, see [`Walk::set_ranges`].
    pub(crate) fn new(
        shared: Arc<Shared>,
        table: Arc<Table>,
        view: View,
        access: AccessRanges,
        wanted: Vec<usize>,
    ) -> Self {
        Self {
            entries: access.index.and_then(|index| EntryReader::new(&table, index, &wanted)),
            tree: access.tree,
            index: access.index,
            wanted,
            ranges: access.ranges.into(),
            direction: if access.reverse { Direction::Reverse } else { Direction::Forward },
            cursor: None,
            bytes_read: 0,
            shared,
            table,
            view,
        }
    }

    /// Where a wanted column is in the rows that are visited.
    pub(crate) fn place(&self, ordinal: usize) -> usize {
        self.entries.as_ref().map_or(ordinal, |entries| entries.place(ordinal))
    }

    /// Entries of the tree that is walked, in all.
    pub(crate) fn entries_in_tree(&self) -> Result<u64> {
        self.view.read(|read| Ok(read.count(self.tree)?))
    }

    /// Replaces the ranges that are still to come.
    pub(crate) fn set_ranges(&mut self, ranges: impl Into<VecDeque<KeyRange>>) {
        self.ranges = ranges.into();
    }

    /// Bytes of entries so far.
    pub(crate) const fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Shows `visit` the next row and its locator; `false` if there is none.
    #[inline]
    pub(crate) fn next_row(&mut self, visit: impl FnOnce(RowValues<'_>, &[u8]) -> Result<()>) -> Result<bool> {
        loop {
            let cursor = match &mut self.cursor {
                Some(cursor) => cursor,
                None => {
                    let Some((lower, upper)) = self.ranges.pop_front() else { return Ok(false) };
                    if is_empty(&lower, &upper) {
                        continue;
                    }
                    let bounds = (lower.as_ref().map(Vec::as_slice), upper.as_ref().map(Vec::as_slice));
                    self.cursor.insert(self.view.cursor(self.tree, bounds.0, bounds.1, self.direction)?)
                }
            };
            let Some((key, value)) = cursor.next()? else {
                self.cursor = None;
                continue;
            };
            self.bytes_read += (key.len() + value.len()) as u64;
            let Some(position) = self.index else {
                visit(RowValues::Row(&self.table.row_layout.reader(value)?), key)?;
                return Ok(true);
            };
            let entry = &self.table.indexes[position].layout;
            if let Some(entries) = &mut self.entries {
                let (values, values_bytes) = entries.read(entry, key)?;
                visit(RowValues::Entry(values), &key[values_bytes..])?;
            } else {
                let locator = &key[entry.encoded_bytes(key)?..];
                self.view.with_row(&self.shared, &self.table, locator, &self.wanted, |row| {
                    visit(RowValues::Row(row), locator)
                })?;
            }
            return Ok(true);
        }
    }
}

/// Whether no key can lie between the bounds (cursors want them in order).
fn is_empty(lower: &Bound<Vec<u8>>, upper: &Bound<Vec<u8>>) -> bool {
    match (lower, upper) {
        (Bound::Included(a), Bound::Included(b)) => a > b,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => a >= b,
        _ => false,
    }
}
