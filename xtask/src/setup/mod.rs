//! Finds out what a machine lacks for a task and installs it, saying what it does.
//!
//! Each part is asked for by the commands that need it and costs nothing when it is
//! there already. Where something may not be installed, the failure is the one command
//! that a person has to run.

mod browser;
mod debian;
mod node;
mod wasm_toolchain;

pub(crate) use browser::chromium;
pub(crate) use node::{node, npm_packages, npm_script};
pub(crate) use wasm_toolchain::{TARGET, WasmToolchain, wasm_toolchain};

use crate::arguments::Arguments;
use crate::failure::Result;
use crate::process::{capture, program};
use crate::workspace::Workspace;

/// SQLite's library, which the native benches link.
pub(crate) fn sqlite() -> Result<()> {
    // The compiler repeats the name of a library that it does not find.
    let name = "libsqlite3.so";
    let found = capture(program("cc").arg(format!("-print-file-name={name}")));
    if found.is_ok_and(|path| path.trim() != name) {
        return Ok(());
    }
    debian::install(&["libsqlite3-dev"], "SQLite's library")
}

/// The folders with npm packages of their own.
pub(crate) const NPM_FOLDERS: [&str; 2] = ["web", "bench/browser"];

/// `cargo xtask setup`: everything, for those who want to be offline later.
pub(crate) fn command(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    arguments.finish()?;
    println!("wasm target: {}", wasm_toolchain()?);
    println!("Node.js: {}", node()?);
    for folder in NPM_FOLDERS {
        let state = if npm_packages(workspace, folder)? { "as in the lock file" } else { "none wanted" };
        println!("npm packages of {folder}: {state}");
    }
    println!("Chromium: {}", chromium()?.display());
    Ok(())
}
