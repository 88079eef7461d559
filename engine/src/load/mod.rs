//! Rows that come as text: CSV, in pieces of any size, into a table.
//!
//! A [`CsvImport`] is fed bytes as they come and hands full batches of typed columns to the
//! table, so that memory stays bounded however long the text is. The rows become visible
//! together when it is finished, or not at all.

mod columns;
mod csv;

use crate::connection::Connection;
use crate::error::{Error, Result};
use crate::schema::Table;
use columns::Columns;
use csv::{Event, Parser};
use gingham_plan::SqlError;
use std::sync::Arc;

/// How a CSV text is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// Whether the first record names the columns.
    pub header: bool,
    /// The byte between fields.
    pub delimiter: u8,
    /// What a field that is not quoted has for NULL.
    pub null: String,
    /// The columns of the fields, in order. None: those of the header, or all of the
    /// table's.
    pub columns: Option<Vec<String>>,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self { header: true, delimiter: b',', null: String::new(), columns: None }
    }
}

/// A CSV text on its way into a table.
///
/// Dropping it without [`CsvImport::finish`] leaves the connection's transaction open: call
/// [`CsvImport::abort`]. After an error the import is over and nothing of it stays.
#[derive(Debug)]
pub struct CsvImport {
    parser: Parser,
    table: Arc<Table>,
    header: bool,
    /// Set once the columns are known.
    columns: Option<Columns>,
    null: String,
    /// The record in progress: of the header its names, else how many fields it has.
    names: Vec<String>,
    fields: usize,
    rows: u64,
    scope: Scope,
}

/// What is undone when an import fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Transaction,
    Savepoint,
    Ended,
}

const SAVEPOINT: &str = " import";

impl Connection {
    /// Begins to add the rows of a CSV text to a table: in a transaction of its own, or
    /// inside the open one.
    ///
    /// # Errors
    /// 42P01 and 42703 for unknown names; 55006 if another connection is writing.
    pub fn import_csv(&mut self, table: &str, options: &CsvOptions) -> Result<CsvImport> {
        let table = self.find_table(table)?;
        let columns = match &options.columns {
            Some(names) => Some(Columns::named(&table, names)?),
            None if options.header => None,
            None => Some(Columns::all(&table)?),
        };
        let scope = if self.in_transaction() {
            self.savepoint(SAVEPOINT)?;
            Scope::Savepoint
        } else {
            self.begin(false)?;
            Scope::Transaction
        };
        Ok(CsvImport {
            parser: Parser::new(options.delimiter),
            table,
            header: options.header,
            columns,
            null: options.null.clone(),
            names: Vec::new(),
            fields: 0,
            rows: 0,
            scope,
        })
    }
}

impl CsvImport {
    /// Rows read so far.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes the next piece of the text.
    ///
    /// # Errors
    /// 22P04 for text that is no CSV or has another number of fields, 22021 for bytes that
    /// are not UTF-8, 22P02 and 22003 for fields that are no values of their columns, each
    /// with line and column in the text; 23502 and 23505 for rows that cannot be added.
    pub fn push(&mut self, connection: &mut Connection, bytes: &[u8]) -> Result<()> {
        let result = self.take(connection, bytes);
        self.ended_by(connection, result)
    }

    /// Adds what is left and makes the rows visible; how many there were.
    ///
    /// # Errors
    /// As [`CsvImport::push`]; 40003 if the commit is in doubt.
    pub fn finish(mut self, connection: &mut Connection) -> Result<u64> {
        let mut parser = std::mem::take(&mut self.parser);
        let mut rest = parser.finish(&mut |event| self.handle(connection, event));
        if rest.is_ok() {
            rest = self.write(connection);
        }
        self.ended_by(connection, rest)?;
        match std::mem::replace(&mut self.scope, Scope::Ended) {
            Scope::Transaction => connection.commit()?,
            Scope::Savepoint => connection.release(SAVEPOINT)?,
            Scope::Ended => return Err(SqlError::new("25000", "the import has ended with an error").into()),
        }
        Ok(self.rows)
    }

    /// Gives up: nothing of the import stays.
    ///
    /// # Errors
    /// If rolling back fails.
    pub fn abort(mut self, connection: &mut Connection) -> Result<()> {
        self.undo(connection)
    }

    fn undo(&mut self, connection: &mut Connection) -> Result<()> {
        match std::mem::replace(&mut self.scope, Scope::Ended) {
            Scope::Transaction => connection.rollback(),
            Scope::Savepoint => {
                connection.rollback_to(SAVEPOINT)?;
                connection.release(SAVEPOINT)
            }
            Scope::Ended => Ok(()),
        }
    }

    /// Undoes the import if `result` is an error; that error is the one to tell.
    fn ended_by(&mut self, connection: &mut Connection, result: Result<()>) -> Result<()> {
        if let Err(error) = result {
            self.undo(connection)?;
            return Err(error);
        }
        Ok(())
    }

    fn take(&mut self, connection: &mut Connection, bytes: &[u8]) -> Result<()> {
        if self.scope == Scope::Ended {
            return Err(SqlError::new("25000", "the import has ended").into());
        }
        let mut parser = std::mem::take(&mut self.parser);
        let result = parser.push(bytes, &mut |event| self.handle(connection, event));
        self.parser = parser;
        result
    }

    fn handle(&mut self, connection: &mut Connection, event: Event<'_>) -> Result<()> {
        match event {
            Event::Field { text, line, column, .. } if self.header => {
                let name = std::str::from_utf8(text).map_err(|_| not_text(line, column))?;
                self.names.push(name.trim().to_owned());
            }
            Event::Field { text, quoted, line, column } => {
                let columns = self.columns.as_mut().ok_or_else(no_columns)?;
                let is_null = !quoted && text == self.null.as_bytes();
                if self.fields == columns.count() {
                    let message = format!("the record has more than {} fields", columns.count());
                    return Err(at(SqlError::new("22P04", message), line, column));
                }
                columns.push(self.fields, (!is_null).then_some(text), line, column)?;
                self.fields += 1;
            }
            Event::End { .. } if self.header => {
                self.header = false;
                let names = std::mem::take(&mut self.names);
                if self.columns.is_none() {
                    let named = Columns::named(&self.table, &names);
                    self.columns = Some(named.map_err(|error| match error {
                        Error::Sql(error) => {
                            at(error.hint("the first line names columns, unless HEADER is false"), 1, 1)
                        }
                        other => other,
                    })?);
                }
            }
            Event::End { line, column } => {
                let columns = self.columns.as_mut().ok_or_else(no_columns)?;
                if self.fields < columns.count() {
                    let message = format!("the record has {} fields, not {}", self.fields, columns.count());
                    return Err(at(SqlError::new("22P04", message), line, column));
                }
                self.fields = 0;
                self.rows += 1;
                columns.end_row();
                if columns.is_full() {
                    return self.write(connection);
                }
            }
        }
        Ok(())
    }

    /// Adds the rows that wait.
    fn write(&mut self, connection: &mut Connection) -> Result<()> {
        let Some(columns) = self.columns.as_mut().filter(|columns| columns.rows() > 0) else {
            return Ok(());
        };
        let (vectors, rows) = columns.take(&self.table)?;
        connection.insert_with_defaults(&self.table, vectors, rows).map(|_| ())
    }
}

fn no_columns() -> Error {
    SqlError::internal("a CSV record before its columns are known").into()
}

fn not_text(line: u64, column: u64) -> Error {
    at(SqlError::new("22021", "the text is not UTF-8"), line, column)
}

/// The error with its place in the text, in the message too: there it survives however
/// the statement is run.
fn at(error: SqlError, line: u64, column: u64) -> Error {
    let mut error = error;
    error.message = format!("line {line}, column {column}: {}", error.message);
    Error::Sql(error.at(u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX)))
}
