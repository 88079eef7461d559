//! `PRAGMA integrity_check`: pages and trees, then both stores and every index against
//! each other.
//!
//! The store verifies that each page has one owner and that trees are in order. Here it
//! is checked that each tree belongs to a table, that each row has its key and an entry in
//! every index and each entry its row, and that row groups and marks say the truth. What
//! cannot be read is a finding like any other.

mod groups;
mod rows;

use crate::access::{TableAccess, View};
use crate::database::Shared;
use crate::error::Result;
use crate::schema::{SCHEMA_TREE, Schema, Table};
use crate::table::split_group;
use gingham_plan::Storage;
use gingham_row_store::{Direction, Extent, IntegrityReport, Read, Snapshot, TreeId};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

/// The first number that a table's tree can have.
const TABLE_TREES_FIRST: u32 = 16;
/// Findings reported at the most; a damaged file may have one for each row.
const PROBLEMS_MAX: usize = 100;

/// What is wrong with a database so far.
#[derive(Default)]
struct Problems(Vec<String>);

impl Problems {
    fn report(&mut self, what: String) {
        if self.0.len() < PROBLEMS_MAX {
            self.0.push(what);
        }
    }

    /// Runs a check of a table whose failure is a finding.
    fn check(&mut self, table: &Table, check: impl FnOnce(&mut Self) -> Result<()>) {
        if let Err(error) = check(self) {
            self.report(format!("table {}: {error}", table.record.name));
        }
    }
}

/// Verifies the newest commit.
pub(crate) fn check(shared: &Arc<Shared>) -> Result<IntegrityReport> {
    let (snapshot, schema) = shared.snapshot()?;
    let mut problems = Problems::default();
    check_trees(&snapshot, &schema, &mut problems);
    let mut extents = Vec::new();
    let access =
        TableAccess { shared: Arc::clone(shared), schema: Arc::clone(&schema), view: View::Snapshot(snapshot.clone()) };
    for table in schema.tables() {
        problems.check(table, |_| table_extents(&snapshot, table, &mut extents));
        problems.check(table, |problems| rows::check(&access, &snapshot, table, problems));
        problems.check(table, |problems| groups::check(shared, &snapshot, table, problems));
    }
    let mut report = shared.store.integrity_check(&extents)?;
    report.problems.extend(problems.0);
    report.problems.truncate(PROBLEMS_MAX);
    Ok(report)
}

/// Every tree has one owner, and every owner its trees.
fn check_trees(snapshot: &Snapshot, schema: &Schema, problems: &mut Problems) {
    let mut owners: BTreeMap<TreeId, String> = BTreeMap::from([(SCHEMA_TREE, "the schema".to_owned())]);
    for table in schema.tables() {
        let trees = table.record.trees;
        let own = [trees.rows, trees.groups, trees.marks].map(TreeId);
        for tree in own.into_iter().chain(table.indexes.iter().map(|index| index.tree)) {
            let owner = format!("table {}", table.record.name);
            if !snapshot.tree_exists(tree) {
                problems.report(format!("{owner} has lost its tree {}", tree.0));
            }
            if let Some(other) = owners.insert(tree, owner.clone()) {
                problems.report(format!("tree {} belongs to {other} and to {owner}", tree.0));
            }
        }
    }
    // Trees of low numbers are the engine's own.
    for tree in snapshot.trees().into_iter().filter(|tree| tree.0 >= TABLE_TREES_FIRST && !owners.contains_key(tree)) {
        problems.report(format!("tree {} belongs to no table", tree.0));
    }
}

fn table_extents(read: &impl Read, table: &Table, extents: &mut Vec<Extent>) -> Result<()> {
    if table.record.storage == Storage::Row {
        return Ok(());
    }
    let mut cursor = read.cursor(table.groups_tree(), Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
    while let Some((_, record)) = cursor.next()? {
        extents.push(split_group(record)?.0);
    }
    Ok(())
}
