//! A vector from values one at a time: the slow way in, for rows and constants.

use crate::vector::{Batch, Data, Dictionary, TextVector, Vector};
use crate::{Error, Result};
use gingham_plan::SqlError;
use gingham_types::{Interval, SqlType, Value};
use std::sync::Arc;

/// Builds one vector of a type value by value.
#[derive(Debug)]
pub struct ColumnBuilder {
    ty: SqlType,
    data: Data,
    /// Strings, until [`ColumnBuilder::finish`] shares them.
    dictionary: Dictionary,
    validity: Option<Vec<bool>>,
}

impl ColumnBuilder {
    /// An empty builder for a column of type `ty`.
    pub fn new(ty: SqlType, capacity: usize) -> Self {
        let data = match ty {
            SqlType::Boolean => Data::Boolean(Vec::with_capacity(capacity)),
            SqlType::Integer | SqlType::Date | SqlType::Null => Data::Int32(Vec::with_capacity(capacity)),
            SqlType::BigInt | SqlType::Timestamp | SqlType::Decimal { .. } => Data::Int64(Vec::with_capacity(capacity)),
            SqlType::Double => Data::Double(Vec::with_capacity(capacity)),
            SqlType::Interval => Data::Interval(Vec::with_capacity(capacity)),
            SqlType::Text | SqlType::Blob => {
                Data::Text(TextVector { codes: Vec::with_capacity(capacity), dictionary: Arc::default() })
            }
        };
        Self { ty, data, dictionary: Dictionary::default(), validity: None }
    }

    /// Values so far.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there is no value yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a value of the builder's type, or NULL.
    ///
    /// # Errors
    /// XX000 if the value is of another type; 54000 past 4 GiB of text.
    pub fn push(&mut self, value: &Value) -> Result<()> {
        if value.is_null() {
            let rows = self.len();
            self.validity.get_or_insert_with(|| vec![true; rows]).push(false);
            return self.push_default();
        }
        match (&mut self.data, value) {
            (Data::Boolean(data), Value::Boolean(v)) => data.push(*v),
            (Data::Int32(data), Value::Int(v)) => {
                let narrow = i32::try_from(*v).map_err(|_| super::error::out_of_range(self.ty))?;
                data.push(narrow);
            }
            (Data::Int32(data), Value::Date(v)) => data.push(*v),
            (Data::Int64(data), Value::Int(v) | Value::Timestamp(v)) => data.push(*v),
            (Data::Double(data), Value::Double(v)) => data.push(*v),
            (Data::Interval(data), Value::Interval(v)) => data.push(*v),
            (Data::Int64(_) | Data::Int128(_), Value::Decimal { unscaled, .. }) => self.push_decimal(*unscaled),
            (Data::Text(_), Value::Text(v)) => self.push_bytes(v.as_bytes())?,
            (Data::Text(_), Value::Blob(v)) => self.push_bytes(v)?,
            _ => {
                let message = format!("a value of type {} stands in a column of type {}", value.sql_type(), self.ty);
                return Err(Error::Sql(SqlError::internal(message)));
            }
        }
        if let Some(validity) = &mut self.validity {
            validity.push(true);
        }
        Ok(())
    }

    fn push_decimal(&mut self, unscaled: i128) {
        match &mut self.data {
            Data::Int64(data) => {
                if let Ok(narrow) = i64::try_from(unscaled) {
                    data.push(narrow);
                } else {
                    let mut wide: Vec<i128> = data.iter().map(|v| i128::from(*v)).collect();
                    wide.push(unscaled);
                    self.data = Data::Int128(wide);
                }
            }
            Data::Int128(data) => data.push(unscaled),
            _ => {}
        }
    }

    fn push_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let code = self.dictionary.push(bytes).ok_or_else(super::error::text_too_large)?;
        if let Data::Text(text) = &mut self.data {
            text.codes.push(code);
        }
        Ok(())
    }

    fn push_default(&mut self) -> Result<()> {
        match &mut self.data {
            Data::Boolean(data) => data.push(false),
            Data::Int32(data) => data.push(0),
            Data::Int64(data) => data.push(0),
            Data::Int128(data) => data.push(0),
            Data::Double(data) => data.push(0.0),
            Data::Interval(data) => data.push(Interval::default()),
            Data::Text(_) => self.push_bytes(b"")?,
        }
        Ok(())
    }

    /// The vector.
    pub fn finish(self) -> Vector {
        let data = match self.data {
            Data::Text(text) => Data::Text(TextVector { codes: text.codes, dictionary: Arc::new(self.dictionary) }),
            other => other,
        };
        Vector { data, validity: self.validity }
    }
}

/// A batch from rows of values of the given types.
///
/// # Errors
/// As [`ColumnBuilder::push`].
pub fn batch_from_rows(rows: &[Vec<Value>], types: &[SqlType]) -> Result<Batch> {
    let mut builders: Vec<ColumnBuilder> = types.iter().map(|ty| ColumnBuilder::new(*ty, rows.len())).collect();
    for row in rows {
        for (builder, value) in builders.iter_mut().zip(row) {
            builder.push(value)?;
        }
    }
    Ok(Batch::new(builders.into_iter().map(|b| Arc::new(b.finish())).collect(), rows.len()))
}
