//! An open database with its one connection, as JavaScript holds it.

use crate::columns::read_column;
use crate::failure::{or_failed, or_none};
use crate::host::{PlannerBridge, clock, wall_clock};
use crate::opfs::OpfsVfs;
use crate::prepared::Prepared;
use crate::script::Script;
use gingham::vector::Vector;
use gingham::{Connection, Database, Durability, Error, Options, SqlError, StoreError};
use js_sys::Uint8Array;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::FileSystemSyncAccessHandle;

/// Memory of all caches together by default: a browser tab is not alone on its device.
const PAGE_CACHE_BYTES: usize = 64 << 20;
const CHUNK_CACHE_BYTES: usize = 240 << 20;

thread_local! {
    static SESSIONS_OPENED: Cell<u32> = const { Cell::new(0) };
}

/// What statements and cursors share with their session.
pub(crate) struct Shared {
    /// Gone after `close`.
    open: RefCell<Option<Open>>,
}

struct Open {
    database: Database,
    connection: Connection,
}

impl Shared {
    /// Runs `body` with the connection.
    pub(crate) fn with<T>(&self, body: impl FnOnce(&mut Connection) -> Result<T, Error>) -> Result<T, Error> {
        match self.open.borrow_mut().as_mut() {
            Some(open) => body(&mut open.connection),
            None => Err(closed()),
        }
    }
}

pub(crate) fn closed() -> Error {
    SqlError::new("08003", "the database is closed").into()
}

/// One open database with its connection.
#[wasm_bindgen]
pub struct Session {
    shared: Rc<Shared>,
    /// Columns of the bulk insert that is being put together.
    columns: Vec<(String, Arc<Vector>)>,
}

impl Session {
    /// How a database in a browser is opened.
    pub(crate) fn options() -> Options {
        let number = SESSIONS_OPENED.get();
        SESSIONS_OPENED.set(number + 1);
        Options {
            chunk_cache_bytes_max: CHUNK_CACHE_BYTES,
            clock: Some(clock()),
            wall_clock: Some(wall_clock()),
            planner: Some(Box::new(PlannerBridge { database: number })),
            ..Options::default()
        }
    }

    /// A session of what was opened. Without a result, see `take_failure`.
    pub(crate) fn new(opened: Result<Database, Error>) -> Option<Self> {
        or_none(opened.map(|database| {
            let connection = database.connect();
            let open = RefCell::new(Some(Open { database, connection }));
            Self { shared: Rc::new(Shared { open }), columns: Vec::new() }
        }))
    }

    /// What an object that outlives this call shares with the session.
    pub(crate) fn shared(&self) -> Rc<Shared> {
        Rc::clone(&self.shared)
    }
}

#[wasm_bindgen]
impl Session {
    /// Opens a database: in memory, or over open file handles (`handles` in the order of
    /// `names`, the first being the database's file). Without a result, see
    /// `take_failure`.
    pub fn open(
        name: &str,
        names: Option<Vec<String>>,
        handles: Option<Vec<FileSystemSyncAccessHandle>>,
        relaxed: bool,
        cache_bytes: Option<f64>,
        memory_bytes: Option<f64>,
    ) -> Option<Self> {
        let defaults = Self::options();
        let options = Options {
            durability: if relaxed { Durability::Relaxed } else { Durability::Strict },
            page_cache_bytes_max: cache_bytes.map_or(PAGE_CACHE_BYTES, |bytes| bytes as usize),
            memory_bytes_max: memory_bytes.map_or(defaults.memory_bytes_max, |bytes| bytes as u64),
            ..defaults
        };
        Self::new(match (names, handles) {
            (Some(names), Some(handles)) => OpfsVfs::new(names, handles)
                .map_err(Error::from)
                .and_then(|vfs| Database::open_with(Arc::new(vfs), name, options)),
            _ => Database::memory(options),
        })
    }

    /// Prepares one statement.
    pub fn prepare(&self, sql: &str) -> Option<Prepared> {
        let statement = self.shared.with(|connection| connection.prepare(sql));
        or_none(statement.map(|statement| Prepared::new(Rc::clone(&self.shared), statement)))
    }

    /// Runs any number of statements; with `keep`, their rows are kept for reading.
    pub fn execute(&self, sql: &str, keep: bool) -> Option<Script> {
        or_none(self.shared.with(|connection| Script::run(connection, sql, keep)))
    }

    /// Whether a transaction is open.
    pub fn in_transaction(&self) -> bool {
        self.shared.with(|connection| Ok(connection.in_transaction())).unwrap_or(false)
    }

    /// Adds the column in the input buffer to the next bulk insert.
    pub fn add_column(&mut self, name: String, form: u32, rows: u32, nulls: bool, bytes: u32) -> bool {
        let column = read_column(form, rows, nulls, bytes).map_err(Error::from);
        or_failed(column.map(|vector| self.columns.push((name, Arc::new(vector)))).map(|()| true), false)
    }

    /// Inserts the columns added; the rows inserted, or -1.
    pub fn insert_columns(&mut self, table: &str) -> f64 {
        let columns = std::mem::take(&mut self.columns);
        let inserted = self.shared.with(|connection| connection.insert_columns(table, &columns));
        or_failed(inserted.map(|rows| rows as f64), -1.0)
    }

    /// Forgets the columns added.
    pub fn drop_columns(&mut self) {
        self.columns.clear();
    }

    /// Inserts an Arrow IPC stream; the rows inserted, or -1.
    pub fn insert_arrow(&self, table: &str, stream: &[u8]) -> f64 {
        let inserted = self.shared.with(|connection| crate::arrow::insert(connection, table, stream));
        or_failed(inserted.map(|rows| rows as f64), -1.0)
    }

    /// Writes everything to its place in the file.
    pub fn checkpoint(&self) -> bool {
        self.database(Database::checkpoint)
    }

    /// Makes relaxed commits durable.
    pub fn flush(&self) -> bool {
        self.database(Database::flush)
    }

    /// The file's bytes after a checkpoint.
    pub fn export(&self) -> Option<Uint8Array> {
        let open = self.shared.open.borrow();
        or_none(open.as_ref().ok_or_else(closed).and_then(|open| export(&open.database)))
    }

    /// Flushes, checkpoints and gives up the file; statements fail from then on.
    pub fn close(&self) -> bool {
        let Some(Open { database, connection }) = self.shared.open.take() else { return true };
        drop(connection);
        or_failed(database.close().map(|()| true), false)
    }

    fn database(&self, body: impl FnOnce(&Database) -> Result<(), Error>) -> bool {
        let open = self.shared.open.borrow();
        or_failed(open.as_ref().ok_or_else(closed).and_then(|open| body(&open.database)).map(|()| true), false)
    }
}

/// Copies the file straight into JavaScript's memory: the module's own cannot shrink.
fn export(database: &Database) -> Result<Uint8Array, Error> {
    database.checkpoint()?;
    let bytes = database.statistics().file_bytes;
    let bytes = u32::try_from(bytes)
        .map_err(|_| SqlError::new("54000", format!("a file of {bytes} bytes does not fit in one array")))?;
    let file = Uint8Array::new_with_length(bytes);
    let mut end = 0;
    database.export(&mut |offset, chunk| {
        end = offset as u32 + chunk.len() as u32;
        if end > bytes {
            return Err(StoreError::TooLarge("the exported file"));
        }
        file.subarray(offset as u32, end).copy_from(chunk);
        Ok(())
    })?;
    Ok(if end == bytes { file } else { file.slice(0, end) })
}
