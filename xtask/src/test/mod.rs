//! `cargo xtask test`: every test there is, and one line that counts them.
//!
//! Each suite is a runner of its own whose output is shown as it comes and read for
//! its closing counts. A suite that cannot run is a failure unless there is nothing to
//! run, which is said.

mod counts;
mod suites;

pub(crate) use counts::Counts;

use crate::arguments::Arguments;
use crate::failure::{Failure, Result};
use crate::workspace::Workspace;
use std::time::{Duration, Instant};

/// What became of one suite.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What was run.
    pub(crate) name: String,
    /// Its tests; none if it was left out.
    pub(crate) counts: Option<Counts>,
    /// Why it was left out, or what is wrong beside its counts.
    pub(crate) note: Option<String>,
    /// How long it took.
    pub(crate) time: Duration,
}

impl Outcome {
    /// Runs `suite` and takes the time; an error counts as one failed test.
    pub(crate) fn of(name: &str, suite: impl FnOnce() -> Result<Ran>) -> Self {
        println!("\n== {name}");
        let start = Instant::now();
        let (counts, note) = match suite() {
            Ok(Ran::Counted(counts)) => (Some(counts), None),
            Ok(Ran::Nothing(reason)) => (None, Some(reason)),
            Err(failure) => {
                eprintln!("{failure}");
                (Some(Counts { failed: 1, ..Counts::default() }), Some(failure.to_string()))
            }
        };
        Self { name: name.to_owned(), counts, note, time: start.elapsed() }
    }
}

/// How a suite ended, short of an error.
#[derive(Debug)]
pub(crate) enum Ran {
    /// It ran.
    Counted(Counts),
    /// There is nothing to run, and why.
    Nothing(String),
}

/// `cargo xtask test [SUITE…]`.
pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let chosen = arguments.words();
    arguments.finish()?;
    if let Some(unknown) = chosen.iter().find(|name| !suites::NAMES.contains(&name.as_str())) {
        let known = suites::NAMES.join(", ");
        return Err(Failure::usage(format!("unknown suite `{unknown}`; there are {known}")));
    }
    let mut outcomes = Vec::new();
    for name in suites::NAMES {
        if chosen.is_empty() || chosen.iter().any(|chosen| chosen == name) {
            outcomes.extend(suites::run(workspace, name));
        }
    }
    close(&outcomes)
}

/// Every suite, for `cargo xtask ci`.
pub(crate) fn all(workspace: &Workspace) -> Vec<Outcome> {
    suites::NAMES.iter().flat_map(|name| suites::run(workspace, name)).collect()
}

/// Prints what became of every suite; the last line is `N passed, N failed`.
///
/// # Errors
/// If anything failed.
pub(crate) fn close(outcomes: &[Outcome]) -> Result<()> {
    let width = outcomes.iter().map(|outcome| outcome.name.len()).max().unwrap_or(0);
    println!();
    for Outcome { name, counts, note, time } in outcomes {
        let seconds = time.as_secs_f64();
        let result = counts.map_or("left out".to_owned(), |counts| counts.to_string());
        let note =
            note.as_ref().map_or(String::new(), |note| format!(" ({})", note.lines().next().unwrap_or_default()));
        println!("{name:width$}  {seconds:7.1} s  {result}{note}");
    }
    let total = outcomes.iter().filter_map(|outcome| outcome.counts).fold(Counts::default(), Counts::plus);
    println!("{total}");
    if total.failed == 0 && total.passed > 0 { Ok(()) } else { Err(Failure::Reported) }
}
