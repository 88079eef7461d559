//! `cargo xtask bench SUITE …`: Gingham and its peers in one run.
//!
//! For a browser suite it builds the package, installs the peers, generates the data the
//! suite loads, and leaves the rest to `bench/browser/run.js SUITE …`. The suite `native`
//! is criterion's, in `bench/benches/native.rs`; `bench/browser/report/native-table.js` makes the table.

use crate::arguments::Arguments;
use crate::failure::{Context, Failure, Result};
use crate::process::{cargo, locked, program, run};
use crate::setup;
use crate::tpch;
use crate::wasm;
use crate::workspace::Workspace;
use std::fs;

/// The suites, and whether each loads TPC-H data.
const SUITES: [(&str, bool); 3] = [("m0", false), ("batteries", false), ("tpch", true)];

/// The scale factor when none is given, as in run.js.
const SCALE_DEFAULT: &str = "0.1";

/// The suite that needs no browser.
const NATIVE: &str = "native";

/// `cargo xtask bench m0|batteries|tpch|native …`.
pub(crate) fn command(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    let scale = arguments.peek("--sf")?.unwrap_or(SCALE_DEFAULT).to_owned();
    let with_gingham = arguments.peek("--engines")?.is_none_or(|engines| engines.contains("gingham"));
    let rest = arguments.pass_on();
    let suite = rest.first().map_or("", String::as_str);
    if suite == NATIVE {
        return native(workspace, Arguments::new(rest[1..].to_vec()));
    }
    let Some((_, loads_tpch)) = SUITES.iter().find(|(name, _)| *name == suite) else {
        let known = SUITES.map(|(name, _)| name).join(", ");
        return Err(Failure::usage(format!("unknown suite `{suite}`; there are {known}, {NATIVE}")));
    };
    let chromium = setup::chromium()?;
    setup::npm_packages(workspace, "bench/browser")?;
    if with_gingham {
        wasm::build_package(workspace)?;
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
