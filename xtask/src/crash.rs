//! `cargo xtask crash`: the row store's crash simulation alone, built to be fast;
//! `--long` runs its long form, which `cargo xtask test` has no time for.

use crate::arguments::Arguments;
use crate::failure::Result;
use crate::process::{cargo, locked, run};
use crate::workspace::Workspace;

/// What the long forms of tests look for in their environment.
const LONG: [&str; 2] = ["GINGHAM_LONG", "GINGHAM_THOROUGH"];

/// `cargo xtask crash [--long] [NAME]…`: all its tests, or those with one of the names
/// in theirs.
pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let long = arguments.flag("--long");
    let names = arguments.words();
    arguments.finish()?;
    let mut tests = cargo();
    tests.current_dir(workspace.root()).args(["test", "--release", "--package", "gingham-row-store"]);
    tests.args(["--features", "fault", "--test", "crash"]).args(locked());
    if long {
        tests.envs(LONG.map(|name| (name, "1")));
    }
    run(tests.args(["--", "--nocapture"]).args(names))
}
