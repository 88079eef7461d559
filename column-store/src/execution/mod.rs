//! The operators of a [`Query`] and the loop that runs them.
//!
//! [`Execution`] pulls batches through a tree of operators. Each call of
//! [`Execution::step`] does a bounded slice of work (an operator that must see its whole
//! input takes one batch of it), so that whoever drives a query can report progress,
//! cancel it, or run several in turn without threads.
//!
//! | part | modules |
//! |---|---|
//! | the query as it runs | `context` (shared state, scalar subqueries), `stage` (one node), [`profile`], [`memory`] |
//! | rows as they come | `scan`, `values`, `filter`, `project`, `limit`, `union`, `expand`, `series`, `cte`, `recursive`, `apply` |
//! | rows kept | `aggregate`, `join`, `sort`, `window`, and what does not fit memory: [`spill`] |
//! | their tools | `columns` (growing columns), `coalesce`, `keys` (rows as integers), `interner`, `hash`, `group_table` |
//! | the border | [`result`] |

mod aggregate;
mod apply;
mod coalesce;
mod columns;
mod context;
mod cte;
mod expand;
mod filter;
mod group_table;
mod hash;
mod interner;
mod join;
mod keys;
mod limit;
pub mod memory;
pub mod profile;
mod project;
mod recursive;
pub mod result;
mod scan;
mod series;
mod sort;
pub mod spill;
mod stage;
mod union;
mod values;
mod window;

pub use coalesce::BatchJoiner;
pub use context::{Clock, Options};
pub(crate) use keys::narrow as narrow_decimals;
pub use memory::{MemoryBudget, MemoryPool};
pub use profile::{NodeProfile, Profile};
pub use sort::RowSorter;
pub use spill::{RowBuffer, TempSpace};

use crate::Result;
use crate::source::{Cancel, Step, Tables};
use crate::vector::Batch;
use context::{Context, Scope};
use gingham_plan::Query;
use gingham_types::{SqlType, Value};
use stage::{Place, Stage, Tree};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// A query that is running.
pub struct Execution {
    context: Rc<Context>,
    root: Stage,
}

impl Execution {
    /// Prepares to run `query`. Nothing is read before the first step. An `Arc` that
    /// outlives the execution (a cached plan) is shared, not copied.
    pub fn new(query: impl Into<Arc<Query>>, tables: Rc<dyn Tables>, options: Options) -> Self {
        let context = Rc::new(Context::new(query.into(), tables, options));
        let scope = Scope::root(Rc::clone(&context));
        Self { root: Stage::new(scope, Place::root(Tree::Root)), context }
    }

    /// The next rows, or word that there are none yet. After an error the query is over.
    ///
    /// # Errors
    /// What the data or the tables raise; [`crate::Error::OutOfMemory`] past the budget;
    /// [`crate::Error::Cancelled`] after a cancel.
    pub fn step(&mut self) -> Result<Step> {
        self.root.next()
    }

    /// The next batch, or `None` after the last, however many steps that takes.
    ///
    /// # Errors
    /// As [`Execution::step`].
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            match self.step()? {
                Step::Batch(batch) => return Ok(Some(batch)),
                Step::Working => {}
                Step::Finished => return Ok(None),
            }
        }
    }

    /// All remaining rows as values.
    ///
    /// # Errors
    /// As [`Execution::step`].
    pub fn collect_rows(&mut self) -> Result<Vec<Vec<Value>>> {
        let types = self.types();
        let mut rows = Vec::new();
        while let Some(batch) = self.next_batch()? {
            rows.extend(result::rows(&batch, &types));
        }
        Ok(rows)
    }

    /// The types of the result's columns.
    pub fn types(&self) -> Vec<SqlType> {
        self.context.query.root.types()
    }

    /// The memory that its operators share.
    pub fn memory(&self) -> &Rc<MemoryBudget> {
        &self.context.options.memory
    }

    /// The query.
    pub fn query(&self) -> &Arc<Query> {
        &self.context.query
    }

    /// What stops the query; may be kept beside it.
    pub fn cancel(&self) -> Rc<Cancel> {
        Rc::clone(&self.context.options.cancel)
    }

    /// The counts of every operator so far.
    pub fn profile(&self) -> Profile {
        self.context.measured()
    }
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution").field("profile", &self.context.profile).finish_non_exhaustive()
    }
}
