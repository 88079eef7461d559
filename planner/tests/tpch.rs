//! The 22 TPC-H queries against golden plans.
//!
//! `UPDATE_GOLDEN=1 cargo test -p gingham-planner --test tpch` writes the files anew;
//! look at the difference before committing it.

#[allow(dead_code)]
mod support;

use gingham_plan::{Node, explain};
use std::fs;
use std::path::PathBuf;

fn sql(number: usize) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../tpch/queries/q{number:02}.sql"));
    let text = fs::read_to_string(&path).expect("the query is there");
    text.trim().trim_end_matches(';').to_owned()
}

#[test]
fn plans_are_as_reviewed() {
    let catalog = support::tpch();
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut different = Vec::new();
    for number in 1..=22 {
        let actual = support::explained(&catalog, &sql(number));
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/q{number:02}.txt"));
        if update {
            fs::write(&path, &actual).expect("the golden file can be written");
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if actual != expected {
            different.push(format!("q{number:02}:\n{actual}"));
        }
    }
    assert!(different.is_empty(), "plans changed:\n{}", different.join("\n"));
}

#[test]
fn nothing_is_run_row_by_row_or_multiplied() {
    let catalog = support::tpch();
    for number in 1..=22 {
        let query = support::query(&catalog, &sql(number));
        for root in std::iter::once(&query.root).chain(&query.subqueries).chain(&query.ctes) {
            explain::walk(root, &mut |node| match node {
                Node::Apply(_) => panic!("q{number:02} runs a subplan row by row"),
                Node::Join(join) => assert!(!join.left_keys.is_empty(), "q{number:02} joins without a key"),
                _ => {}
            });
        }
    }
}
