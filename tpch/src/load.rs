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
    /// Generating and loading together.
    pub elapsed: Duration,
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
        let rows = load_table(target, table, layout.scale, &mut progress)?;
        loads.push(TableLoad { table, rows, elapsed: started.elapsed() });
    }
    execute(target, "CREATE TABLE tpch_load (layout TEXT NOT NULL)")?;
    execute(target, &format!("INSERT INTO tpch_load VALUES ('{expected}')"))?;
    Ok(Loaded::Now(loads))
}

fn load_table(
    target: &mut dyn SqlTarget,
    table: Table,
    scale: ScaleFactor,
    progress: &mut impl FnMut(Progress),
) -> Result<u64, Error> {
    let rows_estimate = row_count_estimate(table, scale);
    let mut rows_done = 0;
    let mut batches = batches(table, scale, ROWS_DEFAULT).peekable();
    while batches.peek().is_some() {
        execute(target, "BEGIN")?;
        for batch in batches.by_ref().take(BATCHES_PER_TRANSACTION) {
            rows_done += batch.row_count() as u64;
            let batch = to_record_batch(batch)?;
            target.load(table.name(), batch).map_err(Error::target(format!("loading {table}")))?;
            progress(Progress { table, rows_done, rows_estimate });
        }
        execute(target, "COMMIT")?;
    }
    Ok(rows_done)
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
