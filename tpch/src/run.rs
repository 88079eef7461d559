//! Runs a query against a database: once cold, then warm, and checks every result.

use crate::Error;
use crate::answers::Answer;
use crate::check::check;
use crate::queries::QueryNumber;
use crate::scale::ScaleFactor;
use crate::target::{ResultSet, SqlTarget};
use std::time::{Duration, Instant};

/// How a query went.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryRun {
    /// The query.
    pub query: QueryNumber,
    /// Rows of its result.
    pub rows: usize,
    /// The first run.
    pub cold: Duration,
    /// The runs after it, in order.
    pub warm: Vec<Duration>,
}

impl QueryRun {
    /// The median of the warm runs (of an even number, the lower middle); `None` without any.
    pub fn warm_median(&self) -> Option<Duration> {
        let mut sorted = self.warm.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len().checked_sub(1)? / 2).copied()
    }
}

/// Runs a query once and `warm_runs` times more. With an answer, every run's result is checked.
///
/// # Errors
/// [`Error::Target`] if the database refuses the query, [`Error::Difference`] if a result is wrong.
pub fn run_query(
    target: &mut dyn SqlTarget,
    query: QueryNumber,
    scale: ScaleFactor,
    warm_runs: usize,
    answer: Option<&Answer>,
) -> Result<QueryRun, Error> {
    let sql = query.sql(scale);
    let (result, cold) = run_once(target, query, &sql, answer)?;
    let mut warm = Vec::with_capacity(warm_runs);
    for _ in 0..warm_runs {
        warm.push(run_once(target, query, &sql, answer)?.1);
    }
    Ok(QueryRun { query, rows: result.rows.len(), cold, warm })
}

fn run_once(
    target: &mut dyn SqlTarget,
    query: QueryNumber,
    sql: &str,
    answer: Option<&Answer>,
) -> Result<(ResultSet, Duration), Error> {
    let started = Instant::now();
    let result = target.execute(sql).map_err(Error::target(query.to_string()))?;
    let elapsed = started.elapsed();
    if let Some(answer) = answer {
        check(answer, &result).map_err(|difference| Error::Difference { query, difference })?;
    }
    Ok((result, elapsed))
}
