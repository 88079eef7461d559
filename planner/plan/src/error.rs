//! The error of anything a user's SQL can cause.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A statement that cannot be planned or carried out: what, where and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlError {
    /// SQLSTATE, five characters (PostgreSQL's appendix A).
    pub code: Cow<'static, str>,
    /// One sentence without a final stop.
    pub message: String,
    /// Line and column of the cause, both from 1, where known.
    pub position: Option<(u32, u32)>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl SqlError {
    /// An error with a code and a message.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code: Cow::Borrowed(code), message: message.into(), position: None, hint: None }
    }

    /// 42601: the text does not parse.
    pub fn syntax(message: impl Into<String>) -> Self {
        Self::new("42601", message)
    }

    /// 0A000: valid SQL that this version does not carry out.
    pub fn unsupported(what: impl fmt::Display) -> Self {
        Self::new("0A000", format!("{what} is not supported"))
    }

    /// XX000: a fault of the database, not of the statement.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new("XX000", message)
    }

    /// The same error at a position, unless it has one.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.position.get_or_insert((line, column));
        self
    }

    /// The same error with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)?;
        if let Some((line, column)) = self.position {
            write!(f, " at line {line}, column {column}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SqlError {}

impl From<gingham_types::CastError> for SqlError {
    fn from(error: gingham_types::CastError) -> Self {
        Self::new(error.sqlstate(), error.to_string())
    }
}
