//! `gingham-tpch`: what `cargo xtask tpch` runs. Loads TPC-H data, runs the queries,
//! checks the answers and prints the times; or writes the data as files.

mod arguments;
mod progress;

use arguments::Arguments;
use clap::Parser as _;
use gingham_tpch::csv::{Written, write_csv};
use gingham_tpch::{Error, ScaleFactor};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            progress::clear();
            eprintln!("gingham-tpch: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    if let Some(folder) = &arguments.csv {
        return write_files(folder, arguments.sf);
    }
    Ok(ExitCode::SUCCESS)
}

fn write_files(folder: &Path, scale: ScaleFactor) -> Result<ExitCode, Error> {
    let written = write_csv(folder, scale, progress::printer())?;
    progress::clear();
    for (table, written) in written {
        let how = match written {
            Written::Now => "written",
            Written::Before => "already there",
        };
        println!("{}: {how}", folder.join(format!("{table}.csv")).display());
    }
    Ok(ExitCode::SUCCESS)
}
