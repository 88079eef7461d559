//! The values of one column of a group while it is collected.
//!
//! What stands at a NULL is the value before it (or, in front, the first one after):
//! so a filler is never a bound, ends no run and costs no bits.

use super::bytes::corrupt;
use crate::vector::{Data, TextVector, Vector};
use crate::{Error, Result};
use gingham_plan::SqlError;
use gingham_types::{SqlType, Value};
use std::ops::Range;

/// Values of one column in their plain form.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) ty: SqlType,
    pub(crate) values: ColumnValues,
    /// `true` where a value is not NULL; `None` while there is no NULL.
    pub(crate) validity: Option<Vec<bool>>,
    pub(crate) nulls: usize,
    pub(crate) rows: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum ColumnValues {
    /// BOOLEAN, INTEGER, BIGINT, DATE, TIMESTAMP, and DECIMAL while it fits.
    Integers(Vec<i64>),
    Decimals(Vec<i128>),
    Doubles(Vec<f64>),
    Text(Strings),
}

/// Strings one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Strings {
    /// `rows + 1` offsets into `bytes`.
    pub(crate) offsets: Vec<u32>,
    pub(crate) bytes: Vec<u8>,
}

impl Strings {
    pub(crate) fn new() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }

    fn sibling(&self) -> Self {
        let mut offsets = Vec::with_capacity(self.offsets.len());
        offsets.push(0);
        Self { offsets, bytes: Vec::with_capacity(self.bytes.len()) }
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    #[inline]
    pub(crate) fn get(&self, row: usize) -> &[u8] {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    #[inline]
    pub(crate) fn push(&mut self, value: &[u8]) -> Result<()> {
        let end = u32::try_from(self.bytes.len() + value.len()).map_err(|_| too_much_text())?;
        self.bytes.extend_from_slice(value);
        self.offsets.push(end);
        Ok(())
    }
}

impl Strings {
    /// Appends rows whose strings follow each other in their dictionary, as those of a
    /// load do; whether they do.
    fn extend_from_neighbours(&mut self, vector: &TextVector, rows: Range<usize>) -> Result<bool> {
        let codes = &vector.codes[rows];
        let (Some(first), Some(last)) = (codes.first(), codes.last()) else { return Ok(true) };
        if !codes.windows(2).all(|pair| pair[0].wrapping_add(1) == pair[1]) {
            return Ok(false);
        }
        let offsets = &vector.dictionary.offsets()[*first as usize..*last as usize + 2];
        let (start, end) = (offsets[0], offsets[offsets.len() - 1]);
        let base = self.bytes.len();
        if u32::try_from(base + (end - start) as usize).is_err() {
            return Err(too_much_text());
        }
        self.bytes.extend_from_slice(&vector.dictionary.bytes()[start as usize..end as usize]);
        self.offsets.extend(offsets[1..].iter().map(|offset| offset - start + base as u32));
        Ok(true)
    }
}

fn too_much_text() -> Error {
    SqlError::new("54000", "a row group would have over 4 GiB of text in one column").into()
}

/// The error for data that is not of the column's type.
pub(crate) fn mismatch(ty: SqlType, found: impl std::fmt::Display) -> Error {
    SqlError::internal(format!("a column of type {ty} was given {found}")).into()
}

impl Column {
    pub(crate) fn new(ty: SqlType) -> Self {
        let values = match ty {
            SqlType::Double => ColumnValues::Doubles(Vec::new()),
            SqlType::Text | SqlType::Blob => ColumnValues::Text(Strings::new()),
            _ => ColumnValues::Integers(Vec::new()),
        };
        Self { ty, values, validity: None, nulls: 0, rows: 0 }
    }

    /// A column of the same type with room for as much.
    pub(crate) fn sibling(&self) -> Self {
        let values = match &self.values {
            ColumnValues::Doubles(values) => ColumnValues::Doubles(Vec::with_capacity(values.len())),
            ColumnValues::Text(strings) => ColumnValues::Text(strings.sibling()),
            // Whether decimals fit 64 bits is found out anew.
            ColumnValues::Integers(_) | ColumnValues::Decimals(_) => {
                ColumnValues::Integers(Vec::with_capacity(self.rows))
            }
        };
        Self { ty: self.ty, values, validity: None, nulls: 0, rows: 0 }
    }

    /// Bytes of text held.
    pub(crate) fn text_bytes(&self) -> usize {
        if let ColumnValues::Text(strings) = &self.values { strings.bytes.len() } else { 0 }
    }

    pub(crate) fn is_valid(&self, row: usize) -> bool {
        self.validity.as_ref().is_none_or(|validity| validity[row])
    }

    /// The row of the first value that is not NULL.
    pub(crate) fn first_valid(&self) -> Option<usize> {
        (0..self.rows).find(|row| self.is_valid(*row))
    }

    /// Notes that `count` more rows have values of which `is_null` says which are NULL.
    pub(crate) fn extend_validity(&mut self, count: usize, is_null: Option<&dyn Fn(usize) -> bool>) {
        let rows = self.rows;
        self.rows += count;
        if let Some(is_null) = is_null {
            let validity = self.validity.get_or_insert_with(|| vec![true; rows]);
            for row in 0..count {
                let valid = !is_null(row);
                self.nulls += usize::from(!valid);
                validity.push(valid);
            }
        } else if let Some(validity) = &mut self.validity {
            validity.resize(rows + count, true);
        }
    }

    /// Appends rows `from..to` of a vector.
    pub(crate) fn append_vector(&mut self, vector: &Vector, from: usize, to: usize) -> Result<()> {
        let validity = vector.validity.as_deref().filter(|v| v[from..to].contains(&false));
        if validity.is_none() && self.append_whole(&vector.data, from..to)? {
            self.extend_validity(to - from, None);
            return Ok(());
        }
        let valid = |row: usize| validity.is_none_or(|v| v[row]);
        match (&vector.data, self.ty) {
            (Data::Boolean(v), SqlType::Boolean) => self.extend_integers(from..to, valid, |row| i64::from(v[row]))?,
            (Data::Int32(v), SqlType::Integer | SqlType::Date | SqlType::BigInt) => {
                self.extend_integers(from..to, valid, |row| i64::from(v[row]))?;
            }
            (Data::Int64(v), SqlType::Integer) => {
                if let Some(row) = (from..to).find(|row| valid(*row) && i32::try_from(v[*row]).is_err()) {
                    return Err(mismatch(self.ty, v[row]));
                }
                self.extend_integers(from..to, valid, |row| v[row])?;
            }
            (Data::Int64(v), SqlType::BigInt | SqlType::Timestamp | SqlType::Decimal { .. }) => {
                self.extend_integers(from..to, valid, |row| v[row])?;
            }
            (Data::Int128(v), SqlType::Decimal { .. }) => self.extend_decimals(from..to, valid, |row| v[row])?,
            (Data::Double(v), SqlType::Double) => self.extend_doubles(from..to, valid, |row| v[row])?,
            (Data::Text(v), SqlType::Text | SqlType::Blob) => self.extend_text(from..to, valid, |row| v.bytes(row))?,
            (data, ty) => return Err(mismatch(ty, format!("{:?}", std::mem::discriminant(data)))),
        }
        let is_null = |row: usize| !valid(from + row);
        self.extend_validity(to - from, validity.is_some().then_some(&is_null));
        Ok(())
    }

    /// Appends values of the commonest forms without NULLs, all at once; whether they
    /// were of such a form.
    fn append_whole(&mut self, data: &Data, rows: Range<usize>) -> Result<bool> {
        match (data, &mut self.values, self.ty) {
            (Data::Int32(v), ColumnValues::Integers(to), SqlType::Integer | SqlType::Date | SqlType::BigInt) => {
                to.extend(v[rows].iter().map(|v| i64::from(*v)));
            }
            (
                Data::Int64(v),
                ColumnValues::Integers(to),
                SqlType::BigInt | SqlType::Timestamp | SqlType::Decimal { .. },
            ) => to.extend_from_slice(&v[rows]),
            (Data::Text(v), ColumnValues::Text(to), SqlType::Text | SqlType::Blob) => {
                return to.extend_from_neighbours(v, rows);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Appends one value.
    pub(crate) fn append_value(&mut self, value: &Value) -> Result<()> {
        let valid = |_: usize| !value.is_null();
        match (value, self.ty) {
            (Value::Null, SqlType::Double) => self.extend_doubles(0..1, valid, |_| 0.0)?,
            (Value::Null, SqlType::Text | SqlType::Blob) => self.extend_text(0..1, valid, |_| &[])?,
            (Value::Null, _) => self.extend_decimals(0..1, valid, |_| 0)?,
            (Value::Boolean(v), SqlType::Boolean) => self.extend_integers(0..1, valid, |_| i64::from(*v))?,
            (Value::Int(v), SqlType::Integer) if i32::try_from(*v).is_err() => return Err(mismatch(self.ty, v)),
            (Value::Int(v), SqlType::Integer | SqlType::BigInt) | (Value::Timestamp(v), SqlType::Timestamp) => {
                self.extend_integers(0..1, valid, |_| *v)?;
            }
            (Value::Date(v), SqlType::Date) => self.extend_integers(0..1, valid, |_| i64::from(*v))?,
            (Value::Decimal { unscaled, scale }, SqlType::Decimal { scale: expected, .. }) if *scale == expected => {
                self.extend_decimals(0..1, valid, |_| *unscaled)?;
            }
            (Value::Double(v), SqlType::Double) => self.extend_doubles(0..1, valid, |_| *v)?,
            (Value::Text(v), SqlType::Text) => self.extend_text(0..1, valid, |_| v.as_bytes())?,
            (Value::Blob(v), SqlType::Blob) => self.extend_text(0..1, valid, |_| v)?,
            (value, ty) => return Err(mismatch(ty, value.sql_type())),
        }
        let is_null = |_: usize| true;
        self.extend_validity(1, value.is_null().then_some(&is_null));
        Ok(())
    }

    /// Appends integers; the column may have been widened before.
    pub(crate) fn extend_integers(
        &mut self,
        rows: Range<usize>,
        valid: impl Fn(usize) -> bool,
        get: impl Fn(usize) -> i64,
    ) -> Result<()> {
        match &mut self.values {
            ColumnValues::Integers(values) => extend(values, rows, valid, get),
            ColumnValues::Decimals(values) => extend(values, rows, valid, |row| i128::from(get(row))),
            _ => return Err(mismatch(self.ty, "integers")),
        }
        Ok(())
    }

    /// Appends decimals, widening the column if one does not fit.
    pub(crate) fn extend_decimals(
        &mut self,
        rows: Range<usize>,
        valid: impl Fn(usize) -> bool,
        get: impl Fn(usize) -> i128,
    ) -> Result<()> {
        if let ColumnValues::Integers(values) = &mut self.values {
            if rows.clone().all(|row| !valid(row) || i64::try_from(get(row)).is_ok()) {
                extend(values, rows, valid, |row| get(row) as i64);
                return Ok(());
            }
            self.values = ColumnValues::Decimals(values.iter().map(|v| i128::from(*v)).collect());
        }
        let ColumnValues::Decimals(values) = &mut self.values else { return Err(mismatch(self.ty, "decimals")) };
        extend(values, rows, valid, get);
        Ok(())
    }

    /// Appends doubles.
    pub(crate) fn extend_doubles(
        &mut self,
        rows: Range<usize>,
        valid: impl Fn(usize) -> bool,
        get: impl Fn(usize) -> f64,
    ) -> Result<()> {
        let ColumnValues::Doubles(values) = &mut self.values else { return Err(mismatch(self.ty, "doubles")) };
        extend(values, rows, valid, get);
        Ok(())
    }

    /// Appends strings; NULLs become empty ones.
    pub(crate) fn extend_text<'a>(
        &mut self,
        rows: Range<usize>,
        valid: impl Fn(usize) -> bool,
        get: impl Fn(usize) -> &'a [u8],
    ) -> Result<()> {
        let ColumnValues::Text(strings) = &mut self.values else { return Err(mismatch(self.ty, "text")) };
        for row in rows {
            strings.push(if valid(row) { get(row) } else { &[] })?;
        }
        Ok(())
    }

    /// Gives NULLs in front of the first value that value. Call once, before encoding.
    pub(crate) fn fill_front(&mut self) -> Result<()> {
        let Some(first) = self.first_valid().filter(|first| *first > 0) else { return Ok(()) };
        match &mut self.values {
            ColumnValues::Integers(values) => fill(values, first),
            ColumnValues::Decimals(values) => fill(values, first),
            ColumnValues::Doubles(values) => fill(values, first),
            ColumnValues::Text(_) => return Ok(()),
        }
        .ok_or_else(|| corrupt("a column is shorter than its validity"))
    }
}

fn extend<T: Copy + Default>(
    values: &mut Vec<T>,
    rows: Range<usize>,
    valid: impl Fn(usize) -> bool,
    get: impl Fn(usize) -> T,
) {
    let mut last = values.last().copied().unwrap_or_default();
    values.extend(rows.map(|row| {
        if valid(row) {
            last = get(row);
        }
        last
    }));
}

fn fill<T: Copy>(values: &mut [T], first: usize) -> Option<()> {
    let value = *values.get(first)?;
    values[..first].fill(value);
    Some(())
}
