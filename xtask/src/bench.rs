//! `cargo xtask bench SUITE …`: Gingham and its peers in one run.
//!
//! For a browser suite it builds the package, installs the peers, generates the data the
//! suite loads, and leaves the rest to `bench/browser/run.js SUITE …`. The suite `native`
//! is criterion's, in `bench/benches/native.rs`; `bench/browser/report/native-table.js` makes the table.
//! The suite `tpch-native` is `bench/tpch-native/run.js`.

use crate::arguments::Arguments;
use crate::differential;
use crate::failure::{Context, Failure, Result};
use crate::process::{cargo, locked, program, run};
use crate::setup;
use crate::tpch;
use crate::wasm;
use crate::workspace::Workspace;
use std::fs;

/// The suites, and whether each loads TPC-H data.
const SUITES: [(&str, bool); 3] = [("m0", false), ("batteries", false), (TPCH, true)];

/// The suite that can show a profile instead.
const TPCH: &str = "tpch";
const PROFILE: &str = "--profile";

/// The scale factor when none is given, as in run.js.
const SCALE_DEFAULT: &str = "0.1";

/// The suites that need no browser.
const NATIVE: &str = "native";
const TPCH_NATIVE: &str = "tpch-native";

/// The scale factor of the native suite when none is given.
const NATIVE_SCALE_DEFAULT: &str = "1";

/// `cargo xtask bench m0|batteries|tpch|native|tpch-native …`.
pub(crate) fn command(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    let scale = arguments.peek("--sf")?.unwrap_or(SCALE_DEFAULT).to_owned();
    let with_gingham = arguments.peek("--engines")?.is_none_or(|engines| engines.contains("gingham"));
    let rest = arguments.pass_on();
    let suite = rest.first().map_or("", String::as_str);
    if suite == NATIVE {
        return native(workspace, Arguments::new(rest[1..].to_vec()));
    }
    if suite == TPCH_NATIVE {
        return tpch_native(workspace, &rest[1..]);
    }
    let mut native_rest = Arguments::new(rest.clone());
    if suite == TPCH && native_rest.flag(PROFILE) {
        return profile(workspace, &native_rest.pass_on()[1..]);
    }
    let Some((_, loads_tpch)) = SUITES.iter().find(|(name, _)| *name == suite) else {
        let known = SUITES.map(|(name, _)| name).join(", ");
        return Err(Failure::usage(format!("unknown suite `{suite}`; there are {known}, {NATIVE}, {TPCH_NATIVE}")));
    };
    let chromium = setup::chromium()?;
    setup::npm_packages(workspace, "bench/browser")?;
    if with_gingham {
        let profiles = rest.iter().any(|word| word == "--profile");
        if profiles { wasm::build_named(workspace)? } else { wasm::build_package(workspace)? }
    }
    if *loads_tpch {
        tpch::csv(workspace, &scale)?;
    }
    let mut suite = program("node");
    suite.current_dir(workspace.root()).env("CHROMIUM", chromium);
    run(suite.arg("bench/browser/run.js").args(rest))
}

/// `cargo xtask bench native [--save] [FILTER]…`: the row store beside SQLite and redb.
fn native(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let save = arguments.flag("--save");
    let filters = arguments.words();
    arguments.finish()?;
    setup::node()?;
    setup::sqlite()?;
    let results = workspace.cache().join("criterion");
    // What an earlier run left would be shown as if it were of this one.
    if results.exists() {
        fs::remove_dir_all(&results).context(|| format!("removing {}", results.display()))?;
    }
    let mut bench = cargo();
    bench.current_dir(workspace.root()).env("CRITERION_HOME", &results);
    bench.args(["bench", "--package", "gingham-bench", "--features", "peers", "--bench", "native"]);
    run(bench.args(locked()).arg("--").args(filters))?;
    let mut table = program("node");
    table.current_dir(workspace.root()).arg("bench/browser/report/native-table.js").arg(&results);
    run(table.args(save.then_some("--save")))
}

/// `cargo xtask bench tpch-native [--sf N] [--repeat N] [--queries LIST] [--save [LABEL]]`: TPC-H
/// natively beside DuckDB, each on one thread. Where npm cannot get DuckDB there is nothing
/// to compare with.
fn tpch_native(workspace: &Workspace, rest: &[String]) -> Result<()> {
    let scale = Arguments::new(rest.to_vec()).peek("--sf")?.unwrap_or(NATIVE_SCALE_DEFAULT).to_owned();
    setup::node()?;
    if let Err(failure) = setup::npm_packages(workspace, differential::FOLDER) {
        println!("tpch-native: skipped, for DuckDB cannot be installed: {failure}");
        return Ok(());
    }
    let data = tpch::csv(workspace, &scale)?;
    let tool = tpch::tool(workspace)?;
    let mut suite = program("node");
    suite.current_dir(workspace.root()).arg("bench/tpch-native/run.js").arg("--tool").arg(tool);
    suite.arg("--data").arg(data).arg("--scratch").arg(workspace.cache().join(TPCH_NATIVE));
    run(suite.args(rest))
}

/// `cargo xtask bench tpch --profile [--sf N] [--repeat N] [--queries LIST]`: the hottest
/// operators and planning times, natively: the browser runs the same operators, and nothing
/// there tells them apart as cheaply.
fn profile(workspace: &Workspace, rest: &[String]) -> Result<()> {
    let mut profile = program(tpch::tool(workspace)?);
    if Arguments::new(rest.to_vec()).peek("--sf")?.is_none() {
        profile.args(["--sf", NATIVE_SCALE_DEFAULT]);
    }
    run(profile.args(["--storage", "column", PROFILE]).args(rest))
}
