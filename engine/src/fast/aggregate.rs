//! count, sum, min and max of the rows along a key, together.

use super::parser::{Call, Function};
use crate::access::RowScan;
use crate::error::Result;
use crate::schema::Table;
use gingham_column_store::source::{Source, Step};
use gingham_column_store::vector::{Batch, Data, Vector};
use gingham_plan::{OutputColumn, SqlError};
use gingham_types::{SqlType, Value};
use std::sync::Arc;

/// One function of a column; of none it counts rows.
#[derive(Debug, PartialEq)]
pub(crate) struct Aggregate {
    function: Function,
    column: Option<usize>,
    /// The type of the result.
    ty: SqlType,
}

impl Aggregate {
    /// `None` for what is not a number of 64 bits, and what the planner words better.
    pub(super) fn bind(call: &Call, table: &Table) -> Option<Self> {
        let Some(name) = &call.column else {
            return Some(Self { function: call.function, column: None, ty: SqlType::BigInt });
        };
        let column = table.record.columns.iter().position(|c| c.name == *name)?;
        let ty = match (call.function, table.record.columns[column].ty) {
            (Function::Count, _) | (Function::Sum, SqlType::Integer) => SqlType::BigInt,
            (Function::Sum, SqlType::BigInt) => SqlType::decimal(38, 0),
            (
                Function::Min | Function::Max,
                ty @ (SqlType::Integer | SqlType::BigInt | SqlType::Date | SqlType::Timestamp),
            ) => ty,
            _ => return None,
        };
        Some(Self { function: call.function, column: Some(column), ty })
    }

    pub(super) const fn column(&self) -> Option<usize> {
        self.column
    }

    pub(super) fn output(&self, table: &Table) -> OutputColumn {
        let argument = self.column.map_or("*", |column| &table.record.columns[column].name);
        OutputColumn { name: format!("{}({argument})", self.function.name()), ty: self.ty }
    }
}

/// Everything that is kept of the values seen; NULLs are not seen.
struct Seen {
    count: u64,
    sum: i128,
    min: i64,
    max: i64,
}

impl Seen {
    fn add(&mut self, vector: &Vector) {
        match &vector.data {
            Data::Int32(values) => self.add_each(vector, |row| values[row].into()),
            Data::Int64(values) => self.add_each(vector, |row| values[row]),
            // Only counted.
            _ => self.add_each(vector, |_| 0),
        }
    }

    fn add_each(&mut self, vector: &Vector, value: impl Fn(usize) -> i64) {
        for row in (0..vector.len()).filter(|row| vector.is_valid(*row)) {
            let value = value(row);
            self.count += 1;
            self.sum += i128::from(value);
            self.min = self.min.min(value);
            self.max = self.max.max(value);
        }
    }

    fn result(&self, aggregate: &Aggregate) -> Result<Value> {
        let out_of_range = || SqlError::new("22003", format!("{} out of range", aggregate.ty));
        let found = match aggregate.function {
            Function::Count => return Ok(Value::Int(self.count as i64)),
            _ if self.count == 0 => return Ok(Value::Null),
            Function::Sum => {
                return match aggregate.ty {
                    SqlType::BigInt => Ok(Value::Int(i64::try_from(self.sum).map_err(|_| out_of_range())?)),
                    _ => Ok(Value::Decimal { unscaled: self.sum, scale: 0 }),
                };
            }
            Function::Min => self.min,
            Function::Max => self.max,
        };
        Ok(match aggregate.ty {
            SqlType::Date => Value::Date(i32::try_from(found).map_err(|_| out_of_range())?),
            SqlType::Timestamp => Value::Timestamp(found),
            _ => Value::Int(found),
        })
    }
}

/// One row of the aggregates of what a scan reads: a column for each that has one.
pub(super) fn run(aggregates: &[Aggregate], mut scan: RowScan) -> Result<Batch> {
    let mut seen: Vec<Seen> =
        aggregates.iter().map(|_| Seen { count: 0, sum: 0, min: i64::MAX, max: i64::MIN }).collect();
    loop {
        match scan.next()? {
            Step::Batch(batch) => {
                let mut columns = batch.columns.iter();
                for (aggregate, seen) in aggregates.iter().zip(&mut seen) {
                    match aggregate.column.and_then(|_| columns.next()) {
                        Some(column) => seen.add(column),
                        None => seen.count += batch.rows as u64,
                    }
                }
            }
            Step::Working => {}
            Step::Finished => break,
        }
    }
    let columns = aggregates
        .iter()
        .zip(&seen)
        .map(|(aggregate, seen)| Ok(Arc::new(Vector::constant(&seen.result(aggregate)?, aggregate.ty, 1))))
        .collect::<Result<Vec<_>>>()?;
    Ok(Batch::new(columns, 1))
}
