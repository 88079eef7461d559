//! What surrounds the modules in web/dist: the bundled TypeScript, the manifest, the
//! licences.

use crate::failure::{Context, Failure, Result};
use crate::process::run;
use crate::setup::{npm_packages, npm_script};
use crate::workspace::{Inputs, Stamp, Workspace};
use serde_json::{Map, Value};
use std::fs;

/// Fields of web/package.json that the published manifest keeps. Its paths count from
/// web/; in web/dist they count from there.
const KEPT: [&str; 17] = [
    "name",
    "description",
    "keywords",
    "license",
    "homepage",
    "repository",
    "bugs",
    "author",
    "type",
    "main",
    "module",
    "types",
    "exports",
    "files",
    "sideEffects",
    "engines",
    "dependencies",
];

/// Compiles and bundles the TypeScript and writes the manifest, both only if something changed.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    if !npm_packages(workspace, "web")? {
        eprintln!("web/package.json is not there: the package has its modules only");
        return Ok(());
    }
    let mut inputs = Inputs::new();
    inputs.bytes(include_bytes!("package.rs"));
    inputs.folder(&workspace.path("web"), &["node_modules", "dist", "dist-testing", "modules", "tests"])?;
    for file in ["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        inputs.file(&workspace.path(file))?;
    }
    for module in &super::MODULES {
        for tail in [".d.ts", ".js", "_bg.wasm"] {
            inputs.file(&workspace.package().join(format!("{}{tail}", module.name)))?;
        }
    }
    let stamp = Stamp::new(workspace.cache().join("package.built-from"), &inputs);
    if stamp.is_current() && workspace.package().join("package.json").is_file() {
        return Ok(());
    }
    stamp.clear()?;
    match npm_script(workspace, "web", "build")? {
        Some(mut build) => run(&mut build)?,
        None => return Err(Failure::new("web/package.json has no script `build`")),
    }
    let source = read(workspace, "web/package.json")?;
    let manifest = manifest(&source, env!("CARGO_PKG_VERSION"))?;
    let path = workspace.package().join("package.json");
    fs::write(&path, manifest).context(|| format!("writing {}", path.display()))?;
    for file in ["README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        let text = read(workspace, file)?;
        fs::write(workspace.package().join(file), text).context(|| format!("writing web/dist/{file}"))?;
    }
    stamp.set()
}

fn read(workspace: &Workspace, relative: &str) -> Result<String> {
    fs::read_to_string(workspace.path(relative)).context(|| format!("reading {relative}"))
}

/// The published manifest from that of the folder it is developed in.
fn manifest(source: &str, version: &str) -> Result<String> {
    let source: Map<String, Value> =
        serde_json::from_str(source).map_err(|error| Failure::new(format!("web/package.json: {error}")))?;
    let mut kept = Map::new();
    for (name, value) in source {
        if name == "name" {
            kept.insert(name, value);
            kept.insert("version".into(), version.into());
        } else if KEPT.contains(&name.as_str()) {
            kept.insert(name, from_dist(value));
        }
    }
    let text = serde_json::to_string_pretty(&Value::Object(kept));
    text.map(|text| text + "\n").map_err(|error| Failure::new(format!("package.json: {error}")))
}

/// `./dist/…` as seen from web/dist.
fn from_dist(value: Value) -> Value {
    match value {
        Value::String(text) => {
            let inner = text.strip_prefix("./dist/").map(|inner| format!("./{inner}"));
            let inner = inner.or_else(|| text.strip_prefix("dist/").map(str::to_owned));
            Value::String(inner.unwrap_or(text))
        }
        Value::Array(items) => Value::Array(items.into_iter().map(from_dist).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, from_dist(value))).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::manifest;

    #[test]
    fn the_manifest_drops_what_only_development_needs() {
        let source = r#"{"name": "gingham", "private": true, "type": "module",
            "exports": {".": {"types": "./dist/index.d.ts", "default": "./dist/index.js"}},
            "scripts": {"build": "tsc"}, "devDependencies": {"typescript": "5"}}"#;
        let expected = r#"{
  "name": "gingham",
  "version": "0.1.0",
  "type": "module",
  "exports": {
    ".": {
      "types": "./index.d.ts",
      "default": "./index.js"
    }
  }
}
"#;
        assert_eq!(manifest(source, "0.1.0").ok().as_deref(), Some(expected));
    }
}
