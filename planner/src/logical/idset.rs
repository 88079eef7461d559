//! A set of column numbers.

use super::Id;

/// Column numbers as bits; statements have few columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdSet {
    words: Vec<u64>,
}

impl IdSet {
    pub(crate) fn insert(&mut self, id: Id) {
        let word = id / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (id % 64);
    }

    pub(crate) fn contains(&self, id: Id) -> bool {
        self.words.get(id / 64).is_some_and(|w| w >> (id % 64) & 1 == 1)
    }

    pub(crate) fn union(&mut self, other: &Self) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    pub(crate) fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    pub(crate) fn is_subset(&self, other: &Self) -> bool {
        self.words.iter().enumerate().all(|(i, w)| w & !other.words.get(i).copied().unwrap_or(0) == 0)
    }

    pub(crate) fn subtract(&mut self, other: &Self) {
        for (word, less) in self.words.iter_mut().zip(&other.words) {
            *word &= !less;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Id> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(index, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit))
    }
}

impl FromIterator<Id> for IdSet {
    fn from_iter<T: IntoIterator<Item = Id>>(ids: T) -> Self {
        let mut set = Self::default();
        ids.into_iter().for_each(|id| set.insert(id));
        set
    }
}

impl Extend<Id> for IdSet {
    fn extend<T: IntoIterator<Item = Id>>(&mut self, ids: T) {
        ids.into_iter().for_each(|id| self.insert(id));
    }
}
