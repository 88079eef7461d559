//! Node.js and the npm packages that the lock files name.

use crate::failure::{Context, Failure, Result};
use crate::process::{capture, program, run};
use crate::workspace::{Inputs, Stamp, Workspace};
use std::fs;
use std::process::Command;

/// The oldest major version of Node.js that the scripts run on.
const MAJOR_VERSION_MIN: u32 = 20;

/// The version of Node.js, which must be new enough.
pub(crate) fn node() -> Result<String> {
    let wanted = format!("Node.js {MAJOR_VERSION_MIN} or newer, with npm");
    let version = capture(program("node").arg("--version"))
        .map_err(|_| Failure::new(format!("{wanted}, is missing. Install it and put `node` on PATH")))?;
    let version = version.trim().trim_start_matches('v').to_owned();
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < MAJOR_VERSION_MIN) {
        return Err(Failure::new(format!("{wanted}, is needed; `node` on PATH is {version}")));
    }
    Ok(version)
}

/// Installs a folder's packages by its lock file unless that was done for the same lock
/// file before. False if the folder has no package.json.
pub(crate) fn npm_packages(workspace: &Workspace, folder: &str) -> Result<bool> {
    let place = workspace.path(folder);
    if !place.join("package.json").is_file() {
        return Ok(false);
    }
    if !place.join("package-lock.json").is_file() {
        return Err(Failure::new(format!("{folder}/package.json has no package-lock.json beside it")));
    }
    let mut inputs = Inputs::new();
    inputs.bytes(node()?.as_bytes()).file(&place.join("package.json"))?.file(&place.join("package-lock.json"))?;
    // In node_modules, so that it goes when they go.
    let stamp = Stamp::new(place.join("node_modules/.installed-from"), &inputs);
    if stamp.is_current() {
        return Ok(true);
    }
    eprintln!("installing the npm packages of {folder}");
    run(npm(workspace, folder).args(["ci", "--prefer-offline", "--no-audit", "--no-fund"]))?;
    stamp.set()?;
    Ok(true)
}

/// A script of a folder's package.json, ready to run; none if it has no such script.
pub(crate) fn npm_script(workspace: &Workspace, folder: &str, script: &str) -> Result<Option<Command>> {
    let path = workspace.path(folder).join("package.json");
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).context(|| format!("reading {}", path.display()))?;
    let package: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    if !package["scripts"][script].is_string() {
        return Ok(None);
    }
    let mut command = npm(workspace, folder);
    command.args(["run", "--silent", script]);
    Ok(Some(command))
}

fn npm(workspace: &Workspace, folder: &str) -> Command {
    let mut command = program("npm");
    command.current_dir(workspace.path(folder));
    command
}
