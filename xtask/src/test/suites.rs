//! The suites and how each is run.

use super::counts::Reader;
use super::{Outcome, Ran};
use crate::differential;
use crate::failure::{Failure, Result};
use crate::native;
use crate::process::{cargo, find_on_path, locked, program, watch};
use crate::setup;
use crate::wasm;
use crate::workspace::Workspace;
use std::process::Command;

/// The suites in the order they run: what fails soonest first.
pub(crate) const NAMES: [&str; 5] = ["rust", "tpch", "node", "differential", "browser"];

/// Scale factor of the TPC-H check whose answers are in the repository.
const TPCH_SCALE: &str = "0.01";

/// Where the random queries of the test run begin, and how many there are.
const DIFFERENTIAL_SEED: &str = "30000";
const DIFFERENTIAL_QUERIES: &str = "300";

/// Runs one suite, which may have several runners.
pub(crate) fn run(workspace: &Workspace, name: &str) -> Vec<Outcome> {
    match name {
        "rust" => rust(workspace),
        "tpch" => tpch(workspace),
        "node" => vec![Outcome::of("node: bench/browser", || npm_test(workspace, "bench/browser"))],
        "differential" => differential(workspace),
        _ => vec![Outcome::of("browser: web", || browser(workspace))],
    }
}

/// Unit, integration and slt tests, crash simulation among them; then the examples in
/// the documentation.
fn rust(workspace: &Workspace) -> Vec<Outcome> {
    let tests = Outcome::of("rust: tests", || {
        let mut tests = cargo();
        if find_on_path(&["cargo-nextest"]).is_some() {
            tests.args(["nextest", "run", "--no-fail-fast", "--no-tests", "warn"]);
        } else {
            tests.args(["test", "--no-fail-fast", "--lib", "--bins", "--tests"]);
        }
        counted(tests.current_dir(workspace.root()).args(native::EVERYTHING).args(locked()))
    });
    let examples = Outcome::of("rust: examples in documentation", || {
        let mut tests = cargo();
        tests.current_dir(workspace.root()).args(["test", "--doc", "--no-fail-fast"]);
        counted(tests.args(native::EVERYTHING).args(locked()))
    });
    vec![tests, examples]
}

/// The 22 queries against their answers, over each store and over both.
fn tpch(workspace: &Workspace) -> Vec<Outcome> {
    let check = |route: &str| {
        Outcome::of(&format!("tpch: SF {TPCH_SCALE}, route {route}"), || {
            let binary = native::test_binary(workspace, "gingham-tpch")?;
            let mut check = program(binary);
            check.current_dir(workspace.root()).args(["--sf", TPCH_SCALE, "--route", route, "--check"]);
            counted(&mut check)
        })
    };
    ["row", "column", "auto"].map(check).into()
}

/// The generator's own tests, then random queries from a fixed seed against the peers.
/// Where npm cannot get the peers there is nothing to compare with.
fn differential(workspace: &Workspace) -> Vec<Outcome> {
    let folder = differential::FOLDER;
    if let Err(failure) = setup::npm_packages(workspace, folder) {
        let reason = format!("the peers cannot be installed: {failure}");
        return vec![Outcome::of("differential", || Ok(Ran::Nothing(reason)))];
    }
    let own = Outcome::of("differential: its own tests", || match setup::npm_script(workspace, folder, "test")? {
        Some(mut test) => counted(&mut test),
        None => Err(Failure::new(format!("{folder}/package.json has no script `test`"))),
    });
    let queries = Outcome::of(&format!("differential: {DIFFERENTIAL_QUERIES} queries"), || {
        let shell = native::test_binary(workspace, "gingham")?;
        let mut tool = differential::tool(workspace, &shell);
        counted(tool.args(["--seed", DIFFERENTIAL_SEED, "--queries", DIFFERENTIAL_QUERIES]))
    });
    vec![own, queries]
}

/// The browser package's own tests, against the package as built.
fn browser(workspace: &Workspace) -> Result<Ran> {
    wasm::build_package(workspace)?;
    wasm::build_testing(workspace)?;
    npm_test(workspace, "web")
}

/// `npm test` of a folder, with a browser for those tests that want one.
fn npm_test(workspace: &Workspace, folder: &str) -> Result<Ran> {
    if !workspace.path(folder).join("package.json").is_file() {
        return Ok(Ran::Nothing(format!("{folder}/package.json is not there")));
    }
    // The folders use each other's modules.
    for each in setup::NPM_FOLDERS {
        setup::npm_packages(workspace, each)?;
    }
    let Some(mut test) = setup::npm_script(workspace, folder, "test")? else {
        return Err(Failure::new(format!("{folder}/package.json has no script `test`")));
    };
    counted(test.env("CHROMIUM", setup::chromium()?))
}

fn counted(command: &mut Command) -> Result<Ran> {
    let mut reader = Reader::default();
    let status = watch(command, |line| reader.line(line))?;
    Ok(Ran::Counted(reader.finish(status.success())))
}
