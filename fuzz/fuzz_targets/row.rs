//! See engine/checks/src/row.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gingham_checks::row::check(data));
