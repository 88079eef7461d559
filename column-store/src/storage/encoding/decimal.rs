//! Decimals beyond 64 bits: distances from the least one where those fit, else plain.

use super::integer;
use crate::Result;
use crate::storage::bytes::{Reader, corrupt, reserve};
use crate::storage::meta::Encoding;

const DISTANCES: u8 = 0;
const PLAIN: u8 = 1;

/// Appends `values`; how they were encoded, and how many are distinct if that was counted.
pub(super) fn encode(values: &[i128], out: &mut Vec<u8>) -> (Encoding, Option<usize>) {
    let first = values.first().copied().unwrap_or_default();
    let (min, max) = values.iter().fold((first, first), |(min, max), v| (min.min(*v), max.max(*v)));
    if max.checked_sub(min).is_some_and(|span| i64::try_from(span).is_ok()) {
        out.push(DISTANCES);
        out.extend_from_slice(&min.to_le_bytes());
        let distances: Vec<i64> = values.iter().map(|v| (v - min) as i64).collect();
        let encoded = integer::encode(&distances, out);
        (encoded.encoding, encoded.distinct.map(|values| values.len()))
    } else {
        out.push(PLAIN);
        for value in values {
            out.extend_from_slice(&value.to_le_bytes());
        }
        (Encoding::Plain, None)
    }
}

/// Reads `count` decimals.
pub(super) fn decode(reader: &mut Reader<'_>, count: usize) -> Result<Vec<i128>> {
    match reader.u8()? {
        DISTANCES => {
            let base = reader.i128()?;
            let distances = integer::decode(reader, count)?.to_vec(count);
            Ok(distances.into_iter().map(|v| base.wrapping_add(i128::from(v))).collect())
        }
        PLAIN => {
            let (words, _) = reader.bytes(count.saturating_mul(16))?.as_chunks::<16>();
            let mut out = reserve(count)?;
            out.extend(words.iter().map(|word| i128::from_le_bytes(*word)));
            Ok(out)
        }
        form => Err(corrupt(format!("wide decimals of form {form}"))),
    }
}
