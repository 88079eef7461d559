//! Runs of rows with equal keys.
//!
//! Tables are mostly loaded in the order of some key, and joins keep the order of their
//! probe side: rows of one group come side by side. A batch with few runs is summed run
//! by run first, and only one row a run has its group looked up.
//!
//! Finding and summing runs takes no branches that depend on the rows: runs are short and
//! of all lengths, and a wrong guess at the end of each would cost more than the rows.

use crate::vector::{Data, Vector};
use std::sync::Arc;

/// Runs are used if there are this many rows a run at least.
const ROWS_PER_RUN_MIN: usize = 2;

/// The first row of each run of rows that agree in all keys; `None` where runs are short or
/// the keys not of a kind to be compared quickly. Two runs side by side may have equal keys.
pub(super) fn starts(keys: &[Arc<Vector>], rows: usize) -> Option<Vec<u32>> {
    let mut changed = vec![0u8; rows];
    *changed.first_mut()? = 1;
    for key in keys {
        if key.validity.is_some() {
            return None;
        }
        match &key.data {
            Data::Int32(values) => mark_changes(values, &mut changed),
            Data::Int64(values) => mark_changes(values, &mut changed),
            // Of one dictionary: equal codes are equal strings.
            Data::Text(text) => mark_changes(&text.codes, &mut changed),
            _ => return None,
        }
    }
    let runs: usize = changed.chunks(255).map(|part| usize::from(part.iter().sum::<u8>())).sum();
    if runs * ROWS_PER_RUN_MIN > rows {
        return None;
    }
    let mut starts = vec![0u32; rows];
    let mut next = 0;
    for (row, changed) in changed.iter().enumerate() {
        starts[next] = row as u32;
        next += usize::from(*changed);
    }
    starts.truncate(next);
    Some(starts)
}

/// Sets the flags of rows that differ from the row before.
fn mark_changes<T: PartialEq>(values: &[T], changed: &mut [u8]) {
    let Some(changed) = changed.get_mut(1..) else { return };
    for (changed, pair) in changed.iter_mut().zip(values.windows(2)) {
        *changed |= u8::from(pair[0] != pair[1]);
    }
}

/// The sum of each run, wrapping.
pub(super) fn sums(values: &[i64], starts: &[u32]) -> Vec<i64> {
    let mut sum = 0i64;
    // What comes before each row.
    let before: Vec<i64> = values
        .iter()
        .map(|value| {
            let before = sum;
            sum = sum.wrapping_add(*value);
            before
        })
        .collect();
    let mut sums: Vec<i64> = starts.iter().map(|start| before[*start as usize]).collect();
    let total = sum;
    for run in 0..sums.len() {
        sums[run] = sums.get(run + 1).unwrap_or(&total).wrapping_sub(sums[run]);
    }
    sums
}

/// The number of rows of each run of a batch.
pub(super) fn lengths(starts: &[u32], rows: usize) -> Vec<i64> {
    let ends = starts.iter().skip(1).copied().chain([rows as u32]);
    starts.iter().zip(ends).map(|(start, end)| i64::from(end - start)).collect()
}

/// For each row of a batch what its run has.
pub(super) fn spread(starts: &[u32], of_runs: &[u32], rows: usize) -> Vec<u32> {
    let mut all = Vec::with_capacity(rows);
    let ends = starts.iter().skip(1).map(|start| *start as usize).chain([rows]);
    for (end, of_run) in ends.zip(of_runs) {
        all.resize(end, *of_run);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::TextVector;

    fn integers(values: &[i64]) -> Arc<Vector> {
        Arc::new(Vector::new(Data::Int64(values.to_vec())))
    }

    #[test]
    fn runs_end_where_any_key_changes() {
        let first = integers(&[1, 1, 1, 1, 1, 1, 2, 2]);
        let text =
            TextVector::from_strings(["a", "a", "a", "b", "b", "b", "b", "b"].map(str::as_bytes)).expect("small");
        let codes = Arc::new(Vector::new(Data::Text(TextVector { codes: vec![0, 0, 0, 1, 1, 1, 1, 1], ..text })));
        assert_eq!(starts(&[Arc::clone(&first)], 8), Some(vec![0, 6]));
        assert_eq!(starts(&[first, codes], 8), Some(vec![0, 3, 6]));
        assert_eq!(starts(&[integers(&[1, 2, 3, 4])], 4), None, "runs of one row");
        assert_eq!(starts(&[integers(&[])], 0), None);
        let nulls = Vector { data: Data::Int64(vec![0; 4]), validity: Some(vec![true, true, false, false]) };
        assert_eq!(starts(&[Arc::new(nulls)], 4), None);
    }

    #[test]
    fn sums_lengths_and_spreads_agree_with_the_rows() {
        let values = [5, i64::MAX, 1, -7, 3, 3];
        let starts = [0, 1, 4];
        assert_eq!(sums(&values, &starts), [5, i64::MAX.wrapping_add(1 - 7), 6]);
        assert_eq!(lengths(&starts, 6), [1, 3, 2]);
        assert_eq!(spread(&starts, &[7, 8, 9], 6), [7, 8, 8, 8, 9, 9]);
    }
}
