//! See engine/checks/src/plan.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gingham_checks::plan::check(data));
