//! Creates the tables in a database and fills them.
//!
//! A small table `tpch_load`, written last, notes what was loaded. A database that has
//! it is used as it is; one whose load was cut short lacks it and must be removed.

use crate::Error;
use crate::arrow::to_record_batch;
use crate::generate::{Progress, ROWS_DEFAULT, batches, row_count_estimate};
use crate::scale::ScaleFactor;
use crate::schema::{PrimaryKeys, Storage, Table};
use crate::target::SqlTarget;
use gingham_types::Value;
use std::fmt;
use std::time::{Duration, Instant};

/// Batches in one transaction: about a million rows, so that what a transaction holds in
/// memory stays bounded at every scale factor, and full row groups are not cut short.
const BATCHES_PER_TRANSACTION: usize = 16;

/// What is loaded and how it is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// How much.
    pub scale: ScaleFactor,
    /// In which store.
    pub storage: Storage,
    /// With which keys.
    pub keys: PrimaryKeys,
}

/// What [`load`] did.
#[derive(Clone, Debug, PartialEq)]
pub enum Loaded {
    /// It loaded the tables, in order.
    Now(Vec<TableLoad>),
    /// The database held the same data already.
    Before,
}

/// The load of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableLoad {
    /// The table.
    pub table: Table,
    /// Its rows.
    pub rows: u64,
    /// Making the rows: no time of the database's.
    pub generating: Duration,
    /// Creating the table, taking the rows, committing.
    pub loading: Duration,
}

/// Brings the eight tables into the database, unless it holds them already.
///
/// # Errors
/// [`Error::OtherData`] if it holds another layout, [`Error::Target`] where it refuses a statement or a batch.
pub fn load(target: &mut dyn SqlTarget, layout: Layout, mut progress: impl FnMut(Progress)) -> Result<Loaded, Error> {
    let expected = layout.to_string();
    match layout_found(target) {
        Some(found) if found == expected => return Ok(Loaded::Before),
        Some(found) => return Err(Error::OtherData { place: "the database".to_owned(), expected, found }),
        None => {}
    }
    let mut loads = Vec::with_capacity(Table::ALL.len());
    for table in Table::ALL {
        let started = Instant::now();
        execute(target, &table.create_sql(layout.storage, layout.keys))?;
        let mut table_load = TableLoad { table, rows: 0, generating: Duration::ZERO, loading: started.elapsed() };
        load_table(target, &mut table_load, layout.scale, &mut progress)?;
        loads.push(table_load);
    }
    execute(target, "CREATE TABLE tpch_load (layout TEXT NOT NULL)")?;
    execute(target, &format!("INSERT INTO tpch_load VALUES ('{expected}')"))?;
    Ok(Loaded::Now(loads))
}

fn load_table(
    target: &mut dyn SqlTarget,
    load: &mut TableLoad,
    scale: ScaleFactor,
    progress: &mut impl FnMut(Progress),
) -> Result<(), Error> {
    let table = load.table;
    let rows_estimate = row_count_estimate(table, scale);
    // The first table's generator makes the text that all comments are cut from.
    let mut source = timed(&mut load.generating, || batches(table, scale, ROWS_DEFAULT));
    let mut next = timed(&mut load.generating, || source.next());
    while next.is_some() {
        timed(&mut load.loading, || execute(target, "BEGIN"))?;
        for _ in 0..BATCHES_PER_TRANSACTION {
            let Some(batch) = next else { break };
            load.rows += batch.row_count() as u64;
            let batch = timed(&mut load.generating, || to_record_batch(batch))?;
            let loaded = timed(&mut load.loading, || target.load(table.name(), batch));
            loaded.map_err(Error::target(format!("loading {table}")))?;
            progress(Progress { table, rows_done: load.rows, rows_estimate });
            next = timed(&mut load.generating, || source.next());
        }
        timed(&mut load.loading, || execute(target, "COMMIT"))?;
    }
    Ok(())
}

/// Adds the time that `work` takes to `total`.
fn timed<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    *total += started.elapsed();
    result
}

fn execute(target: &mut dyn SqlTarget, sql: &str) -> Result<(), Error> {
    target.execute(sql).map(|_| ()).map_err(Error::target(sql))
}

/// What the database says was loaded into it. One without the note has no such table,
/// which is an error of SQL and no news.
fn layout_found(target: &mut dyn SqlTarget) -> Option<String> {
    let result = target.execute("SELECT layout FROM tpch_load").ok()?;
    match result.rows.first()?.first()? {
        Value::Text(layout) => Some(layout.clone()),
        other => Some(other.to_string()),
    }
}

/// As `tpch_load` has it and messages print it.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = match self.keys {
            PrimaryKeys::Declared => "with keys",
            PrimaryKeys::Omitted => "without keys",
        };
        write!(f, "TPC-H at scale factor {} in {} storage {keys}", self.scale, self.storage)
    }
}
