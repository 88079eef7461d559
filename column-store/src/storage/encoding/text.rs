//! Strings: a sorted dictionary and codes where they repeat, one after the other where
//! they do not, compressed with LZ4 where that saves a fifth.

use super::frame::{read_codes, write_codes};
use super::integer::{IntegerValues, decode_simple, encode_simple};
use super::interner::{Code, Interner, sample};
use crate::Result;
use crate::storage::bits::{Unpacked, packed_bytes, width_of};
use crate::storage::bytes::{Reader, corrupt, put_varint, reserve};
use crate::storage::chunk::TextCodes;
use crate::storage::column::Strings;
use crate::storage::meta::Encoding;
use crate::storage::sketch::hash_integer;
use crate::vector::Dictionary;
use xxhash_rust::xxh3::xxh3_64;

/// A dictionary has at most one entry for this many rows; one more expensive to sort
/// and look up than the strings themselves helps no operator.
const ROWS_PER_ENTRY_MIN: usize = 2;

/// If more of a sample's rows are distinct, a dictionary is not tried.
const SAMPLE_DISTINCT_PERCENT_MAX: usize = 97;

/// LZ4 has to bring the bytes down to this.
const COMPRESSED_PERCENT_MAX: usize = 80;

/// Fewer bytes are not worth a decompression.
const COMPRESSED_BYTES_MIN: usize = 512;

const RAW: u8 = 0;
const LZ4: u8 = 1;

/// The most bytes that one byte of an LZ4 block can stand for.
const LZ4_RATIO_MAX: usize = 255;

/// The distinct strings of a column and a code for each row.
pub(super) struct Found {
    /// Rows with the entries, in the order of their strings.
    entries: Vec<u32>,
    codes: Vec<u64>,
}

impl Found {
    /// A row for each distinct string, in their order.
    pub(super) fn entries(&self) -> &[u32] {
        &self.entries
    }
}

/// The dictionary of the strings, if it is smaller than they are. Rows that are not valid
/// take the code of the row before.
pub(super) fn find(strings: &Strings, valid: impl Fn(usize) -> bool) -> Option<Found> {
    let rows = strings.len();
    let (distinct, sampled) = sample(rows, |row| hash(strings.get(row)));
    if sampled > 1 && distinct > 1 && distinct * 100 > sampled * SAMPLE_DISTINCT_PERCENT_MAX {
        return None;
    }
    let mut interner = Interner::new((rows / ROWS_PER_ENTRY_MIN).max(1));
    let mut entries: Vec<u32> = Vec::new();
    let mut codes = Vec::with_capacity(rows);
    let (mut last, mut entry_bytes) = (0, 0);
    for row in 0..rows {
        if valid(row) {
            let value = strings.get(row);
            last = match interner.code(hash(value), |code| strings.get(entries[code as usize] as usize) == value)? {
                Code::Known(code) => code,
                Code::New(code) => {
                    entries.push(row as u32);
                    entry_bytes += value.len();
                    code
                }
            };
        }
        codes.push(u64::from(last));
    }
    let dictionary_bytes = entry_bytes + entries.len() + packed_bytes(rows, width_of(entries.len() as u64));
    if entries.len() > 1 && dictionary_bytes >= strings.bytes.len() + rows / 2 {
        return None;
    }
    let mut order: Vec<(u64, u32)> =
        (0..entries.len() as u32).map(|code| (prefix(strings.get(entries[code as usize] as usize)), code)).collect();
    order.sort_unstable_by(|(a_prefix, a), (b_prefix, b)| {
        let string = |code: &u32| strings.get(entries[*code as usize] as usize);
        a_prefix.cmp(b_prefix).then_with(|| string(a).cmp(string(b)))
    });
    let mut rank = vec![0u64; entries.len()];
    for (position, (_, code)) in order.iter().enumerate() {
        rank[*code as usize] = position as u64;
    }
    for code in &mut codes {
        *code = rank[*code as usize];
    }
    Some(Found { entries: order.iter().map(|(_, code)| entries[*code as usize]).collect(), codes })
}

/// The first eight bytes as a number that orders like them.
fn prefix(value: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let count = value.len().min(8);
    bytes[..count].copy_from_slice(&value[..count]);
    u64::from_be_bytes(bytes)
}

/// Appends a dictionary and the codes of its rows.
pub(super) fn write_dictionary(strings: &Strings, found: &Found, out: &mut Vec<u8>) -> Encoding {
    put_varint(out, found.entries.len() as u64);
    let mut entries = Strings::new();
    for row in &found.entries {
        let value = strings.get(*row as usize);
        entries.bytes.extend_from_slice(value);
        entries.offsets.push(entries.bytes.len() as u32);
    }
    write_block(&entries, out);
    write_codes(&found.codes, width_of(found.entries.len() as u64 - 1), out);
    if found.entries.len() == 1 { Encoding::Constant } else { Encoding::Dictionary }
}

/// Appends all strings.
pub(super) fn write_block(strings: &Strings, out: &mut Vec<u8>) -> Encoding {
    let lengths: Vec<i64> = strings.offsets.windows(2).map(|pair| i64::from(pair[1] - pair[0])).collect();
    encode_simple(&lengths, out);
    put_varint(out, strings.bytes.len() as u64);
    if strings.bytes.len() >= COMPRESSED_BYTES_MIN {
        let compressed = lz4_flex::block::compress(&strings.bytes);
        if compressed.len() * 100 <= strings.bytes.len() * COMPRESSED_PERCENT_MAX {
            out.push(LZ4);
            put_varint(out, compressed.len() as u64);
            out.extend_from_slice(&compressed);
            return Encoding::Compressed;
        }
    }
    out.push(RAW);
    out.extend_from_slice(&strings.bytes);
    Encoding::Plain
}

/// Reads `count` strings.
pub(super) fn read_block(reader: &mut Reader<'_>, count: usize, distinct: bool) -> Result<Dictionary> {
    let lengths = decode_simple(reader, count)?;
    let total = reader.count(u32::MAX as usize)?;
    let offsets = read_offsets(&lengths, count, total)?;
    let bytes = match reader.u8()? {
        RAW => reader.bytes(total)?.to_vec(),
        LZ4 => {
            let compressed = reader.prefixed()?;
            if total / LZ4_RATIO_MAX > compressed.len() {
                return Err(corrupt("compressed strings are longer than they can be"));
            }
            let mut bytes = reserve(total)?;
            bytes.resize(total, 0);
            match lz4_flex::block::decompress_into(compressed, &mut bytes) {
                Ok(length) if length == total => bytes,
                _ => return Err(corrupt("strings do not decompress")),
            }
        }
        form => return Err(corrupt(format!("strings of form {form}"))),
    };
    Ok(Dictionary::new(offsets, bytes, distinct))
}

fn read_offsets(lengths: &IntegerValues, count: usize, total: usize) -> Result<Vec<u32>> {
    let mut offsets = reserve(count + 1)?;
    let mut end = 0u64;
    offsets.push(0);
    for length in lengths.to_vec(count) {
        // A negative length becomes a huge one.
        end = end.saturating_add(length as u64);
        offsets.push(end.min(total as u64) as u32);
    }
    if end == total as u64 { Ok(offsets) } else { Err(corrupt("the lengths of strings do not add up")) }
}

/// Reads a dictionary and the codes of `rows` rows.
pub(super) fn read_dictionary(reader: &mut Reader<'_>, rows: usize) -> Result<(TextCodes, Dictionary)> {
    let entries = reader.count(rows)?;
    if entries == 0 {
        return Err(corrupt("a dictionary without entries"));
    }
    let dictionary = read_block(reader, entries, true)?;
    if !(1..entries as u32).all(|code| dictionary.get(code - 1) < dictionary.get(code)) {
        return Err(corrupt("the entries of a dictionary do not ascend"));
    }
    match read_codes(reader, rows, entries as u64 - 1)? {
        Unpacked::Codes(_) if entries == 1 => Ok((TextCodes::Same, dictionary)),
        Unpacked::Codes(codes) => Ok((TextCodes::Coded(codes), dictionary)),
        Unpacked::U64(_) => Err(corrupt("codes of over 32 bits")),
    }
}

/// For telling strings apart while a dictionary is made, in fewer steps than the hash that
/// sketches keep, if they are short.
fn hash(value: &[u8]) -> u64 {
    let (first, last) = match (value.first_chunk::<8>(), value.last_chunk::<8>()) {
        (Some(first), Some(last)) if value.len() <= 16 => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        (Some(_), _) => return xxh3_64(value),
        _ => match (value.first_chunk::<4>(), value.last_chunk::<4>()) {
            (Some(first), Some(last)) => (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into()),
            _ => (value.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0),
        },
    };
    let mixed = first.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ last.rotate_left(29) ^ value.len() as u64;
    hash_integer(mixed as i64)
}
