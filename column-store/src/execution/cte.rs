//! Common table expressions: computed once, read by any number of operators.
//!
//! Readers share the batches, which are kept in memory as far as they fit. One that has
//! read them all drives the computation on, so that the first reader need not wait for
//! the whole of it.

use super::context::{Context, Scope};
use super::memory::MemoryBudget;
use super::spill::RowBuffer;
use super::stage::{Operator, Place, Site, Stage, Tree};
use crate::Result;
use crate::expression::error;
use crate::source::Step;
use std::cell::RefCell;
use std::rc::Rc;

/// A common table expression's rows so far, and what makes more.
pub(crate) struct SharedCte(RefCell<State>);

struct State {
    batches: RowBuffer,
    producer: Producer,
}

enum Producer {
    New,
    Running(Box<Stage>),
    /// Being advanced just now.
    Busy,
    Finished,
}

impl SharedCte {
    pub(crate) fn new(budget: &Rc<MemoryBudget>) -> Self {
        Self(RefCell::new(State { batches: RowBuffer::new(budget), producer: Producer::New }))
    }

    /// Batch number `index`: the batch, `Working` while it does not exist yet,
    /// `Finished` past the last.
    fn batch(&self, context: &Rc<Context>, id: usize, index: usize) -> Result<Step> {
        let producer = {
            let mut state = self.0.borrow_mut();
            if let Some(batch) = state.batches.get(index)? {
                return Ok(Step::Batch(batch));
            }
            std::mem::replace(&mut state.producer, Producer::Busy)
        };
        let mut stage = match producer {
            Producer::Finished => {
                self.0.borrow_mut().producer = Producer::Finished;
                return Ok(Step::Finished);
            }
            Producer::Busy => return Err(error::internal(format!("common table expression {id} needs itself"))),
            Producer::New => Box::new(Stage::new(Scope::root(Rc::clone(context)), Place::root(Tree::Cte(id)))),
            Producer::Running(stage) => stage,
        };
        let step = stage.next()?;
        let mut state = self.0.borrow_mut();
        state.producer = Producer::Running(stage);
        match step {
            Step::Batch(batch) => state.batches.push(batch)?,
            Step::Working => {}
            Step::Finished => state.producer = Producer::Finished,
        }
        Ok(Step::Working)
    }
}

/// Reads a common table expression.
pub(crate) struct CteOperator {
    context: Rc<Context>,
    id: usize,
    columns: Vec<usize>,
    next: usize,
}

impl CteOperator {
    pub(crate) fn new(site: &Site<'_>, id: usize, columns: &[usize]) -> Result<Self> {
        let context = Rc::clone(&site.scope.context);
        if id >= context.ctes.len() {
            return Err(error::internal(format!("there is no common table expression {id}")));
        }
        Ok(Self { context, id, columns: columns.to_vec(), next: 0 })
    }
}

impl Operator for CteOperator {
    fn next(&mut self) -> Result<Step> {
        let step = self.context.ctes[self.id].batch(&self.context, self.id, self.next)?;
        Ok(match step {
            Step::Batch(batch) => {
                self.next += 1;
                Step::Batch(batch.project(&self.columns))
            }
            other => other,
        })
    }
}
