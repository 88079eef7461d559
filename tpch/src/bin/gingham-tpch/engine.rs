//! Gingham behind the interface that this crate drives.

use crate::arguments::{Arguments, Route};
use crate::progress;
use arrow_array::RecordBatch;
use gingham::{Connection, Database, Options};
use gingham_tpch::{Error, Loaded, ResultSet, SqlTarget, load};
use std::path::Path;

/// A connection to the database under test.
pub(crate) struct Gingham {
    database: Database,
    connection: Connection,
}

impl Gingham {
    /// Opens the database that the command line names, fills it where it is empty, and has
    /// it take the route asked for.
    ///
    /// # Errors
    /// [`Error::Target`] with the database's words, and what loading fails with.
    pub(crate) fn loaded(arguments: &Arguments) -> Result<(Self, Loaded), Error> {
        let mut target = Self::open(arguments.db.as_deref(), arguments.memory)?;
        let loaded = load(&mut target, arguments.layout(), progress::printer())?;
        progress::clear();
        if matches!(loaded, Loaded::Now(_)) {
            target.checkpoint()?;
        }
        target.set_route(arguments.route)?;
        Ok((target, loaded))
    }

    /// Opens the database in a file, or a new one in memory, with so much memory.
    ///
    /// # Errors
    /// [`Error::Target`] with the database's words.
    fn open(path: Option<&Path>, memory_bytes_max: Option<u64>) -> Result<Self, Error> {
        let mut options = Options::default();
        options.memory_bytes_max = memory_bytes_max.unwrap_or(options.memory_bytes_max);
        let database = match path {
            Some(path) => Database::open(path, options),
            None => Database::memory(options),
        };
        let database = database.map_err(|error| Error::Target {
            doing: path.map_or_else(|| "opening a database in memory".to_owned(), |path| path.display().to_string()),
            message: words(&error),
        })?;
        let connection = database.connect();
        Ok(Self { database, connection })
    }

    /// Sends queries to one store, or to the cheaper one.
    ///
    /// # Errors
    /// [`Error::Target`] if the setting is refused.
    fn set_route(&mut self, route: Route) -> Result<(), Error> {
        let sql = format!("SET route = '{route}'");
        self.execute(&sql).map(|_| ()).map_err(|message| Error::Target { doing: sql, message })
    }

    /// Moves what was loaded from the log to its place, so that queries do not pay for it.
    ///
    /// # Errors
    /// [`Error::Target`] if that fails.
    fn checkpoint(&self) -> Result<(), Error> {
        let failed = |error| Error::Target { doing: "checkpoint".to_owned(), message: words(&error) };
        self.database.checkpoint().map_err(failed)
    }

    /// Bytes that statements have spilled so far.
    pub(crate) fn spilled_bytes(&self) -> u64 {
        self.database.temporary_bytes().0
    }

    /// Plans a statement without running it.
    ///
    /// # Errors
    /// The database's words.
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<(), String> {
        self.connection.prepare(sql).map(|_| ()).map_err(|error| words(&error))
    }

    /// Gives up the file.
    ///
    /// # Errors
    /// [`Error::Target`] if what is left to write cannot be written.
    pub(crate) fn close(self) -> Result<(), Error> {
        let Self { database, connection } = self;
        drop(connection);
        database.close().map_err(|error| Error::Target { doing: "close".to_owned(), message: words(&error) })
    }
}

impl SqlTarget for Gingham {
    fn execute(&mut self, sql: &str) -> Result<ResultSet, String> {
        let mut rows = self.connection.execute(sql, &[]).map_err(|error| words(&error))?;
        let columns = rows.columns().iter().map(|column| (column.name.clone(), column.ty)).collect();
        let rows = rows.collect_values().map_err(|error| words(&error))?;
        Ok(ResultSet { columns, rows })
    }

    fn load(&mut self, table: &str, batch: RecordBatch) -> Result<(), String> {
        self.connection.insert_batch(table, &batch).map(|_| ()).map_err(|error| words(&error))
    }
}

/// An error as a client of the database reads it.
fn words(error: &gingham::Error) -> String {
    error.to_sql_error().to_string()
}
