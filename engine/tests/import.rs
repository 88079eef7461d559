//! CSV into tables: COPY and the import that it rests on.

use gingham::{Connection, CsvOptions, Database, Options, SqlError, Value};
use std::path::PathBuf;

fn database() -> Database {
    let database = Database::memory(Options::default()).expect("opens");
    let mut connection = database.connect();
    for (name, storage) in [("h", "hybrid"), ("c", "column"), ("r", "row")] {
        let sql = format!(
            "CREATE TABLE {name} (k INTEGER PRIMARY KEY, price DECIMAL(9, 2), day DATE, note TEXT NOT NULL DEFAULT '-') \
             WITH (storage = '{storage}')"
        );
        connection.execute(&sql, &[]).expect("creates");
    }
    database
}

fn rows(connection: &mut Connection, sql: &str) -> Vec<String> {
    let found = connection.execute(sql, &[]).expect("runs").collect_values().expect("reads");
    found.iter().map(|row| row.iter().map(Value::to_string).collect::<Vec<_>>().join("|")).collect()
}

/// Imports a text in pieces of 7 bytes.
fn import(connection: &mut Connection, table: &str, text: &str, options: &CsvOptions) -> Result<u64, SqlError> {
    let mut import = connection.import_csv(table, options).map_err(|error| error.to_sql_error())?;
    for piece in text.as_bytes().chunks(7) {
        import.push(connection, piece).map_err(|error| error.to_sql_error())?;
    }
    import.finish(connection).map_err(|error| error.to_sql_error())
}

#[test]
fn rows_come_in_with_types_nulls_and_defaults() {
    let database = database();
    let mut connection = database.connect();
    let text = "day,K,price\r\n2024-02-29,3,1.5\n,1,\n2024-03-01,2,\"-7\"\n";
    for table in ["h", "c", "r"] {
        assert_eq!(import(&mut connection, table, text, &CsvOptions::default()), Ok(3));
        let found = rows(&mut connection, &format!("SELECT * FROM {table} ORDER BY k"));
        assert_eq!(found, ["1|NULL|NULL|-", "2|-7.00|2024-03-01|-", "3|1.50|2024-02-29|-"], "{table}");
    }
    let options = CsvOptions {
        header: false,
        delimiter: b';',
        null: "none".to_owned(),
        columns: Some(vec!["k".to_owned(), "note".to_owned(), "price".to_owned()]),
    };
    assert_eq!(import(&mut connection, "h", "7;;none\n8;\"none\";2", &options), Ok(2));
    assert_eq!(
        rows(&mut connection, "SELECT k, note, price FROM h WHERE k > 5 ORDER BY k"),
        ["7||NULL", "8|none|2.00"]
    );
}

#[test]
fn an_error_says_where_and_leaves_nothing() {
    let database = database();
    let mut connection = database.connect();
    let cases = [
        ("k,note\n1,a\n2x,b\n", "22P02", (3, 1)),
        ("k,note\n1,a\n99999999999,b\n", "22003", (3, 1)),
        ("k,note,price\n1,a,1.5\n2,\"b\nb\",one\n", "22P02", (4, 4)),
        ("k,note\n1,a,b\n", "22P04", (2, 5)),
        ("k,note\n1\n", "22P04", (2, 2)),
        ("k,nothing\n1,a\n", "42703", (1, 1)),
        ("k,k\n1,1\n", "42701", (1, 1)),
        ("k,note\n1,\"a\n", "22P04", (2, 3)),
    ];
    for (text, code, position) in cases {
        for table in ["h", "c", "r"] {
            let error = import(&mut connection, table, text, &CsvOptions::default()).expect_err(text);
            assert_eq!((error.code.as_ref(), error.position), (code, Some(position)), "{text:?}: {}", error.message);
            let place = format!("line {}, column {}: ", position.0, position.1);
            assert!(error.message.starts_with(&place), "{}", error.message);
        }
    }
    for (text, code) in [("k,note\n1,a\n1,b\n", "23505"), ("k,note\n1,\n", "23502")] {
        for table in ["h", "c", "r"] {
            let error = import(&mut connection, table, text, &CsvOptions::default()).expect_err(text);
            assert_eq!(error.code, code, "{text:?} into {table}");
        }
    }
    for table in ["h", "c", "r"] {
        assert!(rows(&mut connection, &format!("SELECT * FROM {table}")).is_empty());
    }
    assert!(!connection.in_transaction());
}

#[test]
fn an_import_inside_a_transaction_is_undone_alone() {
    let database = database();
    let mut connection = database.connect();
    connection.begin(false).expect("begins");
    connection.execute("INSERT INTO h (k) VALUES (1)", &[]).expect("inserts");
    assert_eq!(
        import(&mut connection, "h", "k,note\n2,a\n2,b\n", &CsvOptions::default()).expect_err("twice").code,
        "23505"
    );
    assert_eq!(import(&mut connection, "h", "k,note\n3,a\n", &CsvOptions::default()), Ok(1));
    let import = connection.import_csv("h", &CsvOptions::default()).expect("begins");
    import.abort(&mut connection).expect("rolls back");
    connection.commit().expect("commits");
    assert_eq!(rows(&mut connection, "SELECT k FROM h ORDER BY k"), ["1", "3"]);
}

/// More rows than one batch, in order and not, into tables with rows and indexes.
#[test]
fn many_rows_in_any_order() {
    for storage in ["hybrid", "row", "column"] {
        let database = Database::memory(Options::default()).expect("opens");
        let mut connection = database.connect();
        let create =
            format!("CREATE TABLE t (k BIGINT PRIMARY KEY, u INTEGER UNIQUE, v TEXT) WITH (storage = '{storage}')");
        connection.execute(&create, &[]).expect("creates");
        connection.execute("CREATE INDEX by_v ON t (v)", &[]).expect("creates");
        let text = |keys: &mut dyn Iterator<Item = i64>| {
            let lines = keys.map(|k| format!("{k},{},v{}\n", k * 3, k % 7));
            std::iter::once("k,u,v\n".to_owned()).chain(lines).collect::<String>()
        };
        let options = CsvOptions::default();
        assert_eq!(import(&mut connection, "t", &text(&mut (0..40_000)), &options), Ok(40_000));
        assert_eq!(rows(&mut connection, "SELECT count(*), sum(k) FROM t WHERE v = 'v3'"), ["5714|114271429"]);
        assert_eq!(import(&mut connection, "t", &text(&mut (40_000..80_000)), &options), Ok(40_000));
        // Backwards, below and above what is there.
        let scattered = &mut (-500..0).chain(80_000..80_500).rev();
        assert_eq!(import(&mut connection, "t", &text(scattered), &options), Ok(1000));
        for bad in ["k,u,v\n90000,1,a\n70000,2,b\n", "k,u,v\n90001,3,a\n", "k,u,v\n90001,1,a\n90002,1,b\n"] {
            assert_eq!(import(&mut connection, "t", bad, &options).expect_err(bad).code, "23505", "{storage}");
        }
        assert_eq!(rows(&mut connection, "SELECT count(*), min(k), max(k) FROM t"), ["81000|-500|80499"]);
        assert_eq!(rows(&mut connection, "SELECT k FROM t WHERE u = 240000"), ["80000"]);
        assert_eq!(rows(&mut connection, "PRAGMA integrity_check"), ["ok"], "{storage}");
    }
}

struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gingham-import-{}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("writes");
        Self(path)
    }

    fn sql(&self) -> String {
        self.0.display().to_string().replace('\'', "''")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn copy_reads_files() {
    let database = database();
    let mut connection = database.connect();
    let file = File::new("copy.csv", "k|note\n1|a\n2|b\n");
    let sql = format!("COPY h FROM '{}' WITH (FORMAT csv, HEADER, DELIMITER '|')", file.sql());
    assert_eq!(connection.execute(&sql, &[]).expect("copies").changes(), 2);
    let sql = format!("COPY c (note, k) FROM '{}' (HEADER false, DELIMITER '|')", file.sql());
    let error = connection.execute(&sql, &[]).err().expect("a header is no row").to_sql_error();
    assert_eq!((error.code.as_ref(), error.position), ("22P02", None));
    assert!(error.message.contains("copy.csv: line 1, column 3: 'note' is not a valid INTEGER"), "{}", error.message);
    let missing = connection.execute("COPY h FROM '/no such file'", &[]).err().expect("missing").to_sql_error();
    assert_eq!(missing.code, "58P01");
    for (sql, code, position) in [
        ("COPY nothing FROM 'x'", "42P01", Some((1, 6))),
        ("COPY h (k, z) FROM 'x'", "42703", Some((1, 12))),
        ("COPY h TO 'x'", "0A000", None),
        ("COPY h FROM 'x' (FORMAT binary)", "0A000", None),
        ("COPY h FROM STDIN", "0A000", None),
    ] {
        let error = connection.execute(sql, &[]).err().expect(sql).to_sql_error();
        assert_eq!((error.code.as_ref(), error.position), (code, position), "{sql}: {}", error.message);
    }
    assert_eq!(rows(&mut connection, "SELECT k, note FROM h"), ["1|a", "2|b"]);
}

fn lines(keys: std::ops::Range<i64>) -> String {
    keys.map(|k| format!("{k},value {}\n", k % 11)).collect()
}

/// A transaction's statements end row groups; the batches of an import do not.
#[test]
fn an_import_fills_row_groups() {
    let database = Database::memory(Options::default()).expect("opens");
    let mut connection = database.connect();
    connection.execute("CREATE TABLE t (k BIGINT, v TEXT) WITH (storage = 'column')", &[]).expect("creates");
    let text = format!("k,v\n{}", lines(0..100_000));
    assert_eq!(import(&mut connection, "t", &text, &CsvOptions::default()), Ok(100_000));
    let plan = rows(&mut connection, "EXPLAIN ANALYZE SELECT v FROM t WHERE k < 0").join("\n");
    assert!(plan.contains("2 of 2 row groups pruned"), "{plan}");
}

#[test]
fn statements_come_between_the_pieces_of_an_import() {
    for storage in ["hybrid", "row", "column"] {
        let database = Database::memory(Options::default()).expect("opens");
        let mut connection = database.connect();
        let create = format!("CREATE TABLE t (k BIGINT PRIMARY KEY, v TEXT) WITH (storage = '{storage}')");
        connection.execute(&create, &[]).expect("creates");
        let mut import = connection.import_csv("t", &CsvOptions::default()).expect("begins");
        let mut push = |connection: &mut Connection, text: &str| import.push(connection, text.as_bytes());
        push(&mut connection, &format!("k,v\n{}", lines(0..20_000))).expect("pushes");
        connection.execute("INSERT INTO t VALUES (-1, 'between')", &[]).expect("inserts");
        connection.execute("UPDATE t SET v = 'changed' WHERE k = 5", &[]).expect("updates");
        connection.execute("DELETE FROM t WHERE k = 6", &[]).expect("deletes");
        let twice = connection.execute("INSERT INTO t VALUES (-1, 'again')", &[]).err().expect("is there");
        assert_eq!(twice.to_sql_error().code, "23505");
        push(&mut connection, &lines(20_000..40_000)).expect("pushes");
        // Texts that fill a batch with few rows, while a row group is being filled.
        let long: String = (40_000..40_600).map(|k| format!("{k},{}\n", "x".repeat(20_000))).collect();
        push(&mut connection, &long).expect("pushes");
        push(&mut connection, &lines(40_600..60_000)).expect("pushes");
        assert_eq!(import.finish(&mut connection).expect("finishes"), 60_000, "{storage}");
        let found = rows(&mut connection, "SELECT count(*), count(DISTINCT k), sum(k), max(length(v)) FROM t");
        assert_eq!(found, ["60000|60000|1799969993|20000"], "{storage}");
        assert_eq!(rows(&mut connection, "SELECT v FROM t WHERE k IN (-1, 5, 6) ORDER BY k"), ["between", "changed"]);
        assert_eq!(rows(&mut connection, "PRAGMA integrity_check"), ["ok"], "{storage}");
    }
}
