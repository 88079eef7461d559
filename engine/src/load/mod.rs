//! Rows that come as text: CSV, in pieces of any size, into a table.
//!
//! A [`CsvImport`] is fed bytes as they come and hands full batches of typed columns to the
//! table, so that memory stays bounded however long the text is. The rows become visible
//! together when it is finished, or not at all.

mod columns;
mod csv;
mod text;

use crate::connection::Connection;
use crate::error::{Error, Result};
use crate::schema::Table;
use columns::Columns;
use csv::{Field, Parser, Sink};
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
        let mut rest = parser.finish(&mut Filling { import: &mut self, connection });
        if rest.is_ok() {
            rest = self.write(connection).and_then(|()| connection.finish_loads_if_writing());
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
        let result = parser.push(bytes, &mut Filling { import: self, connection });
        self.parser = parser;
        result
    }

    /// A name in the header has been read.
    fn name(&mut self, field: Field<'_>) -> Result<()> {
        let name = std::str::from_utf8(field.text()).map_err(|_| not_text(field.place.0, field.place.1))?;
        self.names.push(name.trim().to_owned());
        Ok(())
    }

    /// The header has been read.
    fn begin(&mut self) -> Result<()> {
        self.header = false;
        let names = std::mem::take(&mut self.names);
        if self.columns.is_none() {
            let named = Columns::named(&self.table, &names);
            self.columns = Some(named.map_err(|error| match error {
                Error::Sql(error) => at(error.hint("the first line names columns, unless HEADER is false"), 1, 1),
                other => other,
            })?);
        }
        Ok(())
    }

    /// Adds the rows that wait.
    fn write(&mut self, connection: &mut Connection) -> Result<()> {
        let Some(columns) = self.columns.as_mut().filter(|columns| columns.rows() > 0) else {
            return Ok(());
        };
        let (vectors, rows) = columns.take(&self.table);
        connection.load_with_defaults(&self.table, vectors, rows)
    }
}

/// An import with the connection that its rows go to.
struct Filling<'a> {
    import: &'a mut CsvImport,
    connection: &'a mut Connection,
}

impl Sink for Filling<'_> {
    #[inline]
    fn field(&mut self, field: Field<'_>) -> Result<()> {
        let import = &mut *self.import;
        if import.header {
            return import.name(field);
        }
        let columns = import.columns.as_mut().ok_or_else(no_columns)?;
        if import.fields == columns.count() {
            let message = format!("the record has more than {} fields", columns.count());
            return Err(at(SqlError::new("22P04", message), field.place.0, field.place.1));
        }
        if !field.quoted && field.text() == import.null.as_bytes() {
            columns.push_null(import.fields, field.place)?;
        } else {
            columns.push(import.fields, field)?;
        }
        import.fields += 1;
        Ok(())
    }

    #[inline]
    fn end(&mut self, place: (u64, u64)) -> Result<()> {
        let import = &mut *self.import;
        if import.header {
            return import.begin();
        }
        let columns = import.columns.as_mut().ok_or_else(no_columns)?;
        if import.fields < columns.count() {
            let message = format!("the record has {} fields, not {}", import.fields, columns.count());
            return Err(at(SqlError::new("22P04", message), place.0, place.1));
        }
        import.fields = 0;
        import.rows += 1;
        columns.end_row();
        if columns.is_full() { import.write(self.connection) } else { Ok(()) }
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
