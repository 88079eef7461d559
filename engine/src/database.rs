//! An open database: what its connections share.

use crate::connection::Connection;
use crate::error::{Error, Result};
use crate::group_cache::GroupCache;
use crate::options::{Options, WallClock};
use crate::schema::Schema;
use crate::statistics::StatisticsCache;
use gingham_column_store::execution::{MemoryBudget, MemoryPool, TempSpace};
use gingham_column_store::expression::{Runtime, evaluate_row_with};
use gingham_column_store::storage::ChunkCache;
use gingham_plan::{Catalog, PlanRequest, Planner, RouteSetting, SqlError, Statement, StoredExpr};
use gingham_row_store::{Clock, IntegrityReport, Read, Snapshot, Store, StoreStatistics, Vfs};
use gingham_types::Value;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An open database. Clones share it; it closes when [`Database::close`] is called or
/// the last clone and connection are gone.
#[derive(Clone)]
pub struct Database {
    pub(crate) shared: Arc<Shared>,
}

/// The state behind a [`Database`].
pub(crate) struct Shared {
    pub(crate) store: Store,
    /// The committed schema. Locked while a commit changes both it and the store, so
    /// that a reader takes a snapshot and its schema together.
    schema: Mutex<Arc<Schema>>,
    planner: Mutex<Option<Box<dyn Planner>>>,
    pub(crate) chunks: Arc<ChunkCache>,
    pub(crate) statistics: Mutex<StatisticsCache>,
    pub(crate) groups: Mutex<GroupCache>,
    /// What the operators of all statements may hold together.
    pub(crate) memory: Arc<MemoryPool>,
    /// Where they put what they may not hold.
    pub(crate) temp: Option<Arc<TempSpace>>,
    #[cfg(target_arch = "wasm32")]
    pub(crate) clock: Option<Clock>,
    wall_clock: Option<WallClock>,
    pub(crate) read_only: bool,
}

/// Beyond this, a load sorts no faster for more memory: runs are merged at a time.
const SORT_BYTES_MAX: usize = 64 << 20;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Database {
    /// Opens the database in a file, creating it if there is none.
    ///
    /// # Errors
    /// If the file is open elsewhere, damaged, not a database, or of a newer version.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open(path: impl AsRef<std::path::Path>, options: Options) -> Result<Self> {
        let path = path.as_ref();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .ok_or_else(|| SqlError::new("58P01", format!("'{}' does not name a file", path.display())))?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
        Self::open_with(Arc::new(gingham_row_store::NativeVfs::new(folder)), name, options)
    }

    /// A database in memory, gone when it is dropped.
    ///
    /// # Errors
    /// If memory is short.
    pub fn memory(options: Options) -> Result<Self> {
        Self::over(Store::memory(options.store_options())?, crate::temp::elsewhere()?, options)
    }

    /// Opens the database of a name in a file system of the caller's.
    ///
    /// # Errors
    /// As `Database::open`.
    pub fn open_with(vfs: Arc<dyn Vfs>, name: &str, mut options: Options) -> Result<Self> {
        if options.clock.is_none() {
            options.clock = system_clock();
        }
        let store = Store::open(Arc::clone(&vfs), name, options.store_options())?;
        // Readers may be several, and their folder may be read-only.
        let temp = if options.read_only { crate::temp::elsewhere()? } else { Some(crate::temp::beside(vfs, name)?) };
        Self::over(store, temp, options)
    }

    fn over(store: Store, temp: Option<Arc<TempSpace>>, options: Options) -> Result<Self> {
        let schema = Schema::load(&store.snapshot()?)?;
        let shares = options.shares();
        let shared = Shared {
            schema: Mutex::new(Arc::new(schema)),
            planner: Mutex::new(options.planner.or_else(default_planner)),
            chunks: Arc::new(ChunkCache::new(shares.chunks)),
            statistics: Mutex::new(StatisticsCache::default()),
            groups: Mutex::new(GroupCache::new(shares.group_metadata)),
            memory: Arc::new(MemoryPool::new(shares.operators)),
            temp,
            #[cfg(target_arch = "wasm32")]
            clock: options.clock,
            wall_clock: options.wall_clock.or_else(system_wall_clock),
            read_only: options.read_only,
            store,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// A connection: settings, a transaction, a statement cache of its own.
    pub fn connect(&self) -> Connection {
        Connection::new(Arc::clone(&self.shared))
    }

    /// Writes everything to its place in the file and empties the log.
    ///
    /// # Errors
    /// `Busy` while a transaction is open; errors of the file system.
    pub fn checkpoint(&self) -> Result<()> {
        Ok(self.shared.store.checkpoint()?)
    }

    /// Makes relaxed commits durable.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn flush(&self) -> Result<()> {
        Ok(self.shared.store.flush()?)
    }

    /// Milliseconds until relaxed commits are due to be flushed; `None` if none wait.
    pub fn flush_due_ms(&self) -> Option<u64> {
        self.shared.store.flush_due_ms()
    }

    /// Flushes, checkpoints and gives up the file. Connections fail from then on.
    ///
    /// # Errors
    /// As [`Database::checkpoint`].
    pub fn close(self) -> Result<()> {
        let closed = self.shared.store.clone().close();
        if let (Ok(()), Some(temp)) = (&closed, &self.shared.temp) {
            temp.close();
        }
        Ok(closed?)
    }

    /// Counters and sizes of the store.
    pub fn statistics(&self) -> StoreStatistics {
        self.shared.store.statistics()
    }

    /// Bytes that statements have written to temporary space since the database was
    /// opened, and those that are there now.
    pub fn temporary_bytes(&self) -> (u64, u64) {
        self.shared.temp.as_ref().map_or((0, 0), |temp| (temp.bytes_written(), temp.bytes_used()))
    }

    /// Hands over the whole file, checkpointed, in order: `(offset, bytes)` at a time.
    ///
    /// # Errors
    /// As [`Database::checkpoint`], and what `sink` returns.
    pub fn export(&self, sink: &mut dyn FnMut(u64, &[u8]) -> gingham_row_store::Result<()>) -> Result<()> {
        Ok(self.shared.store.export(sink)?)
    }

    /// Verifies both stores against each other: pages, trees, free space, row groups,
    /// indexes against tables.
    ///
    /// # Errors
    /// If the check itself cannot go on; what is wrong with the data is in the report.
    pub fn integrity_check(&self) -> Result<IntegrityReport> {
        crate::integrity::check(&self.shared)
    }
}

impl Shared {
    /// The newest commit and its schema.
    pub(crate) fn snapshot(&self) -> Result<(Snapshot, Arc<Schema>)> {
        let schema = lock(&self.schema);
        Ok((self.store.snapshot()?, Arc::clone(&schema)))
    }

    /// Reads the newest commit if its schema is of `version`, else gives `None`.
    pub(crate) fn read_newest<R>(&self, version: u64, read: impl FnOnce(&Store) -> Result<R>) -> Result<Option<R>> {
        let schema = lock(&self.schema);
        if schema.counters.version == version { read(&self.store).map(Some) } else { Ok(None) }
    }

    /// The committed schema.
    pub(crate) fn schema(&self) -> Arc<Schema> {
        Arc::clone(&lock(&self.schema))
    }

    /// The version of the committed schema.
    pub(crate) fn schema_version(&self) -> u64 {
        lock(&self.schema).counters.version
    }

    /// Runs `commit` and, if it went well, publishes the schema it brings.
    pub(crate) fn publish<R>(&self, schema: Option<Arc<Schema>>, commit: impl FnOnce() -> Result<R>) -> Result<R> {
        let mut published = lock(&self.schema);
        let result = commit()?;
        if let Some(schema) = schema {
            *published = schema;
        }
        Ok(result)
    }

    /// The catalog for planning against a state of the database.
    pub(crate) fn catalog(&self, read: &dyn Read, schema: &Schema) -> Result<Arc<Catalog>> {
        lock(&self.statistics).catalog(read, schema)
    }

    pub(crate) fn plan(&self, sql: &str, catalog: &Arc<Catalog>, route: RouteSetting) -> Result<Statement> {
        match lock(&self.planner).as_mut() {
            Some(planner) => Ok(planner.plan(&PlanRequest { sql, catalog, route })?),
            None => Err(Error::Sql(
                SqlError::unsupported("this statement without a planner")
                    .hint("open the database with a planner or build the crate with the feature `planner`"),
            )),
        }
    }

    /// Bytes that a load may sort at a time.
    pub(crate) fn sort_bytes(&self) -> usize {
        usize::try_from(self.memory.bytes_max() / 4).unwrap_or(usize::MAX).min(SORT_BYTES_MAX)
    }

    /// The memory of a new statement.
    pub(crate) fn budget(&self) -> Rc<MemoryBudget> {
        Rc::new(MemoryBudget::of_pool(&self.memory).with_temp(self.temp.clone()))
    }

    /// The time for `now()`.
    pub(crate) fn now(&self) -> Option<Value> {
        self.wall_clock.as_ref().map(|clock| Value::Timestamp(clock()))
    }

    /// The value of a column's DEFAULT.
    pub(crate) fn default_value(&self, default: &StoredExpr) -> Result<Value> {
        Ok(evaluate_row_with(&default.expr, &[], &Runtime::with_parameters(Vec::new(), self.now()))?)
    }

    /// A clock that resolves single batches, where there is one.
    pub(crate) fn fine_clock(&self) -> Option<Rc<dyn Fn() -> f64>> {
        #[cfg(not(target_arch = "wasm32"))]
        {
            let start = std::time::Instant::now();
            Some(Rc::new(move || start.elapsed().as_secs_f64() * 1e3))
        }
        #[cfg(target_arch = "wasm32")]
        {
            let clock = self.clock.clone()?;
            Some(Rc::new(move || clock() as f64))
        }
    }
}

#[cfg(feature = "planner")]
fn default_planner() -> Option<Box<dyn Planner>> {
    Some(Box::new(gingham_planner::SqlPlanner::new()))
}

#[cfg(not(feature = "planner"))]
fn default_planner() -> Option<Box<dyn Planner>> {
    None
}

#[cfg(not(target_arch = "wasm32"))]
fn system_clock() -> Option<Clock> {
    let start = std::time::Instant::now();
    Some(Arc::new(move || start.elapsed().as_millis() as u64))
}

#[cfg(not(target_arch = "wasm32"))]
fn system_wall_clock() -> Option<WallClock> {
    use std::time::{SystemTime, UNIX_EPOCH};
    Some(Arc::new(|| match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_micros() as i64,
        Err(before) => -(before.duration().as_micros() as i64),
    }))
}

#[cfg(target_arch = "wasm32")]
fn system_wall_clock() -> Option<WallClock> {
    None
}

#[cfg(target_arch = "wasm32")]
fn system_clock() -> Option<Clock> {
    None
}
