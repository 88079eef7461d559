//! What a transaction remembers about the tables it changes.

use super::TableState;
use gingham_plan::TableId;

/// A state for each table, in no order. Transactions change few tables, and every change
/// asks for one: looking through a short list is less work than hashing.
#[derive(Default)]
pub(crate) struct TableStates(Vec<(TableId, TableState)>);

impl TableStates {
    /// The state of a table, made if there is none.
    pub(super) fn of(&mut self, table: TableId) -> &mut TableState {
        let index = match self.0.iter().position(|(id, _)| *id == table) {
            Some(index) => index,
            None => {
                self.0.push((table, TableState::default()));
                self.0.len() - 1
            }
        };
        &mut self.0[index].1
    }

    /// Whether rows of a table are waiting in a row group that is being filled.
    pub(super) fn is_loading(&self, table: TableId) -> bool {
        self.0.iter().any(|(id, state)| *id == table && state.is_loading())
    }

    /// As [`TableStates::is_loading`], of any table.
    pub(crate) fn is_loading_any(&self) -> bool {
        self.0.iter().any(|(_, state)| state.is_loading())
    }

    pub(super) fn remove(&mut self, table: TableId) {
        self.0.retain(|(id, _)| *id != table);
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (TableId, &mut TableState)> {
        self.0.iter_mut().map(|(id, state)| (*id, state))
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
