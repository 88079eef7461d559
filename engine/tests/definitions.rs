//! Definitions that need no planner: they work without one, and leave the bytes that it would.

use gingham::{Connection, Database, Options, PlanRequest, Planner, SqlError, Value};

/// A planner that is not there yet.
struct NoPlanner;

impl Planner for NoPlanner {
    fn plan(&mut self, _: &PlanRequest<'_>) -> Result<gingham_plan::Statement, SqlError> {
        Err(SqlError::unsupported("planning"))
    }
}

fn run(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<Value>>, String> {
    let rows = connection.execute(sql, &[]).and_then(|mut rows| rows.collect_values());
    rows.map_err(|error| error.to_sql_error().code.into_owned())
}

/// How an application begins.
const SCHEMA: [&str; 6] = [
    "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT '', \
     body TEXT, done BOOLEAN NOT NULL DEFAULT FALSE, rank DOUBLE DEFAULT 0.5, created TIMESTAMP)",
    "CREATE TABLE IF NOT EXISTS tags (note INTEGER, tag VARCHAR(40), PRIMARY KEY (note, tag))",
    "CREATE TABLE IF NOT EXISTS kv (key TEXT PRIMARY KEY, value BLOB) WITH (storage = 'row')",
    "CREATE TABLE IF NOT EXISTS events (day DATE, amount DECIMAL(12, 2), n BIGINT, UNIQUE (day, n)) \
     WITH (storage = 'column')",
    "CREATE INDEX IF NOT EXISTS notes_rank ON notes (rank DESC, title)",
    "CREATE UNIQUE INDEX IF NOT EXISTS tags_tag ON tags (tag, note)",
];

#[test]
fn an_application_opens_without_a_planner() {
    let options = Options { planner: Some(Box::new(NoPlanner)), ..Options::default() };
    let database = Database::memory(options).expect("opens");
    let mut connection = database.connect();
    // The first time, and when all is there.
    for _ in 0..2 {
        for sql in SCHEMA {
            assert_eq!(run(&mut connection, sql), Ok(Vec::new()), "{sql}");
        }
    }
    for sql in [
        "-- A comment\nINSERT INTO notes (title) VALUES ('first'), ('second')",
        "INSERT INTO tags VALUES (1, 'a'), (2, 'a')",
        "BEGIN",
        "DROP INDEX tags_tag",
        "DROP TABLE IF EXISTS kv, absent",
        "ROLLBACK",
        "INSERT INTO kv VALUES ('k', NULL)",
    ] {
        assert_eq!(run(&mut connection, sql), Ok(Vec::new()), "{sql}");
    }
    let rows = run(&mut connection, "SELECT title, done, rank FROM notes WHERE id = 2");
    let expected = vec![Value::Text("second".into()), Value::Boolean(false), Value::Double(0.5)];
    assert_eq!(rows, Ok(vec![expected]));
    assert_eq!(run(&mut connection, "INSERT INTO tags VALUES (1, 'a')"), Err("23505".into()));
    assert_eq!(run(&mut connection, "DROP TABLE absent"), Err("42P01".into()));
    assert_eq!(run(&mut connection, "DROP INDEX absent"), Err("42704".into()));
    // What is refused is refused by the planner.
    assert_eq!(run(&mut connection, "CREATE TABLE notes (a INT)"), Err("0A000".into()));
    assert!(database.integrity_check().expect("checks").is_sound());
}

/// The bytes of a database after some statements.
fn bytes_after(statements: &[String]) -> Vec<u8> {
    let database = Database::memory(Options::default()).expect("opens");
    let mut connection = database.connect();
    for sql in statements {
        assert_eq!(run(&mut connection, sql), Ok(Vec::new()), "{sql}");
    }
    let mut bytes = Vec::new();
    let mut sink = |_: u64, part: &[u8]| {
        bytes.extend_from_slice(part);
        Ok(())
    };
    database.export(&mut sink).expect("exports");
    bytes
}

#[test]
fn the_catalog_is_the_planners_byte_for_byte() {
    let rest = [
        "CREATE TABLE every (a INT DEFAULT -5, b BIGINT DEFAULT 12, c DOUBLE PRECISION DEFAULT 1.25, \
         d DECIMAL(10, 2) DEFAULT 3, e TEXT DEFAULT 'x' UNIQUE, f BLOB DEFAULT '\\x00ff', g DATE DEFAULT '2024-02-29', \
         h TIMESTAMP DEFAULT '2024-02-29 01:02:03', i BOOLEAN DEFAULT TRUE, \"J\" NUMERIC NULL, UNIQUE (a, b))",
        "CREATE TABLE counted (n INT GENERATED ALWAYS AS IDENTITY, v TEXT) WITH (storage = row)",
        "CREATE TABLE passing (a SERIAL)",
        "DROP TABLE passing",
    ];
    let statements: Vec<String> = SCHEMA.iter().chain(&rest).map(|sql| (*sql).to_owned()).collect();
    // The fast path does not know the only schema by its name.
    let qualify = |sql: &String| {
        let words = ["TABLE IF NOT EXISTS ", "TABLE ", " ON "];
        let word = words.into_iter().find(|word| sql.contains(word)).expect("a table is named");
        sql.replacen(word, &format!("{word}main."), 1)
    };
    let planned: Vec<String> = statements.iter().map(qualify).collect();
    let [fast, planned] = [statements, planned].map(|statements| bytes_after(&statements));
    let difference = fast.iter().zip(&planned).position(|(a, b)| a != b);
    assert_eq!((fast.len(), difference), (planned.len(), None), "the files differ");
}
