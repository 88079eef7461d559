//! Mean and variance by Welford's method, which does not lose the variance of values
//! that are large against it (Knuth, TAOCP 2, 4.2.2).

use super::Groups;
use crate::vector::{Data, Vector};

/// Folds doubles without NULLs into three words a group.
pub(super) fn update(values: &Vector, groups: Groups<'_>, words: &mut [i64], stride: usize, word: usize) {
    let Data::Double(values) = &values.data else {
        return;
    };
    for (row, value) in values.iter().enumerate() {
        let at = groups.of(row) * stride + word;
        let [count, mean, squares] = read(words, at);
        let count = count + 1.0;
        let difference = value - mean;
        let mean = mean + difference / count;
        let squares = squares + difference * (value - mean);
        for (word, new) in words[at..at + 3].iter_mut().zip([count, mean, squares]) {
            *word = new.to_bits() as i64;
        }
    }
}

/// Count, mean and sum of squared differences from the mean.
pub(super) fn read(words: &[i64], at: usize) -> [f64; 3] {
    [words[at], words[at + 1], words[at + 2]].map(|word| f64::from_bits(word as u64))
}
