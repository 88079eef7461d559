//! ARCHITECTURE.md is true: every path it names is there, every crate is on it, and it
//! lists the modules that may hold unsafe code.

use super::{Finding, TextFile};
use crate::failure::Result;
use crate::native;
use crate::process::{capture, program};
use crate::workspace::Workspace;

const MAP: &str = "ARCHITECTURE.md";

/// The section whose list names the modules.
const UNSAFE_SECTION: &str = "## Modules that may hold unsafe code";

/// Ends of names that are files, where there is no folder in front.
const EXTENSIONS: [&str; 9] = [".rs", ".md", ".toml", ".ts", ".js", ".json", ".sql", ".slt", ".lock"];

/// Checks the map against the tree.
pub(super) fn check(workspace: &Workspace, files: &[TextFile]) -> Result<Vec<Finding>> {
    let Some(map) = files.iter().find(|file| file.path == MAP) else {
        return Ok(vec![Finding::error(MAP, 0, "is not there")]);
    };
    let mut findings = Vec::new();
    for (line, path) in named_paths(&map.text) {
        if !workspace.path(path).exists() && !is_generated(workspace, path) {
            findings.push(Finding::error(MAP, line, format!("names `{path}`, which is not there")));
        }
    }
    for package in native::metadata(workspace)?["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        if !map.text.contains(&format!("`{name}`")) {
            findings.push(Finding::error(MAP, 0, format!("does not name the crate `{name}`")));
        }
    }
    Ok(findings)
}

/// The modules listed as allowed to hold unsafe code.
pub(super) fn may_hold_unsafe(files: &[TextFile]) -> Vec<String> {
    let map = files.iter().find(|file| file.path == MAP).map_or("", |file| &file.text);
    let section = map.split_once(UNSAFE_SECTION).map_or("", |(_, rest)| rest);
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    named_paths(section).into_iter().map(|(_, path)| path.to_owned()).collect()
}

/// Paths in backquotes, with their lines from 1: what ends in `/`, starts with a dot
/// folder, or has a file's extension.
fn named_paths(text: &str) -> Vec<(usize, &str)> {
    let mut paths = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for quoted in line.split('`').skip(1).step_by(2) {
            let plain = quoted.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
            let is_path = quoted.ends_with('/')
                || quoted.starts_with('.') && quoted.contains('/')
                || EXTENSIONS.iter().any(|extension| quoted.len() > extension.len() && quoted.ends_with(extension));
            if plain && is_path && !quoted.starts_with('/') {
                paths.push((index + 1, quoted));
            }
        }
    }
    paths
}

/// Whether git ignores a path: it is made, not kept.
fn is_generated(workspace: &Workspace, path: &str) -> bool {
    capture(program("git").current_dir(workspace.root()).args(["check-ignore", "--quiet", path])).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_code() {
        let text =
            "See `row-store/src/lib.rs`, `web/`,\n`.ci/run`, not `gingham/sync`, `a::b`, `0.1` or `.rs`; `Cargo.toml`.";
        let expected = [(1, "row-store/src/lib.rs"), (1, "web/"), (2, ".ci/run"), (2, "Cargo.toml")];
        assert_eq!(named_paths(text), expected);
    }

    #[test]
    fn the_list_ends_with_its_section() {
        let text = "# Map\n`a.rs`\n## Modules that may hold unsafe code\n- `b/c.rs`: why\n## Next\n`d.rs`\n";
        let files = [TextFile { path: MAP.into(), text: text.into() }];
        assert_eq!(may_hold_unsafe(&files), ["b/c.rs"]);
    }
}
