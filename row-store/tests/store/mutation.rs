//! The crash simulation must notice if the store leaves out a flush or breaks an order:
//! each mutation is one such omission, and with each the simulation has to fail.

use crate::simulation::{Effort, cut_power_everywhere, kill_then_cut_power};
use gingham_row_store::mutation::{MUTATIONS, activate};

#[test]
fn the_simulation_fails_for_every_omission() {
    let effort = Effort { mixes: 2, recovery_step: 1000, kill_step: 1 };
    let mut survived = Vec::new();
    // What goes on after a flush that failed is in faults.rs: no crash is needed for it.
    for mutation in MUTATIONS.iter().filter(|mutation| **mutation != "failed flush poisons") {
        activate(mutation);
        // Only a process that finds what another left unflushed needs that flush.
        let outcome = if *mutation == "recovered state flush" {
            kill_then_cut_power(effort)
        } else {
            cut_power_everywhere(effort)
        };
        activate("");
        match outcome {
            Ok(_) => survived.push(*mutation),
            Err(failure) => println!("{mutation}: {}", failure.what.chars().take(300).collect::<String>()),
        }
    }
    assert!(survived.is_empty(), "the simulation does not notice without: {survived:?}");
}
