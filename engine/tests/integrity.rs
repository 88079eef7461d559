//! `PRAGMA integrity_check` over things made wrong on purpose, through the store and so
//! with right checksums: each must be reported.

use gingham::{Database, MemoryVfs, Options, Value};
use gingham_row_store::{Direction, Extent, Read, Store, StoreOptions, Transaction, TreeId};
use std::ops::Bound;
use std::sync::Arc;

const NAME: &str = "database";
const EVERYTHING: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);

fn open(vfs: &MemoryVfs) -> Database {
    Database::open_with(Arc::new(vfs.clone()), NAME, Options::default()).expect("opens")
}

fn run(database: &Database, sql: &str) -> Vec<Vec<Value>> {
    let mut rows = database.connect().execute(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.collect_values().expect("reads")
}

/// `h`, hybrid with a copy: its rows, groups and marks are trees 0, 1, 2 of those found,
/// index `h_g` is 3. `c`, column storage with row groups and a key: the key's index is 4,
/// rows, groups and marks 5, 6, 7.
fn database() -> MemoryVfs {
    let vfs = MemoryVfs::new();
    let database = open(&vfs);
    run(&database, "CREATE TABLE h (k INTEGER PRIMARY KEY, g INTEGER NOT NULL, v TEXT)");
    run(&database, "CREATE UNIQUE INDEX h_g ON h (g)");
    run(&database, "CREATE TABLE c (k INTEGER PRIMARY KEY, v TEXT) WITH (storage = 'column')");
    run(&database, "CREATE TABLE d (d INTEGER)");
    run(&database, "INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)");
    let numbers = "(SELECT a.d * 1000 + b.d * 100 + c.d * 10 + d.d AS n FROM d a, d b, d c, d d) AS numbers";
    run(&database, &format!("INSERT INTO h SELECT n, n * 2, 'v' || n FROM {numbers}"));
    run(&database, &format!("INSERT INTO c SELECT n, 'v' || n FROM {numbers}"));
    run(&database, "DELETE FROM c WHERE k < 5");
    let mut connection = database.connect();
    connection.execute("SET route = 'column'", &[]).expect("sets");
    connection.execute("SELECT sum(g) FROM h", &[]).expect("runs").collect_values().expect("reads");
    drop(connection);
    assert_eq!(run(&database, "PRAGMA integrity_check"), [[Value::Text("ok".into())]]);
    database.close().expect("closes");
    vfs
}

/// The trees, without the schema's.
fn trees(transaction: &Transaction) -> Vec<TreeId> {
    transaction.trees().into_iter().filter(|tree| tree.0 >= 16).collect()
}

/// The first entry of a tree from a bound on.
fn first(transaction: &Transaction, tree: TreeId) -> (Vec<u8>, Vec<u8>) {
    let mut cursor = transaction.cursor(tree, EVERYTHING.0, EVERYTHING.1, Direction::Forward).expect("cursor");
    let (key, value) = cursor.next().expect("reads").expect("has an entry");
    (key.to_vec(), value.to_vec())
}

#[track_caller]
fn expect(expected: &str, change: impl FnOnce(&mut Transaction, &[TreeId])) {
    let vfs = database();
    let store = Store::open(Arc::new(vfs.clone()), NAME, StoreOptions::default()).expect("opens");
    let mut transaction = store.begin().expect("begins");
    let trees = trees(&transaction);
    change(&mut transaction, &trees);
    transaction.commit(None).expect("commits");
    store.close().expect("closes");
    let found: Vec<String> =
        run(&open(&vfs), "PRAGMA integrity_check").into_iter().map(|row| row[0].to_string()).collect();
    assert!(found.iter().any(|line| line.contains(expected)), "{expected}: {found:#?}");
}

#[test]
fn entries_of_indexes() {
    expect("a row of table h is missing from index h_g", |transaction, trees| {
        let (key, _) = first(transaction, trees[3]);
        transaction.delete(trees[3], &key).expect("deletes");
    });
    expect("index h_g of table h has 10001 entries for 10000 rows", |transaction, trees| {
        let (mut key, _) = first(transaction, trees[3]);
        // The locator's last byte: another row has this value as well.
        *key.last_mut().expect("not empty") ^= 1;
        transaction.put(trees[3], &key, &[]).expect("puts");
    });
    expect("index h_g of table h has the same values twice", |transaction, trees| {
        let (mut key, _) = first(transaction, trees[3]);
        *key.last_mut().expect("not empty") ^= 1;
        transaction.put(trees[3], &key, &[]).expect("puts");
    });
    expect("an entry of index h_g of table h leads to no row", |transaction, trees| {
        let (key, _) = first(transaction, trees[0]);
        transaction.delete(trees[0], &key).expect("deletes");
    });
    expect("an entry of index h_g of table h cannot be read", |transaction, trees| {
        transaction.put(trees[3], b"\x07", &[]).expect("puts");
    });
    expect("a row of table c is missing from the key index", |transaction, trees| {
        let (key, _) = first(transaction, trees[4]);
        transaction.delete(trees[4], &key).expect("deletes");
    });
    expect("an entry of the key index of table c leads to no row", |transaction, trees| {
        let (mut key, _) = first(transaction, trees[4]);
        let locator = key.len() - 1;
        key[locator] ^= 0x0f;
        key[locator - 4] ^= 0x0f;
        transaction.put(trees[4], &key, &[]).expect("puts");
    });
}

#[test]
fn rows_and_their_keys() {
    expect("a row of table h is under another row's key", |transaction, trees| {
        let (key, row) = first(transaction, trees[0]);
        transaction.delete(trees[0], &key).expect("deletes");
        transaction.put(trees[0], &[0xff, 0xff, 0xff, 0xf0], &row).expect("puts");
    });
    expect("table h:", |transaction, trees| {
        let (key, _) = first(transaction, trees[0]);
        transaction.put(trees[0], &key, b"\x03").expect("puts");
    });
}

#[test]
fn row_groups_and_marks() {
    expect("a row group of table h has another row than the table", |transaction, trees| {
        // The row of key 1 takes the place of that of key 0: same length, other contents.
        let (key, _) = first(transaction, trees[0]);
        let other = transaction.get(trees[0], &[0x80, 0, 0, 1]).expect("gets").expect("is there");
        transaction.put(trees[0], &key, &other).expect("puts");
    });
    expect("rows where the table has", |transaction, trees| {
        let (key, _) = first(transaction, trees[0]);
        transaction.delete(trees[0], &key).expect("deletes");
    });
    expect("table h has 1 marks of no row group", |transaction, trees| {
        transaction.put(trees[2], b"no such group", &[]).expect("puts");
    });
    expect("table c has a deleted row that belongs to no row group", |transaction, trees| {
        transaction.put(trees[7], &[0x80, 0, 0, 0, 0, 1, 0, 0], &[]).expect("puts");
    });
    expect("table c has a row that is in a row group as well", |transaction, trees| {
        transaction.put(trees[5], &[0x80, 0, 0, 0, 0, 0, 0, 50], b"\x02\x00\x01\x00\x00\x00\x00\x00").expect("puts");
    });
    expect("row groups of table c overlap", |transaction, trees| {
        let (mut key, record) = first(transaction, trees[6]);
        key[7] += 9;
        transaction.put(trees[6], &key, &record).expect("puts");
    });
    expect("table c:", |transaction, trees| {
        let (key, record) = first(transaction, trees[6]);
        transaction.put(trees[6], &key, &record[..30]).expect("puts");
    });
    expect("there is no such extent", |transaction, trees| {
        let (_, record) = first(transaction, trees[6]);
        let extent = Extent::decode(&record[..24]).expect("decodes");
        transaction.free_extent(&extent).expect("frees");
    });
    expect("shares a page", |transaction, trees| {
        let (mut key, record) = first(transaction, trees[1]);
        key[0] ^= 0x40;
        transaction.put(trees[1], &key, &record).expect("puts");
    });
    expect("belong to nobody", |transaction, trees| {
        let (key, _) = first(transaction, trees[1]);
        transaction.delete(trees[1], &key).expect("deletes");
    });
}

#[test]
fn trees_of_nobody_and_lost_ones() {
    expect("belongs to no table", |transaction, _| {
        transaction.create_tree().expect("creates");
    });
    expect("table h has lost its tree", |transaction, trees| {
        transaction.drop_tree(trees[2]).expect("drops");
    });
}
