//! See engine/checks/src/sql.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gingham_checks::sql::check(data));
