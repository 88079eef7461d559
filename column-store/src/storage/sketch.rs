//! How many distinct values there are, roughly: HyperLogLog (Flajolet et al. 2007) with
//! linear counting below 2.5 times the number of registers.

use super::bytes::{Reader, corrupt, put_varint};
use super::format::SKETCH_BITS;
use crate::Result;
use xxhash_rust::xxh3::xxh3_64;

const REGISTERS: usize = 1 << SKETCH_BITS;

/// Registers in 6 bits each and a byte that says so.
const DENSE_BYTES: usize = 1 + REGISTERS * 6 / 8;

/// Up to this many registers are listed one by one: beyond it all of them take fewer bytes.
const SPARSE_REGISTERS_MAX: usize = (DENSE_BYTES - 1) / 2;

/// A mergeable distinct count. Counts below a few hundred are near exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DistinctSketch {
    /// One rank a register; none when nothing was added.
    ranks: Vec<u8>,
}

impl DistinctSketch {
    /// Adds an integer-like value.
    #[inline]
    pub fn add_integer(&mut self, value: i64) {
        self.add_hash(hash_integer(value));
    }

    /// Adds a string.
    #[inline]
    pub fn add_bytes(&mut self, value: &[u8]) {
        self.add_hash(xxh3_64(value));
    }

    /// Adds a value by its hash.
    #[inline]
    pub fn add_hash(&mut self, hash: u64) {
        if self.ranks.is_empty() {
            self.ranks = vec![0; REGISTERS];
        }
        let register = (hash >> (64 - SKETCH_BITS)) as usize;
        let rank = ((hash << SKETCH_BITS) | 1 << (SKETCH_BITS - 1)).leading_zeros() as u8 + 1;
        let slot = &mut self.ranks[register];
        *slot = (*slot).max(rank);
    }

    /// Adds everything that was added to `other`.
    pub fn merge(&mut self, other: &Self) {
        if self.ranks.is_empty() {
            self.ranks.clone_from(&other.ranks);
        } else {
            for (slot, rank) in self.ranks.iter_mut().zip(&other.ranks) {
                *slot = (*slot).max(*rank);
            }
        }
    }

    /// The estimate.
    pub fn estimate(&self) -> u64 {
        if self.ranks.is_empty() {
            return 0;
        }
        let count = REGISTERS as f64;
        let sum: f64 = self.ranks.iter().map(|rank| 0.5f64.powi(i32::from(*rank))).sum();
        let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
        let zeros = count - self.ranks.iter().map(|rank| f64::from((*rank).min(1))).sum::<f64>();
        let estimate = if raw <= 2.5 * count && zeros > 0.0 { count * (count / zeros).ln() } else { raw };
        estimate.round() as u64
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let used = self.ranks.iter().filter(|rank| **rank > 0).count();
        if used == 0 {
            put_varint(out, 0);
        } else if used <= SPARSE_REGISTERS_MAX {
            put_varint(out, 1 + 2 * used as u64);
            out.push(0);
            for (register, rank) in self.ranks.iter().enumerate().filter(|(_, rank)| **rank > 0) {
                out.extend_from_slice(&((register as u16) << 6 | u16::from(*rank)).to_le_bytes());
            }
        } else {
            put_varint(out, DENSE_BYTES as u64);
            out.push(1);
            for four in self.ranks.chunks_exact(4) {
                let packed = four.iter().rev().fold(0u32, |packed, rank| packed << 6 | u32::from(*rank));
                out.extend_from_slice(&packed.to_le_bytes()[..3]);
            }
        }
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self> {
        let bytes = reader.prefixed()?;
        let Some((form, body)) = bytes.split_first() else { return Ok(Self::default()) };
        let mut ranks = vec![0u8; REGISTERS];
        match form {
            0 if body.len().is_multiple_of(2) => {
                for pair in body.chunks_exact(2) {
                    let packed = u16::from_le_bytes([pair[0], pair[1]]);
                    let slot = ranks.get_mut((packed >> 6) as usize).ok_or_else(|| corrupt("a sketch register"))?;
                    *slot = (packed & 63) as u8;
                }
            }
            1 if bytes.len() == DENSE_BYTES => {
                for (four, [a, b, c]) in ranks.as_chunks_mut::<4>().0.iter_mut().zip(body.as_chunks::<3>().0) {
                    *four = [a & 63, a >> 6 | (b & 15) << 2, b >> 4 | (c & 3) << 4, c >> 2];
                }
            }
            _ => return Err(corrupt("a distinct sketch has an unknown form")),
        }
        Ok(Self { ranks })
    }
}

/// A mix of all bits (the finalizer of MurmurHash3).
#[inline]
pub(crate) const fn hash_integer(value: i64) -> u64 {
    let mut hash = value as u64;
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(values: impl Iterator<Item = i64>) -> u64 {
        let mut sketch = DistinctSketch::default();
        values.for_each(|v| sketch.add_integer(v));
        sketch.estimate()
    }

    #[test]
    fn small_counts_are_near_exact_and_large_ones_within_four_errors() {
        assert_eq!(count(0..0), 0);
        assert_eq!(count([7, 7, 7].into_iter()), 1);
        assert_eq!(count(0..3), 3);
        assert!(count(0..50).abs_diff(50) <= 5);
        for rows in [1_000u64, 65_536, 1_500_000] {
            let estimate = count(0..rows as i64);
            assert!(estimate.abs_diff(rows) < rows / 5, "{estimate} for {rows}");
        }
    }

    #[test]
    fn both_forms_round_trip_and_merging_is_a_union() {
        for rows in [0i64, 1, 40, 191, 100_000] {
            let (mut left, mut right, mut both) = <(DistinctSketch, DistinctSketch, DistinctSketch)>::default();
            for value in 0..rows {
                if value % 2 == 0 {
                    left.add_integer(value);
                } else {
                    right.add_integer(value);
                }
                both.add_integer(value);
            }
            left.merge(&right);
            assert_eq!(left, both);
            let mut bytes = Vec::new();
            both.encode(&mut bytes);
            assert_eq!(DistinctSketch::decode(&mut Reader::new(&bytes)).expect("just written"), both);
        }
    }
}
