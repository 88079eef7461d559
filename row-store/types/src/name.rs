//! What the types are called in SQL.

use crate::{DECIMAL_DIGITS_MAX, SqlType};

/// Names of types, in lower case and without what may stand in parentheses. DECIMAL, whose
/// parentheses matter, is [`SqlType::named_decimal`]; INTERVAL is no type of a column.
const NAMES: [(&str, SqlType); 40] = [
    ("bigint", SqlType::BigInt),
    ("binary", SqlType::Blob),
    ("blob", SqlType::Blob),
    ("bool", SqlType::Boolean),
    ("boolean", SqlType::Boolean),
    ("bytea", SqlType::Blob),
    ("char varying", SqlType::Text),
    ("char", SqlType::Text),
    ("character varying", SqlType::Text),
    ("character", SqlType::Text),
    ("clob", SqlType::Text),
    ("date", SqlType::Date),
    ("datetime", SqlType::Timestamp),
    ("double precision", SqlType::Double),
    ("double", SqlType::Double),
    ("float", SqlType::Double),
    ("float32", SqlType::Double),
    ("float4", SqlType::Double),
    ("float64", SqlType::Double),
    ("float8", SqlType::Double),
    ("int", SqlType::Integer),
    ("int16", SqlType::Integer),
    ("int2", SqlType::Integer),
    ("int32", SqlType::Integer),
    ("int4", SqlType::Integer),
    ("int64", SqlType::BigInt),
    ("int8", SqlType::BigInt),
    ("integer", SqlType::Integer),
    ("long", SqlType::BigInt),
    ("mediumint", SqlType::Integer),
    ("nvarchar", SqlType::Text),
    ("real", SqlType::Double),
    ("smallint", SqlType::Integer),
    ("string", SqlType::Text),
    ("text", SqlType::Text),
    ("timestamp without time zone", SqlType::Timestamp),
    ("timestamp", SqlType::Timestamp),
    ("tinyint", SqlType::Integer),
    ("varbinary", SqlType::Blob),
    ("varchar", SqlType::Text),
];

impl SqlType {
    /// The type of a name in lower case; `None` if no type has it.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, ty)| *ty)
    }

    /// The type of a column that counts by itself, by the name that stands for type and
    /// counting.
    pub fn named_serial(name: &str) -> Option<Self> {
        match name {
            "serial" | "serial4" => Some(Self::Integer),
            "bigserial" | "serial8" => Some(Self::BigInt),
            _ => None,
        }
    }

    /// Whether a name in lower case is that of DECIMAL.
    pub fn is_decimal_name(name: &str) -> bool {
        matches!(name, "decimal" | "numeric" | "dec")
    }

    /// DECIMAL with the numbers in its parentheses, without any as DuckDB has it; `None` if
    /// there is no such type.
    pub fn named_decimal(digits: Option<(u64, i64)>) -> Option<Self> {
        let Some((precision, scale)) = digits else { return Some(Self::decimal(18, 3)) };
        let (precision, scale) = (u8::try_from(precision).ok()?, u8::try_from(scale).ok()?);
        ((1..=DECIMAL_DIGITS_MAX).contains(&precision) && scale <= precision).then_some(Self::decimal(precision, scale))
    }
}
