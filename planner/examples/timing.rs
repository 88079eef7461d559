//! Median planning time of each TPC-H query.
//!
//! `cargo run --release -p gingham-planner --example timing`; with a statement as the
//! argument, that statement alone.

#[allow(dead_code, unreachable_pub)]
#[path = "../tests/support/mod.rs"]
mod support;

use gingham_plan::{PlanRequest, Planner, RouteSetting};
use gingham_planner::SqlPlanner;
use std::path::PathBuf;
use std::time::Instant;

const RUNS: usize = 101;

fn main() {
    let catalog = support::tpch();
    let mut planner = SqlPlanner::new();
    let mut median = |sql: &str| {
        let mut times: Vec<f64> = (0..RUNS)
            .map(|_| {
                let start = Instant::now();
                let planned = planner.plan(&PlanRequest { sql, catalog: &catalog, route: RouteSetting::Auto });
                let elapsed = start.elapsed().as_secs_f64() * 1e6;
                if let Err(error) = planned {
                    println!("{error}");
                }
                elapsed
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    };
    if let Some(sql) = std::env::args().nth(1) {
        println!("{:.0} µs", median(&sql));
        return;
    }
    let mut all = Vec::new();
    for number in 1..=22 {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../tpch/queries/q{number:02}.sql"));
        let Ok(text) = std::fs::read_to_string(&path) else {
            println!("{} is missing", path.display());
            continue;
        };
        let time = median(text.trim().trim_end_matches(';'));
        println!("q{number:02} {time:>7.0} µs");
        all.push(time);
    }
    all.sort_by(f64::total_cmp);
    if let (Some(least), Some(greatest)) = (all.first(), all.last()) {
        println!("median {:.0} µs, least {least:.0}, greatest {greatest:.0}", all[all.len() / 2]);
    }
    println!("point lookup {:.0} µs", median("SELECT c_name FROM customer WHERE c_custkey = $1"));
}
