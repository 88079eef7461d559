//! Running small-shape programs.

use super::aggregate;
use super::path::Path;
use super::program::{Argument, NewValue, Program};
use super::update::update_all;
use crate::access::{AccessRanges, RowBatch, RowScan, RowScanPlan, View, Walk};
use crate::database::Shared;
use crate::error::Result;
use crate::schema::Table;
use crate::table::{Insertion, Writer, duplicate_key, refuse_null};
use crate::values::assign_parameter;
use gingham_column_store::source::{Source, Step};
use gingham_column_store::vector::{Batch, Data, Vector};
use gingham_plan::{SqlError, Storage};
use gingham_row_store::{Direction, Read};
use gingham_types::{SqlType, Value};
use std::sync::Arc;

/// So few rows are always fetched through an index …
const FETCHED_MIN: u64 = 1024;
/// … and more where they are at most one in so many: a row fetched costs about as much as
/// this many scanned in a columnar copy.
const ROWS_PER_FETCH: u64 = 64;
/// As [`ROWS_PER_FETCH`] for rows that are read one after the other.
const ROWS_PER_READ: u64 = 16;
/// Rows whose keys are collected before they are deleted.
const DELETED_AT_ONCE: usize = 1024;

/// What a program that reads gives.
pub(crate) enum ProgramResult {
    Batch(Option<Batch>),
    Source(Box<dyn Source>),
}

/// Runs a program that reads. What [`Program::weigh`] found of its way need not be found again.
#[inline(never)]
pub(crate) fn run(
    program: &Program,
    parameters: &[Value],
    shared: &Arc<Shared>,
    view: &View,
    found: Option<AccessRanges>,
) -> Result<ProgramResult> {
    let access = |path: &Path, table: &Table| found.map_or_else(|| path.access(table, parameters), Ok);
    match program {
        Program::Get { table, key, columns, limit } => get((table, key), columns, limit.as_ref(), parameters, view),
        Program::Scan { table, path, columns, limit } => {
            let limit = limit.as_ref().map(|limit| row_limit(limit, parameters)).transpose()?;
            let plan = scan_plan(shared, table, columns.clone(), limit);
            let scan = RowScan::new(plan, view.clone(), access(path, table)?)?;
            Ok(ProgramResult::Source(Box::new(scan)))
        }
        Program::Count { table, path } => {
            let rows = count(&path.access(table, parameters)?, view)?;
            let vector = Vector::new(Data::Int64(vec![rows as i64]));
            Ok(ProgramResult::Batch(Some(Batch::new(vec![Arc::new(vector)], 1))))
        }
        Program::Extreme { table, path, column, .. } => extreme(shared, (table, path), *column, parameters, view),
        Program::Aggregate { table, path, aggregates } => {
            let columns = aggregates.iter().filter_map(aggregate::Aggregate::column).collect();
            let access = access(path, table)?;
            let walk = Walk::new(Arc::clone(shared), Arc::clone(table), view.clone(), access, columns);
            Ok(ProgramResult::Batch(Some(aggregate::run(aggregates, walk)?)))
        }
        _ => Err(SqlError::internal("a program that writes was run as a query").into()),
    }
}

/// The row with a whole key.
#[inline(never)]
fn get(
    (table, key): (&Table, &[Argument]),
    columns: &[usize],
    limit: Option<&Argument>,
    parameters: &[Value],
    view: &View,
) -> Result<ProgramResult> {
    let wanted = limit.map_or(Ok(1), |limit| row_limit(limit, parameters))?;
    let Some(locator) = locator(table, key, parameters)? else { return Ok(ProgramResult::Batch(None)) };
    if wanted == 0 {
        return Ok(ProgramResult::Batch(None));
    }
    let types = table.row_layout.types();
    let wanted_columns: Vec<(usize, SqlType)> = columns.iter().map(|c| (*c, types[*c])).collect();
    let mut rows = RowBatch::new(&wanted_columns, false);
    let mut result = Ok(());
    view.read(|read| {
        Ok(read.visit(table.rows_tree(), &locator, &mut |bytes| {
            result = table.row_layout.reader(bytes).map_err(Into::into).and_then(|reader| rows.push(&reader, &locator));
        })?)
    })?;
    result?;
    Ok(ProgramResult::Batch((rows.rows() > 0).then(|| rows.take())))
}

/// `min` or `max` of a column: that of the first row along a path.
#[inline(never)]
fn extreme(
    shared: &Arc<Shared>,
    (table, path): (&Arc<Table>, &Path),
    column: usize,
    parameters: &[Value],
    view: &View,
) -> Result<ProgramResult> {
    let plan = scan_plan(shared, table, vec![column], Some(1));
    let mut source = RowScan::new(plan, view.clone(), path.access(table, parameters)?)?;
    loop {
        match source.next()? {
            Step::Batch(batch) => return Ok(ProgramResult::Batch(Some(batch))),
            Step::Working => {}
            Step::Finished => break,
        }
    }
    let null = Vector::constant(&Value::Null, table.row_layout.types()[column], 1);
    Ok(ProgramResult::Batch(Some(Batch::new(vec![Arc::new(null)], 1))))
}

fn scan_plan(shared: &Arc<Shared>, table: &Arc<Table>, columns: Vec<usize>, limit: Option<u64>) -> RowScanPlan {
    RowScanPlan {
        shared: Arc::clone(shared),
        table: Arc::clone(table),
        columns,
        locator: false,
        filters: Vec::new(),
        dynamic_filters: Vec::new(),
        limit,
    }
}

/// Rows along a path, from the counts in the tree's inner nodes.
fn count(access: &AccessRanges, view: &View) -> Result<u64> {
    view.read(|read| {
        access.ranges.iter().try_fold(0, |sum, (lower, upper)| {
            let (lower, upper) = (lower.as_ref().map(Vec::as_slice), upper.as_ref().map(Vec::as_slice));
            Ok(sum + read.count_range(access.tree, lower, upper)?)
        })
    })
}

impl Program {
    /// Whether the program would read so many rows, through an index or for an aggregate,
    /// that a plan, which knows of the columnar copy, is better; and its way, where it had to
    /// be found to know.
    #[inline(never)]
    pub(crate) fn weigh(&self, parameters: &[Value], view: &View) -> Result<(bool, Option<AccessRanges>)> {
        let (table, path, rows_per_row) = match self {
            Self::Scan { table, path, limit: None, .. } if path.index.is_some() => (table, path, ROWS_PER_FETCH),
            Self::Aggregate { table, path, .. } if path.index.is_some() => (table, path, ROWS_PER_FETCH),
            Self::Aggregate { table, path, .. } => (table, path, ROWS_PER_READ),
            _ => return Ok((false, None)),
        };
        if path.is_point || table.record.storage != Storage::Hybrid {
            return Ok((false, None));
        }
        let rows = view.read(|read| Ok(read.count(table.rows_tree())?))?;
        if rows <= FETCHED_MIN {
            return Ok((false, None));
        }
        let access = path.access(table, parameters)?;
        let read = count(&access, view)?;
        Ok((read > FETCHED_MIN && read * rows_per_row > rows, Some(access)))
    }

    /// Whether the program can leave nothing half-done, so that it needs no savepoint:
    /// it checks before its only change.
    pub(crate) fn is_atomic(&self) -> bool {
        match self {
            Self::Insert { table, rows } => rows.len() == 1 && table.children.is_empty(),
            Self::Update { is_plain: true, .. } => true,
            Self::Update { table, assignments, .. } => {
                // A key that moves is removed before it is found to be taken.
                is_alone(table) && !assignments.iter().any(|(column, _)| table.record.primary_key.contains(column))
            }
            Self::Delete { table, .. } => table.children.is_empty(),
            Self::UpdateAll { .. } | Self::DeleteAll { .. } => false,
            _ => true,
        }
    }

    /// Whether the program reads and no more.
    pub(crate) const fn reads(&self) -> bool {
        matches!(
            self,
            Self::Get { .. } | Self::Scan { .. } | Self::Count { .. } | Self::Extreme { .. } | Self::Aggregate { .. }
        )
    }

    /// Whether the program changes rows.
    pub(crate) const fn writes(&self) -> bool {
        matches!(
            self,
            Self::Insert { .. }
                | Self::Update { .. }
                | Self::UpdateAll { .. }
                | Self::Delete { .. }
                | Self::DeleteAll { .. }
        )
    }

    /// Runs a program that writes; the number of rows changed.
    #[inline(never)]
    pub(crate) fn write(&self, parameters: &[Value], writer: &mut Writer<'_>) -> Result<u64> {
        match self {
            Self::Insert { table, rows } => insert(table, rows, parameters, writer),
            Self::Update { table, key, assignments, is_plain: true } => {
                rewrite(table, key, assignments, parameters, writer)
            }
            Self::Update { table, key, assignments, .. } => update(table, key, assignments, parameters, writer),
            Self::UpdateAll { table, path, assignments } => update_all(table, path, assignments, parameters, writer),
            Self::Delete { table, key } => delete(table, key, parameters, writer),
            Self::DeleteAll { table, path } => delete_all(table, path, parameters, writer),
            _ => Ok(0),
        }
    }
}

#[inline(never)]
fn insert(table: &Table, rows: &[Vec<Argument>], parameters: &[Value], writer: &mut Writer<'_>) -> Result<u64> {
    let mut values = Vec::with_capacity(table.row_layout.types().len());
    for row in rows {
        values.clear();
        for argument in row {
            values.push(match argument {
                Argument::Constant(value) => value.clone(),
                Argument::Parameter { position, ty } => assign_parameter(parameters, *position, *ty)?,
            });
        }
        if let Insertion::Conflict { index, .. } = writer.insert(table, &mut values)? {
            return Err(duplicate_key(table, index, &values).into());
        }
    }
    Ok(rows.len() as u64)
}

/// Changes a row where it lies.
#[inline(never)]
fn rewrite(
    table: &Table,
    key: &[Argument],
    assignments: &[(usize, NewValue)],
    parameters: &[Value],
    writer: &mut Writer<'_>,
) -> Result<u64> {
    let Some(locator) = locator(table, key, parameters)? else { return Ok(0) };
    let mut changes = Vec::with_capacity(assignments.len());
    let exists = writer.rewrite(table, &locator, |old, new| {
        let row = table.row_layout.reader(old)?;
        for (column, value) in assignments {
            let value = new_value(value, |c| row.int(c), table.row_layout.types()[*column], parameters)?;
            refuse_null(table, *column, &value)?;
            changes.push((*column, value));
        }
        Ok(table.row_layout.patch(old, &changes, new)?)
    })?;
    Ok(u64::from(exists))
}

/// Changes a row and whatever depends on it.
#[inline(never)]
fn update(
    table: &Table,
    key: &[Argument],
    assignments: &[(usize, NewValue)],
    parameters: &[Value],
    writer: &mut Writer<'_>,
) -> Result<u64> {
    let Some(locator) = locator(table, key, parameters)? else { return Ok(0) };
    let Some(old) = writer.read_row(table, &locator)? else { return Ok(0) };
    let mut new = old.clone();
    for (column, value) in assignments {
        let ty = table.row_layout.types()[*column];
        new[*column] = new_value(value, |c| int(&old[c]), ty, parameters)?;
    }
    writer.update(table, &mut [(locator, old, new)])?;
    Ok(1)
}

#[inline(never)]
fn delete(table: &Table, key: &[Argument], parameters: &[Value], writer: &mut Writer<'_>) -> Result<u64> {
    let Some(locator) = locator(table, key, parameters)? else { return Ok(0) };
    let Some(old) = writer.read_row(table, &locator)? else { return Ok(0) };
    writer.delete(table, &locator, &old)?;
    Ok(1)
}

/// Whether a row is all that a change of it touches.
fn is_alone(table: &Table) -> bool {
    table.indexes.is_empty() && table.children.is_empty()
}

/// The locator and values of the row that an entry of the row tree, or of an index, is of.
pub(super) fn row_at(
    table: &Table,
    index: Option<usize>,
    key: &[u8],
    row: &[u8],
    writer: &Writer<'_>,
) -> Result<Option<(Vec<u8>, Vec<Value>)>> {
    let Some(position) = index else { return Ok(Some((key.to_vec(), table.row_layout.decode_all(row)?))) };
    let locator = &key[table.indexes[position].layout.encoded_bytes(key)?..];
    Ok(writer.read_row(table, locator)?.map(|row| (locator.to_vec(), row)))
}

/// Deletes the rows along a path, some at a time: a cursor that is open while pages
/// change would make them be copied.
#[inline(never)]
fn delete_all(table: &Table, path: &Path, parameters: &[Value], writer: &mut Writer<'_>) -> Result<u64> {
    let access = path.access(table, parameters)?;
    let mut deleted = 0;
    for (lower, upper) in &access.ranges {
        let (lower, upper) = (lower.as_ref().map(Vec::as_slice), upper.as_ref().map(Vec::as_slice));
        loop {
            let mut rows = Vec::new();
            let mut cursor = writer.transaction.cursor(access.tree, lower, upper, Direction::Forward)?;
            while rows.len() < DELETED_AT_ONCE
                && let Some((key, row)) = cursor.next()?
            {
                rows.extend(row_at(table, access.index, key, row, writer)?);
            }
            drop(cursor);
            writer.delete_all(table, &rows)?;
            deleted += rows.len() as u64;
            if rows.len() < DELETED_AT_ONCE {
                break;
            }
        }
    }
    Ok(deleted)
}

/// The key's bytes; `None` when a value is NULL, which equals nothing.
fn locator(table: &Table, key: &[Argument], parameters: &[Value]) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(16);
    Ok(encode_locator(table, key, parameters, &mut bytes)?.then_some(bytes))
}

/// Puts the key's bytes into `bytes`; `false` when a value is NULL, which equals nothing.
pub(super) fn encode_locator(
    table: &Table,
    key: &[Argument],
    parameters: &[Value],
    bytes: &mut Vec<u8>,
) -> Result<bool> {
    bytes.clear();
    let mut is_whole = true;
    for (position, argument) in key.iter().enumerate() {
        let value = argument.compared(parameters)?;
        if value.is_null() {
            is_whole = false;
        } else if is_whole {
            table.key_layout.encode_at(position, &value, bytes)?;
        }
    }
    Ok(is_whole)
}

fn row_limit(limit: &Argument, parameters: &[Value]) -> Result<u64> {
    match *limit.compared(parameters)? {
        Value::Null => Ok(u64::MAX),
        Value::Int(rows) => {
            u64::try_from(rows).map_err(|_| SqlError::new("2201W", "LIMIT must not be negative").into())
        }
        _ => Err(SqlError::new("42804", "LIMIT must be a number").into()),
    }
}

pub(super) const fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value) => Some(*value),
        _ => None,
    }
}

/// The value to assign; `old` gives the integer that a column of the row had.
pub(super) fn new_value(
    value: &NewValue,
    old: impl Fn(usize) -> Option<i64>,
    ty: SqlType,
    parameters: &[Value],
) -> Result<Value> {
    match value {
        NewValue::Argument(Argument::Constant(value)) => Ok(value.clone()),
        NewValue::Argument(Argument::Parameter { position, ty }) => assign_parameter(parameters, *position, *ty),
        NewValue::Add { column, minus, argument } => {
            let (Some(left), Value::Int(right)) = (old(*column), &*argument.compared(parameters)?) else {
                return Ok(Value::Null);
            };
            let sum = if *minus { left.checked_sub(*right) } else { left.checked_add(*right) };
            let fits = |v: &i64| ty == SqlType::BigInt || i32::try_from(*v).is_ok();
            match sum.filter(fits) {
                Some(sum) => Ok(Value::Int(sum)),
                None => Err(SqlError::new("22003", format!("{ty} out of range")).into()),
            }
        }
    }
}
