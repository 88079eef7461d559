//! What planning a new text takes, natively: each of the 22 queries, over tables of scale factor 0.01 in memory.
//!
//! `cargo run --release --package gingham-tpch --features engine --example planning_speed [query number]`
//!
//! Each time the text is one that no cache knows. `prepare` plans; `EXPLAIN` also prints the plan and decides what
//! the operators look like, as the browser suite's figure does.

use arrow_array::RecordBatch;
use gingham::{Connection, Database, Options};
use gingham_tpch::{Layout, PrimaryKeys, QueryNumber, ResultSet, ScaleFactor, SqlTarget, Storage, load};
use std::error::Error;
use std::time::Instant;

const RUNS: usize = 101;

struct Target(Connection);

impl SqlTarget for Target {
    fn execute(&mut self, sql: &str) -> Result<ResultSet, String> {
        let mut rows = self.0.execute(sql, &[]).map_err(|error| error.to_sql_error().to_string())?;
        let columns = rows.columns().iter().map(|column| (column.name.clone(), column.ty)).collect();
        let rows = rows.collect_values().map_err(|error| error.to_sql_error().to_string())?;
        Ok(ResultSet { columns, rows })
    }

    fn load(&mut self, table: &str, batch: RecordBatch) -> Result<(), String> {
        self.0.insert_batch(table, &batch).map(|_| ()).map_err(|error| error.to_sql_error().to_string())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let database = Database::memory(Options::default())?;
    let mut target = Target(database.connect());
    let scale = ScaleFactor::HUNDREDTH;
    load(&mut target, Layout { scale, storage: Storage::Column, keys: PrimaryKeys::Omitted }, |_| {})?;
    let queries = match std::env::args().nth(1) {
        Some(list) => QueryNumber::parse_list(&list)?,
        None => QueryNumber::all().collect(),
    };
    let mut all = Vec::new();
    for query in queries {
        let sql = query.sql(scale);
        let planned = median(|run| target.0.prepare(&format!("{sql}\n-- {run}")).map(drop))?;
        let explained =
            median(|run| target.0.execute(&format!("EXPLAIN {sql}\n-- {run}"), &[])?.collect_values().map(drop))?;
        println!("{query} prepare {planned:>7.0} µs, EXPLAIN {explained:>7.0} µs");
        all.push((planned, explained));
    }
    let middle = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (planned, explained) = all.into_iter().unzip();
    println!("median prepare {:.0} µs, EXPLAIN {:.0} µs", middle(planned), middle(explained));
    Ok(())
}

/// The median of [`RUNS`] runs, in µs.
fn median(mut run: impl FnMut(usize) -> Result<(), gingham::Error>) -> Result<f64, gingham::Error> {
    let mut times = Vec::with_capacity(RUNS);
    for number in 0..RUNS {
        let start = Instant::now();
        run(number)?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[RUNS / 2])
}
