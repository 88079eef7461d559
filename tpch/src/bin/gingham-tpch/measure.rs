//! Runs the queries against Gingham and prints how they went.

use crate::arguments::Arguments;
use crate::engine::Gingham;
use crate::report::{Outcome, Report};
use crate::resident;
use gingham_tpch::{Answer, Error, QueryNumber, run_query};
use std::process::ExitCode;

/// Loads, runs and reports. A query that fails does not keep the others from running.
pub(crate) fn measure(arguments: &Arguments) -> Result<ExitCode, Error> {
    let questions = questions(arguments)?;
    let layout = arguments.layout();
    let (mut target, loaded) = Gingham::loaded(arguments)?;

    let mut report = Report {
        layout,
        route: arguments.route,
        loaded,
        load_peak_mib: resident::peak_mib(),
        checked: arguments.check,
        outcomes: Vec::new(),
    };
    println!("{}\n{}", report.load_text(), Report::heading().trim_end());
    for (query, answer) in questions {
        resident::reset();
        let spilled_before = target.spilled_bytes();
        let result = run_query(&mut target, query, layout.scale, arguments.repeat.into(), answer.as_ref());
        let spilled_bytes = target.spilled_bytes() - spilled_before;
        let outcome = Outcome { query, result, peak_mib: resident::peak_mib(), spilled_bytes };
        print!("{}", Report::line(&outcome, arguments.check));
        report.outcomes.push(outcome);
    }
    print!("{}", report.totals());
    if target.spilled_bytes() > 0 {
        println!("{} MiB spilled", target.spilled_bytes().div_ceil(1 << 20));
    }
    if let Some(path) = &arguments.json {
        report.save(path)?;
    }
    target.close()?;
    Ok(if report.failures() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The queries with their answers, where they are to be checked.
fn questions(arguments: &Arguments) -> Result<Vec<(QueryNumber, Option<Answer>)>, Error> {
    let answer = |query| arguments.check.then(|| Answer::of(query, arguments.sf)).transpose();
    arguments.queries().into_iter().map(|query| Ok((query, answer(query)?))).collect()
}
