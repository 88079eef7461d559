//! VACUUM: every tree and row group written anew without gaps, then what lies at the
//! file's end moved into the gaps that are left, and the file cut.
//!
//! Each pass is a transaction like any other, committed by checkpoint, so a crash leaves
//! the file as it was before the pass or after it. The first one needs free pages for
//! everything while the old ones are still in use, so what it writes may lie behind gaps
//! as large as itself; the later ones move only as much as the gaps hold.

use crate::connection::Connection;
use crate::error::Result;
use crate::schema::Table;
use crate::statement::Rows;
use crate::table::{Writer, split_group};
use gingham_column_store::storage::RowGroupMeta;
use gingham_plan::{SqlError, Storage};
use gingham_row_store::{Direction, Read};
use std::ops::Bound;
use std::sync::Arc;

/// Passes that move pages down. Each moves all that fits; what leads to moved pages moves
/// too, so that a few gaps are left for the next.
const PASSES_MAX: usize = 6;
/// A file with this many free pages left among a hundred is compact.
const FREE_PERCENT_MAX: u64 = 1;

#[inline(never)]
pub(super) fn vacuum(connection: &mut Connection) -> Result<Rows> {
    if connection.in_transaction() {
        return Err(SqlError::new("25001", "VACUUM cannot run inside a transaction").into());
    }
    let shared = Arc::clone(&connection.shared);
    pass(connection, None)?;
    for _ in 0..PASSES_MAX {
        let now = shared.store.statistics();
        if now.free_pages * 100 <= now.pages * FREE_PERCENT_MAX {
            break;
        }
        let boundary = u32::try_from(now.pages - now.free_pages).unwrap_or(u32::MAX);
        pass(connection, Some(boundary))?;
        if shared.store.statistics().pages >= now.pages {
            break;
        }
    }
    Ok(Rows::changes_only(0))
}

/// Writes everything anew, or moves only what lies behind a boundary; then cuts the file.
fn pass(connection: &mut Connection, boundary: Option<u32>) -> Result<()> {
    let tables: Vec<Arc<Table>> = connection.write_schema().tables().cloned().collect();
    connection.write(true, |connection| {
        connection.with_writer(|writer| {
            tables.iter().try_for_each(|table| rewrite_groups(writer, table, boundary))?;
            for tree in writer.transaction.trees() {
                match boundary {
                    None => writer.transaction.rebuild_tree(tree)?,
                    Some(boundary) => writer.transaction.relocate_tree(tree, boundary)?,
                }
            }
            Ok(())
        })
    })?;
    Ok(connection.shared.store.compact()?)
}

/// Writes a table's row groups to other pages; with a boundary only those that lie behind
/// it, and only where there is a lower place for them.
fn rewrite_groups(writer: &mut Writer<'_>, table: &Table, boundary: Option<u32>) -> Result<()> {
    if table.record.storage == Storage::Row {
        return Ok(());
    }
    let everything = (Bound::Unbounded, Bound::Unbounded);
    let mut records = Vec::new();
    let mut cursor = writer.transaction.cursor(table.groups_tree(), everything.0, everything.1, Direction::Forward)?;
    while let Some((key, record)) = cursor.next()? {
        records.push((key.to_vec(), record.to_vec()));
    }
    drop(cursor);
    for (key, record) in records {
        let (old, meta) = split_group(&record)?;
        if boundary.is_some_and(|boundary| old.first_page.0.saturating_add(old.pages) <= boundary) {
            continue;
        }
        let mut meta = RowGroupMeta::decode(meta)?;
        let mut bytes = vec![0; usize::try_from(old.bytes).unwrap_or(usize::MAX)];
        writer.transaction.read_extent(&old, 0, &mut bytes)?;
        meta.extent = writer.transaction.write_extent(&bytes)?;
        if boundary.is_some() && meta.extent.first_page > old.first_page {
            writer.transaction.free_extent(&meta.extent)?;
            continue;
        }
        writer.transaction.free_extent(&old)?;
        crate::table::put_group(writer.transaction, table, &key, &meta)?;
    }
    Ok(())
}
