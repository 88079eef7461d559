//! `cargo xtask wasm`: the npm package as it would be packed, in web/dist.
//!
//! Two modules (D-15): the core from `gingham-web`, the planner from
//! `gingham-web-planner`. Each is compiled, given its JavaScript by wasm-bindgen and
//! stripped, and the core is optimized once more; then web/'s own `npm run build` compiles and bundles the TypeScript beside them, and
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
    /// Features of that crate.
    pub(crate) features: &'static [&'static str],
    /// The profile in the workspace's Cargo.toml.
    pub(crate) profile: &'static str,
    /// What its files are called: `core.js`, `core_bg.wasm` and types.
    pub(crate) name: &'static str,
    /// Where they go.
    pub(crate) folder: &'static str,
    /// Whether Binaryen's optimizer rewrites it: minutes for a large module.
    pub(crate) optimize: bool,
}

/// The package's modules.
pub(crate) const MODULES: [Module; 2] = [
    Module {
        package: "gingham-web",
        features: &[],
        profile: "wasm-core",
        name: "core",
        folder: PACKAGE,
        optimize: true,
    },
    Module {
        package: "gingham-web-planner",
        features: &[],
        profile: "wasm-planner",
        name: "planner",
        folder: PACKAGE,
        optimize: false,
    },
];

/// The package as it would be packed.
pub(crate) const PACKAGE: &str = "web/dist";

/// The core with what only web/tests calls: the contract that every VFS passes.
const TESTING: Module = Module {
    package: "gingham-web",
    features: &["testing"],
    profile: "wasm-testing",
    name: "core",
    folder: "web/dist-testing",
    optimize: false,
};

/// `cargo xtask wasm [core|planner] [--names] [--report]`.
pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let by_crate = arguments.flag("--report");
    let names = arguments.flag("--names");
    let chosen = arguments.words();
    arguments.finish()?;
    if let Some(unknown) = chosen.iter().find(|name| MODULES.iter().all(|module| module.name != name.as_str())) {
        return Err(Failure::usage(format!("unknown module `{unknown}`; there are core and planner")));
    }
    let modules = || MODULES.iter().filter(|module| chosen.is_empty() || chosen.iter().any(|name| name == module.name));
    build_modules(workspace, modules(), names)?;
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
    build_modules(workspace, MODULES.iter(), false)?;
    package::build(workspace)
}

/// As [`build_package`], with functions' names in the modules, for profilers.
pub(crate) fn build_named(workspace: &Workspace) -> Result<()> {
    build_modules(workspace, MODULES.iter(), true)?;
    package::build(workspace)
}

/// Brings the module for the browser tests up to date.
pub(crate) fn build_testing(workspace: &Workspace) -> Result<()> {
    build_modules(workspace, [TESTING].iter(), false)
}

fn build_modules<'a>(workspace: &Workspace, modules: impl Iterator<Item = &'a Module>, names: bool) -> Result<()> {
    let toolchain = setup::wasm_toolchain()?;
    for module in modules {
        build::compile(workspace, &toolchain, module)?;
        build::bind(workspace, module, names)?;
    }
    Ok(())
}
