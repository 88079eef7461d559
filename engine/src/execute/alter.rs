//! ALTER TABLE.

use super::definition::{exists, read_all};
use crate::connection::Connection;
use crate::error::{Error, Result};
use crate::schema::{Schema, Table, TableRecord};
use crate::statement::Rows;
use crate::table::Writer;
use gingham_column_store::execution::RowBuffer;
use gingham_column_store::vector::{Batch, Vector};
use gingham_plan::{AlterTable, Alteration, CheckInfo, ColumnInfo, Expr, Generated, SqlError, StoredExpr};
use gingham_types::Value;
use std::sync::Arc;

#[inline(never)]
pub(super) fn alter_table(connection: &mut Connection, alter: &AlterTable) -> Result<Rows> {
    let table = connection
        .write_schema()
        .table_by_id(alter.table)
        .cloned()
        .ok_or_else(|| Error::Sql(SqlError::internal("the plan names a table that is gone")))?;
    match &alter.change {
        Alteration::Rename(name) => rename(connection, &table, name)?,
        Alteration::Describe { columns, checks, special } => {
            let mut record = TableRecord { columns: columns.clone(), checks: checks.clone(), ..table.record.clone() };
            record.indexes.iter_mut().zip(special).for_each(|(index, special)| index.info.special.clone_from(special));
            connection.with_schema(|schema, writer| schema.put_table(writer.transaction, record))?;
        }
        Alteration::AddColumn { column, checks } => add_column(connection, &table, column, checks)?,
        Alteration::DropColumn(ordinal) => drop_column(connection, &table, *ordinal)?,
    }
    Ok(Rows::changes_only(0))
}

fn rename(connection: &mut Connection, table: &Table, name: &str) -> Result<()> {
    let schema = connection.write_schema();
    if schema.table(name).is_some() || schema.view(name).is_some() {
        return Err(exists("table", name));
    }
    connection.with_schema(|schema, writer| {
        let record = TableRecord { name: name.to_owned(), ..table.record.clone() };
        schema.rename_table(writer.transaction, &table.record.name, record)
    })
}

fn add_column(
    connection: &mut Connection,
    table: &Arc<Table>,
    column: &ColumnInfo,
    checks: &[CheckInfo],
) -> Result<()> {
    let value = match &column.default {
        Some(default) => connection.shared.default_value(default)?,
        None => Value::Null,
    };
    let kept: Vec<usize> = (0..table.record.columns.len()).collect();
    let rows = read_all(connection, table, &kept, |batch| {
        let mut columns = batch.project(&kept).columns;
        columns.push(Arc::new(Vector::constant(&value, column.ty, batch.rows)));
        Batch::new(columns, batch.rows)
    })?;
    let mut record = table.record.clone();
    record.columns.push(column.clone());
    record.checks.extend_from_slice(checks);
    rebuild(connection, table, record, rows, |_, _| Ok(()))
}

fn drop_column(connection: &mut Connection, table: &Arc<Table>, dropped: usize) -> Result<()> {
    let kept: Vec<usize> = (0..table.record.columns.len()).filter(|column| *column != dropped).collect();
    let places: Vec<usize> = (0..kept.len()).collect();
    let rows = read_all(connection, table, &kept, |batch| batch.project(&places))?;
    let mut record = table.record.clone();
    record.columns.remove(dropped);
    let after = |ordinal: &mut usize| *ordinal -= usize::from(*ordinal > dropped);
    // What sorts after the column is in no order without it.
    let sorted = record.sort_by.iter().position(|(column, _)| *column == dropped).unwrap_or(record.sort_by.len());
    record.sort_by.truncate(sorted);
    record.sort_by.iter_mut().for_each(|(column, _)| after(column));
    record.primary_key.iter_mut().for_each(after);
    record.indexes.iter_mut().flat_map(|index| &mut index.info.columns).for_each(|(column, _)| after(column));
    record.checks.iter_mut().for_each(|check| move_columns(&mut check.condition, dropped));
    for special in record.indexes.iter_mut().filter_map(|index| index.info.special.as_mut()) {
        special.stored_mut().for_each(|stored| move_columns(stored, dropped));
    }
    for column in &mut record.columns {
        if let Some(Generated::Stored(stored)) = &mut column.generated {
            move_columns(stored, dropped);
        }
    }
    let id = table.id();
    for key in &mut record.foreign_keys {
        key.columns.iter_mut().for_each(after);
        if key.parent == id {
            key.parent_columns.iter_mut().for_each(after);
        }
    }
    rebuild(connection, table, record, rows, |schema, writer| {
        // Those that refer here number the columns too.
        let others: Vec<TableRecord> = schema
            .tables()
            .filter(|other| other.id() != id && other.record.foreign_keys.iter().any(|key| key.parent == id))
            .map(|other| other.record.clone())
            .collect();
        for mut other in others {
            let keys = other.foreign_keys.iter_mut().filter(|key| key.parent == id);
            keys.flat_map(|key| &mut key.parent_columns).for_each(after);
            schema.put_unlinked(writer.transaction, other)?;
        }
        Ok(())
    })
}

fn move_columns(stored: &mut StoredExpr, dropped: usize) {
    stored.expr.visit_mut(&mut |e| {
        if let Expr::Column { index, .. } = e {
            *index -= usize::from(*index > dropped);
        }
    });
}

/// Writes a table's rows anew under another record. `others` changes further records.
fn rebuild(
    connection: &mut Connection,
    table: &Arc<Table>,
    record: TableRecord,
    mut rows: RowBuffer,
    others: impl FnOnce(&mut Schema, &mut Writer<'_>) -> Result<()>,
) -> Result<()> {
    connection.with_schema(|schema, writer| {
        writer.finish_loads()?;
        writer.clear_rows(table)?;
        others(schema, writer)?;
        let table = schema.put_table(writer.transaction, record)?;
        writer.refill(&table, &mut rows)
    })
}
