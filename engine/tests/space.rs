//! Space and proportion: VACUUM, pages used again, and rows of column tables found by key
//! without reading their whole groups.

use gingham::vfs::fault::{Fate, Fault, FaultVfs};
use gingham::{Connection, Database, MemoryVfs, OpenMode, Options, StoreResult, Value, Vfs, VfsFile};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const NAME: &str = "database";

fn run(connection: &mut Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut rows = connection.execute(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.collect_values().unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn numbers(connection: &mut Connection) {
    run(connection, "CREATE TABLE d (d INTEGER)");
    run(connection, "INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)");
    run(connection, "CREATE VIEW n AS SELECT a.d * 1000 + b.d * 100 + c.d * 10 + d.d AS n FROM d a, d b, d c, d d");
}

/// A row, a hybrid (with a copy) and a column table of 10 000 rows with indexes.
fn fill(connection: &mut Connection) {
    numbers(connection);
    for (name, storage) in [("r", "row"), ("h", "hybrid"), ("c", "column")] {
        run(connection, &format!("CREATE TABLE {name} (k INTEGER PRIMARY KEY, v TEXT) WITH (storage = '{storage}')"));
        run(connection, &format!("CREATE INDEX {name}_v ON {name} (v)"));
        run(connection, &format!("INSERT INTO {name} SELECT n, 'some text to fill pages with ' || n FROM n"));
    }
    run(connection, "SET route = 'column'");
    run(connection, "SELECT count(v) FROM h");
    run(connection, "SET route = 'auto'");
}

fn fingerprint(connection: &mut Connection) -> String {
    let mut text = String::new();
    for route in ["row", "column"] {
        run(connection, &format!("SET route = '{route}'"));
        for table in ["r", "h", "c"] {
            text += &format!("{:?}", run(connection, &format!("SELECT count(*), sum(k), min(v), max(v) FROM {table}")));
            text += &format!("{:?}", run(connection, &format!("SELECT k FROM {table} WHERE v LIKE '%with 77%'")));
        }
    }
    run(connection, "SET route = 'auto'");
    text
}

#[test]
fn vacuum_makes_the_file_small_and_changes_nothing() {
    let vfs = MemoryVfs::new();
    let database = Database::open_with(Arc::new(vfs.clone()), NAME, Options::default()).expect("opens");
    let mut connection = database.connect();
    fill(&mut connection);
    for table in ["r", "h", "c"] {
        run(&mut connection, &format!("DELETE FROM {table} WHERE k >= 800"));
    }
    run(&mut connection, "SET route = 'column'");
    run(&mut connection, "SELECT count(v) FROM h");
    let before = fingerprint(&mut connection);
    database.checkpoint().expect("checkpoints");
    let large = vfs.bytes(NAME).expect("bytes").len();
    run(&mut connection, "VACUUM");
    let small = vfs.bytes(NAME).expect("bytes").len();
    assert!(small < large * 3 / 4, "{large} bytes before, {small} after");
    let statistics = database.statistics();
    assert!(statistics.free_pages * 50 <= statistics.pages, "{statistics:?}");
    assert_eq!(fingerprint(&mut connection), before);
    assert_eq!(run(&mut connection, "PRAGMA integrity_check"), [[Value::Text("ok".into())]]);
    // Once more there is nothing to gain.
    run(&mut connection, "VACUUM");
    assert!(vfs.bytes(NAME).expect("bytes").len() <= small);
    drop(connection);
    database.close().expect("closes");
    let database = Database::open_with(Arc::new(vfs), NAME, Options::default()).expect("opens");
    let mut connection = database.connect();
    assert_eq!(fingerprint(&mut connection), before);
    assert_eq!(run(&mut connection, "PRAGMA integrity_check"), [[Value::Text("ok".into())]]);
}

#[test]
fn vacuum_is_refused_in_a_transaction_and_works_in_memory() {
    let mut connection = Database::memory(Options::default()).expect("opens").connect();
    fill(&mut connection);
    run(&mut connection, "BEGIN");
    let error = connection.execute("VACUUM", &[]).err().expect("refused").to_sql_error();
    assert_eq!(error.code, "25001");
    run(&mut connection, "ROLLBACK");
    let before = fingerprint(&mut connection);
    run(&mut connection, "VACUUM");
    assert_eq!(fingerprint(&mut connection), before);
    assert_eq!(run(&mut connection, "PRAGMA integrity_check"), [[Value::Text("ok".into())]]);
    let error = connection.execute("VACUUM r", &[]).err().expect("refused").to_sql_error();
    assert_eq!((error.code.as_ref(), error.position), ("0A000", Some((1, 8))));
}

#[test]
fn vacuum_cut_anywhere_leaves_everything() {
    let prepared = FaultVfs::new();
    let open = |vfs: &FaultVfs| Database::open_with(Arc::new(vfs.clone()), NAME, Options::default()).expect("opens");
    let database = open(&prepared);
    let mut connection = database.connect();
    fill(&mut connection);
    run(&mut connection, "DELETE FROM h WHERE k % 3 <> 0");
    let before = fingerprint(&mut connection);
    drop(connection);
    database.close().expect("closes");
    let mut operation = 0;
    loop {
        let vfs = prepared.fork();
        vfs.kill_process();
        let database = open(&vfs);
        vfs.inject(operation, Fault::Crash);
        let finished = database.connect().execute("VACUUM", &[]).is_ok();
        drop(database);
        vfs.lose_power(|number, _| if number % 2 == 0 { Fate::Drop } else { Fate::Keep });
        let database = open(&vfs);
        let mut connection = database.connect();
        assert_eq!(fingerprint(&mut connection), before, "cut at operation {operation}");
        let sound = run(&mut connection, "PRAGMA integrity_check");
        assert_eq!(sound, [[Value::Text("ok".into())]], "cut at operation {operation}");
        if finished {
            break;
        }
        // Early operations read; all are tried near the end, where it is decided.
        operation += 1 + operation / 20;
    }
    assert!(operation > 20, "{operation}");
}

#[test]
fn rows_deleted_and_inserted_again_do_not_grow_the_file() {
    let vfs = MemoryVfs::new();
    let database = Database::open_with(Arc::new(vfs), NAME, Options::default()).expect("opens");
    let mut connection = database.connect();
    fill(&mut connection);
    let mut pages = Vec::new();
    for _ in 0..8 {
        for table in ["r", "h", "c"] {
            run(&mut connection, &format!("DELETE FROM {table} WHERE k >= 1000"));
            run(
                &mut connection,
                &format!("INSERT INTO {table} SELECT n, 'some text to fill ' || n FROM n WHERE n >= 1000"),
            );
        }
        run(&mut connection, "SET route = 'column'");
        run(&mut connection, "SELECT count(v) FROM h");
        run(&mut connection, "SET route = 'auto'");
        database.checkpoint().expect("checkpoints");
        let statistics = database.statistics();
        pages.push(statistics.pages - statistics.free_pages);
    }
    // The groups of a column table keep their deleted rows; nothing else may grow.
    assert!(pages[7] < pages[1] * 3, "{pages:?}");
    assert_eq!(run(&mut connection, "PRAGMA integrity_check"), [[Value::Text("ok".into())]]);
}

#[test]
fn rows_of_a_column_table_are_found_without_reading_their_group_again() {
    let vfs = CountingVfs::default();
    let read = Arc::clone(&vfs.read);
    let database = Database::open_with(Arc::new(vfs), NAME, Options::default()).expect("opens");
    let mut connection = database.connect();
    numbers(&mut connection);
    run(&mut connection, "CREATE TABLE c (k INTEGER PRIMARY KEY, v TEXT, w BIGINT) WITH (storage = 'column')");
    run(&mut connection, "INSERT INTO c SELECT n, 'text ' || n, n FROM n");
    let mut update = connection.prepare("UPDATE c SET w = w + 1 WHERE k = ?").expect("prepares");
    // The first one reads the chunks there are.
    connection.run(&mut update, &[Value::Int(5)]).expect("updates");
    let before = read.load(Ordering::Relaxed);
    for k in 100..150 {
        assert_eq!(connection.run(&mut update, &[Value::Int(k)]).expect("updates").changes(), 1);
    }
    let bytes = read.load(Ordering::Relaxed) - before;
    assert!(bytes < 50 * 8192, "{bytes} bytes read for 50 updates");
    assert_eq!(run(&mut connection, "SELECT w FROM c WHERE k = 120"), [[Value::Int(121)]]);
    assert_eq!(run(&mut connection, "SELECT count(*), sum(w) FROM c"), [[Value::Int(10_000), decimal(49_995_051)]]);
    run(&mut connection, "DELETE FROM c WHERE k BETWEEN 140 AND 160");
    assert_eq!(run(&mut connection, "SELECT count(*) FROM c"), [[Value::Int(9979)]]);
    assert_eq!(run(&mut connection, "PRAGMA integrity_check"), [[Value::Text("ok".into())]]);
}

/// Files in memory that count the bytes read.
#[derive(Default)]
struct CountingVfs {
    inner: MemoryVfs,
    read: Arc<AtomicU64>,
}

struct CountingFile {
    inner: Box<dyn VfsFile>,
    read: Arc<AtomicU64>,
}

impl Vfs for CountingVfs {
    fn open(&self, name: &str, mode: OpenMode) -> StoreResult<Box<dyn VfsFile>> {
        Ok(Box::new(CountingFile { inner: self.inner.open(name, mode)?, read: Arc::clone(&self.read) }))
    }

    fn delete(&self, name: &str) -> StoreResult<()> {
        self.inner.delete(name)
    }

    fn exists(&self, name: &str) -> StoreResult<bool> {
        self.inner.exists(name)
    }
}

impl VfsFile for CountingFile {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> StoreResult<()> {
        self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.inner.read_at(offset, buffer)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> StoreResult<()> {
        self.inner.write_at(offset, bytes)
    }

    fn len(&mut self) -> StoreResult<u64> {
        self.inner.len()
    }

    fn set_len(&mut self, bytes: u64) -> StoreResult<()> {
        self.inner.set_len(bytes)
    }

    fn sync(&mut self) -> StoreResult<()> {
        self.inner.sync()
    }

    fn close(&mut self) -> StoreResult<()> {
        self.inner.close()
    }
}

/// The sum of BIGINT is a DECIMAL.
fn decimal(value: i128) -> Value {
    Value::Decimal { unscaled: value, scale: 0 }
}

#[test]
fn long_values_are_kept_and_longer_ones_refused() {
    let mut connection = Database::memory(Options::default()).expect("opens").connect();
    run(&mut connection, "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT) WITH (storage = 'row')");
    run(&mut connection, "INSERT INTO t VALUES (1, repeat('long ', 2000000))");
    assert_eq!(run(&mut connection, "SELECT length(v) FROM t WHERE k = 1"), [[Value::Int(10_000_000)]]);
    run(&mut connection, "UPDATE t SET v = v || 'er' WHERE k = 1");
    assert_eq!(run(&mut connection, "SELECT right(v, 7) FROM t"), [[Value::Text("long er".into())]]);
    let error = connection.execute("INSERT INTO t VALUES (2, repeat('x', 1100000000))", &[]).err();
    let error = error.expect("refused").to_sql_error();
    assert_eq!(error.code, "54000", "{error}");
    assert_eq!(run(&mut connection, "SELECT count(*) FROM t"), [[Value::Int(1)]]);
    assert_eq!(run(&mut connection, "PRAGMA integrity_check"), [[Value::Text("ok".into())]]);
}
