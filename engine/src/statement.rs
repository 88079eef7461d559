//! Prepared statements and their results.

use crate::error::Result;
use crate::fast::{Parameters, Program};
use gingham_column_store::execution::{Execution, MemoryBudget, RowBuffer};
use gingham_column_store::source::{Source, Step};
use gingham_column_store::vector::Batch;
use gingham_plan::OutputColumn;
use gingham_types::{SqlType, Value};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// A prepared statement. It is planned once and again only when the schema, the
/// statistics it was planned with or the route setting have moved.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(crate) sql: Arc<str>,
    pub(crate) parameters: Arc<Parameters>,
    pub(crate) prepared: Arc<Prepared>,
}

/// How a statement is carried out, and what that rests on.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) kind: Kind,
    pub(crate) columns: Arc<[OutputColumn]>,
    pub(crate) schema_version: u64,
    /// Of the catalog a plan was made from; programs do not depend on statistics.
    pub(crate) catalog_version: Option<u64>,
    pub(crate) route: gingham_plan::RouteSetting,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Program(Program),
    /// Shared with the executions of the query.
    Query(Arc<gingham_plan::Query>),
    /// Any other statement, which is not [`gingham_plan::Statement::Query`].
    Planned(gingham_plan::Statement),
}

impl Statement {
    /// The text.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The result columns; empty for statements without rows.
    pub fn columns(&self) -> &[OutputColumn] {
        &self.prepared.columns
    }

    /// The result columns, to be kept.
    pub fn shared_columns(&self) -> &Arc<[OutputColumn]> {
        &self.prepared.columns
    }

    /// Whether executing it gives rows.
    pub fn returns_rows(&self) -> bool {
        !self.prepared.columns.is_empty()
    }

    /// How many parameters it takes.
    pub fn parameter_count(&self) -> usize {
        self.parameters.count()
    }

    /// The position, from 0, of a named parameter (`:name`, given without the colon).
    pub fn parameter_index(&self, name: &str) -> Option<usize> {
        self.parameters.position(name)
    }
}

/// The result of a statement: batches of rows, or a number of changes.
pub struct Rows {
    columns: Arc<[OutputColumn]>,
    changes: u64,
    input: Input,
}

enum Input {
    Batches(VecDeque<Batch>),
    Source(Box<dyn Source>),
    Execution(Box<Execution>),
    /// Rows read already.
    Buffer(RowBuffer),
}

impl Rows {
    pub(crate) fn changes_only(changes: u64) -> Self {
        Self { columns: Arc::default(), changes, input: Input::Batches(VecDeque::new()) }
    }

    pub(crate) fn batches(
        columns: impl Into<Arc<[OutputColumn]>>,
        batches: impl IntoIterator<Item = Batch>,
        changes: u64,
    ) -> Self {
        Self { columns: columns.into(), changes, input: Input::Batches(batches.into_iter().collect()) }
    }

    pub(crate) fn source(columns: Arc<[OutputColumn]>, source: Box<dyn Source>) -> Self {
        Self { columns, changes: 0, input: Input::Source(source) }
    }

    pub(crate) fn execution(columns: impl Into<Arc<[OutputColumn]>>, execution: Execution) -> Self {
        Self { columns: columns.into(), changes: 0, input: Input::Execution(Box::new(execution)) }
    }

    /// The result columns.
    pub fn columns(&self) -> &[OutputColumn] {
        &self.columns
    }

    /// The result columns, to be kept.
    pub fn shared_columns(&self) -> &Arc<[OutputColumn]> {
        &self.columns
    }

    /// The types of the result columns.
    pub fn types(&self) -> Vec<SqlType> {
        self.columns.iter().map(|c| c.ty).collect()
    }

    /// Rows that INSERT, UPDATE or DELETE changed.
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    /// Works for one slice: rows, or the news that there are none yet or no more. Lets a
    /// caller interleave long queries and stop them by dropping the result.
    ///
    /// # Errors
    /// Whatever fails while the query runs; the result is at its end then.
    pub fn step(&mut self) -> Result<Step> {
        let step = match &mut self.input {
            Input::Batches(batches) => return Ok(batches.pop_front().map_or(Step::Finished, Step::Batch)),
            Input::Source(source) => source.next(),
            Input::Execution(execution) => execution.step(),
            Input::Buffer(buffer) => buffer.take_next().map(|batch| batch.map_or(Step::Finished, Step::Batch)),
        };
        match step {
            Ok(step) => Ok(step),
            Err(error) => {
                self.input = Input::Batches(VecDeque::new());
                Err(error.into())
            }
        }
    }

    /// The next batch of rows; `None` after the last.
    ///
    /// # Errors
    /// As [`Rows::step`].
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            match self.step()? {
                Step::Batch(batch) => return Ok(Some(batch)),
                Step::Working => {}
                Step::Finished => return Ok(None),
            }
        }
    }

    /// The same rows, all read now: for results that must not see later changes of their
    /// own transaction.
    pub(crate) fn materialize(mut self) -> Result<Self> {
        let memory = match &self.input {
            Input::Execution(execution) => Some(Rc::clone(execution.memory())),
            _ => None,
        };
        let mut buffer = RowBuffer::new(&memory.unwrap_or_else(|| Rc::new(MemoryBudget::new(u64::MAX))));
        while let Some(batch) = self.next_batch()? {
            buffer.push(batch)?;
        }
        self.input = Input::Buffer(buffer);
        Ok(self)
    }

    /// All remaining rows, a value for each column.
    ///
    /// # Errors
    /// As [`Rows::step`].
    pub fn collect_values(&mut self) -> Result<Vec<Vec<Value>>> {
        let types = self.types();
        let mut rows = Vec::new();
        while let Some(batch) = self.next_batch()? {
            for row in 0..batch.rows {
                rows.push(batch.columns.iter().zip(&types).map(|(column, ty)| column.value(row, *ty)).collect());
            }
        }
        Ok(rows)
    }
}
