//! A batch of result rows as JavaScript reads it: in place.
//!
//! No value is copied on the way out where the vector's own memory will do. The table
//! that [`Output::show`] builds says where each column lies; JavaScript reads it with
//! typed arrays over the module's memory before it calls the module again, and
//! ts/decode.ts is the twin. The table is `u32` words: rows, columns, the revision of the
//! statement's columns (it grows when a changed schema changes their names or types), an
//! unused one, then eight words a column:
//!
//! | word | meaning |
//! |---|---|
//! | 0 | form, one of [`form`] |
//! | 1 | address of the values; of the entries' bytes for text and blobs |
//! | 2 | address of one byte a row, 0 where NULL; or 0, no NULLs |
//! | 3 | text and blobs: bytes of all entries |
//! | 4 | text and blobs: address of `entries + 1` offsets, `u32` |
//! | 5 | text and blobs: number of entries |
//! | 6 | text and blobs: address of a `u32` entry number a row; or 0, row i is entry i |
//! | 7 | SQL type, one of [`type_code`], plus 256 times the scale of a DECIMAL |
//!
//! Offsets of text count UTF-16 units, not bytes, so that JavaScript decodes all entries
//! as one string and cuts it. Where the last offset equals the number of bytes, the text
//! is ASCII. A single entry is not cut, so that of a long one the end may be 0.

mod row;

use gingham::vector::{Batch, Data, TextVector, Vector};
use gingham::{FoundRow, Interval, OutputColumn, SqlType};
use row::RowBuffer;
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// How a column lies in memory.
mod form {
    pub(super) const BOOLEAN: u32 = 1;
    pub(super) const INT32: u32 = 2;
    pub(super) const INT64: u32 = 3;
    pub(super) const INT128: u32 = 4;
    pub(super) const DOUBLE: u32 = 5;
    pub(super) const TEXT: u32 = 6;
    pub(super) const BLOB: u32 = 7;
}

/// The SQL type of a column, which says what its values mean.
const fn type_code(ty: SqlType) -> u32 {
    match ty {
        SqlType::Null => 0,
        SqlType::Boolean => 1,
        SqlType::Integer => 2,
        SqlType::BigInt => 3,
        SqlType::Double => 4,
        SqlType::Decimal { scale, .. } => 5 + 256 * scale as u32,
        SqlType::Text => 6,
        SqlType::Blob => 7,
        SqlType::Date => 8,
        SqlType::Timestamp => 9,
        SqlType::Interval => 10,
    }
}

const HEADER_WORDS: usize = 4;
const COLUMN_WORDS: usize = 8;

/// The batch that JavaScript is reading, and what was made for it.
#[derive(Default)]
pub(crate) struct Output {
    table: Vec<u32>,
    columns: Arc<[OutputColumn]>,
    revision: u32,
    batch: Option<Batch>,
    row: RowBuffer,
    /// One for each text column that could not be shown in place; kept for its memory.
    scratch: Vec<Scratch>,
}

#[derive(Default)]
struct Scratch {
    bytes: Vec<u8>,
    offsets: Vec<u32>,
}

impl Output {
    /// Builds the table of `batch` and gives its address. Both hold until the next call.
    pub(crate) fn show(&mut self, batch: Batch, columns: &Arc<[OutputColumn]>) -> u32 {
        self.begin(batch.rows, batch.columns.len(), columns);
        self.scratch.resize_with(self.scratch.len().max(batch.columns.len()), Scratch::default);
        let words = self.table[HEADER_WORDS..].chunks_exact_mut(COLUMN_WORDS);
        for (((words, vector), column), scratch) in words.zip(&batch.columns).zip(columns.iter()).zip(&mut self.scratch)
        {
            describe(vector, column.ty, scratch, words);
        }
        self.batch = Some(batch);
        address(&self.table)
    }

    /// Builds the table of one row, whose values are copied, and gives its address.
    pub(crate) fn show_row(&mut self, row: &FoundRow<'_>) -> u32 {
        let columns = row.columns();
        self.begin(1, columns.len(), columns);
        self.row.fill(row, columns, &mut self.table[HEADER_WORDS..]);
        address(&self.table)
    }

    /// Starts a table with its header.
    fn begin(&mut self, rows: usize, width: usize, columns: &Arc<[OutputColumn]>) {
        if !Arc::ptr_eq(&self.columns, columns) {
            self.revision += u32::from(self.columns != *columns);
            self.columns = Arc::clone(columns);
        }
        self.table.clear();
        self.table.resize(HEADER_WORDS + COLUMN_WORDS * width, 0);
        self.table[..3].copy_from_slice(&[rows as u32, width as u32, self.revision]);
    }

    /// Lets go of the batch.
    pub(crate) fn clear(&mut self) {
        self.batch = None;
    }
}

fn address<T>(values: &[T]) -> u32 {
    values.as_ptr().expose_provenance() as u32
}

fn describe(vector: &Vector, ty: SqlType, scratch: &mut Scratch, words: &mut [u32]) {
    let (form, values) = match &vector.data {
        Data::Boolean(values) => (form::BOOLEAN, address(values)),
        Data::Int32(values) => (form::INT32, address(values)),
        Data::Int64(values) => (form::INT64, address(values)),
        Data::Int128(values) => (form::INT128, address(values)),
        Data::Double(values) => (form::DOUBLE, address(values)),
        Data::Text(text) => {
            let form = if ty == SqlType::Blob { form::BLOB } else { form::TEXT };
            describe_text(text, form, scratch, words);
            (form, words[1])
        }
        Data::Interval(values) => {
            let strings: Vec<String> = values.iter().map(|v| iso_duration(*v)).collect();
            scratch.gather(strings.iter().map(String::as_bytes));
            scratch.describe(words);
            (form::TEXT, words[1])
        }
    };
    words[0] = form;
    words[1] = values;
    words[2] = vector.validity.as_ref().map_or(0, |validity| address(validity));
    words[7] = type_code(ty);
}

/// Shows the dictionary as it is where that is less work than copying the rows' bytes.
fn describe_text(text: &TextVector, form: u32, scratch: &mut Scratch, words: &mut [u32]) {
    let dictionary = &text.dictionary;
    let rows = text.len();
    if rows < 2 || dictionary.len() > rows.saturating_mul(2) {
        scratch.gather((0..rows).map(|row| text.bytes(row)));
        if form == form::TEXT {
            scratch.count_utf16();
        }
        scratch.describe(words);
        return;
    }
    let end = dictionary.offsets().last().map_or(0, |end| *end as usize);
    let bytes = &dictionary.bytes()[..end];
    words[5] = dictionary.len() as u32;
    words[6] =
        if text.codes.iter().enumerate().all(|(row, code)| *code as usize == row) { 0 } else { address(&text.codes) };
    if form == form::BLOB || is_ascii(bytes) {
        words[1] = address(bytes);
        words[3] = bytes.len() as u32;
        words[4] = address(dictionary.offsets());
        return;
    }
    let codes = words[6];
    scratch.gather((0..dictionary.len() as u32).map(|code| dictionary.get(code)));
    scratch.count_utf16();
    scratch.describe(words);
    words[6] = codes;
}

impl Scratch {
    /// Copies entries one after the other, with byte offsets.
    fn gather<'a>(&mut self, entries: impl Iterator<Item = &'a [u8]>) {
        self.bytes.clear();
        self.offsets.clear();
        self.offsets.push(0);
        for entry in entries {
            self.bytes.extend_from_slice(entry);
            self.offsets.push(self.bytes.len() as u32);
        }
    }

    /// Turns the byte offsets into offsets in UTF-16 units. Text that is not UTF-8, which
    /// only a damaged file holds, reads with replacement characters.
    fn count_utf16(&mut self) {
        if is_ascii(&self.bytes) {
            return;
        }
        if std::str::from_utf8(&self.bytes).is_err() {
            let entries: Vec<Cow<'_, str>> = self
                .offsets
                .windows(2)
                .map(|w| String::from_utf8_lossy(&self.bytes[w[0] as usize..w[1] as usize]))
                .collect();
            let entries: Vec<String> = entries.into_iter().map(Cow::into_owned).collect();
            self.gather(entries.iter().map(String::as_bytes));
        }
        let (mut at, mut units) = (0, 0);
        for offset in &mut self.offsets {
            let end = *offset as usize;
            units += utf16_units(&self.bytes[at..end]);
            at = end;
            *offset = units;
        }
    }

    fn describe(&self, words: &mut [u32]) {
        words[1] = address(&self.bytes);
        words[3] = self.bytes.len() as u32;
        words[4] = address(&self.offsets);
        words[5] = self.offsets.len() as u32 - 1;
        words[6] = 0;
    }
}

/// As `<[u8]>::is_ascii`, which looks at eight bytes at a time here, with SIMD.
fn is_ascii(bytes: &[u8]) -> bool {
    let (chunks, rest) = bytes.as_chunks::<64>();
    chunks.iter().all(|chunk| chunk.iter().fold(0, |all, byte| all | byte) < 0x80) && rest.is_ascii()
}

/// UTF-16 units of valid UTF-8: one for each character, two from U+10000 on.
fn utf16_units(bytes: &[u8]) -> u32 {
    let starts = bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
    let astral = bytes.iter().filter(|byte| **byte >= 0xF0).count();
    (starts + astral) as u32
}

/// An interval in ISO 8601's form, as `P1M2DT3.5S`; nothing is `PT0S`.
fn iso_duration(interval: Interval) -> String {
    let mut text = String::from("P");
    let date = [(interval.months, 'M'), (interval.days, 'D')];
    for (amount, unit) in date.into_iter().filter(|(amount, _)| *amount != 0) {
        // Writing to a String does not fail.
        let _ = write!(text, "{amount}{unit}");
    }
    if interval.micros != 0 || text.len() == 1 {
        let sign = if interval.micros < 0 { "-" } else { "" };
        let micros = interval.micros.unsigned_abs();
        let seconds = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
        let _ = write!(text, "T{sign}{}S", seconds.trim_end_matches('0').trim_end_matches('.'));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_utf16_units() {
        let mut scratch = Scratch::default();
        scratch.gather(["a", "ñ", "", "😀b"].iter().map(|s| s.as_bytes()));
        scratch.count_utf16();
        assert_eq!(scratch.offsets, [0, 1, 2, 2, 5]);
    }

    #[test]
    fn damaged_text_reads_with_replacement_characters() {
        let mut scratch = Scratch::default();
        scratch.gather([&b"a\xff"[..], b"b"].into_iter());
        scratch.count_utf16();
        assert_eq!(scratch.offsets, [0, 2, 3]);
        assert_eq!(scratch.bytes, "a\u{fffd}b".as_bytes());
    }

    #[test]
    fn a_large_dictionary_is_not_shown_for_few_rows() {
        let strings: Vec<String> = (0..100).map(|i| format!("entry {i}")).collect();
        let mut text = TextVector::from_strings(strings.iter().map(|s| s.as_bytes())).expect("small");
        text.codes = vec![7, 7];
        let column = OutputColumn { name: "a".into(), ty: SqlType::Text };
        let mut output = Output::default();
        output.show(Batch::new(vec![Arc::new(Vector::new(Data::Text(text)))], 2), &[column].into());
        assert_eq!(output.table[HEADER_WORDS + 3], 14, "bytes of two entries");
        assert_eq!(output.table[HEADER_WORDS + 5], 2, "entries");
    }

    #[test]
    fn durations_are_iso() {
        assert_eq!(iso_duration(Interval::default()), "PT0S");
        assert_eq!(iso_duration(Interval { months: 14, days: -3, micros: 0 }), "P14M-3D");
        assert_eq!(iso_duration(Interval { months: 0, days: 0, micros: -1_500_000 }), "PT-1.5S");
    }
}
