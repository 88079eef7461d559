//! The command line.

use clap::{Parser, ValueEnum};
use gingham_tpch::{Layout, PrimaryKeys, QueryNumber, ScaleFactor, Storage};
use std::fmt;
use std::path::PathBuf;

/// Loads TPC-H data into Gingham and runs the 22 queries. Derived from TPC-H, not
/// comparable with published results.
#[derive(Debug, Parser)]
#[command(name = "gingham-tpch", version)]
pub(crate) struct Arguments {
    /// Scale factor: 1 is about a gigabyte of text
    #[arg(long, default_value = "0.01", value_name = "FACTOR")]
    pub(crate) sf: ScaleFactor,
    /// The store that answers queries
    #[arg(long, value_enum, default_value_t = Route::Auto)]
    pub(crate) route: Route,
    /// Database file; one that was loaded with the same data is used as it is [default: in memory]
    #[arg(long, value_name = "PATH")]
    pub(crate) db: Option<PathBuf>,
    /// Memory of the database, such as 512MiB [default: 1GiB]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
    /// Compare every result with the known answer (scale factors 0.01, 0.1 and 1)
    #[arg(long)]
    pub(crate) check: bool,
    /// Queries to run, such as 1,3,5-7 [default: all 22]
    #[arg(long, value_name = "LIST", value_parser = parse_queries)]
    pub(crate) queries: Option<QueryList>,
    /// Warm runs of each query after the cold one; their median is printed
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(..=1000))]
    pub(crate) repeat: u16,
    /// Storage of the tables: hybrid, row or column
    /// [default: hybrid where the route is row or the scale factor at most 0.1, else column]
    #[arg(long, value_name = "STORAGE")]
    pub(crate) storage: Option<Storage>,
    /// Primary keys [default: omitted in column storage, else declared]
    #[arg(long, value_enum)]
    pub(crate) keys: Option<Keys>,
    /// Write the tables to DIR/{table}.csv, but for those that are there, and stop
    #[arg(long, value_name = "DIR")]
    pub(crate) csv: Option<PathBuf>,
    /// Print the hottest operators of warm runs, and planning times, instead
    #[arg(long, conflicts_with_all = ["check", "csv", "json", "converse"])]
    pub(crate) profile: bool,
    /// Load, then answer query numbers from standard input with a line of JSON each
    #[arg(long, conflicts_with_all = ["check", "queries", "csv", "json"])]
    pub(crate) converse: bool,
    /// Also write the figures to a JSON file
    #[arg(long, value_name = "PATH")]
    pub(crate) json: Option<PathBuf>,
}

/// Which store answers queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Route {
    /// The cheaper one for each table of each query.
    Auto,
    /// The row store.
    Row,
    /// The column store.
    Column,
}

/// Whether tables declare primary keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keys {
    /// They do.
    Declared,
    /// They do not.
    Omitted,
}

/// Queries in the order asked for.
#[derive(Clone, Debug)]
pub(crate) struct QueryList(Vec<QueryNumber>);

fn parse_queries(text: &str) -> Result<QueryList, gingham_tpch::Error> {
    QueryNumber::parse_list(text).map(QueryList)
}

/// A number of bytes, or of KiB, MiB or GiB.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("", 0)];
    let number = units.iter().find_map(|(unit, shift)| {
        let number = text.strip_suffix(unit)?.trim().parse::<u64>().ok()?;
        number.checked_mul(1 << shift)
    });
    number.ok_or_else(|| "a number of bytes is wanted, such as 1000000 or 512MiB".to_owned())
}

impl Arguments {
    /// The queries to run.
    pub(crate) fn queries(&self) -> Vec<QueryNumber> {
        self.queries.as_ref().map_or_else(|| QueryNumber::all().collect(), |list| list.0.clone())
    }

    /// What to load.
    pub(crate) fn layout(&self) -> Layout {
        let small = self.sf <= ScaleFactor::TENTH;
        let usual = if self.route == Route::Row || small { Storage::Hybrid } else { Storage::Column };
        let storage = self.storage.unwrap_or(usual);
        let keys = match self.keys {
            Some(Keys::Declared) => PrimaryKeys::Declared,
            Some(Keys::Omitted) => PrimaryKeys::Omitted,
            None if storage == Storage::Column => PrimaryKeys::Omitted,
            None => PrimaryKeys::Declared,
        };
        Layout { scale: self.sf, storage, keys }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Row => "row",
            Self::Column => "column",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(arguments: &[&str]) -> Arguments {
        Arguments::parse_from(std::iter::once("gingham-tpch").chain(arguments.iter().copied()))
    }

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn storage_follows_route_and_scale() {
        for (arguments, storage, keys) in [
            (&[][..], Storage::Hybrid, PrimaryKeys::Declared),
            (&["--sf", "0.1"], Storage::Hybrid, PrimaryKeys::Declared),
            (&["--sf", "1"], Storage::Column, PrimaryKeys::Omitted),
            (&["--sf", "1", "--route", "row"], Storage::Hybrid, PrimaryKeys::Declared),
            (&["--sf", "1", "--keys", "declared"], Storage::Column, PrimaryKeys::Declared),
            (&["--storage", "row"], Storage::Row, PrimaryKeys::Declared),
        ] {
            let layout = parse(arguments).layout();
            assert_eq!((layout.storage, layout.keys), (storage, keys), "{arguments:?}");
        }
    }

    #[test]
    fn memory_has_units() {
        for (text, bytes) in [("1000", 1000), ("64KiB", 65_536), ("512MiB", 536_870_912), ("1 GiB", 1_073_741_824)] {
            assert_eq!(parse(&["--memory", text]).memory, Some(bytes), "{text}");
        }
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for arguments in
            [["--sf", "0"], ["--queries", "23"], ["--memory", "1 pound"], ["--route", "both"], ["--storage", "cloud"]]
        {
            let all = std::iter::once("gingham-tpch").chain(arguments);
            assert!(Arguments::try_parse_from(all).is_err(), "{arguments:?}");
        }
    }
}
