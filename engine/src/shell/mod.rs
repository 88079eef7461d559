//! The shell: what the `gingham` command does.
//!
//! Statements come from `-c`, from standard input, or from a person at a terminal; each
//! outcome goes to a [`Printer`] of the chosen format. Exit status 1 if any statement
//! failed, 2 if the database could not be opened.

mod commands;
mod import;
mod interactive;
mod printer;

pub use printer::{Format, Printer};

use crate::{Connection, Database, Options};
use clap::Parser;
use std::io::{self, IsTerminal, Read, Write};
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
            succeeded &= script(&mut connection, command, arguments.bail, &mut printer)?;
            if arguments.bail && !succeeded {
                break;
            }
        }
        return Ok(succeeded);
    }
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text)?;
    match String::from_utf8(text) {
        Ok(text) => script(&mut connection, &text, arguments.bail, &mut printer),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            printer.error(&crate::SqlError::new("22021", format!("the script is not UTF-8 at byte {at}")))?;
            Ok(false)
        }
    }
}

/// Runs a script; whether no statement failed.
fn script<O: Write, E: Write>(
    connection: &mut Connection,
    sql: &str,
    bail: bool,
    printer: &mut Printer<O, E>,
) -> io::Result<bool> {
    let mut succeeded = true;
    let mut printed = Ok(());
    connection.execute_script(sql, &mut |outcome| {
        let result = match outcome.result {
            Ok(rows) => printer.rows(rows),
            Err(error) => printer.error(&error.to_sql_error()).map(|()| false),
        };
        match result {
            Ok(went_well) => succeeded &= went_well,
            Err(error) => printed = Err(error),
        }
        printed.is_ok() && (succeeded || !bail)
    });
    printed.map(|()| succeeded)
}
