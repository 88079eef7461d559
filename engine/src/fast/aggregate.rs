//! count, sum, min and max of the rows along a key, together.

use super::parser::{Call, Function};
use crate::access::{RowValues, Walk};
use crate::error::Result;
use crate::schema::Table;
use gingham_column_store::vector::{Batch, Vector};
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
    /// Where the column is in the rows.
    place: Option<usize>,
    /// Values matter, not just whether there is one.
    has_values: bool,
    count: u64,
    sum: i128,
    min: i64,
    max: i64,
}

impl Seen {
    fn new(aggregate: &Aggregate, walk: &Walk) -> Self {
        let place = aggregate.column.map(|column| walk.place(column));
        let has_values = aggregate.function != Function::Count;
        Self { place, has_values, count: 0, sum: 0, min: i64::MAX, max: i64::MIN }
    }

    #[inline]
    fn add(&mut self, row: RowValues<'_>) {
        match self.place {
            Some(place) if self.has_values => {
                let Some(value) = row.int(place) else { return };
                self.sum += i128::from(value);
                self.min = self.min.min(value);
                self.max = self.max.max(value);
            }
            Some(place) if row.is_null(place) => return,
            _ => {}
        }
        self.count += 1;
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
            SqlType::Integer => Value::Int(i32::try_from(found).map_err(|_| out_of_range())?.into()),
            _ => Value::Int(found),
        })
    }
}

/// One row of the aggregates of what a walk comes by: a column for each.
pub(super) fn run(aggregates: &[Aggregate], mut walk: Walk) -> Result<Batch> {
    let mut seen: Vec<Seen> = aggregates.iter().map(|aggregate| Seen::new(aggregate, &walk)).collect();
    let mut add = |row: RowValues<'_>| seen.iter_mut().for_each(|seen| seen.add(row));
    while walk.next_row(|row, _| {
        add(row);
        Ok(())
    })? {}
    let columns = aggregates
        .iter()
        .zip(&seen)
        .map(|(aggregate, seen)| Ok(Arc::new(Vector::constant(&seen.result(aggregate)?, aggregate.ty, 1))))
        .collect::<Result<Vec<_>>>()?;
    Ok(Batch::new(columns, 1))
}
