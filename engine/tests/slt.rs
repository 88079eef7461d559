//! The SQL suite: every file under `tests/slt`, and SQLite's corpus where it is beside
//! the checkout, forced onto the row store, forced onto the column store, and routed.

mod support;

use std::path::{Path, PathBuf};
use support::{Format, run_file, run_file_within};

const ROUTES: [&str; 3] = ["row", "column", "auto"];

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return files };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(self::files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn run_all(files: &[PathBuf], route: &str, format: Format) {
    let mut failures = Vec::new();
    for file in files {
        if let Err(error) = run_file(file, route, format) {
            failures.push(format!("{} (route {route}): {error}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{} of {} files failed:\n{}", failures.len(), files.len(), failures.join("\n\n"));
}

fn own_files(route: &str) {
    let files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt"), "slt");
    assert!(!files.is_empty(), "the suite has no files");
    run_all(&files, route, Format::Exact);
}

#[test]
fn own_suite_on_the_row_store() {
    own_files(ROUTES[0]);
}

#[test]
fn own_suite_on_the_column_store() {
    own_files(ROUTES[1]);
}

#[test]
fn own_suite_routed() {
    own_files(ROUTES[2]);
}

/// Files with a query that needs more than next to no memory: windows keep a whole
/// partition.
const NOT_IN_LITTLE_MEMORY: [&str; 1] = ["window.slt"];

/// The suite in so little memory that nearly every operator that can spill does.
#[test]
fn own_suite_in_next_to_no_memory() {
    let mut spilled = 0;
    let mut failures = Vec::new();
    for file in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt"), "slt") {
        if NOT_IN_LITTLE_MEMORY.iter().any(|name| file.ends_with(name)) {
            continue;
        }
        for route in ROUTES {
            match run_file_within(&file, route, Format::Exact, Some(64 << 10)) {
                Ok(bytes) => spilled += bytes,
                Err(error) => failures.push(format!("{} (route {route}): {error}", file.display())),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(spilled > 0, "nothing was spilled");
}

/// SQLite's corpus is test input beside the checkout, not part of it.
fn sqlite_corpus(route: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/slt");
    let mut files = files(&folder, "test");
    if files.is_empty() {
        eprintln!("skipped: SQLite's corpus is not at {}", folder.display());
        return;
    }
    // It assigns one column several times in one UPDATE, which PostgreSQL and Gingham refuse.
    files.retain(|file| !file.ends_with("slt_lang_update.test"));
    let is_long = std::env::var_os("GINGHAM_LONG").is_some();
    if !is_long {
        // The large files repeat the same statements over random tables.
        files.retain(|file| std::fs::metadata(file).is_ok_and(|m| m.len() < 400_000));
    }
    run_all(&files, route, Format::Sqlite);
}

#[test]
fn sqlite_corpus_on_the_row_store() {
    sqlite_corpus(ROUTES[0]);
}

#[test]
fn sqlite_corpus_on_the_column_store() {
    sqlite_corpus(ROUTES[1]);
}

#[test]
fn sqlite_corpus_routed() {
    sqlite_corpus(ROUTES[2]);
}
