//! Which rows of a batch passed a filter.

// Loops that must not branch connect their conditions bit by bit.
#![allow(clippy::needless_bitwise_bool)]

use crate::vector::{Batch, Vector};

/// Rows of a batch, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Every row.
    All,
    /// These rows.
    Rows(Vec<u32>),
}

impl Selection {
    /// How many of `rows` rows are selected.
    pub fn count(&self, rows: usize) -> usize {
        match self {
            Self::All => rows,
            Self::Rows(selected) => selected.len(),
        }
    }

    /// The selected rows of `batch`; shares its columns when that is all of them.
    #[must_use]
    pub fn apply(&self, batch: &Batch) -> Batch {
        match self {
            Self::All => batch.clone(),
            Self::Rows(rows) => batch.gather(rows),
        }
    }
}

/// The rows at which a BOOLEAN vector is true.
pub fn true_rows(data: &[bool], validity: Option<&[bool]>) -> Vec<u32> {
    let mut rows = vec![0u32; data.len()];
    let mut count = 0;
    match validity {
        None => {
            for (row, value) in data.iter().enumerate() {
                rows[count] = row as u32;
                count += usize::from(*value);
            }
        }
        Some(validity) => {
            for (row, (value, valid)) in data.iter().zip(validity).enumerate() {
                rows[count] = row as u32;
                count += usize::from(*value & *valid);
            }
        }
    }
    rows.truncate(count);
    rows
}

/// The rows at which a vector is NULL, and those at which it is not.
pub(crate) fn split_nulls(vector: &Vector) -> (Vec<u32>, Vec<u32>) {
    match &vector.validity {
        None => (Vec::new(), (0..vector.len() as u32).collect()),
        Some(validity) => (0..vector.len() as u32).partition(|row| !validity[*row as usize]),
    }
}
