//! The order of kept rows.
//!
//! Every key becomes an integer of the same order: its distance from the least value
//! (from the greatest when descending), with a place for NULL at the right end. Keys of
//! small dictionaries are ranked. As many keys as fit are packed into 64 bits; where that
//! is all of them, comparing rows is comparing integers, and otherwise it is so for most
//! pairs and the columns are looked at for the others.

use super::Key;
use crate::execution::aggregate::double_order;
use crate::execution::columns::{Column, ColumnStore};
use crate::vector::{Data, TextVector};
use gingham_types::{Value, compare_values};
use std::cmp::Ordering;

/// Dictionaries up to this many entries are ranked …
const RANKED_ENTRIES_MAX: usize = 1 << 16;
/// … if there are this many rows an entry: with fewer, sorting the dictionary is no less
/// work than sorting the rows.
const ROWS_PER_RANKED_ENTRY_MIN: usize = 4;

/// A row with its packed keys.
pub(super) type Entry = (u64, u32);

/// How rows of a frozen store are packed and compared.
#[derive(Debug)]
pub(super) struct Order {
    keys: Vec<Key>,
    parts: Vec<Part>,
    /// Whether packed keys decide.
    exact: bool,
}

/// One key's share of the packed integer.
#[derive(Debug)]
struct Part {
    source: Source,
    /// Least and greatest value.
    min: i128,
    max: i128,
    nulls: bool,
    bits: u32,
    /// Bits dropped at the lower end.
    dropped: u32,
}

#[derive(Debug)]
enum Source {
    Integers,
    /// Text by rank of its entry.
    Ranks(Vec<u32>),
    /// Text by its first eight bytes.
    Prefix,
}

impl Order {
    /// The order by `keys` of the rows in `store`, which is frozen.
    pub(super) fn new(store: &ColumnStore, keys: &[Key]) -> Self {
        let mut parts = Vec::new();
        let mut available = 64u32;
        let mut exact = true;
        for key in keys {
            if available == 0 {
                exact = false;
                break;
            }
            let column = &store.columns[key.column];
            let mut part = Part::new(column);
            exact &= !matches!(part.source, Source::Prefix);
            part.dropped = part.bits.saturating_sub(available);
            available -= part.bits - part.dropped;
            let whole = part.dropped == 0 && !matches!(part.source, Source::Prefix);
            exact &= part.dropped == 0;
            parts.push(part);
            if !whole {
                break;
            }
        }
        exact &= parts.len() == keys.len();
        Self { keys: keys.to_vec(), parts, exact }
    }

    /// The rows of a range with their packed keys.
    pub(super) fn entries(&self, store: &ColumnStore, range: std::ops::Range<usize>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = range.clone().map(|row| (0, row as u32)).collect();
        for (part, key) in self.parts.iter().zip(&self.keys) {
            part.pack(&store.columns[key.column], key, range.clone(), &mut entries);
        }
        entries
    }

    /// The order of two rows; rows equal in every key are in the order of their numbers.
    #[inline]
    pub(super) fn compare(&self, store: &ColumnStore, a: Entry, b: Entry) -> Ordering {
        let packed = a.0.cmp(&b.0);
        let decided = if self.exact { packed } else { packed.then_with(|| self.compare_columns(store, a.1, b.1)) };
        decided.then(a.1.cmp(&b.1))
    }

    /// Sorts entries.
    pub(super) fn sort(&self, store: &ColumnStore, entries: &mut [Entry]) {
        if self.exact {
            entries.sort_unstable();
        } else {
            entries.sort_unstable_by(|a, b| self.compare(store, *a, *b));
        }
    }

    /// Sorts so that the first `count` entries are those that come first, in order.
    pub(super) fn sort_first(&self, store: &ColumnStore, entries: &mut Vec<Entry>, count: usize) {
        if count > 0 && entries.len() / 2 > count {
            entries.select_nth_unstable_by(count - 1, |a, b| self.compare(store, *a, *b));
        }
        if entries.len() / 2 > count {
            entries.truncate(count);
        }
        self.sort(store, entries);
        entries.truncate(count);
    }

    fn compare_columns(&self, store: &ColumnStore, a: u32, b: u32) -> Ordering {
        compare_rows(&self.keys, |key| {
            let column = &store.columns[key];
            let cell = |row: u32| Cell { data: column.data(), validity: column.validity(), row: row as usize };
            (cell(a), cell(b))
        })
    }
}

/// A value where it stands.
#[derive(Clone, Copy)]
pub(super) struct Cell<'a> {
    pub(super) data: &'a Data,
    pub(super) validity: Option<&'a [bool]>,
    pub(super) row: usize,
}

/// The order of two rows, of which `cells` gives a column's values.
pub(super) fn compare_rows<'a>(keys: &[Key], cells: impl Fn(usize) -> (Cell<'a>, Cell<'a>)) -> Ordering {
    keys.iter()
        .map(|key| {
            let (a, b) = cells(key.column);
            compare_key(key, a, b)
        })
        .find(|order| *order != Ordering::Equal)
        .unwrap_or(Ordering::Equal)
}

fn compare_key(key: &Key, a: Cell<'_>, b: Cell<'_>) -> Ordering {
    let valid = |cell: Cell<'_>| cell.validity.is_none_or(|v| v[cell.row]);
    match (valid(a), valid(b)) {
        (false, false) => return Ordering::Equal,
        (false, true) => return if key.nulls_first { Ordering::Less } else { Ordering::Greater },
        (true, false) => return if key.nulls_first { Ordering::Greater } else { Ordering::Less },
        (true, true) => {}
    }
    let order = compare_cells(a.data, a.row, b.data, b.row);
    if key.descending { order.reverse() } else { order }
}

/// The order of two values of a frozen column that are not NULL.
pub(crate) fn compare_values_of(column: &Column, a: usize, b: usize) -> Ordering {
    compare_cells(column.data(), a, column.data(), b)
}

/// The order of two values, neither NULL, of vectors of one type.
pub(crate) fn compare_cells(a: &Data, i: usize, b: &Data, j: usize) -> Ordering {
    match (a, b) {
        (Data::Boolean(a), Data::Boolean(b)) => a[i].cmp(&b[j]),
        (Data::Int32(a), Data::Int32(b)) => a[i].cmp(&b[j]),
        (Data::Int64(a), Data::Int64(b)) => a[i].cmp(&b[j]),
        (Data::Double(a), Data::Double(b)) => double_order(a[i]).cmp(&double_order(b[j])),
        (Data::Text(a), Data::Text(b)) => a.bytes(i).cmp(b.bytes(j)),
        (Data::Interval(a), Data::Interval(b)) => compare_values(&Value::Interval(a[i]), &Value::Interval(b[j])),
        // Decimals, in either form.
        (a, b) => wide(a, i).cmp(&wide(b, j)),
    }
}

fn wide(data: &Data, row: usize) -> i128 {
    match data {
        Data::Int64(v) => i128::from(v[row]),
        Data::Int128(v) => v[row],
        _ => 0,
    }
}

impl Part {
    fn new(column: &Column) -> Self {
        let source = match column.data() {
            Data::Text(text)
                if text.dictionary.len() <= RANKED_ENTRIES_MAX.min(column.len() / ROWS_PER_RANKED_ENTRY_MIN) =>
            {
                Source::Ranks(ranks(text))
            }
            Data::Text(_) => Source::Prefix,
            _ => Source::Integers,
        };
        let (mut min, mut max, mut nulls) = (i128::MAX, i128::MIN, false);
        for_each(column, &source, 0..column.len(), |_, value| match value {
            Some(value) => {
                min = min.min(value);
                max = max.max(value);
            }
            None => nulls = true,
        });
        if min > max {
            (min, max) = (0, 0);
        }
        // A difference of two decimals fits 128 bits without a sign.
        let greatest = max.wrapping_sub(min) as u128 + u128::from(nulls);
        Self { source, min, max, nulls, bits: 128 - greatest.leading_zeros(), dropped: 0 }
    }

    /// Appends the key's bits to every entry's.
    fn pack(&self, column: &Column, key: &Key, range: std::ops::Range<usize>, entries: &mut [Entry]) {
        let kept = self.bits - self.dropped;
        let first = u128::from(self.nulls && key.nulls_first);
        let null = if key.nulls_first { 0 } else { self.max.wrapping_sub(self.min) as u128 + 1 };
        let (min, max, descending) = (self.min, self.max, key.descending);
        for_each(column, &self.source, range, |at, value| {
            let code = match value {
                Some(value) if descending => max.wrapping_sub(value) as u128 + first,
                Some(value) => value.wrapping_sub(min) as u128 + first,
                None => null,
            };
            let entry = &mut entries[at].0;
            // A shift by 64 (one key of 64 bits) leaves nothing of the former zero.
            *entry = entry.checked_shl(kept).unwrap_or(0) | (code >> self.dropped) as u64;
        });
    }
}

/// Calls `f` with the position in the range and the value as an integer, `None` at NULL.
fn for_each(column: &Column, source: &Source, range: std::ops::Range<usize>, mut f: impl FnMut(usize, Option<i128>)) {
    let start = range.start;
    let validity = column.validity();
    let mut each = |value: &dyn Fn(usize) -> i128| {
        for row in range.clone() {
            let valid = validity.is_none_or(|v| v[row]);
            f(row - start, valid.then(|| value(row)));
        }
    };
    match (column.data(), source) {
        (Data::Boolean(v), _) => each(&|row| i128::from(v[row])),
        (Data::Int32(v), _) => each(&|row| i128::from(v[row])),
        (Data::Int64(v), _) => each(&|row| i128::from(v[row])),
        (Data::Int128(v), _) => each(&|row| v[row]),
        (Data::Double(v), _) => each(&|row| i128::from(double_order(v[row]))),
        (Data::Text(v), Source::Ranks(ranks)) => each(&|row| i128::from(ranks[v.codes[row] as usize])),
        (Data::Text(v), _) => each(&|row| i128::from(prefix(v.bytes(row)))),
        (Data::Interval(v), _) => each(&|row| {
            (i128::from(v[row].months) * 30 + i128::from(v[row].days)) * 86_400_000_000 + i128::from(v[row].micros)
        }),
    }
}

/// The first eight bytes as an integer of their order; shorter strings come first.
fn prefix(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    let length = bytes.len().min(8);
    word[..length].copy_from_slice(&bytes[..length]);
    u64::from_be_bytes(word)
}

/// The rank of every entry; equal entries have equal ranks.
fn ranks(text: &TextVector) -> Vec<u32> {
    let dictionary = &text.dictionary;
    let mut order: Vec<u32> = (0..dictionary.len() as u32).collect();
    order.sort_unstable_by(|a, b| dictionary.get(*a).cmp(dictionary.get(*b)));
    let mut ranks = vec![0; order.len()];
    let mut rank = 0;
    for (at, entry) in order.iter().enumerate() {
        if at > 0 && dictionary.get(order[at - 1]) != dictionary.get(*entry) {
            rank += 1;
        }
        ranks[*entry as usize] = rank;
    }
    ranks
}

/// A coarse integer of the first key over a batch: where it is greater, the row comes
/// later. Used to drop rows before they are kept.
pub(super) fn coarse(vector: &crate::vector::Vector, key: &Key) -> Vec<u64> {
    const SIGN: u64 = 1 << 63;
    let word = |row: usize| match &vector.data {
        Data::Boolean(v) => u64::from(v[row]) << 1,
        Data::Int32(v) => i64::from(v[row]) as u64 ^ SIGN,
        Data::Int64(v) => v[row] as u64 ^ SIGN,
        Data::Int128(v) => v[row].clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as u64 ^ SIGN,
        Data::Double(v) => double_order(v[row]) as u64 ^ SIGN,
        Data::Text(v) => prefix(v.bytes(row)),
        Data::Interval(_) => 0,
    };
    (0..vector.len())
        .map(|row| {
            if !vector.is_valid(row) {
                return if key.nulls_first { 0 } else { u64::MAX };
            }
            let word = if key.descending { !word(row) } else { word(row) };
            // One bit less makes room for NULL at either end.
            (word >> 1) + 1
        })
        .collect()
}
