//! Memory: what statements do when there is too little of it, and what stays of the file
//! that they spill to.

use gingham::vfs::MemoryVfs;
use gingham::{Connection, Database, OpenMode, Options, StoreError, StoreResult, Value, Vfs, VfsFile};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn options(memory_bytes_max: u64) -> Options {
    Options { memory_bytes_max, ..Options::default() }
}

/// A table of `rows` rows with a text that hardly repeats.
fn fill(database: &Database, rows: i64) {
    let mut connection = database.connect();
    connection.execute("CREATE TABLE t (k BIGINT, v TEXT) WITH (storage = 'column')", &[]).expect("creates");
    let numbers = "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 \
        UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)";
    let from: Vec<String> = ["a", "b", "c", "d", "e"].iter().map(|name| format!("{numbers} AS {name}")).collect();
    let number = "a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d";
    let sql = format!(
        "INSERT INTO t SELECT {number}, 'a text with the number ' || ({number}) FROM {} WHERE {number} < {rows}",
        from.join(", ")
    );
    assert_eq!(connection.execute(&sql, &[]).expect("inserts").changes(), rows as u64);
}

fn rows(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<Value>>, gingham::Error> {
    connection.execute(sql, &[])?.collect_values()
}

const QUERIES: [&str; 5] = [
    "SELECT v, k FROM t ORDER BY v DESC",
    "SELECT count(*), sum(n), min(v) FROM (SELECT v, count(*) AS n FROM t GROUP BY v) AS g",
    "SELECT count(DISTINCT v), count(DISTINCT k) FROM t",
    "SELECT count(*), sum(a.k) FROM t AS a JOIN t AS b ON a.v = b.v",
    "WITH c AS (SELECT DISTINCT v, k FROM t) SELECT count(*), min(x.v) FROM c AS x JOIN c AS y ON x.k = y.k",
];

#[test]
fn queries_give_the_same_in_a_hundredth_of_the_memory() {
    let (large, small) = (Database::memory(options(1 << 30)), Database::memory(options(2 << 20)));
    let (large, small) = (large.expect("opens"), small.expect("opens"));
    fill(&large, 60_000);
    fill(&small, 60_000);
    let loaded = small.temporary_bytes().0;
    for sql in QUERIES {
        let before = small.temporary_bytes().0;
        let found = rows(&mut small.connect(), sql).expect("runs");
        assert!(found == rows(&mut large.connect(), sql).expect("runs"), "{sql}");
        assert!(small.temporary_bytes().0 > before, "{sql} spills");
        assert_eq!(small.temporary_bytes().1, 0, "{sql} gives its space back");
    }
    assert!(loaded > 0, "INSERT … SELECT spills what it is to insert");
    assert_eq!(large.temporary_bytes(), (0, 0));
}

/// Functions that keep the values of a group.
const COLLECTING: [&str; 8] = [
    "SELECT k % 500, length(string_agg(v, ', ' ORDER BY k DESC)), min(v) FROM t GROUP BY k % 500 ORDER BY 1",
    "SELECT k % 20000, string_agg(v, '-' ORDER BY v) FROM t GROUP BY k % 20000 ORDER BY 1",
    "SELECT k / 4, string_agg(DISTINCT v, ';' ORDER BY v DESC) FROM t GROUP BY k / 4 ORDER BY 1",
    "SELECT median(k), quantile_disc(v, 0.3), mode(v), first(v ORDER BY k DESC), last(v ORDER BY v) FROM t",
    "SELECT k % 7, median(k), quantile_cont(k, 0.9), arg_max(v, k), count(*) FROM t GROUP BY k % 7 ORDER BY 1",
    "SELECT corr(k, k % 100), covar_samp(k, k % 11), any_value(v ORDER BY v) FROM t",
    "SELECT k % 3, mode(k / 9), count(DISTINCT v), median(DISTINCT k / 2) FROM t GROUP BY k % 3 ORDER BY 1",
    "SELECT count(DISTINCT k), median(k) FILTER (WHERE k > 100), sum(DISTINCT k % 50000) FROM t",
];

#[test]
fn functions_that_keep_values_give_the_same_in_little_memory() {
    same_in_little_memory(&COLLECTING);
}

/// Expressions over partitions of every size.
const WINDOWS: [&str; 24] = [
    "row_number() OVER (ORDER BY v)",
    "rank() OVER (ORDER BY k / 10)",
    "dense_rank() OVER (PARTITION BY k % 2 ORDER BY k / 3000 DESC)",
    "percent_rank() OVER (ORDER BY k / 7)",
    "cume_dist() OVER (ORDER BY k / 500)",
    "ntile(7) OVER (ORDER BY v)",
    "lag(v, 3000, 'none') OVER (ORDER BY k)",
    "lead(k, CAST(k % 3000 - 1000 AS INTEGER)) OVER (PARTITION BY k < 50000 ORDER BY k)",
    "first_value(v) OVER (ORDER BY k DESC)",
    "last_value(v) OVER (PARTITION BY k % 3 ORDER BY k / 20)",
    "last_value(k) OVER (ORDER BY k ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "nth_value(k, 3) OVER (ORDER BY k ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING)",
    "sum(k) OVER (ORDER BY k / 100)",
    "avg(k % 1000) OVER (ORDER BY v)",
    "sum(CAST(k AS DOUBLE) / 3) OVER (PARTITION BY CASE WHEN k < 40000 THEN -1 ELSE k / 3 END ORDER BY k)",
    "stddev_samp(CAST(k AS DOUBLE)) OVER (ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND 20 PRECEDING)",
    "min(v) FILTER (WHERE k % 3 = 0) OVER (ORDER BY k)",
    "max(v) OVER (ORDER BY k % 1000, k)",
    "count(*) OVER (ORDER BY k RANGE BETWEEN 700 PRECEDING AND 300 FOLLOWING)",
    "sum(k) OVER (ORDER BY k / 50 GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE TIES)",
    "max(k) OVER (ORDER BY CASE WHEN k % 60 > 0 THEN k END RANGE BETWEEN 9 PRECEDING AND CURRENT ROW)",
    "count(DISTINCT k % 9000) OVER ()",
    "median(k) OVER (PARTITION BY k % 2)",
    "sum(CAST(k AS DOUBLE) / 7) OVER (ORDER BY k ROWS BETWEEN 10 PRECEDING AND 10 FOLLOWING)",
];

#[test]
fn windows_give_the_same_in_little_memory() {
    let queries: Vec<String> = WINDOWS.iter().map(|call| format!("SELECT k, {call} FROM t ORDER BY k")).collect();
    same_in_little_memory(&queries.iter().map(String::as_str).collect::<Vec<&str>>());
}

fn same_in_little_memory(queries: &[&str]) {
    let (large, small) = (Database::memory(options(1 << 30)), Database::memory(options(2 << 20)));
    let (large, small) = (large.expect("opens"), small.expect("opens"));
    fill(&large, 60_000);
    fill(&small, 60_000);
    for sql in queries {
        let explained = rows(&mut small.connect(), &format!("EXPLAIN ANALYZE {sql}")).expect(sql);
        let plan: Vec<String> = explained.iter().map(|row| row[0].to_string()).collect();
        let keeps = |line: &&String| line.contains("Window") || line.contains("Aggregate");
        assert!(plan.iter().filter(keeps).any(|line| line.contains("spilled ")), "{sql}\n{}", plan.join("\n"));
        let found = rows(&mut small.connect(), sql).expect(sql);
        assert!(found == rows(&mut large.connect(), sql).expect("runs"), "{sql}");
        assert_eq!(small.temporary_bytes().1, 0, "{sql} gives its space back");
    }
    assert_eq!(large.temporary_bytes(), (0, 0));
}

#[test]
fn explain_analyze_tells_what_each_operator_held_spilled_and_read() {
    let database = Database::memory(options(2 << 20)).expect("opens");
    fill(&database, 60_000);
    let explain = |sql: &str| {
        let found = rows(&mut database.connect(), &format!("EXPLAIN ANALYZE {sql}")).expect("runs");
        found.iter().map(|row| row[0].to_string()).collect::<Vec<String>>().join("\n")
    };
    let plan = explain("SELECT v FROM t ORDER BY v LIMIT 5");
    assert!(plan.contains("memory ") && !plan.contains("spilled"), "{plan}");
    let plan = explain("SELECT v, k FROM t ORDER BY v");
    assert!(plan.contains("spilled ") && plan.contains("read ") && plan.contains("0 of 1 row groups pruned"), "{plan}");
    let plan = explain("SELECT v FROM t WHERE k > 1000000");
    assert!(plan.contains("1 of 1 row groups pruned"), "{plan}");
}

#[test]
fn results_inside_transactions_are_spilled() {
    let database = Database::memory(options(2 << 20)).expect("opens");
    fill(&database, 60_000);
    let mut connection = database.connect();
    connection.begin(false).expect("begins");
    let before = database.temporary_bytes().0;
    let mut result = connection.execute("SELECT v, k FROM t", &[]).expect("runs");
    connection.execute("DELETE FROM t WHERE k < 10", &[]).expect("deletes");
    assert!(database.temporary_bytes().0 > before);
    assert_eq!(result.collect_values().expect("reads").len(), 60_000);
}

#[test]
fn the_temporary_file_goes_with_the_database_and_crashes_leave_none() {
    let folder = std::env::temp_dir().join(format!("gingham-memory-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("makes a folder");
    let (path, temp) = (folder.join("spill.db"), folder.join("spill.db-temp"));
    std::fs::write(&temp, b"left by a crash").expect("writes");
    let database = Database::open(&path, options(2 << 20)).expect("opens");
    assert!(!temp.exists(), "opening removes what a crash left");
    fill(&database, 60_000);
    let mut connection = database.connect();
    let mut result = connection.execute(QUERIES[0], &[]).expect("runs");
    assert!(result.next_batch().expect("reads").is_some());
    assert!(database.temporary_bytes().1 > 0);
    drop((result, connection));
    database.close().expect("closes");
    assert!(!Path::new(&temp).exists());
    std::fs::remove_dir_all(&folder).expect("cleans up");
}

/// A file system in memory of which the temporary file can have only so many bytes.
/// Changes of so many rows that they are made in several turns; `n` is indexed, `u` unique.
const CHANGES: [&str; 11] = [
    "UPDATE t SET k = k + 1",
    "UPDATE t SET u = 36000 - u",
    "UPDATE t SET n = n + 1 WHERE n >= 100",
    "UPDATE t SET n = n + 1, u = u + 50000 WHERE n > 0",
    "UPDATE t SET k = 2 * k, v = v || '!' WHERE u % 3 > 0 AND k > 9000",
    "UPDATE t SET v = upper(v), b = NULL",
    "ALTER TABLE t ADD COLUMN z TEXT DEFAULT 'a text that every row gets'",
    "DELETE FROM t WHERE k % 2 = 0",
    "ALTER TABLE t DROP COLUMN b",
    "UPDATE t SET n = n - 1 WHERE EXISTS (SELECT 1 FROM t AS o WHERE o.u = t.n)",
    "DELETE FROM t",
];

const TABLES: [&str; 4] = [
    "CREATE TABLE t (k BIGINT, v TEXT, n INTEGER, u INTEGER, b DOUBLE) WITH (storage = 'column')",
    "CREATE TABLE t (k BIGINT PRIMARY KEY, v TEXT, n INTEGER, u INTEGER UNIQUE, b DOUBLE) WITH (storage = 'column')",
    "CREATE TABLE t (k BIGINT, v TEXT, n INTEGER, u INTEGER UNIQUE, b DOUBLE) WITH (storage = 'row')",
    "CREATE TABLE t (k BIGINT PRIMARY KEY, v TEXT NOT NULL, n INTEGER, u INTEGER UNIQUE, b DOUBLE, CHECK (u >= 0))",
];

#[test]
fn changes_of_many_rows_are_the_same_in_little_memory() {
    for (number, table) in TABLES.iter().enumerate() {
        let (large, small) = (Database::memory(options(1 << 30)), Database::memory(options(3 << 20)));
        let databases = [large.expect("opens"), small.expect("opens")];
        for database in &databases {
            let mut connection = database.connect();
            connection.execute(table, &[]).expect("creates");
            if number != 0 {
                connection.execute("CREATE INDEX t_n ON t (n)", &[]).expect("creates");
            }
            let fill = "INSERT INTO t SELECT i, 'a text with the number ' || i, i % 5000, i, i / 4.0 \
                FROM generate_series(1, 36000) AS g(i)";
            connection.execute(fill, &[]).expect("inserts");
        }
        for sql in CHANGES {
            let spilled = databases[1].temporary_bytes().0;
            let mut found = databases.iter().map(|database| {
                let mut connection = database.connect();
                let changes = connection.execute(sql, &[]).unwrap_or_else(|e| panic!("{table}: {sql}: {e}")).changes();
                assert_eq!(
                    rows(&mut connection, "PRAGMA integrity_check").expect("runs"),
                    [[Value::Text("ok".into())]]
                );
                (changes, rows(&mut connection, "SELECT * FROM t ORDER BY k").expect("runs"))
            });
            let (large, small) = (found.next(), found.next());
            assert!(large == small, "{table}: {sql}");
            if sql.contains("ADD COLUMN") {
                assert!(databases[1].temporary_bytes().0 > spilled, "{table}: {sql} spills");
            }
        }
    }
}

/// So many bytes of entries that an index is built in two parts.
#[test]
fn an_index_of_many_bytes_is_built_in_parts() {
    for storage in ["column", "row"] {
        let database = Database::memory(options(64 << 20)).expect("opens");
        let mut connection = database.connect();
        let mut run = |sql: &str| rows(&mut connection, sql);
        run(&format!("CREATE TABLE t (k INTEGER, v TEXT) WITH (storage = '{storage}')")).expect("creates");
        run("INSERT INTO t SELECT i, CAST(i * 7919 % 40000 AS TEXT) || repeat('v', 900) FROM generate_series(1, 40000) AS g(i)")
            .expect("inserts");
        run("CREATE UNIQUE INDEX t_v ON t (v)").expect("every value is there once");
        assert_eq!(run("PRAGMA integrity_check").expect("runs"), [[Value::Text("ok".into())]]);
        let found = run("SELECT k FROM t WHERE v = '7919' || repeat('v', 900)").expect("runs");
        assert_eq!(found, [[Value::Int(1)]], "{storage}");
        run("DROP INDEX t_v").expect("drops");
        run("UPDATE t SET v = (SELECT o.v FROM t AS o WHERE o.k = 2) WHERE k = 39990").expect("updates");
        let error = run("CREATE UNIQUE INDEX t_v ON t (v)").expect_err("one value is there twice").to_sql_error();
        assert_eq!(error.code, "23505", "{storage}");
        run("CREATE INDEX t_v ON t (v)").expect("creates");
        assert_eq!(run("PRAGMA integrity_check").expect("runs"), [[Value::Text("ok".into())]]);
    }
}

#[test]
fn row_groups_without_rows_give_their_space_back() {
    let vfs = MemoryVfs::new();
    let database = Database::open_with(Arc::new(vfs.clone()), "dead.db", options(64 << 20)).expect("opens");
    fill(&database, 60_000);
    let mut connection = database.connect();
    let bytes = || {
        database.checkpoint().expect("checkpoint");
        database.checkpoint().expect("checkpoint");
        vfs.bytes("dead.db").expect("bytes").len()
    };
    let full = bytes();
    for round in 0..5 {
        let changes = connection.execute("UPDATE t SET k = k + 1", &[]).expect("updates").changes();
        assert_eq!((round, changes), (round, 60_000));
    }
    assert!(bytes() < 3 * full, "{} bytes of {full} after five updates of every row", bytes());
    connection.execute("DELETE FROM t", &[]).expect("deletes");
    assert!(bytes() < full, "{} bytes of {full} without a row", bytes());
    assert_eq!(rows(&mut connection, "PRAGMA integrity_check").expect("runs"), [[Value::Text("ok".into())]]);
    connection.execute("INSERT INTO t VALUES (1, 'one')", &[]).expect("inserts");
    assert_eq!(rows(&mut connection, "SELECT * FROM t").expect("reads").len(), 1);
}

struct SmallVfs(MemoryVfs, Arc<AtomicU64>);
struct SmallFile(Box<dyn VfsFile>, Option<Arc<AtomicU64>>);

impl Vfs for SmallVfs {
    fn open(&self, name: &str, mode: OpenMode) -> StoreResult<Box<dyn VfsFile>> {
        Ok(Box::new(SmallFile(self.0.open(name, mode)?, name.ends_with("-temp").then(|| Arc::clone(&self.1)))))
    }
    fn delete(&self, name: &str) -> StoreResult<()> {
        self.0.delete(name)
    }
    fn exists(&self, name: &str) -> StoreResult<bool> {
        self.0.exists(name)
    }
}

impl VfsFile for SmallFile {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> StoreResult<()> {
        self.0.read_at(offset, buffer)
    }
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> StoreResult<()> {
        let is_full = self.1.as_ref().is_some_and(|room| offset + bytes.len() as u64 > room.load(Ordering::Relaxed));
        if is_full { Err(StoreError::Full) } else { self.0.write_at(offset, bytes) }
    }
    fn len(&mut self) -> StoreResult<u64> {
        self.0.len()
    }
    fn set_len(&mut self, bytes: u64) -> StoreResult<()> {
        self.0.set_len(bytes)
    }
    fn sync(&mut self) -> StoreResult<()> {
        self.0.sync()
    }
    fn close(&mut self) -> StoreResult<()> {
        self.0.close()
    }
}

#[test]
fn no_room_to_spill_is_an_error_that_passes() {
    let room = Arc::new(AtomicU64::new(u64::MAX));
    let vfs = SmallVfs(MemoryVfs::new(), Arc::clone(&room));
    let database = Database::open_with(Arc::new(vfs), "small.db", options(2 << 20)).expect("opens");
    fill(&database, 60_000);
    room.store(100_000, Ordering::Relaxed);
    let mut connection = database.connect();
    for sql in QUERIES {
        let error = rows(&mut connection, sql).expect_err("the quota is full").to_sql_error();
        assert_eq!((error.code.as_ref(), database.temporary_bytes().1), ("53100", 0), "{sql}");
    }
    let error = connection.execute("CREATE TABLE u AS SELECT * FROM t", &[]).err().expect("full").to_sql_error();
    assert_eq!(error.code, "53100");
    assert_eq!(rows(&mut connection, "SELECT count(*) FROM t").expect("runs"), [[Value::Int(60_000)]]);
    connection.execute("INSERT INTO t VALUES (1, 'one')", &[]).expect("inserts");
    room.store(u64::MAX, Ordering::Relaxed);
    assert_eq!(rows(&mut connection, QUERIES[0]).expect("runs").len(), 60_001);
    assert_eq!(rows(&mut connection, "PRAGMA integrity_check").expect("runs"), [[Value::Text("ok".into())]]);
}
