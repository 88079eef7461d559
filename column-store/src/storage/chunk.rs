//! Decoded chunks in the narrow form that scans compute on and the cache keeps.
//!
//! A column of dates spanning seven years takes two bytes a row here, a discount one:
//! predicates are translated to codes once a chunk and compared without widening.

use crate::vector::Dictionary;
use gingham_types::{SqlType, Value};
use std::sync::Arc;

/// One decoded chunk.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The column's type.
    pub ty: SqlType,
    /// Rows.
    pub rows: usize,
    /// The values; anything stands at a NULL.
    pub values: Values,
    /// `true` where a value is not NULL; `None` when there is no NULL, and when all
    /// are (then the values are `Constant(NULL)`).
    pub validity: Option<Vec<bool>>,
}

/// The values of a chunk.
#[derive(Clone, Debug)]
pub enum Values {
    /// The same value in every row; text has a one-entry dictionary instead.
    Constant(Value),
    /// Integer-like values by code.
    Coded(CodedIntegers),
    /// Integer-like values that span more than 32 bits.
    Integers(Vec<i64>),
    /// Decimals that do not all fit 64 bits.
    Decimals(Vec<i128>),
    /// DOUBLE. NaN has the one form of [`f64::NAN`].
    Doubles(Vec<f64>),
    /// TEXT and BLOB.
    Text {
        /// One code a row.
        codes: TextCodes,
        /// The entries; sorted if distinct.
        dictionary: Arc<Dictionary>,
    },
}

/// Codes that grow with the values they stand for.
#[derive(Clone, Debug)]
pub struct CodedIntegers {
    /// One code a row, none above `code_max`.
    pub codes: Codes,
    /// What codes stand for.
    pub map: CodeMap,
    /// The greatest code there may be.
    pub code_max: u32,
}

/// Codes in the least width.
#[derive(Clone, Debug)]
pub enum Codes {
    /// Up to 255.
    U8(Vec<u8>),
    /// Up to 65,535.
    U16(Vec<u16>),
    /// Any.
    U32(Vec<u32>),
}

/// The codes of text rows.
#[derive(Clone, Debug)]
pub enum TextCodes {
    /// The dictionary has one entry, and all rows have it.
    Same,
    /// The dictionary has an entry for each row.
    Each,
    /// Codes, all of them less than the number of entries.
    Coded(Codes),
}

/// A strictly increasing map from codes to integers.
#[derive(Clone, Debug)]
pub enum CodeMap {
    /// `base + code * factor`, which does not overflow; `factor` is positive.
    Affine {
        /// The value of code 0.
        base: i64,
        /// The distance between neighbours.
        factor: i64,
    },
    /// An ascending list.
    List(Vec<i64>),
}

impl CodeMap {
    /// The value of a code.
    #[inline]
    pub fn value(&self, code: u32) -> i64 {
        match self {
            Self::Affine { base, factor } => base.wrapping_add(i64::from(code).wrapping_mul(*factor)),
            Self::List(list) => list[code as usize],
        }
    }

    /// The least code whose value is at least `value`; it may lie beyond all codes.
    pub fn code_at_least(&self, value: i128) -> u64 {
        match self {
            Self::Affine { base, factor } => {
                let distance = value - i128::from(*base);
                let factor = i128::from(*factor);
                if distance <= 0 { 0 } else { u64::try_from((distance + factor - 1) / factor).unwrap_or(u64::MAX) }
            }
            Self::List(list) => list.partition_point(|v| i128::from(*v) < value) as u64,
        }
    }
}

impl Codes {
    /// Rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(codes) => codes.len(),
            Self::U16(codes) => codes.len(),
            Self::U32(codes) => codes.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The code of a row.
    #[inline]
    pub fn get(&self, row: usize) -> u32 {
        match self {
            Self::U8(codes) => u32::from(codes[row]),
            Self::U16(codes) => u32::from(codes[row]),
            Self::U32(codes) => codes[row],
        }
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Self::U8(codes) => codes.capacity(),
            Self::U16(codes) => codes.capacity() * 2,
            Self::U32(codes) => codes.capacity() * 4,
        }
    }
}

impl TextCodes {
    /// The code of a row.
    #[inline]
    pub fn get(&self, row: usize) -> u32 {
        match self {
            Self::Same => 0,
            Self::Each => row as u32,
            Self::Coded(codes) => codes.get(row),
        }
    }
}

impl Chunk {
    /// `rows` NULLs.
    pub const fn all_null(ty: SqlType, rows: usize) -> Self {
        Self { ty, rows, values: Values::Constant(Value::Null), validity: None }
    }

    /// Whether the value of a row is not NULL.
    #[inline]
    pub fn is_valid(&self, row: usize) -> bool {
        match &self.validity {
            Some(validity) => validity[row],
            None => !matches!(self.values, Values::Constant(Value::Null)),
        }
    }

    /// Whether some value is NULL.
    pub fn has_nulls(&self) -> bool {
        self.validity.is_some() || matches!(self.values, Values::Constant(Value::Null))
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let values = match &self.values {
            Values::Constant(_) => 0,
            Values::Coded(coded) => {
                let list = if let CodeMap::List(list) = &coded.map { list.capacity() * 8 } else { 0 };
                coded.codes.memory_bytes() + list
            }
            Values::Integers(values) => values.capacity() * 8,
            Values::Decimals(values) => values.capacity() * 16,
            Values::Doubles(values) => values.capacity() * 8,
            Values::Text { codes, dictionary } => {
                let codes = if let TextCodes::Coded(codes) = codes { codes.memory_bytes() } else { 0 };
                codes + dictionary.memory_bytes()
            }
        };
        size_of::<Self>() + values + self.validity.as_ref().map_or(0, Vec::capacity)
    }
}
