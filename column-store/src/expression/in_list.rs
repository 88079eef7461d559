//! IN over constants and over expressions.

use super::entries::EntryMemo;
use super::logic;
use super::operand::Operand;
use super::{comparison, error};
use crate::Result;
use crate::vector::{Data, Vector};
use gingham_plan::BinaryOp;
use gingham_types::{SqlType, Value, compare_values};
use std::cmp::Ordering;

/// Lists up to this length are compared one by one, without branches.
const LINEAR_MAX: usize = 4;

/// Values from the least to the greatest up to this far apart are looked up by bit.
const BITS_MAX: i128 = 1 << 16;

/// The constants of an IN list.
#[derive(Debug)]
pub(crate) struct ConstantSet {
    items: Items,
    /// Whether NULL is among them.
    has_null: bool,
}

#[derive(Debug)]
enum Items {
    /// Few integers.
    Few(Vec<i64>),
    /// Bit `v - min` of a set within a small range.
    Bits { min: i64, bits: Vec<bool> },
    /// Sorted integers.
    Sorted(Vec<i64>),
    /// Sorted strings.
    Texts(Vec<Vec<u8>>),
    /// Anything else.
    Values(Vec<Value>),
}

impl ConstantSet {
    /// The set of values of type `ty`; `None` if one is of another type.
    pub(crate) fn new(values: &[&Value], ty: SqlType) -> Option<Self> {
        let has_null = values.iter().any(|v| v.is_null());
        let values: Vec<&Value> = values.iter().copied().filter(|v| !v.is_null()).collect();
        let items = match ty {
            SqlType::Text | SqlType::Blob => {
                let mut texts = values
                    .iter()
                    .map(|v| match v {
                        Value::Text(text) => Some(text.as_bytes().to_vec()),
                        Value::Blob(bytes) => Some(bytes.clone()),
                        _ => None,
                    })
                    .collect::<Option<Vec<Vec<u8>>>>()?;
                texts.sort_unstable();
                Items::Texts(texts)
            }
            _ => match values.iter().map(|v| integer(v)).collect::<Option<Vec<i64>>>() {
                Some(integers) => Items::integers(integers),
                None => Items::Values(values.into_iter().cloned().collect()),
            },
        };
        Some(Self { items, has_null })
    }
}

/// The value as the integer that vectors hold for it.
fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(v) | Value::Timestamp(v) => Some(*v),
        Value::Date(v) => Some(i64::from(*v)),
        Value::Decimal { unscaled, .. } => i64::try_from(*unscaled).ok(),
        _ => None,
    }
}

impl Items {
    fn integers(mut integers: Vec<i64>) -> Self {
        integers.sort_unstable();
        integers.dedup();
        let (Some(min), Some(max)) = (integers.first().copied(), integers.last().copied()) else {
            return Self::Few(Vec::new());
        };
        if integers.len() <= LINEAR_MAX {
            return Self::Few(integers);
        }
        let span = i128::from(max) - i128::from(min);
        if span >= BITS_MAX {
            return Self::Sorted(integers);
        }
        let mut bits = vec![false; span as usize + 1];
        for value in &integers {
            bits[(value - min) as usize] = true;
        }
        Self::Bits { min, bits }
    }

    fn contains_all<T: Copy + Into<i64>>(&self, values: &[T]) -> Option<Vec<bool>> {
        let each = values.iter().map(|v| (*v).into());
        Some(match self {
            Self::Few(list) => {
                let mut found = vec![false; values.len()];
                for item in list {
                    for (found, value) in found.iter_mut().zip(values) {
                        *found |= (*value).into() == *item;
                    }
                }
                found
            }
            Self::Bits { min, bits } => {
                let inside = |v: i64| usize::try_from(v.wrapping_sub(*min)).is_ok_and(|at| bits.get(at) == Some(&true));
                each.map(inside).collect()
            }
            Self::Sorted(list) => each.map(|v: i64| list.binary_search(&v).is_ok()).collect(),
            Self::Texts(_) | Self::Values(_) => return None,
        })
    }

    fn contains_value(&self, value: &Value) -> bool {
        match self {
            Self::Values(list) => list.iter().any(|item| compare_values(item, value) == Ordering::Equal),
            Self::Texts(list) => match value {
                Value::Text(text) => list.binary_search_by(|item| item[..].cmp(text.as_bytes())).is_ok(),
                Value::Blob(bytes) => list.binary_search_by(|item| item[..].cmp(bytes)).is_ok(),
                _ => false,
            },
            integers => integer(value)
                .and_then(|v| integers.contains_all(&[v]))
                .is_some_and(|found| found.first() == Some(&true)),
        }
    }
}

/// `operand [NOT] IN (constants)`.
pub(crate) fn in_set(
    operand: &Operand,
    ty: SqlType,
    set: &ConstantSet,
    negated: bool,
    rows: usize,
    memo: &EntryMemo<bool>,
) -> Result<Operand> {
    let vector = match operand {
        Operand::Column(vector) => vector,
        Operand::Constant(Value::Null) => {
            let empty = !set.has_null && set.items.is_empty();
            return Ok(Operand::Constant(if empty { Value::Boolean(negated) } else { Value::Null }));
        }
        Operand::Constant(value) => {
            let found = set.items.contains_value(value);
            let unknown = !found && set.has_null;
            return Ok(Operand::Constant(if unknown { Value::Null } else { Value::Boolean(found != negated) }));
        }
    };
    let found = find(vector, ty, &set.items, rows, memo)?;
    let empty = set.items.is_empty() && !set.has_null;
    let mut validity = if empty { None } else { vector.validity.clone() };
    if set.has_null {
        // What is not found might be the NULL.
        let valid = validity.get_or_insert_with(|| vec![true; rows]);
        valid.iter_mut().zip(&found).for_each(|(valid, found)| *valid &= *found);
    }
    let data = if negated { found.into_iter().map(|v| !v).collect() } else { found };
    Ok(Operand::new(Data::Boolean(data), validity))
}

impl Items {
    fn is_empty(&self) -> bool {
        match self {
            Self::Few(list) | Self::Sorted(list) => list.is_empty(),
            Self::Bits { .. } => false,
            Self::Texts(list) => list.is_empty(),
            Self::Values(list) => list.is_empty(),
        }
    }
}

fn find(vector: &Vector, ty: SqlType, items: &Items, rows: usize, memo: &EntryMemo<bool>) -> Result<Vec<bool>> {
    let found = match (&vector.data, items) {
        (Data::Int32(v), items) => items.contains_all(v),
        (Data::Int64(v), items) => items.contains_all(v),
        (Data::Text(text), Items::Texts(list)) => {
            let contains = |bytes: &[u8]| Ok(list.binary_search_by(|item| item[..].cmp(bytes)).is_ok());
            Some(memo.map(text, vector.validity.as_deref(), contains)?)
        }
        _ => None,
    };
    Ok(found.unwrap_or_else(|| (0..rows).map(|row| items.contains_value(&vector.value(row, ty))).collect()))
}

/// `operand [NOT] IN (expressions)`: one comparison after the other, joined by OR.
pub(crate) fn in_list(
    operand: &Operand,
    items: &[Operand],
    ty: SqlType,
    negated: bool,
    rows: usize,
    memo: &EntryMemo<bool>,
) -> Result<Operand> {
    let mut found = Operand::Constant(Value::Boolean(false));
    for item in items {
        let equal = match (operand, item) {
            (a, b) if a.is_null() || b.is_null() => Operand::Constant(Value::Null),
            (Operand::Constant(a), Operand::Constant(b)) => {
                Operand::Constant(Value::Boolean(compare_values(a, b) == Ordering::Equal))
            }
            (a, b) => {
                // The memo is one table for one constant: it would not hold for the next.
                let own = EntryMemo::default();
                let memo = if items.len() == 1 { memo } else { &own };
                comparison::compare(BinaryOp::Equal, a, b, ty, rows, memo)?
            }
        };
        found = match (&found, &equal) {
            (Operand::Constant(a), Operand::Constant(b)) => {
                let truth = super::scalar::or(super::scalar::truth(a)?, super::scalar::truth(b)?);
                Operand::Constant(super::scalar::from_truth(truth))
            }
            _ => logic::connect(&found, &equal, false, rows)?,
        };
    }
    match (&found, negated) {
        (_, false) => Ok(found),
        (Operand::Constant(Value::Boolean(v)), true) => Ok(Operand::Constant(Value::Boolean(!v))),
        (Operand::Constant(Value::Null), true) => Ok(found),
        (Operand::Constant(_), true) => Err(error::internal("IN that is not a truth value")),
        (Operand::Column(_), true) => logic::not(&found, rows),
    }
}
