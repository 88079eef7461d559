//! Errors instead of crashes: each operation fails, writes short or finds the device
//! full, and the store says so, keeps what was committed, and goes on if it can.

use crate::simulation::workload::{TREE, Workload};
use crate::simulation::{open, verify};
use gingham_row_store::vfs::fault::{Fate, Fault, FaultVfs};
use gingham_row_store::{Durability, Error, Extent, Read, Snapshot, Store, TreeId, mutation};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn failing_operations_lose_no_acknowledged_commit() {
    let operations = Workload::run(&FaultVfs::new(), None).operations;
    for fault in [Fault::Error, Fault::Short, Fault::Full, Fault::FullForever, Fault::LostSync] {
        for at in 0..operations {
            let vfs = FaultVfs::new();
            let workload = catch_unwind(AssertUnwindSafe(|| Workload::run_with(&vfs, Some((at, fault)))))
                .unwrap_or_else(|_| panic!("{fault:?} at operation {at} made the store panic"));
            vfs.kill_process();
            verify(&vfs, &workload).unwrap_or_else(|what| panic!("{fault:?} at operation {at}: {what}"));
        }
    }
}

/// What a store that was asked to write after a fault holds, by its own account.
fn entries(store: &Store) -> Option<u64> {
    let snapshot = store.snapshot().ok()?;
    if !snapshot.tree_exists(TREE) {
        return Some(0);
    }
    snapshot.count(TREE).ok()
}

fn step(store: &Store, number: u32) -> Result<(), Error> {
    let mut transaction = store.begin()?;
    if !transaction.tree_exists(TREE) {
        transaction.create_tree_with_id(TREE)?;
    }
    let bytes = if number.is_multiple_of(5) { 3000 } else { 40 };
    transaction.put(TREE, &number.to_be_bytes(), &vec![number as u8; bytes])?;
    if number.is_multiple_of(3) {
        let extent = transaction.write_extent(&vec![number as u8; 10_000])?;
        transaction.put(TREE, &[&[0xee], number.to_be_bytes().as_slice()].concat(), &extent.encode())?;
    }
    let durability = if number.is_multiple_of(4) { Durability::Relaxed } else { Durability::Strict };
    transaction.commit(Some(durability)).map(drop)
}

#[test]
fn after_a_clean_error_the_store_holds_what_it_held_and_goes_on() {
    let mut usable = 0;
    for fault in [Fault::Error, Fault::Short, Fault::Full, Fault::LostSync] {
        for at in 6..80 {
            let vfs = FaultVfs::new();
            let store = open(&vfs).expect("open");
            vfs.inject(at, fault);
            for number in 0..30 {
                let before = entries(&store);
                let outcome = step(&store, number);
                if number % 11 == 10 && outcome.is_ok() {
                    let _ = store.checkpoint();
                }
                if let Err(error) = outcome
                    && entries(&store).is_some()
                {
                    assert!(!matches!(error, Error::InDoubt(_)), "in doubt, but the handle goes on");
                    assert_eq!(entries(&store), before, "{fault:?} at {at}: {error}");
                    step(&store, number).unwrap_or_else(|e| panic!("{fault:?} at {at}: trying again failed: {e}"));
                    usable += 1;
                }
                if entries(&store).is_none() {
                    break;
                }
            }
            if let Some(count) = entries(&store) {
                store.close().ok();
                let store = open(&vfs).expect("reopen");
                assert_eq!(entries(&store), Some(count));
            }
        }
    }
    assert!(usable > 10, "some errors leave the store usable: {usable}");
}

#[test]
fn a_failed_flush_poisons_the_handle() {
    let vfs = FaultVfs::new();
    let store = open(&vfs).expect("open");
    step(&store, 1).expect("commit");
    vfs.inject(1, Fault::Error);
    let error = step(&store, 2).expect_err("the flush fails");
    assert!(matches!(error, Error::InDoubt(_)), "{error}");
    for outcome in [store.begin().map(drop), store.snapshot().map(drop), store.flush(), store.checkpoint()] {
        assert!(matches!(outcome, Err(Error::Poisoned(_))), "{outcome:?}");
    }
    drop(store);
    let store = open(&vfs).expect("reopening tells");
    assert_eq!(entries(&store), Some(2), "the record had been written after all");
}

/// Reads the extent that a step wrote, if it is there.
fn read_extent(snapshot: &Snapshot, number: u32) -> Result<bool, Error> {
    let reference = snapshot.get(TREE, &[&[0xee], number.to_be_bytes().as_slice()].concat())?;
    let Some(extent) = reference.as_deref().and_then(Extent::decode) else { return Ok(false) };
    snapshot.read_extent(&extent, 0, &mut vec![0; extent.bytes as usize])?;
    Ok(true)
}

/// Commits that were acknowledged as durable and are gone after a sync failed and lost
/// what it should have covered, at any operation, and power was cut at the end.
fn acknowledged_but_lost() -> Option<String> {
    const STEPS: u32 = 24;
    for at in 0.. {
        let vfs = FaultVfs::new();
        vfs.inject(at, Fault::LostSync);
        let Ok(store) = open(&vfs) else { continue };
        let mut acknowledged = Vec::new();
        for number in 0..STEPS {
            // Once the handle has failed every later step fails too, or should.
            let durable = step(&store, number).is_ok() && (!number.is_multiple_of(4) || store.flush().is_ok());
            if number % 7 == 6 {
                let _ = store.checkpoint();
            }
            if durable {
                acknowledged.push(number);
            }
        }
        let struck = vfs.has_struck();
        vfs.lose_power(|_, _| Fate::Drop);
        drop(store);
        if !struck {
            return None;
        }
        let lost = open(&vfs).and_then(|store| {
            let snapshot = store.snapshot()?;
            let mut lost = Vec::new();
            for number in acknowledged {
                // Values and extents too: their pages are written once, and not again.
                let is_whole = snapshot.tree_exists(TREE)
                    && snapshot.get(TREE, &number.to_be_bytes())?.is_some()
                    && (!number.is_multiple_of(3) || read_extent(&snapshot, number)?);
                if !is_whole {
                    lost.push(number);
                }
            }
            Ok(lost)
        });
        match lost {
            Ok(lost) if lost.is_empty() => {}
            Ok(lost) => return Some(format!("sync {at} failed, commits {lost:?} are lost")),
            Err(error) => return Some(format!("sync {at} failed: {error}")),
        }
    }
    None
}

#[test]
fn what_a_failed_flush_loses_was_never_acknowledged() {
    assert_eq!(acknowledged_but_lost(), None);
    mutation::activate("failed flush poisons");
    let found = acknowledged_but_lost();
    mutation::activate("");
    assert!(found.is_some(), "a handle that goes on after a failed flush loses commits");
}

#[test]
fn a_full_device_still_serves_reads_and_can_be_emptied() {
    let vfs = FaultVfs::new();
    let store = open(&vfs).expect("open");
    for number in 0..20 {
        step(&store, number).expect("commit");
    }
    store.checkpoint().expect("checkpoint");
    vfs.inject(0, Fault::FullForever);
    let mut transaction = store.begin().expect("begin");
    let error = transaction.write_extent(&vec![1; 3_000_000]).expect_err("full");
    assert_eq!(error, Error::Full);
    assert!(transaction.put(TREE, b"still works", b"yes").is_ok(), "the log has its space already");
    transaction.commit(None).expect("commit");
    let mut transaction = store.begin().expect("begin");
    transaction.clear_tree(TREE).expect("clear");
    transaction.commit(None).expect("freeing space needs next to none");
    assert_eq!(entries(&store), Some(0));
    assert_eq!(TreeId(20), TREE);
}
