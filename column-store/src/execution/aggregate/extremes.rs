//! MIN and MAX of every type; BOOL_AND and BOOL_OR are those of truth values.
//!
//! Values of at most 64 bits are compared as integers of the same order in the state's
//! words. Others stand apart.

use super::Groups;
use crate::Result;
use crate::expression::error;
use crate::vector::{Data, Dictionary, TextVector, Vector};
use gingham_types::{DECIMAL64_DIGITS_MAX, Interval, SqlType, Value, compare_values};
use std::cmp::Ordering;
use std::sync::Arc;

/// The least or greatest value of every group.
#[derive(Debug)]
pub(crate) struct Extremes {
    ty: SqlType,
    greatest: bool,
    store: Store,
}

#[derive(Debug)]
enum Store {
    /// In this word of the state.
    Word(usize),
    /// 128-bit decimals.
    Wide(Vec<Option<i128>>),
    /// Strings, with the bytes they hold together.
    Text(Vec<Option<Box<[u8]>>>, usize),
    Intervals(Vec<Option<Interval>>),
}

impl Extremes {
    pub(super) const fn new(ty: SqlType, greatest: bool, word: usize) -> Self {
        let store = match ty {
            SqlType::Text | SqlType::Blob => Store::Text(Vec::new(), 0),
            SqlType::Decimal { precision, .. } if precision > DECIMAL64_DIGITS_MAX => Store::Wide(Vec::new()),
            SqlType::Interval => Store::Intervals(Vec::new()),
            _ => Store::Word(word),
        };
        Self { ty, greatest, store }
    }

    /// Words of the state that are used.
    pub(super) const fn words(&self) -> usize {
        matches!(self.store, Store::Word(_)) as usize
    }

    pub(super) fn memory_bytes(&self) -> usize {
        match &self.store {
            Store::Word(_) => 0,
            Store::Wide(v) => v.capacity() * size_of::<Option<i128>>(),
            Store::Text(v, bytes) => v.capacity() * size_of::<Option<Box<[u8]>>>() + bytes,
            Store::Intervals(v) => v.capacity() * size_of::<Option<Interval>>(),
        }
    }

    /// Prepares new groups: `words` are theirs.
    pub(super) fn resize(&mut self, groups: usize, words: &mut [i64], stride: usize) {
        match &mut self.store {
            Store::Word(word) => {
                let start = if self.greatest { i64::MIN } else { i64::MAX };
                words.chunks_exact_mut(stride).for_each(|group| group[*word] = start);
            }
            Store::Wide(v) => v.resize(groups, None),
            Store::Text(v, _) => v.resize(groups, None),
            Store::Intervals(v) => v.resize(groups, None),
        }
    }

    /// Folds values without NULLs.
    pub(super) fn update(
        &mut self,
        values: &Vector,
        groups: Groups<'_>,
        words: &mut [i64],
        stride: usize,
    ) -> Result<()> {
        let greatest = self.greatest;
        match (&mut self.store, &values.data) {
            (Store::Word(word), data) => {
                let ordered = ordered_words(data, self.ty)?;
                fold_words(&ordered, groups, words, stride, *word, greatest);
            }
            (Store::Wide(best), Data::Int64(v)) => {
                fold(best, v.iter().map(|v| i128::from(*v)), groups, |a, b| is_better(a.cmp(b), greatest));
            }
            (Store::Wide(best), Data::Int128(v)) => {
                fold(best, v.iter().copied(), groups, |a, b| is_better(a.cmp(b), greatest));
            }
            (Store::Intervals(best), Data::Interval(v)) => {
                let order = |a: &Interval, b: &Interval| compare_values(&Value::Interval(*a), &Value::Interval(*b));
                fold(best, v.iter().copied(), groups, |a, b| is_better(order(a, b), greatest));
            }
            (Store::Text(best, bytes), Data::Text(text)) => {
                for row in 0..text.len() {
                    let (new, best) = (text.bytes(row), &mut best[groups.of(row)]);
                    if best.as_ref().is_none_or(|old| is_better(new.cmp(old), greatest)) {
                        *bytes += new.len();
                        *bytes -= best.as_ref().map_or(0, |old| old.len());
                        *best = Some(Box::from(new));
                    }
                }
            }
            _ => return Err(error::internal(format!("a column of {} changed its form", self.ty))),
        }
        Ok(())
    }

    /// The results of some groups; groups without a value are arbitrary.
    pub(super) fn finish(&self, range: std::ops::Range<usize>, words: &[i64], stride: usize) -> Result<Data> {
        Ok(match &self.store {
            Store::Word(word) => {
                let best = range.map(|group| words[group * stride + word]);
                match self.ty {
                    SqlType::Boolean => Data::Boolean(best.map(|v| v == 1).collect()),
                    SqlType::Double => Data::Double(best.map(ordered_double).collect()),
                    SqlType::Integer | SqlType::Date | SqlType::Null => Data::Int32(best.map(|v| v as i32).collect()),
                    _ => Data::Int64(best.collect()),
                }
            }
            Store::Wide(best) => crate::execution::keys::narrow(best[range].iter().map(|v| v.unwrap_or(0)).collect()),
            Store::Intervals(best) => Data::Interval(best[range].iter().map(|v| v.unwrap_or_default()).collect()),
            Store::Text(best, _) => {
                let mut dictionary = Dictionary::default();
                let mut codes = Vec::with_capacity(range.len());
                for value in &best[range] {
                    codes.push(dictionary.push(value.as_deref().unwrap_or(b"")).ok_or_else(error::text_too_large)?);
                }
                Data::Text(TextVector { codes, dictionary: Arc::new(dictionary) })
            }
        })
    }
}

fn is_better(order: Ordering, greatest: bool) -> bool {
    order == if greatest { Ordering::Greater } else { Ordering::Less }
}

fn fold<T: Copy>(
    best: &mut [Option<T>],
    values: impl Iterator<Item = T>,
    groups: Groups<'_>,
    better: impl Fn(&T, &T) -> bool,
) {
    for (row, value) in values.enumerate() {
        let best = &mut best[groups.of(row)];
        if best.as_ref().is_none_or(|old| better(&value, old)) {
            *best = Some(value);
        }
    }
}

fn fold_words(ordered: &[i64], groups: Groups<'_>, words: &mut [i64], stride: usize, word: usize, greatest: bool) {
    match (groups, greatest) {
        (Groups::One, true) => words[word] = ordered.iter().fold(words[word], |best, v| best.max(*v)),
        (Groups::One, false) => words[word] = ordered.iter().fold(words[word], |best, v| best.min(*v)),
        (Groups::Runs(starts, numbers), _) => {
            let numbers = super::runs::spread(starts, numbers, ordered.len());
            fold_words(ordered, Groups::Numbers(&numbers), words, stride, word, greatest);
        }
        (Groups::Numbers(numbers), true) => {
            for (number, value) in numbers.iter().zip(ordered) {
                let best = &mut words[*number as usize * stride + word];
                *best = (*best).max(*value);
            }
        }
        (Groups::Numbers(numbers), false) => {
            for (number, value) in numbers.iter().zip(ordered) {
                let best = &mut words[*number as usize * stride + word];
                *best = (*best).min(*value);
            }
        }
    }
}

/// Integers in the order of the values.
fn ordered_words(data: &Data, ty: SqlType) -> Result<Vec<i64>> {
    Ok(match data {
        Data::Boolean(v) => v.iter().map(|v| i64::from(*v)).collect(),
        Data::Int32(v) => v.iter().map(|v| i64::from(*v)).collect(),
        Data::Int64(v) => v.clone(),
        Data::Double(v) => v.iter().map(|v| double_order(*v)).collect(),
        Data::Int128(v) => {
            v.iter().map(|v| i64::try_from(*v).map_err(|_| error::out_of_range(ty))).collect::<Result<Vec<i64>>>()?
        }
        Data::Text(_) | Data::Interval(_) => return Err(error::internal(format!("a column of {ty} changed its form"))),
    })
}

/// A double as an integer of the same order: NaN last, one zero.
pub(crate) fn double_order(v: f64) -> i64 {
    let bits = crate::execution::keys::double_word(v);
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// The double of [`double_order`].
pub(crate) fn ordered_double(order: i64) -> f64 {
    f64::from_bits((order ^ ((order >> 63) as u64 >> 1) as i64) as u64)
}
