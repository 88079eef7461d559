//! Chromium: an installed one, else Debian's.

use super::debian;
use crate::failure::{Failure, Result};
use crate::process::{find_on_path, is_program};
use std::env;
use std::path::PathBuf;

/// Names under which distributions install Chromium or a browser built from it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The browser that tests, demo and benches run in: `$CHROMIUM` (a path, or a name on
/// `PATH`), else one on `PATH`, else Debian's, installed now.
pub(crate) fn chromium() -> Result<PathBuf> {
    if let Some(asked) = env::var("CHROMIUM").ok().filter(|asked| !asked.is_empty()) {
        let path = PathBuf::from(&asked);
        let found =
            if path.is_absolute() { Some(path).filter(|path| is_program(path)) } else { find_on_path(&[&asked]) };
        return found.ok_or_else(|| Failure::new(format!("CHROMIUM is `{asked}`, which is no program")));
    }
    if let Some(found) = find_on_path(&NAMES) {
        return Ok(found);
    }
    debian::install(&["chromium"], "the browser (Chromium)")?;
    find_on_path(&NAMES).ok_or_else(|| Failure::new("Debian's package chromium brought no program of that name"))
}
