//! What no bytes may do: one function for each place where bytes or text come in that
//! someone else may have made. Each takes any bytes, turns them into an input that gets
//! past the first checks (seals pages, chains records), and panics if Gingham panics,
//! contradicts itself, or gives a wrong answer. Errors are right answers.
//!
//! `tests/checks.rs` runs each over seeded inputs; `fuzz/` wraps each for cargo-fuzz.
//! Nothing here is part of the product.

#![forbid(unsafe_code)]

mod base;
pub mod file;
pub mod log;
pub mod page;
pub mod plan;
pub mod row;
pub mod row_group;
pub mod sql;

/// Every check by name, with the most bytes that are of use to it.
pub const CHECKS: [(&str, fn(&[u8]), usize); 7] = [
    ("file", file::check, 400),
    ("log", log::check, 1200),
    ("page", page::check, 300),
    ("plan", plan::check, plan::BYTES_MAX),
    ("row", row::check, 200),
    ("row_group", row_group::check, 300),
    ("sql", sql::check, 120),
];
