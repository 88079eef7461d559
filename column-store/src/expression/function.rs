//! The functions that are not of text alone: EXTRACT in a loop, a few of numbers, the
//! rest value by value.

use super::operand::Operand;
use super::scalar_function::{self, round_double, sign};
use super::{ColumnBuilder, calendar, error};
use crate::Result;
use crate::vector::{Data, Vector};
use gingham_plan::{DateField, Function};
use gingham_types::{SqlType, Value};
use std::sync::Arc;

/// EXTRACT.
pub(super) fn extract(operand: &Operand, field: DateField) -> Result<Operand> {
    let vector = match operand {
        Operand::Constant(Value::Null) => return Ok(Operand::Constant(Value::Null)),
        Operand::Constant(value) => return calendar::extract_value(field, value).map(Operand::Constant),
        Operand::Column(vector) => vector,
    };
    let data = match &vector.data {
        Data::Int32(days) if field == DateField::Year => {
            Data::Int64(days.iter().map(|days| calendar::year_of(*days)).collect())
        }
        Data::Int32(days) => Data::Int64(days.iter().map(|d| calendar::extract_date(field, i64::from(*d))).collect()),
        Data::Int64(micros) => Data::Int64(micros.iter().map(|m| calendar::extract_timestamp(field, *m)).collect()),
        _ => return Err(error::internal("EXTRACT from something else than a date")),
    };
    Ok(Operand::new(data, vector.validity.clone()))
}

/// `function(arguments)` of any kind.
pub(super) fn call(
    function: Function,
    arguments: &[Operand],
    types: &[SqlType],
    ty: SqlType,
    rows: usize,
) -> Result<Operand> {
    if let [Operand::Column(vector)] = arguments
        && let Some(data) = numeric(function, vector, ty)
    {
        return Ok(Operand::new(data, vector.validity.clone()));
    }
    let mut builder = ColumnBuilder::new(ty, rows);
    let mut values = vec![Value::Null; arguments.len()];
    for row in 0..rows {
        for ((value, argument), ty) in values.iter_mut().zip(arguments).zip(types) {
            *value = match argument {
                Operand::Constant(constant) => constant.clone(),
                Operand::Column(vector) => vector.value(row, *ty),
            };
        }
        builder.push(&scalar_function::call(function, &values, ty)?)?;
    }
    Ok(Operand::Column(Arc::new(builder.finish())))
}

/// Functions of one number that cannot fail.
fn numeric(function: Function, vector: &Vector, ty: SqlType) -> Option<Data> {
    match (&vector.data, function) {
        (Data::Double(v), Function::Abs) => Some(Data::Double(v.iter().map(|v| v.abs()).collect())),
        (Data::Double(v), Function::Exp) => Some(Data::Double(v.iter().map(|v| v.exp()).collect())),
        (Data::Double(v), Function::Ceil | Function::Floor | Function::Truncate | Function::Round) => {
            Some(Data::Double(v.iter().map(|v| round_double(function, *v, 0)).collect()))
        }
        (Data::Double(v), Function::Sign) if ty == SqlType::Integer => {
            Some(Data::Int32(v.iter().map(|v| sign(*v) as i32).collect()))
        }
        (Data::Int64(v), Function::Abs) if matches!(ty, SqlType::Decimal { .. }) && !v.contains(&i64::MIN) => {
            Some(Data::Int64(v.iter().map(|v| v.abs()).collect()))
        }
        _ => None,
    }
}
