//! Running sqllogictest files against an in-memory database.

use gingham::{Connection, Database, Options, SqlType, Value};
use sqllogictest::{DB, DBOutput, DefaultColumnType, Runner};
use std::fmt;
use std::path::Path;

/// How values are written for comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// As the shell prints them.
    Exact,
    /// As SQLite's corpus expects: numbers with a fraction to three digits, booleans as 0 and 1.
    Sqlite,
}

/// A connection as the runner drives it.
pub(crate) struct Target {
    connection: Connection,
    format: Format,
}

/// An error in the runner's clothes.
#[derive(Debug)]
pub(crate) struct TargetError(gingham::SqlError);

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for TargetError {}

impl DB for Target {
    type Error = TargetError;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, TargetError> {
        let fail = |error: gingham::Error| TargetError(error.to_sql_error());
        let mut rows = self.connection.execute(sql, &[]).map_err(fail)?;
        let types = rows.types();
        if types.is_empty() {
            return Ok(DBOutput::StatementComplete(rows.changes()));
        }
        let format = self.format;
        let values = rows.collect_values().map_err(fail)?;
        Ok(DBOutput::Rows {
            types: types.iter().map(|ty| column_type(*ty)).collect(),
            rows: values.iter().map(|row| row.iter().map(|v| text(v, format)).collect()).collect(),
        })
    }

    fn engine_name(&self) -> &'static str {
        // SQLite's corpus knows no Gingham; its dialect is PostgreSQL's.
        "postgresql"
    }

    fn error_sql_state(error: &TargetError) -> Option<String> {
        Some(error.0.code.to_string())
    }
}

fn column_type(ty: SqlType) -> DefaultColumnType {
    match ty {
        SqlType::Integer | SqlType::BigInt | SqlType::Boolean => DefaultColumnType::Integer,
        SqlType::Double | SqlType::Decimal { .. } => DefaultColumnType::FloatingPoint,
        _ => DefaultColumnType::Text,
    }
}

fn text(value: &Value, format: Format) -> String {
    match (value, format) {
        (Value::Text(text), _) if text.is_empty() => "(empty)".to_owned(),
        (Value::Boolean(v), Format::Sqlite) => u8::from(*v).to_string(),
        (Value::Double(v), Format::Sqlite) => format!("{v:.3}"),
        (Value::Decimal { scale, .. }, Format::Sqlite) if *scale > 0 => {
            let number: f64 = value.to_string().parse().unwrap_or(f64::NAN);
            format!("{number:.3}")
        }
        _ => value.to_string(),
    }
}

/// Runs one file in a fresh database with a forced or free route.
pub(crate) fn run_file(file: &Path, route: &str, format: Format) -> Result<(), String> {
    run_file_within(file, route, format, None).map(|_| ())
}

/// Runs one file within so many bytes of memory, if given, and gives the bytes that were
/// spilled. Rows then come in another order where the statement asks for none.
pub(crate) fn run_file_within(
    file: &Path,
    route: &str,
    format: Format,
    memory_bytes_max: Option<u64>,
) -> Result<u64, String> {
    let databases = std::cell::RefCell::new(Vec::new());
    let connect = || async {
        let mut options = Options::default();
        options.memory_bytes_max = memory_bytes_max.unwrap_or(options.memory_bytes_max);
        let database = Database::memory(options).map_err(|e| TargetError(e.to_sql_error()))?;
        databases.borrow_mut().push(database.clone());
        let mut connection = database.connect();
        connection.execute(&format!("SET route = '{route}'"), &[]).map_err(|e| TargetError(e.to_sql_error()))?;
        Ok(Target { connection, format })
    };
    let mut runner = Runner::new(connect);
    runner.add_label("postgresql");
    let spilled = || databases.borrow().iter().map(|database| database.temporary_bytes().0).sum();
    if format == Format::Exact {
        if memory_bytes_max.is_some() {
            runner.with_validator(|normalizer, actual, expected| {
                let mut actual: Vec<String> = actual.iter().map(|row| normalizer(&row.join(" "))).collect();
                let mut expected: Vec<String> = expected.iter().map(normalizer).collect();
                actual.sort();
                expected.sort();
                actual == expected
            });
        }
        return runner.run_file(file).map(|()| spilled()).map_err(|error| error.to_string());
    }
    // The corpus has one value a line, hashes long results and writes comments where this
    // runner reads labels.
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let mut script = "control resultmode valuewise\n\n".to_owned();
    for line in text.lines() {
        let is_label = line.starts_with("onlyif") || line.starts_with("skipif");
        script += if is_label { line.split('#').next().unwrap_or(line).trim_end() } else { line };
        script.push('\n');
    }
    runner.with_hash_threshold(8);
    runner.run_script(&script).map(|()| spilled()).map_err(|error| error.to_string())
}
