//! What a run printed and saved: a table of queries and a JSON document.

use crate::arguments::Route;
use gingham_tpch::{Error, Layout, Loaded, QueryNumber, QueryRun, TableLoad};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Said wherever figures are shown, as the standard's licence asks.
pub(crate) const NOTICE: &str = "derived from TPC-H, not comparable with published results";

/// How one query went.
pub(crate) struct Outcome {
    /// The query.
    pub(crate) query: QueryNumber,
    /// Its figures, or what is wrong.
    pub(crate) result: Result<QueryRun, Error>,
    /// The most memory that the process had meanwhile.
    pub(crate) peak_mib: Option<u64>,
    /// Bytes that its runs wrote to temporary space.
    pub(crate) spilled_bytes: u64,
}

/// Everything about a run.
pub(crate) struct Report {
    /// What was loaded.
    pub(crate) layout: Layout,
    /// The store that answered.
    pub(crate) route: Route,
    /// How loading went.
    pub(crate) loaded: Loaded,
    /// The most memory that the process had until then.
    pub(crate) load_peak_mib: Option<u64>,
    /// Whether results were compared with answers.
    pub(crate) checked: bool,
    /// The queries in the order run.
    pub(crate) outcomes: Vec<Outcome>,
}

impl Report {
    /// How many queries failed.
    pub(crate) fn failures(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.result.is_err()).count()
    }

    /// How many queries ran well.
    pub(crate) fn successes(&self) -> usize {
        self.outcomes.len() - self.failures()
    }

    /// What was loaded, and how fast.
    pub(crate) fn load_text(&self) -> String {
        let mut text = format!("{}, route {}\n{NOTICE}\n\n", self.layout, self.route);
        match &self.loaded {
            Loaded::Before => text.push_str("loaded before\n"),
            Loaded::Now(tables) => {
                push_line(&mut text, &["table", "rows", "generate ms", "load ms"], "");
                for load in tables {
                    let times = [milliseconds(load.generating), milliseconds(load.loading)];
                    let cells = [load.table.name(), &load.rows.to_string(), &times[0], &times[1]];
                    push_line(&mut text, &cells, "");
                }
                push_line(&mut text, &["resident", &format!("{} MiB", mebibytes(self.load_peak_mib))], "");
            }
        }
        text
    }

    /// The heading of the table of queries.
    pub(crate) fn heading() -> String {
        let mut text = String::new();
        push_line(&mut text, &["query", "rows", "cold ms", "warm ms", "peak MiB", "spilled MiB"], "");
        text
    }

    /// A query's line of the table.
    pub(crate) fn line(outcome: &Outcome, checked: bool) -> String {
        let mut text = String::new();
        let query = outcome.query.to_string();
        match &outcome.result {
            Ok(run) => {
                let warm = run.warm_median().map_or_else(|| "-".to_owned(), milliseconds);
                let spilled = outcome.spilled_bytes.div_ceil(1 << 20).to_string();
                let cells =
                    [query, run.rows.to_string(), milliseconds(run.cold), warm, mebibytes(outcome.peak_mib), spilled];
                push_line(&mut text, &cells, if checked { "ok" } else { "not checked" });
            }
            Err(Error::Difference { difference, .. }) => {
                push_line(&mut text, &[query.as_str(), "-", "-", "-", "-", "-"], &format!("DIFFERENCE: {difference}"));
            }
            Err(Error::Target { message, .. }) => {
                push_line(&mut text, &[query.as_str(), "-", "-", "-", "-", "-"], &format!("ERROR: {message}"));
            }
            Err(error) => push_line(&mut text, &[query.as_str(), "-", "-", "-", "-", "-"], &format!("ERROR: {error}")),
        }
        text
    }

    /// Totals, and the count of what passed and failed on the last line.
    pub(crate) fn totals(&self) -> String {
        let runs: Vec<&QueryRun> = self.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().ok()).collect();
        let cold: Duration = runs.iter().map(|run| run.cold).sum();
        let warm: Duration = runs.iter().filter_map(|run| run.warm_median()).sum();
        let rows: usize = runs.iter().map(|run| run.rows).sum();
        let mut text = String::new();
        push_line(&mut text, &["total", &rows.to_string(), &milliseconds(cold), &milliseconds(warm)], "");
        if let Some(mean) = geometric_mean_ms(&runs) {
            push_line(&mut text, &["geomean", "", "", &format!("{mean:.2}")], "");
        }
        let peak = self.outcomes.iter().filter_map(|outcome| outcome.peak_mib).max();
        push_line(&mut text, &["peak", "", "", "", &mebibytes(peak)], "");
        let _ = write!(text, "\ntpch: {} passed, {} failed\n", self.successes(), self.failures());
        text
    }

    /// Writes the JSON document.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn save(&self, path: &Path) -> Result<(), Error> {
        let text = format!("{:#}\n", self.document());
        std::fs::write(path, text).map_err(|source| Error::Io { path: path.to_owned(), source })
    }

    fn document(&self) -> Value {
        let loads = match &self.loaded {
            Loaded::Before => Value::Null,
            Loaded::Now(tables) => tables.iter().map(load_document).collect(),
        };
        json!({
            "notice": NOTICE,
            "scale_factor": self.layout.scale.value(),
            "storage": self.layout.storage.to_string(),
            "route": self.route.to_string(),
            "checked": self.checked,
            "load": loads,
            "load_peak_mib": self.load_peak_mib,
            "queries": self.outcomes.iter().map(query_document).collect::<Vec<_>>(),
        })
    }
}

fn load_document(load: &TableLoad) -> Value {
    json!({
        "table": load.table.name(),
        "rows": load.rows,
        "generate_ms": number_ms(load.generating),
        "load_ms": number_ms(load.loading),
    })
}

fn query_document(outcome: &Outcome) -> Value {
    let query = outcome.query.number();
    match &outcome.result {
        Ok(run) => json!({
            "query": query,
            "rows": run.rows,
            "cold_ms": number_ms(run.cold),
            "warm_ms": run.warm.iter().map(|warm| number_ms(*warm)).collect::<Vec<_>>(),
            "warm_median_ms": run.warm_median().map(number_ms),
            "peak_mib": outcome.peak_mib,
            "spilled_bytes": outcome.spilled_bytes,
        }),
        Err(error) => json!({"query": query, "error": error.to_string()}),
    }
}

/// Of the warm medians; `None` unless every run has one.
fn geometric_mean_ms(runs: &[&QueryRun]) -> Option<f64> {
    let logarithms: Option<Vec<f64>> = runs.iter().map(|run| Some(number_ms(run.warm_median()?).ln())).collect();
    let logarithms = logarithms.filter(|list| !list.is_empty())?;
    Some((logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
}

fn number_ms(elapsed: Duration) -> f64 {
    // To the microsecond: what is beyond it is noise.
    (elapsed.as_secs_f64() * 1e6).round() / 1e3
}

fn mebibytes(amount: Option<u64>) -> String {
    amount.map_or_else(|| "-".to_owned(), |mib| mib.to_string())
}

fn milliseconds(elapsed: Duration) -> String {
    format!("{:.2}", number_ms(elapsed))
}

/// The first cell flush left, the others flush right, then the remark.
fn push_line<T: AsRef<str>>(text: &mut String, cells: &[T], remark: &str) {
    for (position, cell) in cells.iter().enumerate() {
        let cell = cell.as_ref();
        // Writing to a String cannot fail.
        let _ = if position == 0 { write!(text, "{cell:<10}") } else { write!(text, "{cell:>12}") };
    }
    if !remark.is_empty() {
        let _ = write!(text, "  {remark}");
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
}
