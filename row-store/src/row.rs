//! The row codec.
use crate::{Error, Result};
use gingham_types::{SqlType, Value};
/// How rows of a table are laid out, from its columns' types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLayout {
    types: Vec<SqlType>,
}
impl RowLayout {
    /// A layout of columns with these types.
    pub fn new(types: &[SqlType]) -> Self {
        Self { types: types.to_vec() }
    }
    /// The columns' types.
    pub fn types(&self) -> &[SqlType] {
        &self.types
    }
    /// Appends the encoding of a row to `out`.
    pub fn encode(&self, _values: &[Value], _out: &mut Vec<u8>) -> Result<()> {
        Err(Error::Poisoned("unfinished".into()))
    }
    /// A reader over an encoded row; checks its frame once.
    pub fn reader<'a>(&'a self, _bytes: &'a [u8]) -> Result<RowReader<'a>> {
        Err(Error::Poisoned("unfinished".into()))
    }
    /// All columns.
    pub fn decode_all(&self, _bytes: &[u8]) -> Result<Vec<Value>> {
        Err(Error::Poisoned("unfinished".into()))
    }
}
/// Reads single columns of one encoded row. Columns the row does not have are NULL.
#[derive(Clone, Copy)]
pub struct RowReader<'a> {
    _layout: &'a RowLayout,
    _bytes: &'a [u8],
}
impl<'a> RowReader<'a> {
    /// Whether a column is NULL.
    pub fn is_null(&self, _column: usize) -> bool {
        true
    }
    /// An INTEGER or BIGINT (also the days of a DATE and micros of a TIMESTAMP).
    pub fn int(&self, _column: usize) -> Option<i64> {
        None
    }
    /// A DOUBLE.
    pub fn double(&self, _column: usize) -> Option<f64> {
        None
    }
    /// A BOOLEAN.
    pub fn boolean(&self, _column: usize) -> Option<bool> {
        None
    }
    /// A DECIMAL's unscaled number.
    pub fn decimal(&self, _column: usize) -> Option<i128> {
        None
    }
    /// A TEXT; `None` if NULL.
    pub fn text(&self, _column: usize) -> Option<&'a str> {
        None
    }
    /// A BLOB, or the bytes of a TEXT.
    pub fn bytes(&self, _column: usize) -> Option<&'a [u8]> {
        None
    }
    /// Any column as a value.
    pub fn value(&self, _column: usize) -> Result<Value> {
        Err(Error::Poisoned("unfinished".into()))
    }
}
