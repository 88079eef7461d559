//! `cargo xtask tpch …`: the TPC-H tool, built to be fast. It also writes the data that
//! the browser suites load, for which it is built without the database, in seconds.

use crate::arguments::Arguments;
use crate::failure::{Failure, Result};
use crate::native;
use crate::process::{program, run};
use crate::workspace::Workspace;
use std::path::PathBuf;

/// Package and program.
const NAME: &str = "gingham-tpch";

/// The tool's feature that has it contain the database.
const ENGINE: &[&str] = &["--features", "engine"];

/// `cargo xtask tpch ARGUMENTS…`: passes them on.
pub(crate) fn command(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    let features = if arguments.peek("--csv")?.is_some() { &[] } else { ENGINE };
    let tool = native::release_binary(workspace, NAME, NAME, features)?;
    run(program(tool).args(arguments.pass_on()))
}

/// The tool with the database in it.
pub(crate) fn tool(workspace: &Workspace) -> Result<PathBuf> {
    native::release_binary(workspace, NAME, NAME, ENGINE)
}

/// The folder with the eight tables of a scale factor as CSV, generated where they are
/// not there: bench/.data/sf0.1/lineitem.csv and so on.
pub(crate) fn csv(workspace: &Workspace, scale: &str) -> Result<PathBuf> {
    let number = scale.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    let number =
        number.ok_or_else(|| Failure::usage(format!("`{scale}` is no scale factor: a number above 0, such as 0.1")))?;
    // The scripts that read them write the number in the same, shortest form.
    let scale = number.to_string();
    let folder = workspace.path("bench/.data").join(format!("sf{scale}"));
    let tool = native::release_binary(workspace, NAME, NAME, &[])?;
    run(program(tool).args(["--sf", &scale, "--csv"]).arg(&folder))?;
    Ok(folder)
}
