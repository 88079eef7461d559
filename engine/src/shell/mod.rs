//! The shell: what the `gingham` command does.
//!
//! Statements come from `-c`, from standard input, or from a person at a terminal; each
//! outcome goes to a [`Printer`] of the chosen format. From standard input a statement
//! runs as soon as the line with its semicolon is there, so that a program can hold a
//! conversation. Exit status 1 if any statement failed, 2 if the database could not be
//! opened.

mod commands;
mod import;
mod interactive;
mod printer;
mod progress;

pub use printer::{Format, Printer};

use crate::{Connection, Database, Options};
use clap::Parser;
use progress::Progress;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Run SQL on a Gingham database.
#[derive(Debug, Parser)]
#[command(name = "gingham", version, about)]
pub struct Arguments {
    /// The database file, created if missing; without it a database in memory.
    pub path: Option<PathBuf>,
    /// Run this SQL and exit (can be repeated).
    #[arg(short = 'c', long = "command", value_name = "SQL")]
    pub commands: Vec<String>,
    /// How results are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Stop at the first error.
    #[arg(long)]
    pub bail: bool,
}

/// Runs the shell with the process's standard streams.
pub fn run(arguments: &Arguments) -> ExitCode {
    let opened = match &arguments.path {
        Some(path) => Database::open(path, Options::default()),
        None => Database::memory(Options::default()),
    };
    let database = match opened {
        Ok(database) => database,
        Err(error) => {
            let mut printer = Printer::new(arguments.format, io::stdout().lock(), io::stderr().lock());
            // There is nowhere left to report a failure to print.
            let _ = printer.error(&error.to_sql_error());
            return ExitCode::from(2);
        }
    };
    let succeeded = match session(&database, arguments) {
        Ok(succeeded) => succeeded,
        // The reader of our output has gone: no error of ours.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => true,
        Err(error) => {
            let _ = writeln!(io::stderr(), "gingham: {error}");
            false
        }
    };
    match database.close() {
        Ok(()) => ExitCode::from(u8::from(!succeeded)),
        Err(error) => {
            let _ = writeln!(io::stderr(), "gingham: closing the database: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all statements there are; whether none failed.
fn session(database: &Database, arguments: &Arguments) -> io::Result<bool> {
    let mut connection = database.connect();
    if arguments.commands.is_empty() && io::stdin().is_terminal() {
        return interactive::run(&mut connection, arguments);
    }
    let mut printer = Printer::new(arguments.format, io::stdout().lock(), io::stderr().lock());
    if !arguments.commands.is_empty() {
        let mut succeeded = true;
        for command in &arguments.commands {
            succeeded &= script(&mut connection, (command, 0), arguments.bail, &mut printer)?;
            if arguments.bail && !succeeded {
                break;
            }
        }
        return Ok(succeeded);
    }
    piped(&mut connection, io::stdin().lock(), arguments.bail, &mut printer)
}

/// Runs statements as their lines come; whether none failed.
fn piped<O: Write, E: Write>(
    connection: &mut Connection,
    mut input: impl BufRead,
    bail: bool,
    printer: &mut Printer<O, E>,
) -> io::Result<bool> {
    let (mut succeeded, mut lines, mut bytes) = (true, 0, 0);
    let (mut pending, mut pending_lines) = (String::new(), 0);
    let mut progress = Progress::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let at_end = input.read_until(b'\n', &mut line)? == 0;
        match str::from_utf8(&line) {
            Ok(line) => {
                pending.push_str(line);
                progress.line(line);
            }
            Err(error) => {
                let message = format!("the script is not UTF-8 at byte {}", bytes + error.valid_up_to());
                printer.error(&crate::SqlError::new("22021", message))?;
                return Ok(false);
            }
        }
        bytes += line.len();
        pending_lines += 1;
        if at_end || progress.is_complete() {
            succeeded &= script(connection, (&pending, lines), bail, printer)?;
            if at_end || (bail && !succeeded) {
                return Ok(succeeded);
            }
            pending.clear();
            lines += std::mem::take(&mut pending_lines);
        }
    }
}

/// Runs a script that begins after so many lines; whether no statement failed.
fn script<O: Write, E: Write>(
    connection: &mut Connection,
    (sql, lines_before): (&str, u32),
    bail: bool,
    printer: &mut Printer<O, E>,
) -> io::Result<bool> {
    let mut succeeded = true;
    let mut printed = Ok(());
    connection.execute_script(sql, &mut |outcome| {
        let result = match outcome.result {
            Ok(rows) => printer.rows(rows),
            Err(error) => {
                let mut error = error.to_sql_error();
                error.position = error.position.map(|(line, column)| (line.saturating_add(lines_before), column));
                printer.error(&error).map(|()| false)
            }
        };
        match result {
            Ok(went_well) => succeeded &= went_well,
            Err(error) => printed = Err(error),
        }
        printed.is_ok() && (succeeded || !bail)
    });
    printed.map(|()| succeeded)
}
