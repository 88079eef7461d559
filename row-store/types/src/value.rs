//! One SQL value, its order and its text form.

use crate::{SqlType, decimal, format_date, format_decimal, format_timestamp};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// A calendar interval. Months and days are kept apart from time because their
/// length depends on the date they are added to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Interval {
    /// Whole months (a year is twelve).
    pub months: i32,
    /// Whole days (a week is seven).
    pub days: i32,
    /// Microseconds.
    pub micros: i64,
}

/// One SQL value. A `Value` does not carry its column's declared type: INTEGER and
/// BIGINT are both [`Value::Int`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// BOOLEAN.
    Boolean(bool),
    /// INTEGER or BIGINT.
    Int(i64),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL: `unscaled / 10^scale`.
    Decimal {
        /// The number without its decimal point.
        unscaled: i128,
        /// Digits after the decimal point.
        scale: u8,
    },
    /// TEXT.
    Text(String),
    /// BLOB.
    Blob(Vec<u8>),
    /// DATE: days since 1970-01-01.
    Date(i32),
    /// TIMESTAMP: microseconds since 1970-01-01T00:00:00.
    Timestamp(i64),
    /// INTERVAL.
    Interval(Interval),
}

impl Value {
    /// Whether this is SQL NULL.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The narrowest type that holds this value.
    pub fn sql_type(&self) -> SqlType {
        match self {
            Self::Null => SqlType::Null,
            Self::Boolean(_) => SqlType::Boolean,
            Self::Int(v) => {
                if i32::try_from(*v).is_ok() {
                    SqlType::Integer
                } else {
                    SqlType::BigInt
                }
            }
            Self::Double(_) => SqlType::Double,
            Self::Decimal { unscaled, scale } => {
                SqlType::decimal(decimal::digits(*unscaled).max(*scale).max(1), *scale)
            }
            Self::Text(_) => SqlType::Text,
            Self::Blob(_) => SqlType::Blob,
            Self::Date(_) => SqlType::Date,
            Self::Timestamp(_) => SqlType::Timestamp,
            Self::Interval(_) => SqlType::Interval,
        }
    }
}

/// The order of two values of comparable types, NULL after everything else (the
/// order of `ORDER BY … ASC` by default) and NaN after every other number, equal to
/// itself. Numbers compare by value across INTEGER, DECIMAL and DOUBLE. Values of
/// types that do not compare are ordered by type, so that the order is total.
pub fn compare_values(a: &Value, b: &Value) -> Ordering {
    use Value::*;
    match (a, b) {
        (Null, Null) => Ordering::Equal,
        (Null, _) => Ordering::Greater,
        (_, Null) => Ordering::Less,
        (Boolean(x), Boolean(y)) => x.cmp(y),
        (Int(x), Int(y)) => x.cmp(y),
        (Double(x), Double(y)) => compare_doubles(*x, *y),
        (Decimal { unscaled: x, scale: s }, Decimal { unscaled: y, scale: t }) => decimal::compare(*x, *s, *y, *t),
        (Int(x), Decimal { unscaled: y, scale: t }) => decimal::compare(i128::from(*x), 0, *y, *t),
        (Decimal { unscaled: x, scale: s }, Int(y)) => decimal::compare(*x, *s, i128::from(*y), 0),
        (Double(x), Int(y)) => compare_doubles(*x, *y as f64),
        (Int(x), Double(y)) => compare_doubles(*x as f64, *y),
        (Double(x), Decimal { unscaled, scale }) => compare_doubles(*x, decimal::to_double(*unscaled, *scale)),
        (Decimal { unscaled, scale }, Double(y)) => compare_doubles(decimal::to_double(*unscaled, *scale), *y),
        (Text(x), Text(y)) => x.as_bytes().cmp(y.as_bytes()),
        (Blob(x), Blob(y)) => x.cmp(y),
        (Date(x), Date(y)) => x.cmp(y),
        (Timestamp(x), Timestamp(y)) => x.cmp(y),
        (Date(x), Timestamp(y)) => (i64::from(*x) * crate::date::MICROS_PER_DAY).cmp(y),
        (Timestamp(x), Date(y)) => x.cmp(&(i64::from(*y) * crate::date::MICROS_PER_DAY)),
        (Interval(x), Interval(y)) => interval_micros(*x).cmp(&interval_micros(*y)),
        _ => type_rank(a).cmp(&type_rank(b)),
    }
}

fn compare_doubles(x: f64, y: f64) -> Ordering {
    match (x.is_nan(), y.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => x.partial_cmp(&y).unwrap_or(Ordering::Equal),
    }
}

fn interval_micros(v: Interval) -> i128 {
    (i128::from(v.months) * 30 + i128::from(v.days)) * i128::from(crate::date::MICROS_PER_DAY) + i128::from(v.micros)
}

const fn type_rank(v: &Value) -> u8 {
    match v {
        Value::Boolean(_) => 0,
        Value::Int(_) | Value::Double(_) | Value::Decimal { .. } => 1,
        Value::Date(_) | Value::Timestamp(_) => 2,
        Value::Text(_) => 3,
        Value::Blob(_) => 4,
        Value::Interval(_) => 5,
        Value::Null => 6,
    }
}

/// A DOUBLE as text: the shortest digits that read back the same, with an exponent
/// outside `1e-5 … 1e15`, `NaN` and `Infinity` by name.
pub fn format_double(v: f64) -> String {
    if v.is_nan() {
        return "NaN".into();
    }
    if v.is_infinite() {
        return if v > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    let magnitude = v.abs();
    if magnitude != 0.0 && !(1e-5..1e15).contains(&magnitude) { format!("{v:e}") } else { format!("{v}") }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean(v) => write!(f, "{v}"),
            Self::Int(v) => write!(f, "{v}"),
            Self::Double(v) => f.write_str(&format_double(*v)),
            Self::Decimal { unscaled, scale } => f.write_str(&format_decimal(*unscaled, *scale)),
            Self::Text(v) => f.write_str(v),
            Self::Blob(v) => {
                f.write_str("\\x")?;
                v.iter().try_for_each(|b| write!(f, "{b:02x}"))
            }
            Self::Date(v) => f.write_str(&format_date(*v)),
            Self::Timestamp(v) => f.write_str(&format_timestamp(*v)),
            Self::Interval(v) => write!(f, "{} mons {} days {} us", v.months, v.days, v.micros),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_sort_last_and_nan_after_numbers() {
        assert_eq!(compare_values(&Value::Null, &Value::Int(1)), Ordering::Greater);
        assert_eq!(compare_values(&Value::Double(f64::NAN), &Value::Double(f64::INFINITY)), Ordering::Greater);
        assert_eq!(compare_values(&Value::Double(f64::NAN), &Value::Double(f64::NAN)), Ordering::Equal);
    }

    #[test]
    fn numbers_compare_across_types() {
        let half = Value::Decimal { unscaled: 50, scale: 2 };
        assert_eq!(compare_values(&Value::Int(1), &half), Ordering::Greater);
        assert_eq!(compare_values(&half, &Value::Double(0.5)), Ordering::Equal);
    }

    #[test]
    fn doubles_print_shortest() {
        assert_eq!(format_double(0.1), "0.1");
        assert_eq!(format_double(1e20), "1e20");
        assert_eq!(format_double(3.0), "3");
    }
}
