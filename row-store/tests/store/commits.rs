//! What a commit costs and when it is durable; transactions, savepoints and handles as
//! their documentation has them.

use gingham_row_store::vfs::fault::{Fate, FaultVfs};
use gingham_row_store::{
    Cursor, Direction, Durability, Error, MemoryVfs, NativeVfs, Read, Snapshot, Store, StoreOptions, Transaction,
    TreeId, Vfs,
};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const TREE: TreeId = TreeId(20);

fn open(vfs: &(impl Vfs + Clone + 'static), options: StoreOptions) -> Store {
    Store::open(Arc::new(vfs.clone()), "database", options).expect("open")
}

fn with_tree(vfs: &(impl Vfs + Clone + 'static)) -> Store {
    let store = open(vfs, StoreOptions::default());
    let mut transaction = store.begin().expect("begin");
    transaction.create_tree_with_id(TREE).expect("create");
    transaction.commit(None).expect("commit");
    store
}

fn put(store: &Store, key: u32, durability: Durability) {
    let mut transaction = store.begin().expect("begin");
    transaction.put(TREE, &key.to_be_bytes(), &[7; 40]).expect("put");
    transaction.commit(Some(durability)).expect("commit");
}

#[test]
fn a_strict_commit_is_one_write_and_one_flush() {
    let store = with_tree(&MemoryVfs::new());
    for key in 0..200 {
        let before = store.statistics();
        put(&store, key, Durability::Strict);
        let after = store.statistics();
        assert_eq!(after.write_count - before.write_count, 1);
        assert_eq!(after.flush_count - before.flush_count, 1);
        assert!(after.log_bytes - before.log_bytes <= 56 + 56, "{}", after.log_bytes - before.log_bytes);
    }
}

#[test]
fn relaxed_commits_are_flushed_together_when_due() {
    let now = Arc::new(AtomicU64::new(1000));
    let clock = Arc::clone(&now);
    let options = StoreOptions {
        durability: Durability::Relaxed,
        relaxed_delay_ms: 50,
        clock: Some(Arc::new(move || clock.load(Ordering::Relaxed))),
        ..StoreOptions::default()
    };
    let vfs = FaultVfs::new();
    let store = open(&vfs, options.clone());
    let mut transaction = store.begin().expect("begin");
    transaction.create_tree_with_id(TREE).expect("create");
    assert!(!transaction.commit(None).expect("commit").durable);
    assert_eq!(store.flush_due_ms(), Some(50));
    let before = store.statistics();
    for key in 0..100 {
        put(&store, key, Durability::Relaxed);
    }
    assert_eq!(store.statistics().write_count, before.write_count);
    now.store(1049, Ordering::Relaxed);
    assert_eq!(store.flush_due_ms(), Some(1));
    now.store(1050, Ordering::Relaxed);
    put(&store, 100, Durability::Relaxed);
    let after = store.statistics();
    assert_eq!((after.write_count - before.write_count, after.flush_count - before.flush_count), (1, 1));
    assert_eq!(store.flush_due_ms(), None);

    put(&store, 101, Durability::Relaxed);
    put(&store, 102, Durability::Strict);
    vfs.lose_power(|_, _| Fate::Drop);
    let store = open(&vfs, options);
    assert_eq!(store.snapshot().expect("snapshot").count(TREE), Ok(103), "strict takes relaxed along");
}

#[test]
fn a_transaction_too_large_for_the_log_is_one_checkpoint() {
    let vfs = FaultVfs::new();
    let store = with_tree(&vfs);
    let mut transaction = store.begin().expect("begin");
    for key in 0..20_000u32 {
        transaction.put(TREE, &key.to_be_bytes(), &[1; 40]).expect("put");
    }
    assert!(transaction.commit(Some(Durability::Relaxed)).expect("commit").durable);
    assert_eq!(store.statistics().checkpoint_count, 1);
    vfs.lose_power(|_, _| Fate::Drop);
    assert_eq!(open(&vfs, StoreOptions::default()).snapshot().expect("snapshot").count(TREE), Ok(20_000));
}

#[test]
fn a_large_transaction_keeps_its_pages_within_the_budget() {
    let options = StoreOptions { dirty_bytes_max: 1 << 20, cache_bytes_max: 1 << 20, ..StoreOptions::default() };
    let store = open(&MemoryVfs::new(), options);
    let mut transaction = store.begin().expect("begin");
    transaction.create_tree_with_id(TREE).expect("create");
    let mut most = 0;
    for key in 0..100_000u32 {
        let key = key.wrapping_mul(2_654_435_761);
        transaction.put(TREE, &key.to_be_bytes(), &[1; 60]).expect("put");
        most = most.max(store.statistics().cache_bytes);
    }
    transaction.commit(None).expect("commit");
    assert!(most < 3 << 20, "{most} bytes of pages in memory");
    let snapshot = store.snapshot().expect("snapshot");
    assert_eq!(snapshot.count(TREE), Ok(100_000));
    assert_eq!(snapshot.get(TREE, &0u32.to_be_bytes()).expect("get"), Some(vec![1; 60]));
    drop(snapshot);
    assert!(store.integrity_check(&[]).expect("check").is_sound());
}

#[test]
fn repeated_rewriting_of_extents_does_not_grow_the_file() {
    let vfs = MemoryVfs::new();
    let store = with_tree(&vfs);
    let bytes = vec![3; 3 << 20];
    let mut extent = None;
    for _ in 0..60 {
        let mut transaction = store.begin().expect("begin");
        if let Some(old) = extent.take() {
            transaction.free_extent(&old).expect("free");
        }
        extent = Some(transaction.write_extent(&bytes).expect("write"));
        transaction.commit(None).expect("commit");
    }
    let file_bytes = store.statistics().file_bytes;
    assert!(file_bytes < 32 << 20, "{file_bytes} bytes for 3 MiB of content");
    assert!(store.integrity_check(&[extent.expect("written")]).expect("check").is_sound());
}

#[test]
fn the_file_shrinks_after_much_was_deleted() {
    let vfs = MemoryVfs::new();
    let store = with_tree(&vfs);
    let mut transaction = store.begin().expect("begin");
    let extent = transaction.write_extent(&vec![1; 8 << 20]).expect("write");
    transaction.commit(None).expect("commit");
    store.checkpoint().expect("checkpoint");
    let mut transaction = store.begin().expect("begin");
    transaction.free_extent(&extent).expect("free");
    transaction.commit(None).expect("commit");
    store.checkpoint().expect("checkpoint");
    store.close().expect("close");
    assert!(vfs.bytes("database").expect("bytes").len() < 2 << 20);
    let store = open(&vfs, StoreOptions::default());
    assert!(store.integrity_check(&[]).expect("check").is_sound());
}

#[test]
fn one_writer_at_a_time_and_dropping_rolls_back() {
    let store = with_tree(&MemoryVfs::new());
    let mut transaction = store.begin().expect("begin");
    transaction.put(TREE, b"a", b"1").expect("put");
    assert_eq!(store.begin().err(), Some(Error::Busy));
    assert_eq!(store.checkpoint(), Err(Error::Busy));
    assert_eq!(store.clone().close(), Err(Error::Busy));
    assert_eq!(transaction.get(TREE, b"a").expect("own change"), Some(b"1".to_vec()));
    assert_eq!(store.snapshot().expect("snapshot").get(TREE, b"a"), Ok(None));
    drop(transaction);
    assert_eq!(store.snapshot().expect("snapshot").count(TREE), Ok(0));
    let pages = store.statistics().pages - store.statistics().free_pages;
    put(&store, 1, Durability::Strict);
    store.begin().expect("begin").rollback();
    assert_eq!(store.statistics().pages - store.statistics().free_pages, pages + 1, "rolled back pages are free");
}

#[test]
fn savepoints_can_be_used_again_and_end_with_earlier_ones() {
    let store = with_tree(&MemoryVfs::new());
    let mut transaction = store.begin().expect("begin");
    let outer = transaction.savepoint().expect("savepoint");
    transaction.put(TREE, b"a", b"1").expect("put");
    let inner = transaction.savepoint().expect("savepoint");
    for _ in 0..3 {
        transaction.put(TREE, b"b", b"2").expect("put");
        let tree = transaction.create_tree().expect("create");
        transaction.rollback_to(&inner).expect("roll back");
        assert!(!transaction.tree_exists(tree));
        assert_eq!(transaction.get(TREE, b"a").expect("get"), Some(b"1".to_vec()));
        assert_eq!(transaction.get(TREE, b"b").expect("get"), None);
    }
    transaction.rollback_to(&outer).expect("roll back");
    assert_eq!(transaction.rollback_to(&inner), Err(Error::NoSuchSavepoint));
    transaction.release(outer).expect("release");
    assert_eq!(transaction.release(outer), Err(Error::NoSuchSavepoint));
    transaction.put(TREE, b"c", b"3").expect("put");
    transaction.commit(None).expect("commit");
    assert_eq!(store.snapshot().expect("snapshot").count(TREE), Ok(1));
}

#[test]
fn bad_arguments_are_refused_and_change_nothing() {
    let store = with_tree(&MemoryVfs::new());
    let mut transaction = store.begin().expect("begin");
    let key = vec![1; 1025];
    assert_eq!(transaction.put(TREE, &key, b""), Err(Error::KeyTooLong { bytes: 1025, bytes_max: 1024 }));
    assert_eq!(transaction.put(TreeId(99), b"", b""), Err(Error::NoSuchTree(99)));
    assert_eq!(transaction.create_tree_with_id(TREE), Err(Error::TreeExists(20)));
    assert_eq!(transaction.get(TreeId(99), b""), Err(Error::NoSuchTree(99)));
    transaction.put(TREE, &key[..1024], b"longest").expect("put");
    transaction.put(TREE, b"", b"shortest").expect("put");
    let savepoint = transaction.savepoint().expect("savepoint");
    let other = transaction.create_tree().expect("create");
    assert_eq!(transaction.bulk_load(other, [(b"b", b""), (b"a", b"")]), Err(Error::NotSorted));
    assert_eq!(transaction.put(TREE, b"x", b""), Err(Error::NotSorted), "only rolling back helps");
    transaction.rollback_to(&savepoint).expect("roll back");
    transaction.commit(None).expect("commit");
    assert_eq!(store.snapshot().expect("snapshot").count(TREE), Ok(2));
}

#[test]
fn handles_can_be_sent_and_readers_see_one_commit() {
    fn sendable<T: Send>() {}
    fn shareable<T: Send + Sync + Clone>() {}
    sendable::<Cursor>();
    sendable::<Transaction>();
    shareable::<Store>();
    shareable::<Snapshot>();

    let store = with_tree(&MemoryVfs::new());
    let total = |snapshot: &Snapshot| -> u64 {
        let mut cursor = snapshot.cursor(TREE, Bound::Unbounded, Bound::Unbounded, Direction::Forward).expect("cursor");
        let mut total = 0;
        while let Some((_, value)) = cursor.next().expect("next") {
            total += u64::from(value[0]);
        }
        total
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let store = store.clone();
            scope.spawn(move || {
                for _ in 0..50 {
                    let snapshot = store.snapshot().expect("snapshot");
                    // Every commit keeps the sum of all values at 100 for each entry pair.
                    assert_eq!(total(&snapshot) % 100, 0);
                }
            });
        }
        for round in 0..200u32 {
            let mut transaction = store.begin().expect("begin");
            let low = (round % 90) as u8;
            transaction.put(TREE, &(round * 2).to_be_bytes(), &[low]).expect("put");
            transaction.put(TREE, &(round * 2 + 1).to_be_bytes(), &[100 - low]).expect("put");
            transaction.commit(Some(Durability::Relaxed)).expect("commit");
        }
    });
}

#[test]
fn files_are_owned_and_last() {
    let directory = std::env::temp_dir().join(format!("gingham-store-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("temporary directory");
    let vfs = NativeVfs::new(&directory);
    let read_only = StoreOptions { read_only: true, ..StoreOptions::default() };
    assert!(matches!(Store::open(Arc::new(vfs.clone()), "database", read_only.clone()), Err(Error::NotFound(_))));
    let store = with_tree(&vfs);
    put(&store, 1, Durability::Strict);
    let again = Store::open(Arc::new(vfs.clone()), "database", StoreOptions::default());
    assert_eq!(again.err(), Some(Error::Locked("database".into())));
    let snapshot = store.snapshot().expect("snapshot");
    store.close().expect("close");
    assert_eq!(snapshot.get(TREE, b"x"), Err(Error::Closed));

    let reader = open(&vfs, read_only.clone());
    let other = open(&vfs, read_only);
    assert_eq!(reader.snapshot().expect("snapshot").count(TREE), Ok(1));
    assert_eq!(other.snapshot().expect("snapshot").count(TREE), Ok(1));
    assert_eq!(reader.begin().err(), Some(Error::ReadOnly));
    drop((reader, other));

    let store = open(&vfs, StoreOptions::default());
    put(&store, 2, Durability::Relaxed);
    drop(store);
    assert_eq!(open(&vfs, StoreOptions::default()).snapshot().expect("snapshot").count(TREE), Ok(2));
    std::fs::remove_dir_all(&directory).expect("remove");
}

#[test]
fn an_export_opens_as_a_database() {
    let store = Store::memory(StoreOptions::default()).expect("memory");
    let mut transaction = store.begin().expect("begin");
    let tree = transaction.create_tree().expect("create");
    transaction.put(tree, b"key", b"value").expect("put");
    let extent = transaction.write_extent(&vec![5; 200_000]).expect("extent");
    transaction.commit(None).expect("commit");
    let vfs = MemoryVfs::new();
    vfs.insert("database", &store.export_bytes().expect("export")).expect("insert");
    // The database in memory goes on after an export, and can be exported again.
    let mut transaction = store.begin().expect("begin");
    transaction.put(tree, b"more", b"value").expect("put");
    transaction.commit(None).expect("commit");
    vfs.insert("second", &store.export_bytes().expect("export")).expect("insert");

    let copy = open(&vfs, StoreOptions::default());
    let snapshot = copy.snapshot().expect("snapshot");
    assert_eq!(snapshot.get(tree, b"key"), Ok(Some(b"value".to_vec())));
    let mut bytes = vec![0; 10];
    snapshot.read_extent(&extent, 150_000, &mut bytes).expect("read");
    assert_eq!(bytes, [5; 10]);
    let second = Store::open(Arc::new(vfs), "second", StoreOptions::default()).expect("open");
    assert_eq!(second.snapshot().expect("snapshot").count(tree), Ok(2));
    assert!(second.integrity_check(&[extent]).expect("check").is_sound());
}
