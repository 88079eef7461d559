//! The store against `BTreeMap`: random changes, savepoints, snapshots and cursors held
//! across commits, checkpoints and reopening. A failure prints its seed; run that one
//! with `GINGHAM_SEED=<seed> cargo test -p gingham-row-store model`.

use crate::random::Random;
use gingham_row_store::{
    Direction, Durability, Extent, MemoryVfs, Read, Savepoint, Snapshot, Store, StoreOptions, Transaction, TreeId,
};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

type Tree = BTreeMap<Vec<u8>, Vec<u8>>;

/// What the database should hold.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Model {
    trees: BTreeMap<u32, Tree>,
    extents: BTreeMap<u32, (Extent, Vec<u8>)>,
}

fn random_key(random: &mut Random) -> Vec<u8> {
    match random.below(10) {
        0..6 => random.below(3000).to_be_bytes().to_vec(),
        6 => (random.below(40) as u32).to_be_bytes().to_vec(),
        7 => vec![b'x'; random.below(900) as usize],
        _ => format!("key-{}", random.below(2000)).into_bytes(),
    }
}

fn random_value(random: &mut Random) -> Vec<u8> {
    let bytes = match random.below(40) {
        0 => random.below(40_000),
        1..4 => random.below(2500),
        _ => random.below(60),
    };
    let first = random.below(256) as u8;
    (0..bytes).map(|at| first.wrapping_add(at as u8)).collect()
}

fn change(transaction: &mut Transaction, model: &mut Model, random: &mut Random) {
    let trees: Vec<u32> = model.trees.keys().copied().collect();
    let tree = if trees.is_empty() { 0 } else { trees[random.below(trees.len() as u64) as usize] };
    let id = TreeId(tree);
    match random.below(100) {
        _ if trees.is_empty() => {
            let id = transaction.create_tree().expect("create");
            model.trees.insert(id.0, Tree::new());
        }
        0 if trees.len() < 5 => {
            let id = transaction.create_tree().expect("create");
            model.trees.insert(id.0, Tree::new());
        }
        1 if trees.len() > 2 && random.below(4) == 0 => {
            transaction.drop_tree(id).expect("drop");
            model.trees.remove(&tree);
        }
        2 if random.below(10) == 0 => {
            transaction.clear_tree(id).expect("clear");
            model.trees.insert(tree, Tree::new());
        }
        3 => {
            let bytes: Vec<u8> = random_value(random).repeat(random.below(8) as usize);
            let extent = transaction.write_extent(&bytes).expect("extent");
            model.extents.insert(extent.first_page.0, (extent, bytes));
        }
        4 => {
            let first = model.extents.keys().nth(random.below(8) as usize).copied();
            if let Some((extent, _)) = first.and_then(|first| model.extents.remove(&first)) {
                transaction.free_extent(&extent).expect("free");
            }
        }
        6 => {
            // Sometimes all of them above what the tree has, sometimes among it.
            let entries = model.trees.get_mut(&tree).expect("exists");
            let above = random.below(3) > 0;
            let prefix = if above { entries.keys().next_back().cloned().unwrap_or_default() } else { Vec::new() };
            let mut loaded = Tree::new();
            for _ in 0..random.below(200) {
                let mut key = if prefix.len() < 1000 { prefix.clone() } else { Vec::new() };
                key.extend(random.below(3000).to_be_bytes());
                loaded.insert(key, random_value(random));
            }
            entries.extend(loaded.clone());
            assert_eq!(transaction.bulk_load(id, &loaded), Ok(loaded.len() as u64));
            assert_eq!(transaction.count(id), Ok(entries.len() as u64));
        }
        5 => {
            let (a, b) = (random.below(3000), random.below(100));
            let (low, high) = (a.to_be_bytes(), (a + b).to_be_bytes());
            let bounds = (Bound::Included(low.as_slice()), Bound::Excluded(high.as_slice()));
            let removed = transaction.delete_range(id, bounds.0, bounds.1).expect("delete range");
            let entries = model.trees.get_mut(&tree).expect("exists");
            let before = entries.len();
            entries.retain(|key, _| !(low.as_slice()..high.as_slice()).contains(&key.as_slice()));
            assert_eq!(removed as usize, before - entries.len());
        }
        7..10 => {
            let mut changes = BTreeMap::new();
            for _ in 0..random.below(300) {
                let value = if random.below(3) > 0 { Some(random_value(random)) } else { None };
                changes.insert(random_key(random), value);
            }
            let list: Vec<(&[u8], Option<&[u8]>)> =
                changes.iter().map(|(key, value)| (key.as_slice(), value.as_deref())).collect();
            transaction.apply(id, &list).expect("apply");
            let entries = model.trees.get_mut(&tree).expect("exists");
            for (key, value) in changes {
                match value {
                    Some(value) => drop(entries.insert(key, value)),
                    None => drop(entries.remove(&key)),
                }
            }
            assert_eq!(transaction.count(id), Ok(entries.len() as u64));
        }
        10..35 => {
            let (key, entries) = (random_key(random), model.trees.get_mut(&tree).expect("exists"));
            assert_eq!(transaction.delete(id, &key).expect("delete"), entries.remove(&key).is_some());
        }
        35..50 => {
            let (key, value) = (random_key(random), random_value(random));
            let entries = model.trees.get_mut(&tree).expect("exists");
            let added = transaction.insert(id, &key, &value).expect("insert");
            assert_eq!(added, !entries.contains_key(&key));
            entries.entry(key).or_insert(value);
        }
        _ => {
            let (key, value) = (random_key(random), random_value(random));
            let entries = model.trees.get_mut(&tree).expect("exists");
            let replaced = transaction.put(id, &key, &value).expect("put");
            assert_eq!(replaced, entries.insert(key, value).is_some());
        }
    }
}

fn check(read: &dyn Read, model: &Model, random: &mut Random) {
    assert_eq!(
        read.trees().iter().map(|tree| tree.0).collect::<Vec<_>>(),
        model.trees.keys().copied().collect::<Vec<_>>()
    );
    for (tree, entries) in &model.trees {
        let id = TreeId(*tree);
        assert_eq!(read.count(id).expect("count"), entries.len() as u64);
        let mut cursor = read.cursor(id, Bound::Unbounded, Bound::Unbounded, Direction::Forward).expect("cursor");
        for (key, value) in entries {
            assert_eq!(cursor.next().expect("next"), Some((key.as_slice(), value.as_slice())));
        }
        assert_eq!(cursor.next().expect("next"), None);
        for _ in 0..3 {
            let key = random_key(random);
            assert_eq!(read.get(id, &key).expect("get").as_ref(), entries.get(&key));
            check_range(read, id, entries, random);
        }
    }
    for (extent, bytes) in model.extents.values() {
        let offset = random.below(bytes.len() as u64 + 1);
        let mut found = vec![0; bytes.len() - offset as usize];
        read.read_extent(extent, offset, &mut found).expect("extent");
        assert_eq!(found, bytes[offset as usize..]);
    }
}

fn random_bound(random: &mut Random) -> Bound<Vec<u8>> {
    match random.below(5) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Included(random_key(random)),
        _ => Bound::Excluded(random_key(random)),
    }
}

fn check_range(read: &dyn Read, tree: TreeId, entries: &Tree, random: &mut Random) {
    let (lower, upper) = (random_bound(random), random_bound(random));
    let inside = |key: &[u8]| {
        (match &lower {
            Bound::Included(lower) => key >= lower.as_slice(),
            Bound::Excluded(lower) => key > lower.as_slice(),
            Bound::Unbounded => true,
        }) && (match &upper {
            Bound::Included(upper) => key <= upper.as_slice(),
            Bound::Excluded(upper) => key < upper.as_slice(),
            Bound::Unbounded => true,
        })
    };
    let expected: Vec<&[u8]> = entries.keys().map(Vec::as_slice).filter(|key| inside(key)).collect();
    let bounds = (lower.as_ref().map(Vec::as_slice), upper.as_ref().map(Vec::as_slice));
    assert_eq!(read.count_range(tree, bounds.0, bounds.1).expect("count"), expected.len() as u64);
    for direction in [Direction::Forward, Direction::Reverse] {
        let mut cursor = read.cursor(tree, bounds.0, bounds.1, direction).expect("cursor");
        let mut found = Vec::new();
        while let Some((key, _)) = cursor.next().expect("next") {
            found.push(key.to_vec());
        }
        if direction == Direction::Reverse {
            found.reverse();
        }
        assert_eq!(found, expected, "{direction:?} {bounds:?}");
        let target = random_key(random);
        cursor.seek(&target).expect("seek");
        let next = cursor.next().expect("next").map(|entry| entry.0.to_vec());
        let sought = match direction {
            Direction::Forward => expected.iter().find(|key| **key >= target.as_slice()),
            Direction::Reverse => expected.iter().rev().find(|key| **key <= target.as_slice()),
        };
        assert_eq!(next.as_deref(), sought.copied(), "seek {target:?} {direction:?} {bounds:?}");
    }
}

fn run(seed: u64, file: bool) {
    let random = &mut Random::new(seed);
    let vfs = Arc::new(MemoryVfs::new());
    let options = StoreOptions {
        log_bytes: 256 * 1024,
        cache_bytes_max: if random.below(2) == 0 { 0 } else { 64 << 20 },
        dirty_bytes_max: if random.below(2) == 0 { 40 * 8192 } else { 64 << 20 },
        durability: if random.below(2) == 0 { Durability::Strict } else { Durability::Relaxed },
        ..StoreOptions::default()
    };
    let open = |vfs: &Arc<MemoryVfs>| {
        let vfs: Arc<MemoryVfs> = Arc::clone(vfs);
        Store::open(vfs, "model", options.clone()).expect("open")
    };
    let mut store = if file { open(&vfs) } else { Store::memory(options.clone()).expect("memory") };
    let mut committed = Model::default();
    let mut snapshots: Vec<(Snapshot, Model)> = Vec::new();
    for _ in 0..40 {
        let mut transaction = store.begin().expect("begin");
        let mut model = committed.clone();
        let mut savepoints: Vec<(Savepoint, Model)> = Vec::new();
        let changes_max = if random.below(8) == 0 { 1500 } else { 60 };
        for _ in 0..random.below(changes_max) {
            match random.below(40) {
                0 => savepoints.push((transaction.savepoint().expect("savepoint"), model.clone())),
                1 if !savepoints.is_empty() => {
                    let index = random.below(savepoints.len() as u64) as usize;
                    transaction.rollback_to(&savepoints[index].0).expect("roll back");
                    savepoints.truncate(index + 1);
                    model = savepoints[index].1.clone();
                }
                2 if !savepoints.is_empty() => {
                    let index = random.below(savepoints.len() as u64) as usize;
                    transaction.release(savepoints[index].0).expect("release");
                    savepoints.truncate(index);
                }
                3 if random.below(10) == 0 => check(&transaction, &model, random),
                4 if !model.trees.is_empty() => {
                    // A cursor sees what was when it was made, whatever is changed or undone since.
                    let (tree, entries) =
                        model.trees.iter().next().map(|(t, e)| (TreeId(*t), e.clone())).expect("some");
                    let mut cursor = transaction
                        .cursor(tree, Bound::Unbounded, Bound::Unbounded, Direction::Forward)
                        .expect("cursor");
                    for _ in 0..10 {
                        change(&mut transaction, &mut model, random);
                    }
                    if let Some((savepoint, at)) = savepoints.last() {
                        transaction.rollback_to(savepoint).expect("roll back");
                        model = at.clone();
                        change(&mut transaction, &mut model, random);
                    }
                    for (key, value) in &entries {
                        assert_eq!(cursor.next().expect("next"), Some((key.as_slice(), value.as_slice())));
                    }
                    assert_eq!(cursor.next().expect("next"), None);
                }
                _ => change(&mut transaction, &mut model, random),
            }
        }
        if random.below(5) == 0 {
            transaction.rollback();
        } else {
            transaction.commit(None).expect("commit");
            committed = model;
        }
        check(&store.snapshot().expect("snapshot"), &committed, random);
        if random.below(4) == 0 {
            snapshots.push((store.snapshot().expect("snapshot"), committed.clone()));
        }
        if random.below(8) == 0 {
            store.checkpoint().expect("checkpoint");
        }
        if snapshots.len() > 3 {
            let (snapshot, model) = snapshots.remove(random.below(3) as usize);
            check(&snapshot, &model, random);
        }
        if random.below(4) == 0 {
            let extents: Vec<Extent> = committed.extents.values().map(|extent| extent.0).collect();
            // Extents that only a snapshot still has are held pages.
            let report = store.integrity_check(&extents).expect("check");
            assert!(report.is_sound(), "{:?}", report.problems);
        }
        if file && random.below(10) == 0 {
            snapshots.clear();
            if random.below(2) == 0 {
                store.close().expect("close");
            } else {
                drop(store);
            }
            store = open(&vfs);
            check(&store.snapshot().expect("snapshot"), &committed, random);
        }
    }
    let exported = store.export_bytes().expect("export");
    vfs.insert("copy", &exported).expect("insert");
    let copy = Store::open(vfs, "copy", options).expect("open copy");
    check(&copy.snapshot().expect("snapshot"), &committed, random);
}

fn seeds(name: &str, file: bool) {
    if let Some(seed) = std::env::var("GINGHAM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        return run(seed, file);
    }
    for seed in 0..30 {
        let outcome = std::panic::catch_unwind(|| run(seed, file));
        assert!(outcome.is_ok(), "{name}: seed {seed} failed; replay with GINGHAM_SEED={seed}");
    }
}

#[test]
fn a_file_behaves_like_a_map() {
    seeds("file", true);
}

#[test]
fn memory_behaves_like_a_map() {
    seeds("memory", false);
}
