//! What kernels work on: a vector or one value for all rows.

// Loops that must not branch connect their conditions bit by bit.
#![allow(clippy::needless_bitwise_bool)]

use super::error;
use crate::Result;
use crate::vector::{Data, Vector};
use gingham_types::{SqlType, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// The value of an expression over some rows.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    /// A value a row.
    Column(Arc<Vector>),
    /// The same for every row.
    Constant(Value),
}

impl Operand {
    /// A vector's operand.
    pub(crate) fn new(data: Data, validity: Option<Vec<bool>>) -> Self {
        Self::Column(Arc::new(Vector { data, validity }))
    }

    /// Whether it is NULL for every row, as a constant.
    pub(crate) const fn is_null(&self) -> bool {
        matches!(self, Self::Constant(Value::Null))
    }

    /// The vector of `rows` rows.
    pub(crate) fn into_vector(self, ty: SqlType, rows: usize) -> Arc<Vector> {
        match self {
            Self::Column(vector) => vector,
            Self::Constant(value) => Arc::new(Vector::constant(&value, ty, rows)),
        }
    }

    /// Which rows are not NULL; `None` is all. A constant NULL has been dealt with.
    pub(crate) fn validity(&self) -> Option<&[bool]> {
        match self {
            Self::Column(vector) => vector.validity.as_deref(),
            Self::Constant(_) => None,
        }
    }
}

/// The rows at which neither is NULL.
pub(crate) fn both_valid(a: &Operand, b: &Operand) -> Option<Vec<bool>> {
    match (a.validity(), b.validity()) {
        (None, None) => None,
        (Some(v), None) | (None, Some(v)) => Some(v.to_vec()),
        (Some(a), Some(b)) => Some(a.iter().zip(b).map(|(a, b)| *a & *b).collect()),
    }
}

/// One side of a kernel.
#[derive(Debug)]
pub(crate) enum Side<'a, T: Clone> {
    Values(Cow<'a, [T]>),
    One(T),
}

impl<T: Copy> Side<'_, T> {
    #[inline]
    pub(crate) fn get(&self, row: usize) -> T {
        match self {
            Self::Values(values) => values[row],
            Self::One(value) => *value,
        }
    }

    pub(crate) fn map<R: Copy>(&self, f: impl Fn(T) -> R) -> Side<'static, R> {
        match self {
            Self::Values(values) => Side::Values(Cow::Owned(values.iter().map(|v| f(*v)).collect())),
            Self::One(value) => Side::One(f(*value)),
        }
    }
}

/// `f` over every row of two sides.
#[inline]
pub(crate) fn map2<A: Copy, B: Copy, R>(
    rows: usize,
    a: &Side<'_, A>,
    b: &Side<'_, B>,
    f: impl Fn(A, B) -> R,
) -> Vec<R> {
    match (a, b) {
        (Side::Values(a), Side::Values(b)) => a.iter().zip(b.iter()).map(|(a, b)| f(*a, *b)).collect(),
        (Side::Values(a), Side::One(b)) => a.iter().map(|a| f(*a, *b)).collect(),
        (Side::One(a), Side::Values(b)) => b.iter().map(|b| f(*a, *b)).collect(),
        (Side::One(a), Side::One(b)) => (0..rows).map(|_| f(*a, *b)).collect(),
    }
}

/// Numbers, and what is kept as numbers, by width.
#[derive(Debug)]
pub(crate) enum Numbers<'a> {
    Int32(Side<'a, i32>),
    Int64(Side<'a, i64>),
    Int128(Side<'a, i128>),
    Double(Side<'a, f64>),
}

impl<'a> Numbers<'a> {
    /// The numbers of an operand of type `ty` that is not a constant NULL.
    pub(crate) fn new(operand: &'a Operand, ty: SqlType) -> Result<Self> {
        let wrong = || error::internal(format!("numbers of type {ty}"));
        Ok(match operand {
            Operand::Column(vector) => match &vector.data {
                Data::Int32(v) => Self::Int32(Side::Values(Cow::Borrowed(v))),
                Data::Int64(v) => Self::Int64(Side::Values(Cow::Borrowed(v))),
                Data::Int128(v) => Self::Int128(Side::Values(Cow::Borrowed(v))),
                Data::Double(v) => Self::Double(Side::Values(Cow::Borrowed(v))),
                Data::Boolean(_) | Data::Text(_) | Data::Interval(_) => return Err(wrong()),
            },
            Operand::Constant(value) => match (value, ty) {
                (Value::Int(v), SqlType::Integer) => {
                    Self::Int32(Side::One(i32::try_from(*v).map_err(|_| error::out_of_range(ty))?))
                }
                (Value::Int(v) | Value::Timestamp(v), _) => Self::Int64(Side::One(*v)),
                (Value::Date(v), _) => Self::Int32(Side::One(*v)),
                (Value::Double(v), _) => Self::Double(Side::One(*v)),
                (Value::Decimal { unscaled, .. }, _) => match i64::try_from(*unscaled) {
                    Ok(narrow) => Self::Int64(Side::One(narrow)),
                    Err(_) => Self::Int128(Side::One(*unscaled)),
                },
                _ => return Err(wrong()),
            },
        })
    }

    /// Integers in 128 bits.
    pub(crate) fn wide(self) -> Option<Side<'a, i128>> {
        match self {
            Self::Int32(v) => Some(v.map(i128::from)),
            Self::Int64(v) => Some(v.map(i128::from)),
            Self::Int128(v) => Some(v),
            Self::Double(_) => None,
        }
    }
}
