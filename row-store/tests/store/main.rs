//! The store's tests against its public interface, in one binary so that they link once.
//!
//! `GINGHAM_THOROUGH=1` makes the crash simulation several times as long;
//! `GINGHAM_SEED=<seed>` replays one seed of the model test.

mod commits;
mod corruption;
mod crash;
mod damage;
mod faults;
mod golden;
mod model;
mod mutation;
mod random;
mod simulation;
mod space;
mod vfs;
