//! The crash simulation: a workload whose every committed state is known, cut anywhere,
//! and a check that what is left is one of the states it may be.

pub(crate) mod workload;

use self::workload::{TREE, Workload};
use crate::random::Random;
use gingham_row_store::vfs::fault::{Fate, FaultVfs, fates};
use gingham_row_store::{Direction, Durability, Extent, Read, Store, StoreOptions};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The file the simulation works on.
pub(crate) const NAME: &str = "database";

/// One state of the database: entries of the tree, and the extents by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) entries: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(crate) extents: BTreeMap<u8, Vec<u8>>,
}

/// Keys of extents' references begin with this; what follows is the extent's number.
pub(crate) const EXTENT_PREFIX: u8 = 0xee;

pub(crate) fn options() -> StoreOptions {
    // A small log, so that checkpoints and transactions too large for it come early.
    StoreOptions { log_bytes: 32 * 1024, ..StoreOptions::default() }
}

pub(crate) fn open(vfs: &FaultVfs) -> gingham_row_store::Result<Store> {
    Store::open(Arc::new(vfs.clone()), NAME, options())
}

/// Reads everything there is, extents included.
pub(crate) fn read_content(store: &Store) -> Result<(Content, Vec<Extent>), String> {
    let text = |error: gingham_row_store::Error| error.to_string();
    let snapshot = store.snapshot().map_err(text)?;
    let mut content = Content::default();
    let mut extents = Vec::new();
    if !snapshot.tree_exists(TREE) {
        return Ok((content, extents));
    }
    let mut cursor = snapshot.cursor(TREE, Bound::Unbounded, Bound::Unbounded, Direction::Forward).map_err(text)?;
    while let Some((key, value)) = cursor.next().map_err(text)? {
        if let [EXTENT_PREFIX, number] = key {
            let extent = Extent::decode(value).ok_or("an extent's reference has another length")?;
            let mut bytes = vec![0; extent.bytes as usize];
            snapshot.read_extent(&extent, 0, &mut bytes).map_err(text)?;
            content.extents.insert(*number, bytes);
            extents.push(extent);
        } else {
            content.entries.insert(key.to_vec(), value.to_vec());
        }
    }
    Ok((content, extents))
}

/// Opens what a crash left and checks it: it is one of the states from the last that
/// was acknowledged as durable to the last that was attempted, every page has one
/// owner, and the database goes on working.
pub(crate) fn verify(vfs: &FaultVfs, workload: &Workload) -> Result<(), String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| verify_once(vfs, workload)));
    outcome.unwrap_or_else(|_| Err("the store panicked".into()))
}

fn verify_once(vfs: &FaultVfs, workload: &Workload) -> Result<(), String> {
    let store = open(vfs).map_err(|error| format!("reopening failed: {error}"))?;
    let (content, extents) = read_content(&store)?;
    if !workload.allows(&content) {
        return Err(format!("found no committed state but {}", workload.describe(&content)));
    }
    drop(extents);
    let mut expected = content;
    commit_marker(&store, b'm').map_err(|error| format!("a commit after recovery failed: {error}"))?;
    expected.entries.insert(marker_key(b'm'), workload::MARKER_VALUE.to_vec());
    commit_marker(&store, b'n').map_err(|error| format!("a second commit after recovery failed: {error}"))?;
    expected.entries.insert(marker_key(b'n'), workload::MARKER_VALUE.to_vec());
    // Without closing: what was acknowledged must be found again whatever else is lost.
    vfs.lose_power(|_, _| Fate::Drop);
    drop(store);
    let store = open(vfs).map_err(|error| format!("reopening again failed: {error}"))?;
    let (content, extents) = read_content(&store)?;
    if content != expected {
        return Err("the commits after recovery are not all there is on top".into());
    }
    let report = store.integrity_check(&extents).map_err(|error| error.to_string())?;
    if !report.is_sound() {
        return Err(format!("integrity after another commit: {:?}", report.problems));
    }
    Ok(())
}

fn marker_key(letter: u8) -> Vec<u8> {
    workload::small_key(letter, 0)
}

/// A commit that makes a record as long as the workload's relaxed ones, so that a
/// record left over behind it would fit on if nothing kept it off.
fn commit_marker(store: &Store, letter: u8) -> gingham_row_store::Result<()> {
    let mut transaction = store.begin()?;
    if !transaction.tree_exists(TREE) {
        transaction.create_tree_with_id(TREE)?;
    }
    transaction.put(TREE, &marker_key(letter), workload::MARKER_VALUE)?;
    transaction.commit(Some(Durability::Strict)).map(drop)
}

/// Where a simulation failed first.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) what: String,
}

/// How much a simulation tries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Random mixes of fates at each cut.
    pub(crate) mixes: usize,
    /// Every how many ways the recovery itself is cut as well.
    pub(crate) recovery_step: usize,
    /// Every how many operations the process is killed and a second phase cut.
    pub(crate) kill_step: u64,
}

/// Cuts the power at every operation of the workload, in every way of [`fates`].
/// Returns how many histories were checked.
pub(crate) fn cut_power_everywhere(effort: Effort) -> Result<u64, Failure> {
    let operations = whole_run()?;
    let random = &mut Random::new(1);
    let mut checked = 0;
    for at in 0..=operations {
        let vfs = FaultVfs::new();
        let workload = Workload::run(&vfs, Some(at));
        let unsynced = vfs.unsynced(NAME);
        for (number, way) in fates(&unsynced, effort.mixes, random).into_iter().enumerate() {
            let fork = vfs.fork();
            fork.lose_power(|index, _| way[index].clone());
            let before = fork.fork();
            verify(&fork, &workload)
                .map_err(|what| Failure { what: format!("cut at operation {at}, way {number} {way:?}: {what}") })?;
            checked += 1;
            if number % effort.recovery_step == 0 {
                checked += cut_recovery(&before, &workload, random).map_err(|failure| Failure {
                    what: format!("cut at operation {at}, way {number}, then {}", failure.what),
                })?;
            }
        }
    }
    Ok(checked)
}

/// Cuts the recovery and the first commit after it at every operation.
fn cut_recovery(vfs: &FaultVfs, workload: &Workload, random: &mut Random) -> Result<u64, Failure> {
    let mut checked = 0;
    for at in 0.. {
        let fork = vfs.fork();
        fork.inject(at, gingham_row_store::vfs::fault::Fault::Crash);
        let mut allowed = workload.clone();
        allowed.allow_marker(b'm', &fork);
        let outcome = open(&fork).and_then(|store| {
            let committed = commit_marker(&store, b'm');
            std::mem::forget(store);
            committed
        });
        if outcome.is_ok() && !fork.has_struck() {
            return Ok(checked);
        }
        let unsynced = fork.unsynced(NAME);
        for way in fates(&unsynced, 2, random).into_iter().step_by(3) {
            let end = fork.fork();
            end.lose_power(|index, _| way[index].clone());
            verify(&end, &allowed)
                .map_err(|what| Failure { what: format!("cut at operation {at} of recovery, {way:?}: {what}") })?;
            checked += 1;
        }
    }
    Ok(checked)
}

/// Kills the process at operations of the workload, which loses nothing but makes
/// nothing durable, lets another process go on, and cuts the power under that one.
pub(crate) fn kill_then_cut_power(effort: Effort) -> Result<u64, Failure> {
    let operations = whole_run()?;
    let random = &mut Random::new(2);
    let mut checked = 0;
    for at in (0..=operations).step_by(effort.kill_step as usize) {
        let killed = FaultVfs::new();
        let before = Workload::run(&killed, Some(at));
        killed.kill_process();
        for second in 0.. {
            let vfs = killed.fork();
            vfs.inject(second, gingham_row_store::vfs::fault::Fault::Crash);
            let workload = before.go_on(&vfs);
            let unsynced = vfs.unsynced(NAME);
            for way in fates(&unsynced, effort.mixes, random) {
                let fork = vfs.fork();
                fork.lose_power(|index, _| way[index].clone());
                verify(&fork, &workload).map_err(|what| Failure {
                    what: format!("killed at operation {at}, cut at {second} of the next process, {way:?}: {what}"),
                })?;
                checked += 1;
            }
            if !vfs.has_struck() {
                break;
            }
        }
    }
    Ok(checked)
}

/// Runs the workload without faults; how many operations it has.
fn whole_run() -> Result<u64, Failure> {
    let vfs = FaultVfs::new();
    let workload = catch_unwind(AssertUnwindSafe(|| Workload::run(&vfs, None)))
        .map_err(|_| Failure { what: "the workload panicked without any fault".into() })?;
    assert!(workload.finished, "without faults the workload finishes: {:?}", workload.stopped_by);
    Ok(workload.operations)
}
