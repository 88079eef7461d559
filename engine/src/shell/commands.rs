//! Dot commands.

use super::interactive::State;
use super::{Format, Printer, import};
use crate::Connection;
use clap::ValueEnum;
use std::io::{self, Write};

const HELP: &str = "\
.help                 this text
.tables               names of tables and views
.schema [TABLE]       the CREATE statements
.import FILE TABLE    rows of a CSV file with a header line into a table
.mode FORMAT          table, csv, json or jsonl
.timer on|off         print how long statements take
.quit                 leave";

pub(super) fn run<O: Write, E: Write>(
    line: &str,
    connection: &mut Connection,
    state: &mut State,
    printer: &mut Printer<O, E>,
) -> io::Result<()> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let result = match words[..] {
        [".help"] => return printer.note(HELP),
        [".quit" | ".exit"] => {
            state.done = true;
            return Ok(());
        }
        [".timer", word @ ("on" | "off")] => {
            state.timer = word == "on";
            return Ok(());
        }
        [".mode", name] => match Format::from_str(name, true) {
            Ok(format) => {
                printer.set_format(format);
                return Ok(());
            }
            Err(_) => Err(format!("{name} is not a format: table, csv, json, jsonl")),
        },
        [".tables"] => connection.relation_names().map(|names| names.join("\n")).map_err(|e| e.to_string()),
        [".schema"] => connection.schema_sql(None).map(|sql| sql.join("\n")).map_err(|e| e.to_string()),
        [".schema", table] => connection.schema_sql(Some(table)).map(|sql| sql.join("\n")).map_err(|e| e.to_string()),
        [".import", file, table] => import::csv(connection, file, table).map(|rows| format!("{rows} rows")),
        _ => Err(format!("unknown command or arguments: {line} (try .help)")),
    };
    match result {
        Ok(text) if text.is_empty() => Ok(()),
        Ok(text) => printer.note(&text),
        Err(text) => printer.note(&format!("Error: {text}")),
    }
}
