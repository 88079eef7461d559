//! Nanoseconds of the store's basic operations, natively, everything in the cache:
//! `cargo bench -p gingham-row-store`. Operations are timed in chunks of a few hundred:
//! a line has the first decile of the chunks, which holds on a machine that is busy with
//! other things, and their median.

use gingham_row_store::key::{KeyColumn, KeyLayout, bigint_key};
use gingham_row_store::row::RowLayout;
use gingham_row_store::{Direction, Durability, NativeVfs, Read, Store, StoreOptions, TreeId};
use gingham_types::{SqlType, Value};
use std::hint::black_box;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Instant;

const TREE: TreeId = TreeId(20);
const ROWS: u64 = 100_000;
const RUNS: usize = 5;
const CHUNK: u32 = 500;

/// Times operations in chunks.
struct Ticker {
    chunk: u32,
    left: u32,
    since: Instant,
    nanoseconds: Vec<f64>,
}

impl Ticker {
    /// Begins anew after preparations.
    fn start(&mut self) {
        self.left = self.chunk;
        self.since = Instant::now();
    }

    /// One operation was done.
    #[inline]
    fn tick(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.nanoseconds.push(self.since.elapsed().as_nanos() as f64 / f64::from(self.chunk));
            self.start();
        }
    }
}

/// Measures `run`, which starts the ticker and ticks after each operation.
fn measure(name: &str, chunk: u32, mut run: impl FnMut(&mut Ticker)) {
    let mut ticker = Ticker { chunk, left: chunk, since: Instant::now(), nanoseconds: Vec::new() };
    (0..RUNS).for_each(|_| run(&mut ticker));
    let mut found = ticker.nanoseconds;
    found.sort_by(f64::total_cmp);
    println!("{name:<44} {:>10.1} ns  (median {:.1})", found[found.len() / 10], found[found.len() / 2]);
}

fn memory() -> Store {
    let store = Store::memory(StoreOptions::default()).expect("memory");
    let mut transaction = store.begin().expect("begin");
    transaction.create_tree_with_id(TREE).expect("create");
    transaction.commit(None).expect("commit");
    store
}

fn filled() -> Store {
    let store = memory();
    let mut transaction = store.begin().expect("begin");
    transaction.bulk_load(TREE, (0..ROWS).map(|row| (bigint_key(row as i64), value(row)))).expect("load");
    transaction.commit(None).expect("commit");
    store
}

fn value(row: u64) -> [u8; 40] {
    [row as u8; 40]
}

/// A permutation of the rows: 7919 is prime to their number.
fn shuffled() -> impl Iterator<Item = i64> {
    (0..ROWS).map(|row| (row * 7919 % ROWS) as i64)
}

fn reads() {
    let store = filled();
    let snapshot = store.snapshot().expect("snapshot");
    measure("point get, random, 100k rows", CHUNK, |ticker| {
        ticker.start();
        for row in shuffled() {
            let found = snapshot.get_with(TREE, &bigint_key(row), |value| value.len()).expect("get");
            black_box(found);
            ticker.tick();
        }
    });
    measure("cursor step, forward", CHUNK, |ticker| {
        let mut cursor = snapshot.cursor(TREE, Bound::Unbounded, Bound::Unbounded, Direction::Forward).expect("cursor");
        ticker.start();
        while let Some(entry) = cursor.next().expect("next") {
            black_box(entry);
            ticker.tick();
        }
    });
    measure("cursor step, reverse", CHUNK, |ticker| {
        let mut cursor = snapshot.cursor(TREE, Bound::Unbounded, Bound::Unbounded, Direction::Reverse).expect("cursor");
        ticker.start();
        while let Some(entry) = cursor.next().expect("next") {
            black_box(entry);
            ticker.tick();
        }
    });
    measure("cursor over 10 rows, opened anew", CHUNK, |ticker| {
        ticker.start();
        for row in shuffled().take((ROWS / 10) as usize) {
            let (low, high) = (bigint_key(row), bigint_key(row + 10));
            let bounds = (Bound::Included(low.as_slice()), Bound::Excluded(high.as_slice()));
            let mut cursor = snapshot.cursor(TREE, bounds.0, bounds.1, Direction::Forward).expect("cursor");
            while let Some(entry) = cursor.next().expect("next") {
                black_box(entry);
            }
            ticker.tick();
        }
    });
    measure("count of a range", CHUNK, |ticker| {
        ticker.start();
        for row in shuffled().take((ROWS / 10) as usize) {
            let low = bigint_key(row);
            black_box(snapshot.count_range(TREE, Bound::Included(&low), Bound::Unbounded).expect("count"));
            ticker.tick();
        }
    });
}

fn writes() {
    measure("insert, ascending, one transaction", CHUNK, |ticker| {
        let store = memory();
        let mut transaction = store.begin().expect("begin");
        ticker.start();
        for row in 0..ROWS {
            transaction.insert(TREE, &bigint_key(row as i64), &value(row)).expect("insert");
            ticker.tick();
        }
        transaction.commit(None).expect("commit");
    });
    measure("insert, random, one transaction", CHUNK, |ticker| {
        let store = memory();
        let mut transaction = store.begin().expect("begin");
        ticker.start();
        for row in shuffled() {
            transaction.insert(TREE, &bigint_key(row), &value(row as u64)).expect("insert");
            ticker.tick();
        }
        transaction.commit(None).expect("commit");
    });
    measure("bulk load", CHUNK, |ticker| {
        let store = memory();
        let mut transaction = store.begin().expect("begin");
        ticker.start();
        let rows = (0..ROWS).map(|row| {
            ticker.tick();
            (bigint_key(row as i64), value(row))
        });
        transaction.bulk_load(TREE, rows).expect("load");
        transaction.commit(None).expect("commit");
    });
    measure("update in place, random, one transaction", CHUNK, |ticker| {
        let store = filled();
        let mut transaction = store.begin().expect("begin");
        ticker.start();
        for row in shuffled() {
            transaction.put(TREE, &bigint_key(row), &value(row as u64 + 1)).expect("put");
            ticker.tick();
        }
        transaction.commit(None).expect("commit");
    });
    measure("delete, random, one transaction", CHUNK, |ticker| {
        let store = filled();
        let mut transaction = store.begin().expect("begin");
        ticker.start();
        for row in shuffled() {
            transaction.delete(TREE, &bigint_key(row)).expect("delete");
            ticker.tick();
        }
        transaction.commit(None).expect("commit");
    });
    measure("commit of one insert, in memory", CHUNK, |ticker| {
        let store = memory();
        ticker.start();
        for row in 0..ROWS / 10 {
            let mut transaction = store.begin().expect("begin");
            transaction.insert(TREE, &bigint_key(row as i64), &value(row)).expect("insert");
            transaction.commit(None).expect("commit");
            ticker.tick();
        }
    });
    measure("insert between savepoint and release", CHUNK, |ticker| {
        let store = filled();
        let mut transaction = store.begin().expect("begin");
        ticker.start();
        for row in 0..ROWS / 10 {
            let savepoint = transaction.savepoint().expect("savepoint");
            transaction.insert(TREE, &bigint_key((ROWS + row) as i64), &value(row)).expect("insert");
            transaction.release(savepoint).expect("release");
            ticker.tick();
        }
    });
}

fn files() {
    let directory = std::env::temp_dir().join(format!("gingham-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("temporary directory");
    let vfs = Arc::new(NativeVfs::new(&directory));
    for (name, durability, count) in [("strict", Durability::Strict, 100), ("relaxed", Durability::Relaxed, ROWS / 10)]
    {
        measure(&format!("commit of one insert, {name}, to a file"), 10, |ticker| {
            let file = "bench";
            let path = directory.join(file);
            let _ = std::fs::remove_file(path);
            let vfs: Arc<NativeVfs> = Arc::clone(&vfs);
            let store = Store::open(vfs, file, StoreOptions::default()).expect("open");
            let mut transaction = store.begin().expect("begin");
            transaction.create_tree_with_id(TREE).expect("create");
            transaction.commit(None).expect("commit");
            ticker.start();
            for row in 0..count {
                let mut transaction = store.begin().expect("begin");
                transaction.insert(TREE, &bigint_key(row as i64), &value(row)).expect("insert");
                transaction.commit(Some(durability)).expect("commit");
                ticker.tick();
            }
        });
    }
    std::fs::remove_dir_all(&directory).expect("remove");
}

fn codecs() {
    let types = [SqlType::Integer, SqlType::BigInt, SqlType::Text, SqlType::decimal(15, 2), SqlType::Date];
    let values = [
        Value::Int(7),
        Value::Int(1 << 40),
        Value::Text("a short text".into()),
        Value::Decimal { unscaled: 123_456, scale: 2 },
        Value::Date(20_000),
    ];
    let layout = RowLayout::new(&types);
    let mut row = Vec::new();
    layout.encode(&values, &mut row).expect("encode");
    println!("a row of 5 columns has {} bytes", row.len());
    measure("row encode, 5 columns", CHUNK, |ticker| {
        let mut out = Vec::with_capacity(64);
        ticker.start();
        for _ in 0..ROWS {
            out.clear();
            layout.encode(black_box(&values), &mut out).expect("encode");
            ticker.tick();
        }
    });
    measure("row reader and one integer", CHUNK, |ticker| {
        ticker.start();
        for _ in 0..ROWS {
            black_box(layout.reader(black_box(&row)).expect("reader").int(1));
            ticker.tick();
        }
    });
    let layout = KeyLayout::new(vec![KeyColumn::new(SqlType::BigInt), KeyColumn::new(SqlType::Text)]);
    measure("key encode, BIGINT and TEXT", CHUNK, |ticker| {
        let mut out = Vec::with_capacity(64);
        ticker.start();
        for _ in 0..ROWS {
            out.clear();
            layout.encode(black_box(&values[1..3]), &mut out).expect("encode");
            ticker.tick();
        }
    });
}

fn main() {
    reads();
    writes();
    codecs();
    files();
}
