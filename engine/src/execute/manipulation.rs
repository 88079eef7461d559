//! INSERT, UPDATE and DELETE as planned: the source query first, then the changes.

use super::query;
use crate::connection::Connection;
use crate::error::{Error, Result};
use crate::schema::Table;
use crate::statement::Rows;
use crate::table::{Changes, Insertion, Writer, duplicate_key, locator};
use gingham_column_store::expression::{Runtime, batch_from_rows, evaluate_row_with};
use gingham_column_store::vector::Batch;
use gingham_plan::{
    Conflict, Delete, Expr, Insert, JoinKind, Node, OutputColumn, Query, SqlError, Storage, TableId, Update,
};
use gingham_types::{SqlType, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// Fewer rows of a column table are replaced one by one: those that wait in its delta stay there.
const REPLACED_ROWS_MIN: usize = 1024;

fn table_of(connection: &Connection, id: TableId) -> Result<Arc<Table>> {
    connection
        .write_schema()
        .table_by_id(id)
        .cloned()
        .ok_or_else(|| Error::Sql(SqlError::internal("the plan names a table that is gone")))
}

fn values(batch: &Batch, types: &[SqlType], row: usize) -> Vec<Value> {
    batch.columns.iter().zip(types).map(|(column, ty)| column.value(row, *ty)).collect()
}

/// What RETURNING gives for the rows changed.
fn returned(returning: &[(OutputColumn, Expr)], rows: &[Vec<Value>], runtime: &Runtime, changes: u64) -> Result<Rows> {
    if returning.is_empty() {
        return Ok(Rows::changes_only(changes));
    }
    let columns: Vec<OutputColumn> = returning.iter().map(|(column, _)| column.clone()).collect();
    let types: Vec<SqlType> = columns.iter().map(|c| c.ty).collect();
    let out = rows
        .iter()
        .map(|row| {
            returning.iter().map(|(_, expr)| Ok(evaluate_row_with(expr, row, runtime)?)).collect::<Result<Vec<Value>>>()
        })
        .collect::<Result<Vec<_>>>()?;
    let batch = if out.is_empty() { None } else { Some(batch_from_rows(&out, &types)?) };
    Ok(Rows::batches(columns, batch, changes))
}

#[inline(never)]
pub(super) fn insert(connection: &mut Connection, insert: &Insert, parameters: &[Value]) -> Result<Rows> {
    let table = table_of(connection, insert.table)?;
    let mut batches = query::collect(connection, &insert.source, parameters)?;
    let runtime = Runtime::with_parameters(parameters.to_vec(), connection.shared.now());
    let types = table.row_layout.types();
    if insert.returning.is_empty() && insert.conflict == Conflict::Abort {
        connection.insert_batches(&table, &mut batches)?;
        return Ok(Rows::changes_only(batches.rows() as u64));
    }
    let mut changed = Vec::new();
    let mut changes = 0;
    connection.with_writer(|writer| {
        while let Some(batch) = batches.take_next()? {
            for row in 0..batch.rows {
                let row = values(&batch, types, row);
                if let Some(row) = insert_row(writer, &table, row, &insert.conflict, &runtime)? {
                    changes += 1;
                    if !insert.returning.is_empty() {
                        changed.push(row);
                    }
                }
            }
        }
        Ok(())
    })?;
    returned(&insert.returning, &changed, &runtime, changes)
}

/// Inserts a row or does what the conflict clause says; the row as it is then, or
/// `None` if nothing changed.
fn insert_row(
    writer: &mut Writer<'_>,
    table: &Table,
    mut row: Vec<Value>,
    conflict: &Conflict,
    runtime: &Runtime,
) -> Result<Option<Vec<Value>>> {
    // Each turn removes one conflicting row; a row conflicts at most once with each key.
    for _ in 0..=table.indexes.len() + 1 {
        let (index, locator) = match writer.insert(table, &mut row)? {
            Insertion::Inserted => return Ok(Some(row)),
            Insertion::Conflict { index, locator } => (index, locator),
        };
        let gone = || Error::Corrupt(format!("a key of table {} names a row that is gone", table.record.name));
        match conflict {
            Conflict::Abort => return Err(duplicate_key(table, index, &row).into()),
            Conflict::Ignore => return Ok(None),
            Conflict::Replace => {
                let old = writer.read_row(table, &locator)?.ok_or_else(gone)?;
                writer.delete(table, &locator, &old)?;
            }
            Conflict::Update { target, assignments, condition } => {
                if !target.is_empty() && !is_target(table, index, target) {
                    return Err(duplicate_key(table, index, &row).into());
                }
                let old = writer.read_row(table, &locator)?.ok_or_else(gone)?;
                let both: Vec<Value> = old.iter().chain(&row).cloned().collect();
                if let Some(condition) = condition
                    && evaluate_row_with(condition, &both, runtime)? != Value::Boolean(true)
                {
                    return Ok(None);
                }
                let mut new = old.clone();
                for (column, expr) in assignments {
                    new[*column] = evaluate_row_with(expr, &both, runtime)?;
                }
                let mut changes = [(locator, old, new)];
                writer.update(table, &mut changes)?;
                let [(.., new)] = changes;
                return Ok(Some(new));
            }
        }
    }
    Err(SqlError::internal("a row conflicts with more rows than there are keys").into())
}

/// Whether the key that refused a row is the one named by ON CONFLICT (…).
fn is_target(table: &Table, index: Option<usize>, target: &[usize]) -> bool {
    let key = match index {
        Some(position) => table.indexes[position].info.unique_columns().unwrap_or_default(),
        None => table.record.primary_key.clone(),
    };
    key.len() == target.len() && target.iter().all(|column| key.contains(column))
}

#[inline(never)]
pub(super) fn update(connection: &mut Connection, update: &Update, parameters: &[Value]) -> Result<Rows> {
    let table = table_of(connection, update.table)?;
    let mut batches = query::collect(connection, &update.source, parameters)?;
    let types = table.row_layout.types();
    // Where nothing else has to change, nothing of a column table's old row is needed, and
    // reading it is dear.
    let needs_old = table.record.storage != Storage::Column || !table.stands_alone();
    let returns = !update.returning.is_empty();
    let mut once = Once::new(&update.source);
    let mut changes = Changes::new(&connection.shared, returns);
    let (count, new) = connection.with_writer(|writer| {
        while let Some(batch) = batches.take_next()? {
            if !needs_old && !returns && once.is_given && batch.rows >= REPLACED_ROWS_MIN {
                changes.replace(writer, &table, &batch)?;
                continue;
            }
            let old_rows = if needs_old { writer.read_rows(&table, &batch)? } else { vec![None; batch.rows] };
            for (row, old) in old_rows.into_iter().enumerate() {
                let locator = locator(&batch, row)?;
                if !once.is_first(locator) {
                    continue;
                }
                let new = values(&batch, types, row);
                let old = if needs_old { old } else { Some(new.clone()) };
                let Some(old) = old else { continue };
                changes.push((locator.to_vec(), old, new));
                if changes.are_many() {
                    changes.make(writer, &table)?;
                }
            }
        }
        changes.finish(writer, &table)
    })?;
    let runtime = Runtime::with_parameters(parameters.to_vec(), connection.shared.now());
    returned(&update.returning, &new, &runtime, count)
}

#[inline(never)]
pub(super) fn delete(connection: &mut Connection, delete: &Delete, parameters: &[Value]) -> Result<Rows> {
    let table = table_of(connection, delete.table)?;
    let mut batches = query::collect(connection, &delete.source, parameters)?;
    let types = table.row_layout.types();
    let is_alone = table.record.storage == Storage::Column && table.stands_alone() && delete.returning.is_empty();
    let mut once = Once::new(&delete.source);
    let mut old = Vec::new();
    let mut changes = 0;
    connection.with_writer(|writer| {
        while let Some(batch) = batches.take_next()? {
            if is_alone && once.is_given {
                writer.remove_alone(&table, &batch)?;
                changes += batch.rows as u64;
                continue;
            }
            let mut rows = Vec::with_capacity(batch.rows);
            for row in 0..batch.rows {
                let locator = locator(&batch, row)?;
                if once.is_first(locator) {
                    rows.push((locator.to_vec(), values(&batch, types, row)));
                }
            }
            writer.delete_all(&table, &rows)?;
            changes += rows.len() as u64;
            if !delete.returning.is_empty() {
                old.extend(rows.into_iter().map(|(_, row)| row));
            }
        }
        writer.free_dead_groups(&table, changes)
    })?;
    returned(&delete.returning, &old, &Runtime::with_parameters(parameters.to_vec(), connection.shared.now()), changes)
}

/// Tells apart the rows that a source gives more than once, which are changed once.
struct Once {
    /// Whether the source gives no row twice.
    is_given: bool,
    seen: HashSet<Vec<u8>>,
}

impl Once {
    fn new(source: &Query) -> Self {
        Self { is_given: gives_once(&source.root), seen: HashSet::new() }
    }

    fn is_first(&mut self, locator: &[u8]) -> bool {
        self.is_given || self.seen.insert(locator.to_vec())
    }
}

/// Whether a plan gives each row of the table it scans at most once.
fn gives_once(node: &Node) -> bool {
    match node {
        Node::Scan(_) => true,
        Node::Filter { input, .. }
        | Node::Project { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. } => gives_once(input),
        Node::Join(join) => {
            matches!(join.kind, JoinKind::Semi | JoinKind::Anti | JoinKind::Mark) && gives_once(&join.left)
        }
        _ => false,
    }
}
