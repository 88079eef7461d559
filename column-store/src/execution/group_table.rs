//! Rows to group numbers, by strategies chosen from the keys as they come.
//!
//! * Keys of one column that come in ascending order are a list: a batch goes on where the
//!   one before ended. The first that does not ends that.
//! * Keys packed into one integer of a small range index an array of group numbers
//!   directly: dictionary codes, truth values, dates, dense identifiers.
//! * Other packed keys go through a hash table: a batch is hashed, then all first slots
//!   are read, then all keys compared, so that cache misses overlap; rows that this does
//!   not settle are few and go one by one.
//! * Keys that do not fit 64 bits are compared as rows of integers.
//!
//! When a batch leaves the bounds of the packing, the keys of all groups are packed
//! again under bounds at least twice as wide, so that this happens a logarithmic number
//! of times.

use super::hash::{SlotTable, hash_word, hash_words};
use super::keys::{Bounds, KeyWords, Layout, wide_rows, wide_stride};
use crate::Result;
use crate::expression::error;

/// Arrays of group numbers up to this size (256 KiB) are used however few the groups.
const DIRECT_SLOTS_FREE: u128 = 1 << 16;
/// Arrays of group numbers never pass this size (64 MiB).
const DIRECT_SLOTS_MAX: u128 = 1 << 24;
/// A larger array may have this many slots for each group known or expected.
const DIRECT_SLOTS_PER_GROUP: u128 = 8;

/// Groups by key.
#[derive(Debug)]
pub(crate) struct GroupTable {
    /// Integers a key.
    columns: usize,
    /// The planner's estimate of the number of groups.
    expected: usize,
    groups: usize,
    mode: Mode,
    /// The largest array of group numbers that memory allows.
    direct_slots_max: u128,
}

/// In a list of group numbers: no group.
pub(crate) const NO_GROUP: u32 = u32::MAX;

#[derive(Debug)]
enum Mode {
    /// No row yet.
    Empty,
    /// One column's keys, strictly ascending and without NULL so far.
    Ascending { keys: Vec<i64> },
    /// Packed key to group number plus one.
    Direct { layout: Layout, table: Vec<u32>, keys: Vec<u64> },
    /// Hashed packed keys.
    Packed { layout: Layout, table: SlotTable, keys: Vec<u64> },
    /// Hashed rows of integers, `stride` of them a row.
    Wide { table: SlotTable, keys: Vec<u64>, stride: usize },
}

impl GroupTable {
    /// A table for keys of `columns` integers, with about `expected` groups, in about
    /// `bytes_max` bytes.
    pub(crate) fn new(columns: usize, expected: usize, bytes_max: usize) -> Self {
        let direct_slots_max = DIRECT_SLOTS_MAX.min(bytes_max as u128 / 16);
        Self { columns, expected, groups: 0, mode: Mode::Empty, direct_slots_max }
    }

    pub(crate) const fn groups(&self) -> usize {
        self.groups
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match &self.mode {
            Mode::Empty => 0,
            Mode::Ascending { keys } => keys.capacity() * 8,
            Mode::Direct { table, keys, .. } => table.capacity() * 4 + keys.capacity() * 8,
            Mode::Packed { table, keys, .. } | Mode::Wide { table, keys, .. } => {
                table.memory_bytes() + keys.capacity() * 8
            }
        }
    }

    /// Bytes that this many groups more may take.
    pub(crate) fn growth_bytes(&self, added: usize) -> usize {
        let keys = |keys: &Vec<u64>, words| growth(keys.len(), keys.capacity(), words) * 8;
        match &self.mode {
            Mode::Empty => 0,
            Mode::Ascending { keys } => growth(keys.len(), keys.capacity(), added) * 8,
            Mode::Direct { keys: list, .. } => keys(list, added),
            Mode::Packed { keys: list, table, .. } => keys(list, added) + table.growth_bytes(added),
            Mode::Wide { keys: list, table, stride } => keys(list, added * stride) + table.growth_bytes(added),
        }
    }

    /// Whether [`GroupTable::assign`] can take the batch without building the table that
    /// ascending keys do without.
    pub(crate) fn is_ready_for(&self, batch: &KeyWords) -> bool {
        !matches!(&self.mode, Mode::Ascending { keys } if !ascends(keys.last(), batch))
    }

    /// Bytes of the table that this many rows, if they do not come in ascending order, make
    /// necessary.
    pub(crate) fn table_bytes(&self, rows: usize) -> usize {
        // At a load of a quarter to a half of eight-byte slots, and the keys once more.
        (self.groups + rows).next_power_of_two() * 16 + self.groups * 8
    }

    /// The group number of every row, [`NO_GROUP`] for keys not seen before.
    pub(crate) fn find(&self, batch: &KeyWords) -> Vec<u32> {
        let (layout, rows) = match &self.mode {
            Mode::Empty => return vec![NO_GROUP; batch.rows],
            Mode::Ascending { keys } => {
                let find = |row: usize| match batch.valid[0].as_deref() {
                    Some(valid) if !valid[row] => NO_GROUP,
                    _ => keys.binary_search(&batch.words[0][row]).map_or(NO_GROUP, |group| group as u32),
                };
                return (0..batch.rows).map(find).collect();
            }
            Mode::Wide { table, keys, stride } => {
                let find = |row: &[u64]| {
                    let key = |group: u32| &keys[group as usize * stride..(group as usize + 1) * stride];
                    table.find(hash_words(row), |group| key(group) == row).unwrap_or(NO_GROUP)
                };
                return wide_rows(batch).chunks_exact(*stride).map(find).collect();
            }
            Mode::Direct { layout, .. } | Mode::Packed { layout, .. } => (layout, batch.rows),
        };
        let mut inside = vec![true; rows];
        layout.mark_inside(batch, &mut inside);
        let find = |(key, inside): (&u64, &bool)| match &self.mode {
            _ if !inside => NO_GROUP,
            Mode::Direct { table, .. } => table[*key as usize].wrapping_sub(1),
            Mode::Packed { table, keys, .. } => {
                table.find(hash_word(*key), |group| keys[group as usize] == *key).unwrap_or(NO_GROUP)
            }
            Mode::Empty | Mode::Ascending { .. } | Mode::Wide { .. } => NO_GROUP,
        };
        layout.pack(batch).iter().zip(&inside).map(find).collect()
    }

    /// The group number of every row; keys not seen before get the next number.
    pub(crate) fn assign(&mut self, batch: &KeyWords) -> Result<Vec<u32>> {
        if self.groups + batch.rows >= u32::MAX as usize - 1 {
            return Err(error::invalid_argument("54000", "there are more than 4,294,967,293 groups"));
        }
        if matches!(self.mode, Mode::Empty) && self.columns == 1 {
            self.mode = Mode::Ascending { keys: Vec::new() };
        }
        if let Mode::Ascending { keys } = &mut self.mode
            && ascends(keys.last(), batch)
        {
            let numbers = assign_ascending(&batch.words[0], keys);
            self.groups = keys.len();
            return Ok(numbers);
        }
        if !matches!(self.mode, Mode::Wide { .. }) {
            self.prepare(batch);
        }
        Ok(match &mut self.mode {
            Mode::Empty | Mode::Ascending { .. } => Vec::new(),
            Mode::Direct { layout, table, keys } => {
                let numbers = assign_direct(&layout.pack(batch), table, keys);
                self.groups = keys.len();
                numbers
            }
            Mode::Packed { layout, table, keys } => {
                let numbers = assign_packed(&layout.pack(batch), table, keys);
                self.groups = keys.len();
                numbers
            }
            Mode::Wide { table, keys, stride } => {
                let numbers = assign_wide(&wide_rows(batch), *stride, table, keys);
                self.groups = keys.len() / *stride;
                numbers
            }
        })
    }

    /// Makes sure that the batch's keys are within the layout, and that an array still
    /// pays, or begins to.
    fn prepare(&mut self, batch: &KeyWords) {
        let bounds: Vec<Bounds> =
            batch.words.iter().zip(&batch.valid).map(|(words, valid)| Bounds::of(words, valid.as_deref())).collect();
        let (old, growing): (Option<Vec<Bounds>>, bool) = match &self.mode {
            Mode::Direct { layout, .. } if layout.contains(&bounds) => return,
            Mode::Packed { layout, table, .. } if layout.contains(&bounds) => {
                let growing = (table.entries() + batch.rows) * 2 > table.memory_bytes() / 8;
                if !growing || !self.direct_pays(layout.slots, batch.rows) {
                    return;
                }
                (Some(layout.bounds().collect()), true)
            }
            Mode::Direct { layout, .. } | Mode::Packed { layout, .. } => (Some(layout.bounds().collect()), false),
            Mode::Ascending { keys } => {
                let ends = keys.first().zip(keys.last());
                (ends.map(|(min, max)| vec![Bounds { min: *min, max: *max, nulls: false }]), false)
            }
            Mode::Empty | Mode::Wide { .. } => (None, false),
        };
        let (widened, exact): (Vec<Bounds>, Vec<Bounds>) = match &old {
            None => (bounds.clone(), bounds),
            Some(old) if growing => (old.clone(), old.clone()),
            Some(old) => old.iter().zip(&bounds).map(|(old, new)| (widen(*old, *new), old.union(*new))).unzip(),
        };
        // Bounds with room for growth are better, but not if only the exact ones fit.
        let layout = Layout::new(&widened).or_else(|| Layout::new(&exact));
        self.adopt(layout, batch);
    }

    fn direct_pays(&self, slots: u128, more: usize) -> bool {
        let groups = (self.groups + more).max(self.expected) as u128;
        slots <= DIRECT_SLOTS_FREE.max(groups * DIRECT_SLOTS_PER_GROUP).min(self.direct_slots_max)
    }

    /// Moves all groups to a new layout, or to wide keys without one.
    fn adopt(&mut self, layout: Option<Layout>, batch: &KeyWords) {
        let old = self.all_words();
        let room = self.groups + batch.rows;
        let Some(layout) = layout else {
            let keys = wide_rows(&old);
            let stride = wide_stride(self.columns);
            let mut table = SlotTable::with_room(room);
            for (group, key) in keys.chunks_exact(stride).enumerate() {
                table.insert(hash_words(key), group as u32);
            }
            self.mode = Mode::Wide { table, keys, stride };
            return;
        };
        let keys = layout.pack(&old);
        self.mode = if self.direct_pays(layout.slots, batch.rows) {
            let mut table = vec![0u32; layout.slots as usize];
            for (group, key) in keys.iter().enumerate() {
                table[*key as usize] = group as u32 + 1;
            }
            Mode::Direct { layout, table, keys }
        } else {
            let mut table = SlotTable::with_room(room);
            for (group, key) in keys.iter().enumerate() {
                table.insert(hash_word(*key), group as u32);
            }
            Mode::Packed { layout, table, keys }
        };
    }

    fn all_words(&self) -> KeyWords {
        let mut all = KeyWords { rows: self.groups, ..KeyWords::default() };
        for column in 0..self.columns {
            let (words, valid) = self.words(column, 0..self.groups);
            all.words.push(words);
            all.valid.push(valid);
        }
        all
    }

    /// The integers of one column of the keys of some groups, and which are not NULL.
    pub(crate) fn words(&self, column: usize, groups: std::ops::Range<usize>) -> (Vec<i64>, Option<Vec<bool>>) {
        match &self.mode {
            Mode::Empty => (Vec::new(), None),
            Mode::Ascending { keys } => (keys[groups].to_vec(), None),
            Mode::Direct { layout, keys, .. } | Mode::Packed { layout, keys, .. } => {
                layout.unpack(column, &keys[groups])
            }
            Mode::Wide { keys, stride, .. } => {
                let rows = keys[groups.start * stride..groups.end * stride].chunks_exact(*stride);
                let flag = |row: &[u64]| row[self.columns + column / 64] >> (column % 64) & 1 == 0;
                let valid: Vec<bool> = rows.clone().map(flag).collect();
                let words = rows.map(|row| row[column] as i64).collect();
                (words, if valid.iter().all(|v| *v) { None } else { Some(valid) })
            }
        }
    }
}

/// Elements that a vector gains when it takes `added` more.
pub(crate) const fn growth(len: usize, capacity: usize, added: usize) -> usize {
    if len + added <= capacity {
        0
    } else if added > capacity {
        added
    } else {
        capacity
    }
}

/// Bounds that hold both, with as much room again on the side that grew.
fn widen(old: Bounds, new: Bounds) -> Bounds {
    let both = old.union(new);
    if both.min > both.max {
        return both;
    }
    let span = both.max.saturating_sub(both.min).max(1);
    Bounds {
        min: if both.min < old.min && old.min <= old.max { both.min.saturating_sub(span) } else { both.min },
        max: if both.max > old.max { both.max.saturating_add(span) } else { both.max },
        nulls: both.nulls,
    }
}

/// Whether the keys of a batch are of one column, without NULL, and none is less than the one
/// before, the first not than `last`.
fn ascends(last: Option<&i64>, batch: &KeyWords) -> bool {
    let ([words], [None]) = (batch.words.as_slice(), batch.valid.as_slice()) else { return false };
    let [first, ..] = words.as_slice() else { return true };
    // Without a way out in the middle, which would cost more than going on.
    last.is_none_or(|last| last <= first) && words.windows(2).fold(true, |all, pair| all & (pair[0] <= pair[1]))
}

fn assign_ascending(words: &[i64], keys: &mut Vec<i64>) -> Vec<u32> {
    let mut last = keys.last().copied();
    let number = |word: &i64| {
        if last != Some(*word) {
            keys.push(*word);
            last = Some(*word);
        }
        keys.len() as u32 - 1
    };
    words.iter().map(number).collect()
}

fn assign_direct(packed: &[u64], table: &mut [u32], keys: &mut Vec<u64>) -> Vec<u32> {
    let mut missing = 0u32;
    // Groups are numbered from 0 and stored plus one: a key not seen before wraps to
    // the greatest number, which the second pass looks for only if there is one.
    let mut numbers: Vec<u32> = packed
        .iter()
        .map(|key| {
            let number = table[*key as usize].wrapping_sub(1);
            missing |= u32::from(number == u32::MAX);
            number
        })
        .collect();
    if missing != 0 {
        for (number, key) in numbers.iter_mut().zip(packed) {
            if *number == u32::MAX {
                let slot = &mut table[*key as usize];
                if *slot == 0 {
                    keys.push(*key);
                    *slot = keys.len() as u32;
                }
                *number = *slot - 1;
            }
        }
    }
    numbers
}

fn assign_packed(packed: &[u64], table: &mut SlotTable, keys: &mut Vec<u64>) -> Vec<u32> {
    table.reserve(packed.len());
    let hashes: Vec<u32> = packed.iter().map(|key| hash_word(*key)).collect();
    let slots: Vec<u64> = hashes.iter().map(|hash| table.first(*hash)).collect();
    let mut unsettled = Vec::new();
    let mut numbers = vec![0u32; packed.len()];
    for (row, (number, (key, slot))) in numbers.iter_mut().zip(packed.iter().zip(&slots)).enumerate() {
        let group = (*slot as u32).wrapping_sub(1);
        *number = group;
        if keys.get(group as usize) != Some(key) {
            unsettled.push(row as u32);
        }
    }
    for row in unsettled {
        let row = row as usize;
        let (key, hash) = (packed[row], hashes[row]);
        let known = table.find(hash, |group| keys[group as usize] == key);
        numbers[row] = known.unwrap_or_else(|| {
            let group = keys.len() as u32;
            keys.push(key);
            table.insert(hash, group);
            group
        });
    }
    numbers
}

fn assign_wide(rows: &[u64], stride: usize, table: &mut SlotTable, keys: &mut Vec<u64>) -> Vec<u32> {
    let count = rows.len() / stride;
    table.reserve(count);
    let hashes: Vec<u32> = rows.chunks_exact(stride).map(hash_words).collect();
    let mut numbers = Vec::with_capacity(count);
    for (row, hash) in rows.chunks_exact(stride).zip(&hashes) {
        let key = |group: u32| &keys[group as usize * stride..(group as usize + 1) * stride];
        let group = table.find(*hash, |group| key(group) == row).unwrap_or_else(|| {
            let group = (keys.len() / stride) as u32;
            keys.extend_from_slice(row);
            table.insert(*hash, group);
            group
        });
        numbers.push(group);
    }
    numbers
}
