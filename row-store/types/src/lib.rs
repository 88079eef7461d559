//! SQL types and values shared by every crate: what a column can hold, how two
//! values compare, how they are written as text and read back.
//!
//! Nothing here allocates pages, knows SQL text or names Arrow. The crate has no
//! dependency but `serde`, so that the storage layer can use it freely.

mod cast;
mod date;
mod decimal;
mod name;
mod value;

pub use cast::{CastError, CastErrorKind, cast, round_to_integer};
pub use date::{
    add_months, civil_from_days, days_from_civil, format_date, format_timestamp, parse_date, parse_interval,
    parse_timestamp,
};
pub use decimal::{DECIMAL_DIGITS_MAX, DECIMAL64_DIGITS_MAX, format_decimal, parse_decimal, power_of_ten, rescale};
pub use value::{Interval, Value, compare_values, format_double};

use serde::{Deserialize, Serialize};
use std::fmt;

/// The type of a column or of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SqlType {
    /// The type of a bare `NULL`; casts to anything. Never the type of a stored column.
    Null,
    /// `true` or `false`.
    Boolean,
    /// 32-bit signed integer.
    Integer,
    /// 64-bit signed integer.
    BigInt,
    /// IEEE 754 binary64.
    Double,
    /// Exact number with `scale` digits after the point, `precision` in all (at most 38).
    Decimal {
        /// Digits in all, 1 to 38.
        precision: u8,
        /// Digits after the decimal point, 0 to `precision`.
        scale: u8,
    },
    /// UTF-8 text, compared by bytes (which is by code point).
    Text,
    /// Bytes.
    Blob,
    /// Days since 1970-01-01 in the proleptic Gregorian calendar.
    Date,
    /// Microseconds since 1970-01-01T00:00:00, without a time zone.
    Timestamp,
    /// Months, days and microseconds; only in expressions.
    Interval,
}

impl SqlType {
    /// `DECIMAL(precision, scale)`.
    pub const fn decimal(precision: u8, scale: u8) -> Self {
        Self::Decimal { precision, scale }
    }

    /// Whether arithmetic is defined on the type.
    pub const fn is_numeric(self) -> bool {
        matches!(self, Self::Integer | Self::BigInt | Self::Double | Self::Decimal { .. })
    }

    /// Whether the type is INTEGER or BIGINT.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Integer | Self::BigInt)
    }

    /// The type as an exact decimal `(precision, scale)`, for integers and decimals.
    pub const fn as_decimal(self) -> Option<(u8, u8)> {
        match self {
            Self::Integer => Some((10, 0)),
            Self::BigInt => Some((19, 0)),
            Self::Decimal { precision, scale } => Some((precision, scale)),
            _ => None,
        }
    }
}

impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::Integer => f.write_str("INTEGER"),
            Self::BigInt => f.write_str("BIGINT"),
            Self::Double => f.write_str("DOUBLE"),
            Self::Decimal { precision, scale } => write!(f, "DECIMAL({precision},{scale})"),
            Self::Text => f.write_str("TEXT"),
            Self::Blob => f.write_str("BLOB"),
            Self::Date => f.write_str("DATE"),
            Self::Timestamp => f.write_str("TIMESTAMP"),
            Self::Interval => f.write_str("INTERVAL"),
        }
    }
}
