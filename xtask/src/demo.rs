//! `cargo xtask demo`: from a clone to the console and the dashboard in a browser.
//!
//! Plain, it serves: the script `demo` of web/package.json gets the folder with the
//! TPC-H tables as CSV, serves console and package on localhost, prints the address and
//! stays. With `--check` it proves the main job headless: bench/browser/demo-check.js
//! gets the same folder, loads it into OPFS, compares the 22 queries with their answers,
//! kills the worker, reopens and compares again, runs the M0 suite for Gingham and
//! SQLite, prints its tables and exits 0 only if all of that held.

use crate::arguments::Arguments;
use crate::failure::{Failure, Result};
use crate::process::{program, run};
use crate::setup;
use crate::tpch;
use crate::wasm;
use crate::workspace::Workspace;

/// TPC-H's scale factor: 866,602 rows, large enough to tell the engines apart and small
/// enough to load while one waits.
const SCALE: &str = "0.1";

/// `cargo xtask demo [--check]`.
pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let check = arguments.flag("--check");
    arguments.finish()?;
    setup::node()?;
    wasm::build_package(workspace)?;
    let data = tpch::csv(workspace, SCALE)?;
    let mut script = if check {
        setup::npm_packages(workspace, "bench/browser")?;
        let mut script = program("node");
        script.current_dir(workspace.root()).arg("bench/browser/demo-check.js");
        script.env("CHROMIUM", setup::chromium()?);
        script
    } else {
        let script = setup::npm_script(workspace, "web", "demo")?;
        let mut script = script.ok_or_else(|| Failure::new("web/package.json has no script `demo`"))?;
        script.arg("--");
        script
    };
    run(script.args(["--sf", SCALE, "--data"]).arg(data))
}
