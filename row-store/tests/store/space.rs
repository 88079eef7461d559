//! Space: pages are used again, the file shrinks, rebuilt trees are compact, and long
//! values take little memory beside themselves.

use gingham_row_store::format::VALUE_BYTES_MAX;
use gingham_row_store::vfs::fault::{Fate, Fault, FaultVfs};
use gingham_row_store::{Error, MemoryVfs, Read, Store, StoreOptions, TreeId, Vfs};
use std::sync::Arc;

const NAME: &str = "database";
const TREE: TreeId = TreeId(20);

fn open(vfs: &(impl Vfs + Clone + 'static), options: StoreOptions) -> Store {
    Store::open(Arc::new(vfs.clone()), NAME, options).expect("opens")
}

fn key(number: u32) -> [u8; 4] {
    // Neighbours in time are not neighbours in the tree.
    number.wrapping_mul(2_654_435_761).to_be_bytes()
}

fn fill(store: &Store, numbers: std::ops::Range<u32>, value: &[u8]) {
    let mut transaction = store.begin().expect("begins");
    for number in numbers {
        transaction.put(TREE, &key(number), value).expect("puts");
    }
    transaction.commit(None).expect("commits");
}

fn remove(store: &Store, numbers: std::ops::Range<u32>) {
    let mut transaction = store.begin().expect("begins");
    for number in numbers {
        transaction.delete(TREE, &key(number)).expect("deletes");
    }
    transaction.commit(None).expect("commits");
}

fn with_tree(vfs: &(impl Vfs + Clone + 'static), options: StoreOptions) -> Store {
    let store = open(vfs, options);
    let mut transaction = store.begin().expect("begins");
    transaction.create_tree_with_id(TREE).expect("creates");
    transaction.commit(None).expect("commits");
    store
}

#[test]
fn deleting_and_inserting_again_does_not_grow_the_file() {
    let store = with_tree(&MemoryVfs::new(), StoreOptions::default());
    let mut largest = Vec::new();
    for cycle in 0..12u32 {
        let from = cycle * 5000;
        fill(&store, from..from + 5000, &[1; 300]);
        fill(&store, from..from + 50, &vec![2; 30_000]);
        largest.push(store.statistics().pages);
        remove(&store, from..from + 5000);
    }
    let (early, late) = (largest[3], largest[11]);
    assert!(late <= early + early / 10, "{largest:?}");
    assert!(store.integrity_check(&[]).expect("checks").is_sound());
}

#[test]
fn the_tail_is_cut_at_a_checkpoint_when_it_is_free() {
    let vfs = MemoryVfs::new();
    let store = with_tree(&vfs, StoreOptions::default());
    // Far more stays than goes, so that only the free tail is a reason to shrink.
    fill(&store, 0..30_000, &[1; 300]);
    store.checkpoint().expect("checkpoints");
    let before = vfs.bytes(NAME).expect("bytes").len();
    let mut transaction = store.begin().expect("begins");
    let extent = transaction.write_extent(&vec![1; 2 << 20]).expect("writes");
    transaction.commit(None).expect("commits");
    store.checkpoint().expect("checkpoints");
    assert!(vfs.bytes(NAME).expect("bytes").len() >= before + (2 << 20));
    let mut transaction = store.begin().expect("begins");
    transaction.free_extent(&extent).expect("frees");
    transaction.commit(None).expect("commits");
    store.checkpoint().expect("checkpoints");
    store.checkpoint().expect("checkpoints");
    let after = vfs.bytes(NAME).expect("bytes").len();
    assert!(after < before + (1 << 20), "{before} bytes, {after} later");
    assert!(store.integrity_check(&[]).expect("checks").is_sound());
}

/// Rebuilds every tree and cuts the file.
fn rebuild(store: &Store) -> gingham_row_store::Result<()> {
    let mut transaction = store.begin()?;
    transaction.rebuild_tree(TREE)?;
    transaction.commit(None)?;
    store.compact()?;
    let statistics = store.statistics();
    let mut transaction = store.begin()?;
    transaction.relocate_tree(TREE, (statistics.pages - statistics.free_pages) as u32)?;
    transaction.commit(None)?;
    store.compact()
}

#[test]
fn a_rebuilt_tree_is_compact_and_the_same() {
    let vfs = MemoryVfs::new();
    let store = with_tree(&vfs, StoreOptions::default());
    fill(&store, 0..40_000, &[1; 200]);
    fill(&store, 0..30, &vec![3; 40_000]);
    remove(&store, 5000..40_000);
    store.checkpoint().expect("checkpoints");
    for _ in 0..2 {
        rebuild(&store).expect("rebuilds");
    }
    let statistics = store.statistics();
    let content = 5000 * 210 + 30 * 40_000;
    assert!(statistics.file_bytes < content * 5 / 4 + (2 << 20), "{} bytes for {content}", statistics.file_bytes);
    assert_eq!(vfs.bytes(NAME).expect("bytes").len() as u64, statistics.file_bytes);
    let snapshot = store.snapshot().expect("snapshot");
    assert_eq!(snapshot.count(TREE), Ok(5000));
    assert_eq!(snapshot.get(TREE, &key(7)).expect("gets"), Some(vec![3; 40_000]));
    assert_eq!(snapshot.get(TREE, &key(77)).expect("gets"), Some(vec![1; 200]));
    drop(snapshot);
    assert!(store.integrity_check(&[]).expect("checks").is_sound());
    store.close().expect("closes");
    let store = open(&vfs, StoreOptions::default());
    assert_eq!(store.snapshot().expect("snapshot").count(TREE), Ok(5000));
    assert!(store.integrity_check(&[]).expect("checks").is_sound());
}

#[test]
fn the_last_pages_move_into_the_gaps() {
    let store = with_tree(&MemoryVfs::new(), StoreOptions::default());
    fill(&store, 0..20_000, &[1; 200]);
    fill(&store, 0..30, &vec![3; 40_000]);
    // One tree and a gap before it that is too small to take it all.
    let mut transaction = store.begin().expect("begins");
    let gap = transaction.write_extent(&vec![1; 2 << 20]).expect("writes");
    transaction.commit(None).expect("commits");
    rebuild(&store).expect("rebuilds");
    let mut transaction = store.begin().expect("begins");
    transaction.free_extent(&gap).expect("frees");
    transaction.commit(None).expect("commits");
    store.compact().expect("compacts");
    for _ in 0..4 {
        let statistics = store.statistics();
        let boundary = (statistics.pages - statistics.free_pages) as u32;
        let mut transaction = store.begin().expect("begins");
        transaction.relocate_tree(TREE, boundary).expect("moves");
        transaction.commit(None).expect("commits");
        store.compact().expect("compacts");
        assert!(store.integrity_check(&[]).expect("checks").is_sound());
    }
    let statistics = store.statistics();
    assert!(statistics.free_pages * 50 < statistics.pages, "{statistics:?}");
    let snapshot = store.snapshot().expect("snapshot");
    assert_eq!(snapshot.count(TREE), Ok(20_000));
    assert_eq!(snapshot.get(TREE, &key(7)).expect("gets"), Some(vec![3; 40_000]));
    assert_eq!(snapshot.get(TREE, &key(19_999)).expect("gets"), Some(vec![1; 200]));
}

#[test]
fn a_rebuild_cut_anywhere_leaves_everything() {
    let prepared = FaultVfs::new();
    let options = || StoreOptions { log_bytes: 1 << 17, dirty_bytes_max: 1 << 19, ..StoreOptions::default() };
    let store = with_tree(&prepared, options());
    fill(&store, 0..4000, &[1; 200]);
    remove(&store, 1000..4000);
    store.close().expect("closes");
    let bytes = prepared.bytes(NAME);
    let mut operation = 0;
    loop {
        let vfs = FaultVfs::new();
        vfs.set_bytes(NAME, &bytes);
        let store = open(&vfs, options());
        vfs.inject(operation, Fault::Crash);
        let finished = rebuild(&store).and_then(|()| rebuild(&store)).is_ok();
        drop(store);
        vfs.lose_power(|number, _| if number % 2 == 0 { Fate::Drop } else { Fate::Keep });
        let store = open(&vfs, options());
        assert_eq!(store.snapshot().expect("snapshot").count(TREE), Ok(1000), "cut at operation {operation}");
        assert!(store.integrity_check(&[]).expect("checks").is_sound(), "cut at operation {operation}");
        if finished {
            break;
        }
        operation += 1;
    }
    assert!(operation > 10);
}

#[test]
fn a_long_value_is_written_while_its_chain_is_made() {
    let options = StoreOptions { dirty_bytes_max: 4 << 20, cache_bytes_max: 4 << 20, ..StoreOptions::default() };
    let store = with_tree(&MemoryVfs::new(), options);
    let value: Vec<u8> = (0..64u32 << 20).map(|at| (at / 8192) as u8).collect();
    let mut transaction = store.begin().expect("begins");
    transaction.put(TREE, b"long", &value).expect("puts");
    let held = store.statistics().cache_bytes;
    assert!(held < 16 << 20, "{held} bytes of pages in memory for one value");
    transaction.commit(None).expect("commits");
    assert!(store.snapshot().expect("snapshot").get(TREE, b"long").expect("gets").as_ref() == Some(&value));
    assert!(store.integrity_check(&[]).expect("checks").is_sound());
}

#[test]
fn a_value_past_the_limit_is_refused_and_the_transaction_goes_on() {
    let store = with_tree(&MemoryVfs::new(), StoreOptions::default());
    let mut transaction = store.begin().expect("begins");
    // Zeros that nobody touches take no memory.
    let value = vec![0; VALUE_BYTES_MAX + 1];
    let refused = transaction.put(TREE, b"long", &value);
    assert_eq!(refused, Err(Error::ValueTooLong { bytes: VALUE_BYTES_MAX + 1, bytes_max: VALUE_BYTES_MAX }));
    transaction.put(TREE, b"short", b"1").expect("puts");
    transaction.commit(None).expect("commits");
    assert_eq!(store.snapshot().expect("snapshot").count(TREE), Ok(1));
}

#[test]
fn neighbours_read_along_never_outlive_their_page() {
    let vfs = MemoryVfs::new();
    let options = || StoreOptions { cache_bytes_max: 64 << 20, ..StoreOptions::default() };
    let store = Store::open(Arc::new(vfs.clone()), "db", options()).expect("opens");
    let value = |round: u64, key: u64| format!("{round} of {key} {}", "x".repeat(300)).into_bytes();
    let mut transaction = store.begin().expect("begins");
    let tree = transaction.create_tree().expect("makes a tree");
    for key in 0..5000u64 {
        transaction.put(tree, &key.to_be_bytes(), &value(0, key)).expect("puts");
    }
    transaction.commit(None).expect("commits");
    store.close().expect("closes");
    // Look-ups bring pages along; changes, extents and checkpoints then use pages again.
    for round in 1..6u64 {
        let store = Store::open(Arc::new(vfs.clone()), "db", options()).expect("opens");
        let read = |key: u64| {
            let mut found = None;
            let visit = &mut |bytes: &[u8]| found = Some(bytes.to_vec());
            assert_eq!(store.visit(tree, &key.to_be_bytes(), visit), Ok(true));
            found
        };
        for key in (0..5000).step_by(611) {
            assert_eq!(read(key), Some(value(round - 1, key)), "round {round}, key {key}");
        }
        let mut transaction = store.begin().expect("begins");
        let extent = transaction.write_extent(&vec![round as u8; 100_000]).expect("writes");
        for key in 0..5000u64 {
            transaction.put(tree, &key.to_be_bytes(), &value(round, key)).expect("puts");
        }
        transaction.commit(None).expect("commits");
        store.checkpoint().expect("checkpoints");
        let mut transaction = store.begin().expect("begins");
        transaction.free_extent(&extent).expect("frees");
        transaction.commit(None).expect("commits");
        for key in 0..5000 {
            assert_eq!(read(key), Some(value(round, key)), "round {round}, key {key}");
        }
        assert!(store.integrity_check(&[]).expect("checks").is_sound());
        store.close().expect("closes");
    }
}

#[test]
fn a_value_is_rewritten_where_it_is() {
    let store = Store::memory(StoreOptions::default()).expect("opens");
    let mut transaction = store.begin().expect("begins");
    let tree = transaction.create_tree().expect("makes a tree");
    for key in 0..400u32 {
        transaction.put(tree, &key.to_be_bytes(), &[key as u8; 20]).expect("puts");
    }
    let mut buffer = Vec::new();
    // The same length, longer within the page, out of the page, and back.
    for (key, bytes) in [(7u32, 20), (7, 500), (8, 30_000), (8, 10), (9, 0), (9, 1800), (10, 1800), (11, 1800)] {
        let exists = transaction.rewrite(tree, &key.to_be_bytes(), &mut buffer, &mut |old, new| {
            new.extend_from_slice(&vec![old.len() as u8; bytes]);
            true
        });
        assert_eq!(exists, Ok(true), "key {key}");
        assert_eq!(transaction.get(tree, &key.to_be_bytes()).expect("reads").map(|v| v.len()), Some(bytes));
    }
    let kept = transaction.rewrite(tree, &12u32.to_be_bytes(), &mut buffer, &mut |_, new| {
        new.push(1);
        false
    });
    assert_eq!(kept, Ok(true));
    assert_eq!(transaction.get(tree, &12u32.to_be_bytes()), Ok(Some(vec![12; 20])));
    assert_eq!(transaction.rewrite(tree, b"none", &mut buffer, &mut |_, _| true), Ok(false));
    transaction.commit(None).expect("commits");
    assert!(store.integrity_check(&[]).expect("checks").is_sound());
    assert_eq!(store.snapshot().expect("reads").count(tree), Ok(400));
}
