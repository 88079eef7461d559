//! Nanoseconds of the row store's basic operations, natively, with SQLite and redb
//! beside it in the same run where the feature `peers` is on. `cargo xtask bench native`
//! runs this and prints the ratios.
//!
//! Keys are 64-bit integers, values 40 bytes, 100,000 rows; all is in memory but the
//! durable commits, which go to a file. SQLite does each operation by a prepared
//! statement on a table with `INTEGER PRIMARY KEY`, as a client of it would; the other
//! two by their own functions.

use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use gingham_row_store::key::{KeyColumn, KeyLayout, bigint_key};
use gingham_row_store::{Direction, Durability, NativeVfs, Read, Store, StoreOptions, TreeId};
use gingham_types::{SqlType, Value};
use std::hint::black_box;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "peers")]
#[path = "native/peers.rs"]
mod peers;

const ROWS: u64 = 100_000;
const VALUE: [u8; 40] = [7; 40];
const TREE: TreeId = TreeId(20);

/// The rows in an order without one: 7919 is prime to their number.
fn shuffled() -> impl Iterator<Item = i64> {
    (0..ROWS).map(|row| (row * 7919 % ROWS) as i64)
}

fn ascending() -> impl Iterator<Item = i64> {
    0..ROWS as i64
}

/// A folder of this run, on the disk that temporary files are on.
fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("gingham-native-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("temporary folder");
    folder
}

/// A database with an empty table.
trait Engine {
    /// Inserts rows in one transaction.
    fn insert(&mut self, keys: &mut dyn Iterator<Item = i64>);
    /// Bytes of the values of these keys, read one by one.
    fn get(&mut self, keys: &mut dyn Iterator<Item = i64>) -> usize;
    /// How many of these keys there are, asked one by one.
    fn has(&mut self, keys: &mut dyn Iterator<Item = i64>) -> usize;
    /// Bytes of all values, read in order of key.
    fn scan(&mut self) -> usize;
    /// Inserts one row and makes it durable.
    fn commit(&mut self, key: i64);
}

struct Gingham(Store);

impl Gingham {
    fn over(store: Store) -> Box<dyn Engine> {
        let mut transaction = store.begin().expect("begin");
        transaction.create_tree_with_id(TREE).expect("create");
        transaction.commit(None).expect("commit");
        Box::new(Self(store))
    }

    fn memory() -> Box<dyn Engine> {
        Self::over(Store::memory(StoreOptions::default()).expect("memory"))
    }

    fn file(folder: &Path) -> Box<dyn Engine> {
        let _ = std::fs::remove_file(folder.join("gingham"));
        Self::over(Store::open(Arc::new(NativeVfs::new(folder)), "gingham", StoreOptions::default()).expect("open"))
    }
}

impl Engine for Gingham {
    fn insert(&mut self, keys: &mut dyn Iterator<Item = i64>) {
        let mut transaction = self.0.begin().expect("begin");
        for key in keys {
            transaction.insert(TREE, &bigint_key(key), &VALUE).expect("insert");
        }
        transaction.commit(None).expect("commit");
    }

    fn get(&mut self, keys: &mut dyn Iterator<Item = i64>) -> usize {
        let snapshot = self.0.snapshot().expect("snapshot");
        let bytes = |key| snapshot.get_with(TREE, &bigint_key(key), |value| black_box(value).len()).expect("get");
        keys.filter_map(bytes).sum()
    }

    fn has(&mut self, keys: &mut dyn Iterator<Item = i64>) -> usize {
        let snapshot = self.0.snapshot().expect("snapshot");
        keys.filter(|key| snapshot.contains(TREE, &bigint_key(*key)).expect("contains")).count()
    }

    fn scan(&mut self) -> usize {
        let snapshot = self.0.snapshot().expect("snapshot");
        let mut cursor = snapshot.cursor(TREE, Bound::Unbounded, Bound::Unbounded, Direction::Forward).expect("cursor");
        let mut bytes = 0;
        while let Some((_, value)) = cursor.next().expect("next") {
            bytes += black_box(value).len();
        }
        bytes
    }

    fn commit(&mut self, key: i64) {
        let mut transaction = self.0.begin().expect("begin");
        transaction.insert(TREE, &bigint_key(key), &VALUE).expect("insert");
        transaction.commit(Some(Durability::Strict)).expect("commit");
    }
}

type Make = fn() -> Box<dyn Engine>;
type MakeInFile = fn(&Path) -> Box<dyn Engine>;

/// Name, a database in memory, a database in a file.
type Contender = (&'static str, Make, MakeInFile);

#[cfg(not(feature = "peers"))]
const PEERS: [Contender; 0] = [];
#[cfg(feature = "peers")]
const PEERS: [Contender; 2] = peers::PEERS;

fn engines() -> impl Iterator<Item = Contender> {
    let own: Contender = ("gingham", Gingham::memory, Gingham::file);
    std::iter::once(own).chain(PEERS)
}

/// Times `run` on a database with all rows in it.
fn on_filled(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    make: Make,
    run: fn(&mut dyn Engine) -> usize,
    expected: usize,
) {
    let mut engine = make();
    engine.insert(&mut ascending());
    assert_eq!(run(engine.as_mut()), expected, "{name} does the same work");
    group.bench_function(name, |bencher| bencher.iter(|| run(engine.as_mut())));
}

fn inserts(criterion: &mut Criterion, title: &str, keys: fn(&mut dyn Engine)) {
    let mut group = criterion.benchmark_group(title);
    group.throughput(Throughput::Elements(ROWS));
    for (name, make, _) in engines() {
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(make, |engine| keys(engine.as_mut()), BatchSize::PerIteration);
        });
    }
    group.finish();
}

fn reads(criterion: &mut Criterion, title: &str, run: fn(&mut dyn Engine) -> usize, expected: usize) {
    let mut group = criterion.benchmark_group(title);
    group.throughput(Throughput::Elements(ROWS));
    for (name, make, _) in engines() {
        on_filled(&mut group, name, make, run, expected);
    }
    group.finish();
}

fn commits(criterion: &mut Criterion) {
    let folder = folder();
    let mut group = criterion.benchmark_group("durable commit of one row");
    group.throughput(Throughput::Elements(1));
    for (name, _, make) in engines() {
        let mut engine = make(&folder);
        let mut key = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                key += 1;
                engine.commit(key);
            });
        });
    }
    group.finish();
    std::fs::remove_dir_all(folder).expect("remove");
}

/// Gingham alone: the others have no such function of their own.
fn keys(criterion: &mut Criterion) {
    let layout = KeyLayout::new(vec![KeyColumn::new(SqlType::BigInt), KeyColumn::new(SqlType::Text)]);
    let values = [Value::Int(1 << 40), Value::Text("a short text".into())];
    let mut group = criterion.benchmark_group("key encode, BIGINT and TEXT");
    group.throughput(Throughput::Elements(1));
    group.bench_function("gingham", |bencher| {
        let mut out = Vec::with_capacity(64);
        bencher.iter(|| {
            out.clear();
            layout.encode(black_box(&values), &mut out).expect("encode");
        });
    });
    group.finish();
}

fn main() {
    let settings = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300));
    let criterion = &mut settings.measurement_time(Duration::from_secs(2)).configure_from_args();
    let all_bytes = ROWS as usize * VALUE.len();
    inserts(criterion, "insert, sequential", |engine| engine.insert(&mut ascending()));
    inserts(criterion, "insert, random", |engine| engine.insert(&mut shuffled()));
    reads(criterion, "point get, random", |engine| engine.get(&mut shuffled()), all_bytes);
    // Every other key is not there.
    reads(criterion, "has, random", |engine| engine.has(&mut shuffled().map(|key| key * 2)), ROWS as usize / 2);
    reads(criterion, "cursor scan", |engine| engine.scan(), all_bytes);
    keys(criterion);
    commits(criterion);
    criterion.final_summary();
}
