//! Dictionary of integers: the distinct values, ascending, and bit-packed codes. Codes
//! order like values, so that scans compare codes.

use super::frame::{read_codes, write_codes};
use super::integer::{DICTIONARY, IntegerValues, decode_simple, encode_simple};
use super::interner::{Code, Interner, sample};
use crate::Result;
use crate::storage::bits::{Unpacked, packed_bytes, width_of};
use crate::storage::bytes::{Reader, corrupt, put_varint};
use crate::storage::chunk::{CodeMap, CodedIntegers};
use crate::storage::sketch::hash_integer;

/// Most entries, as a part of the rows and absolutely.
const ROWS_PER_ENTRY_MIN: usize = 8;
const ENTRIES_MAX: usize = 16_384;

/// If more of a sample's rows are distinct, a dictionary is not tried.
const SAMPLE_DISTINCT_PERCENT_MAX: usize = 92;

/// A dictionary ready to be written.
pub(super) struct Found {
    entries: Vec<i64>,
    codes: Vec<u64>,
}

impl Found {
    pub(super) fn into_entries(self) -> Vec<i64> {
        self.entries
    }
}

/// A dictionary of `values` if it takes fewer than `bytes_max` bytes; `width` is the
/// bits of the frame's codes.
pub(super) fn find(values: &[i64], width: u32, bytes_max: usize) -> Option<Found> {
    let (distinct, rows) = sample(values.len(), |row| hash_integer(values[row]));
    let least_width = width_of(distinct as u64 - 1);
    if distinct * 100 > rows * SAMPLE_DISTINCT_PERCENT_MAX
        || least_width >= width
        || packed_bytes(values.len(), least_width) >= bytes_max
    {
        return None;
    }
    let entries_max = (values.len() / ROWS_PER_ENTRY_MIN).min(ENTRIES_MAX);
    let mut interner = Interner::new(entries_max);
    let mut entries: Vec<i64> = Vec::new();
    let mut codes = Vec::with_capacity(values.len());
    for value in values {
        match interner.code(hash_integer(*value), |code| entries[code as usize] == *value)? {
            Code::Known(code) => codes.push(u64::from(code)),
            Code::New(code) => {
                entries.push(*value);
                codes.push(u64::from(code));
            }
        }
    }
    let bytes =
        3 * 8 + packed_bytes(entries.len(), width) + packed_bytes(values.len(), width_of(entries.len() as u64 - 1));
    if bytes >= bytes_max {
        return None;
    }
    let mut order: Vec<u32> = (0..entries.len() as u32).collect();
    order.sort_unstable_by_key(|code| entries[*code as usize]);
    let mut rank = vec![0u64; entries.len()];
    for (position, code) in order.iter().enumerate() {
        rank[*code as usize] = position as u64;
    }
    for code in &mut codes {
        *code = rank[*code as usize];
    }
    entries.sort_unstable();
    Some(Found { entries, codes })
}

/// Appends a dictionary.
pub(super) fn write(found: &Found, out: &mut Vec<u8>) {
    out.push(DICTIONARY);
    put_varint(out, found.entries.len() as u64);
    encode_simple(&found.entries, out);
    write_codes(&found.codes, width_of(found.entries.len() as u64 - 1), out);
}

/// Reads what [`write`] wrote after the encoding's number.
pub(super) fn read(reader: &mut Reader<'_>, count: usize) -> Result<IntegerValues> {
    let entries = reader.count(count)?;
    if entries == 0 {
        return Err(corrupt("a dictionary without entries"));
    }
    let list = decode_simple(reader, entries)?.to_vec(entries);
    if !list.is_sorted_by(|a, b| a < b) {
        return Err(corrupt("the entries of a dictionary do not ascend"));
    }
    let code_max = entries as u32 - 1;
    match read_codes(reader, count, u64::from(code_max))? {
        Unpacked::Codes(codes) => Ok(IntegerValues::Coded(CodedIntegers { codes, map: CodeMap::List(list), code_max })),
        Unpacked::U64(_) => Err(corrupt("codes of over 32 bits")),
    }
}
