//! The build side's rows by key.
//!
//! The keys are known in full before the first probe, so that their bounds decide the
//! form: packed keys of a small range index an array directly; other packed keys are
//! hashed, or in their order where they are spread evenly; keys that do not fit 64 bits are hashed and compared as rows of integers.
//! Rows of equal keys hang on a chain, in their order, which is made only if there are
//! any.
//!
//! A probe takes a batch: positions first, then slots, then keys, so that cache misses
//! overlap.

use crate::execution::hash::{hash_word, hash_words};
use crate::execution::keys::{Bounds, KeyWords, Layout, wide_rows, wide_stride};

/// Arrays up to this many slots (4 MiB) are made for any but the smallest build side.
const DIRECT_SLOTS_FREE: u128 = 1 << 20;
/// Slots for each row that a larger array may have.
const DIRECT_SLOTS_PER_ROW: u128 = 8;
/// Slots for each row of a small build side that an array may have.
const DIRECT_SLOTS_PER_ROW_SMALL: u128 = 1024;

/// Rows that one slice of the build inserts.
pub(super) const INSERT_ROWS: usize = 1 << 16;

/// Build rows by key. Rows are given out plus one; 0 is none.
#[derive(Debug)]
pub(super) struct JoinTable {
    form: Form,
    rows: usize,
    /// For each row, the next one of the same key plus one; empty while keys are unique.
    next: Vec<u32>,
    /// Rows that may be found: others have a NULL that equals nothing.
    findable: Option<Vec<bool>>,
    /// How many rows, counted from the end, are inserted.
    inserted: usize,
}

#[derive(Debug)]
enum Form {
    /// Packed key to row.
    Direct { layout: Layout, keys: Vec<u64>, slots: Vec<u32> },
    /// Hash of the packed key to row.
    Packed { layout: Layout, keys: Vec<u64>, slots: Vec<u32>, home: Home },
    /// Hash of the integers to row.
    Wide { keys: Vec<u64>, stride: usize, slots: Vec<u32>, shift: u32 },
}

/// Where a packed key belongs among the slots.
#[derive(Clone, Copy, Debug)]
enum Home {
    /// The upper bits of its hash.
    Hashed { shift: u32 },
    /// Its own upper bits. Keys near each other, as rows mostly have them that follow each
    /// other, are near each other in the table, which then needs not be in the cache whole.
    Ordered { shift: u32 },
}

/// Slots of a block, and keys that one may have for all to be in their order: then no key is
/// far from its home.
const BLOCK_SLOTS: usize = 64;
const BLOCK_KEYS_MAX: u32 = 48;

impl Home {
    fn of(keys: &[u64], layout: &Layout, slots: usize) -> Self {
        let hashed = Self::Hashed { shift: 32 - slots.trailing_zeros() };
        let greatest = u64::try_from(layout.slots - 1).unwrap_or(u64::MAX);
        let shift = (64 - greatest.leading_zeros()).saturating_sub(slots.trailing_zeros());
        if slots < ORDERED_SLOTS_MIN || shift + BLOCK_SLOTS.trailing_zeros() > 63 {
            return hashed;
        }
        let mut blocks = vec![0u32; slots / BLOCK_SLOTS];
        let mut last = None;
        for key in keys {
            // Rows that cannot be found may have any key.
            let block = blocks.get_mut((key >> shift) as usize / BLOCK_SLOTS).filter(|_| last != Some(key));
            block.into_iter().for_each(|keys| *keys += 1);
            last = Some(key);
        }
        let even = blocks.iter().all(|keys| *keys <= BLOCK_KEYS_MAX);
        if even { Self::Ordered { shift } } else { hashed }
    }

    #[inline]
    fn slot(self, key: u64) -> usize {
        match self {
            Self::Hashed { shift } => (hash_word(key) >> shift) as usize,
            Self::Ordered { shift } => (key >> shift) as usize,
        }
    }
}

/// Smaller tables stay in the cache anyway.
const ORDERED_SLOTS_MIN: usize = 1 << 14;

impl JoinTable {
    /// A table over the keys of all build rows, none inserted yet. It takes what
    /// [`table_bytes`] says; an array that takes more only if `reserve` grants it.
    pub(super) fn new(keys: &KeyWords, findable: Option<Vec<bool>>, reserve: impl FnOnce(usize) -> bool) -> Self {
        let bounds: Vec<Bounds> = findable_bounds(keys, findable.as_deref());
        let rows = keys.rows;
        let slots = hash_slots(rows);
        let shift = 32 - slots.trailing_zeros();
        let form = match Layout::new(&bounds) {
            Some(layout)
                if direct_pays(layout.slots, rows)
                    && (layout.slots <= slots as u128 || reserve(rows * 12 + layout.slots as usize * 4)) =>
            {
                Form::Direct { keys: layout.pack(keys), slots: vec![0; layout.slots as usize], layout }
            }
            Some(layout) => {
                let keys = layout.pack(keys);
                let home = Home::of(&keys, &layout, slots);
                Form::Packed { keys, slots: vec![0; slots], layout, home }
            }
            None => {
                let stride = wide_stride(keys.words.len());
                Form::Wide { keys: wide_rows(keys), stride, slots: vec![0; slots], shift }
            }
        };
        Self { form, rows, next: Vec::new(), findable, inserted: 0 }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let form = match &self.form {
            Form::Direct { keys, slots, .. } | Form::Packed { keys, slots, .. } | Form::Wide { keys, slots, .. } => {
                keys.capacity() * 8 + slots.capacity() * 4
            }
        };
        form + self.next.capacity() * 4
    }

    /// Inserts up to [`INSERT_ROWS`] more rows; `true` when all are in. Later rows go
    /// first, so that chains are in ascending order.
    pub(super) fn insert_more(&mut self) -> bool {
        let end = self.rows - self.inserted;
        let start = end.saturating_sub(INSERT_ROWS);
        for row in (start..end).rev() {
            if self.findable.as_ref().is_none_or(|f| f[row]) {
                self.insert(row);
            }
        }
        self.inserted = self.rows - start;
        if start > 0 {
            return false;
        }
        self.findable = None;
        // An array needs no keys to compare once it is filled.
        if let Form::Direct { keys, .. } = &mut self.form {
            *keys = Vec::new();
        }
        true
    }

    fn insert(&mut self, row: usize) {
        let slot = match &mut self.form {
            Form::Direct { keys, slots, .. } => &mut slots[keys[row] as usize],
            Form::Packed { keys, slots, home, .. } => {
                let key = keys[row];
                let at = position(slots, home.slot(key), |other| keys[other] == key);
                &mut slots[at]
            }
            Form::Wide { keys, stride, slots, shift } => {
                let key = |row: usize| &keys[row * *stride..(row + 1) * *stride];
                let at = position(slots, wide_home(key(row), *shift), |other| key(other) == key(row));
                &mut slots[at]
            }
        };
        if *slot != 0 {
            if self.next.is_empty() {
                self.next = vec![0; self.rows];
            }
            self.next[row] = *slot;
        }
        *slot = row as u32 + 1;
    }

    /// Whether no two rows that can be found have the same key.
    pub(super) fn unique(&self) -> bool {
        self.next.is_empty()
    }

    /// The row after `row` with the same key, plus one.
    #[inline]
    pub(super) fn next(&self, row: u32) -> u32 {
        self.next.get(row as usize).copied().unwrap_or(0)
    }

    /// For every probe row the first build row of its key plus one, or 0. `inside`
    /// tells which rows may match at all.
    pub(super) fn heads(&self, probe: &KeyWords, mut inside: Vec<bool>) -> Vec<u32> {
        match &self.form {
            Form::Direct { layout, slots, .. } => {
                layout.mark_inside(probe, &mut inside);
                let packed = layout.pack(probe);
                packed.iter().zip(&inside).map(|(key, inside)| if *inside { slots[*key as usize] } else { 0 }).collect()
            }
            Form::Packed { layout, keys, slots, home } => {
                layout.mark_inside(probe, &mut inside);
                let packed = layout.pack(probe);
                // What is outside the layout is none of its keys, and need not be a slot.
                let mask = slots.len() - 1;
                let mut heads: Vec<u32> = packed.iter().map(|key| slots[home.slot(*key) & mask]).collect();
                let mut collided = Vec::new();
                for (row, (head, (key, inside))) in heads.iter_mut().zip(packed.iter().zip(&inside)).enumerate() {
                    let found = keys.get((*head as usize).wrapping_sub(1));
                    if *head != 0 && *inside && found != Some(key) {
                        collided.push(row);
                    }
                    *head = if *inside { *head } else { 0 };
                }
                for row in collided {
                    let key = packed[row];
                    heads[row] = slots[position(slots, home.slot(key), |other| keys[other] == key)];
                }
                heads
            }
            Form::Wide { keys, stride, slots, shift } => {
                let rows = wide_rows(probe);
                let build = |row: usize| &keys[row * stride..(row + 1) * stride];
                rows.chunks_exact(*stride)
                    .zip(&inside)
                    .map(|(key, inside)| {
                        if !*inside {
                            return 0;
                        }
                        slots[position(slots, wide_home(key, *shift), |other| build(other) == key)]
                    })
                    .collect()
            }
        }
    }
}

fn hash_slots(rows: usize) -> usize {
    (rows.max(8) * 2).next_power_of_two().min(1 << 31)
}

/// Bytes that a table over rows with keys of `columns` integers takes at the most, chains
/// and flags of matches included.
pub(super) fn table_bytes(rows: usize, columns: usize) -> usize {
    if columns == 0 { rows * 2 } else { rows * (wide_stride(columns) * 8 + 6) + hash_slots(rows) * 4 }
}

fn direct_pays(slots: u128, rows: usize) -> bool {
    let rows = rows as u128;
    let free = DIRECT_SLOTS_FREE.min(rows * DIRECT_SLOTS_PER_ROW_SMALL);
    slots <= (rows * DIRECT_SLOTS_PER_ROW).max(free).min(1 << 31)
}

fn wide_home(key: &[u64], shift: u32) -> usize {
    (hash_words(key) >> shift) as usize
}

/// The slot of the key that `equal` knows, or the free one where it belongs, from its home on.
#[inline]
fn position(slots: &[u32], home: usize, equal: impl Fn(usize) -> bool) -> usize {
    let mask = slots.len() - 1;
    let mut at = home;
    while slots[at] != 0 && !equal(slots[at] as usize - 1) {
        at = (at + 1) & mask;
    }
    at
}

/// Bounds over the rows that can be found: others would widen them for nothing.
fn findable_bounds(keys: &KeyWords, findable: Option<&[bool]>) -> Vec<Bounds> {
    let bounds = |(words, valid): (&Vec<i64>, &Option<Vec<bool>>)| match (valid, findable) {
        (valid, None) => Bounds::of(words, valid.as_deref()),
        (None, Some(findable)) => Bounds { nulls: false, ..Bounds::of(words, Some(findable)) },
        (Some(valid), Some(findable)) => {
            let both: Vec<bool> = valid.iter().zip(findable).map(|(a, b)| *a && *b).collect();
            // NULLs of rows that can be found are those of keys where NULL equals NULL.
            let nulls = valid.iter().zip(findable).any(|(valid, findable)| !valid && *findable);
            Bounds { nulls, ..Bounds::of(words, Some(&both)) }
        }
    };
    keys.words.iter().zip(&keys.valid).map(bounds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every key is found at its first row, whatever the form, and no other key.
    fn check(keys: &[i64], ordered: bool) {
        let words = KeyWords { words: vec![keys.to_vec()], valid: vec![None], rows: keys.len() };
        let mut table = JoinTable::new(&words, None, |_| false);
        let is_ordered = matches!(table.form, Form::Packed { home: Home::Ordered { .. }, .. });
        assert_eq!(is_ordered, ordered);
        while !table.insert_more() {}
        let mut first = std::collections::BTreeMap::new();
        for (row, key) in keys.iter().enumerate().rev() {
            first.insert(*key, row as u32 + 1);
        }
        let probe: Vec<i64> =
            keys.iter().flat_map(|key| [*key, key + 1, key - 1, -key]).chain([i64::MIN, i64::MAX]).collect();
        let wanted: Vec<u32> = probe.iter().map(|key| first.get(key).copied().unwrap_or(0)).collect();
        let rows = probe.len();
        let probe = KeyWords { words: vec![probe], valid: vec![None], rows };
        assert_eq!(table.heads(&probe, vec![true; rows]), wanted);
    }

    #[test]
    fn keys_are_found_in_order_and_hashed() {
        let even: Vec<i64> = (0..20_000).map(|row| row * 1000 + row % 7).collect();
        check(&even, true);
        let backwards: Vec<i64> = even.iter().rev().flat_map(|key| [*key, *key]).collect();
        check(&backwards, true);
        let heaped: Vec<i64> = (0..20_000).map(|row| row % 500 + row / 500 * 10_000_000).collect();
        check(&heaped, false);
        check(&even[..100], false);
    }
}
