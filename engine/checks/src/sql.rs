//! SQL text: any text gives rows or a typed error, and what the fast path takes the
//! planner would take too.

use gingham::{Database, Options, PlanRequest, Planner, SqlError, Value};
use gingham_plan::Statement;

/// Words that statements are likely to be made of.
const WORDS: [&str; 64] = [
    "SELECT",
    "*",
    "FROM",
    "t",
    "WHERE",
    "k",
    "=",
    "1",
    "AND",
    "g",
    "<",
    "10",
    "ORDER",
    "BY",
    "LIMIT",
    "5",
    "INSERT",
    "INTO",
    "VALUES",
    "(",
    ")",
    ",",
    "'text'",
    "UPDATE",
    "SET",
    "v",
    "+",
    "-",
    "DELETE",
    "count(*)",
    "BETWEEN",
    "?",
    "$1",
    ":name",
    "NULL",
    "true",
    "1.5",
    "-7",
    "99999999999999999999",
    "\"k\"",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "DESC",
    ">=",
    "<=",
    ">",
    ";",
    "--",
    "/*",
    "*/",
    "''",
    "'",
    "h",
    "c",
    "d",
    "b",
    "1e400",
    "x'00'",
    "\\x",
    "é",
    ".",
    "AS",
    "OR",
];

/// A planner that plans nothing, so that a statement that prepares went by the fast path.
struct NoPlanner;

/// The code of its refusal.
const REFUSED: &str = "0A000";

impl Planner for NoPlanner {
    fn plan(&mut self, _: &PlanRequest<'_>) -> Result<Statement, SqlError> {
        Err(SqlError::unsupported("planning"))
    }
}

const SCHEMA: &str = "CREATE TABLE t (k INTEGER PRIMARY KEY, g BIGINT, v TEXT);
    CREATE TABLE h (k TEXT PRIMARY KEY, d DECIMAL(10, 2), b BLOB) WITH (storage = 'row');
    CREATE TABLE c (k DATE, g DOUBLE) WITH (storage = 'column');
    INSERT INTO t VALUES (1, 10, 'one'), (2, NULL, 'two'), (5, 50, NULL);
    INSERT INTO h VALUES ('a', 1.50, '\\x00ff')";

/// Makes the text: with an even first byte of words, else the bytes as they are.
fn text(data: &[u8]) -> String {
    let Some((first, rest)) = data.split_first() else { return String::new() };
    if first % 2 == 1 {
        return String::from_utf8_lossy(rest).into_owned();
    }
    let words: Vec<&str> = rest.iter().map(|byte| WORDS[usize::from(*byte) % WORDS.len()]).collect();
    words.join(if first % 4 == 0 { " " } else { "" })
}

/// A database's file with the schema, made once.
fn file() -> &'static [u8] {
    static FILE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    FILE.get_or_init(|| {
        let database = Database::memory(Options::default()).expect("memory");
        database.connect().execute_script(SCHEMA, &mut |outcome| {
            outcome.result.unwrap_or_else(|error| panic!("{}: {error}", outcome.sql));
            true
        });
        let mut bytes = Vec::new();
        let exported = database.export(&mut |_, part| {
            bytes.extend_from_slice(part);
            Ok(())
        });
        exported.expect("exports");
        bytes
    })
}

fn open(options: Options) -> Database {
    let vfs = gingham::MemoryVfs::new();
    vfs.insert("checked", file()).expect("memory");
    Database::open_with(std::sync::Arc::new(vfs), "checked", options).expect("a sound file")
}

/// Prepares and runs the text; a statement of the fast path also has to be one that the
/// planner plans.
pub fn check(data: &[u8]) {
    let sql = text(data);
    let fast = open(Options { planner: Some(Box::new(NoPlanner)), ..Options::default() });
    let mut connection = fast.connect();
    let Ok(mut statement) = connection.prepare(&sql) else { return };
    let parameters = vec![Value::Int(2); statement.parameter_count()];
    let outcome = connection.run(&mut statement, &parameters).and_then(|mut rows| rows.collect_values());
    if let Err(error) = &outcome {
        let code = error.to_sql_error().code;
        assert!(code.len() == 5 && !code.starts_with("XX"), "{sql:?} failed with {error}");
        if code == REFUSED {
            return;
        }
    }
    let planned = open(Options::default());
    let explained = planned.connect().prepare(&format!("EXPLAIN {sql}")).map(drop);
    let is_query = statement.returns_rows();
    if let Err(error) = explained
        && is_query
    {
        panic!("the fast path takes {sql:?}, the planner says {error}");
    }
}
