//! Order-preserving encoding of values as keys.
use crate::{Error, Result};
use gingham_types::{SqlType, Value};
/// One column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// The column's type.
    pub sql_type: SqlType,
    /// Whether NULL may occur; a NOT NULL column has no prefix byte.
    pub nullable: bool,
    /// Whether larger values come first.
    pub descending: bool,
}
/// The columns of a key, which say how it is encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLayout {
    columns: Vec<KeyColumn>,
}
impl KeyLayout {
    /// A layout of these columns.
    pub fn new(columns: Vec<KeyColumn>) -> Self {
        Self { columns }
    }
    /// The columns.
    pub fn columns(&self) -> &[KeyColumn] {
        &self.columns
    }
    /// Appends the encoding of `values`, which may be fewer than the columns (a prefix).
    pub fn encode(&self, _values: &[Value], _out: &mut Vec<u8>) -> Result<()> {
        Err(Error::Poisoned("unfinished".into()))
    }
    /// Reads a key back; returns the values and how many bytes they took (what follows is the caller's).
    pub fn decode(&self, _key: &[u8]) -> Result<(Vec<Value>, usize)> {
        Err(Error::Poisoned("unfinished".into()))
    }
}
