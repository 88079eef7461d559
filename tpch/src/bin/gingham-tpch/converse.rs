//! Answers one query after the other for a program that measures several databases in
//! turn: a query's number a line on standard input, a line of JSON on standard output,
//! `{"ms":…,"columns":[…],"rows":[[…]]}` with values as text, or `{"error":…}`. The first
//! line, `{"ready":true}`, says that the data is loaded.

use crate::arguments::Arguments;
use crate::engine::Gingham;
use gingham_tpch::{Error, QueryNumber, ResultSet, SqlTarget as _};
use gingham_types::Value;
use serde_json::{Value as Json, json};
use std::io::{self, BufRead as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Loads, then answers until the input ends.
pub(crate) fn converse(arguments: &Arguments) -> Result<ExitCode, Error> {
    let layout = arguments.layout();
    let (mut target, _) = Gingham::loaded(arguments)?;
    say(&json!({"ready": true}))?;
    for line in io::stdin().lock().lines() {
        let line = line.map_err(stream_failed)?;
        let answer = match QueryNumber::parse_list(&line).as_deref() {
            Ok([query]) => answer(&mut target, &query.sql(layout.scale)),
            _ => json!({"error": format!("`{line}` is no query's number")}),
        };
        say(&answer)?;
    }
    target.close()?;
    Ok(ExitCode::SUCCESS)
}

/// The time covers planning, execution, and taking every row as values.
fn answer(target: &mut Gingham, sql: &str) -> Json {
    let started = Instant::now();
    let result = target.execute(sql);
    let ms = started.elapsed().as_secs_f64() * 1e3;
    match result {
        Ok(ResultSet { columns, rows }) => json!({
            "ms": ms,
            "columns": columns.into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "rows": rows.iter().map(|row| row.iter().map(text).collect()).collect::<Vec<Vec<Json>>>(),
        }),
        Err(message) => json!({"error": message}),
    }
}

fn text(value: &Value) -> Json {
    if *value == Value::Null { Json::Null } else { Json::String(value.to_string()) }
}

fn say(line: &Json) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(stream_failed)
}

fn stream_failed(source: io::Error) -> Error {
    Error::Io { path: PathBuf::from("-"), source }
}
