//! Whole files that each version of the schema's records has written, compressed by LZ4: what
//! is stored in them, expressions above all, keeps its meaning. If this fails after a change
//! to what is stored, raise `RECORD_VERSION`, read the version before, and add a file beside these.
//! `GINGHAM_WRITE_GOLDEN=<path> cargo test -p gingham --test golden` writes one.

use gingham::{Connection, Database, Options, Value};
use gingham_row_store::MemoryVfs;
use std::sync::Arc;

static SCHEMA_2: &[u8] = include_bytes!("golden/schema-2.gingham.lz4");
static SCHEMA_3: &[u8] = include_bytes!("golden/schema-3.gingham.lz4");

/// What the file of version 2 was made by.
const SCRIPT: &[&str] = &[
    "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, opened DATE DEFAULT date '2001-02-03' + 4)",
    "CREATE TABLE sale (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, city INTEGER REFERENCES city, \
     price DECIMAL(10, 2) CHECK (price > 0 AND price < 1e6), pieces INTEGER DEFAULT 2 + 1, \
     total DECIMAL(20, 2) GENERATED ALWAYS AS (price * pieces) STORED, note TEXT DEFAULT upper('none'))",
    "CREATE INDEX sale_city ON sale (city, price DESC)",
    "CREATE INDEX sale_note ON sale (lower(note)) WHERE total > 10",
    "CREATE TABLE log (at TIMESTAMP, what TEXT, weight DOUBLE) WITH (storage = 'column')",
    "CREATE TABLE pair (a TEXT, b BIGINT, data BLOB, PRIMARY KEY (a, b)) WITH (storage = 'row')",
    "CREATE VIEW totals AS SELECT name, sum(total) AS total FROM sale JOIN city ON city.id = sale.city GROUP BY name",
    "INSERT INTO city (id, name) VALUES (1, 'Ghent'), (2, 'Lyon'), (3, 'Porto')",
    "INSERT INTO sale (city, price) SELECT 1 + i % 3, 1.25 * i FROM generate_series(1, 60) AS g(i)",
    "UPDATE sale SET note = 'Two words' WHERE id % 7 = 0",
    "INSERT INTO log SELECT at, 'event ' || day(at) % 5, hour(at) / 8.0 FROM \
     generate_series(timestamp '2020-01-01 00:00:00', timestamp '2020-01-13 11:00:00', interval '1' hour) AS g(at)",
    "INSERT INTO pair VALUES ('x', 1, '\\x00ff'), ('x', 2, NULL), ('y', -9, '\\x')",
    "DELETE FROM log WHERE weight = 2.0",
];

/// What version 3 has besides.
const SCRIPT_3: &[&str] = &[
    "CREATE TABLE visit (day DATE DEFAULT current_date, at TIMESTAMP DEFAULT now(), who TEXT) \
     WITH (storage = 'column', sort_by = 'who DESC, day')",
    "INSERT INTO visit VALUES (date '2024-05-01', timestamp '2024-05-01 10:00:00', 'ann')",
    "ALTER TABLE pair ADD COLUMN c INTEGER DEFAULT 6 NOT NULL CHECK (c % 2 = 0)",
];

/// Any time will do where only its being there is looked at.
fn options() -> Options {
    Options { wall_clock: Some(Arc::new(|| 1_700_000_000_000_000)), ..Options::default() }
}

fn open(vfs: &MemoryVfs) -> Database {
    Database::open_with(Arc::new(vfs.clone()), "golden", options()).expect("opens")
}

fn stored(compressed: &[u8]) -> MemoryVfs {
    let bytes = lz4_flex::decompress_size_prepended(compressed).expect("decompresses");
    let vfs = MemoryVfs::new();
    vfs.insert("golden", &bytes).expect("insert");
    vfs
}

fn rows(connection: &mut Connection, sql: &str) -> Vec<String> {
    let mut rows = connection.execute(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let line = |row: &Vec<Value>| row.iter().map(ToString::to_string).collect::<Vec<_>>().join("|");
    rows.collect_values().expect("reads").iter().map(line).collect()
}

fn refused(connection: &mut Connection, sql: &str) -> String {
    let error = connection.execute(sql, &[]).err().unwrap_or_else(|| panic!("{sql} is not refused"));
    error.to_sql_error().code.into_owned()
}

/// Everything of [`SCRIPT`] means what it meant, for `sales` rows.
fn holds(connection: &mut Connection, sales: usize) {
    assert_eq!(rows(connection, "PRAGMA integrity_check"), ["ok"]);
    assert_eq!(rows(connection, "SELECT count(*), max(id) FROM sale"), [format!("{sales}|{sales}")]);
    for route in ["row", "column", "auto"] {
        rows(connection, &format!("SET route = '{route}'"));
        assert_eq!(
            rows(connection, "SELECT name, total FROM totals ORDER BY name"),
            ["Ghent|2362.50", "Lyon|2212.50", "Porto|2287.50"]
        );
        assert_eq!(rows(connection, "SELECT count(*) FROM log WHERE what = 'event 3'"), ["58"]);
        assert_eq!(
            rows(connection, "SELECT a, b, data IS NULL FROM pair ORDER BY 1, 2"),
            ["x|1|false", "x|2|true", "y|-9|false"]
        );
    }
    assert_eq!(rows(connection, "SELECT id FROM city WHERE name = 'Lyon' AND opened = date '2001-02-07'"), ["2"]);
    let by_note = "SELECT count(*) FROM sale WHERE lower(note) = 'two words' AND total > 10";
    assert_eq!(rows(connection, by_note), ["8"]);
    assert!(rows(connection, &format!("EXPLAIN {by_note}")).iter().any(|line| line.contains("sale_note")));
    assert_eq!(refused(connection, "INSERT INTO sale (city, price) VALUES (1, -1)"), "23514");
    assert_eq!(refused(connection, "INSERT INTO sale (city, price) VALUES (1, 1e6)"), "23514");
    assert_eq!(refused(connection, "INSERT INTO sale (city, price) VALUES (9, 1)"), "23503");
    assert_eq!(refused(connection, "INSERT INTO city (id, name) VALUES (4, 'Lyon')"), "23505");
}

/// Takes changes, also of the schema, which writes its records anew, and holds after reopening.
fn lives_on(vfs: &MemoryVfs) {
    let database = open(vfs);
    let mut connection = database.connect();
    holds(&mut connection, 60);
    assert_eq!(
        rows(&mut connection, "INSERT INTO sale (city, price) VALUES (NULL, 2.50) RETURNING total, note"),
        ["7.50|NONE"]
    );
    let added = rows(&mut connection, "SELECT id > 60 FROM sale WHERE city IS NULL");
    assert_eq!(added, ["true"]);
    rows(&mut connection, "DELETE FROM sale WHERE city IS NULL");
    rows(&mut connection, "CREATE INDEX sale_total ON sale (total)");
    rows(&mut connection, "ALTER TABLE pair RENAME COLUMN data TO bytes");
    rows(&mut connection, "ALTER TABLE pair RENAME COLUMN bytes TO data");
    drop(connection);
    database.close().expect("closes");
    let database = open(vfs);
    holds(&mut database.connect(), 60);
}

#[test]
fn schema_2_is_read() {
    lives_on(&stored(SCHEMA_2));
}

#[test]
fn schema_3_is_read() {
    let vfs = stored(SCHEMA_3);
    lives_on(&vfs);
    let database = open(&vfs);
    let mut connection = database.connect();
    assert_eq!(
        rows(&mut connection, "INSERT INTO visit (who) VALUES ('bo') RETURNING day, at"),
        ["2023-11-14|2023-11-14 22:13:20"]
    );
    assert_eq!(rows(&mut connection, "SELECT who, day FROM visit ORDER BY who"), ["ann|2024-05-01", "bo|2023-11-14"]);
    rows(&mut connection, "CLUSTER visit");
    assert_eq!(rows(&mut connection, "SELECT c FROM pair"), ["6", "6", "6"]);
    assert_eq!(refused(&mut connection, "UPDATE pair SET c = 7"), "23514");
}

/// A new file by the same script lives as those do; where asked, it is kept as a fixture.
#[test]
fn a_new_file_is_read() {
    let vfs = MemoryVfs::new();
    let database = open(&vfs);
    let mut connection = database.connect();
    for sql in SCRIPT.iter().chain(SCRIPT_3) {
        rows(&mut connection, sql);
    }
    drop(connection);
    database.checkpoint().expect("checkpoint");
    database.close().expect("closes");
    let bytes = vfs.bytes("golden").expect("bytes");
    if let Some(path) = std::env::var_os("GINGHAM_WRITE_GOLDEN") {
        std::fs::write(path, lz4_flex::compress_prepend_size(&bytes)).expect("write");
    }
    lives_on(&vfs);
}
