//! The Rust API: preparing, parameters, results, bulk rows, snapshots, durability.

use gingham::{Database, Options, Value};

fn database() -> Database {
    let database = Database::memory(Options::default()).expect("opens");
    database.connect().execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT, n BIGINT)", &[]).expect("creates");
    database
}

fn text(v: &str) -> Value {
    Value::Text(v.to_owned())
}

#[test]
fn prepared_statements_take_parameters_in_every_style() {
    let database = database();
    let mut connection = database.connect();
    let mut insert = connection.prepare("INSERT INTO t (k, v, n) VALUES (?, ?, ?)").expect("prepares");
    assert_eq!(insert.parameter_count(), 3);
    for k in 0..10 {
        let rows = connection.run(&mut insert, &[Value::Int(k), text("x"), Value::Int(k * 10)]).expect("inserts");
        assert_eq!(rows.changes(), 1);
    }
    let mut get = connection.prepare("SELECT n FROM t WHERE k = $1").expect("prepares");
    assert_eq!(
        connection.run(&mut get, &[Value::Int(7)]).expect("runs").collect_values().expect("reads"),
        [[Value::Int(70)]]
    );
    let named =
        connection.prepare("SELECT count(*) FROM t WHERE n > :low AND n < :high + 1 AND n <> :low").expect("prepares");
    assert_eq!((named.parameter_index("low"), named.parameter_index("high")), (Some(0), Some(1)));
    let mut named = named;
    let rows = connection.run(&mut named, &[Value::Int(20), Value::Int(60)]).expect("runs").collect_values();
    assert_eq!(rows.expect("reads"), [[Value::Int(4)]]);
    let missing = connection.run(&mut get, &[]).err().expect("a parameter is missing").to_sql_error();
    assert_eq!(missing.code, "07001");
}

#[test]
fn statements_are_planned_again_when_the_schema_moves() {
    let database = database();
    let mut connection = database.connect();
    let mut all = connection.prepare("SELECT * FROM t").expect("prepares");
    assert_eq!(all.columns().len(), 3);
    connection.execute("DROP TABLE t", &[]).expect("drops");
    assert_eq!(connection.run(&mut all, &[]).err().expect("no table").to_sql_error().code, "42P01");
    connection.execute("CREATE TABLE t (only INTEGER)", &[]).expect("creates");
    connection.execute("INSERT INTO t VALUES (5)", &[]).expect("inserts");
    assert_eq!(connection.run(&mut all, &[]).expect("runs").collect_values().expect("reads"), [[Value::Int(5)]]);
}

#[test]
fn a_looked_up_row_is_the_row_of_the_result() {
    let database = database();
    let mut connection = database.connect();
    connection.execute("INSERT INTO t VALUES (1, 'one', 10), (2, NULL, NULL)", &[]).expect("inserts");
    let mut get = connection.prepare("SELECT n, v FROM t WHERE k = ?").expect("prepares");
    let looked_up = |connection: &mut gingham::Connection, get: &gingham::Statement, key: &Value| {
        let mut row = None;
        let found = connection.look_up(get, std::slice::from_ref(key), |found| {
            let text = found.bytes(1).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            row = Some((found.int(0), text));
        });
        (found.map_err(|error| error.to_sql_error().code), row)
    };
    let one = (Ok(Some(true)), Some((Some(10), Some("one".to_owned()))));
    assert_eq!(looked_up(&mut connection, &get, &Value::Int(1)), one);
    assert_eq!(looked_up(&mut connection, &get, &Value::Int(2)), (Ok(Some(true)), Some((None, None))));
    assert_eq!(looked_up(&mut connection, &get, &Value::Int(3)), (Ok(Some(false)), None));
    assert_eq!(looked_up(&mut connection, &get, &Value::Null), (Ok(Some(false)), None));
    // What is wrong with a parameter is for `run` to say.
    assert_eq!(looked_up(&mut connection, &get, &Value::Double(1.5)).0, Ok(None));
    let refused = connection.run(&mut get, &[Value::Double(1.5)]).err().expect("no integer").to_sql_error();
    assert_eq!(refused.code, "22003");

    // A transaction reads what it wrote, and one that only reads what it began with.
    connection.execute("BEGIN", &[]).expect("begins");
    connection.execute("UPDATE t SET n = 11 WHERE k = 1", &[]).expect("updates");
    assert_eq!(looked_up(&mut connection, &get, &Value::Int(1)).1, Some((Some(11), Some("one".to_owned()))));
    connection.execute("ROLLBACK", &[]).expect("rolls back");
    connection.execute("BEGIN READ ONLY", &[]).expect("begins");
    database.connect().execute("UPDATE t SET n = 12 WHERE k = 1", &[]).expect("updates");
    assert_eq!(looked_up(&mut connection, &get, &Value::Int(1)), one);
    connection.execute("COMMIT", &[]).expect("ends");
    assert_eq!(looked_up(&mut connection, &get, &Value::Int(1)).1, Some((Some(12), Some("one".to_owned()))));

    // What has to be prepared again, or looks nothing up by a key, is for `run`.
    let all = connection.prepare("SELECT n, v FROM t WHERE n = ?").expect("prepares");
    assert_eq!(looked_up(&mut connection, &all, &Value::Int(1)).0, Ok(None));
    connection.execute("CREATE TABLE other (k INTEGER)", &[]).expect("creates");
    assert_eq!(looked_up(&mut connection, &get, &Value::Int(1)).0, Ok(None));
    connection.run(&mut get, &[Value::Int(1)]).expect("prepares again");
    assert_eq!(looked_up(&mut connection, &get, &Value::Int(1)).0, Ok(Some(true)));
}

#[test]
fn a_result_sees_one_commit_while_others_write() {
    let database = database();
    let mut writer = database.connect();
    let mut insert = writer.prepare("INSERT INTO t (k) VALUES (?)").expect("prepares");
    for k in 0..5000 {
        writer.run(&mut insert, &[Value::Int(k)]).expect("inserts");
    }
    let mut reader = database.connect();
    let mut rows = reader.execute("SELECT k FROM t", &[]).expect("runs");
    let mut seen = rows.next_batch().expect("reads").expect("has rows").rows;
    writer.execute("DELETE FROM t WHERE k >= 0", &[]).expect("deletes");
    writer.execute("INSERT INTO t (k) VALUES (99999)", &[]).expect("inserts");
    while let Some(batch) = rows.next_batch().expect("reads") {
        seen += batch.rows;
    }
    assert_eq!(seen, 5000);
}

#[test]
fn one_writer_at_a_time_and_the_second_is_told() {
    let database = database();
    let (mut first, mut second) = (database.connect(), database.connect());
    first.begin(false).expect("begins");
    let error = second.execute("INSERT INTO t (k) VALUES (1)", &[]).err().expect("busy").to_sql_error();
    assert_eq!(error.code, "55006");
    first.commit().expect("commits");
    second.execute("INSERT INTO t (k) VALUES (1)", &[]).expect("inserts");
}

#[test]
fn a_dropped_connection_rolls_back() {
    let database = database();
    let mut connection = database.connect();
    connection.begin(false).expect("begins");
    connection.execute("INSERT INTO t (k) VALUES (1)", &[]).expect("inserts");
    drop(connection);
    let rows = database.connect().execute("SELECT count(*) FROM t", &[]).expect("runs").collect_values();
    assert_eq!(rows.expect("reads"), [[Value::Int(0)]]);
}

#[test]
fn a_file_keeps_its_rows_and_admits_one_owner() {
    let folder = std::env::temp_dir().join(format!("gingham-api-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("makes a folder");
    let path = folder.join("owned.db");
    let database = Database::open(&path, Options::default()).expect("opens");
    database.connect().execute("CREATE TABLE t AS SELECT 1 AS a", &[]).expect("creates");
    let locked = Database::open(&path, Options::default()).err().expect("it is open").to_sql_error();
    assert_eq!(locked.code, "55006");
    database.close().expect("closes");
    let database = Database::open(&path, Options::default()).expect("opens again");
    let rows = database.connect().execute("SELECT a FROM t", &[]).expect("runs").collect_values().expect("reads");
    assert_eq!(rows, [[Value::Int(1)]]);
    drop(database);
    std::fs::write(&path, b"not a database at all, but long enough to look at").expect("writes");
    assert_eq!(Database::open(&path, Options::default()).err().expect("refused").to_sql_error().code, "XX001");
    std::fs::remove_dir_all(&folder).expect("cleans up");
}

#[test]
fn columns_go_in_by_name() {
    use gingham::vector::{Data, TextVector, Vector};
    use std::sync::Arc;
    let database = database();
    let mut connection = database.connect();
    let keys = Arc::new(Vector::new(Data::Int32((0..3000).collect())));
    let names: Vec<String> = (0..3000).map(|k| format!("name {k}")).collect();
    let texts = TextVector::from_strings(names.iter().map(String::as_bytes)).expect("small");
    let columns = [("v".to_owned(), Arc::new(Vector::new(Data::Text(texts)))), ("k".to_owned(), keys)];
    assert_eq!(connection.insert_columns("t", &columns).expect("inserts"), 3000);
    let rows = connection.execute("SELECT v, n FROM t WHERE k = 2999", &[]).expect("runs").collect_values();
    assert_eq!(rows.expect("reads"), [[text("name 2999"), Value::Null]]);
    let again = connection.insert_columns("t", &columns).expect_err("duplicate").to_sql_error();
    assert_eq!(again.code, "23505");
    let unknown = connection.insert_columns("t", &[("zz".to_owned(), Arc::clone(&columns[1].1))]);
    assert_eq!(unknown.expect_err("no such column").to_sql_error().code, "42703");
}
