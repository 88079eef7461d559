//! Every chore of the project: `cargo xtask COMMAND`.
//!
//! One command a file. A command that needs something installed or built asks `setup`
//! or the other command for it, so that each works from a fresh clone.

mod arguments;
mod bench;
mod ci;
mod crash;
mod demo;
mod differential;
mod failure;
mod native;
mod process;
mod setup;
mod test;
mod tidy;
mod tpch;
mod wasm;
mod workspace;

use arguments::Arguments;
use failure::{Failure, Result};
use std::process::ExitCode;
use workspace::Workspace;

/// One command.
struct Command {
    name: &'static str,
    /// The line after `cargo xtask`.
    usage: &'static str,
    summary: &'static str,
    run: fn(&Workspace, Arguments) -> Result<()>,
}

const COMMANDS: [Command; 10] = [
    Command {
        name: "demo",
        usage: "demo [--check]",
        summary: "serve the console with TPC-H data; --check runs the main job headless",
        run: demo::command,
    },
    Command {
        name: "test",
        usage: "test [rust|tpch|node|differential|browser]…",
        summary: "run every test, or these suites",
        run: test::command,
    },
    Command { name: "ci", usage: "ci", summary: "format, tidy, lints, wasm, test", run: ci::command },
    Command {
        name: "wasm",
        usage: "wasm [core|planner] [--names] [--report]",
        summary: "build the npm package in web/dist, or one module of it, and print sizes; --report by crate, --names for profilers",
        run: wasm::command,
    },
    Command {
        name: "bench",
        usage: "bench m0|batteries|tpch|native|tpch-native [--engines …] [--sf N] [--save [LABEL]] [--profile]",
        summary: "run a browser suite, or the native benches, against the peers; tpch --profile lists hot operators",
        run: bench::command,
    },
    Command {
        name: "tpch",
        usage: "tpch [--sf N] [--route row|column|auto] [--db PATH] [--check] …",
        summary: "run the TPC-H tool; `tpch -- --help` tells its options",
        run: tpch::command,
    },
    Command {
        name: "crash",
        usage: "crash [--long] [rust|browser]…",
        summary: "run the proofs of durability alone; --long at length",
        run: crash::command,
    },
    Command {
        name: "differential",
        usage: "differential [--seed N] [--queries N] [--minutes M] [--faults N] [--out FOLDER]",
        summary: "compare answers to random queries with DuckDB's and SQLite's",
        run: differential::command,
    },
    Command { name: "tidy", usage: "tidy", summary: "check the project's own rules", run: tidy::command },
    Command { name: "setup", usage: "setup", summary: "install what the others would", run: setup::command },
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let outcome = match words.next().as_deref() {
        None | Some("help" | "--help" | "-h") => {
            print!("{}", help());
            Ok(())
        }
        Some(name) => run(name, words.collect()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let text = failure.to_string();
            if !text.is_empty() {
                eprintln!("xtask: {text}");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(name: &str, words: Vec<String>) -> Result<()> {
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(Failure::usage(format!("unknown command `{name}`\n\n{}", help())));
    };
    if words.first().is_some_and(|word| word == "--help" || word == "-h") {
        println!("cargo xtask {}\n    {}", command.usage, command.summary);
        return Ok(());
    }
    (command.run)(&Workspace::find()?, Arguments::new(words)).map_err(|failure| match failure {
        Failure::Usage(text) => Failure::Usage(format!("{text}\nusage: cargo xtask {}", command.usage)),
        other => other,
    })
}

fn help() -> String {
    let lines = COMMANDS.iter().map(|command| format!("    {:12} {}\n", command.name, command.summary));
    format!("cargo xtask COMMAND; COMMAND --help tells more\n\n{}", lines.collect::<String>())
}
