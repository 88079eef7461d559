//! Conversions between types, as CAST, INSERT and parameters apply them.

use crate::date::MICROS_PER_DAY;
use crate::{SqlType, Value, decimal, parse_date, parse_decimal, parse_timestamp, power_of_ten, rescale};
use std::fmt;

/// Why a value does not convert; see [`cast`].
#[derive(Clone, Debug, PartialEq)]
pub struct CastError {
    /// What went wrong.
    pub kind: CastErrorKind,
    /// The type asked for.
    pub target: SqlType,
    /// The value as text, shortened to 80 characters.
    pub value: String,
}

/// The kinds of failed conversion, each with its own SQLSTATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastErrorKind {
    /// The text does not read as the type (22P02).
    InvalidText,
    /// The number is outside the type's range (22003).
    OutOfRange,
    /// There is no conversion between the two types (42846).
    Unsupported,
}

impl CastError {
    /// The SQLSTATE of the error.
    pub const fn sqlstate(&self) -> &'static str {
        match self.kind {
            CastErrorKind::InvalidText => "22P02",
            CastErrorKind::OutOfRange => "22003",
            CastErrorKind::Unsupported => "42846",
        }
    }
}

impl fmt::Display for CastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, value, .. } = self;
        match self.kind {
            CastErrorKind::InvalidText => write!(f, "'{value}' is not a valid {target}"),
            CastErrorKind::OutOfRange => write!(f, "{value} is out of range for {target}"),
            CastErrorKind::Unsupported => write!(f, "cannot convert {value} to {target}"),
        }
    }
}

impl std::error::Error for CastError {}

/// Converts `value` to `target`. NULL converts to NULL of every type. Rounds halves
/// away from zero where digits are dropped.
///
/// # Errors
/// [`CastErrorKind::InvalidText`] for text that does not parse,
/// [`CastErrorKind::OutOfRange`] for a number that does not fit,
/// [`CastErrorKind::Unsupported`] where SQL defines no conversion.
pub fn cast(value: &Value, target: SqlType) -> Result<Value, CastError> {
    let fail = |kind| Err(CastError { kind, target, value: value.to_string().chars().take(80).collect() });
    let ok_or = |v: Option<Value>, kind| v.map_or_else(|| fail(kind), Ok);
    use CastErrorKind::{InvalidText, OutOfRange, Unsupported};
    match (target, value) {
        (_, Value::Null) => Ok(Value::Null),
        (SqlType::Null, v) => Ok(v.clone()),
        (SqlType::Boolean, Value::Boolean(_))
        | (SqlType::BigInt, Value::Int(_))
        | (SqlType::Double, Value::Double(_))
        | (SqlType::Text, Value::Text(_))
        | (SqlType::Blob, Value::Blob(_))
        | (SqlType::Date, Value::Date(_))
        | (SqlType::Timestamp, Value::Timestamp(_))
        | (SqlType::Interval, Value::Interval(_)) => Ok(value.clone()),

        (SqlType::Boolean, Value::Int(v)) => Ok(Value::Boolean(*v != 0)),
        (SqlType::Boolean, Value::Text(v)) => match v.trim().to_ascii_lowercase().as_str() {
            "t" | "true" | "yes" | "on" | "1" => Ok(Value::Boolean(true)),
            "f" | "false" | "no" | "off" | "0" => Ok(Value::Boolean(false)),
            _ => fail(InvalidText),
        },

        (SqlType::Integer | SqlType::BigInt, v) => match to_integer(v) {
            Ok(Some(n)) if target == SqlType::BigInt || i32::try_from(n).is_ok() => Ok(Value::Int(n)),
            Ok(_) => fail(OutOfRange),
            Err(kind) => fail(kind),
        },

        (SqlType::Double, Value::Int(v)) => Ok(Value::Double(*v as f64)),
        (SqlType::Double, Value::Decimal { unscaled, scale }) => {
            Ok(Value::Double(decimal::to_double(*unscaled, *scale)))
        }
        (SqlType::Double, Value::Text(v)) => ok_or(v.trim().parse().ok().map(Value::Double), InvalidText),

        (SqlType::Decimal { precision, scale }, v) => {
            let (unscaled, from) = match v {
                Value::Int(v) => (i128::from(*v), 0),
                Value::Decimal { unscaled, scale } => (*unscaled, *scale),
                Value::Double(v) => match double_to_decimal(*v, scale) {
                    Some(unscaled) => (unscaled, scale),
                    None => return fail(OutOfRange),
                },
                Value::Text(text) => match parse_number(text.trim(), scale) {
                    Some(parsed) => parsed,
                    None => return fail(InvalidText),
                },
                _ => return fail(Unsupported),
            };
            let limit = power_of_ten(precision).unwrap_or(i128::MAX);
            match rescale(unscaled, from, scale) {
                Some(unscaled) if unscaled.abs() < limit => Ok(Value::Decimal { unscaled, scale }),
                _ => fail(OutOfRange),
            }
        }

        (SqlType::Text, Value::Blob(_)) => fail(Unsupported),
        (SqlType::Text, v) => Ok(Value::Text(v.to_string())),
        (SqlType::Blob, Value::Text(v)) => match v.strip_prefix("\\x") {
            Some(hex) => ok_or(parse_hex(hex).map(Value::Blob), InvalidText),
            None => Ok(Value::Blob(v.as_bytes().to_vec())),
        },

        (SqlType::Date, Value::Timestamp(v)) => {
            ok_or(i32::try_from(v.div_euclid(MICROS_PER_DAY)).ok().map(Value::Date), OutOfRange)
        }
        (SqlType::Date, Value::Text(v)) => ok_or(
            parse_date(v)
                .or_else(|| parse_timestamp(v).and_then(|t| i32::try_from(t.div_euclid(MICROS_PER_DAY)).ok()))
                .map(Value::Date),
            InvalidText,
        ),
        (SqlType::Timestamp, Value::Date(v)) => {
            ok_or(i64::from(*v).checked_mul(MICROS_PER_DAY).map(Value::Timestamp), OutOfRange)
        }
        (SqlType::Timestamp, Value::Text(v)) => ok_or(parse_timestamp(v).map(Value::Timestamp), InvalidText),
        (SqlType::Interval, Value::Text(v)) => ok_or(crate::parse_interval(v, None).map(Value::Interval), InvalidText),
        _ => fail(Unsupported),
    }
}

/// `Ok(None)` is out of range.
fn to_integer(value: &Value) -> Result<Option<i64>, CastErrorKind> {
    match value {
        Value::Int(v) => Ok(Some(*v)),
        Value::Boolean(v) => Ok(Some(i64::from(*v))),
        Value::Double(v) => Ok(round_to_integer(*v)),
        Value::Decimal { unscaled, scale } => Ok(rescale(*unscaled, *scale, 0).and_then(|v| i64::try_from(v).ok())),
        Value::Text(text) => {
            let text = text.trim();
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return Err(CastErrorKind::InvalidText);
            }
            Ok(text.parse().ok())
        }
        _ => Err(CastErrorKind::Unsupported),
    }
}

/// A DOUBLE rounded half away from zero to an `i64`; `None` for NaN and out of range.
pub fn round_to_integer(v: f64) -> Option<i64> {
    let rounded = v.round();
    // 2^63 is exact as f64; i64::MAX is not.
    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded).then_some(rounded as i64)
}

fn double_to_decimal(v: f64, scale: u8) -> Option<i128> {
    let scaled = (v * 10f64.powi(i32::from(scale))).round();
    (scaled.abs() < 1e38).then_some(scaled as i128)
}

fn parse_number(text: &str, scale: u8) -> Option<(i128, u8)> {
    parse_decimal(text).or_else(|| {
        let exponent_form = text.contains(['e', 'E']);
        let v: f64 = text.parse().ok().filter(|v: &f64| exponent_form && v.is_finite())?;
        Some((double_to_decimal(v, scale)?, scale))
    })
}

fn parse_hex(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) || !hex.is_ascii() {
        return None;
    }
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_range() {
        assert_eq!(
            cast(&Value::Int(3_000_000_000), SqlType::Integer).map_err(|e| e.kind),
            Err(CastErrorKind::OutOfRange)
        );
        assert_eq!(cast(&Value::Double(2.5), SqlType::Integer), Ok(Value::Int(3)));
        assert_eq!(cast(&Value::Double(f64::NAN), SqlType::BigInt).map_err(|e| e.kind), Err(CastErrorKind::OutOfRange));
        assert_eq!(
            cast(&Value::Text("12.345".into()), SqlType::decimal(15, 2)),
            Ok(Value::Decimal { unscaled: 1235, scale: 2 })
        );
        assert_eq!(cast(&Value::Int(100), SqlType::decimal(2, 0)).map_err(|e| e.kind), Err(CastErrorKind::OutOfRange));
    }

    #[test]
    fn text_that_does_not_parse_is_named() {
        let error = cast(&Value::Text("abc".into()), SqlType::Integer).expect_err("not a number");
        assert_eq!(error.to_string(), "'abc' is not a valid INTEGER");
        assert_eq!(error.sqlstate(), "22P02");
    }

    #[test]
    fn blobs_read_hex() {
        assert_eq!(cast(&Value::Text("\\x00ff".into()), SqlType::Blob), Ok(Value::Blob(vec![0, 255])));
        assert!(cast(&Value::Text("\\x0".into()), SqlType::Blob).is_err());
    }
}
