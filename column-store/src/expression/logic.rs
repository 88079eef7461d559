//! Three-valued logic over vectors.

// Loops that must not branch connect their conditions bit by bit.
#![allow(clippy::needless_bitwise_bool)]

use super::comparison::booleans;
use super::operand::{Operand, map2};
use crate::Result;
use crate::vector::Data;
use gingham_types::Value;

/// `a AND b` (or `a OR b`) where both are known for every row. With FALSE and TRUE
/// exchanged one is the other.
pub(crate) fn connect(a: &Operand, b: &Operand, and: bool, rows: usize) -> Result<Operand> {
    if a.is_null() && b.is_null() {
        return Ok(Operand::Constant(Value::Null));
    }
    if a.is_null() || b.is_null() {
        // NULL AND b is FALSE where b is, else NULL.
        let known = if a.is_null() { b } else { a };
        let values = booleans(known)?;
        let valid = known.validity();
        let decides = |row: usize| values.get(row) != and && valid.is_none_or(|v| v[row]);
        return Ok(Operand::new(Data::Boolean(vec![!and; rows]), Some((0..rows).map(decides).collect())));
    }
    let (left, right) = (booleans(a)?, booleans(b)?);
    let data = if and { map2(rows, &left, &right, |a, b| a & b) } else { map2(rows, &left, &right, |a, b| a | b) };
    let validity = match (a.validity(), b.validity()) {
        (None, None) => None,
        (left_valid, right_valid) => {
            let valid = |v: Option<&[bool]>, row: usize| v.is_none_or(|v| v[row]);
            // Known if both are, or if one of them decides.
            let known: Vec<bool> = (0..rows)
                .map(|row| {
                    let (l, r) = (valid(left_valid, row), valid(right_valid, row));
                    (l & r) | (l & (left.get(row) != and)) | (r & (right.get(row) != and))
                })
                .collect();
            Some(known)
        }
    };
    // Where one side decides and the other is NULL, the data must say what it decides.
    let data = match &validity {
        None => data,
        Some(_) => (0..rows)
            .map(|row| {
                let l = a.validity().is_none_or(|v| v[row]);
                let r = b.validity().is_none_or(|v| v[row]);
                if l & r { data[row] } else { !and }
            })
            .collect(),
    };
    Ok(Operand::new(Data::Boolean(data), validity))
}

/// NOT.
pub(crate) fn not(operand: &Operand, rows: usize) -> Result<Operand> {
    if operand.is_null() {
        return Ok(Operand::Constant(Value::Null));
    }
    let values = booleans(operand)?;
    let data = (0..rows).map(|row| !values.get(row)).collect();
    Ok(Operand::new(Data::Boolean(data), operand.validity().map(<[bool]>::to_vec)))
}

/// IS NULL, or IS NOT NULL.
pub(crate) fn is_null(operand: &Operand, negated: bool) -> Operand {
    match operand {
        Operand::Constant(value) => Operand::Constant(Value::Boolean(value.is_null() != negated)),
        Operand::Column(vector) => match &vector.validity {
            None => Operand::Constant(Value::Boolean(negated)),
            Some(valid) => Operand::new(Data::Boolean(valid.iter().map(|v| *v == negated).collect()), None),
        },
    }
}
