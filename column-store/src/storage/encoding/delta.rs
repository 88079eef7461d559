//! Delta: bit-packed differences between neighbours. For keys in the order of insertion;
//! those without gaps take no bits at all.

use super::frame::{read_codes, write_codes};
use super::integer::{DELTA, IntegerValues, Profile};
use crate::Result;
use crate::storage::bits::{Unpacked, width_of};
use crate::storage::bytes::{Reader, corrupt, reserve};
use crate::storage::chunk::{CodeMap, CodedIntegers, Codes};

/// Bytes before the packed deltas, encoding and width included.
pub(super) const HEADER_BYTES: usize = 1 + 5 * 8 + 1;

/// Appends `values`, whose differences do not overflow.
pub(super) fn write(values: &[i64], profile: &Profile, out: &mut Vec<u8>) {
    let (delta_min, delta_max) = profile.deltas.unwrap_or_default();
    let code_max = delta_max.abs_diff(delta_min);
    out.push(DELTA);
    for field in [values[0], delta_min, profile.min, profile.max] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    out.extend_from_slice(&code_max.to_le_bytes());
    let codes: Vec<u64> =
        values.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]).wrapping_sub(delta_min) as u64).collect();
    write_codes(&codes, width_of(code_max), out);
}

/// Reads what [`write`] wrote after the encoding's number. Codes are distances from the
/// least value.
pub(super) fn read(reader: &mut Reader<'_>, count: usize) -> Result<IntegerValues> {
    let (first, delta_min, min, max) = (reader.i64()?, reader.i64()?, reader.i64()?, reader.i64()?);
    let code_max = reader.u64()?;
    if count == 0 || first < min || first > max {
        return Err(corrupt("deltas begin outside their bounds"));
    }
    let span = max.abs_diff(min);
    let start = first.wrapping_sub(min) as u64;
    let packed = read_codes(reader, count - 1, code_max)?;
    let coded = |codes| {
        IntegerValues::Coded(CodedIntegers {
            codes,
            map: CodeMap::Affine { base: min, factor: 1 },
            code_max: span as u32,
        })
    };
    Ok(match width_of(span) {
        0..=8 => coded(Codes::U8(sum(&packed, start, delta_min, span, count, |v| v as u8)?)),
        9..=16 => coded(Codes::U16(sum(&packed, start, delta_min, span, count, |v| v as u16)?)),
        17..=32 => coded(Codes::U32(sum(&packed, start, delta_min, span, count, |v| v as u32)?)),
        _ => IntegerValues::Wide(sum(&packed, start, delta_min, span, count, |v| min.wrapping_add(v as i64))?),
    })
}

/// Running sums from `start`, none of which may exceed `span`.
fn sum<T>(
    deltas: &Unpacked,
    start: u64,
    delta_min: i64,
    span: u64,
    count: usize,
    narrow: impl Fn(u64) -> T,
) -> Result<Vec<T>> {
    fn run<T>(
        deltas: impl Iterator<Item = u64>,
        (start, delta_min, span): (u64, i64, u64),
        out: &mut Vec<T>,
        narrow: impl Fn(u64) -> T,
    ) -> u64 {
        let (mut value, mut greatest) = (start, start);
        out.push(narrow(value));
        out.extend(deltas.map(|delta| {
            value = value.wrapping_add(delta).wrapping_add(delta_min as u64);
            greatest = greatest.max(value);
            // Damaged deltas may leave the range: the caller refuses them, but what is
            // narrowed meanwhile must not matter.
            narrow(value.min(span))
        }));
        greatest
    }
    let mut out = reserve(count)?;
    let from = (start, delta_min, span);
    let greatest = match deltas {
        Unpacked::Codes(Codes::U8(deltas)) => run(deltas.iter().map(|v| u64::from(*v)), from, &mut out, narrow),
        Unpacked::Codes(Codes::U16(deltas)) => run(deltas.iter().map(|v| u64::from(*v)), from, &mut out, narrow),
        Unpacked::Codes(Codes::U32(deltas)) => run(deltas.iter().map(|v| u64::from(*v)), from, &mut out, narrow),
        Unpacked::U64(deltas) => run(deltas.iter().copied(), from, &mut out, narrow),
    };
    if greatest > span { Err(corrupt("deltas leave their bounds")) } else { Ok(out) }
}
