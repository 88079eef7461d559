//! The errors that expressions raise, by SQLSTATE.

use crate::Error;
use gingham_plan::SqlError;
use gingham_types::SqlType;
use std::fmt::Display;

/// 22012.
pub(crate) fn division_by_zero() -> Error {
    Error::Sql(SqlError::new("22012", "division by zero"))
}

/// 22003: a result does not fit its type.
pub(crate) fn out_of_range(ty: SqlType) -> Error {
    Error::Sql(SqlError::new("22003", format!("a result is out of range for {ty}")))
}

/// 22008: a date or timestamp leaves the calendar.
pub(crate) fn date_out_of_range() -> Error {
    Error::Sql(SqlError::new("22008", "a date or timestamp is out of range"))
}

/// 54000: strings of one vector pass 4 GiB, or one string passes its limit.
pub(crate) fn text_too_large() -> Error {
    Error::Sql(SqlError::new("54000", "a text result is too large"))
}

/// An argument for which a function is not defined.
pub(crate) fn invalid_argument(code: &'static str, message: impl Into<String>) -> Error {
    Error::Sql(SqlError::new(code, message))
}

/// XX000: the plan breaks its contract.
pub(crate) fn internal(what: impl Display) -> Error {
    Error::Sql(SqlError::internal(what.to_string()))
}
