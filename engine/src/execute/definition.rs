//! CREATE and DROP.

use super::query;
use crate::access::full_scan;
use crate::connection::Connection;
use crate::error::{Error, Result};
use crate::schema::{Index, IndexRecord, Table, TableRecord, Trees};
use crate::statement::Rows;
use crate::table::{build_index, build_index_of};
use gingham_column_store::execution::RowBuffer;
use gingham_column_store::source::{Step, Tables};
use gingham_column_store::vector::Batch;
use gingham_plan::{
    ColumnInfo, CreateIndex, CreateTable, ForeignKeyInfo, IndexId, IndexInfo, Scan, SqlError, Storage, TableId,
    ViewInfo,
};
use gingham_row_store::TreeId;
use gingham_types::Value;
use std::sync::Arc;

pub(super) fn exists(kind: &str, name: &str) -> Error {
    SqlError::new("42P07", format!("{kind} \"{name}\" already exists")).into()
}

fn missing(kind: &str, code: &'static str, name: &str) -> Error {
    SqlError::new(code, format!("there is no {kind} \"{name}\"")).into()
}

fn done() -> Result<Rows> {
    Ok(Rows::changes_only(0))
}

#[inline(never)]
pub(super) fn create_table(connection: &mut Connection, create: &CreateTable, parameters: &[Value]) -> Result<Rows> {
    let schema = connection.write_schema();
    if schema.table(&create.name).is_some() || schema.view(&create.name).is_some() {
        return if create.if_not_exists { done() } else { Err(exists("table", &create.name)) };
    }
    // The rows of CREATE TABLE AS are read before the table can be seen.
    let mut batches = match &create.source {
        Some(source) => Some(query::collect(connection, source, parameters)?),
        None => None,
    };
    let table = connection.with_schema(|schema, writer| {
        let columns: Vec<ColumnInfo> = create
            .columns
            .iter()
            .enumerate()
            .map(|(ordinal, column)| ColumnInfo {
                name: column.name.clone(),
                ty: column.ty,
                nullable: column.nullable && !create.primary_key.contains(&ordinal),
                default: column.default.clone(),
                generated: column.generated.clone(),
            })
            .collect();
        let id = TableId(schema.take_id());
        let mut indexes = Vec::new();
        let key_is_index = create.storage == Storage::Column && !create.primary_key.is_empty();
        let keys = key_is_index.then(|| (String::new(), create.primary_key.clone()));
        let unique = create.unique.iter().map(|ordinals| {
            let names: Vec<&str> = ordinals.iter().map(|c| create.columns[*c].name.as_str()).collect();
            (format!("{}_{}_key", create.name, names.join("_")), ordinals.clone())
        });
        let referring = create.storage == Storage::Column;
        let referring = create.foreign_keys.iter().filter(|_| referring).map(|key| {
            let names: Vec<&str> = key.columns.iter().map(|c| create.columns[*c].name.as_str()).collect();
            (format!("{}_{}_idx", create.name, names.join("_")), key.columns.clone(), false)
        });
        let keys = keys.into_iter().chain(unique).map(|(name, ordinals)| (name, ordinals, true));
        let keys: Vec<(String, Vec<usize>, bool)> = keys.collect();
        // A column table is not read row by row to find who refers to a key.
        let referring = referring.filter(|(_, columns, _)| {
            !keys
                .iter()
                .any(|(_, key, _)| key.get(..columns.len()).is_some_and(|k| columns.iter().all(|c| k.contains(c))))
        });
        for (name, ordinals, unique) in keys.iter().cloned().chain(referring) {
            if !name.is_empty() && schema.index(&name).is_some() {
                return Err(exists("index", &name));
            }
            indexes.push(IndexRecord {
                info: IndexInfo {
                    id: IndexId(schema.take_id()),
                    name,
                    columns: ordinals.iter().map(|c| (*c, false)).collect(),
                    unique,
                    special: None,
                },
                tree: writer.transaction.create_tree()?.0,
            });
        }
        let trees = Trees {
            rows: writer.transaction.create_tree()?.0,
            groups: writer.transaction.create_tree()?.0,
            marks: writer.transaction.create_tree()?.0,
        };
        let record = TableRecord {
            id,
            name: create.name.clone(),
            columns,
            primary_key: create.primary_key.clone(),
            storage: create.storage,
            indexes,
            checks: create.checks.clone(),
            foreign_keys: create.foreign_keys.iter().map(|key| owned(key, id)).collect(),
            trees,
            sort_by: create.sort_by.clone(),
        };
        schema.put_table(writer.transaction, record)
    })?;
    let Some(batches) = &mut batches else { return done() };
    connection.insert_batches(&table, batches)?;
    Ok(Rows::changes_only(batches.rows() as u64))
}

/// A foreign key as its table's record has it; in a plan the new table has no number yet.
fn owned(key: &ForeignKeyInfo, table: TableId) -> ForeignKeyInfo {
    let parent = if key.parent == TableId::NEW { table } else { key.parent };
    ForeignKeyInfo { parent, ..key.clone() }
}

/// Refuses to drop tables that others refer to.
fn check_unreferenced(connection: &Connection, names: &[String]) -> Result<()> {
    let schema = connection.write_schema();
    for table in names.iter().filter_map(|name| schema.table(name)) {
        let others = table.children.iter().filter_map(|child| Some((schema.table_by_id(child.table)?, child.position)));
        for (child, position) in others {
            if !names.contains(&child.record.name) && child.id() != table.id() {
                let key = &child.record.foreign_keys[position].name;
                let (name, child) = (&table.record.name, &child.record.name);
                let message = format!("FOREIGN KEY \"{key}\" of table \"{child}\" refers to table \"{name}\"");
                return Err(SqlError::new("2BP01", message).hint("drop the table that refers to it first").into());
            }
        }
    }
    Ok(())
}

#[inline(never)]
pub(super) fn drop_tables(connection: &mut Connection, names: &[String], if_exists: bool) -> Result<Rows> {
    check_unreferenced(connection, names)?;
    let mut names: Vec<&String> = names.iter().collect();
    while !names.is_empty() {
        // Those that refer to others go before them.
        let schema = connection.write_schema();
        let is_free =
            |name: &&String| schema.table(name).is_none_or(|t| t.children.iter().all(|child| child.table == t.id()));
        let name = names.remove(names.iter().position(is_free).unwrap_or(0));
        let table = match connection.write_schema().table(name) {
            Some(table) => Arc::clone(table),
            None if if_exists => continue,
            None => return Err(missing("table", "42P01", name)),
        };
        connection.with_schema(|schema, writer| {
            writer.clear(&table)?;
            let trees = table.record.trees;
            let indexes = table.indexes.iter().map(|index| index.tree);
            for tree in [trees.rows, trees.groups, trees.marks].map(TreeId).into_iter().chain(indexes) {
                writer.transaction.drop_tree(tree)?;
            }
            schema.remove_table(writer.transaction, &table)
        })?;
    }
    done()
}

#[inline(never)]
pub(super) fn create_index(connection: &mut Connection, create: &CreateIndex) -> Result<Rows> {
    let schema = connection.write_schema();
    if schema.index(&create.name).is_some() {
        return if create.if_not_exists { done() } else { Err(exists("index", &create.name)) };
    }
    let table = schema
        .table_by_id(create.table)
        .cloned()
        .ok_or_else(|| Error::Sql(SqlError::internal("the plan names a table that is gone")))?;
    let mut info = IndexInfo {
        id: IndexId(0),
        name: create.name.clone(),
        columns: create.columns.clone(),
        unique: create.unique,
        special: create.special.clone(),
    };
    // Row groups are read as they were before the table has the index.
    let from_groups = match table.record.storage {
        Storage::Column => {
            let columns = info.columns_read();
            let rows = read_all(connection, &table, &columns, Batch::clone)?;
            Some((columns, rows))
        }
        _ => None,
    };
    connection.with_schema(|schema, writer| {
        info.id = IndexId(schema.take_id());
        let mut record = table.record.clone();
        record.indexes.push(IndexRecord { info, tree: writer.transaction.create_tree()?.0 });
        let table = schema.put_table(writer.transaction, record)?;
        let index: &Index = table
            .indexes
            .last()
            .ok_or_else(|| Error::Sql(SqlError::internal("the new index is missing from its table")))?;
        let refused = match from_groups {
            None => build_index(writer.transaction, &table, index)?,
            Some((columns, mut rows)) => build_index_of(writer.transaction, &table, index, &columns, &mut rows)?,
        };
        match refused {
            None => Ok(()),
            Some(values) => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                let message =
                    format!("index \"{}\" cannot be unique: several rows have ({})", create.name, values.join(", "));
                Err(SqlError::new("23505", message).into())
            }
        }
    })?;
    done()
}

/// Some columns of every row of a table and its locator, batch by batch as `change` makes
/// them, in temporary space where they are too many.
pub(super) fn read_all(
    connection: &mut Connection,
    table: &Table,
    columns: &[usize],
    change: impl Fn(&Batch) -> Batch,
) -> Result<RowBuffer> {
    connection.finish_loads_if_writing()?;
    let mut rows = RowBuffer::new(&connection.shared.budget());
    let types = columns.iter().map(|column| table.row_layout.types()[*column]).collect();
    let scan = Scan { columns: columns.to_vec(), types, ..full_scan(table) };
    let access = connection.table_access()?;
    let mut source = access.open(&scan, &[])?;
    loop {
        match source.next()? {
            Step::Batch(batch) => rows.push(change(&batch))?,
            Step::Working => {}
            Step::Finished => return Ok(rows),
        }
    }
}

#[inline(never)]
pub(super) fn drop_index(connection: &mut Connection, name: &str, if_exists: bool) -> Result<Rows> {
    let Some((table, position)) = connection.write_schema().index(name).map(|(t, p)| (Arc::clone(t), p)) else {
        return if if_exists { done() } else { Err(missing("index", "42704", name)) };
    };
    if table.index_is_needed(position) {
        let message = format!("a FOREIGN KEY needs the index \"{name}\"");
        return Err(SqlError::new("2BP01", message).into());
    }
    connection.with_schema(|schema, writer| {
        let mut record = table.record.clone();
        let removed = record.indexes.remove(position);
        writer.transaction.drop_tree(TreeId(removed.tree))?;
        schema.put_table(writer.transaction, record)?;
        Ok(())
    })?;
    done()
}

#[inline(never)]
pub(super) fn create_view(
    connection: &mut Connection,
    view: ViewInfo,
    replace: bool,
    if_not_exists: bool,
) -> Result<Rows> {
    let schema = connection.write_schema();
    if schema.table(&view.name).is_some() {
        return Err(exists("table", &view.name));
    }
    if schema.view(&view.name).is_some() && !replace {
        return if if_not_exists { done() } else { Err(exists("view", &view.name)) };
    }
    connection.with_schema(|schema, writer| schema.put_view(writer.transaction, view))?;
    done()
}

#[inline(never)]
pub(super) fn drop_views(connection: &mut Connection, names: &[String], if_exists: bool) -> Result<Rows> {
    for name in names {
        if connection.write_schema().view(name).is_none() {
            if if_exists {
                continue;
            }
            return Err(missing("view", "42P01", name));
        }
        connection.with_schema(|schema, writer| schema.remove_view(writer.transaction, name))?;
    }
    done()
}
