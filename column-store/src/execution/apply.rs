//! Subplans that run once for each distinct combination of outer values.

use super::coalesce::Coalescer;
use super::columns::ColumnStore;
use super::context::{Scope, more_than_one_row, single_value};
use super::interner::Interner;
use super::memory::{Reservation, batch_bytes};
use super::stage::{Operator, Place, Site, Stage};
use crate::Result;
use crate::expression::{ColumnBuilder, error};
use crate::source::Step;
use crate::vector::{BATCH_ROWS, Batch};
use gingham_plan::{Apply, ApplyKind, SlotId, to_bytes};
use gingham_types::{SqlType, Value};
use std::rc::Rc;
use std::sync::Arc;

/// Results remembered at a time, and the rows they may have together. Past either all
/// are forgotten: the bound matters more than the best choice.
const MEMO_ENTRIES_MAX: usize = 1 << 16;
const MEMO_ROWS_MAX: usize = 1 << 20;

/// What a subplan gave for one combination of outer values.
#[derive(Clone)]
enum Outcome {
    Value(Value),
    Rows(Rc<Vec<Batch>>),
}

/// Applies a subplan to every input row.
pub(crate) struct ApplyOperator {
    scope: Rc<Scope>,
    input: Stage,
    subplan: Place,
    kind: ApplyKind,
    bindings: Vec<(SlotId, usize)>,
    input_types: Vec<SqlType>,
    added_types: Vec<SqlType>,
    memo: Memo,
    current: Option<Current>,
    output: Coalescer,
    ready: std::collections::VecDeque<Batch>,
    finished: bool,
}

/// An input batch in progress.
struct Current {
    batch: Batch,
    row: usize,
    /// The subplan for this row while it runs, and what it has given.
    running: Option<(Stage, Vec<Batch>)>,
    /// Scalar and Exists: the values so far.
    values: ColumnBuilder,
    /// Cross and Left: rows joined so far.
    joined: ColumnStore,
}

/// Outcomes by the bytes of the outer values.
struct Memo {
    keys: Interner,
    outcomes: Vec<Outcome>,
    rows: usize,
    bytes: usize,
    memory: Reservation,
}

impl Memo {
    fn get(&self, key: &[u8]) -> Option<Outcome> {
        self.keys.find(key).and_then(|number| self.outcomes.get(number as usize)).cloned()
    }

    fn add(&mut self, key: &[u8], outcome: Outcome) -> Result<()> {
        if self.outcomes.len() >= MEMO_ENTRIES_MAX || self.rows >= MEMO_ROWS_MAX {
            self.forget();
        }
        if let Outcome::Rows(batches) = &outcome {
            self.rows += batches.iter().map(|batch| batch.rows).sum::<usize>();
            self.bytes += batches.iter().map(batch_bytes).sum::<usize>();
        }
        if self.keys.intern(key)? as usize == self.outcomes.len() {
            self.outcomes.push(outcome);
        }
        if !self.memory.try_resize(self.memory_bytes()) {
            // Remembering is a convenience.
            self.forget();
            self.memory.force(self.memory_bytes());
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.keys.memory_bytes() + self.outcomes.capacity() * size_of::<Outcome>() + self.bytes
    }

    fn forget(&mut self) {
        self.keys = Interner::default();
        self.outcomes = Vec::new();
        self.rows = 0;
        self.bytes = 0;
    }
}

impl ApplyOperator {
    pub(crate) fn new(site: &Site<'_>, apply: &Apply) -> Self {
        let memory = site.reservation();
        Self {
            scope: Rc::clone(site.scope),
            input: site.input(0),
            subplan: site.place.input(site.node, 1),
            kind: apply.kind,
            bindings: apply.bindings.clone(),
            input_types: apply.input.types(),
            added_types: apply.types.clone(),
            memo: Memo { keys: Interner::default(), outcomes: Vec::new(), rows: 0, bytes: 0, memory },
            current: None,
            output: Coalescer::new(site.node.types()),
            ready: std::collections::VecDeque::new(),
            finished: false,
        }
    }

    fn begin(&self, batch: Batch) -> Current {
        let ty = self.added_types.first().copied().unwrap_or(SqlType::Null);
        let types: Vec<SqlType> = self.input_types.iter().chain(&self.added_types).copied().collect();
        Current {
            row: 0,
            running: None,
            values: ColumnBuilder::new(ty, batch.rows),
            joined: ColumnStore::new(&types),
            batch,
        }
    }

    /// The outer values of a row.
    fn bound(&self, current: &Current) -> Vec<Value> {
        let value = |(_, column): &(SlotId, usize)| {
            current.batch.columns[*column].value(current.row, self.input_types[*column])
        };
        self.bindings.iter().map(value).collect()
    }

    fn advance(&mut self, mut current: Current) -> Result<()> {
        if current.row == current.batch.rows {
            return self.end(current);
        }
        let bound = self.bound(&current);
        let key = to_bytes(&bound)?;
        let outcome = match current.running.take() {
            None => {
                let Some(outcome) = self.memo.get(&key) else {
                    current.running = Some((self.start(&bound), Vec::new()));
                    self.current = Some(current);
                    return Ok(());
                };
                outcome
            }
            Some((mut stage, mut batches)) => match stage.next()? {
                Step::Finished => {
                    let outcome = self.outcome(batches)?;
                    self.memo.add(&key, outcome.clone())?;
                    outcome
                }
                step => {
                    if let Step::Batch(batch) = step {
                        batches.push(batch);
                    }
                    let outcome = self.early(&batches)?;
                    if let Some(outcome) = outcome {
                        self.memo.add(&key, outcome.clone())?;
                        outcome
                    } else {
                        current.running = Some((stage, batches));
                        self.current = Some(current);
                        return Ok(());
                    }
                }
            },
        };
        self.append(&mut current, outcome)?;
        self.current = Some(current);
        Ok(())
    }

    fn start(&self, bound: &[Value]) -> Stage {
        let mut slots = self.scope.slots.clone();
        for ((slot, _), value) in self.bindings.iter().zip(bound) {
            if let Some(place) = slots.get_mut(slot.0 as usize) {
                *place = Some(value.clone());
            }
        }
        let scope = Scope::with_slots(Rc::clone(&self.scope.context), slots);
        Stage::new(scope, self.subplan.clone())
    }

    /// What is decided before the subplan ends.
    fn early(&self, batches: &[Batch]) -> Result<Option<Outcome>> {
        match self.kind {
            ApplyKind::Exists if !batches.is_empty() => Ok(Some(Outcome::Value(Value::Boolean(true)))),
            ApplyKind::Scalar if batches.iter().map(|batch| batch.rows).sum::<usize>() > 1 => Err(more_than_one_row()),
            _ => Ok(None),
        }
    }

    fn outcome(&self, batches: Vec<Batch>) -> Result<Outcome> {
        Ok(match self.kind {
            ApplyKind::Exists => Outcome::Value(Value::Boolean(!batches.is_empty())),
            ApplyKind::Scalar => Outcome::Value(match batches.first() {
                None => Value::Null,
                Some(batch) => single_value(batch, self.subplan.node(&self.scope.context.query)?)?,
            }),
            ApplyKind::Cross | ApplyKind::Left => Outcome::Rows(Rc::new(batches)),
        })
    }

    /// Adds the outcome of the current row and goes on to the next.
    fn append(&mut self, current: &mut Current, outcome: Outcome) -> Result<()> {
        match outcome {
            Outcome::Value(value) => current.values.push(&value)?,
            Outcome::Rows(batches) => {
                let row = current.row as u32;
                for batch in batches.iter() {
                    let mut joined = current.batch.gather(&vec![row; batch.rows]);
                    joined.columns.extend(batch.columns.iter().map(Arc::clone));
                    current.joined.append(&joined, None)?;
                }
                if batches.is_empty() && self.kind == ApplyKind::Left {
                    let mut joined = current.batch.gather(&[row]);
                    let null = |ty: &SqlType| Arc::new(crate::vector::Vector::constant(&Value::Null, *ty, 1));
                    joined.columns.extend(self.added_types.iter().map(null));
                    current.joined.append(&joined, None)?;
                }
                if current.joined.rows() >= BATCH_ROWS {
                    let types: Vec<SqlType> = self.input_types.iter().chain(&self.added_types).copied().collect();
                    let full = std::mem::replace(&mut current.joined, ColumnStore::new(&types));
                    self.ready.extend(self.output.push(full.into_batch(), None)?);
                }
            }
        }
        current.row += 1;
        Ok(())
    }

    /// Puts out what the batch has become.
    fn end(&mut self, current: Current) -> Result<()> {
        let batch = match self.kind {
            ApplyKind::Scalar | ApplyKind::Exists => {
                let mut batch = current.batch;
                batch.columns.push(Arc::new(current.values.finish()));
                batch
            }
            ApplyKind::Cross | ApplyKind::Left => current.joined.into_batch(),
        };
        self.ready.extend(self.output.push(batch, None)?);
        Ok(())
    }
}

impl Operator for ApplyOperator {
    fn next(&mut self) -> Result<Step> {
        if self.added_types.is_empty() && matches!(self.kind, ApplyKind::Scalar | ApplyKind::Exists) {
            return Err(error::internal("an apply without a column for its value"));
        }
        if let Some(batch) = self.ready.pop_front() {
            return Ok(Step::Batch(batch));
        }
        if let Some(current) = self.current.take() {
            // Remembered outcomes cost little: many rows make one step.
            let end = current.row + BATCH_ROWS;
            self.current = Some(current);
            while let Some(current) = self.current.take() {
                let at_end = current.row >= end;
                self.advance(current)?;
                let waits = self.current.as_ref().is_some_and(|current| current.running.is_some());
                if at_end || waits || !self.ready.is_empty() {
                    break;
                }
            }
        } else if self.finished {
            return Ok(self.output.finish().map_or(Step::Finished, Step::Batch));
        } else {
            match self.input.next()? {
                Step::Batch(batch) => self.current = Some(self.begin(batch)),
                Step::Working => {}
                Step::Finished => self.finished = true,
            }
        }
        Ok(self.ready.pop_front().map_or(Step::Working, Step::Batch))
    }
}
