//! `gingham-tpch`: what `cargo xtask tpch` runs. Loads TPC-H data, runs the queries,
//! checks the answers and prints the times; or writes the data as files.

// Most of the command line is about running queries.
#[cfg_attr(not(feature = "engine"), allow(dead_code))]
mod arguments;
#[cfg(feature = "engine")]
mod converse;
#[cfg(feature = "engine")]
mod engine;
#[cfg(feature = "engine")]
mod measure;
#[cfg(feature = "engine")]
mod profile;
mod progress;
#[cfg(feature = "engine")]
mod report;
#[cfg(feature = "engine")]
mod resident;

use arguments::Arguments;
use clap::Parser as _;
#[cfg(feature = "engine")]
use converse::converse;
use gingham_tpch::csv::{Written, write_csv};
use gingham_tpch::{Error, ScaleFactor};
#[cfg(feature = "engine")]
use measure::measure;
#[cfg(feature = "engine")]
use profile::profile;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.csv {
        Some(folder) => write_files(folder, arguments.sf).map(|()| ExitCode::SUCCESS),
        None if arguments.converse => converse(&arguments),
        None if arguments.profile => profile(&arguments),
        None => measure(&arguments),
    };
    result.unwrap_or_else(|error| {
        progress::clear();
        eprintln!("gingham-tpch: {error}");
        ExitCode::FAILURE
    })
}

/// What can be said without a database.
#[cfg(not(feature = "engine"))]
fn measure(arguments: &Arguments) -> Result<ExitCode, Error> {
    Err(Error::Target {
        doing: format!("loading {}, route {}", arguments.layout(), arguments.route),
        message: "this program was built without the feature `engine`; it can write files with --csv".to_owned(),
    })
}

#[cfg(not(feature = "engine"))]
fn profile(arguments: &Arguments) -> Result<ExitCode, Error> {
    measure(arguments)
}

#[cfg(not(feature = "engine"))]
fn converse(arguments: &Arguments) -> Result<ExitCode, Error> {
    measure(arguments)
}

fn write_files(folder: &Path, scale: ScaleFactor) -> Result<(), Error> {
    let written = write_csv(folder, scale, progress::printer())?;
    progress::clear();
    for (table, written) in written {
        let how = match written {
            Written::Now => "written",
            Written::Before => "already there",
        };
        println!("{}: {how}", folder.join(format!("{table}.csv")).display());
    }
    Ok(())
}
