//! The crash simulation: power is cut at every operation of the workload, every change
//! that was not flushed is kept, lost or torn, and the database must come back with a
//! committed state that has every acknowledged commit.

use crate::simulation::{Effort, cut_power_everywhere, kill_then_cut_power};

/// `GINGHAM_THOROUGH=1` tries several times as much.
fn effort() -> Effort {
    if std::env::var_os("GINGHAM_THOROUGH").is_some() {
        Effort { mixes: 16, recovery_step: 7, kill_step: 1 }
    } else {
        Effort { mixes: 4, recovery_step: 37, kill_step: 7 }
    }
}

#[test]
fn losing_power_anywhere_loses_no_acknowledged_commit() {
    let checked = cut_power_everywhere(effort()).unwrap_or_else(|failure| panic!("{}", failure.what));
    println!("{checked} histories");
    assert!(checked > 1000);
}

#[test]
fn losing_power_after_a_killed_process_loses_no_acknowledged_commit() {
    let effort = Effort { mixes: 2, ..effort() };
    let checked = kill_then_cut_power(effort).unwrap_or_else(|failure| panic!("{}", failure.what));
    println!("{checked} histories");
    assert!(checked > 1000);
}
