//! Bit packing: unsigned integers in as many bits as the greatest of them needs.
//!
//! Blocks of 1,024 values are packed in lanes: with words of B bits there are 1024 / B
//! lanes, value `i` belongs to lane `i % lanes`, each lane is a bit stream of its own
//! (low bits first), and the lanes' words alternate. All lanes are at the same bit at
//! the same time, so that one plain loop with a variable shift unpacks a whole row of
//! lanes in vector instructions, for every width and on every target. The crate
//! `fastlanes` has the same idea with a kernel for each width and word, some 120 unrolled
//! functions that would weigh on the wasm module; this is one function for each word.
//! (Layout: Afroozeh and Boncz, "The FastLanes Compression Layout", VLDB 2023, without
//! its reordering of rows: values stay in order.)
//!
//! Words are the least of 8, 16, 32 and 64 bits that hold the width; a packed block takes
//! 128 bytes times the width whichever it is. Values after the last whole block follow as
//! one bit stream, low bits first, filled up to a byte.

use super::bytes::{corrupt, reserve};
use super::chunk::Codes;
use crate::Result;

/// Values of a block.
const BLOCK: usize = 1024;

/// Unpacked values in the least width.
#[derive(Clone, Debug)]
pub(crate) enum Unpacked {
    Codes(Codes),
    U64(Vec<u64>),
}

/// Bits that the greatest value needs.
pub(crate) const fn width_of(max: u64) -> u32 {
    u64::BITS - max.leading_zeros()
}

/// Bytes of `count` values of `width` bits.
pub(crate) const fn packed_bytes(count: usize, width: u32) -> usize {
    count / BLOCK * BLOCK / 8 * width as usize + (count % BLOCK * width as usize).div_ceil(8)
}

macro_rules! kernels {
    ($module:ident, $word:ty) => {
        mod $module {
            use super::BLOCK;
            const BITS: u32 = <$word>::BITS;
            const LANES: usize = BLOCK / BITS as usize;
            const BYTES: usize = size_of::<$word>();

            /// Packs a block into `width * LANES` words. Values have no bits past the width.
            pub(super) fn pack_block(values: &[$word; BLOCK], width: u32, out: &mut Vec<u8>) {
                let mut words: [$word; BLOCK] = [0; BLOCK];
                let (rows, _) = values.as_chunks::<LANES>();
                let (targets, _) = words.as_chunks_mut::<LANES>();
                for (row, values) in rows.iter().enumerate() {
                    let bit = row as u32 * width;
                    let (word, shift) = ((bit / BITS) as usize, bit % BITS);
                    for (target, value) in targets[word].iter_mut().zip(values) {
                        *target |= value << shift;
                    }
                    if shift + width > BITS {
                        for (target, value) in targets[word + 1].iter_mut().zip(values) {
                            *target |= value >> (BITS - shift);
                        }
                    }
                }
                for word in &words[..width as usize * LANES] {
                    out.extend_from_slice(&word.to_le_bytes());
                }
            }

            /// Unpacks a block of `128 * width` bytes; `width` is not 0.
            #[inline]
            pub(super) fn unpack_block(bytes: &[u8], width: u32, out: &mut [$word; BLOCK]) {
                let (words, _) = bytes.as_chunks::<BYTES>();
                let (words, _) = words.as_chunks::<LANES>();
                let (rows, _) = out.as_chunks_mut::<LANES>();
                let mask = <$word>::MAX >> (BITS - width);
                for (row, values) in rows.iter_mut().enumerate() {
                    let bit = row as u32 * width;
                    let (word, shift) = ((bit / BITS) as usize, bit % BITS);
                    let low = &words[word];
                    if shift + width <= BITS {
                        for (value, low) in values.iter_mut().zip(low) {
                            *value = <$word>::from_le_bytes(*low) >> shift & mask;
                        }
                    } else {
                        let high = &words[word + 1];
                        for ((value, low), high) in values.iter_mut().zip(low).zip(high) {
                            let low = <$word>::from_le_bytes(*low) >> shift;
                            *value = (low | <$word>::from_le_bytes(*high) << (BITS - shift)) & mask;
                        }
                    }
                }
            }

            pub(super) fn pack(values: &[u64], width: u32, out: &mut Vec<u8>) {
                let (blocks, tail) = values.as_chunks::<BLOCK>();
                let mut narrow: [$word; BLOCK] = [0; BLOCK];
                for block in blocks {
                    for (narrow, value) in narrow.iter_mut().zip(block) {
                        *narrow = *value as $word;
                    }
                    pack_block(&narrow, width, out);
                }
                super::pack_tail(tail, width, out);
            }

            /// Appends `count` values, for which `out` has room, and gives the greatest. `bytes` has
            /// exactly the packed bytes. A block is looked at and copied while it is in the nearest
            /// cache, and no memory is written twice.
            pub(super) fn unpack(bytes: &[u8], width: u32, count: usize, out: &mut Vec<$word>) -> $word {
                let (blocks, tail) = (count / BLOCK, count % BLOCK);
                let block_bytes = BLOCK / 8 * width as usize;
                let (packed, packed_tail) = bytes.split_at(blocks * block_bytes);
                let mut block: [$word; BLOCK] = [0; BLOCK];
                let mut max = 0;
                for packed in packed.chunks_exact(block_bytes) {
                    unpack_block(packed, width, &mut block);
                    max = block.iter().fold(max, |max, value| max.max(*value));
                    out.extend_from_slice(&block);
                }
                super::unpack_tail(packed_tail, width, block[..tail].iter_mut(), |slot, value| *slot = value as $word);
                out.extend_from_slice(&block[..tail]);
                block[..tail].iter().fold(max, |max, value| max.max(*value))
            }
        }
    };
}

kernels!(words8, u8);
kernels!(words16, u16);
kernels!(words32, u32);
kernels!(words64, u64);

fn pack_tail(values: &[u64], width: u32, out: &mut Vec<u8>) {
    let (mut window, mut filled) = (0u128, 0);
    for value in values {
        window |= u128::from(*value) << filled;
        filled += width;
        while filled >= 8 {
            out.push(window as u8);
            window >>= 8;
            filled -= 8;
        }
    }
    if filled > 0 {
        out.push(window as u8);
    }
}

fn unpack_tail<T>(bytes: &[u8], width: u32, slots: impl Iterator<Item = T>, set: impl Fn(T, u64)) {
    let mask = u64::MAX >> (u64::BITS - width);
    let (mut window, mut filled) = (0u128, 0);
    let mut bytes = bytes.iter();
    for slot in slots {
        while filled < width {
            window |= u128::from(*bytes.next().unwrap_or(&0)) << filled;
            filled += 8;
        }
        set(slot, window as u64 & mask);
        window >>= width;
        filled -= width;
    }
}

/// Appends `values`, none of more than `width` bits.
pub(crate) fn pack(values: &[u64], width: u32, out: &mut Vec<u8>) {
    match width {
        0 => {}
        1..=8 => words8::pack(values, width, out),
        9..=16 => words16::pack(values, width, out),
        17..=32 => words32::pack(values, width, out),
        _ => words64::pack(values, width, out),
    }
}

/// Reads `count` values of `width` bits from exactly [`packed_bytes`] bytes; also the greatest of them.
///
/// # Errors
/// For another number of bytes, or a width beyond 64.
pub(crate) fn unpack(bytes: &[u8], width: u32, count: usize) -> Result<(Unpacked, u64)> {
    if width > 64 || bytes.len() != packed_bytes(count, width) {
        return Err(corrupt(format!("{count} values of {width} bits in {} bytes", bytes.len())));
    }
    Ok(match width {
        0 => {
            let mut out = reserve(count)?;
            out.resize(count, 0);
            (Unpacked::Codes(Codes::U8(out)), 0)
        }
        1..=8 => {
            let mut out = reserve(count)?;
            let max = words8::unpack(bytes, width, count, &mut out);
            (Unpacked::Codes(Codes::U8(out)), max.into())
        }
        9..=16 => {
            let mut out = reserve(count)?;
            let max = words16::unpack(bytes, width, count, &mut out);
            (Unpacked::Codes(Codes::U16(out)), max.into())
        }
        17..=32 => {
            let mut out = reserve(count)?;
            let max = words32::unpack(bytes, width, count, &mut out);
            (Unpacked::Codes(Codes::U32(out)), max.into())
        }
        _ => {
            let mut out = reserve(count)?;
            let max = words64::unpack(bytes, width, count, &mut out);
            (Unpacked::U64(out), max)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_and_length_round_trips() {
        for width in 0..=64 {
            let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
            for count in [0usize, 1, 7, 1023, 1024, 1025, 5000] {
                let values: Vec<u64> =
                    (0..count as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(7) & mask).collect();
                let mut bytes = Vec::new();
                pack(&values, width, &mut bytes);
                assert_eq!(bytes.len(), packed_bytes(count, width), "{count} of {width} bits");
                let (unpacked, max) = unpack(&bytes, width, count).expect("the right size");
                assert_eq!(max, values.iter().copied().max().unwrap_or(0), "{count} of {width} bits");
                let back: Vec<u64> = match unpacked {
                    Unpacked::Codes(codes) => (0..count).map(|row| u64::from(codes.get(row))).collect(),
                    Unpacked::U64(values) => values,
                };
                assert_eq!(back, values, "{count} of {width} bits");
            }
        }
    }

    #[test]
    fn a_wrong_size_is_an_error() {
        assert!(unpack(&[0; 10], 3, 1024).is_err());
        assert!(unpack(&[0; 10], 65, 1).is_err());
    }
}
