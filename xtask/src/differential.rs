//! `cargo xtask differential`: random databases and queries, Gingham's answers against
//! DuckDB's and SQLite's (`bench/differential/README.md`).

use crate::arguments::Arguments;
use crate::failure::Result;
use crate::process::{program, run};
use crate::workspace::Workspace;
use crate::{native, setup};
use std::path::Path;
use std::process::Command;

/// The folder of the tool.
pub(crate) const FOLDER: &str = "bench/differential";

/// `cargo xtask differential [--seed N] [--queries N] [--minutes M] …`.
pub(crate) fn command(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    setup::npm_packages(workspace, FOLDER)?;
    let shell = native::test_binary(workspace, "gingham")?;
    run(tool(workspace, &shell).args(arguments.pass_on()))
}

/// The tool with its shell, to be given more options.
pub(crate) fn tool(workspace: &Workspace, shell: &Path) -> Command {
    let mut tool = program("node");
    tool.current_dir(workspace.path(FOLDER)).arg("run.js").arg("--binary").arg(shell);
    tool
}
