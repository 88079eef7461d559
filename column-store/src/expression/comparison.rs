//! Comparisons over vectors.

use super::entries::EntryMemo;
use super::error;
use super::operand::{Numbers, Operand, Side, both_valid, map2};
use super::scalar_binary::holds;
use crate::Result;
use crate::vector::{Data, TextVector};
use gingham_plan::BinaryOp;
use gingham_types::{SqlType, Value, compare_values};
use std::cmp::Ordering;
use std::sync::Arc;

/// `left op right`, both of type `ty`. For IS [NOT] DISTINCT FROM too; constant NULLs
/// occur only there.
pub(crate) fn compare(
    op: BinaryOp,
    left: &Operand,
    right: &Operand,
    ty: SqlType,
    rows: usize,
    memo: &EntryMemo<bool>,
) -> Result<Operand> {
    let distinct = match op {
        BinaryOp::IsDistinctFrom => BinaryOp::NotEqual,
        BinaryOp::IsNotDistinctFrom => BinaryOp::Equal,
        op => {
            let validity = both_valid(left, right);
            return Ok(Operand::new(Data::Boolean(compare_valid(op, left, right, ty, rows, memo)?), validity));
        }
    };
    let unequal = distinct == BinaryOp::NotEqual;
    let null = |operand: &Operand, row: usize| match operand {
        Operand::Constant(value) => value.is_null(),
        Operand::Column(vector) => !vector.is_valid(row),
    };
    let mut results = if left.is_null() || right.is_null() {
        vec![false; rows]
    } else {
        compare_valid(distinct, left, right, ty, rows, memo)?
    };
    for (row, result) in results.iter_mut().enumerate() {
        *result = match (null(left, row), null(right, row)) {
            (false, false) => *result,
            (true, true) => !unequal,
            _ => unequal,
        };
    }
    Ok(Operand::new(Data::Boolean(results), None))
}

/// The comparison wherever neither is NULL; anything elsewhere.
fn compare_valid(
    op: BinaryOp,
    left: &Operand,
    right: &Operand,
    ty: SqlType,
    rows: usize,
    memo: &EntryMemo<bool>,
) -> Result<Vec<bool>> {
    match ty {
        SqlType::Text | SqlType::Blob => compare_texts(op, left, right, rows, memo),
        SqlType::Boolean => {
            let (a, b) = (booleans(left)?, booleans(right)?);
            Ok(map2(rows, &a, &b, |a, b| holds(op, a.cmp(&b))))
        }
        SqlType::Interval => {
            Ok((0..rows).map(|row| holds(op, compare_values(&value(left, row, ty), &value(right, row, ty)))).collect())
        }
        SqlType::Null => Ok(vec![false; rows]),
        _ => match (Numbers::new(left, ty)?, Numbers::new(right, ty)?) {
            (Numbers::Int32(a), Numbers::Int32(b)) => Ok(compare_ordered(op, &a, &b, rows)),
            (Numbers::Int64(a), Numbers::Int64(b)) => Ok(compare_ordered(op, &a, &b, rows)),
            (Numbers::Double(a), Numbers::Double(b)) => Ok(compare_doubles(op, &a, &b, rows)),
            (a, b) => match (a.wide(), b.wide()) {
                (Some(a), Some(b)) => Ok(compare_ordered(op, &a, &b, rows)),
                _ => Err(error::internal(format!("comparison of {ty} of different forms"))),
            },
        },
    }
}

fn value(operand: &Operand, row: usize, ty: SqlType) -> Value {
    match operand {
        Operand::Column(vector) => vector.value(row, ty),
        Operand::Constant(value) => value.clone(),
    }
}

/// The truth values of an operand that is not a constant NULL.
pub(crate) fn booleans(operand: &Operand) -> Result<Side<'_, bool>> {
    match operand {
        Operand::Constant(Value::Boolean(v)) => Ok(Side::One(*v)),
        Operand::Column(vector) => match &vector.data {
            Data::Boolean(v) => Ok(Side::Values(std::borrow::Cow::Borrowed(v))),
            // A bare NULL has no truth value of its own.
            Data::Int32(v) => Ok(Side::Values(std::borrow::Cow::Owned(vec![false; v.len()]))),
            _ => Err(error::internal("a truth value of another form")),
        },
        Operand::Constant(_) => Err(error::internal("a truth value of another type")),
    }
}

fn compare_ordered<T: Copy + Ord>(op: BinaryOp, a: &Side<'_, T>, b: &Side<'_, T>, rows: usize) -> Vec<bool> {
    match op {
        BinaryOp::Equal => map2(rows, a, b, |a, b| a == b),
        BinaryOp::NotEqual => map2(rows, a, b, |a, b| a != b),
        BinaryOp::Less => map2(rows, a, b, |a, b| a < b),
        BinaryOp::LessOrEqual => map2(rows, a, b, |a, b| a <= b),
        BinaryOp::Greater => map2(rows, a, b, |a, b| a > b),
        _ => map2(rows, a, b, |a, b| a >= b),
    }
}

/// NaN is equal to itself and greater than every other number.
fn compare_doubles(op: BinaryOp, a: &Side<'_, f64>, b: &Side<'_, f64>, rows: usize) -> Vec<bool> {
    let equal = |a: f64, b: f64| (a == b) | (a.is_nan() & b.is_nan());
    let less = |a: f64, b: f64| (a < b) | (!a.is_nan() & b.is_nan());
    match op {
        BinaryOp::Equal => map2(rows, a, b, equal),
        BinaryOp::NotEqual => map2(rows, a, b, |a, b| !equal(a, b)),
        BinaryOp::Less => map2(rows, a, b, less),
        BinaryOp::LessOrEqual => map2(rows, a, b, |a, b| !less(b, a)),
        BinaryOp::Greater => map2(rows, a, b, |a, b| less(b, a)),
        _ => map2(rows, a, b, |a, b| !less(a, b)),
    }
}

fn compare_texts(
    op: BinaryOp,
    left: &Operand,
    right: &Operand,
    rows: usize,
    memo: &EntryMemo<bool>,
) -> Result<Vec<bool>> {
    match (left, right) {
        (Operand::Column(a), Operand::Column(b)) => match (&a.data, &b.data) {
            (Data::Text(a), Data::Text(b)) => Ok(compare_columns(op, a, b)),
            _ => Err(error::internal("text of another form")),
        },
        (Operand::Column(a), Operand::Constant(constant)) => compare_constant(op, a, constant, memo),
        (Operand::Constant(constant), Operand::Column(b)) => compare_constant(op.swapped(), b, constant, memo),
        // A CASE all of whose rows take one branch is a constant that planning did not see.
        (Operand::Constant(a), Operand::Constant(b)) => Ok(vec![holds(op, compare_values(a, b)); rows]),
    }
}

fn compare_constant(
    op: BinaryOp,
    vector: &crate::vector::Vector,
    constant: &Value,
    memo: &EntryMemo<bool>,
) -> Result<Vec<bool>> {
    let Data::Text(text) = &vector.data else {
        return Err(error::internal("text of another form"));
    };
    let constant = match constant {
        Value::Text(text) => text.as_bytes(),
        Value::Blob(bytes) => bytes,
        _ => return Err(error::internal("text of another type")),
    };
    memo.map(text, vector.validity.as_deref(), |bytes| Ok(holds(op, bytes.cmp(constant))))
}

fn compare_columns(op: BinaryOp, a: &TextVector, b: &TextVector) -> Vec<bool> {
    let codes_decide = Arc::ptr_eq(&a.dictionary, &b.dictionary) && a.dictionary.distinct();
    if codes_decide && matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
        let equal = op == BinaryOp::Equal;
        return a.codes.iter().zip(&b.codes).map(|(a, b)| (a == b) == equal).collect();
    }
    (0..a.len()).map(|row| holds(op, compare_bytes(a.bytes(row), b.bytes(row)))).collect()
}

fn compare_bytes(a: &[u8], b: &[u8]) -> Ordering {
    a.cmp(b)
}
