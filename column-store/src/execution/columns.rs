//! Columns that grow: rows kept by joins and sorts, and small batches being joined up.
//!
//! Text keeps the codes of the first dictionary it meets for as long as no other comes
//! along; then the entries that rows really use are copied into a dictionary of its
//! own, each once for each dictionary it came from.

use crate::Result;
use crate::expression::error;
use crate::vector::{Batch, Data, Dictionary, TextVector, Vector};
use gingham_types::SqlType;
use std::sync::Arc;

/// In a list of rows to gather: no row, NULL.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// A column that rows are appended to.
#[derive(Debug)]
pub(crate) struct Column {
    ty: SqlType,
    data: Data,
    text: TextMerger,
    validity: Option<Vec<bool>>,
}

impl Column {
    pub(crate) fn new(ty: SqlType) -> Self {
        let data = match Vector::default_data(ty, 0) {
            Data::Text(_) => Data::Text(TextVector { codes: Vec::new(), dictionary: Arc::default() }),
            other => other,
        };
        Self { ty, data, text: TextMerger::default(), validity: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        let rows = match &self.data {
            Data::Boolean(v) => v.capacity(),
            Data::Int32(v) => v.capacity() * 4,
            Data::Int64(v) => v.capacity() * 8,
            Data::Int128(v) => v.capacity() * 16,
            Data::Double(v) => v.capacity() * 8,
            Data::Interval(v) => v.capacity() * 16,
            Data::Text(v) => v.codes.capacity() * 4 + self.text.memory_bytes(v.len()),
        };
        rows + self.validity.as_ref().map_or(0, Vec::capacity)
    }

    /// Bytes that appending this many rows, text aside, would add: a full column grows to
    /// twice its size.
    pub(crate) fn growth_bytes(&self, added: usize) -> usize {
        let width = match &self.data {
            Data::Boolean(_) => 1,
            Data::Int32(_) | Data::Text(_) => 4,
            Data::Int64(_) | Data::Double(_) => 8,
            Data::Int128(_) | Data::Interval(_) => 16,
        };
        let bytes = self.memory_bytes();
        let room = bytes / width - self.len().min(bytes / width);
        if added > room { bytes.max(added * width) } else { 0 }
    }

    /// Appends the rows of a vector, or those of them that `rows` names.
    pub(crate) fn append(&mut self, vector: &Vector, rows: Option<&[u32]>) -> Result<()> {
        self.append_validity(vector, rows);
        if let (Data::Int64(narrow), Data::Int128(_)) = (&self.data, &vector.data) {
            self.data = Data::Int128(narrow.iter().map(|v| i128::from(*v)).collect());
        }
        match (&mut self.data, &vector.data) {
            (Data::Boolean(to), Data::Boolean(from)) => extend(to, from, rows),
            (Data::Int32(to), Data::Int32(from)) => extend(to, from, rows),
            (Data::Int64(to), Data::Int64(from)) => extend(to, from, rows),
            (Data::Int128(to), Data::Int128(from)) => extend(to, from, rows),
            (Data::Double(to), Data::Double(from)) => extend(to, from, rows),
            (Data::Interval(to), Data::Interval(from)) => extend(to, from, rows),
            (Data::Int128(to), Data::Int64(from)) => match rows {
                None => to.extend(from.iter().map(|v| i128::from(*v))),
                Some(rows) => to.extend(rows.iter().map(|row| i128::from(from[*row as usize]))),
            },
            (Data::Text(to), Data::Text(from)) => self.text.append(&mut to.codes, from, rows)?,
            _ => return Err(error::internal(format!("a column of {} changed its form", self.ty))),
        }
        Ok(())
    }

    fn append_validity(&mut self, vector: &Vector, rows: Option<&[u32]>) {
        let before = self.data.len();
        let added = rows.map_or(vector.len(), <[u32]>::len);
        match (&mut self.validity, &vector.validity) {
            (None, None) => {}
            (Some(validity), None) => validity.resize(before + added, true),
            (own, Some(from)) => extend(own.get_or_insert_with(|| vec![true; before]), from, rows),
        }
    }

    /// The codes, if all of them are of this dictionary.
    pub(crate) fn codes_in(&self, dictionary: &Arc<Dictionary>) -> Option<&[u32]> {
        let Data::Text(text) = &self.data else { return None };
        let single = self.text.single.as_ref().filter(|single| Arc::ptr_eq(single, dictionary));
        single.filter(|_| self.text.merged.is_none()).map(|_| text.codes.as_slice())
    }

    /// The bytes of a text; nothing before there are any rows, or in a column of another type.
    pub(crate) fn text(&self, row: usize) -> &[u8] {
        let dictionary = self.text.merged.as_ref().or(self.text.single.as_deref());
        match (&self.data, dictionary) {
            (Data::Text(text), Some(dictionary)) => dictionary.get(text.codes[row]),
            _ => &[],
        }
    }

    /// Makes the column ready for [`Column::gather`]; it can grow no more.
    pub(crate) fn freeze(&mut self) {
        if let Data::Text(text) = &mut self.data {
            text.dictionary = self.text.freeze();
        }
    }

    /// The values at `rows`, NULL at [`NO_ROW`].
    pub(crate) fn gather(&self, rows: &[u32]) -> Vector {
        if !rows.contains(&NO_ROW) {
            return Vector {
                data: self.data.gather(rows),
                validity: self.validity.as_ref().map(|v| rows.iter().map(|row| v[*row as usize]).collect()),
            };
        }
        let valid: Vec<bool> =
            rows.iter().map(|row| *row != NO_ROW && self.validity.as_ref().is_none_or(|v| v[*row as usize])).collect();
        let data = if self.len() == 0 {
            Vector::default_data(self.ty, rows.len())
        } else {
            let inside: Vec<u32> = rows.iter().map(|row| if *row == NO_ROW { 0 } else { *row }).collect();
            self.data.gather(&inside)
        };
        Vector { data, validity: Some(valid) }
    }

    /// The values, to read in place. Text has its dictionary only after [`Column::freeze`].
    pub(crate) const fn data(&self) -> &Data {
        &self.data
    }

    /// Which values are not NULL.
    pub(crate) fn validity(&self) -> Option<&[bool]> {
        self.validity.as_deref()
    }

    /// The column as a vector.
    pub(crate) fn into_vector(mut self) -> Vector {
        self.freeze();
        Vector { data: self.data, validity: self.validity }
    }
}

fn extend<T: Copy>(to: &mut Vec<T>, from: &[T], rows: Option<&[u32]>) {
    match rows {
        None => to.extend_from_slice(from),
        Some(rows) => to.extend(rows.iter().map(|row| from[*row as usize])),
    }
}

/// The dictionary of a growing text column.
#[derive(Debug, Default)]
struct TextMerger {
    /// The only dictionary so far.
    single: Option<Arc<Dictionary>>,
    /// Copied entries, once there was a second dictionary.
    merged: Option<Dictionary>,
    /// The dictionary that the last rows came from, with the new code of each of its
    /// entries, or [`NO_ROW`].
    last: Option<(Arc<Dictionary>, Vec<u32>)>,
}

impl TextMerger {
    /// Bytes held for so many rows. A dictionary that others have too counts as far as the
    /// rows can use it.
    fn memory_bytes(&self, rows: usize) -> usize {
        let translation = self.last.as_ref().map_or(0, |(_, codes)| codes.capacity() * 4);
        let entries = match (&self.merged, &self.single) {
            (Some(merged), _) => merged.memory_bytes(),
            (None, Some(single)) => {
                let entries = single.len().max(1);
                single.memory_bytes() / entries * rows.min(entries)
            }
            (None, None) => 0,
        };
        translation + entries
    }

    fn append(&mut self, codes: &mut Vec<u32>, from: &TextVector, rows: Option<&[u32]>) -> Result<()> {
        let single = self.single.get_or_insert_with(|| Arc::clone(&from.dictionary));
        if self.merged.is_none() && Arc::ptr_eq(single, &from.dictionary) {
            extend(codes, &from.codes, rows);
            return Ok(());
        }
        if self.merged.is_none() {
            let single = Arc::clone(single);
            self.merged = Some(Dictionary::default());
            let old = std::mem::take(codes);
            self.translate(codes, &old, &single)?;
        }
        match rows {
            None => self.translate(codes, &from.codes, &from.dictionary),
            Some(rows) => {
                let picked: Vec<u32> = rows.iter().map(|row| from.codes[*row as usize]).collect();
                self.translate(codes, &picked, &from.dictionary)
            }
        }
    }

    fn translate(&mut self, codes: &mut Vec<u32>, from: &[u32], dictionary: &Arc<Dictionary>) -> Result<()> {
        let merged = self.merged.get_or_insert_with(Dictionary::default);
        let known = matches!(&self.last, Some((last, _)) if Arc::ptr_eq(last, dictionary));
        // A few rows of a large dictionary do not pay for a table over all its entries.
        if !known && from.len().saturating_mul(16) < dictionary.len() {
            for code in from {
                codes.push(merged.push(dictionary.get(*code)).ok_or_else(error::text_too_large)?);
            }
            return Ok(());
        }
        if !known {
            self.last = Some((Arc::clone(dictionary), vec![NO_ROW; dictionary.len()]));
        }
        let Some((_, table)) = &mut self.last else {
            return Ok(());
        };
        codes.reserve(from.len());
        for code in from {
            let entry = &mut table[*code as usize];
            if *entry == NO_ROW {
                *entry = merged.push(dictionary.get(*code)).ok_or_else(error::text_too_large)?;
            }
            codes.push(*entry);
        }
        Ok(())
    }

    fn freeze(&mut self) -> Arc<Dictionary> {
        self.last = None;
        match self.merged.take() {
            Some(merged) => {
                let merged = Arc::new(merged);
                self.single = Some(Arc::clone(&merged));
                merged
            }
            None => self.single.clone().unwrap_or_default(),
        }
    }
}

/// Growing columns of one length.
#[derive(Debug)]
pub(crate) struct ColumnStore {
    pub(crate) columns: Vec<Column>,
    rows: usize,
}

impl ColumnStore {
    pub(crate) fn new(types: &[SqlType]) -> Self {
        Self { columns: types.iter().map(|ty| Column::new(*ty)).collect(), rows: 0 }
    }

    /// A store of columns, of which those that nobody is to read may be empty.
    pub(crate) const fn of(columns: Vec<Column>, rows: usize) -> Self {
        Self { columns, rows }
    }

    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.columns.iter().map(Column::memory_bytes).sum()
    }

    /// Bytes held once this many rows more have been appended, at the most but for text.
    pub(crate) fn grown_bytes(&self, added: usize) -> usize {
        self.columns.iter().map(|column| column.memory_bytes() + column.growth_bytes(added)).sum()
    }

    /// Appends the rows of a batch, or those that `rows` names.
    pub(crate) fn append(&mut self, batch: &Batch, rows: Option<&[u32]>) -> Result<()> {
        let added = rows.map_or(batch.rows, <[u32]>::len);
        // Rows are numbered with 32 bits, of which one number means none.
        if self.rows + added >= NO_ROW as usize {
            return Err(error::invalid_argument("54000", "an operator holds more than 4,294,967,294 rows"));
        }
        for (column, vector) in self.columns.iter_mut().zip(&batch.columns) {
            column.append(vector, rows)?;
        }
        self.rows += added;
        Ok(())
    }

    pub(crate) fn freeze(&mut self) {
        self.columns.iter_mut().for_each(Column::freeze);
    }

    /// The rows named, [`NO_ROW`] giving a row of NULLs.
    pub(crate) fn gather(&self, rows: &[u32]) -> Batch {
        Batch::new(self.columns.iter().map(|c| Arc::new(c.gather(rows))).collect(), rows.len())
    }

    pub(crate) fn into_batch(self) -> Batch {
        let rows = self.rows;
        Batch::new(self.columns.into_iter().map(|c| Arc::new(c.into_vector())).collect(), rows)
    }
}
