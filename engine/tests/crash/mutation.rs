//! The SQL simulation must notice too if the store leaves out a flush or breaks an order.

use crate::is_long;
use crate::simulation::{Effort, crash_everywhere};
use gingham_row_store::mutation::{MUTATIONS, activate};

/// What this workload cannot show, and where it is shown instead.
const ELSEWHERE: [&str; 1] = [
    // No crash is needed: row-store/tests/store/faults.rs.
    "failed flush poisons",
];

#[test]
fn the_simulation_fails_for_every_omission() {
    if !is_long() {
        // The row store's own list is run each time; this one costs minutes.
        return;
    }
    let mut survived = Vec::new();
    for mutation in MUTATIONS.iter().filter(|mutation| !ELSEWHERE.contains(mutation)) {
        activate(mutation);
        let outcome = crash_everywhere(Effort { ways_max: 60, recovery_step: 3 });
        activate("");
        match outcome {
            Ok(_) => survived.push(*mutation),
            Err(what) => println!("{mutation}: {}", what.chars().take(300).collect::<String>()),
        }
    }
    assert!(survived.is_empty(), "the simulation does not notice without: {survived:?}");
}
