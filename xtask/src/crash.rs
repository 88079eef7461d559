//! `cargo xtask crash`: the row store's crash simulation alone; `--long` runs its long
//! form, which `cargo xtask test` has no time for.

use crate::arguments::Arguments;
use crate::failure::Result;
use crate::process::{cargo, locked, run};
use crate::workspace::Workspace;

/// What the long form of a test looks for in its environment.
const LONG: (&str, &str) = ("GINGHAM_LONG", "1");

/// `cargo xtask crash [--long] [NAME]…`: tests with `crash`, or one of the names, in
/// theirs.
pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let long = arguments.flag("--long");
    let names = arguments.words();
    arguments.finish()?;
    let mut tests = cargo();
    tests.current_dir(workspace.root()).args(["test", "--release", "--package", "gingham-row-store"]);
    tests.args(["--features", "fault"]).args(locked());
    if long {
        tests.env(LONG.0, LONG.1);
    }
    tests.args(["--", "--nocapture"]);
    run(if names.is_empty() { tests.arg("crash") } else { tests.args(names) })
}
