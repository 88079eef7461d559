//! Rows of the row store collected into vectors.

use super::walk::RowValues;
use crate::error::{Error, Result};
use gingham_column_store::vector::{Batch, Data, Dictionary, TextVector, Vector};
use gingham_plan::SqlError;
use gingham_row_store::row::RowReader;
use gingham_types::{SqlType, Value};
use std::sync::Arc;

/// Vectors under construction, one for each column that is wanted.
pub(crate) struct RowBatch {
    columns: Vec<Column>,
    locators: Option<Text>,
    rows: usize,
}

struct Column {
    ordinal: usize,
    values: Values,
    /// Kept from the first NULL on.
    validity: Option<Vec<bool>>,
}

impl Column {
    /// Notes whether the value added to so many before it is not NULL.
    #[inline]
    fn note(&mut self, valid: bool, rows: usize) {
        match &mut self.validity {
            Some(validity) => validity.push(valid),
            None if valid => {}
            None => {
                let mut validity = vec![true; rows];
                validity.push(false);
                self.validity = Some(validity);
            }
        }
    }
}

enum Values {
    Boolean(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    /// DECIMAL: widens once a value does not fit 64 bits.
    Decimal(Vec<i64>),
    Int128(Vec<i128>),
    Double(Vec<f64>),
    Text(Text),
}

/// Strings under construction, one dictionary entry a row.
#[derive(Default)]
struct Text {
    dictionary: Dictionary,
}

impl Text {
    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        match self.dictionary.push(bytes) {
            Some(_) => Ok(()),
            None => Err(SqlError::new("54000", "the strings of one batch pass 4 GiB").into()),
        }
    }

    fn finish(&mut self) -> TextVector {
        let dictionary = std::mem::take(&mut self.dictionary);
        TextVector { codes: (0..dictionary.len() as u32).collect(), dictionary: Arc::new(dictionary) }
    }
}

impl RowBatch {
    /// Collects `columns` (ordinal and type) and, if asked, locators after them.
    pub(crate) fn new(columns: &[(usize, SqlType)], locators: bool) -> Self {
        let columns = columns
            .iter()
            .map(|(ordinal, ty)| Column { ordinal: *ordinal, values: Values::new(*ty), validity: None })
            .collect();
        Self { columns, locators: locators.then(Text::default), rows: 0 }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, reader: &RowReader<'_>, locator: &[u8]) -> Result<()> {
        for column in &mut self.columns {
            let valid = column.values.push(reader, column.ordinal)?;
            column.note(valid, self.rows);
        }
        self.end_row(locator)
    }

    /// Adds a row that a walk has come to.
    #[inline]
    pub(crate) fn push_row(&mut self, row: RowValues<'_>, locator: &[u8]) -> Result<()> {
        match row {
            RowValues::Row(reader) => self.push(reader, locator),
            RowValues::Entry(values) => self.push_values(values, locator),
        }
    }

    /// Adds a row that is given by its values, in the order of the ordinals.
    fn push_values(&mut self, values: &[Value], locator: &[u8]) -> Result<()> {
        for column in &mut self.columns {
            let valid = column.values.push_value(values.get(column.ordinal).unwrap_or(&Value::Null))?;
            column.note(valid, self.rows);
        }
        self.end_row(locator)
    }

    fn end_row(&mut self, locator: &[u8]) -> Result<()> {
        if let Some(locators) = &mut self.locators {
            locators.push(locator)?;
        }
        self.rows += 1;
        Ok(())
    }

    /// The rows so far; the next ones start a new batch.
    pub(crate) fn take(&mut self) -> Batch {
        let rows = std::mem::take(&mut self.rows);
        let mut columns: Vec<Arc<Vector>> = self
            .columns
            .iter_mut()
            .map(|c| Arc::new(Vector { data: c.values.finish(), validity: c.validity.take() }))
            .collect();
        if let Some(locators) = &mut self.locators {
            columns.push(Arc::new(Vector::new(Data::Text(locators.finish()))));
        }
        Batch::new(columns, rows)
    }
}

fn add<T: Default>(values: &mut Vec<T>, value: Option<T>) -> bool {
    let valid = value.is_some();
    values.push(value.unwrap_or_default());
    valid
}

impl Values {
    fn new(ty: SqlType) -> Self {
        match ty {
            SqlType::Boolean => Self::Boolean(Vec::new()),
            SqlType::Integer | SqlType::Date | SqlType::Null => Self::Int32(Vec::new()),
            SqlType::BigInt | SqlType::Timestamp | SqlType::Interval => Self::Int64(Vec::new()),
            SqlType::Decimal { .. } => Self::Decimal(Vec::new()),
            SqlType::Double => Self::Double(Vec::new()),
            SqlType::Text | SqlType::Blob => Self::Text(Text::default()),
        }
    }

    /// Adds the value of a column; whether it was not NULL.
    fn push(&mut self, reader: &RowReader<'_>, ordinal: usize) -> Result<bool> {
        Ok(match self {
            Self::Boolean(values) => add(values, reader.boolean(ordinal)),
            Self::Int32(values) => match reader.int(ordinal).map(i32::try_from).transpose() {
                Ok(value) => add(values, value),
                Err(_) => return Err(Error::Corrupt("an INTEGER is out of range".into())),
            },
            Self::Int64(values) => add(values, reader.int(ordinal)),
            Self::Decimal(_) | Self::Int128(_) => self.push_decimal(reader.decimal(ordinal)),
            Self::Double(values) => add(values, reader.double(ordinal)),
            Self::Text(text) => {
                let value = reader.bytes(ordinal);
                text.push(value.unwrap_or_default())?;
                value.is_some()
            }
        })
    }

    /// As [`Values::push`] with the value itself, which is of the column's type.
    fn push_value(&mut self, value: &Value) -> Result<bool> {
        Ok(match (self, value) {
            (Self::Text(text), value) => {
                let bytes = match value {
                    Value::Text(text) => text.as_bytes(),
                    Value::Blob(bytes) => bytes,
                    _ => &[],
                };
                text.push(bytes)?;
                !value.is_null()
            }
            (Self::Int32(values), Value::Int(value)) => match i32::try_from(*value) {
                Ok(value) => add(values, Some(value)),
                Err(_) => return Err(Error::Corrupt("an INTEGER is out of range".into())),
            },
            (Self::Int32(values), Value::Date(value)) => add(values, Some(*value)),
            (Self::Int32(values), _) => add(values, None),
            (Self::Int64(values), Value::Int(value) | Value::Timestamp(value)) => add(values, Some(*value)),
            (Self::Int64(values), _) => add(values, None),
            (Self::Boolean(values), Value::Boolean(value)) => add(values, Some(*value)),
            (Self::Boolean(values), _) => add(values, None),
            (Self::Double(values), Value::Double(value)) => add(values, Some(*value)),
            (Self::Double(values), _) => add(values, None),
            (decimals, Value::Decimal { unscaled, .. }) => decimals.push_decimal(Some(*unscaled)),
            (decimals, _) => decimals.push_decimal(None),
        })
    }

    fn push_decimal(&mut self, value: Option<i128>) -> bool {
        match self {
            Self::Decimal(values) => match value.map(i64::try_from).transpose() {
                Ok(value) => add(values, value),
                Err(_) => {
                    let mut wide: Vec<i128> = values.iter().map(|v| i128::from(*v)).collect();
                    let valid = add(&mut wide, value);
                    *self = Self::Int128(wide);
                    valid
                }
            },
            Self::Int128(values) => add(values, value),
            _ => false,
        }
    }

    /// The values so far; wide decimals start narrow again.
    fn finish(&mut self) -> Data {
        match self {
            Self::Boolean(values) => Data::Boolean(std::mem::take(values)),
            Self::Int32(values) => Data::Int32(std::mem::take(values)),
            Self::Int64(values) | Self::Decimal(values) => Data::Int64(std::mem::take(values)),
            Self::Int128(values) => {
                let wide = Data::Int128(std::mem::take(values));
                *self = Self::Decimal(Vec::new());
                wide
            }
            Self::Double(values) => Data::Double(std::mem::take(values)),
            Self::Text(text) => Data::Text(text.finish()),
        }
    }
}
