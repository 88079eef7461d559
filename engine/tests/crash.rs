//! Power is cut at every operation of a SQL workload that changes the schema, rows,
//! indexes, row groups and the columnar copy; the database must come back whole, with a
//! state that some commit left and no acknowledged one missing.
//!
//! The row store proves its own pages and log (`row-store/tests/crash.rs`); this proves
//! that what the engine builds from them is one commit too.

use gingham::vfs::fault::{Fate, Fault, FaultVfs};
use gingham::{Connection, Database, Options, Value};
use std::sync::Arc;

/// Each step is one commit.
const STEPS: [&str; 19] = [
    "CREATE TABLE t (k INTEGER PRIMARY KEY, g INTEGER, v TEXT)",
    "CREATE INDEX t_g ON t (g)",
    "INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 1, 'c')",
    "CREATE TABLE c (id INTEGER, x INTEGER) WITH (storage = 'column')",
    "INSERT INTO t SELECT a.n * 64 + b.n + 10, b.n, 'many' FROM n64 a, n64 b",
    "COPY",
    "UPDATE t SET g = 77 WHERE k BETWEEN 100 AND 120",
    "DELETE FROM t WHERE k BETWEEN 110 AND 112",
    "INSERT INTO c SELECT k, g FROM t",
    "COPY",
    "DELETE FROM c WHERE id < 50",
    "CHECKPOINT",
    "INSERT INTO t VALUES (9000, 9, 'after')",
    "CREATE TABLE o (id INTEGER PRIMARY KEY AUTOINCREMENT, k INTEGER REFERENCES t ON DELETE CASCADE ON UPDATE CASCADE, \
     n INTEGER CHECK (n > 0), twice INTEGER GENERATED ALWAYS AS (n * 2) STORED UNIQUE)",
    "INSERT INTO o (k, n) VALUES (1, 5), (2, 6), (2, 7), (3, 8)",
    "DELETE FROM t WHERE k = 2",
    "UPDATE t SET k = -k WHERE k < 4",
    "INSERT INTO o (k, n) SELECT k, n + 1000 FROM o",
    "DROP TABLE c",
];

/// What a reader can tell of the database: rows and sums of all tables on both routes.
fn fingerprint(connection: &mut Connection) -> String {
    let mut text = String::new();
    for route in ["row", "column"] {
        for sql in [
            "SELECT count(*), sum(k), sum(g), min(v), max(v) FROM t",
            "SELECT count(*) FROM t WHERE g = 77",
            "SELECT count(*), sum(id), sum(x) FROM c",
            "SELECT count(*), sum(id), max(id), sum(k), sum(n), sum(twice) FROM o",
        ] {
            let rows = connection
                .execute(&format!("SET route = '{route}'"), &[])
                .and_then(|_| connection.execute(sql, &[]))
                .and_then(|mut rows| rows.collect_values());
            match rows {
                Ok(rows) => text += &format!("{rows:?};"),
                Err(error) if error.to_sql_error().code == "42P01" => text += "none;",
                Err(error) => panic!("{sql} on route {route}: {error}"),
            }
        }
    }
    text
}

fn run_step(connection: &mut Connection, step: &str) -> gingham::Result<()> {
    match step {
        // Reading with the column route forced brings the copy up to date: a commit that
        // changes nothing a reader can tell.
        "COPY" => {
            connection.execute("SET route = 'column'", &[])?;
            connection.execute("SELECT sum(g) FROM t", &[])?.collect_values()?;
            connection.execute("SET route = 'auto'", &[])?;
        }
        sql => {
            let numbers: Vec<String> = (0..64).map(|n| format!("({n})")).collect();
            let values = format!("(VALUES {}) ", numbers.join(","));
            let sql = sql.replace("n64 a", &format!("{values} a(n)")).replace("n64 b", &format!("{values} b(n)"));
            connection.execute(&sql, &[])?;
        }
    }
    Ok(())
}

fn open(vfs: &FaultVfs) -> gingham::Result<Database> {
    Database::open_with(Arc::new(vfs.clone()), "crash.db", Options::default())
}

/// Runs the workload until it fails; how many steps were acknowledged.
fn run(vfs: &FaultVfs) -> usize {
    let Ok(database) = open(vfs) else { return 0 };
    let mut connection = database.connect();
    STEPS.iter().take_while(|step| run_step(&mut connection, step).is_ok()).count()
}

#[test]
fn power_loss_anywhere_leaves_a_committed_state() {
    // The states after each step, from a run without faults.
    let calm = FaultVfs::new();
    let database = open(&calm).expect("opens");
    let mut connection = database.connect();
    let mut states = vec![fingerprint(&mut connection)];
    for step in STEPS {
        run_step(&mut connection, step).unwrap_or_else(|e| panic!("{step}: {e}"));
        states.push(fingerprint(&mut connection));
        connection.execute("SET route = 'auto'", &[]).expect("sets");
    }
    drop((connection, database));

    let measured = FaultVfs::new();
    assert_eq!(run(&measured), STEPS.len());
    let operations = measured.operations();
    assert!(operations > 40, "the workload writes: {operations}");
    for at in 0..operations {
        let crashed = FaultVfs::new();
        crashed.inject(at, Fault::Crash);
        let acknowledged = run(&crashed);
        for fate in 0..4 {
            let disk = crashed.fork();
            disk.lose_power(|index, change| match (fate, change) {
                (0, _) => Fate::Keep,
                (1, _) => Fate::Drop,
                (2, _) if index % 2 == 0 => Fate::Drop,
                (2, _) => Fate::Keep,
                _ => Fate::Prefix(700),
            });
            let what =
                format!("crash at operation {at} of {operations}, fate {fate}, {acknowledged} steps acknowledged");
            let database = open(&disk).unwrap_or_else(|e| panic!("{what}: {e}"));
            let report = database.integrity_check().unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(report.is_sound(), "{what}: {:?}", report.problems);
            let found = fingerprint(&mut database.connect());
            assert!(states[acknowledged..].contains(&found), "{what}: found {found}");
            let mut connection = database.connect();
            let is_usable = connection.execute("CREATE TABLE usable (a INTEGER)", &[]);
            is_usable.unwrap_or_else(|e| panic!("{what}: cannot write afterwards: {e}"));
        }
    }
}

#[test]
fn a_full_device_fails_the_statement_and_keeps_the_rest() {
    let measured = FaultVfs::new();
    run(&measured);
    for at in (0..measured.operations()).step_by(3) {
        let vfs = FaultVfs::new();
        vfs.inject(at, Fault::FullForever);
        let acknowledged = run(&vfs);
        vfs.kill_process();
        let database = open(&vfs).unwrap_or_else(|e| panic!("full at {at}: {e}"));
        let report = database.integrity_check().expect("checks");
        assert!(report.is_sound(), "full at {at}: {:?}", report.problems);
        if acknowledged >= 3 {
            let rows = database
                .connect()
                .execute("SELECT count(*) FROM t", &[])
                .and_then(|mut r| r.collect_values())
                .unwrap_or_else(|e| panic!("full at {at}: {e}"));
            assert!(matches!(rows[0][0], Value::Int(n) if n >= 3), "full at {at}: {rows:?}");
        }
    }
}

#[test]
fn flipped_bits_give_an_error_or_the_right_answer() {
    let vfs = FaultVfs::new();
    {
        let database = open(&vfs).expect("opens");
        let mut connection = database.connect();
        for step in &STEPS[..STEPS.len() - 1] {
            run_step(&mut connection, step).unwrap_or_else(|e| panic!("{step}: {e}"));
        }
        drop(connection);
        database.close().expect("closes");
    }
    vfs.kill_process();
    let right = fingerprint(&mut open(&vfs).expect("opens").connect());
    vfs.kill_process();
    let bytes = vfs.bytes("crash.db");
    let mut errors = 0;
    // Every 997th byte, a different bit each time: every page kind many times over.
    for (number, at) in (0..bytes.len()).step_by(997).enumerate() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (number % 8);
        let disk = vfs.fork();
        disk.set_bytes("crash.db", &damaged);
        let Ok(database) = open(&disk) else {
            errors += 1;
            continue;
        };
        let mut connection = database.connect();
        for route in ["row", "column"] {
            if connection.execute(&format!("SET route = '{route}'"), &[]).is_err() {
                errors += 1;
                continue;
            }
            for sql in
                ["SELECT count(*), sum(k), sum(g), min(v), max(v) FROM t", "SELECT count(*), sum(id), sum(x) FROM c"]
            {
                match connection.execute(sql, &[]).and_then(|mut rows| rows.collect_values()) {
                    Ok(rows) => assert!(right.contains(&format!("{rows:?};")), "byte {at}: {sql} gave {rows:?}"),
                    Err(error) => {
                        let code = error.to_sql_error().code;
                        assert!(code.starts_with("XX") || code == "42P01", "byte {at}: {sql}: {error}");
                        assert_ne!(code, "42P01", "byte {at}: a table is gone");
                        errors += 1;
                    }
                }
            }
        }
    }
    assert!(errors > 0, "damage was never met");
}
