//! Numbering distinct values as they come: the first half of every dictionary.

/// A hash table from values, kept by the caller, to codes from 0.
#[derive(Debug)]
pub(super) struct Interner {
    /// Code plus one, 0 where free. A power of two, at most half full.
    slots: Vec<u32>,
    hashes: Vec<u64>,
    entries_max: usize,
}

impl Interner {
    /// For up to `entries_max` distinct values.
    pub(super) fn new(entries_max: usize) -> Self {
        Self { slots: vec![0; (2 * entries_max.max(1)).next_power_of_two()], hashes: Vec::new(), entries_max }
    }

    /// The code of a value, given its hash and whether it equals the value of a code;
    /// `None` when it is new and there is no room.
    #[inline]
    pub(super) fn code(&mut self, hash: u64, equals: impl Fn(u32) -> bool) -> Option<Code> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            match self.slots[slot] {
                0 if self.hashes.len() == self.entries_max => return None,
                0 => {
                    let code = self.hashes.len() as u32;
                    self.hashes.push(hash);
                    self.slots[slot] = code + 1;
                    return Some(Code::New(code));
                }
                taken => {
                    if self.hashes[taken as usize - 1] == hash && equals(taken - 1) {
                        return Some(Code::Known(taken - 1));
                    }
                }
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// A value's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// The value was seen before.
    Known(u32),
    /// The value is to be kept under this code.
    New(u32),
}

/// Rows looked at to guess how many distinct values there are.
const SAMPLE_ROWS: usize = 1024;

/// How many of a sample's rows are distinct: `(distinct, rows)`.
pub(super) fn sample(rows: usize, hash: impl Fn(usize) -> u64) -> (usize, usize) {
    let count = rows.min(SAMPLE_ROWS);
    let mut interner = Interner::new(count);
    let mut distinct = 0;
    for index in 0..count {
        // An odd stride would meet periodic data at other phases; an exact spacing over
        // the whole range sees clustered data as it is.
        let row = index * rows / count;
        if let Some(Code::New(_)) = interner.code(hash(row), |_| true) {
            distinct += 1;
        }
    }
    (distinct, count)
}
