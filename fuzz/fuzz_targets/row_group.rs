//! See engine/checks/src/row_group.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gingham_checks::row_group::check(data));
