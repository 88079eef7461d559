//! The values of one column of a batch, without an allocation a row.

use crate::schema::ColumnType;
use std::fmt;

/// The values of one column. All columns of a batch have the same number of rows; none holds NULL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnData {
    /// INTEGER.
    Int32(Vec<i32>),
    /// DECIMAL(15,2): hundredths.
    Decimal(Vec<i64>),
    /// DATE: days since 1970-01-01.
    Date(Vec<i32>),
    /// TEXT.
    Text(TextColumn),
}

/// Text values, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextColumn {
    /// Where each value starts in `text`, and last where the last one ends: rows + 1 entries.
    pub offsets: Vec<u32>,
    /// The values without separators.
    pub text: String,
}

impl ColumnData {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Int32(values) | Self::Date(values) => values.len(),
            Self::Decimal(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of column these values belong to.
    pub const fn column_type(&self) -> ColumnType {
        match self {
            Self::Int32(_) => ColumnType::Integer,
            Self::Decimal(_) => ColumnType::Decimal,
            Self::Date(_) => ColumnType::Date,
            Self::Text(_) => ColumnType::Text,
        }
    }
}

impl TextColumn {
    /// No value yet.
    pub fn new() -> Self {
        Self { offsets: vec![0], text: String::new() }
    }

    /// Adds a value.
    pub fn push(&mut self, value: &str) {
        self.text.push_str(value);
        self.close_value();
    }

    /// Adds what a value prints.
    pub fn push_display(&mut self, value: impl fmt::Display) {
        use fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = write!(self.text, "{value}");
        self.close_value();
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of row `row`.
    ///
    /// # Panics
    /// Past the last row.
    pub fn get(&self, row: usize) -> &str {
        &self.text[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|row| self.get(row))
    }

    fn close_value(&mut self) {
        let end = u32::try_from(self.text.len()).expect("ROWS_MAX values of at most 199 bytes stay below 4 GiB");
        self.offsets.push(end);
    }
}

impl Default for TextColumn {
    fn default() -> Self {
        Self::new()
    }
}
