//! Cutting the power, and killing the process, at every operation of the workload.

use crate::content::{Content, NAME, check_integrity, execute, open, read_content};
use crate::is_long;
use crate::workload::{Recording, TABLES, states};
use gingham::vfs::fault::{Fate, FaultVfs, Random, fates};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How much a simulation tries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Ways of losing power tried at each operation, at the most; the first two are that
    /// everything and that nothing reached the device.
    pub(crate) ways_max: usize,
    /// Every how many histories the recovery itself is cut at each of its operations.
    pub(crate) recovery_step: u64,
}

impl Effort {
    fn by_environment() -> Self {
        if is_long() { Self { ways_max: 40, recovery_step: 37 } } else { Self { ways_max: 3, recovery_step: 149 } }
    }
}

/// The ways for power to be lost over a disk, at most `ways_max` of them.
pub(crate) fn ways(disk: &FaultVfs, ways_max: usize, random: &mut Random) -> Vec<Vec<Fate>> {
    let mut ways = fates(&disk.unsynced(NAME), 4, random);
    while ways.len() > ways_max.max(2) {
        ways.swap_remove(2 + random.below(ways.len() as u64 - 2) as usize);
    }
    ways
}

/// A copy of a disk after power was lost.
pub(crate) fn without_power(disk: &FaultVfs, way: &[Fate]) -> FaultVfs {
    let left = disk.fork();
    left.lose_power(|index, _| way[index].clone());
    left
}

/// A copy of a disk after the process was killed.
pub(crate) fn killed(disk: &FaultVfs) -> FaultVfs {
    let left = disk.fork();
    left.kill_process();
    left
}

/// Opens what a crash left: it has one of the allowed states, is whole, and can be
/// written, and what is written then lasts.
pub(crate) fn verify(disk: &FaultVfs, allowed: &[Content], tables: &[&str]) -> Result<(), String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| verify_once(disk, allowed, tables)));
    outcome.unwrap_or_else(|_| Err("it panicked".into()))
}

fn verify_once(disk: &FaultVfs, allowed: &[Content], tables: &[&str]) -> Result<(), String> {
    let database = open(disk).map_err(|error| format!("reopening failed: {error}"))?;
    check_integrity(&database)?;
    let found = read_content(&database, tables).map_err(|error| format!("reading failed: {error}"))?;
    if !allowed.contains(&found) {
        return Err(format!("found {found:?}, which is none of the {} states allowed", allowed.len()));
    }
    go_on(&database).map_err(|error| format!("a commit after recovery failed: {error}"))?;
    // Nothing that was acknowledged may need more than what was flushed for it.
    disk.lose_power(|_, _| Fate::Drop);
    drop(database);
    let database = open(disk).map_err(|error| format!("reopening again failed: {error}"))?;
    let again = read_content(&database, tables).map_err(|error| format!("reading again failed: {error}"))?;
    if again != found {
        return Err(format!("after another commit and crash there is {again:?} instead of {found:?}"));
    }
    let marker = read_content(&database, &["usable"]).map_err(|error| error.to_string())?;
    if marker.is_empty() {
        return Err("a commit after recovery was lost".into());
    }
    check_integrity(&database)
}

/// What a process does with a database that it found: commits that use free space.
fn go_on(database: &gingham::Database) -> gingham::Result<()> {
    let mut connection = database.connect();
    execute(&mut connection, "CREATE TABLE IF NOT EXISTS usable (a INTEGER, v TEXT)")?;
    execute(&mut connection, "INSERT INTO usable VALUES (1, repeat('v', 9000))")
}

/// Cuts the power, after each operation of opening the database and going on.
fn cut_recovery(disk: &FaultVfs, allowed: &[Content], effort: Effort, random: &mut Random) -> Result<u64, String> {
    let again = disk.fork();
    again.start_recording();
    let outcome = open(&again).and_then(|database| go_on(&database));
    outcome.map_err(|error| format!("recovery without a cut failed: {error}"))?;
    let mut checked = 0;
    for (at, moment) in again.stop_recording().iter().enumerate() {
        for way in ways(moment, effort.ways_max.min(4), random) {
            verify(&without_power(moment, &way), allowed, &TABLES)
                .map_err(|what| format!("cut at operation {at} of recovery, {way:?}: {what}"))?;
            checked += 1;
        }
    }
    Ok(checked)
}

/// Crashes everywhere in a recorded run. Returns how many histories were checked.
pub(crate) fn crash_everywhere(effort: Effort) -> Result<u64, String> {
    let calm = catch_unwind(|| Recording::of(states()?));
    let recording = match calm {
        Ok(Ok(recording)) => recording,
        Ok(Err(error)) => return Err(format!("the workload failed without any fault: {error}")),
        Err(_) => return Err("the workload panicked without any fault".into()),
    };
    let random = &mut Random::new(1);
    let mut seen = HashSet::new();
    let mut checked = 0;
    for (at, (step, disk)) in recording.history.iter().enumerate() {
        let allowed = recording.allowed(*step);
        let mut ends: Vec<(String, FaultVfs)> = ways(disk, effort.ways_max, random)
            .into_iter()
            .map(|way| (format!("power lost, {way:?}"), without_power(disk, &way)))
            .collect();
        ends.push(("killed".into(), killed(disk)));
        for (how, end) in ends {
            // Most operations end in what others ended in.
            if !seen.insert((end.digest(), how == "killed", *step)) {
                continue;
            }
            let place = || format!("operation {at} in step {step}, {how}");
            if u64::is_multiple_of(checked, effort.recovery_step) {
                checked +=
                    cut_recovery(&end, allowed, effort, random).map_err(|what| format!("{}, then {what}", place()))?;
            }
            verify(&end, allowed, &TABLES).map_err(|what| format!("{}: {what}", place()))?;
            checked += 1;
        }
    }
    Ok(checked)
}

#[test]
fn a_crash_anywhere_leaves_a_committed_state() {
    let checked = crash_everywhere(Effort::by_environment()).unwrap_or_else(|what| panic!("{what}"));
    println!("{checked} histories");
    assert!(checked > 200, "{checked}");
}
