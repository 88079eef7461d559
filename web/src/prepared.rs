//! Prepared statements and open results.
//!
//! Rows leave as the address of a batch's table (see [`crate::output`]); 0 says that
//! there is no row, [`FAILED`] that the call failed.

use crate::failure::{or_failed, or_none};
use crate::input::read_parameters;
use crate::output::Output;
use crate::session::Shared;
use gingham::{Error, Rows, Statement, Value};
use std::rc::Rc;
use wasm_bindgen::prelude::wasm_bindgen;

/// No table is at this address.
pub(crate) const FAILED: u32 = 1;

/// The next batch of `rows` that has a row, shown to JavaScript.
pub(crate) fn show_next(rows: &mut Rows, output: &mut Output) -> Result<u32, Error> {
    output.clear();
    match rows.next_batch()? {
        Some(batch) => Ok(output.show(batch, rows.shared_columns())),
        None => Ok(0),
    }
}

/// A prepared statement.
#[wasm_bindgen]
pub struct Prepared {
    shared: Rc<Shared>,
    statement: Statement,
    parameters: Vec<Value>,
    /// What `begin` opened and `next` reads.
    rows: Option<Rows>,
    changes: u64,
    output: Output,
}

impl Prepared {
    pub(crate) fn new(shared: Rc<Shared>, statement: Statement) -> Self {
        Self { shared, statement, parameters: Vec::new(), rows: None, changes: 0, output: Output::default() }
    }

    fn start(&mut self, parameters: u32) -> Result<Rows, Error> {
        read_parameters(parameters, &mut self.parameters)?;
        self.run_statement()
    }

    fn run_statement(&mut self) -> Result<Rows, Error> {
        let Self { shared, statement, parameters, .. } = self;
        shared.with(|connection| connection.run(statement, parameters))
    }

    fn first_batch(&mut self, parameters: u32) -> Result<u32, Error> {
        read_parameters(parameters, &mut self.parameters)?;
        if let Some(table) = self.look_up()? {
            return Ok(table);
        }
        let mut rows = self.run_statement()?;
        show_next(&mut rows, &mut self.output)
    }

    /// Looks a single row up where the statement does that; `None` if it does not.
    fn look_up(&mut self) -> Result<Option<u32>, Error> {
        let Self { shared, statement, parameters, output, .. } = self;
        let mut table = 0;
        let found =
            shared.with(|connection| connection.look_up(statement, parameters, |row| table = output.show_row(row)))?;
        Ok(found.map(|_| table))
    }

    fn begin_rows(&mut self, parameters: u32) -> Result<u32, Error> {
        self.rows = None;
        read_parameters(parameters, &mut self.parameters)?;
        if let Some(table) = self.look_up()? {
            self.changes = 0;
            return Ok(table);
        }
        let mut rows = self.run_statement()?;
        let table = show_next(&mut rows, &mut self.output)?;
        self.changes = rows.changes();
        if table != 0 {
            self.rows = Some(rows);
        }
        Ok(table)
    }

    fn run_to_end(&mut self, parameters: u32) -> Result<f64, Error> {
        let mut rows = self.start(parameters)?;
        while rows.next_batch()?.is_some() {}
        Ok(rows.changes() as f64)
    }
}

#[wasm_bindgen]
impl Prepared {
    /// Result columns.
    pub fn column_count(&self) -> usize {
        self.statement.columns().len()
    }

    /// The name of a result column.
    pub fn column_name(&self, index: usize) -> String {
        self.statement.columns().get(index).map(|c| c.name.clone()).unwrap_or_default()
    }

    /// The SQL type of a result column.
    pub fn column_type(&self, index: usize) -> String {
        self.statement.columns().get(index).map(|c| c.ty.to_string()).unwrap_or_default()
    }

    /// Whether it gives rows.
    pub fn returns_rows(&self) -> bool {
        self.statement.returns_rows()
    }

    /// Parameters that it takes.
    pub fn parameter_count(&self) -> usize {
        self.statement.parameter_count()
    }

    /// The index of a named parameter, or -1.
    pub fn parameter_index(&self, name: &str) -> i32 {
        self.statement.parameter_index(name).map_or(-1, |index| index as i32)
    }

    /// Runs it and shows the first batch; the rest is dropped.
    pub fn first(&mut self, parameters: u32) -> u32 {
        or_failed(self.first_batch(parameters), FAILED)
    }

    /// Runs it and shows the first batch; `next` shows the others.
    pub fn begin(&mut self, parameters: u32) -> u32 {
        or_failed(self.begin_rows(parameters), FAILED)
    }

    /// The next batch of what `begin` opened.
    pub fn next(&mut self) -> u32 {
        let Some(rows) = self.rows.as_mut() else { return 0 };
        let table = or_failed(show_next(rows, &mut self.output), FAILED);
        if table <= FAILED {
            self.rows = None;
        }
        table
    }

    /// Rows that the last `begin` changed.
    pub fn changes(&self) -> f64 {
        self.changes as f64
    }

    /// Drops what is left of the result, and the last batch.
    pub fn finish(&mut self) {
        self.rows = None;
        self.output.clear();
    }

    /// Runs it for a cursor that does not hold up the statement.
    pub fn cursor(&mut self, parameters: u32) -> Option<Cursor> {
        or_none(self.start(parameters).map(|rows| Cursor { rows: Some(rows), output: Output::default() }))
    }

    /// Runs it to its end; the rows changed, or -1.
    pub fn run(&mut self, parameters: u32) -> f64 {
        or_failed(self.run_to_end(parameters), -1.0)
    }

    /// Runs it; the result as an Arrow IPC stream.
    pub fn arrow(&mut self, parameters: u32) -> Option<Vec<u8>> {
        let stream = self.start(parameters).and_then(|mut rows| crate::arrow::stream(&mut rows));
        or_none(stream)
    }
}

/// An open result.
#[wasm_bindgen]
pub struct Cursor {
    rows: Option<Rows>,
    output: Output,
}

#[wasm_bindgen]
impl Cursor {
    /// The next batch.
    pub fn next(&mut self) -> u32 {
        let Some(rows) = self.rows.as_mut() else { return 0 };
        let table = or_failed(show_next(rows, &mut self.output), FAILED);
        if table <= FAILED {
            self.rows = None;
        }
        table
    }
}
