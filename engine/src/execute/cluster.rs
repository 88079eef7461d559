//! CLUSTER: the rows of column tables in the order that WITH (sort_by = …) gave them.
//!
//! Loads sort what they bring; this sorts all of it together, what came row by row
//! included, within a share of the memory budget and in one transaction.

use crate::access::full_scan;
use crate::connection::Connection;
use crate::error::Result;
use crate::schema::Table;
use crate::statement::Rows;
use gingham_column_store::execution::RowSorter;
use gingham_column_store::source::{Step, Tables};
use gingham_plan::{SqlError, TableId};
use std::sync::Arc;

#[inline(never)]
pub(super) fn cluster(connection: &mut Connection, table: Option<TableId>) -> Result<Rows> {
    let schema = connection.write_schema();
    let tables: Vec<Arc<Table>> = match table {
        Some(id) => schema.table_by_id(id).cloned().into_iter().collect(),
        None => schema.tables().filter(|table| !table.record.sort_by.is_empty()).cloned().collect(),
    };
    if let Some(table) = tables.iter().find(|table| table.record.sort_by.is_empty()) {
        let message = format!("table \"{}\" has no order to be clustered by", table.record.name);
        return Err(SqlError::new("55000", message).hint("CREATE TABLE … WITH (sort_by = '…') gives one").into());
    }
    for table in &tables {
        connection.write(false, |connection| sort(connection, table))?;
    }
    Ok(Rows::changes_only(0))
}

fn sort(connection: &mut Connection, table: &Arc<Table>) -> Result<()> {
    connection.finish_loads_if_writing()?;
    let types = table.row_layout.types();
    let shared = Arc::clone(&connection.shared);
    let mut sorter = RowSorter::new(types, &table.record.sort_by, shared.sort_bytes());
    let access = connection.table_access()?;
    let mut source = access.open(&full_scan(table), &[])?;
    let columns: Vec<usize> = (0..types.len()).collect();
    loop {
        match source.next()? {
            Step::Batch(batch) => sorter.push(&batch.project(&columns), &shared.budget())?,
            Step::Working => {}
            Step::Finished => break,
        }
    }
    drop(source);
    drop(access);
    connection.with_writer(|writer| {
        writer.clear_rows(table)?;
        writer.load_sorted(table, &mut sorter)
    })
}
