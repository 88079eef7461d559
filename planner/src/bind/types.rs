//! Types between the three vocabularies: SQL text, Arrow (datafusion-sql) and Gingham.

use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use gingham_plan::SqlError;
use gingham_types::{DECIMAL_DIGITS_MAX, SqlType};
use sqlparser::ast::{self, ExactNumberInfo, TimezoneInfo};

/// `NUMERIC` and `DECIMAL` without digits, as DuckDB has it.
const DECIMAL_DEFAULT: SqlType = SqlType::decimal(18, 3);

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
    Ok(match ty {
        Sql::Boolean | Sql::Bool => SqlType::Boolean,
        Sql::TinyInt(_)
        | Sql::SmallInt(_)
        | Sql::Int2(_)
        | Sql::Int(_)
        | Sql::Int4(_)
        | Sql::Integer(_)
        | Sql::MediumInt(_)
        | Sql::Int16
        | Sql::Int32 => SqlType::Integer,
        Sql::BigInt(_) | Sql::Int8(_) | Sql::Int64 => SqlType::BigInt,
        Sql::Real | Sql::Float(_) | Sql::Float4 | Sql::Float8 | Sql::Float32 | Sql::Float64 | Sql::DoublePrecision => {
            SqlType::Double
        }
        Sql::Double(_) => SqlType::Double,
        Sql::Numeric(info) | Sql::Decimal(info) | Sql::Dec(info) => decimal(info)?,
        Sql::Text
        | Sql::Varchar(_)
        | Sql::Nvarchar(_)
        | Sql::Char(_)
        | Sql::Character(_)
        | Sql::CharVarying(_)
        | Sql::CharacterVarying(_)
        | Sql::String(_)
        | Sql::Clob(_) => SqlType::Text,
        Sql::Bytea | Sql::Blob(_) | Sql::Binary(_) | Sql::Varbinary(_) => SqlType::Blob,
        Sql::Date => SqlType::Date,
        Sql::Timestamp(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) | Sql::Datetime(_) => SqlType::Timestamp,
        Sql::Interval { .. } => SqlType::Interval,
        Sql::Custom(name, arguments) if arguments.is_empty() => match name.to_string().to_ascii_lowercase().as_str() {
            "string" => SqlType::Text,
            "bytes" | "bytea" => SqlType::Blob,
            "double" => SqlType::Double,
            "long" => SqlType::BigInt,
            _ => {
                return Err(SqlError::new("42704", format!("type {name} does not exist"))
                    .hint("the types are INTEGER, BIGINT, DOUBLE, DECIMAL, TEXT, BLOB, DATE, TIMESTAMP, BOOLEAN"));
            }
        },
        other => return Err(SqlError::unsupported(format!("the type {other}"))),
    })
}

fn decimal(info: &ExactNumberInfo) -> Result<SqlType, SqlError> {
    let (precision, scale) = match *info {
        ExactNumberInfo::None => return Ok(DECIMAL_DEFAULT),
        ExactNumberInfo::Precision(precision) => (precision, 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (precision, scale),
    };
    let digits = |n: i64| u8::try_from(n).ok().filter(|n| *n <= DECIMAL_DIGITS_MAX);
    match (u8::try_from(precision).ok().filter(|p| (1..=DECIMAL_DIGITS_MAX).contains(p)), digits(scale)) {
        (Some(precision), Some(scale)) if scale <= precision => Ok(SqlType::decimal(precision, scale)),
        _ => Err(SqlError::new(
            "22023",
            format!(
                "DECIMAL({precision},{scale}) is not between DECIMAL(1,0) and DECIMAL({DECIMAL_DIGITS_MAX},{DECIMAL_DIGITS_MAX})"
            ),
        )),
    }
}
