//! Types between the three vocabularies: SQL text, Arrow (datafusion-sql) and Gingham.

use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use gingham_plan::SqlError;
use gingham_types::{DECIMAL_DIGITS_MAX, SqlType};
use sqlparser::ast::{self, ExactNumberInfo};
use std::borrow::Cow;

/// The Arrow type that stands for a type in datafusion-sql.
pub(crate) const fn to_arrow(ty: SqlType) -> DataType {
    match ty {
        SqlType::Null => DataType::Null,
        SqlType::Boolean => DataType::Boolean,
        SqlType::Integer => DataType::Int32,
        SqlType::BigInt => DataType::Int64,
        SqlType::Double => DataType::Float64,
        SqlType::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
        SqlType::Text => DataType::Utf8,
        SqlType::Blob => DataType::Binary,
        SqlType::Date => DataType::Date32,
        SqlType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        SqlType::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
    }
}

/// The type an Arrow type stands for; `None` where Gingham has none.
pub(crate) fn from_arrow(ty: &DataType) -> Option<SqlType> {
    Some(match ty {
        DataType::Null => SqlType::Null,
        DataType::Boolean => SqlType::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => SqlType::Integer,
        DataType::Int64 | DataType::UInt32 => SqlType::BigInt,
        DataType::UInt64 => SqlType::decimal(20, 0),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => SqlType::Double,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            SqlType::decimal((*precision).min(DECIMAL_DIGITS_MAX), u8::try_from(*scale).ok()?.min(DECIMAL_DIGITS_MAX))
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => SqlType::Text,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => SqlType::Blob,
        DataType::Date32 | DataType::Date64 => SqlType::Date,
        DataType::Timestamp(_, None) => SqlType::Timestamp,
        DataType::Interval(_) => SqlType::Interval,
        _ => return None,
    })
}

/// The type that a type's name in SQL means.
pub(crate) fn from_sql(ty: &ast::DataType) -> Result<SqlType, SqlError> {
    use ast::DataType as Sql;
    match ty {
        Sql::Numeric(info) | Sql::Decimal(info) | Sql::Dec(info) => decimal(info),
        Sql::Interval { .. } => Ok(SqlType::Interval),
        Sql::Custom(name, arguments) if arguments.is_empty() => SqlType::named(&name.to_string().to_ascii_lowercase())
            .ok_or_else(|| {
                SqlError::new("42704", format!("type {name} does not exist"))
                    .hint("the types are INTEGER, BIGINT, DOUBLE, DECIMAL, TEXT, BLOB, DATE, TIMESTAMP, BOOLEAN")
            }),
        Sql::Custom(..) => Err(SqlError::unsupported(format!("the type {ty}"))),
        other => {
            // Lengths and the like are not enforced.
            let text = other.to_string().to_ascii_lowercase();
            let name = match (text.split_once('('), text.rsplit_once(')')) {
                (Some((before, _)), Some((_, after))) => Cow::Owned(format!("{before}{after}")),
                _ => Cow::Borrowed(text.as_str()),
            };
            SqlType::named(&name).ok_or_else(|| SqlError::unsupported(format!("the type {other}")))
        }
    }
}

fn decimal(info: &ExactNumberInfo) -> Result<SqlType, SqlError> {
    let (precision, scale) = match *info {
        ExactNumberInfo::None => return SqlType::named_decimal(None).ok_or_else(|| SqlError::internal("DECIMAL")),
        ExactNumberInfo::Precision(precision) => (precision, 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (precision, scale),
    };
    SqlType::named_decimal(Some((precision, scale))).ok_or_else(|| {
        SqlError::new(
            "22023",
            format!(
                "DECIMAL({precision},{scale}) is not between DECIMAL(1,0) and DECIMAL({DECIMAL_DIGITS_MAX},{DECIMAL_DIGITS_MAX})"
            ),
        )
    })
}
