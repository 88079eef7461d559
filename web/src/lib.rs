//! The core module of the npm package `gingham`: both stores and execution in one wasm
//! module (D-15), on files of the origin private file system or in memory.
//!
//! The TypeScript in `ts/` is this crate's only caller. The border is built for speed:
//!
//! * [`input`]: JavaScript writes parameters and columns into the module's memory;
//! * [`output`]: JavaScript reads result columns in place, from the vectors' own memory;
//! * calls take and give numbers; [`failure`] keeps the error of a call that failed.
//!
//! [`session`], [`prepared`], [`script`] and [`import`] are what JavaScript holds. [`opfs`] keeps the
//! files, [`host`] reaches the planner module and the clock, and [`warm_up`] runs what first statements
//! would pay for. The module is built to
//! abort on a panic: ts/core-module.ts catches the trap and declares the module dead.

#![allow(unreachable_pub, reason = "wasm-bindgen exports what is public in whichever module")]

mod arrow;
mod columns;
mod failure;
mod host;
mod import;
mod input;
mod opfs;
mod output;
mod prepared;
mod script;
mod session;
#[cfg(feature = "testing")]
mod testing;
mod warm_up;

#[cfg(all(target_arch = "wasm32", not(target_feature = "atomics")))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
