//! Recursive common table expressions, round by round.
//!
//! The rows of a round are kept until the next has read them; with UNION also one key
//! for every row ever put out. Both count against the query's memory, and the number of
//! rounds has a bound of its own: a recursion that never ends is an error, also where
//! each round is small.

use super::context::Scope;
use super::group_table::GroupTable;
use super::keys::{KeyColumn, KeyWords};
use super::memory::{Reservation, batch_bytes};
use super::stage::{Operator, Place, Site, Stage};
use crate::Result;
use crate::expression::error;
use crate::source::Step;
use crate::vector::Batch;
use gingham_plan::{Recursive, WorkId};
use std::rc::Rc;

/// Rounds of one recursion.
const ROUNDS_MAX: u32 = 1_000_000;

/// Puts out the start and then round after round.
pub(crate) struct RecursiveOperator {
    scope: Rc<Scope>,
    work: WorkId,
    /// Where the recursive term is.
    step: Place,
    running: Stage,
    rounds: u32,
    /// What the running term has given.
    gathered: Vec<Batch>,
    gathered_bytes: usize,
    /// UNION: the rows so far.
    seen: Option<Seen>,
    memory: Reservation,
}

/// Rows that have been put out.
struct Seen {
    keys: Vec<KeyColumn>,
    table: GroupTable,
}

impl Seen {
    fn memory_bytes(&self) -> usize {
        self.table.memory_bytes() + self.keys.iter().map(KeyColumn::memory_bytes).sum::<usize>()
    }

    /// The rows that have not been there before, each once.
    fn new_rows(&mut self, batch: &Batch) -> Result<Vec<u32>> {
        let mut words = KeyWords { rows: batch.rows, ..KeyWords::default() };
        for (key, column) in self.keys.iter_mut().zip(&batch.columns) {
            key.encode(column, true, &mut words)?;
        }
        let before = self.table.groups();
        let numbers = self.table.assign(&words)?;
        let mut first = vec![true; self.table.groups() - before];
        let is_new = |row: &u32| match (numbers[*row as usize] as usize).checked_sub(before) {
            Some(at) => std::mem::replace(&mut first[at], false),
            None => false,
        };
        Ok((0..batch.rows as u32).filter(is_new).collect())
    }
}

impl RecursiveOperator {
    pub(crate) fn new(site: &Site<'_>, recursive: &Recursive) -> Self {
        let keys: Vec<KeyColumn> = recursive.types.iter().map(|ty| KeyColumn::new(*ty)).collect();
        let width = keys.iter().map(KeyColumn::width).sum();
        let memory = site.reservation();
        Self {
            scope: Rc::clone(site.scope),
            work: recursive.work,
            step: site.place.input(site.node, 1),
            running: site.input(0),
            rounds: 0,
            gathered: Vec::new(),
            gathered_bytes: 0,
            seen: recursive.distinct.then(|| Seen { keys, table: GroupTable::new(width, 0, memory.bytes_available()) }),
            memory,
        }
    }

    /// The next round over what the last one gave; false if that was nothing.
    fn begin_round(&mut self) -> Result<bool> {
        let rows = std::mem::take(&mut self.gathered);
        if rows.is_empty() {
            return Ok(false);
        }
        self.rounds += 1;
        if self.rounds > ROUNDS_MAX {
            let message = format!("a recursive query did not end after {ROUNDS_MAX} rounds");
            return Err(error::invalid_argument("54000", message));
        }
        let context = &self.scope.context;
        context.works.borrow_mut().insert(self.work, Rc::new(rows));
        self.gathered_bytes = 0;
        // Its joins publish other keys in each round.
        let scope = Scope::with_slots(Rc::clone(context), self.scope.slots.clone());
        self.running = Stage::new(scope, self.step.clone());
        Ok(true)
    }
}

impl Operator for RecursiveOperator {
    fn next(&mut self) -> Result<Step> {
        let mut batch = match self.running.next()? {
            Step::Batch(batch) => batch,
            Step::Working => return Ok(Step::Working),
            Step::Finished if self.begin_round()? => return Ok(Step::Working),
            Step::Finished => {
                self.scope.context.works.borrow_mut().remove(&self.work);
                return Ok(Step::Finished);
            }
        };
        if let Some(seen) = &mut self.seen {
            let new = seen.new_rows(&batch)?;
            if new.is_empty() {
                return Ok(Step::Working);
            }
            if new.len() < batch.rows {
                batch = batch.gather(&new);
            }
        }
        self.gathered_bytes += batch_bytes(&batch);
        self.gathered.push(batch.clone());
        // The round before is still being read.
        self.memory.resize(2 * self.gathered_bytes + self.seen.as_ref().map_or(0, Seen::memory_bytes))?;
        Ok(Step::Batch(batch))
    }
}

/// Reads the last round.
pub(crate) struct WorkOperator {
    rows: Rc<Vec<Batch>>,
    columns: Vec<usize>,
    next: usize,
}

impl WorkOperator {
    pub(crate) fn new(site: &Site<'_>, work: WorkId, columns: &[usize]) -> Result<Self> {
        let rows = site.scope.context.works.borrow().get(&work).cloned();
        let rows = rows.ok_or_else(|| error::internal("a recursive term runs by itself"))?;
        Ok(Self { rows, columns: columns.to_vec(), next: 0 })
    }
}

impl Operator for WorkOperator {
    fn next(&mut self) -> Result<Step> {
        let Some(batch) = self.rows.get(self.next) else { return Ok(Step::Finished) };
        self.next += 1;
        Ok(Step::Batch(batch.project(&self.columns)))
    }
}
