//! The shell at a terminal: line editing, history, statements over several lines.

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
                pending.push_str(&line);
                pending.push('\n');
                if is_complete(&pending) {
                    let _ = editor.add_history_entry(pending.trim());
                    let start = Instant::now();
                    script(connection, &pending, false, &mut printer)?;
                    if state.timer {
                        printer.note(&format!("Time: {:.3} ms", start.elapsed().as_secs_f64() * 1e3))?;
                    }
                    pending.clear();
                }
            }
            Err(ReadlineError::Interrupted) => pending.clear(),
            Err(ReadlineError::Eof) => state.done = true,
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    if let Some(path) = &history {
        let _ = editor.save_history(path);
    }
    Ok(true)
}

/// Whether the text ends with a semicolon outside quotes and comments, or is blank.
fn is_complete(text: &str) -> bool {
    // A statement that would swallow another one's first word is still open.
    let marked = format!("{text}\n;x");
    let pieces: Vec<_> = crate::script::split(&marked).map(|p| p.sql).collect();
    let closed = pieces.last() == Some(&"x");
    closed && (text.trim_end().ends_with(';') || text.trim().is_empty() || ends_in_comment(text))
}

fn ends_in_comment(text: &str) -> bool {
    let count = crate::script::split(text).count();
    let with_word = format!("{text}\nx");
    crate::script::split(&with_word).count() > count
}

fn history_path() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".gingham_history"))
}

#[cfg(test)]
mod tests {
    use super::is_complete;

    #[test]
    fn statements_end_at_a_semicolon_outside_quotes() {
        assert!(is_complete("select 1;\n"));
        assert!(is_complete("select 1; -- done\n"));
        assert!(!is_complete("select 1\n"));
        assert!(!is_complete("select ';\n"));
        assert!(!is_complete("select 1; select 2\n"));
    }
}
