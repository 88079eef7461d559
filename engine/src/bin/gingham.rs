//! The `gingham` command: SQL from the command line, a script, or a terminal.

use clap::Parser;
use gingham::shell::{Arguments, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    run(&Arguments::parse())
}
