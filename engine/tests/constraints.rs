//! Constraints on the ways into a table that are not SQL statements, after reopening,
//! without a planner, and against a model.

use gingham::vector::{Data, Vector};
use gingham::vfs::fault::FaultVfs;
use gingham::{Connection, Database, Options, PlanRequest, Planner, SqlError, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn run(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<Value>>, String> {
    let rows = connection.execute(sql, &[]).and_then(|mut rows| rows.collect_values());
    rows.map_err(|error| error.to_sql_error().code.to_string())
}

fn ok(connection: &mut Connection, sql: &str) -> Vec<Vec<Value>> {
    run(connection, sql).unwrap_or_else(|code| panic!("{sql}: {code}"))
}

fn integers(values: impl IntoIterator<Item = i32>) -> Arc<Vector> {
    Arc::new(Vector::new(Data::Int32(values.into_iter().collect())))
}

fn column(name: &str, values: impl IntoIterator<Item = i32>) -> (String, Arc<Vector>) {
    (name.to_owned(), integers(values))
}

#[test]
fn columns_in_bulk_are_numbered_computed_and_checked() {
    for storage in ["row", "hybrid", "column"] {
        let database = Database::memory(Options::default()).expect("opens");
        let mut connection = database.connect();
        ok(&mut connection, &format!("CREATE TABLE p (k INTEGER PRIMARY KEY) WITH (storage = '{storage}')"));
        let sql = "CREATE TABLE c (id INTEGER PRIMARY KEY AUTOINCREMENT, k INTEGER REFERENCES p CHECK (k < 5000), \
                   next INTEGER GENERATED ALWAYS AS (k + 1) STORED)";
        ok(&mut connection, &format!("{sql} WITH (storage = '{storage}')"));
        connection.insert_columns("p", &[column("k", 0..6000)]).expect("inserts");
        assert_eq!(connection.insert_columns("c", &[column("k", 0..3000)]).expect("inserts"), 3000);
        let mut code = |columns: &[(String, Arc<Vector>)]| {
            connection.insert_columns("c", columns).expect_err("refused").to_sql_error().code
        };
        assert_eq!(code(&[column("k", 4000..5001)]), "23514");
        assert_eq!(code(&[column("k", 4000..5100)]), "23514");
        assert_eq!(code(&[column("k", [-1])]), "23503");
        assert_eq!(code(&[column("k", -2000..0)]), "23503");
        assert_eq!(code(&[column("k", [1]), column("next", [2])]), "428C9");
        assert_eq!(code(&[column("k", [1]), column("id", [7])]), "23505");
        connection.insert_columns("c", &[column("k", [5]), column("id", [9000])]).expect("inserts");
        connection.insert_columns("c", &[column("k", [6])]).expect("inserts");
        let found = ok(&mut connection, "SELECT count(*), min(id), max(id), sum(next - k) FROM c");
        let wanted = [3002, 1, 9001].map(Value::Int);
        assert_eq!(found[0][..3], wanted, "{storage}");
        assert_eq!(found[0][3].to_string(), "3002", "{storage}");
        assert_eq!(ok(&mut connection, "PRAGMA integrity_check"), [[Value::Text("ok".into())]], "{storage}");
    }
}

const SCHEMA: [&str; 5] = [
    "CREATE TABLE z (id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 5 INCREMENT BY 5) PRIMARY KEY, code TEXT UNIQUE)",
    "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, z BIGINT REFERENCES z ON DELETE CASCADE, \
     code TEXT CONSTRAINT coded REFERENCES z (code) ON UPDATE SET NULL, up INTEGER REFERENCES a, \
     d DATE DEFAULT '2024-02-29', t TEXT NOT NULL DEFAULT upper('it''s'), n INTEGER CHECK (n % 2 = 0), \
     twice INTEGER GENERATED ALWAYS AS (n * 2) STORED, CHECK (n IS NULL OR n < 100), CONSTRAINT \"Odd Name\" CHECK (t <> ''))",
    "CREATE INDEX a_n ON a (n DESC)",
    "CREATE TABLE cc (a INTEGER REFERENCES a, v TEXT) WITH (storage = 'column')",
    "CREATE VIEW w AS SELECT id FROM a",
];

#[test]
fn the_schema_as_sql_makes_the_same_schema() {
    let database = Database::memory(Options::default()).expect("opens");
    let mut connection = database.connect();
    for sql in SCHEMA {
        ok(&mut connection, sql);
    }
    let written = connection.schema_sql(None).expect("is written");
    let again = Database::memory(Options::default()).expect("opens");
    let mut again = again.connect();
    for sql in &written {
        ok(&mut again, sql);
    }
    assert_eq!(again.schema_sql(None).expect("is written"), written);
    for table in ["z", "a", "cc"] {
        let sql = format!("DESCRIBE {table}");
        assert_eq!(ok(&mut again, &sql), ok(&mut connection, &sql));
    }
}

/// A planner that is not there yet.
struct NoPlanner;

impl Planner for NoPlanner {
    fn plan(&mut self, _: &PlanRequest<'_>) -> Result<gingham_plan::Statement, SqlError> {
        Err(SqlError::unsupported("planning"))
    }
}

#[test]
fn a_reopened_database_checks_without_a_planner() {
    let vfs = FaultVfs::new();
    {
        let database = Database::open_with(Arc::new(vfs.clone()), "db", Options::default()).expect("opens");
        let mut connection = database.connect();
        for sql in SCHEMA {
            ok(&mut connection, sql);
        }
        ok(&mut connection, "INSERT INTO z (code) VALUES ('x'), ('y')");
        ok(&mut connection, "INSERT INTO a (z, n) VALUES (5, 2), (10, 4)");
    }
    vfs.kill_process();
    let options = Options { planner: Some(Box::new(NoPlanner)), ..Options::default() };
    let database = Database::open_with(Arc::new(vfs.clone()), "db", options).expect("opens");
    let mut connection = database.connect();
    let insert = |connection: &mut Connection, z: i64, n: i64| {
        run(connection, &format!("INSERT INTO a (z, d, t, n) VALUES ({z}, NULL, 'x', {n})"))
    };
    assert_eq!(insert(&mut connection, 5, 6), Ok(Vec::new()));
    assert_eq!(insert(&mut connection, 5, 7), Err("23514".into()));
    assert_eq!(insert(&mut connection, 5, 102), Err("23514".into()));
    assert_eq!(insert(&mut connection, 6, 6), Err("23503".into()));
    assert_eq!(run(&mut connection, "UPDATE a SET n = 3 WHERE id = 1"), Err("23514".into()));
    assert_eq!(run(&mut connection, "UPDATE a SET n = 10 WHERE id = 1"), Ok(Vec::new()));
    let row = ok(&mut connection, "SELECT id, n, twice FROM a WHERE id = 1");
    assert_eq!(row, [[1, 10, 20].map(Value::Int)]);
    let row = ok(&mut connection, "SELECT n, twice FROM a WHERE id = 3");
    assert_eq!(row, [[6, 12].map(Value::Int)]);
    ok(&mut connection, "DELETE FROM z WHERE id = 10");
    assert_eq!(ok(&mut connection, "SELECT id FROM a WHERE id = 2"), Vec::<Vec<Value>>::new());
    assert!(database.integrity_check().expect("checks").is_sound());
}

/// A small generator, so that a seed is all it takes to see a failure again.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound) as i64
    }
}

/// What a parent and a child table are to hold.
#[derive(Clone, Default)]
struct Model {
    parents: BTreeSet<i64>,
    /// In order of insertion, the three references: NO ACTION, CASCADE, SET NULL.
    children: BTreeMap<i64, [Option<i64>; 3]>,
    /// The rows' order of insertion; their numbers may have gaps.
    inserted: i64,
}

impl Model {
    fn insert(&mut self, refers: [Option<i64>; 3]) -> bool {
        let fits = refers.iter().flatten().all(|p| self.parents.contains(p));
        if fits {
            self.inserted += 1;
            self.children.insert(self.inserted, refers);
        }
        fits
    }

    fn delete(&mut self, gone: &dyn Fn(i64) -> bool) -> bool {
        let mut next = self.clone();
        next.parents.retain(|p| !gone(*p));
        next.children.retain(|_, refers| !refers[1].is_some_and(gone));
        for refers in next.children.values_mut() {
            refers[2] = refers[2].filter(|p| !gone(*p));
        }
        let sound = !next.children.values().any(|refers| refers[0].is_some_and(gone));
        if sound {
            *self = next;
        }
        sound
    }

    fn shift(&mut self, by: i64) -> bool {
        let mut next = self.clone();
        next.parents = self.parents.iter().map(|p| p + by).collect();
        for refers in next.children.values_mut() {
            refers[1] = refers[1].map(|p| p + by);
            refers[2] = None;
        }
        let sound = next.children.values().all(|refers| refers[0].is_none_or(|p| next.parents.contains(&p)));
        if sound {
            *self = next;
        }
        sound
    }
}

fn sql_of(value: Option<i64>) -> String {
    value.map_or("NULL".into(), |v| v.to_string())
}

fn compare(seed: u64, storage: &str, with_indexes: bool) {
    let database = Database::memory(Options::default()).expect("opens");
    let mut connection = database.connect();
    ok(&mut connection, &format!("CREATE TABLE p (k BIGINT PRIMARY KEY) WITH (storage = '{storage}')"));
    let sql = "CREATE TABLE c (id BIGINT PRIMARY KEY AUTOINCREMENT, a BIGINT REFERENCES p, \
               b BIGINT REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE, \
               n BIGINT REFERENCES p ON DELETE SET NULL ON UPDATE SET NULL, CHECK (a < 1000))";
    ok(&mut connection, &format!("{sql} WITH (storage = '{storage}')"));
    if with_indexes {
        ok(&mut connection, "CREATE INDEX c_a ON c (a, b)");
        ok(&mut connection, "CREATE INDEX c_b ON c (b DESC)");
    }
    let mut random = Random(seed);
    let (mut model, mut begun) = (Model::default(), None);
    for step in 0..120 {
        let what = format!("seed {seed}, {storage}, indexes {with_indexes}, step {step}");
        let (sql, fits) = match random.below(12) {
            0..=2 => {
                let k = random.below(20);
                (format!("INSERT INTO p VALUES ({k})"), model.parents.insert(k))
            }
            3..=7 => {
                let mut reference = || Some(random.below(24)).filter(|k| *k < 20);
                let refers = [reference(), reference(), reference()].map(|k| k.filter(|k| k % 2 == 0));
                let [a, b, n] = refers.map(sql_of);
                (format!("INSERT INTO c (a, b, n) VALUES ({a}, {b}, {n})"), model.insert(refers))
            }
            8 => {
                let k = random.below(20);
                (format!("DELETE FROM p WHERE k = {k}"), model.delete(&|p| p == k))
            }
            9 => {
                let k = random.below(20);
                (format!("DELETE FROM p WHERE k > {k}"), model.delete(&|p| p > k))
            }
            10 if model.parents.iter().all(|p| *p < 40) => {
                ("UPDATE p SET k = k + 2".into(), model.parents.is_empty() || model.shift(2))
            }
            10 => ("DELETE FROM c".into(), {
                model.children.clear();
                true
            }),
            _ => {
                match begun.take() {
                    None => {
                        ok(&mut connection, "BEGIN");
                        begun = Some(model.clone());
                    }
                    Some(before) if random.below(2) == 0 => {
                        ok(&mut connection, "ROLLBACK");
                        model = before;
                    }
                    Some(_) => {
                        ok(&mut connection, "COMMIT");
                    }
                }
                continue;
            }
        };
        let done = run(&mut connection, &sql);
        assert_eq!(done.is_ok(), fits, "{what}: {sql}: {done:?}");
        let parents: Vec<Vec<Value>> = model.parents.iter().map(|p| vec![Value::Int(*p)]).collect();
        assert_eq!(ok(&mut connection, "SELECT k FROM p ORDER BY k"), parents, "{what}: {sql}");
        let value = |v: &Option<i64>| v.map_or(Value::Null, Value::Int);
        let children: Vec<Vec<Value>> = model.children.values().map(|r| r.iter().map(value).collect()).collect();
        assert_eq!(ok(&mut connection, "SELECT a, b, n FROM c ORDER BY id"), children, "{what}: {sql}");
    }
    if begun.is_some() {
        ok(&mut connection, "COMMIT");
    }
    let report = database.integrity_check().expect("checks");
    assert!(report.is_sound(), "seed {seed}: {:?}", report.problems);
}

#[test]
fn foreign_keys_do_what_a_model_does() {
    for seed in 0..12 {
        for storage in ["row", "hybrid", "column"] {
            compare(seed, storage, seed % 2 == 0);
        }
    }
}
