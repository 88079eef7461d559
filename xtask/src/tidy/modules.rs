//! What every source file keeps to: an overview at the top, a length one can read, no
//! placeholders, and unsafe code only where ARCHITECTURE.md lists it.

use super::code::{has_word, without_tests, without_text};
use super::{Finding, TextFile};

/// Past this a file is worth a second thought.
const LINES_WARNED: usize = 400;

/// Past this a file says in its header why, in a sentence that starts with
/// [`LONG_BECAUSE`].
const LINES_MAX: usize = 800;

const LONG_BECAUSE: &str = "Long because ";

/// Code that stands for code that is not there, or panics on what may happen.
const PLACEHOLDERS: [(&str, &str); 4] = [
    ("todo!", "is unfinished"),
    ("unimplemented!", "is unfinished"),
    ("dbg!", "is left over"),
    (".unwrap()", "says nothing: return an error, or `expect` with the invariant"),
];

/// Checks the tracked sources.
pub(super) fn check(files: &[TextFile], may_hold_unsafe: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        if file.has_extension(&["rs", "ts", "js", "mjs"]) {
            findings.extend(length(file));
        }
        if file.has_extension(&["rs"]) {
            findings.extend(header(file));
            findings.extend(words(file, may_hold_unsafe));
        }
    }
    findings
}

fn length(file: &TextFile) -> Option<Finding> {
    let lines = file.text.lines().count();
    if lines <= LINES_WARNED {
        return None;
    }
    let mut header = file.text.lines().take_while(|line| is_header(line));
    if header.any(|line| line.contains(LONG_BECAUSE)) {
        return None;
    }
    let message = format!("{lines} lines");
    if lines <= LINES_MAX {
        return Some(Finding::warning(&file.path, 0, message));
    }
    Some(Finding::error(&file.path, 0, format!("{message}: split it, or say `{LONG_BECAUSE}…` in its header")))
}

fn is_header(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || ["//", "/*", "*"].iter().any(|start| line.starts_with(start))
}

fn header(file: &TextFile) -> Option<Finding> {
    let first = file.text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!["));
    if first.is_some_and(|line| line.starts_with("//!")) {
        return None;
    }
    Some(Finding::error(&file.path, 1, "opens without `//!`: what it does, owns and leaves to others"))
}

fn words(file: &TextFile, may_hold_unsafe: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let code = without_text(&file.text);
    if !may_hold_unsafe.contains(&file.path) {
        for (index, _) in code.lines().enumerate().filter(|(_, line)| has_word(line, "unsafe")) {
            findings.push(Finding::error(
                &file.path,
                index + 1,
                "holds unsafe code and is not listed in ARCHITECTURE.md",
            ));
        }
    }
    if is_test(&file.path) {
        return findings;
    }
    for (index, line) in without_tests(&code).lines().enumerate() {
        for (word, reason) in PLACEHOLDERS {
            // A method call ends in a parenthesis; a macro's name must not be part of another.
            let found = if word.starts_with('.') { line.contains(word) } else { has_word(line, word) };
            if found {
                findings.push(Finding::error(&file.path, index + 1, format!("`{word}` {reason}")));
            }
        }
    }
    findings
}

/// Whether a file is for tests as a whole.
fn is_test(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "benches" | "examples" | "tests.rs"))
        || path.ends_with("_tests.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(path: &str, text: &str) -> Vec<String> {
        let files = [TextFile { path: path.into(), text: text.into() }];
        check(&files, &["fast.rs".to_owned()]).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn a_file_without_a_header_is_found() {
        assert_eq!(check_text("a.rs", "//! Good.\nfn a() {}\n").len(), 0);
        assert_eq!(check_text("a.rs", "#![no_std]\n//! Good.\n").len(), 0);
        assert_eq!(check_text("a.rs", "// Bad.\nfn a() {}\n").len(), 1);
    }

    #[test]
    fn a_long_file_says_why() {
        let body = "fn a() {}\n".repeat(800);
        assert_eq!(check_text("a.rs", &format!("//! A.\n{body}")).len(), 1);
        assert_eq!(check_text("a.rs", &format!("//! A.\n//! Long because tables are.\n{body}")).len(), 0);
        let warned = check_text("a.ts", &"x\n".repeat(401));
        assert_eq!(warned, ["a.ts: warning: 401 lines"]);
    }

    #[test]
    fn placeholders_are_for_tests_only() {
        let text = "//! A.\nfn a() { b.unwrap(); todo!() }\n#[cfg(test)]\nmod tests { fn c() { d.unwrap(); } }\n";
        let found = check_text("a.rs", text);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|finding| finding.starts_with("a.rs:2: ")));
        assert!(check_text("tests/a.rs", text).is_empty());
        assert!(check_text("a.rs", "//! A.\nfn a() { b.unwrap_or(1); \"todo!\"; }\n").is_empty());
    }

    #[test]
    fn unsafe_code_stays_where_it_is_listed() {
        let text = "//! A.\n#![allow(unsafe_code)]\nfn a() { unsafe { b() } }\n";
        assert_eq!(check_text("slow.rs", text).len(), 1);
        assert!(check_text("fast.rs", text).is_empty());
    }
}
