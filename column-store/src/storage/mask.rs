//! Sets of rows of one group, such as its deleted ones.

use super::bytes::{Reader, corrupt, put_varint};
use super::format::GROUP_ROWS_LIMIT;
use crate::Result;

/// A set of row positions. Plain data with a compact encoding for a B+tree record: a
/// list while it is short, a bitmap beyond.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowMask {
    words: Vec<u64>,
    count: usize,
}

impl RowMask {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rows in the set.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether no row is in the set.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a row; whether it is new.
    ///
    /// # Panics
    /// If the position is not less than [`GROUP_ROWS_LIMIT`].
    pub fn insert(&mut self, row: usize) -> bool {
        assert!(row < GROUP_ROWS_LIMIT, "a row group has no row {row}");
        if self.words.len() <= row / 64 {
            self.words.resize(row / 64 + 1, 0);
        }
        let word = &mut self.words[row / 64];
        let bit = 1 << (row % 64);
        let new = *word & bit == 0;
        *word |= bit;
        self.count += usize::from(new);
        new
    }

    /// Whether a row is in the set.
    #[inline]
    pub fn contains(&self, row: usize) -> bool {
        self.words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// The rows, ascending.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            std::iter::successors(Some(*word), |rest| Some(rest & rest.wrapping_sub(1)))
                .take_while(|rest| *rest != 0)
                .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
        })
    }

    /// The set as bytes: 0, a count and varint distances between neighbours; or 1, the
    /// number of 8-byte words and the words.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![0];
        put_varint(&mut out, self.count as u64);
        let mut next = 0;
        for row in self.rows() {
            put_varint(&mut out, (row - next) as u64);
            next = row + 1;
        }
        if out.len() > self.words.len() * 8 {
            out = vec![1];
            put_varint(&mut out, self.words.len() as u64);
            self.words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        }
        out
    }

    /// Reads what [`RowMask::encode`] wrote.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] for anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let mut mask = Self::new();
        match reader.u8()? {
            0 => {
                let mut next = 0;
                for _ in 0..reader.count(GROUP_ROWS_LIMIT)? {
                    let row = next + reader.count(GROUP_ROWS_LIMIT)?;
                    if row >= GROUP_ROWS_LIMIT {
                        return Err(corrupt("a row mask reaches past its group"));
                    }
                    mask.insert(row);
                    next = row + 1;
                }
            }
            1 => {
                for _ in 0..reader.count(GROUP_ROWS_LIMIT / 64)? {
                    mask.words.push(reader.u64()?);
                }
                mask.count = mask.words.iter().map(|word| word.count_ones() as usize).sum();
            }
            form => return Err(corrupt(format!("a row mask of form {form}"))),
        }
        if reader.remaining() > 0 {
            return Err(corrupt("a row mask goes on after its end"));
        }
        Ok(mask)
    }
}

impl FromIterator<usize> for RowMask {
    fn from_iter<I: IntoIterator<Item = usize>>(rows: I) -> Self {
        let mut mask = Self::new();
        rows.into_iter().for_each(|row| {
            mask.insert(row);
        });
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_bitmaps_round_trip() {
        for rows in [vec![], vec![0], vec![5, 64, 131_071], (0..9000).step_by(2).collect::<Vec<usize>>()] {
            let mask: RowMask = rows.iter().copied().collect();
            assert_eq!(mask.rows().collect::<Vec<_>>(), rows);
            assert_eq!(mask.len(), rows.len());
            assert_eq!(RowMask::decode(&mask.encode()).expect("just written"), mask);
        }
    }

    #[test]
    fn damaged_bytes_are_refused() {
        for bytes in [&[] as &[u8], &[7], &[0, 2, 1], &[0, 1, 255, 255, 255, 127], &[1, 1, 0], &[0, 0, 0]] {
            assert!(RowMask::decode(bytes).is_err(), "{bytes:?}");
        }
    }
}
