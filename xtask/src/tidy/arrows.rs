//! Which crate may use which: the arrows of ARCHITECTURE.md against cargo's metadata.

use super::Finding;
use crate::failure::{Failure, Result};
use crate::native;
use crate::workspace::Workspace;
use serde_json::Value;

/// Every crate of the project and those of the project's that it may use. Tests may
/// use others.
const ARROWS: [(&str, &[&str]); 12] = [
    ("gingham-types", &[]),
    ("gingham-plan", &["gingham-types"]),
    ("gingham-row-store", &["gingham-types"]),
    ("gingham-column-store", &["gingham-row-store", "gingham-plan", "gingham-types"]),
    ("gingham-planner", &["gingham-plan", "gingham-types"]),
    ("gingham", &["gingham-row-store", "gingham-column-store", "gingham-planner", "gingham-plan", "gingham-types"]),
    ("gingham-tpch", &["gingham", "gingham-plan", "gingham-types"]),
    ("gingham-bench", &["gingham-row-store", "gingham-types"]),
    ("gingham-checks", &["gingham", "gingham-column-store", "gingham-row-store", "gingham-plan", "gingham-types"]),
    ("gingham-web", &["gingham", "gingham-plan", "gingham-types"]),
    ("gingham-web-planner", &["gingham-planner", "gingham-plan", "gingham-types"]),
    ("xtask", &[]),
];

/// Crates of others that stand in a folder of ours, see planner/patches/README.md.
const STAND_INS: [&str; 2] = ["datafusion-functions-nested", "zstd"];

/// Who alone names the front end.
const FRONT_END: [&str; 2] = ["gingham-planner", "datafusion-functions-nested"];

/// Databases that Gingham is measured against; no product build compiles them.
const PEERS: [&str; 6] = ["rusqlite", "libsqlite3-sys", "sqlite", "redb", "duckdb", "libduckdb-sys"];

/// Who may name peers as optional dependencies, which no build has that does not ask.
const BENCHES: &str = "gingham-bench";

/// Checks the manifests.
pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let metadata = native::metadata(workspace)?;
    let packages = metadata["packages"].as_array().ok_or_else(|| Failure::new("cargo metadata has no packages"))?;
    Ok(packages.iter().flat_map(|package| check_package(package, &workspace.root().to_string_lossy())).collect())
}

fn check_package(package: &Value, root: &str) -> Vec<Finding> {
    let name = package["name"].as_str().unwrap_or_default();
    let manifest = package["manifest_path"].as_str().unwrap_or_default();
    let manifest = manifest.strip_prefix(root).unwrap_or(manifest).trim_start_matches('/');
    let mut findings = Vec::new();
    let arrows = ARROWS.iter().find(|(known, _)| *known == name).map(|(_, arrows)| *arrows);
    if arrows.is_none() && !STAND_INS.contains(&name) {
        findings.push(Finding::error(
            manifest,
            0,
            format!("{name} is on no map: name it in ARCHITECTURE.md and xtask/src/tidy/arrows.rs"),
        ));
    }
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let used = dependency["name"].as_str().unwrap_or_default();
        let for_tests = dependency["kind"].as_str() == Some("dev");
        let is_ours = ARROWS.iter().any(|(known, _)| *known == used);
        if is_ours && !for_tests && arrows.is_some_and(|arrows| !arrows.contains(&used)) {
            findings.push(Finding::error(manifest, 0, format!("{name} may not use {used}")));
        }
        if (used == "sqlparser" || used.starts_with("datafusion")) && !FRONT_END.contains(&name) {
            findings.push(Finding::error(manifest, 0, format!("{name} names {used}; only the planner does")));
        }
        let is_asked_for = name == BENCHES && dependency["optional"].as_bool() == Some(true);
        if PEERS.contains(&used) && !for_tests && !is_asked_for {
            findings.push(Finding::error(
                manifest,
                0,
                format!("{name} builds {used}, a peer: for tests and benches only"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn messages(name: &str, dependencies: &Value) -> Vec<String> {
        let package = json!({"name": name, "manifest_path": "/clone/x/Cargo.toml", "dependencies": dependencies});
        check_package(&package, "/clone").into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn an_arrow_that_is_not_on_the_map_is_found() {
        let dependencies = json!([{"name": "gingham-types", "kind": null}, {"name": "gingham-plan", "kind": null}]);
        let found = messages("gingham-row-store", &dependencies);
        assert_eq!(found, ["x/Cargo.toml: error: gingham-row-store may not use gingham-plan"]);
        assert!(messages("gingham-column-store", &dependencies).is_empty());
    }

    #[test]
    fn tests_may_use_more() {
        let dependencies = json!([{"name": "gingham-plan", "kind": "dev"}, {"name": "rusqlite", "kind": "dev"}]);
        assert!(messages("gingham-row-store", &dependencies).is_empty());
    }

    #[test]
    fn the_front_end_and_peers_are_kept_out() {
        let dependencies = json!([{"name": "sqlparser", "kind": null}, {"name": "duckdb", "kind": "build"}]);
        assert_eq!(messages("gingham", &dependencies).len(), 2);
        assert_eq!(messages("gingham-new", &json!([])).len(), 1);
        assert_eq!(messages("gingham-bench", &json!([{"name": "redb", "kind": null}])).len(), 1);
        assert_eq!(messages("gingham-bench", &json!([{"name": "redb", "kind": null, "optional": true}])).len(), 0);
    }
}
