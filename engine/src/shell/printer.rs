//! Results in the formats of the shell.

use crate::{OutputColumn, Rows, SqlError, SqlType, Value};
use clap::ValueEnum;
use serde_json::{Value as Json, json};
use std::io::{self, Write};

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns for people.
    Table,
    /// RFC 4180, with a header line for each result.
    Csv,
    /// One array of objects for each result.
    Json,
    /// One line for each statement: `{"columns":…,"types":…,"rows":…,"changes":…}` or `{"error":…}`.
    Jsonl,
}

/// Prints outcomes to one stream and, for the formats made for people, errors to another.
pub struct Printer<O, E> {
    format: Format,
    out: O,
    errors: E,
}

/// Integers beyond this are not exact in JavaScript.
const EXACT_INTEGER_MAX: u64 = 1 << 53;

impl<O: Write, E: Write> Printer<O, E> {
    /// A printer of a format.
    pub const fn new(format: Format, out: O, errors: E) -> Self {
        Self { format, out, errors }
    }

    /// Prints a statement's result; `false` if reading it failed, which is printed too.
    ///
    /// # Errors
    /// If the streams do not take the text.
    pub fn rows(&mut self, mut rows: Rows) -> io::Result<bool> {
        let columns = rows.columns().to_vec();
        let values = match rows.collect_values() {
            Ok(values) => values,
            Err(error) => return self.error(&error.to_sql_error()).map(|()| false),
        };
        match self.format {
            Format::Jsonl => self.line(&json!({
                "columns": columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
                "types": columns.iter().map(|c| c.ty.to_string()).collect::<Vec<_>>(),
                "rows": values.iter().map(|row| row.iter().map(json_value).collect()).collect::<Vec<Vec<Json>>>(),
                "changes": rows.changes(),
            }))?,
            _ if columns.is_empty() => {}
            Format::Json => {
                let objects: Vec<Json> = values
                    .iter()
                    .map(|row| {
                        columns
                            .iter()
                            .zip(row)
                            .map(|(column, value)| (column.name.clone(), json_value(value)))
                            .collect()
                    })
                    .collect();
                self.line(&Json::Array(objects))?;
            }
            Format::Csv => {
                let header: Vec<String> = columns.iter().map(|c| csv_field(&c.name)).collect();
                writeln!(self.out, "{}", header.join(","))?;
                for row in &values {
                    let fields: Vec<String> = row.iter().map(csv_value).collect();
                    writeln!(self.out, "{}", fields.join(","))?;
                }
            }
            Format::Table => self.table(&columns, &values)?,
        }
        self.out.flush()?;
        Ok(true)
    }

    /// Prints an error.
    ///
    /// # Errors
    /// If the streams do not take the text.
    pub fn error(&mut self, error: &SqlError) -> io::Result<()> {
        if matches!(self.format, Format::Jsonl) {
            let (line, column) = error.position.map_or((Json::Null, Json::Null), |(l, c)| (json!(l), json!(c)));
            self.line(&json!({
                "error": {
                    "code": error.code,
                    "message": error.message,
                    "line": line,
                    "column": column,
                    "hint": error.hint,
                }
            }))?;
            return self.out.flush();
        }
        let position = error.position.map(|(l, c)| format!(" at line {l}, column {c}")).unwrap_or_default();
        writeln!(self.errors, "Error {}{position}: {}", error.code, error.message)?;
        if let Some(hint) = &error.hint {
            writeln!(self.errors, "Hint: {hint}")?;
        }
        self.errors.flush()
    }

    /// Prints a note for people.
    ///
    /// # Errors
    /// If the stream does not take the text.
    pub fn note(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")?;
        self.out.flush()
    }

    /// Changes the format.
    pub const fn set_format(&mut self, format: Format) {
        self.format = format;
    }

    fn line(&mut self, value: &Json) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        writeln!(self.out)
    }

    fn table(&mut self, columns: &[OutputColumn], values: &[Vec<Value>]) -> io::Result<()> {
        let cell = |value: &Value| match value {
            Value::Null => String::new(),
            // Line breaks and the like would tear the table.
            value => value.to_string().chars().flat_map(visible).collect(),
        };
        let rows: Vec<Vec<String>> = values.iter().map(|row| row.iter().map(cell).collect()).collect();
        let width = |i: usize| {
            let longest = rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
            longest.max(columns[i].name.chars().count())
        };
        let widths: Vec<usize> = (0..columns.len()).map(width).collect();
        let right = |ty: SqlType| ty.is_numeric();
        let header: Vec<String> =
            columns.iter().zip(&widths).map(|(c, width)| format!(" {:^width$} ", c.name)).collect();
        writeln!(self.out, "{}", header.join("│").trim_end())?;
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(width + 2)).collect();
        writeln!(self.out, "{}", rule.join("┼"))?;
        for row in &rows {
            let line: Vec<String> = row
                .iter()
                .zip(columns)
                .zip(&widths)
                .map(
                    |((cell, column), width)| {
                        if right(column.ty) { format!(" {cell:>width$} ") } else { format!(" {cell:<width$} ") }
                    },
                )
                .collect();
            writeln!(self.out, "{}", line.join("│").trim_end())?;
        }
        writeln!(self.out, "({} row{})", rows.len(), if rows.len() == 1 { "" } else { "s" })
    }
}

fn visible(character: char) -> Vec<char> {
    match character {
        '\n' => vec!['\\', 'n'],
        '\t' => vec!['\\', 't'],
        '\r' => vec!['\\', 'r'],
        c if c.is_control() => c.escape_unicode().collect(),
        c => vec![c],
    }
}

fn json_value(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(v) => json!(v),
        Value::Int(v) if v.unsigned_abs() <= EXACT_INTEGER_MAX => json!(v),
        Value::Double(v) if v.is_finite() => json!(v),
        Value::Timestamp(_) => json!(value.to_string().replacen(' ', "T", 1)),
        // `\x` and the digits: without the prefix.
        Value::Blob(_) => json!(&value.to_string()[2..]),
        other => json!(other.to_string()),
    }
}

fn csv_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        // An empty string is quoted, so that it is not NULL.
        Value::Text(text) if text.is_empty() => "\"\"".to_owned(),
        other => csv_field(&other.to_string()),
    }
}

fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
