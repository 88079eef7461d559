//! Building the workspace for this machine.

use crate::failure::{Failure, Result};
use crate::process::{capture, cargo, locked, run};
use crate::workspace::Workspace;
use serde_json::Value;
use std::env::consts::EXE_SUFFIX;
use std::path::PathBuf;

/// All crates with all that tests want. The same selection everywhere, for another one
/// would have other features and compile the dependencies again.
pub(crate) const EVERYTHING: [&str; 3] = ["--workspace", "--features", "gingham-row-store/fault,gingham-tpch/engine"];

/// What cargo knows of the workspace, dependencies outside left out.
pub(crate) fn metadata(workspace: &Workspace) -> Result<Value> {
    let mut metadata = cargo();
    metadata.current_dir(workspace.root()).args(["metadata", "--no-deps", "--format-version", "1"]).args(locked());
    let text = capture(&mut metadata)?;
    serde_json::from_str(&text).map_err(|error| Failure::new(format!("cargo metadata: {error}")))
}

/// A program of the workspace built as the tests are.
pub(crate) fn test_binary(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let mut build = cargo();
    // With the tests, so that it gets the features that they have.
    build.current_dir(workspace.root()).args(["build", "--quiet", "--bins", "--tests"]);
    run(build.args(EVERYTHING).args(locked()))?;
    binary(workspace, "debug", name)
}

/// A program of the workspace built to be fast.
pub(crate) fn release_binary(workspace: &Workspace, package: &str, name: &str, features: &[&str]) -> Result<PathBuf> {
    let mut build = cargo();
    build.current_dir(workspace.root()).args(["build", "--release", "--package", package, "--bin", name]);
    run(build.args(features).args(locked()))?;
    binary(workspace, "release", name)
}

fn binary(workspace: &Workspace, profile: &str, name: &str) -> Result<PathBuf> {
    let metadata = metadata(workspace)?;
    let target =
        metadata["target_directory"].as_str().ok_or_else(|| Failure::new("cargo metadata has no target_directory"))?;
    Ok(PathBuf::from(target).join(profile).join(format!("{name}{EXE_SUFFIX}")))
}
