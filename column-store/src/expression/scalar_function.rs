//! Scalar functions on values.

use super::{calendar, decimal, error, text_function};
use crate::Result;
use gingham_plan::Function;
use gingham_types::{SqlType, Value, compare_values, power_of_ten, rescale};
use std::cmp::Ordering;

/// `function(arguments)` of type `ty`. COALESCE is evaluated by its caller, which
/// stops at the first value.
pub(crate) fn call(function: Function, arguments: &[Value], ty: SqlType) -> Result<Value> {
    match function {
        Function::Coalesce => return Ok(arguments.iter().find(|v| !v.is_null()).cloned().unwrap_or(Value::Null)),
        Function::Greatest => return Ok(extreme(arguments, Ordering::Greater)),
        Function::Least => return Ok(extreme(arguments, Ordering::Less)),
        Function::ConcatAll => return text_function::concatenate(arguments),
        Function::NullIf => {
            let [a, b] = arguments else { return Err(arity(function, arguments)) };
            let equal = super::scalar::equal(a, b) == Some(true);
            return Ok(if equal { Value::Null } else { a.clone() });
        }
        _ if arguments.iter().any(Value::is_null) => return Ok(Value::Null),
        _ => {}
    }
    match (function, arguments) {
        (Function::Extract(field), [v]) => calendar::extract_value(field, v),
        (Function::DateTruncate(field), [v]) => calendar::truncate_value(field, v),
        (Function::DateDifference(field), [from, to]) => calendar::difference(field, from, to),
        (Function::MakeDate, [Value::Int(year), Value::Int(month), Value::Int(day)]) => {
            calendar::make_date(*year, *month, *day)
        }
        (Function::FormatTime, [Value::Timestamp(micros), Value::Text(format)]) => {
            Ok(Value::Text(super::format_time::format(*micros, format)))
        }
        (Function::Abs, [v]) => match v {
            Value::Int(n) if *n < 0 => super::scalar_binary::negate(v, ty),
            Value::Double(n) => Ok(Value::Double(n.abs())),
            Value::Decimal { unscaled, scale } => Ok(Value::Decimal { unscaled: unscaled.abs(), scale: *scale }),
            other => Ok(other.clone()),
        },
        (Function::Sign, [v]) => Ok(Value::Int(match v {
            Value::Int(n) => n.signum(),
            Value::Decimal { unscaled, .. } => unscaled.signum() as i64,
            Value::Double(n) => sign(*n),
            _ => return Err(arity(function, arguments)),
        })),
        (Function::Ceil | Function::Floor | Function::Truncate | Function::Round, [v]) => round(function, v, 0, ty),
        (Function::Round, [v, Value::Int(digits)]) => round(function, v, *digits, ty),
        (Function::Sqrt | Function::Exp | Function::Ln | Function::Log10, [Value::Double(v)]) => {
            real(function, *v).map(Value::Double)
        }
        (Function::Power, [Value::Double(a), Value::Double(b)]) => power(*a, *b).map(Value::Double),
        _ => text_function::call(function, arguments),
    }
}

/// An error for arguments that the planner should not have let through.
pub(crate) fn arity(function: Function, arguments: &[Value]) -> crate::Error {
    let types: Vec<String> = arguments.iter().map(|v| v.sql_type().to_string()).collect();
    error::internal(format!("{function:?}({})", types.join(", ")))
}

fn extreme(arguments: &[Value], wanted: Ordering) -> Value {
    let mut best = &Value::Null;
    for value in arguments.iter().filter(|v| !v.is_null()) {
        if best.is_null() || compare_values(value, best) == wanted {
            best = value;
        }
    }
    best.clone()
}

pub(crate) fn sign(v: f64) -> i64 {
    i64::from(v > 0.0) - i64::from(v < 0.0)
}

/// The functions of one DOUBLE that are not defined everywhere.
pub(crate) fn real(function: Function, v: f64) -> Result<f64> {
    match function {
        Function::Sqrt if v < 0.0 => Err(error::invalid_argument("2201F", "square root of a negative number")),
        Function::Ln | Function::Log10 if v == 0.0 => Err(error::invalid_argument("2201E", "logarithm of zero")),
        Function::Ln | Function::Log10 if v < 0.0 => {
            Err(error::invalid_argument("2201E", "logarithm of a negative number"))
        }
        Function::Sqrt => Ok(v.sqrt()),
        Function::Exp => Ok(v.exp()),
        Function::Ln => Ok(v.ln()),
        _ => Ok(v.log10()),
    }
}

pub(crate) fn power(a: f64, b: f64) -> Result<f64> {
    if a == 0.0 && b < 0.0 {
        return Err(error::invalid_argument("2201F", "zero raised to a negative power"));
    }
    if a < 0.0 && b.is_finite() && b.fract() != 0.0 {
        return Err(error::invalid_argument("2201F", "a negative number raised to a power that is not whole"));
    }
    Ok(a.powf(b))
}

fn round(function: Function, v: &Value, digits: i64, ty: SqlType) -> Result<Value> {
    match v {
        Value::Double(n) => Ok(Value::Double(round_double(function, *n, digits))),
        Value::Decimal { unscaled, scale } => {
            let to = if let SqlType::Decimal { scale, .. } = ty { scale } else { 0 };
            let unscaled =
                round_decimal(function, *unscaled, *scale, digits, to).ok_or_else(|| error::out_of_range(ty))?;
            Ok(match ty {
                SqlType::Decimal { .. } => Value::Decimal { unscaled, scale: to },
                _ => gingham_types::cast(&Value::Decimal { unscaled, scale: to }, ty)?,
            })
        }
        Value::Int(_) => Ok(v.clone()),
        other => Err(error::internal(format!("{function:?}({})", other.sql_type()))),
    }
}

pub(crate) fn round_double(function: Function, v: f64, digits: i64) -> f64 {
    match function {
        Function::Ceil => v.ceil(),
        Function::Floor => v.floor(),
        Function::Truncate => v.trunc(),
        _ if digits == 0 => v.round(),
        _ => {
            let digits = digits.clamp(-400, 400) as i32;
            let factor = 10f64.powi(digits.abs());
            let scaled = if digits > 0 { v * factor } else { v / factor };
            // Digits past the precision of a DOUBLE leave it as it is.
            match (scaled.is_finite(), digits > 0) {
                (true, true) => scaled.round() / factor,
                (true, false) => scaled.round() * factor,
                (false, _) => v,
            }
        }
    }
}

/// Rounds `unscaled / 10^scale` to `digits` digits after the point and gives it with
/// scale `to`; `None` on overflow.
pub(crate) fn round_decimal(function: Function, unscaled: i128, scale: u8, digits: i64, to: u8) -> Option<i128> {
    let dropped = i64::from(scale) - digits;
    let rounded = if dropped <= 0 {
        unscaled
    } else {
        // More digits dropped than a number has: only the sign can matter.
        let Some(unit) = u8::try_from(dropped).ok().and_then(power_of_ten) else {
            return match function {
                Function::Ceil if unscaled > 0 => None,
                Function::Floor if unscaled < 0 => None,
                _ => Some(0),
            };
        };
        let whole = match function {
            Function::Floor => unscaled.div_euclid(unit),
            Function::Ceil => -(-unscaled).div_euclid(unit),
            Function::Truncate => unscaled / unit,
            _ => decimal::divide_round(unscaled, unit),
        };
        whole.checked_mul(unit)?
    };
    rescale(rounded, scale, to).filter(|v| decimal::fits(*v))
}
