//! Writing and reading the small fields of metadata and chunk headers.
//!
//! The reader checks every bound: damaged bytes give [`Error::Corrupt`].

use crate::{Error, Result};
use gingham_types::Value;

/// The error for damaged bytes.
pub(crate) fn corrupt(what: impl Into<String>) -> Error {
    Error::Corrupt(what.into())
}

/// Appends `value` as LEB128.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends `value` as LEB128 of its zigzag form.
pub(crate) fn put_zigzag(out: &mut Vec<u8>, value: i64) {
    put_varint(out, (value << 1 ^ value >> 63) as u64);
}

/// Appends a length and bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a bound in its tagged form. NULL and intervals are not bounds: none.
pub(crate) fn put_value(out: &mut Vec<u8>, value: Option<&Value>) {
    match value {
        None | Some(Value::Null | Value::Interval(_)) => out.push(0),
        Some(Value::Boolean(false)) => out.push(1),
        Some(Value::Boolean(true)) => out.push(2),
        Some(Value::Int(v)) => {
            out.push(3);
            put_zigzag(out, *v);
        }
        Some(Value::Double(v)) => {
            out.push(4);
            out.extend_from_slice(&v.to_le_bytes());
        }
        Some(Value::Decimal { unscaled, scale }) => {
            out.extend_from_slice(&[5, *scale]);
            out.extend_from_slice(&unscaled.to_le_bytes());
        }
        Some(Value::Text(v)) => {
            out.push(6);
            put_bytes(out, v.as_bytes());
        }
        Some(Value::Blob(v)) => {
            out.push(7);
            put_bytes(out, v);
        }
        Some(Value::Date(v)) => {
            out.push(8);
            put_zigzag(out, i64::from(*v));
        }
        Some(Value::Timestamp(v)) => {
            out.push(9);
            put_zigzag(out, *v);
        }
    }
}

/// Reads fields from the front of a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Bytes not read yet.
    pub(crate) const fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (front, rest) = self.rest.split_at_checked(count).ok_or_else(|| corrupt("bytes end early"))?;
        self.rest = rest;
        Ok(front)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (front, rest) = self.rest.split_first_chunk::<N>().ok_or_else(|| corrupt("bytes end early"))?;
        self.rest = rest;
        Ok(*front)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    pub(crate) fn i128(&mut self) -> Result<i128> {
        Ok(i128::from_le_bytes(self.array()?))
    }

    pub(crate) fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(corrupt("a number has too many bytes"))
    }

    /// A varint that counts something of which there are at most `most`.
    pub(crate) fn count(&mut self, most: usize) -> Result<usize> {
        let count = self.varint()?;
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= most)
            .ok_or_else(|| corrupt(format!("a count of {count} where at most {most} are possible")))
    }

    pub(crate) fn zigzag(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A length and as many bytes.
    pub(crate) fn prefixed(&mut self) -> Result<&'a [u8]> {
        let count = self.count(self.remaining())?;
        self.bytes(count)
    }

    /// A bound written by [`put_value`].
    pub(crate) fn value(&mut self) -> Result<Option<Value>> {
        Ok(Some(match self.u8()? {
            0 => return Ok(None),
            1 => Value::Boolean(false),
            2 => Value::Boolean(true),
            3 => Value::Int(self.zigzag()?),
            4 => Value::Double(f64::from_le_bytes(self.array()?)),
            5 => Value::Decimal { scale: self.u8()?, unscaled: self.i128()? },
            6 => {
                let text = std::str::from_utf8(self.prefixed()?).map_err(|_| corrupt("a text bound is not UTF-8"))?;
                Value::Text(text.to_owned())
            }
            7 => Value::Blob(self.prefixed()?.to_vec()),
            8 => Value::Date(i32::try_from(self.zigzag()?).map_err(|_| corrupt("a date bound is out of range"))?),
            9 => Value::Timestamp(self.zigzag()?),
            tag => return Err(corrupt(format!("a bound has tag {tag}"))),
        }))
    }
}

/// A vector with room for `count` values, or an error instead of an abort.
pub(crate) fn reserve<T>(count: usize) -> Result<Vec<T>> {
    let mut out = Vec::new();
    out.try_reserve_exact(count).map_err(|_| Error::OutOfMemory {
        bytes_wanted: (count as u64).saturating_mul(size_of::<T>() as u64),
        bytes_max: isize::MAX as u64,
    })?;
    Ok(out)
}
