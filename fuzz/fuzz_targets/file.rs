//! See engine/checks/src/file.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gingham_checks::file::check(data));
