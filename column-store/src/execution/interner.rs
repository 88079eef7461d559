//! Strings numbered in the order in which they first come.
//!
//! A grouping or a join by text works on these numbers. Strings that come with a
//! dictionary are looked up once an entry, however many rows use it.

use super::columns::NO_ROW;
use super::hash::{SlotTable, hash_bytes};
use crate::Result;
use crate::expression::error;
use crate::vector::{Dictionary, TextVector};
use std::sync::Arc;

/// The number of a string that was never interned.
pub(crate) const ABSENT: i64 = -1;

/// In a translation: looked up and not there.
const ABSENT_CODE: u32 = NO_ROW - 1;

/// Dictionaries whose translation is remembered. Batches of one chunk share one, and
/// joins and unions interleave a few.
const TRANSLATIONS_MAX: usize = 8;

/// Distinct strings with numbers from 0.
#[derive(Debug)]
pub(crate) struct Interner {
    strings: Dictionary,
    table: SlotTable,
    /// Dictionaries with the number of each entry, or [`NO_ROW`] before it is looked up.
    translations: Vec<(Arc<Dictionary>, Vec<u32>)>,
    /// The translation to forget next.
    oldest: usize,
}

impl Default for Interner {
    fn default() -> Self {
        Self {
            strings: Dictionary::default().with_distinct(true),
            table: SlotTable::with_room(64),
            translations: Vec::new(),
            oldest: 0,
        }
    }
}

impl Interner {
    pub(crate) fn memory_bytes(&self) -> usize {
        let tables: usize = self.translations.iter().map(|(_, codes)| codes.capacity() * 4).sum();
        self.strings.memory_bytes() + self.table.memory_bytes() + tables
    }

    /// The strings by number.
    pub(crate) const fn strings(&self) -> &Dictionary {
        &self.strings
    }

    /// The strings alone.
    pub(crate) fn into_strings(self) -> Dictionary {
        self.strings
    }

    /// The number of a string, given one if it has none.
    pub(crate) fn intern(&mut self, bytes: &[u8]) -> Result<u32> {
        let hash = hash_bytes(bytes);
        if let Some(found) = self.find_hashed(hash, bytes) {
            return Ok(found);
        }
        let number = self.strings.push(bytes).ok_or_else(error::text_too_large)?;
        self.table.reserve(1);
        self.table.insert(hash, number);
        Ok(number)
    }

    /// The number of a string, if it has one.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<u32> {
        self.find_hashed(hash_bytes(bytes), bytes)
    }

    fn find_hashed(&self, hash: u32, bytes: &[u8]) -> Option<u32> {
        self.table.find(hash, |entry| self.strings.get(entry) == bytes)
    }

    /// The numbers of a vector's strings; those that are new get one when `insert`,
    /// else [`ABSENT`]. What stands at a NULL is left at 0.
    pub(crate) fn numbers(&mut self, text: &TextVector, validity: Option<&[bool]>, insert: bool) -> Result<Vec<i64>> {
        let rows = text.codes.len();
        // Looking entries up through a table pays unless a batch uses few of many.
        let dictionary = &text.dictionary;
        let known = self.translations.iter().position(|(known, _)| Arc::ptr_eq(known, dictionary));
        let worthwhile = dictionary.distinct() || dictionary.len() <= rows.saturating_mul(16);
        let place = match known {
            Some(place) => Some(place),
            None if worthwhile => Some(self.remember(dictionary)),
            None => None,
        };
        let Some(place) = place else {
            return self.numbers_directly(text, validity, insert);
        };
        let mut table = std::mem::take(&mut self.translations[place].1);
        // Nearly always every entry has been looked up before.
        let mut greatest = 0;
        let mut numbers: Vec<i64> = Vec::with_capacity(rows);
        numbers.extend(text.codes.iter().map(|code| {
            let entry = table[*code as usize];
            greatest = greatest.max(entry);
            i64::from(entry)
        }));
        let unsettled = if greatest >= ABSENT_CODE { &text.codes[..] } else { &[] };
        for (row, (number, code)) in numbers.iter_mut().zip(unsettled).enumerate() {
            let mut entry = table[*code as usize];
            let unknown = entry == NO_ROW || (insert && entry == ABSENT_CODE);
            if unknown && validity.is_none_or(|v| v[row]) {
                entry = self.look_up(dictionary.get(*code), insert)?;
                table[*code as usize] = entry;
            }
            *number = if entry >= ABSENT_CODE { ABSENT } else { i64::from(entry) };
        }
        if let Some(validity) = validity {
            for (number, valid) in numbers.iter_mut().zip(validity) {
                *number = if *valid { *number } else { 0 };
            }
        }
        self.translations[place].1 = table;
        Ok(numbers)
    }

    fn look_up(&mut self, bytes: &[u8], insert: bool) -> Result<u32> {
        if insert {
            return self.intern(bytes);
        }
        Ok(self.find_hashed(hash_bytes(bytes), bytes).unwrap_or(ABSENT_CODE))
    }

    fn remember(&mut self, dictionary: &Arc<Dictionary>) -> usize {
        let entry = (Arc::clone(dictionary), vec![NO_ROW; dictionary.len()]);
        if self.translations.len() < TRANSLATIONS_MAX {
            self.translations.push(entry);
            return self.translations.len() - 1;
        }
        let place = self.oldest;
        self.translations[place] = entry;
        self.oldest = (place + 1) % TRANSLATIONS_MAX;
        place
    }

    fn numbers_directly(&mut self, text: &TextVector, validity: Option<&[bool]>, insert: bool) -> Result<Vec<i64>> {
        let mut numbers = vec![0; text.codes.len()];
        for (row, number) in numbers.iter_mut().enumerate() {
            if validity.is_none_or(|v| v[row]) {
                let entry = self.look_up(text.bytes(row), insert)?;
                *number = if entry == ABSENT_CODE { ABSENT } else { i64::from(entry) };
            }
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn execution_interner_numbers_across_dictionaries() {
        let mut interner = Interner::default();
        let vector = |strings: &[&str]| TextVector::from_strings(strings.iter().map(|s| s.as_bytes())).expect("small");
        let first = vector(&["a", "b", "a"]);
        assert_eq!(interner.numbers(&first, None, true).expect("room"), [0, 1, 0]);
        let second = vector(&["b", "c", "d"]);
        assert_eq!(interner.numbers(&second, None, false).expect("room"), [1, ABSENT, ABSENT]);
        assert_eq!(interner.numbers(&second, Some(&[true, false, true]), true).expect("room"), [1, 0, 2]);
        assert_eq!(interner.numbers(&second, None, true).expect("room"), [1, 3, 2]);
    }
}
