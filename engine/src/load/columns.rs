//! Fields on their way to typed columns: read as they come, so that nothing but values is
//! kept of them.

use super::csv::Field;
use super::{at, not_text, text};
use crate::error::Result;
use crate::execute::refuse_value;
use crate::schema::Table;
use gingham_column_store::vector::{Data, Dictionary, TextVector, Vector};
use gingham_plan::SqlError;
use gingham_types::{SqlType, Value, cast, parse_timestamp};
use std::sync::Arc;

/// Rows and bytes of text handed over at a time.
const BATCH_ROWS: usize = 1 << 13;
const BATCH_BYTES: usize = 8 << 20;

/// Fields collected, column by column.
#[derive(Debug)]
pub(super) struct Columns {
    list: Vec<Column>,
    rows: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Column {
    ordinal: usize,
    name: String,
    ty: SqlType,
    /// What a DECIMAL's unscaled value has to stay below, as far as 64 bits tell.
    decimal_limit: i64,
    values: Values,
    /// `false` where a field is NULL; `None` while none is.
    validity: Option<Vec<bool>>,
}

/// The values so far; anything stands at a NULL.
#[derive(Debug)]
enum Values {
    Booleans(Vec<bool>),
    /// INTEGER and DATE.
    Narrow(Vec<i32>),
    /// BIGINT, TIMESTAMP, and DECIMAL while it fits.
    Integers(Vec<i64>),
    Decimals(Vec<i128>),
    Doubles(Vec<f64>),
    /// TEXT and BLOB.
    Bytes(Dictionary),
}

impl Values {
    fn new(ty: SqlType, rows: usize, text_bytes: usize) -> Self {
        match ty {
            SqlType::Boolean => Self::Booleans(Vec::with_capacity(rows)),
            SqlType::Integer | SqlType::Date | SqlType::Null => Self::Narrow(Vec::with_capacity(rows)),
            SqlType::Double => Self::Doubles(Vec::with_capacity(rows)),
            SqlType::Text | SqlType::Blob => Self::Bytes(Dictionary::with_capacity(rows, text_bytes)),
            _ => Self::Integers(Vec::with_capacity(rows)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Booleans(v) => v.len(),
            Self::Narrow(v) => v.len(),
            Self::Integers(v) => v.len(),
            Self::Decimals(v) => v.len(),
            Self::Doubles(v) => v.len(),
            Self::Bytes(v) => v.len(),
        }
    }

    fn into_data(self) -> Data {
        match self {
            Self::Booleans(v) => Data::Boolean(v),
            Self::Narrow(v) => Data::Int32(v),
            Self::Integers(v) => Data::Int64(v),
            Self::Decimals(v) => Data::Int128(v),
            Self::Doubles(v) => Data::Double(v),
            Self::Bytes(v) => {
                let codes = (0..v.len() as u32).collect();
                Data::Text(TextVector { codes, dictionary: Arc::new(v) })
            }
        }
    }
}

impl Column {
    fn new(table: &Table, ordinal: usize) -> Self {
        let info = &table.record.columns[ordinal];
        let precision = if let SqlType::Decimal { precision, .. } = info.ty { precision } else { 0 };
        Self {
            ordinal,
            name: info.name.clone(),
            ty: info.ty,
            decimal_limit: 10i64.checked_pow(u32::from(precision)).unwrap_or(i64::MAX),
            values: Values::new(info.ty, 0, 0),
            validity: None,
        }
    }

    /// Adds a field written in its plainest form; whether it was.
    #[inline]
    fn push_plain(&mut self, field: Field<'_>) -> bool {
        let bytes = field.text();
        match (&mut self.values, self.ty) {
            (Values::Bytes(values), SqlType::Text) => {
                return values.push_front_of(field.rest, field.length).is_some();
            }
            (Values::Narrow(values), SqlType::Date) => {
                if let Some(value) = text::date(bytes) {
                    values.push(value);
                    return true;
                }
            }
            (Values::Narrow(values), _) => {
                if let Some(value) = text::integer(bytes).and_then(|value| i32::try_from(value).ok()) {
                    values.push(value);
                    return true;
                }
            }
            (Values::Integers(values), SqlType::Decimal { scale, .. }) => {
                if let Some(value) = text::decimal(bytes, scale, self.decimal_limit) {
                    values.push(value);
                    return true;
                }
            }
            (Values::Integers(values), SqlType::BigInt) => {
                if let Some(value) = text::integer(bytes) {
                    values.push(value);
                    return true;
                }
            }
            _ => {}
        }
        false
    }

    /// Adds a field that is not NULL, whatever its form.
    fn push_text(&mut self, field: &str) -> std::result::Result<(), SqlError> {
        match (&mut self.values, self.ty) {
            (Values::Doubles(values), _) => {
                if let Ok(value) = field.trim().parse() {
                    values.push(value);
                    return Ok(());
                }
            }
            (Values::Integers(values), SqlType::Timestamp) => {
                if let Some(value) = parse_timestamp(field) {
                    values.push(value);
                    return Ok(());
                }
            }
            _ => {}
        }
        let value = cast(&Value::Text(field.to_owned()), self.ty)
            .map_err(|error| SqlError::from(error).hint(format!("the field is for column \"{}\"", self.name)))?;
        self.push_value(value)
    }

    fn push_value(&mut self, value: Value) -> std::result::Result<(), SqlError> {
        match (&mut self.values, value) {
            (Values::Booleans(values), Value::Boolean(value)) => values.push(value),
            (Values::Narrow(values), Value::Int(value)) => values.push(value as i32),
            (Values::Narrow(values), Value::Date(value)) => values.push(value),
            (Values::Integers(values), Value::Int(value) | Value::Timestamp(value)) => values.push(value),
            (Values::Integers(values), Value::Decimal { unscaled, .. }) => match i64::try_from(unscaled) {
                Ok(narrow) => values.push(narrow),
                Err(_) => {
                    let wide = values.iter().map(|value| i128::from(*value));
                    self.values = Values::Decimals(wide.chain([unscaled]).collect());
                }
            },
            (Values::Decimals(values), Value::Decimal { unscaled, .. }) => values.push(unscaled),
            (Values::Doubles(values), Value::Double(value)) => values.push(value),
            (Values::Bytes(values), Value::Text(value)) => keep(values, value.as_bytes())?,
            (Values::Bytes(values), Value::Blob(value)) => keep(values, &value)?,
            (_, value) => {
                return Err(SqlError::internal(format!("a {} for a column of type {}", value.sql_type(), self.ty)));
            }
        }
        Ok(())
    }

    fn push_null(&mut self) -> std::result::Result<(), SqlError> {
        let rows = self.values.len();
        self.validity.get_or_insert_with(|| vec![true; rows]).push(false);
        match &mut self.values {
            Values::Booleans(values) => values.push(false),
            Values::Narrow(values) => values.push(0),
            Values::Integers(values) => values.push(0),
            Values::Decimals(values) => values.push(0),
            Values::Doubles(values) => values.push(0.0),
            Values::Bytes(values) => keep(values, &[])?,
        }
        Ok(())
    }

    /// The values collected. The next batch is likely to be as large.
    fn take(&mut self) -> Vector {
        let text_bytes = if let Values::Bytes(values) = &self.values { values.bytes().len() } else { 0 };
        let next = Values::new(self.ty, self.values.len(), text_bytes);
        let values = std::mem::replace(&mut self.values, next);
        Vector { data: values.into_data(), validity: self.validity.take() }
    }
}

fn keep(values: &mut Dictionary, bytes: &[u8]) -> std::result::Result<(), SqlError> {
    values.push(bytes).map(|_| ()).ok_or_else(|| SqlError::new("54000", "the text is too large"))
}

impl Columns {
    /// All columns of the table.
    pub(super) fn all(table: &Table) -> Result<Self> {
        let ordinals = 0..table.record.columns.len();
        ordinals.clone().try_for_each(|ordinal| refuse_value(table, ordinal))?;
        Ok(Self { list: ordinals.map(|ordinal| Column::new(table, ordinal)).collect(), rows: 0, bytes: 0 })
    }

    /// The columns of these names, whatever their case if it does not tell columns apart.
    pub(super) fn named(table: &Table, names: &[String]) -> Result<Self> {
        let mut list: Vec<Column> = Vec::with_capacity(names.len());
        for name in names {
            let position = |name: &str| table.record.columns.iter().position(|column| column.name == name);
            let ordinal = position(name).or_else(|| position(&name.to_lowercase())).ok_or_else(|| {
                SqlError::new("42703", format!("table \"{}\" has no column \"{name}\"", table.record.name))
            })?;
            if list.iter().any(|column| column.ordinal == ordinal) {
                return Err(SqlError::new("42701", format!("column \"{name}\" is given twice")).into());
            }
            refuse_value(table, ordinal)?;
            list.push(Column::new(table, ordinal));
        }
        Ok(Self { list, rows: 0, bytes: 0 })
    }

    pub(super) fn count(&self) -> usize {
        self.list.len()
    }

    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    pub(super) const fn is_full(&self) -> bool {
        self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES
    }

    /// Adds NULL to column number `index`.
    pub(super) fn push_null(&mut self, index: usize, place: (u64, u64)) -> Result<()> {
        self.list[index].push_null().map_err(|error| at(error, place.0, place.1))
    }

    /// Adds the next field of column number `index`.
    #[inline]
    pub(super) fn push(&mut self, index: usize, field: Field<'_>) -> Result<()> {
        let to = &mut self.list[index];
        self.bytes += field.length;
        if let Some(validity) = &mut to.validity {
            validity.push(true);
        }
        // A value of another type in its plainest form is ASCII.
        let is_text = field.is_ascii || to.ty != SqlType::Text || std::str::from_utf8(field.text()).is_ok();
        if is_text && to.push_plain(field) {
            return Ok(());
        }
        let text = std::str::from_utf8(field.text()).map_err(|_| not_text(field.place.0, field.place.1))?;
        to.push_text(text).map_err(|error| at(error, field.place.0, field.place.1))
    }

    pub(super) const fn end_row(&mut self) {
        self.rows += 1;
    }

    /// The rows collected, by ordinal of the table; there are none left.
    pub(super) fn take(&mut self, table: &Table) -> (Vec<Option<Arc<Vector>>>, usize) {
        let mut vectors = vec![None; table.record.columns.len()];
        for column in &mut self.list {
            vectors[column.ordinal] = Some(Arc::new(column.take()));
        }
        self.bytes = 0;
        (vectors, std::mem::take(&mut self.rows))
    }
}
