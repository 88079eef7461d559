//! Groups by combinations of dictionary entries.
//!
//! Where all keys are text and their dictionaries are small, a batch's rows are in few
//! combinations of entries, and those of one row group share dictionaries: the group of
//! each combination is noted when it first comes, and from then on a look-up a row takes
//! the place of numbering, packing and finding keys.

use crate::execution::group_table::NO_GROUP;
use crate::vector::{Data, Dictionary, TextVector, Vector};
use std::sync::Arc;

/// Combinations noted at most (16 KiB): they stay in the first-level cache.
const SLOTS_MAX: usize = 4096;

/// The groups of combinations of entries of some dictionaries.
#[derive(Debug, Default)]
pub(super) struct Combinations {
    dictionaries: Vec<Arc<Dictionary>>,
    /// By combination; [`NO_GROUP`] before it comes.
    groups: Vec<u32>,
}

impl Combinations {
    /// Which combination each row has; `None` where they are not noted: keys that are not
    /// text, that have NULLs, or have more combinations than there are rows.
    pub(super) fn of(&mut self, keys: &[Arc<Vector>], rows: usize) -> Option<Vec<u32>> {
        let texts: Vec<&TextVector> = keys.iter().map(|key| text(key)).collect::<Option<_>>()?;
        let slots = texts.iter().try_fold(1, |slots: usize, text| slots.checked_mul(text.dictionary.len()))?;
        if slots > SLOTS_MAX.min(rows) {
            return None;
        }
        let same = self.dictionaries.len() == texts.len()
            && self.dictionaries.iter().zip(&texts).all(|(known, text)| Arc::ptr_eq(known, &text.dictionary));
        if !same {
            self.dictionaries = texts.iter().map(|text| Arc::clone(&text.dictionary)).collect();
            self.groups.clear();
            self.groups.resize(slots, NO_GROUP);
        }
        let (first, others) = texts.split_first()?;
        let mut combinations = first.codes.clone();
        for text in others {
            let entries = text.dictionary.len() as u32;
            for (combination, code) in combinations.iter_mut().zip(&text.codes) {
                *combination = *combination * entries + code;
            }
        }
        Some(combinations)
    }

    /// The groups of these combinations, if all are known.
    pub(super) fn groups(&self, combinations: &[u32]) -> Option<Vec<u32>> {
        let mut greatest = 0;
        let table = self.groups.as_slice();
        let number = |combination: &u32| {
            let group = table[*combination as usize];
            greatest = greatest.max(group);
            group
        };
        let groups = combinations.iter().map(number).collect();
        (greatest != NO_GROUP).then_some(groups)
    }

    /// Notes the groups of these combinations.
    pub(super) fn note(&mut self, combinations: &[u32], groups: &[u32]) {
        for (combination, group) in combinations.iter().zip(groups) {
            self.groups[*combination as usize] = *group;
        }
    }

    /// Forgets everything: groups are numbered anew.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

fn text(key: &Vector) -> Option<&TextVector> {
    match &key.data {
        Data::Text(text) if key.validity.is_none() => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(strings: &[&str], codes: &[u32]) -> Arc<Vector> {
        let all = TextVector::from_strings(strings.iter().map(|s| s.as_bytes())).expect("small");
        Arc::new(Vector::new(Data::Text(TextVector { codes: codes.to_vec(), dictionary: all.dictionary })))
    }

    #[test]
    fn groups_are_known_once_all_combinations_have_come() {
        let mut known = Combinations::default();
        let keys = [key(&["a", "b"], &[0, 1, 0, 1, 1, 0]), key(&["x", "y", "z"], &[0, 2, 0, 2, 0, 1])];
        let rows = known.of(&keys, 6).expect("six combinations of six rows");
        assert_eq!(rows, [0, 5, 0, 5, 3, 1]);
        assert_eq!(known.groups(&rows), None);
        known.note(&rows, &[7, 8, 7, 8, 9, 10]);
        assert_eq!(known.groups(&rows), Some(vec![7, 8, 7, 8, 9, 10]));
        assert_eq!(known.groups(&[5, 4]), None, "that combination did not come");
        let others = [key(&["a", "b"], &[0, 1, 0, 1, 1, 0]), Arc::clone(&keys[1])];
        let rows = known.of(&others, 6).expect("as many");
        assert_eq!(known.groups(&rows), None, "another dictionary");
        assert_eq!(known.of(&keys, 5), None, "more combinations than rows");
    }
}
