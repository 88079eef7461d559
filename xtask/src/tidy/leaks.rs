//! Nothing in the repository tells about the machine it was written on: no folders of
//! its users, no hosts of package registries (lock files take them from the client's
//! settings, which may name a mirror).

use super::{Finding, TextFile};

/// Folders where people and their builds live.
const FOLDERS: [&str; 4] = ["/root/", "/home/", "/work/", "/Users/"];

/// Where packages are downloaded from.
const HOSTS: [&str; 9] = [
    "static.crates.io",
    "index.crates.io",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "deb.debian.org",
    "security.debian.org",
    "static.rust-lang.org",
    "files.pythonhosted.org",
    "pypi.org",
];

/// Checks every tracked text but this one.
pub(super) fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| !file.path.ends_with("tidy/leaks.rs")) {
        for (index, line) in file.text.lines().enumerate() {
            for folder in FOLDERS.iter().filter(|folder| starts_a_path(line, folder)) {
                findings.push(Finding::error(&file.path, index + 1, format!("names a folder under {folder}")));
            }
            for host in HOSTS.iter().filter(|host| line.contains(*host)) {
                findings.push(Finding::error(&file.path, index + 1, format!("names the registry host {host}")));
            }
        }
    }
    findings
}

/// Whether `folder` is in the line with more behind it and not as the inner part of a
/// longer path.
fn starts_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + folder.len()..].chars().next();
        before.is_none_or(|c| !c.is_alphanumeric() && !"._-/}".contains(c))
            && after.is_some_and(|c| c.is_alphanumeric() || "._-".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(line: &str) -> usize {
        check(&[TextFile { path: "a.md".into(), text: line.into() }]).len()
    }

    #[test]
    fn folders_of_a_machine_are_found() {
        assert_eq!(count("built in /home/someone/gingham"), 1);
        assert_eq!(count("\"/work/main\""), 1);
        assert_eq!(count("web/work/x and ./root/y and `/home/`"), 0);
    }

    #[test]
    fn registry_hosts_are_found() {
        assert_eq!(count("\"resolved\": \"https://registry.npmjs.org/a/-/a-1.tgz\""), 1);
        assert_eq!(count("[patch.crates-io]"), 0);
    }
}
