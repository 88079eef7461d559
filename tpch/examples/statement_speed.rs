//! What one execution of an everyday statement costs, in memory and so without flushes.
//!
//! `cargo run --release --package gingham-tpch --features engine --example statement_speed [part of a name] [route]`

use gingham::{Connection, Database, Options, Result, Value};
use std::time::{Duration, Instant};

const ROWS: i64 = 10_000;
const ORDERS: i64 = 20_000;
/// Each statement runs for so long, in all.
const SPAN: Duration = Duration::from_millis(300);

/// A name, the statement, and the parameters of its n-th run.
type Case = (&'static str, &'static str, fn(i64) -> Vec<Value>);

const CASES: [Case; 14] = [
    ("point", "SELECT b FROM t WHERE k = ?", |n| vec![Value::Int(key(n))]),
    ("point, two columns", "SELECT k, b FROM t WHERE k = ?", |n| vec![Value::Int(key(n))]),
    ("index lookup", "SELECT k, b FROM t WHERE a = ?", |n| vec![Value::Int(n % 2500)]),
    ("index range", "SELECT count(*), sum(k) FROM t WHERE a >= ? AND a < ?", |n| {
        let from = n % 100 * 25;
        vec![Value::Int(from), Value::Int(from + 25)]
    }),
    ("key range", "SELECT sum(a) FROM t WHERE k BETWEEN ? AND ?", |n| {
        vec![Value::Int(key(n)), Value::Int(key(n) + 100)]
    }),
    ("count", "SELECT count(*) FROM t", |_| Vec::new()),
    ("maximum of the key", "SELECT max(k) FROM t", |_| Vec::new()),
    ("sum", "SELECT sum(a) FROM t", |_| Vec::new()),
    ("group", "SELECT a % 10, count(*), sum(k) FROM t GROUP BY 1", |_| Vec::new()),
    ("join", "SELECT count(*), sum(orders.amount) FROM orders JOIN t ON orders.t_k = t.k WHERE t.a <= ?", |n| {
        vec![Value::Int(n % 10 * 250)]
    }),
    ("join by index", "SELECT orders.k, t.b FROM t JOIN orders ON orders.t_k = t.k WHERE t.k = ?", |n| {
        vec![Value::Int(key(n))]
    }),
    ("top", "SELECT k, b FROM t ORDER BY b LIMIT 20", |_| Vec::new()),
    ("update by key", "UPDATE t SET b = ? WHERE k = ?", |n| vec![Value::Text(value(n)), Value::Int(key(n))]),
    ("update indexed column", "UPDATE t SET a = a + ? WHERE k <= 5000", |n| vec![Value::Int(1 - n % 2 * 2)]),
];

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wanted = words.first().map_or("", String::as_str);
    let database = Database::memory(Options::default())?;
    let mut connection = database.connect();
    fill(&mut connection)?;
    if let Some(route) = words.get(1) {
        connection.execute(&format!("SET route = {route}"), &[])?;
    }
    for (name, sql, parameters) in CASES.iter().filter(|(name, ..)| name.contains(wanted)) {
        let (each, rows) = measure(&mut connection, sql, *parameters)?;
        println!("{name:24} {:>10.2} µs {rows:>7} rows", each.as_secs_f64() * 1e6);
    }
    Ok(())
}

fn fill(connection: &mut Connection) -> Result<()> {
    connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, a INTEGER, b TEXT)", &[])?;
    connection.execute("CREATE TABLE orders (k INTEGER PRIMARY KEY, t_k INTEGER, amount INTEGER)", &[])?;
    connection.execute("BEGIN", &[])?;
    let mut insert = connection.prepare("INSERT INTO t VALUES (?, ?, ?)")?;
    for row in 1..=ROWS {
        let group = i64::from(mix(row as u32) % 2500);
        connection.run(&mut insert, &[Value::Int(row), Value::Int(group), Value::Text(value(row))])?;
    }
    let mut insert = connection.prepare("INSERT INTO orders VALUES (?, ?, ?)")?;
    for row in 1..=ORDERS {
        connection.run(&mut insert, &[Value::Int(row), Value::Int(key(row)), Value::Int(row % 1000)])?;
    }
    connection.execute("COMMIT", &[])?;
    connection.execute("CREATE INDEX t_a ON t(a)", &[])?;
    connection.execute("CREATE INDEX orders_t_k ON orders(t_k)", &[])?;
    Ok(())
}

/// The mean time of one run, and the rows of the last.
fn measure(connection: &mut Connection, sql: &str, parameters: fn(i64) -> Vec<Value>) -> Result<(Duration, usize)> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = 0;
    let mut runs = 0;
    // The first run may make a columnar copy.
    connection.run(&mut statement, &parameters(0))?.collect_values()?;
    let start = Instant::now();
    while start.elapsed() < SPAN {
        let mut result = connection.run(&mut statement, &parameters(i64::from(runs)))?;
        rows = 0;
        while let Some(batch) = result.next_batch()? {
            rows += batch.rows;
        }
        runs += 1;
    }
    Ok((start.elapsed() / runs, rows))
}

fn key(n: i64) -> i64 {
    1 + i64::from(mix(n as u32)) % ROWS
}

fn value(n: i64) -> String {
    let word = |salt: i64| mix((n * 4 + salt) as u32);
    format!("{:08x}{:08x}{:08x}{:08x}", word(0), word(1), word(2), word(3))
}

/// The finalizer of `MurmurHash3`: every input bit moves every output bit.
const fn mix(input: u32) -> u32 {
    let mut hash = input;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}
