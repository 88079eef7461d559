//! `cargo xtask wasm`: the npm package as it would be packed, in web/dist.
//!
//! Two modules (D-15): the core from `gingham-web`, the planner from
//! `gingham-web-planner`. Each is compiled, given its JavaScript by wasm-bindgen and
//! stripped; then web/'s own `npm run build` compiles the TypeScript beside them, and
//! the manifest is written. Every step is skipped when nothing it reads has changed.

mod build;
mod package;
mod report;
mod sizes;

use crate::arguments::Arguments;
use crate::failure::{Failure, Result};
use crate::setup;
use crate::workspace::Workspace;

/// One wasm module of the package.
#[derive(Debug)]
pub(crate) struct Module {
    /// The crate that it is built from.
    pub(crate) package: &'static str,
    /// The profile in the workspace's Cargo.toml.
    pub(crate) profile: &'static str,
    /// What its files in web/dist are called: `core.js`, `core_bg.wasm` and types.
    pub(crate) name: &'static str,
}

/// The package's modules.
pub(crate) const MODULES: [Module; 2] = [
    Module { package: "gingham-web", profile: "wasm-core", name: "core" },
    Module { package: "gingham-web-planner", profile: "wasm-planner", name: "planner" },
];

/// `cargo xtask wasm [core|planner] [--report]`.
pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let by_crate = arguments.flag("--report");
    let chosen = arguments.words();
    arguments.finish()?;
    if let Some(unknown) = chosen.iter().find(|name| MODULES.iter().all(|module| module.name != name.as_str())) {
        return Err(Failure::usage(format!("unknown module `{unknown}`; there are core and planner")));
    }
    let modules = || MODULES.iter().filter(|module| chosen.is_empty() || chosen.iter().any(|name| name == module.name));
    build_modules(workspace, modules())?;
    if chosen.is_empty() {
        package::build(workspace)?;
    }
    sizes::print(workspace)?;
    if by_crate {
        for module in modules() {
            report::print(module.name, &build::compiled(workspace, module))?;
        }
    }
    Ok(())
}

/// Brings web/dist up to date.
pub(crate) fn build_package(workspace: &Workspace) -> Result<()> {
    build_modules(workspace, MODULES.iter())?;
    package::build(workspace)
}

fn build_modules<'a>(workspace: &Workspace, modules: impl Iterator<Item = &'a Module>) -> Result<()> {
    let toolchain = setup::wasm_toolchain()?;
    for module in modules {
        build::compile(workspace, &toolchain, module)?;
        build::bind(workspace, module)?;
    }
    Ok(())
}
