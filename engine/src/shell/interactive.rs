//! The shell at a terminal: line editing, history, statements over several lines.

use super::progress::Progress;
use super::{Arguments, Printer, commands, script};
use crate::Connection;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

/// What dot commands change.
pub(super) struct State {
    pub(super) timer: bool,
    pub(super) done: bool,
}

pub(super) fn run(connection: &mut Connection, arguments: &Arguments) -> io::Result<bool> {
    let mut editor = DefaultEditor::new().map_err(io::Error::other)?;
    let history = history_path();
    if let Some(path) = &history {
        // No history yet is no error.
        let _ = editor.load_history(path);
    }
    let mut printer = Printer::new(arguments.format, io::stdout(), io::stderr());
    let name = arguments.path.as_ref().map_or("memory".to_owned(), |p| p.display().to_string());
    printer.note(&format!(
        "Gingham {} on {name}. End statements with ; and type .help for commands.",
        env!("CARGO_PKG_VERSION")
    ))?;
    let mut state = State { timer: false, done: false };
    let mut pending = String::new();
    let mut progress = Progress::default();
    while !state.done {
        let prompt = if pending.is_empty() { "gingham> " } else { "    ...> " };
        match editor.readline(prompt) {
            Ok(line) => {
                let is_command = pending.is_empty() && line.trim_start().starts_with('.');
                if is_command {
                    let _ = editor.add_history_entry(line.as_str());
                    commands::run(line.trim(), connection, &mut state, &mut printer)?;
                    continue;
                }
                let line = line + "\n";
                pending.push_str(&line);
                progress.line(&line);
                if progress.is_complete() {
                    let _ = editor.add_history_entry(pending.trim());
                    let start = Instant::now();
                    script(connection, (&pending, 0), false, &mut printer)?;
                    if state.timer {
                        printer.note(&format!("Time: {:.3} ms", start.elapsed().as_secs_f64() * 1e3))?;
                    }
                    pending.clear();
                }
            }
            Err(ReadlineError::Interrupted) => {
                pending.clear();
                progress = Progress::default();
            }
            Err(ReadlineError::Eof) => state.done = true,
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    if let Some(path) = &history {
        let _ = editor.save_history(path);
    }
    Ok(true)
}

fn history_path() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".gingham_history"))
}
