//! Parameters on their way into a statement.

use crate::error::Result;
use gingham_plan::SqlError;
use gingham_types::{SqlType, Value, cast, compare_values, format_double, parse_decimal};
use std::borrow::Cow;
use std::cmp::Ordering;

fn parameter(parameters: &[Value], position: usize) -> Result<&Value> {
    parameters.get(position).ok_or_else(|| {
        SqlError::new("07001", format!("parameter {} has no value; {} were given", position + 1, parameters.len()))
            .into()
    })
}

/// A parameter to be stored in a column of type `ty`: converted as INSERT does, but a
/// number with a fraction is not an integer.
pub(crate) fn assign_parameter(parameters: &[Value], position: usize, ty: SqlType) -> Result<Value> {
    let value = parameter(parameters, position)?;
    match (value, ty) {
        (Value::Int(v), SqlType::BigInt) => Ok(Value::Int(*v)),
        (Value::Int(v), SqlType::Integer) if i32::try_from(*v).is_ok() => Ok(Value::Int(*v)),
        (Value::Text(_), SqlType::Text) => Ok(value.clone()),
        (_, SqlType::Integer | SqlType::BigInt) => exact(value, position, ty),
        // The digits a program wrote, not those of the nearest binary number.
        (Value::Double(v), SqlType::Decimal { .. }) => Ok(cast(&decimal_of(*v), ty)?),
        _ => Ok(cast(value, ty)?),
    }
}

/// A parameter to be compared with values of type `ty`: it must be one, exactly, so
/// that rounding never makes a wrong row match.
pub(crate) fn compare_parameter(parameters: &[Value], position: usize, ty: SqlType) -> Result<Cow<'_, Value>> {
    let value = parameter(parameters, position)?;
    match (value, ty) {
        (Value::Int(_), SqlType::BigInt) | (Value::Text(_), SqlType::Text) => Ok(Cow::Borrowed(value)),
        (Value::Int(v), SqlType::Integer) if i32::try_from(*v).is_ok() => Ok(Cow::Borrowed(value)),
        (Value::Double(v), SqlType::Decimal { .. }) => exact(&decimal_of(*v), position, ty).map(Cow::Owned),
        _ => exact(value, position, ty).map(Cow::Owned),
    }
}

fn exact(value: &Value, position: usize, ty: SqlType) -> Result<Value> {
    let converted = cast(value, ty)?;
    let is_number = matches!(value, Value::Int(_) | Value::Double(_) | Value::Decimal { .. });
    if is_number && ty.is_numeric() && ty != SqlType::Double && compare_values(value, &converted) != Ordering::Equal {
        return Err(SqlError::new("22003", format!("parameter {}: {value} is not exactly a {ty}", position + 1))
            .hint("use CAST on the parameter to say which type it has")
            .into());
    }
    Ok(converted)
}

fn decimal_of(v: f64) -> Value {
    match parse_decimal(&format_double(v)) {
        Some((unscaled, scale)) => Value::Decimal { unscaled, scale },
        None => Value::Double(v),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_not_rounded_into_matches() {
        assert!(compare_parameter(&[Value::Double(1.5)], 0, SqlType::Integer).is_err());
        assert_eq!(compare_parameter(&[Value::Double(2.0)], 0, SqlType::Integer).ok().as_deref(), Some(&Value::Int(2)));
        let price = SqlType::decimal(15, 2);
        assert!(compare_parameter(&[Value::Double(1.239)], 0, price).is_err());
        assert_eq!(
            compare_parameter(&[Value::Double(1.23)], 0, price).ok().as_deref(),
            Some(&Value::Decimal { unscaled: 123, scale: 2 })
        );
        assert_eq!(
            assign_parameter(&[Value::Double(1.239)], 0, price).ok(),
            Some(Value::Decimal { unscaled: 124, scale: 2 })
        );
    }

    #[test]
    fn a_missing_parameter_is_named() {
        let error = compare_parameter(&[], 2, SqlType::Integer).expect_err("there is none");
        assert!(error.to_string().contains("parameter 3"));
    }
}
