//! `cargo xtask bench SUITE …`: a browser suite for Gingham and its peers in one run.
//!
//! Builds the package, installs the peers, generates the data the suite loads, and
//! leaves the rest to `bench/browser/run.js SUITE …`.

use crate::arguments::Arguments;
use crate::failure::{Failure, Result};
use crate::process::{program, run};
use crate::setup;
use crate::tpch;
use crate::wasm;
use crate::workspace::Workspace;

/// The suites, and whether each loads TPC-H data.
const SUITES: [(&str, bool); 3] = [("m0", false), ("batteries", false), ("tpch", true)];

/// The scale factor when none is given, as in run.js.
const SCALE_DEFAULT: &str = "0.1";

/// `cargo xtask bench m0|batteries|tpch …`.
pub(crate) fn command(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    let scale = arguments.peek("--sf")?.unwrap_or(SCALE_DEFAULT).to_owned();
    let with_gingham = arguments.peek("--engines")?.is_none_or(|engines| engines.contains("gingham"));
    let rest = arguments.pass_on();
    let suite = rest.first().map_or("", String::as_str);
    let Some((_, loads_tpch)) = SUITES.iter().find(|(name, _)| *name == suite) else {
        let known = SUITES.map(|(name, _)| name).join(", ");
        return Err(Failure::usage(format!("unknown suite `{suite}`; there are {known}")));
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
