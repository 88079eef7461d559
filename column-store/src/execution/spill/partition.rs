//! Rows divided by a hash of their keys, to be worked on one part after the other.

use super::run::{Run, RunWriter, block_bytes};
use crate::Result;
use crate::execution::hash::{combine, hash_bytes};
use crate::execution::keys::{KeyColumn, KeyWords};
use crate::execution::memory::Reservation;
use crate::vector::{Batch, Data, Vector};
use gingham_types::SqlType;
use std::sync::Arc;

/// Rows are divided into 16 parts by four bits of their hash …
const BITS: u32 = 4;
const PARTS: usize = 1 << BITS;
/// … and a part again by the next four, this many times: 16 million parts.
pub(crate) const LEVELS_MAX: u32 = 6;

/// Parts being written.
#[derive(Debug)]
pub(crate) struct Partitions {
    writers: Vec<RunWriter>,
    level: u32,
}

impl Partitions {
    /// Empty parts in the temporary space of `memory`.
    ///
    /// # Errors
    /// Out of memory when there is none.
    pub(crate) fn new(memory: &Reservation, level: u32) -> Result<Self> {
        let space = memory.temp(memory.bytes_available())?;
        let bytes = block_bytes(memory.bytes_available());
        Ok(Self { writers: (0..PARTS).map(|_| RunWriter::new(space, bytes)).collect(), level })
    }

    /// The part of a row.
    pub(crate) const fn part(&self, hash: u64) -> usize {
        (hash >> (u64::BITS - BITS * (self.level + 1))) as usize % PARTS
    }

    /// Adds the rows of a batch, or those that `rows` names, each by its hash. Parts for
    /// which `wanted` is false get none.
    pub(crate) fn push(
        &mut self,
        batch: &Batch,
        hashes: &[u64],
        rows: Option<&[u32]>,
        wanted: impl Fn(usize) -> bool,
        memory: &Reservation,
    ) -> Result<()> {
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); PARTS];
        match rows {
            None => (0..batch.rows as u32).for_each(|row| lists[self.part(hashes[row as usize])].push(row)),
            Some(rows) => rows.iter().for_each(|row| lists[self.part(hashes[*row as usize])].push(*row)),
        }
        for (part, (writer, list)) in self.writers.iter_mut().zip(&lists).enumerate() {
            if wanted(part) {
                writer.push(batch, Some(list), memory)?;
            }
        }
        Ok(())
    }

    pub(crate) fn finish(self, memory: &Reservation) -> Result<Vec<Run>> {
        self.writers.into_iter().map(|writer| writer.finish(memory)).collect()
    }
}

/// A hash of the keys of each row, equal for equal keys of whatever form and dictionary.
pub(crate) fn row_hashes(keys: &[Arc<Vector>], types: &[SqlType], rows: usize) -> Result<Vec<u64>> {
    let mut hashes = vec![0u64; rows];
    for (vector, ty) in keys.iter().zip(types) {
        if let Data::Text(text) = &vector.data {
            for (row, hash) in hashes.iter_mut().enumerate() {
                let word = if vector.is_valid(row) { u64::from(hash_bytes(text.bytes(row))) } else { 0 };
                *hash = combine(*hash, word);
            }
            continue;
        }
        let mut words = KeyWords::default();
        KeyColumn::new(*ty).encode(vector, true, &mut words)?;
        for column in &words.words {
            for (hash, word) in hashes.iter_mut().zip(column) {
                *hash = combine(*hash, *word as u64);
            }
        }
    }
    // The upper bits decide, and a product's upper bits are its good ones.
    hashes.iter_mut().for_each(|hash| *hash = combine(*hash, 0).wrapping_mul(0xC2B2_AE3D_27D4_EB4F));
    Ok(hashes)
}
