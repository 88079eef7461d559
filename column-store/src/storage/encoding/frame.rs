//! Frame of reference: the least value, a common factor, and bit-packed codes.
//!
//! The factor makes quantities kept in hundredths, timestamps of whole seconds and the
//! like as narrow as what they count.

use super::integer::{FRAME, IntegerValues, Profile};
use crate::Result;
use crate::storage::bits::{Unpacked, pack, packed_bytes, unpack, width_of};
use crate::storage::bytes::{Reader, corrupt};
use crate::storage::chunk::{CodeMap, CodedIntegers};

/// Bytes before the packed codes, encoding and width included.
pub(super) const HEADER_BYTES: usize = 1 + 8 + 8 + 8 + 1;

/// Appends `values`.
pub(super) fn write(values: &[i64], profile: &Profile, out: &mut Vec<u8>) {
    let (base, factor, code_max) = (profile.min, profile.factor, profile.code_max());
    out.push(FRAME);
    out.extend_from_slice(&base.to_le_bytes());
    out.extend_from_slice(&factor.to_le_bytes());
    out.extend_from_slice(&code_max.to_le_bytes());
    let codes: Vec<u64> = if factor == 1 {
        values.iter().map(|v| v.wrapping_sub(base) as u64).collect()
    } else {
        values.iter().map(|v| v.wrapping_sub(base) as u64 / factor).collect()
    };
    write_codes(&codes, width_of(code_max), out);
}

/// Appends a width and packed codes.
pub(super) fn write_codes(codes: &[u64], width: u32, out: &mut Vec<u8>) {
    out.push(width as u8);
    pack(codes, width, out);
}

/// Reads what [`write_codes`] wrote.
pub(super) fn read_codes(reader: &mut Reader<'_>, count: usize, code_max: u64) -> Result<Unpacked> {
    let width = u32::from(reader.u8()?);
    if width != width_of(code_max) {
        return Err(corrupt(format!("codes up to {code_max} in {width} bits")));
    }
    let (codes, max) = unpack(reader.bytes(packed_bytes(count, width))?, width, count)?;
    if max > code_max {
        return Err(corrupt(format!("code {max} where {code_max} is the greatest")));
    }
    Ok(codes)
}

/// Reads what [`write`] wrote after the encoding's number.
pub(super) fn read(reader: &mut Reader<'_>, count: usize) -> Result<IntegerValues> {
    let (base, factor, code_max) = (reader.i64()?, reader.i64()?, reader.u64()?);
    let top = i128::from(code_max).checked_mul(i128::from(factor)).map(|span| i128::from(base) + span);
    if factor < 1 || top.is_none_or(|top| top > i128::from(i64::MAX)) {
        return Err(corrupt(format!("a frame from {base} by {factor} to code {code_max}")));
    }
    Ok(match read_codes(reader, count, code_max)? {
        Unpacked::Codes(codes) => IntegerValues::Coded(CodedIntegers {
            codes,
            map: CodeMap::Affine { base, factor },
            code_max: code_max as u32,
        }),
        Unpacked::U64(codes) => IntegerValues::Wide(
            codes.iter().map(|code| base.wrapping_add((*code as i64).wrapping_mul(factor))).collect(),
        ),
    })
}
