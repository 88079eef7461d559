//! One row of a look-up, laid out as a batch of one row is.

use super::{COLUMN_WORDS, address, form, is_ascii, type_code, utf16_units};
use gingham::{FoundRow, OutputColumn, SqlType};

/// A longer text goes through JavaScript's decoder whole; ts/text.ts has the same bound.
const SHORT_BYTES: usize = 64;

/// The values of the row that JavaScript is reading; kept for its memory.
#[derive(Default)]
pub(super) struct RowBuffer {
    /// Two words a column: a number, or the two offsets of the one entry of a text.
    values: Vec<u64>,
    /// Contents of texts and blobs.
    bytes: Vec<u8>,
}

impl RowBuffer {
    /// Copies the columns of `row` here and describes them in `table`.
    pub(super) fn fill(&mut self, row: &FoundRow<'_>, columns: &[OutputColumn], table: &mut [u32]) {
        self.values.clear();
        self.values.resize(columns.len() * 2, 0);
        self.bytes.clear();
        let values_at = address(&self.values);
        for (index, (column, words)) in columns.iter().zip(table.chunks_exact_mut(COLUMN_WORDS)).enumerate() {
            words[7] = type_code(column.ty);
            words[1] = values_at + 16 * index as u32;
            let (form, value) = match column.ty {
                SqlType::Boolean => (form::BOOLEAN, row.boolean(index).map(u64::from)),
                SqlType::BigInt | SqlType::Timestamp => (form::INT64, row.int(index).map(|v| v as u64)),
                SqlType::Double => (form::DOUBLE, row.double(index).map(f64::to_bits)),
                SqlType::Decimal { .. } => {
                    let value = row.decimal(index);
                    match value.map(i64::try_from) {
                        Some(Err(_)) => (form::INT128, value.map(|v| self.put_wide(index, v))),
                        _ => (form::INT64, value.map(|v| v as u64)),
                    }
                }
                SqlType::Text | SqlType::Blob => {
                    let form = if column.ty == SqlType::Blob { form::BLOB } else { form::TEXT };
                    (form, row.bytes(index).map(|bytes| self.put_bytes(bytes, form, words)))
                }
                // Columns of the other types have nothing but NULLs.
                _ => (form::INT32, row.int(index).map(|v| v as u64)),
            };
            words[0] = form;
            match value {
                Some(value) => self.values[index * 2] = value,
                // The zero in its place says that it is NULL.
                None => words[2] = words[1],
            }
        }
        // Nothing moves any more: offsets in `bytes` become addresses.
        let bytes_at = address(&self.bytes);
        for words in table.chunks_exact_mut(COLUMN_WORDS).filter(|words| words[5] == 1) {
            words[1] += bytes_at;
        }
    }

    /// Puts the high half in its place and returns the low one.
    fn put_wide(&mut self, index: usize, value: i128) -> u64 {
        self.values[index * 2 + 1] = (value >> 64) as u64;
        value as u64
    }

    /// Appends a content; the offsets of its one entry, from 0 to its length. That of a long
    /// text is not counted: there is nothing to cut, and JavaScript's decoder mends what is
    /// no UTF-8.
    fn put_bytes(&mut self, content: &[u8], form: u32, words: &mut [u32]) -> u64 {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(content);
        let units = if form == form::BLOB {
            content.len() as u32
        } else if content.len() > SHORT_BYTES {
            0
        } else if is_ascii(content) {
            content.len() as u32
        } else {
            if std::str::from_utf8(content).is_err() {
                self.bytes.truncate(start);
                self.bytes.extend_from_slice(String::from_utf8_lossy(content).as_bytes());
            }
            utf16_units(&self.bytes[start..])
        };
        words[3] = (self.bytes.len() - start) as u32;
        words[4] = words[1];
        words[5] = 1;
        words[1] = start as u32;
        u64::from(units) << 32
    }
}
