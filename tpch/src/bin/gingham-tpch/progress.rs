//! One line on standard error that says how far generation is.

use gingham_tpch::Progress;
use std::io::{IsTerminal, Write};

/// Prints progress if someone is looking.
pub(crate) fn printer() -> impl FnMut(Progress) {
    let watched = std::io::stderr().is_terminal();
    move |progress: Progress| {
        if watched {
            let Progress { table, rows_done, rows_estimate } = progress;
            let percent = (rows_done * 100).checked_div(rows_estimate).unwrap_or(100).min(100);
            // Progress that cannot be shown is no reason to stop.
            let _ = write!(std::io::stderr(), "\r\x1b[K{table}: {rows_done} rows, {percent} %");
        }
    }
}

/// Removes the line.
pub(crate) fn clear() {
    if std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
}
