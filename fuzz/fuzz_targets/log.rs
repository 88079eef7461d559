//! See engine/checks/src/log.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gingham_checks::log::check(data));
