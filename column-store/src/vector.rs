//! Columns in motion: the vectors and batches that operators exchange.
//!
//! A batch has up to [`BATCH_ROWS`] rows, so that the vectors an operator touches stay
//! in the first-level cache. Vectors are shared (`Arc`): passing a column through an
//! operator costs nothing.

use gingham_types::{SqlType, Value};
use std::sync::Arc;

/// Rows in a full batch. 2,048 rows of eight bytes are 16 KiB a column.
pub const BATCH_ROWS: usize = 2048;

/// One column of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    /// The values; what stands at a NULL is arbitrary but valid (a code is in range).
    pub data: Data,
    /// `true` where a value is not NULL; `None` when no value is NULL.
    pub validity: Option<Vec<bool>>,
}

/// The values of a vector by physical form.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// BOOLEAN.
    Boolean(Vec<bool>),
    /// INTEGER and DATE.
    Int32(Vec<i32>),
    /// BIGINT, TIMESTAMP, and DECIMAL whose unscaled values fit.
    Int64(Vec<i64>),
    /// DECIMAL whose unscaled values do not all fit 64 bits. A DECIMAL column may come
    /// in either form, batch by batch: kernels try 64 bits and widen on overflow.
    Int128(Vec<i128>),
    /// DOUBLE.
    Double(Vec<f64>),
    /// TEXT and BLOB.
    Text(TextVector),
    /// INTERVAL (only between expressions).
    Interval(Vec<gingham_types::Interval>),
}

/// Strings by reference: `codes[row]` is an entry of `dictionary`. A gather copies
/// codes, never bytes. Strings that repeat little have a dictionary with an entry a
/// row; then `dictionary.distinct()` is false and codes say nothing about equality.
#[derive(Clone, Debug)]
pub struct TextVector {
    /// One entry number a row.
    pub codes: Vec<u32>,
    /// The entries, shared by every batch cut from the same chunk.
    pub dictionary: Arc<Dictionary>,
}

impl PartialEq for TextVector {
    fn eq(&self, other: &Self) -> bool {
        self.codes.len() == other.codes.len() && (0..self.codes.len()).all(|row| self.bytes(row) == other.bytes(row))
    }
}

/// Byte strings, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dictionary {
    /// `entries + 1` offsets into `bytes`, ascending, from 0.
    offsets: Vec<u32>,
    bytes: Vec<u8>,
    distinct: bool,
}

/// What is copied of a text for a short entry.
const PIECE_BYTES: usize = 32;

impl Default for Dictionary {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new(), distinct: false }
    }
}

impl Dictionary {
    /// A dictionary over `bytes` cut at `offsets` (`entries + 1` of them). `distinct`
    /// states that no two entries are equal.
    ///
    /// # Panics
    /// If the offsets are not ascending from 0 to at most the number of bytes.
    pub fn new(offsets: Vec<u32>, bytes: Vec<u8>, distinct: bool) -> Self {
        assert_eq!(offsets.first(), Some(&0), "offsets start at 0");
        assert!(offsets.is_sorted(), "offsets ascend");
        assert!(offsets.last().is_some_and(|end| *end as usize <= bytes.len()), "offsets stay inside the bytes");
        Self { offsets, bytes, distinct }
    }

    /// An empty dictionary with room for entries of so many bytes in all.
    pub fn with_capacity(entries: usize, bytes: usize) -> Self {
        let mut offsets = Vec::with_capacity(entries + 1);
        offsets.push(0);
        Self { offsets, bytes: Vec::with_capacity(bytes), distinct: false }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether no two entries are equal, so that codes can stand for the strings.
    pub const fn distinct(&self) -> bool {
        self.distinct
    }

    /// States that no two entries are equal.
    #[must_use]
    pub const fn with_distinct(mut self, distinct: bool) -> Self {
        self.distinct = distinct;
        self
    }

    /// The bytes of an entry.
    #[inline]
    pub fn get(&self, code: u32) -> &[u8] {
        let code = code as usize;
        &self.bytes[self.offsets[code] as usize..self.offsets[code + 1] as usize]
    }

    /// Adds an entry and gives its code; `None` when 32-bit offsets are exhausted.
    pub fn push(&mut self, entry: &[u8]) -> Option<u32> {
        let end = u32::try_from(self.bytes.len() + entry.len()).ok()?;
        let code = u32::try_from(self.len()).ok()?;
        self.bytes.extend_from_slice(entry);
        self.offsets.push(end);
        Some(code)
    }

    /// As [`Dictionary::push`], for the first `length` bytes of `text`. A short entry of a long
    /// text is copied in one piece of fixed length, with what follows it, and cut.
    ///
    /// # Panics
    /// If the text is shorter.
    #[inline]
    pub fn push_front_of(&mut self, text: &[u8], length: usize) -> Option<u32> {
        let Some(piece) = text.first_chunk::<PIECE_BYTES>().filter(|_| length <= PIECE_BYTES) else {
            return self.push(&text[..length]);
        };
        let end = u32::try_from(self.bytes.len() + length).ok()?;
        let code = u32::try_from(self.len()).ok()?;
        self.bytes.extend_from_slice(piece);
        self.bytes.truncate(end as usize);
        self.offsets.push(end);
        Some(code)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.offsets.capacity() * size_of::<u32>()
    }

    /// The `entries + 1` offsets.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl TextVector {
    /// Rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The bytes of a row.
    #[inline]
    pub fn bytes(&self, row: usize) -> &[u8] {
        self.dictionary.get(self.codes[row])
    }

    /// One entry a row, from strings.
    pub fn from_strings<'a>(strings: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        let mut dictionary = Dictionary::default();
        let codes = strings.into_iter().map(|s| dictionary.push(s)).collect::<Option<Vec<u32>>>()?;
        Some(Self { codes, dictionary: Arc::new(dictionary) })
    }
}

impl Data {
    /// Rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Boolean(v) => v.len(),
            Self::Int32(v) => v.len(),
            Self::Int64(v) => v.len(),
            Self::Int128(v) => v.len(),
            Self::Double(v) => v.len(),
            Self::Text(v) => v.len(),
            Self::Interval(v) => v.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values at `rows`, in that order.
    #[must_use]
    pub fn gather(&self, rows: &[u32]) -> Self {
        fn pick<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|row| values[*row as usize]).collect()
        }
        match self {
            Self::Boolean(v) => Self::Boolean(pick(v, rows)),
            Self::Int32(v) => Self::Int32(pick(v, rows)),
            Self::Int64(v) => Self::Int64(pick(v, rows)),
            Self::Int128(v) => Self::Int128(pick(v, rows)),
            Self::Double(v) => Self::Double(pick(v, rows)),
            Self::Text(v) => {
                Self::Text(TextVector { codes: pick(&v.codes, rows), dictionary: Arc::clone(&v.dictionary) })
            }
            Self::Interval(v) => Self::Interval(pick(v, rows)),
        }
    }
}

impl Vector {
    /// A vector without NULLs.
    pub const fn new(data: Data) -> Self {
        Self { data, validity: None }
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Whether the value of a row is not NULL.
    #[inline]
    pub fn is_valid(&self, row: usize) -> bool {
        self.validity.as_ref().is_none_or(|v| v[row])
    }

    /// The values at `rows`, in that order.
    #[must_use]
    pub fn gather(&self, rows: &[u32]) -> Self {
        Self {
            data: self.data.gather(rows),
            validity: self.validity.as_ref().map(|v| rows.iter().map(|row| v[*row as usize]).collect()),
        }
    }

    /// The value of a row as `ty`, the column's SQL type.
    pub fn value(&self, row: usize, ty: SqlType) -> Value {
        if !self.is_valid(row) {
            return Value::Null;
        }
        let scale = if let SqlType::Decimal { scale, .. } = ty { scale } else { 0 };
        match (&self.data, ty) {
            (Data::Boolean(v), _) => Value::Boolean(v[row]),
            (Data::Int32(v), SqlType::Date) => Value::Date(v[row]),
            (Data::Int32(v), _) => Value::Int(i64::from(v[row])),
            (Data::Int64(v), SqlType::Decimal { .. }) => Value::Decimal { unscaled: i128::from(v[row]), scale },
            (Data::Int64(v), SqlType::Timestamp) => Value::Timestamp(v[row]),
            (Data::Int64(v), _) => Value::Int(v[row]),
            (Data::Int128(v), _) => Value::Decimal { unscaled: v[row], scale },
            (Data::Double(v), _) => Value::Double(v[row]),
            (Data::Text(v), SqlType::Blob) => Value::Blob(v.bytes(row).to_vec()),
            (Data::Text(v), _) => Value::Text(String::from_utf8_lossy(v.bytes(row)).into_owned()),
            (Data::Interval(v), _) => Value::Interval(v[row]),
        }
    }

    /// `rows` times one value of type `ty`.
    pub fn constant(value: &Value, ty: SqlType, rows: usize) -> Self {
        let data = match value {
            Value::Null => {
                return Self { data: Self::default_data(ty, rows), validity: Some(vec![false; rows]) };
            }
            Value::Boolean(v) => Data::Boolean(vec![*v; rows]),
            Value::Int(v) if ty == SqlType::Integer => Data::Int32(vec![*v as i32; rows]),
            Value::Int(v) | Value::Timestamp(v) => Data::Int64(vec![*v; rows]),
            Value::Double(v) => Data::Double(vec![*v; rows]),
            Value::Decimal { unscaled, .. } => match i64::try_from(*unscaled) {
                Ok(narrow) => Data::Int64(vec![narrow; rows]),
                Err(_) => Data::Int128(vec![*unscaled; rows]),
            },
            Value::Date(v) => Data::Int32(vec![*v; rows]),
            Value::Interval(v) => Data::Interval(vec![*v; rows]),
            Value::Text(v) => Self::constant_text(v.as_bytes(), rows),
            Value::Blob(v) => Self::constant_text(v, rows),
        };
        Self::new(data)
    }

    fn constant_text(bytes: &[u8], rows: usize) -> Data {
        let dictionary = Dictionary::new(vec![0, bytes.len() as u32], bytes.to_vec(), true);
        Data::Text(TextVector { codes: vec![0; rows], dictionary: Arc::new(dictionary) })
    }

    /// `rows` arbitrary values of type `ty`, to stand at NULLs.
    pub fn default_data(ty: SqlType, rows: usize) -> Data {
        match ty {
            SqlType::Boolean => Data::Boolean(vec![false; rows]),
            SqlType::Integer | SqlType::Date | SqlType::Null => Data::Int32(vec![0; rows]),
            SqlType::BigInt | SqlType::Timestamp | SqlType::Decimal { .. } => Data::Int64(vec![0; rows]),
            SqlType::Double => Data::Double(vec![0.0; rows]),
            SqlType::Text | SqlType::Blob => Self::constant_text(b"", rows),
            SqlType::Interval => Data::Interval(vec![gingham_types::Interval::default(); rows]),
        }
    }
}

/// Rows by columns. Operators never put out a batch of no rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Columns, each of `rows` rows.
    pub columns: Vec<Arc<Vector>>,
    /// Rows, also when there is no column.
    pub rows: usize,
}

impl Batch {
    /// A batch of columns of equal length.
    ///
    /// # Panics
    /// If a column has another length.
    pub fn new(columns: Vec<Arc<Vector>>, rows: usize) -> Self {
        assert!(columns.iter().all(|c| c.len() == rows), "columns of one batch have one length");
        Self { columns, rows }
    }

    /// The rows at `rows`, in that order.
    #[must_use]
    pub fn gather(&self, rows: &[u32]) -> Self {
        Self { columns: self.columns.iter().map(|c| Arc::new(c.gather(rows))).collect(), rows: rows.len() }
    }

    /// Some of the columns, in the order given.
    #[must_use]
    pub fn project(&self, columns: &[usize]) -> Self {
        Self { columns: columns.iter().map(|c| Arc::clone(&self.columns[*c])).collect(), rows: self.rows }
    }
}
