//! A set of integer keys as bits, for the filters that joins hand to scans.
//!
//! A bit stands for a run of `1 << shift` keys. Over few keys far apart such a coarse set
//! is as good as an exact one, since most runs have none, and small enough to be made in
//! no time and to stay in the cache.

/// Distances from a least key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyBits {
    words: Vec<u64>,
    shift: u32,
}

impl KeyBits {
    /// An empty set for distances up to `greatest`, with a bit for every `1 << shift` of them.
    pub fn new(greatest: u64, shift: u32) -> Self {
        Self { words: vec![0; (greatest >> shift) as usize / 64 + 1], shift }
    }

    /// Adds a distance of at most what the set was made for.
    #[inline]
    pub fn insert(&mut self, distance: u64) {
        let bit = distance >> self.shift;
        self.words[(bit / 64) as usize] |= 1 << (bit % 64);
    }

    /// Whether a distance may have been added; `false` is certain.
    #[inline]
    pub fn may_contain(&self, distance: u64) -> bool {
        let bit = distance >> self.shift;
        self.words.get((bit / 64) as usize).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// The bits, of which the lowest of the first word stands for the least distances.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// A bit stands for `1 << shift` distances.
    pub(crate) const fn shift(&self) -> u32 {
        self.shift
    }

    /// Whether one of the distances from `low` to `high` may have been added; looks at
    /// no more than `words_max` words.
    pub fn may_contain_any(&self, low: u64, high: u64, words_max: usize) -> bool {
        let (low, high) = (low >> self.shift, high >> self.shift);
        let (first, last) = ((low / 64) as usize, (high / 64) as usize);
        let Some(words) = self.words.get(first..=last.min(self.words.len() - 1)) else { return false };
        if words.len() > words_max {
            return true;
        }
        words.iter().enumerate().any(|(index, word)| {
            let mut word = *word;
            if index == 0 {
                word &= u64::MAX << (low % 64);
            }
            if first + index == last {
                word &= u64::MAX >> (63 - high % 64);
            }
            word != 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found() {
        for shift in [0, 1, 7, 40] {
            let keys = [0, 1, 63, 64, 1000, 99_999].map(|key: u64| key << shift);
            let mut bits = KeyBits::new(99_999 << shift, shift);
            keys.iter().for_each(|key| bits.insert(*key));
            assert!(keys.iter().all(|key| bits.may_contain(*key)));
            assert!(!bits.may_contain(500 << shift) && !bits.may_contain(u64::MAX));
            assert!(bits.may_contain_any(65 << shift, 1000 << shift, 100));
            assert!(!bits.may_contain_any(65 << shift, 999 << shift, 100));
            assert!(bits.may_contain_any(65 << shift, 999 << shift, 3), "not looked for");
            assert!(!bits.may_contain_any(200_000 << shift, 300_000 << shift, 100));
        }
    }

    #[test]
    fn a_bit_stands_for_a_run() {
        let mut bits = KeyBits::new(1000, 3);
        bits.insert(17);
        let found: Vec<u64> = (0..2000).filter(|distance| bits.may_contain(*distance)).collect();
        assert_eq!(found, (16..24).collect::<Vec<u64>>());
    }
}
