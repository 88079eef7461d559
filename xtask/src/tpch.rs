//! `cargo xtask tpch …`: the TPC-H tool, built to be fast. It also writes the data that
//! the browser suites load.

use crate::arguments::Arguments;
use crate::failure::{Context, Failure, Result};
use crate::native;
use crate::process::{program, run};
use crate::workspace::{Inputs, Stamp, Workspace};
use std::fs;
use std::path::PathBuf;

/// Package and program.
const NAME: &str = "gingham-tpch";

/// `cargo xtask tpch ARGUMENTS…`: passes them on.
pub(crate) fn command(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    let tool = native::release_binary(workspace, NAME, NAME)?;
    run(program(tool).args(arguments.pass_on()))
}

/// The folder with the eight tables of a scale factor as CSV, generated if it is not
/// there: bench/.data/sf0.1/lineitem.csv and so on.
pub(crate) fn csv(workspace: &Workspace, scale: &str) -> Result<PathBuf> {
    let valid = scale.parse::<f64>().is_ok_and(|number| number > 0.0 && number.is_finite());
    if !valid || scale.contains(|c: char| !c.is_ascii_digit() && c != '.') {
        return Err(Failure::usage(format!("`{scale}` is no scale factor: a number above 0, such as 0.1")));
    }
    let folder = workspace.path("bench/.data").join(format!("sf{scale}"));
    // The data of a scale factor never changes, except with the generator.
    let mut inputs = Inputs::new();
    inputs
        .bytes(scale.as_bytes())
        .folder(&workspace.path("tpch/src"), &[])?
        .file(&workspace.path("tpch/Cargo.toml"))?;
    let stamp = Stamp::new(folder.join(".made-from"), &inputs);
    if stamp.is_current() {
        return Ok(folder);
    }
    fs::create_dir_all(&folder).context(|| format!("creating {}", folder.display()))?;
    eprintln!("generating TPC-H data at scale factor {scale}");
    let tool = native::release_binary(workspace, NAME, NAME)?;
    run(program(tool).args(["--sf", scale, "--csv"]).arg(&folder))?;
    stamp.set()?;
    Ok(folder)
}
