//! Fields on their way to typed columns.

use super::{at, not_text};
use crate::error::{Error, Result};
use crate::execute::refuse_value;
use crate::schema::Table;
use gingham_column_store::expression::batch_from_rows;
use gingham_column_store::vector::{Data, Dictionary, TextVector, Vector};
use gingham_plan::SqlError;
use gingham_types::{SqlType, Value, cast};
use std::sync::Arc;

/// Rows and bytes of text handed over at a time.
const BATCH_ROWS: usize = 1 << 14;
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
    ty: SqlType,
    fields: Dictionary,
    valid: Vec<bool>,
    /// Where each field begins: line and column.
    places: Vec<(u64, u64)>,
}

impl Column {
    fn new(table: &Table, ordinal: usize) -> Self {
        let ty = table.record.columns[ordinal].ty;
        Self { ordinal, ty, fields: Dictionary::default(), valid: Vec::new(), places: Vec::new() }
    }
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

    /// Adds the next field of column number `index`; `None` is NULL.
    pub(super) fn push(&mut self, index: usize, field: Option<&[u8]>, line: u64, column: u64) -> Result<()> {
        let to = &mut self.list[index];
        let text = field.unwrap_or_default();
        if std::str::from_utf8(text).is_err() {
            return Err(not_text(line, column));
        }
        to.fields.push(text).ok_or_else(|| at(SqlError::new("54000", "the text is too large"), line, column))?;
        to.valid.push(field.is_some());
        to.places.push((line, column));
        self.bytes += text.len();
        Ok(())
    }

    pub(super) const fn end_row(&mut self) {
        self.rows += 1;
    }

    /// The rows collected, by ordinal of the table; there are none left.
    pub(super) fn take(&mut self, table: &Table) -> Result<(Vec<Option<Arc<Vector>>>, usize)> {
        let mut vectors = vec![None; table.record.columns.len()];
        for column in &mut self.list {
            let name = &table.record.columns[column.ordinal].name;
            let taken = std::mem::replace(column, Column::new(table, column.ordinal));
            vectors[column.ordinal] = Some(Arc::new(taken.typed(name)?));
        }
        self.bytes = 0;
        Ok((vectors, std::mem::take(&mut self.rows)))
    }
}

impl Column {
    fn typed(self, name: &str) -> Result<Vector> {
        let validity = self.valid.contains(&false).then(|| self.valid.clone());
        if self.ty == SqlType::Text {
            let codes = (0..self.fields.len() as u32).collect();
            let data = Data::Text(TextVector { codes, dictionary: Arc::new(self.fields) });
            return Ok(Vector { data, validity });
        }
        let text = |row: usize| std::str::from_utf8(self.fields.get(row as u32)).unwrap_or_default();
        if let Some(data) = self.integers(&text) {
            return Ok(Vector { data, validity });
        }
        let mut rows = Vec::with_capacity(self.valid.len());
        for (row, valid) in self.valid.iter().enumerate() {
            let value = if *valid { Value::Text(text(row).to_owned()) } else { Value::Null };
            let value = cast(&value, self.ty).map_err(|error| {
                let (line, column) = self.places[row];
                let error: SqlError = error.into();
                at(error.hint(format!("the field is for column \"{name}\"")), line, column)
            })?;
            rows.push([value]);
        }
        let rows: Vec<Vec<Value>> = rows.into_iter().map(Vec::from).collect();
        let batch = batch_from_rows(&rows, &[self.ty]).map_err(Error::from)?;
        Ok(Vector::clone(&batch.columns[0]))
    }

    /// Whole numbers in their plainest form; `None` where any is not.
    fn integers<'a>(&self, text: &dyn Fn(usize) -> &'a str) -> Option<Data> {
        let value = |row: usize| if self.valid[row] { text(row).parse::<i64>().ok() } else { Some(0) };
        let rows = 0..self.valid.len();
        match self.ty {
            SqlType::BigInt => Some(Data::Int64(rows.map(value).collect::<Option<_>>()?)),
            SqlType::Integer => {
                let narrow = |row| value(row).and_then(|v| i32::try_from(v).ok());
                Some(Data::Int32(rows.map(narrow).collect::<Option<_>>()?))
            }
            _ => None,
        }
    }
}
