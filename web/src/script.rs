//! The kept results of a script, for consoles and for `exec` over a worker.

use crate::failure::or_failed;
use crate::output::Output;
use crate::prepared::FAILED;
use gingham::vector::Batch;
use gingham::{Connection, Error, OutputColumn, Rows};
use std::collections::VecDeque;
use std::sync::Arc;
use wasm_bindgen::prelude::wasm_bindgen;

#[derive(Default)]
struct Kept {
    columns: Arc<[OutputColumn]>,
    batches: VecDeque<Batch>,
    changes: u64,
}

impl Kept {
    /// Reads a result to its end.
    fn read(mut rows: Rows, keep: bool) -> Result<Self, Error> {
        let mut batches = VecDeque::new();
        while let Some(batch) = rows.next_batch()? {
            if keep {
                batches.push_back(batch);
            }
        }
        Ok(Self { columns: Arc::clone(rows.shared_columns()), batches, changes: rows.changes() })
    }
}

/// The results of a script's statements, one after the other.
#[wasm_bindgen]
pub struct Script {
    results: VecDeque<Kept>,
    current: Kept,
    output: Output,
}

impl Script {
    /// Runs every statement of a script; the first that fails ends it. What the ones
    /// before it did stays.
    pub(crate) fn run(connection: &mut Connection, sql: &str, keep: bool) -> Result<Self, Error> {
        let mut results = VecDeque::new();
        let mut failure = None;
        connection.execute_script(sql, &mut |outcome| match outcome.result.and_then(|rows| Kept::read(rows, keep)) {
            Ok(kept) => {
                if keep {
                    results.push_back(kept);
                }
                true
            }
            Err(error) => {
                failure = Some(error);
                false
            }
        });
        match failure {
            Some(error) => Err(error),
            None => Ok(Self { results, current: Kept::default(), output: Output::default() }),
        }
    }
}

#[wasm_bindgen]
impl Script {
    /// Moves to the next statement's result; false after the last.
    pub fn advance(&mut self) -> bool {
        self.output.clear();
        match self.results.pop_front() {
            Some(kept) => {
                self.current = kept;
                true
            }
            None => false,
        }
    }

    /// Columns of the current result.
    pub fn column_count(&self) -> usize {
        self.current.columns.len()
    }

    /// The name of a column.
    pub fn column_name(&self, index: usize) -> String {
        self.current.columns.get(index).map(|c| c.name.clone()).unwrap_or_default()
    }

    /// The SQL type of a column.
    pub fn column_type(&self, index: usize) -> String {
        self.current.columns.get(index).map(|c| c.ty.to_string()).unwrap_or_default()
    }

    /// The next batch of the current result; see [`crate::prepared`] for the address.
    pub fn next(&mut self) -> u32 {
        let Self { current, output, .. } = self;
        output.clear();
        let batch = Ok(current.batches.pop_front());
        or_failed(batch.map(|batch| batch.map_or(0, |batch| output.show(batch, &current.columns))), FAILED)
    }

    /// Rows that the current statement changed.
    pub fn changes(&self) -> f64 {
        self.current.changes as f64
    }
}
