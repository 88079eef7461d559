//! Changes of many rows that keep their place, or go, made together: of each tree in the order
//! of its keys, so that a page is looked for once and not for every row.

use super::strings::Strings;
use super::{TableState, copy, index};
use crate::error::Result;
use crate::schema::{Index, Table};
use gingham_plan::Storage;
use gingham_row_store::{Transaction, TreeId};
use gingham_types::Value;

/// Changes that wait for [`Together::apply`]. Nothing that is read meanwhile depends on
/// them: entries of unique indexes and keys do not move here.
pub(crate) struct Together {
    locators: Strings,
    /// What each row becomes, nothing where it goes.
    rows: Strings,
    goes: Vec<bool>,
    /// For each index the keys of its entries, and whether one goes or comes.
    entries: Vec<(Strings, Vec<bool>)>,
}

impl Together {
    pub(crate) fn new(table: &Table) -> Self {
        let entries = table.indexes.iter().map(|_| Default::default()).collect();
        Self { locators: Strings::default(), rows: Strings::default(), goes: Vec::new(), entries }
    }

    /// Takes a row up if its key stays and no unique value moves; else returns `false`.
    pub(super) fn take(&mut self, table: &Table, locator: &[u8], old: &[Value], new: &[Value]) -> Result<bool> {
        let key_moves = !table.has_row_id() && table.record.primary_key.iter().any(|c| old[*c] != new[*c]);
        if key_moves || index::unique_moves(table, old, new)? {
            return Ok(false);
        }
        for (index, entries) in table.indexes.iter().zip(&mut self.entries) {
            if index::may_move(index, old, new) {
                push_entry(entries, index, locator, old, false)?;
                push_entry(entries, index, locator, new, true)?;
            }
        }
        self.locators.push_bytes(locator);
        self.rows.push(|out| Ok(table.row_layout.encode(new, out)?))?;
        self.goes.push(false);
        Ok(true)
    }

    /// Takes up a row, given by its bytes, of which free columns change (see
    /// [`Table::is_free`]). Of `old` and `new` only the columns of indexes that have one of
    /// those are looked at.
    pub(crate) fn patch(
        &mut self,
        table: &Table,
        (locator, bytes): (&[u8], &[u8]),
        old: &[Value],
        new: &[Value],
        changes: &[(usize, Value)],
    ) -> Result<()> {
        for (index, entries) in table.indexes.iter().zip(&mut self.entries) {
            if index::may_move(index, old, new) {
                push_entry(entries, index, locator, old, false)?;
                push_entry(entries, index, locator, new, true)?;
            }
        }
        self.locators.push_bytes(locator);
        self.goes.push(false);
        self.rows.push(|out| Ok(table.row_layout.patch(bytes, changes, out)?))
    }

    /// Takes up a row that goes.
    pub(super) fn remove(&mut self, table: &Table, locator: &[u8], row: &[Value]) -> Result<()> {
        for (index, entries) in table.indexes.iter().zip(&mut self.entries) {
            push_entry(entries, index, locator, row, false)?;
        }
        self.locators.push_bytes(locator);
        self.rows.push_bytes(&[]);
        self.goes.push(true);
        Ok(())
    }

    /// Rows, and bytes that they take here.
    pub(super) fn size(&self) -> (usize, usize) {
        let entries = self.entries.iter().map(|(keys, _)| keys.bytes()).sum::<usize>();
        (self.locators.len(), self.locators.bytes() + self.rows.bytes() + entries)
    }

    /// Makes the changes.
    pub(super) fn apply(self, transaction: &mut Transaction, table: &Table, state: &mut TableState) -> Result<()> {
        if table.record.storage == Storage::Hybrid {
            (0..self.locators.len()).try_for_each(|at| copy::mark(transaction, table, self.locators.get(at), state))?;
        }
        for (Index { tree, .. }, (keys, comes)) in table.indexes.iter().zip(&self.entries) {
            // Of equal keys the one that goes came first.
            apply(transaction, *tree, keys, &|at| comes[at].then_some(&[][..]))?;
        }
        apply(transaction, table.rows_tree(), &self.locators, &|at| (!self.goes[at]).then(|| self.rows.get(at)))
    }
}

/// Adds the entry that a row has in an index, if it has one.
fn push_entry(
    (keys, comes): &mut (Strings, Vec<bool>),
    index: &Index,
    locator: &[u8],
    row: &[Value],
    is_new: bool,
) -> Result<()> {
    if index::has_entry(index, row)? {
        keys.push(|out| {
            index::encode_entry(index, row, out)?;
            out.extend_from_slice(locator);
            Ok(())
        })?;
        comes.push(is_new);
    }
    Ok(())
}

fn apply<'a>(
    transaction: &mut Transaction,
    tree: TreeId,
    keys: &'a Strings,
    value: &dyn Fn(usize) -> Option<&'a [u8]>,
) -> Result<()> {
    let order = keys.order();
    let at = |position: usize| order.as_ref().map_or(position, |order| order[position] as usize);
    let changes: Vec<(&[u8], Option<&[u8]>)> =
        (0..keys.len()).map(at).map(|position| (keys.get(position), value(position))).collect();
    Ok(transaction.apply(tree, &changes)?)
}
