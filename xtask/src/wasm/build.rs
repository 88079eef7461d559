//! From a crate to a stripped module with its JavaScript.

use super::Module;
use crate::failure::{Context, Failure, Result};
use crate::process::{capture, cargo, locked, program, run};
use crate::setup::{TARGET, WasmToolchain, npm_packages};
use crate::workspace::{Inputs, Stamp, Workspace};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use wasm_bindgen_cli_support::Bindgen;

/// What every browser that Gingham runs in has had since 2021 or 2022. The second
/// group is how `getrandom` finds the browser's randomness.
const FLAGS: [&str; 2] = ["-Ctarget-feature=+simd128,+bulk-memory", "--cfg=getrandom_backend=\"wasm_js\""];

/// What the flags above and the compiler's own target let the optimizer use, and the optimizations.
/// A function is not made part of its only caller but for the smallest: a browser compiles and
/// optimizes whole functions, so that a loop in a large one is slow for longer.
const OPTIMIZER: [&str; 13] = [
    "--enable-simd",
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-mutable-globals",
    "--enable-sign-ext",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-multivalue",
    "--low-memory-unused",
    "--one-caller-inline-max-function-size",
    "100",
    "-O3",
    "-O3",
];

/// Where the compiler leaves a module, with its names section.
pub(crate) fn compiled(workspace: &Workspace, module: &Module) -> PathBuf {
    let file = format!("{}.wasm", module.package.replace('-', "_"));
    workspace.wasm_target().join(TARGET).join(module.profile).join(file)
}

/// Compiles a module's crate.
pub(crate) fn compile(workspace: &Workspace, toolchain: &WasmToolchain, module: &Module) -> Result<()> {
    let mut flags: Vec<String> = FLAGS.map(str::to_owned).to_vec();
    flags.extend(path_flags(workspace)?);
    let mut build = toolchain.cargo_build(&flags);
    build.current_dir(workspace.root());
    build.args(["--package", module.package, "--profile", module.profile]).args(locked());
    if !module.features.is_empty() {
        build.args(["--features", &module.features.join(",")]);
    }
    build.arg("--target-dir").arg(workspace.wasm_target());
    run(&mut build)
}

/// Flags that keep this machine's folders out of the panic messages of dependencies.
fn path_flags(workspace: &Workspace) -> Result<Vec<String>> {
    // The folders below are there only once the sources are; and were the flags to
    // change between the first build and the second, everything would be built twice.
    let mut fetch = cargo();
    fetch.current_dir(workspace.root()).args(["fetch", "--quiet", "--target", TARGET]).args(locked());
    capture(&mut fetch)?;
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let Some(sources) = home.map(|home| home.join("registry/src")) else { return Ok(Vec::new()) };
    let Ok(registries) = sources.read_dir() else { return Ok(Vec::new()) };
    let mut folders: Vec<PathBuf> = registries.flatten().map(|registry| registry.path()).collect();
    folders.sort();
    Ok(folders.iter().map(|folder| format!("--remap-path-prefix={}/=", folder.display())).collect())
}

/// Writes a module and its JavaScript and types into its folder; with `names`, the module
/// keeps those of its functions, for profilers.
pub(crate) fn bind(workspace: &Workspace, module: &Module, names: bool) -> Result<()> {
    let source = compiled(workspace, module);
    let output = workspace.path(module.folder);
    let mut inputs = Inputs::new();
    // The options below and the version of wasm-bindgen are inputs too.
    inputs.bytes(include_bytes!("build.rs")).bytes(include_bytes!("../../Cargo.toml")).file(&source)?;
    inputs.bytes(&[u8::from(names)]);
    if module.optimize {
        inputs.file(&workspace.path("web/package-lock.json"))?;
    }
    let stamp = Stamp::new(workspace.cache().join(format!("{}.bound-from", module.profile)), &inputs);
    let files = [".js", ".d.ts", "_bg.wasm"].map(|tail| output.join(format!("{}{tail}", module.name)));
    if stamp.is_current() && files.iter().all(|file| file.is_file()) {
        return Ok(());
    }
    stamp.clear()?;
    fs::create_dir_all(&output).context(|| format!("creating {}", output.display()))?;
    let mut bindgen = Bindgen::new();
    bindgen.input_path(&source).out_name(module.name).typescript(true);
    bindgen.remove_name_section(!names).remove_producers_section(true);
    bindgen
        .web(true)
        .and_then(|web| web.generate(&output))
        .map_err(|error| Failure::new(format!("wasm-bindgen on {}: {error:?}", module.package)))?;
    if module.optimize {
        optimize(workspace, &output.join(format!("{}_bg.wasm", module.name)), names)?;
    }
    stamp.set()
}

/// Rewrites a module by Binaryen's optimizer, which knows wasm as such: what a browser runs before it
/// has optimized a function is quicker by it, and the module a twentieth smaller.
fn optimize(workspace: &Workspace, module: &Path, names: bool) -> Result<()> {
    if !npm_packages(workspace, "web")? {
        return Err(Failure::new("web/package.json, which names the optimizer, is not there"));
    }
    let optimized = module.with_extension("wasm.optimized");
    let mut wasm_opt = program("node");
    wasm_opt.arg(workspace.path("web/node_modules/binaryen/bin/wasm-opt")).args(OPTIMIZER);
    if names {
        wasm_opt.arg("--debuginfo");
    }
    run(wasm_opt.arg(module).arg("-o").arg(&optimized))?;
    fs::rename(&optimized, module).context(|| format!("replacing {}", module.display()))
}
