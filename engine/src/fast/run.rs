//! Running small-shape programs.

use super::program::{Argument, NewValue, Program};
use crate::access::{KeyRange, RowBatch, RowScan, RowScanPlan, View, key_range};
use crate::error::Result;
use crate::schema::Table;
use crate::table::{Insertion, Writer, duplicate_key};
use crate::values::{assign_parameter, compare_parameter};
use gingham_column_store::source::Source;
use gingham_column_store::vector::{Batch, Data, Vector};
use gingham_plan::SqlError;
use gingham_types::{SqlType, Value};
use std::sync::Arc;

/// What a program that reads gives.
pub(crate) enum ProgramResult {
    Batch(Option<Batch>),
    Source(Box<dyn Source>),
}

/// Runs a program that reads.
pub(crate) fn run(program: &Program, parameters: &[Value], view: &View) -> Result<ProgramResult> {
    match program {
        Program::Get { table, key, columns, limit } => {
            let wanted = limit.as_ref().map_or(Ok(1), |limit| row_limit(limit, parameters))?;
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
                    result = table
                        .row_layout
                        .reader(bytes)
                        .map_err(Into::into)
                        .and_then(|reader| rows.push(&reader, &locator));
                })?)
            })?;
            result?;
            Ok(ProgramResult::Batch((rows.rows() > 0).then(|| rows.take())))
        }
        Program::Range { table, lower, upper, reverse, columns, limit } => {
            let limit = limit.as_ref().map(|limit| row_limit(limit, parameters)).transpose()?;
            let Some(range) = range(table, lower.as_ref(), upper.as_ref(), parameters)? else {
                return Ok(ProgramResult::Batch(None));
            };
            let plan = RowScanPlan {
                table: Arc::clone(table),
                columns: columns.clone(),
                locator: false,
                filters: Vec::new(),
                dynamic_filters: Vec::new(),
                limit,
            };
            Ok(ProgramResult::Source(Box::new(RowScan::over_range(plan, view.clone(), range, *reverse)?)))
        }
        Program::Count { table } => {
            let rows = view.read(|read| Ok(read.count(table.rows_tree())?))?;
            let vector = Vector::new(Data::Int64(vec![rows as i64]));
            Ok(ProgramResult::Batch(Some(Batch::new(vec![Arc::new(vector)], 1))))
        }
        _ => Err(SqlError::internal("a program that writes was run as a query").into()),
    }
}

impl Program {
    /// Whether the program can leave nothing half-done, so that it needs no savepoint:
    /// it checks before its only change.
    pub(crate) fn is_atomic(&self) -> bool {
        match self {
            Self::Insert { table, rows } => rows.len() == 1 && is_alone(table),
            Self::Update { table, assignments, .. } => {
                // A key that moves is removed before it is found to be taken.
                is_alone(table) && !assignments.iter().any(|(column, _)| table.record.primary_key.contains(column))
            }
            Self::Delete { table, .. } => is_alone(table),
            _ => true,
        }
    }

    /// Whether the program changes rows.
    pub(crate) const fn writes(&self) -> bool {
        matches!(self, Self::Insert { .. } | Self::Update { .. } | Self::Delete { .. })
    }

    /// Runs a program that writes; the number of rows changed.
    pub(crate) fn write(&self, parameters: &[Value], writer: &mut Writer<'_>) -> Result<u64> {
        match self {
            Self::Insert { table, rows } => {
                let types = table.row_layout.types();
                let mut values = Vec::with_capacity(types.len());
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
            Self::Update { table, key, assignments } => {
                let Some(locator) = locator(table, key, parameters)? else { return Ok(0) };
                let Some(old) = writer.read_row(table, &locator)? else { return Ok(0) };
                let mut new = old.clone();
                for (column, value) in assignments {
                    new[*column] = new_value(value, &old, table.row_layout.types()[*column], parameters)?;
                }
                writer.update(table, &mut [(locator, old, new)])?;
                Ok(1)
            }
            Self::Delete { table, key } => {
                let Some(locator) = locator(table, key, parameters)? else { return Ok(0) };
                let Some(old) = writer.read_row(table, &locator)? else { return Ok(0) };
                writer.delete(table, &locator, &old)?;
                Ok(1)
            }
            _ => Ok(0),
        }
    }
}

/// Whether a row is all that a change of it touches.
fn is_alone(table: &Table) -> bool {
    table.indexes.is_empty() && table.children.is_empty()
}

fn compared(argument: &Argument, parameters: &[Value]) -> Result<Value> {
    match argument {
        Argument::Constant(value) => Ok(value.clone()),
        Argument::Parameter { position, ty } => compare_parameter(parameters, *position, *ty),
    }
}

/// The key's bytes; `None` when a value is NULL, which equals nothing.
fn locator(table: &Table, key: &[Argument], parameters: &[Value]) -> Result<Option<Vec<u8>>> {
    let mut values = Vec::with_capacity(key.len());
    for argument in key {
        match compared(argument, parameters)? {
            Value::Null => return Ok(None),
            value => values.push(value),
        }
    }
    let mut bytes = Vec::with_capacity(16);
    table.key_layout.encode(&values, &mut bytes)?;
    Ok(Some(bytes))
}

fn range(
    table: &Table,
    lower: Option<&(Argument, bool)>,
    upper: Option<&(Argument, bool)>,
    parameters: &[Value],
) -> Result<Option<KeyRange>> {
    let mut ends = [None, None];
    for (end, bound) in ends.iter_mut().zip([lower, upper]) {
        if let Some((argument, inclusive)) = bound {
            let value = compared(argument, parameters)?;
            if value.is_null() {
                return Ok(None);
            }
            let mut key = Vec::new();
            table.key_layout.encode(&[value], &mut key)?;
            *end = Some((key, *inclusive));
        }
    }
    let [first, last] = ends;
    Ok(Some(key_range(&[], first, last)))
}

fn row_limit(limit: &Argument, parameters: &[Value]) -> Result<u64> {
    match compared(limit, parameters)? {
        Value::Null => Ok(u64::MAX),
        Value::Int(rows) => {
            u64::try_from(rows).map_err(|_| SqlError::new("2201W", "LIMIT must not be negative").into())
        }
        _ => Err(SqlError::new("42804", "LIMIT must be a number").into()),
    }
}

fn new_value(value: &NewValue, old: &[Value], ty: SqlType, parameters: &[Value]) -> Result<Value> {
    match value {
        NewValue::Argument(Argument::Constant(value)) => Ok(value.clone()),
        NewValue::Argument(Argument::Parameter { position, ty }) => assign_parameter(parameters, *position, *ty),
        NewValue::Add { column, minus, argument } => {
            let (Value::Int(left), Value::Int(right)) = (&old[*column], compared(argument, parameters)?) else {
                return Ok(Value::Null);
            };
            let sum = if *minus { left.checked_sub(right) } else { left.checked_add(right) };
            let fits = |v: &i64| ty == SqlType::BigInt || i32::try_from(*v).is_ok();
            match sum.filter(fits) {
                Some(sum) => Ok(Value::Int(sum)),
                None => Err(SqlError::new("22003", format!("{ty} out of range")).into()),
            }
        }
    }
}
