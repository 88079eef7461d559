//! SQL workloads over a disk that fails: power is cut at every operation, processes are
//! killed, operations fail, bits flip and ends are missing. The database must come back
//! whole, with a state that some commit left and no acknowledged one missing.
//!
//! The row store proves its own pages and log (`row-store/tests/store/`); this proves
//! that what the engine builds from them is one commit too, in both stores.
//!
//! `GINGHAM_LONG=1` tries many times as much; `GINGHAM_SEED=<seed>` replays one seed of
//! the random workloads.

mod content;
mod damage;
mod faults;
mod mutation;
mod random;
mod simulation;
mod workload;

/// Whether to run the long forms.
fn is_long() -> bool {
    std::env::var_os("GINGHAM_LONG").is_some()
}
