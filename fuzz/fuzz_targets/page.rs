//! See engine/checks/src/page.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gingham_checks::page::check(data));
