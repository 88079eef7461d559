//! Key columns as 64-bit integers.
//!
//! Grouping and joining compare keys for equality only, so every key value becomes one
//! or two integers that are equal exactly when the values are: numbers, dates and truth
//! values themselves, doubles their bits (with one zero and one NaN), 128-bit decimals
//! two halves, strings their number in an [`Interner`].
//!
//! Where the integers of all keys of a row fit 64 bits together, less each one's
//! minimum, a [`Layout`] packs them into one. Then a table needs one comparison a row,
//! and where the packed numbers are few it can do without hashing at all.

// Loops that must not branch connect their conditions bit by bit.
#![allow(clippy::needless_bitwise_bool)]

use super::interner::Interner;
use crate::Result;
use crate::expression::error;
use crate::vector::{Data, Dictionary, TextVector, Vector};
use gingham_types::{DECIMAL64_DIGITS_MAX, Interval, SqlType, Value};
use std::sync::Arc;

const MICROS_PER_DAY: i128 = 86_400_000_000;

/// The keys of a batch.
#[derive(Debug, Default)]
pub(crate) struct KeyWords {
    /// Columns of integers; 0 at a NULL.
    pub(crate) words: Vec<Vec<i64>>,
    /// For each of `words`, which values are not NULL. The second half of a wide key
    /// has none: its NULLs are in the first.
    pub(crate) valid: Vec<Option<Vec<bool>>>,
    pub(crate) rows: usize,
}

/// Turns one key column into integers, always in the same way.
#[derive(Debug)]
pub(crate) struct KeyColumn {
    pub(crate) ty: SqlType,
    /// For text: its numbers so far.
    pub(crate) interner: Option<Interner>,
}

impl KeyColumn {
    pub(crate) fn new(ty: SqlType) -> Self {
        let text = matches!(ty, SqlType::Text | SqlType::Blob);
        Self { ty, interner: text.then(Interner::default) }
    }

    /// How many integers a value becomes.
    pub(crate) const fn width(&self) -> usize {
        match self.ty {
            SqlType::Decimal { precision, .. } if precision > DECIMAL64_DIGITS_MAX => 2,
            SqlType::Interval => 2,
            _ => 1,
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.interner.as_ref().map_or(0, Interner::memory_bytes)
    }

    /// For text the strings by number, taken out: nothing more can be encoded.
    pub(crate) fn take_strings(&mut self) -> Option<Arc<Dictionary>> {
        self.interner.take().map(|interner| Arc::new(interner.into_strings()))
    }

    /// Adds the integers of a vector to `keys`. Without `insert`, strings that have no
    /// number become one that equals nothing.
    pub(crate) fn encode(&mut self, vector: &Vector, insert: bool, keys: &mut KeyWords) -> Result<()> {
        keys.rows = vector.len();
        let validity = vector.validity.as_deref();
        let mut wide: Option<Vec<i64>> = None;
        let mut words: Vec<i64> = match &vector.data {
            Data::Boolean(v) => v.iter().map(|v| i64::from(*v)).collect(),
            Data::Int32(v) => v.iter().map(|v| i64::from(*v)).collect(),
            Data::Int64(v) => {
                if self.width() == 2 {
                    wide = Some(v.clone());
                    v.iter().map(|v| v >> 63).collect()
                } else {
                    v.clone()
                }
            }
            Data::Int128(v) => {
                wide = (self.width() == 2).then(|| v.iter().map(|v| *v as i64).collect());
                let narrow = self.width() == 1;
                if narrow && v.iter().enumerate().any(|(row, v)| vector.is_valid(row) && i64::try_from(*v).is_err()) {
                    return Err(error::out_of_range(self.ty));
                }
                v.iter().map(|v| if narrow { *v as i64 } else { (*v >> 64) as i64 }).collect()
            }
            Data::Double(v) => v.iter().map(|v| double_word(*v)).collect(),
            Data::Interval(v) => {
                wide = Some(v.iter().map(|v| interval_micros(*v) as i64).collect());
                v.iter().map(|v| (interval_micros(*v) >> 64) as i64).collect()
            }
            Data::Text(v) => match &mut self.interner {
                Some(interner) => interner.numbers(v, validity, insert)?,
                None => return Err(error::internal(format!("text in a key of type {}", self.ty))),
            },
        };
        if let Some(validity) = validity {
            for list in [Some(&mut words), wide.as_mut()].into_iter().flatten() {
                for (word, valid) in list.iter_mut().zip(validity) {
                    *word = if *valid { *word } else { 0 };
                }
            }
        }
        keys.words.push(words);
        keys.valid.push(vector.validity.clone());
        if let Some(wide) = wide {
            keys.words.push(wide);
            keys.valid.push(None);
        }
        Ok(())
    }

    /// The values of integers that [`KeyColumn::encode`] made.
    pub(crate) fn decode(&self, words: &[Vec<i64>], valid: Option<Vec<bool>>) -> Vector {
        let first = &words[0];
        let halves = |row: usize| i128::from(first[row]) << 64 | i128::from(words[1][row] as u64);
        let data = match self.ty {
            SqlType::Boolean => Data::Boolean(first.iter().map(|v| *v != 0).collect()),
            SqlType::Integer | SqlType::Date | SqlType::Null => Data::Int32(first.iter().map(|v| *v as i32).collect()),
            SqlType::BigInt | SqlType::Timestamp => Data::Int64(first.clone()),
            SqlType::Decimal { .. } if words.len() == 1 => Data::Int64(first.clone()),
            SqlType::Decimal { .. } => narrow((0..first.len()).map(halves).collect()),
            SqlType::Double => Data::Double(first.iter().map(|v| f64::from_bits(*v as u64)).collect()),
            SqlType::Interval => {
                Data::Interval((0..first.len()).map(|row| interval_from_micros(halves(row))).collect())
            }
            // The caller shares one dictionary among all batches.
            SqlType::Text | SqlType::Blob => Data::Int64(first.clone()),
        };
        Vector { data, validity: valid }
    }
}

/// Strings by number; a dictionary without entries has only NULLs to give.
pub(crate) fn text_vector(numbers: &[i64], valid: Option<Vec<bool>>, dictionary: &Arc<Dictionary>) -> Vector {
    if dictionary.is_empty() {
        return Vector::constant(&Value::Null, SqlType::Text, numbers.len());
    }
    let codes = numbers.iter().map(|number| *number as u32).collect();
    Vector { data: Data::Text(TextVector { codes, dictionary: Arc::clone(dictionary) }), validity: valid }
}

/// The narrower form of decimals when they all fit it.
pub(crate) fn narrow(values: Vec<i128>) -> Data {
    if values.iter().all(|v| i64::try_from(*v).is_ok()) {
        return Data::Int64(values.into_iter().map(|v| v as i64).collect());
    }
    Data::Int128(values)
}

/// Equal for equal doubles: -0 is 0 and NaN is NaN.
pub(crate) fn double_word(v: f64) -> i64 {
    let v = if v.is_nan() { f64::NAN } else { v + 0.0 };
    v.to_bits() as i64
}

pub(crate) fn interval_micros(v: Interval) -> i128 {
    (i128::from(v.months) * 30 + i128::from(v.days)) * MICROS_PER_DAY + i128::from(v.micros)
}

/// One of the intervals that are equal to this many microseconds.
fn interval_from_micros(micros: i128) -> Interval {
    let days = micros.div_euclid(MICROS_PER_DAY);
    let months = i32::try_from(days / 30).unwrap_or(0);
    let rest = days - i128::from(months) * 30;
    Interval { months, days: rest as i32, micros: micros.rem_euclid(MICROS_PER_DAY) as i64 }
}

/// Bounds of one column of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) min: i64,
    pub(crate) max: i64,
    pub(crate) nulls: bool,
}

impl Bounds {
    /// Of the values that are not NULL, and whether any is.
    pub(crate) fn of(words: &[i64], valid: Option<&[bool]>) -> Self {
        match valid {
            None => {
                let (mut min, mut max) = (i64::MAX, i64::MIN);
                for word in words {
                    min = min.min(*word);
                    max = max.max(*word);
                }
                Self { min, max, nulls: false }
            }
            Some(valid) => {
                let (mut min, mut max, mut all) = (i64::MAX, i64::MIN, true);
                for (word, valid) in words.iter().zip(valid) {
                    min = min.min(if *valid { *word } else { i64::MAX });
                    max = max.max(if *valid { *word } else { i64::MIN });
                    all &= *valid;
                }
                Self { min, max, nulls: !all }
            }
        }
    }

    #[must_use]
    pub(crate) fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max), nulls: self.nulls | other.nulls }
    }

    /// Whether everything inside `other` is inside.
    pub(crate) const fn contains(self, other: Self) -> bool {
        (other.min > other.max || (self.min <= other.min && self.max >= other.max)) && (self.nulls || !other.nulls)
    }

    /// How many different values (NULL included) there can be.
    pub(crate) fn count(self) -> u128 {
        let values = if self.min > self.max { 0 } else { (i128::from(self.max) - i128::from(self.min)) as u128 + 1 };
        values + u128::from(self.nulls)
    }
}

/// Where one column of integers stands in a packed key: the value less `bounds.min`,
/// plus one if there are NULLs, which are 0.
#[derive(Clone, Copy, Debug)]
struct Field {
    bounds: Bounds,
    shift: u32,
    bits: u32,
}

/// How the integers of a row become one.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    fields: Vec<Field>,
    /// One past the greatest packed key.
    pub(crate) slots: u128,
}

impl Layout {
    /// A layout for columns within these bounds; `None` when they do not fit 64 bits.
    pub(crate) fn new(bounds: &[Bounds]) -> Option<Self> {
        let mut shift = 0;
        let mut fields = Vec::with_capacity(bounds.len());
        for bounds in bounds {
            let greatest = bounds.count().saturating_sub(1);
            let bits = 128 - greatest.leading_zeros();
            // A shift by 64 is undefined, even of a field without bits.
            fields.push(Field { bounds: *bounds, shift: shift.min(63), bits });
            shift += bits;
        }
        let slots = match bounds {
            [only] => only.count().max(1),
            _ => 1u128 << shift.min(127),
        };
        (shift <= 64).then_some(Self { fields, slots })
    }

    pub(crate) fn bounds(&self) -> impl Iterator<Item = Bounds> {
        self.fields.iter().map(|field| field.bounds)
    }

    /// Whether keys within these bounds can be packed.
    pub(crate) fn contains(&self, bounds: &[Bounds]) -> bool {
        self.fields.iter().zip(bounds).all(|(field, bounds)| field.bounds.contains(*bounds))
    }

    /// The packed keys of rows that are all within the bounds.
    pub(crate) fn pack(&self, keys: &KeyWords) -> Vec<u64> {
        let mut packed = vec![0u64; keys.rows];
        for ((field, words), valid) in self.fields.iter().zip(&keys.words).zip(&keys.valid) {
            let base = field.base();
            let shift = field.shift;
            match valid {
                None => {
                    for (packed, word) in packed.iter_mut().zip(words) {
                        *packed |= (word.wrapping_sub(base) as u64) << shift;
                    }
                }
                Some(valid) => {
                    for ((packed, word), valid) in packed.iter_mut().zip(words).zip(valid) {
                        *packed |= (word.wrapping_sub(base) as u64 & u64::from(*valid).wrapping_neg()) << shift;
                    }
                }
            }
        }
        packed
    }

    /// Clears the flag of every row that is outside the bounds, or NULL where the
    /// layout has no place for it.
    pub(crate) fn mark_inside(&self, keys: &KeyWords, inside: &mut [bool]) {
        for ((field, words), valid) in self.fields.iter().zip(&keys.words).zip(&keys.valid) {
            let Bounds { min, max, nulls } = field.bounds;
            match valid {
                None => {
                    for (inside, word) in inside.iter_mut().zip(words) {
                        *inside &= (*word >= min) & (*word <= max);
                    }
                }
                Some(valid) => {
                    for ((inside, word), valid) in inside.iter_mut().zip(words).zip(valid) {
                        *inside &= if *valid { (*word >= min) & (*word <= max) } else { nulls };
                    }
                }
            }
        }
    }

    /// The integers of column `column` of packed keys, and which are not NULL.
    pub(crate) fn unpack(&self, column: usize, packed: &[u64]) -> (Vec<i64>, Option<Vec<bool>>) {
        let field = &self.fields[column];
        let base = field.base();
        let mask = if field.bits >= 64 { u64::MAX } else { (1 << field.bits) - 1 };
        let code = |packed: &u64| packed >> field.shift & mask;
        if !field.bounds.nulls {
            return (packed.iter().map(|p| base.wrapping_add(code(p) as i64)).collect(), None);
        }
        let words = packed.iter().map(|p| if code(p) == 0 { 0 } else { base.wrapping_add(code(p) as i64) }).collect();
        let valid: Vec<bool> = packed.iter().map(|p| code(p) != 0).collect();
        (words, if valid.iter().all(|v| *v) { None } else { Some(valid) })
    }
}

impl Field {
    /// What a value is less than its code by.
    const fn base(&self) -> i64 {
        if self.bounds.nulls { self.bounds.min.wrapping_sub(1) } else { self.bounds.min }
    }
}

/// Keys that do not fit 64 bits, row by row: the integers, then a word of NULL flags.
pub(crate) fn wide_rows(keys: &KeyWords) -> Vec<u64> {
    let stride = wide_stride(keys.words.len());
    let mut rows = vec![0u64; keys.rows * stride];
    for (column, (words, valid)) in keys.words.iter().zip(&keys.valid).enumerate() {
        let flag_word = keys.words.len() + column / 64;
        for (row, word) in rows.chunks_exact_mut(stride).zip(words) {
            row[column] = *word as u64;
        }
        if let Some(valid) = valid {
            for (row, valid) in rows.chunks_exact_mut(stride).zip(valid) {
                row[flag_word] |= u64::from(!*valid) << (column % 64);
            }
        }
    }
    rows
}

/// Words a row of [`wide_rows`] for this many columns of integers.
pub(crate) const fn wide_stride(columns: usize) -> usize {
    columns + columns.div_ceil(64)
}

/// Whether two values are distinct; NULL is not distinct from NULL.
pub(crate) fn differs(a: &Vector, x: usize, b: &Vector, y: usize) -> bool {
    match (a.is_valid(x), b.is_valid(y)) {
        (true, true) => {}
        (a, b) => return a != b,
    }
    match (&a.data, &b.data) {
        (Data::Boolean(a), Data::Boolean(b)) => a[x] != b[y],
        (Data::Int32(a), Data::Int32(b)) => a[x] != b[y],
        (Data::Int64(a), Data::Int64(b)) => a[x] != b[y],
        (Data::Int128(a), Data::Int128(b)) => a[x] != b[y],
        (Data::Int64(a), Data::Int128(b)) => i128::from(a[x]) != b[y],
        (Data::Int128(a), Data::Int64(b)) => a[x] != i128::from(b[y]),
        (Data::Double(a), Data::Double(b)) => double_word(a[x]) != double_word(b[y]),
        (Data::Text(a), Data::Text(b)) => a.bytes(x) != b.bytes(y),
        (Data::Interval(a), Data::Interval(b)) => interval_micros(a[x]) != interval_micros(b[y]),
        _ => true,
    }
}
