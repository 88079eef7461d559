//! Tables in an order: sorted in little memory, and read where the order says.

use gingham::{Connection, Database, Options, Value};

fn rows(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<Value>>, gingham::Error> {
    connection.execute(sql, &[])?.collect_values()
}

#[test]
fn sorted_tables_are_sorted_in_little_memory_and_pruned() {
    let database = Database::memory(Options { memory_bytes_max: 2 << 20, ..Options::default() }).expect("opens");
    let mut connection = database.connect();
    let numbers = "CREATE TABLE t AS SELECT a.n * 300 + b.n AS k, 'a text with the number ' || (a.n * 300 + b.n) AS v \
        FROM generate_series(0, 199) AS a(n), generate_series(0, 299) AS b(n)";
    connection.execute(numbers, &[]).expect("creates");
    let create = "CREATE TABLE s (k BIGINT, r BIGINT, v TEXT) WITH (storage = 'column', sort_by = 'r, k DESC')";
    connection.execute(create, &[]).expect("creates");
    for part in 0..4 {
        let before = database.temporary_bytes().0;
        let sql = format!("INSERT INTO s SELECT k + {part} * 60000, k * 7919 % 60000, v FROM t");
        connection.execute(&sql, &[]).expect("inserts");
        assert!(database.temporary_bytes().0 > before, "a load is sorted in temporary space");
    }
    let pruned = |connection: &mut Connection| {
        let found = rows(connection, "EXPLAIN ANALYZE SELECT v FROM s WHERE r = 12345").expect("runs");
        let plan: Vec<String> = found.iter().map(|row| row[0].to_string()).collect();
        let plan = plan.join("\n");
        let before = plan.split(" row groups pruned").next().unwrap_or_default();
        let words: Vec<u32> = before.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert!(words.len() >= 2, "{plan}");
        (words[words.len() - 2], words[words.len() - 1])
    };
    let (skipped, groups) = pruned(&mut connection);
    assert_eq!(skipped, 0, "each of {groups} loads has every value");
    let sums = "SELECT count(*), sum(k), sum(r), min(v), max(v) FROM s";
    let before = rows(&mut connection, sums).expect("runs");
    connection.execute("CLUSTER s", &[]).expect("sorts");
    let (skipped, groups) = pruned(&mut connection);
    assert!(groups >= 4 && skipped == groups - 1, "{skipped} of {groups}");
    assert_eq!(rows(&mut connection, sums).expect("runs"), before);
    assert_eq!(database.temporary_bytes().1, 0);
}
