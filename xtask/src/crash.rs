//! `cargo xtask crash`: the proofs of durability alone (docs/TESTING.md): crash
//! simulations, injected errors, damage, checks of any bytes, and processes killed in
//! the browser. `--long` runs their long forms, which `cargo xtask test` has no time for.

use crate::arguments::Arguments;
use crate::failure::{Failure, Result};
use crate::native;
use crate::process::{cargo, locked, program, run};
use crate::setup;
use crate::wasm;
use crate::workspace::Workspace;

/// What tests look for in their environment to be long.
const LONG: [&str; 2] = ["GINGHAM_LONG", "GINGHAM_THOROUGH"];

/// The test programs: the row store, SQL over a failing disk, any bytes.
const TESTS: [&str; 3] = ["store", "crash", "checks"];

const PARTS: [&str; 2] = ["rust", "browser"];

/// `cargo xtask crash [--long] [rust|browser]…`: all of it, or one part.
pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let long = arguments.flag("--long");
    let parts = arguments.words();
    arguments.finish()?;
    if let Some(unknown) = parts.iter().find(|part| !PARTS.contains(&part.as_str())) {
        return Err(Failure::usage(format!("unknown part `{unknown}`; there are {}", PARTS.join(", "))));
    }
    let wants = |part: &str| parts.is_empty() || parts.iter().any(|chosen| chosen == part);
    let environment = LONG.iter().filter(|_| long).map(|name| (*name, "1"));
    if wants("rust") {
        let mut tests = cargo();
        // As `cargo xtask test` builds them, so that nothing is compiled twice.
        tests.current_dir(workspace.root()).arg("test").args(native::EVERYTHING).args(locked());
        tests.args(TESTS.iter().flat_map(|test| ["--test", test])).envs(environment.clone());
        run(tests.args(["--", "--nocapture"]))?;
    }
    if wants("browser") {
        wasm::build_package(workspace)?;
        for folder in setup::NPM_FOLDERS {
            setup::npm_packages(workspace, folder)?;
        }
        let mut kills = program("node");
        kills.current_dir(workspace.root()).env("CHROMIUM", setup::chromium()?).envs(environment);
        run(kills.args(["--test", "web/tests/kill.test.js"]))?;
    }
    Ok(())
}
