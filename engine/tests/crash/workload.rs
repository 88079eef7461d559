//! The SQL workload that is cut: small, but everything that the engine does to a file is
//! in it.

use crate::content::{Content, NAME, execute, open, read_content};
use gingham::vfs::fault::FaultVfs;
use gingham::{Connection, Database, Error};

/// The tables that steps make.
pub(crate) const TABLES: [&str; 5] = ["t", "c", "big", "made", "o"];

/// One step is at most one commit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// One statement, acknowledged when it is durable.
    Strict(&'static str),
    /// One statement, acknowledged before it is durable.
    Relaxed(&'static str),
    /// Several statements, one commit.
    Together(&'static [&'static str]),
    /// A query on the column route, which brings the columnar copy up to date: a commit
    /// that changes nothing a reader can tell.
    Refresh,
    /// Relaxed commits become durable.
    Flush,
    /// The connection and the database go away without a checkpoint and come back.
    Reopen,
    /// The database is closed, with a checkpoint, and opened again.
    Close,
}

use Step::{Close, Flush, Refresh, Relaxed, Reopen, Strict, Together};

/// In this order: the first commit, an index, growth, overflow chains, row groups, the
/// columnar copy, relaxed commits, savepoints, a checkpoint, a transaction that is too
/// large for the log, epochs that end because the log is full, a file that shrinks,
/// constraints that change other tables' rows.
pub(crate) const STEPS: [Step; 40] = [
    Strict("CREATE TABLE t (k INTEGER PRIMARY KEY, g INTEGER, v TEXT)"),
    Strict("CREATE INDEX t_g ON t (g)"),
    Strict("INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 1, NULL)"),
    Strict("INSERT INTO t VALUES (5, 5, repeat('long', 6000))"),
    Strict("CREATE TABLE c (id INTEGER, x INTEGER) WITH (storage = 'column')"),
    Strict("INSERT INTO t SELECT a.n * 64 + b.n + 10, b.n, 'many' FROM n64 a, n64 b"),
    Refresh,
    Strict("UPDATE t SET g = 77 WHERE k BETWEEN 100 AND 120"),
    Strict("DELETE FROM t WHERE k BETWEEN 110 AND 112"),
    Strict("INSERT INTO c SELECT k, g FROM t"),
    Relaxed("INSERT INTO t VALUES (7001, 9, 'relaxed')"),
    Relaxed("UPDATE t SET v = 'relaxed too' WHERE k = 7001"),
    Relaxed("DELETE FROM c WHERE id = 60"),
    Flush,
    Relaxed("INSERT INTO t VALUES (7002, 9, 'taken along')"),
    Refresh,
    Together(&[
        "INSERT INTO t VALUES (7003, 9, 'one')",
        "SAVEPOINT s",
        "DELETE FROM t WHERE k > 100",
        "DROP TABLE c",
        "ROLLBACK TO s",
        "INSERT INTO c VALUES (7003, 9)",
        "CREATE TABLE made (n BIGINT, b BLOB)",
        "INSERT INTO made VALUES (1, '\\x00ff')",
    ]),
    Strict("UPDATE t SET v = repeat('longer', 3000) WHERE k = 5"),
    Strict("DELETE FROM c WHERE id < 50"),
    Strict("CHECKPOINT"),
    Strict("INSERT INTO t VALUES (9000, 9, 'after')"),
    Strict("CREATE TABLE big (k INTEGER PRIMARY KEY, v TEXT) WITH (storage = 'row')"),
    Strict("INSERT INTO big SELECT a.n * 64 + b.n, repeat('x', 300) FROM n64 a, n64 b"),
    Strict("UPDATE big SET v = repeat('y', 300) WHERE k < 1200"),
    Strict("UPDATE big SET v = repeat('z', 299) WHERE k < 1300"),
    Strict("UPDATE big SET v = repeat('w', 298) WHERE k < 1400"),
    Reopen,
    Strict("DELETE FROM t WHERE g = 9"),
    Refresh,
    Strict("DROP TABLE big"),
    Strict("CHECKPOINT"),
    Close,
    Strict("INSERT OR REPLACE INTO t VALUES (1, 8, 'replaced'), (4, 8, 'new')"),
    Strict(
        "CREATE TABLE o (id INTEGER PRIMARY KEY AUTOINCREMENT, k INTEGER REFERENCES t ON DELETE CASCADE ON UPDATE CASCADE, \
         n INTEGER CHECK (n > 0), twice INTEGER GENERATED ALWAYS AS (n * 2) STORED UNIQUE)",
    ),
    Strict("INSERT INTO o (k, n) VALUES (1, 5), (2, 6), (2, 7), (3, 8)"),
    Strict("DELETE FROM t WHERE k = 2"),
    Strict("UPDATE t SET k = -k WHERE k < 4"),
    Strict("INSERT INTO o (k, n) SELECT k, n + 1000 FROM o"),
    Strict("DROP TABLE c"),
    Relaxed("DELETE FROM made"),
];

/// An open database that steps are run on.
pub(crate) struct Session {
    vfs: FaultVfs,
    database: Option<Database>,
}

impl Session {
    pub(crate) fn open(vfs: &FaultVfs) -> gingham::Result<Self> {
        Ok(Self { vfs: vfs.clone(), database: Some(open(vfs)?) })
    }

    pub(crate) fn database(&self) -> &Database {
        self.database.as_ref().expect("open unless reopening failed")
    }

    /// Runs one step. After an error that leaves the database usable so is the session.
    pub(crate) fn run(&mut self, step: Step) -> gingham::Result<()> {
        if self.database.is_none() {
            // What a reopening that failed needs first.
            self.database = Some(open(&self.vfs)?);
        }
        let mut connection = self.database().connect();
        match step {
            Strict(sql) => statement(&mut connection, sql),
            Relaxed(sql) => {
                execute(&mut connection, "SET durability = 'relaxed'")?;
                statement(&mut connection, sql)
            }
            Together(statements) => {
                connection.begin(false)?;
                statements.iter().try_for_each(|sql| statement(&mut connection, sql))?;
                connection.commit()
            }
            Refresh => {
                execute(&mut connection, "SET route = 'column'")?;
                execute(&mut connection, "SELECT sum(g) FROM t")
            }
            Flush => self.database().flush(),
            Reopen | Close => {
                drop(connection);
                let database = self.database.take().expect("open");
                let closed = if matches!(step, Close) { database.clone().close() } else { database.flush() };
                drop(database);
                closed?;
                self.database = Some(open(&self.vfs)?);
                Ok(())
            }
        }
    }
}

fn statement(connection: &mut Connection, sql: &str) -> gingham::Result<()> {
    if !sql.contains("n64") {
        return execute(connection, sql);
    }
    let numbers: Vec<String> = (0..64).map(|n| format!("({n})")).collect();
    let values = format!("(VALUES {})", numbers.join(","));
    let sql = sql.replace("n64 a", &format!("{values} a(n)")).replace("n64 b", &format!("{values} b(n)"));
    execute(connection, &sql)
}

/// A run without faults: the states it went through, and at each operation of the disk
/// what a crash there leaves and which states it may leave.
pub(crate) struct Recording {
    /// The state before any step and after each.
    pub(crate) states: Vec<Content>,
    /// In order; the step during which each operation happened.
    pub(crate) history: Vec<(usize, FaultVfs)>,
    /// Before each step, the state that was durable.
    durable: Vec<usize>,
}

impl Recording {
    /// Runs all steps, the states known from an earlier run so that reading them does
    /// not disturb this one.
    pub(crate) fn of(states: Vec<Content>) -> Result<Self, Error> {
        let vfs = FaultVfs::new();
        vfs.start_recording();
        let mut ends = Vec::new();
        let mut durable = vec![0];
        let mut session = Session::open(&vfs)?;
        for (number, step) in STEPS.iter().enumerate() {
            session.run(*step)?;
            ends.push(vfs.operations());
            let before = durable[number];
            durable.push(match step {
                Relaxed(_) => before,
                // It found nothing to do if nothing had changed: then it makes nothing durable.
                Refresh => before,
                _ => number + 1,
            });
        }
        drop(session);
        let history = vfs.stop_recording().into_iter().enumerate();
        let step_of = |at: u64| ends.partition_point(|end| *end <= at).min(STEPS.len() - 1);
        Ok(Self { states, history: history.map(|(at, disk)| (step_of(at as u64), disk)).collect(), durable })
    }

    /// The states that a crash during a step may leave: from the last that was
    /// acknowledged as durable to the one that the step was to make.
    pub(crate) fn allowed(&self, step: usize) -> &[Content] {
        &self.states[self.durable[step]..=step + 1]
    }
}

/// Runs all steps without faults: the state before them and after each.
pub(crate) fn states() -> Result<Vec<Content>, Error> {
    let vfs = FaultVfs::new();
    let mut session = Session::open(&vfs)?;
    let mut states = vec![Content::new()];
    for step in STEPS {
        session.run(step)?;
        states.push(read_content(session.database(), &TABLES)?);
    }
    assert!(vfs.bytes(NAME).len() > 1 << 20, "the file holds a log of 1 MiB and more");
    Ok(states)
}
