//! `cargo xtask tidy`: the rules that neither the compiler nor clippy knows.
//!
//! Each rule reads the tracked files or cargo's metadata and reports where a file
//! breaks it. Warnings are shown; errors fail.

mod arrows;
mod code;
mod leaks;
mod map;
mod modules;

use crate::arguments::Arguments;
use crate::failure::{Context, Failure, Result};
use crate::process::{capture, program};
use crate::workspace::Workspace;
use std::fmt;
use std::fs;

/// A place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    /// From 1; 0 is the file as a whole.
    line: usize,
    message: String,
    is_error: bool,
}

impl Finding {
    fn error(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into(), is_error: true }
    }

    fn warning(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { is_error: false, ..Self::error(path, line, message) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_error { "error" } else { "warning" };
        match self.line {
            0 => write!(f, "{}: {kind}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {kind}: {}", self.path, self.message),
        }
    }
}

/// A tracked text file.
#[derive(Debug)]
struct TextFile {
    /// From the repository's top, with `/`.
    path: String,
    text: String,
}

impl TextFile {
    fn has_extension(&self, extensions: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
    }
}

/// `cargo xtask tidy`.
pub(crate) fn command(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    arguments.finish()?;
    check(workspace)
}

/// Checks every rule.
///
/// # Errors
/// If one is broken; the places have been printed.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let files = tracked_text(workspace)?;
    let mut findings = arrows::check(workspace)?;
    findings.extend(map::check(workspace, &files)?);
    findings.extend(modules::check(&files, &map::may_hold_unsafe(&files)));
    findings.extend(leaks::check(&files));
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    let errors = findings.iter().filter(|finding| finding.is_error).count();
    println!("tidy: {} files, {errors} errors, {} warnings", files.len(), findings.len() - errors);
    if errors == 0 { Ok(()) } else { Err(Failure::new(format!("tidy found {errors} errors"))) }
}

/// The tracked files that are text. One that was deleted but not yet committed is none.
fn tracked_text(workspace: &Workspace) -> Result<Vec<TextFile>> {
    let list = capture(program("git").current_dir(workspace.root()).args(["ls-files", "-z"]))?;
    let mut files = Vec::new();
    for path in list.split('\0').filter(|path| !path.is_empty()) {
        let place = workspace.path(path);
        if !place.is_file() {
            continue;
        }
        let bytes = fs::read(&place).context(|| format!("reading {path}"))?;
        if let Ok(text) = String::from_utf8(bytes)
            && !text.contains('\0')
        {
            files.push(TextFile { path: path.to_owned(), text });
        }
    }
    Ok(files)
}
