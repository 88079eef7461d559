//! The rows that an expression is being evaluated over.

use super::operand::Operand;
use super::program::Program;
use crate::Result;
use crate::vector::{Batch, Vector};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A batch, or some of its rows. Columns of a part are gathered when they are first
/// asked for, and once.
pub(crate) struct Frame<'a> {
    batch: &'a Batch,
    rows: Option<Vec<u32>>,
    gathered: RefCell<Vec<Option<Arc<Vector>>>>,
    /// Parts that several expressions share, and their values over these rows.
    shared: &'a [Rc<Program>],
    values: RefCell<Vec<Option<Operand>>>,
}

impl<'a> Frame<'a> {
    /// All rows of a batch.
    pub(crate) fn new(batch: &'a Batch, shared: &'a [Rc<Program>]) -> Self {
        Self::of(batch, None, shared)
    }

    /// The rows of a batch that `rows` names.
    pub(crate) fn with_rows(batch: &'a Batch, rows: Vec<u32>, shared: &'a [Rc<Program>]) -> Self {
        Self::of(batch, Some(rows), shared)
    }

    fn of(batch: &'a Batch, rows: Option<Vec<u32>>, shared: &'a [Rc<Program>]) -> Self {
        let columns = if rows.is_some() { batch.columns.len() } else { 0 };
        Self {
            batch,
            rows,
            gathered: RefCell::new(vec![None; columns]),
            shared,
            values: RefCell::new(vec![None; shared.len()]),
        }
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.as_ref().map_or(self.batch.rows, Vec::len)
    }

    /// Some of these rows, by their position among them.
    pub(crate) fn narrow(&self, positions: &[u32]) -> Self {
        let rows = match &self.rows {
            None => positions.to_vec(),
            Some(rows) => positions.iter().map(|at| rows[*at as usize]).collect(),
        };
        Self::of(self.batch, Some(rows), self.shared)
    }

    /// A column over these rows.
    pub(crate) fn column(&self, index: usize) -> Option<Arc<Vector>> {
        let column = self.batch.columns.get(index)?;
        let Some(rows) = &self.rows else {
            return Some(Arc::clone(column));
        };
        let mut gathered = self.gathered.borrow_mut();
        let gathered = gathered[index].get_or_insert_with(|| Arc::new(column.gather(rows)));
        Some(Arc::clone(gathered))
    }

    /// A shared part over these rows.
    pub(crate) fn shared(&self, slot: usize) -> Result<Operand> {
        if let Some(value) = &self.values.borrow()[slot] {
            return Ok(value.clone());
        }
        let value = self.shared[slot].evaluate(self)?;
        self.values.borrow_mut()[slot] = Some(value.clone());
        Ok(value)
    }
}
