//! Hash functions. Fixed, without seeds: results never depend on hash order, and the
//! same query takes the same time twice.

/// Odd constants with well-mixed bits (MurmurHash3's finalizer and 2^64 / φ).
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const FINAL: u64 = 0xFF51_AFD7_ED55_8CCD;

/// The upper 32 bits are good: a table of `2^b` slots takes the top `b` of them.
#[inline]
pub(crate) const fn hash_word(word: u64) -> u32 {
    let mixed = (word ^ (word >> 32)).wrapping_mul(MULTIPLIER);
    ((mixed ^ (mixed >> 29)).wrapping_mul(FINAL) >> 32) as u32
}

/// Mixes a further word into a hash being made.
#[inline]
pub(crate) const fn combine(hash: u64, word: u64) -> u64 {
    let mixed = (hash.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER);
    mixed ^ (mixed >> 32)
}

/// The hash of a sequence of words.
#[inline]
pub(crate) fn hash_words(words: &[u64]) -> u32 {
    hash_word(words.iter().fold(words.len() as u64, |hash, word| combine(hash, *word)))
}

/// The hash of a byte string.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u32 {
    let mut hash = bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        hash = combine(hash, u64::from_le_bytes(word));
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        hash = combine(hash, u64::from_le_bytes(word));
    }
    hash_word(hash)
}

/// Open addressing over 32-bit entry numbers: a slot holds the entry's hash above its
/// number plus one, and 0 when free. A slot's position is the top bits of the hash, so
/// that growing is one pass in order over slots alone, without a look at any key.
#[derive(Debug)]
pub(crate) struct SlotTable {
    slots: Vec<u64>,
    /// 32 minus the logarithm of the number of slots.
    shift: u32,
    entries: usize,
}

impl SlotTable {
    /// A table with room for `entries` at a load of at most one half.
    pub(crate) fn with_room(entries: usize) -> Self {
        let slots = (entries.max(16) * 2).next_power_of_two().min(1 << 31);
        Self { slots: vec![0; slots], shift: 32 - slots.trailing_zeros(), entries: 0 }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * 8
    }

    pub(crate) const fn entries(&self) -> usize {
        self.entries
    }

    /// Bytes on top of those held that [`SlotTable::reserve`] takes: while it moves the
    /// entries it has both tables.
    pub(crate) fn growth_bytes(&self, more: usize) -> usize {
        if (self.entries + more) * 2 > self.slots.len() { self.slots.len() * 16 } else { 0 }
    }

    /// Doubles the table unless `more` entries have room.
    pub(crate) fn reserve(&mut self, more: usize) {
        while (self.entries + more) * 2 > self.slots.len() && self.slots.len() < 1 << 31 {
            let mut grown = Self::with_room(self.slots.len());
            // The new position of a slot is at least twice its old one: old slots in
            // order fill new ones in order, but for those that wrapped around the end.
            for slot in self.slots.iter().filter(|slot| **slot != 0) {
                grown.place(*slot);
            }
            grown.entries = self.entries;
            *self = grown;
        }
    }

    fn place(&mut self, slot: u64) {
        let mask = self.slots.len() - 1;
        let mut at = ((slot >> 32) as u32 >> self.shift) as usize;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }

    /// The slot where a hash would stand without collisions: the entry in its lower
    /// half minus one is a candidate if the upper half is the hash.
    #[inline]
    pub(crate) fn first(&self, hash: u32) -> u64 {
        self.slots[(hash >> self.shift) as usize]
    }

    /// The entry with this hash that `equal` accepts.
    #[inline]
    pub(crate) fn find(&self, hash: u32, equal: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            let entry = (slot as u32).wrapping_sub(1);
            if (slot >> 32) as u32 == hash && equal(entry) {
                return Some(entry);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds an entry that [`SlotTable::find`] does not find. There must be room.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u32, entry: u32) {
        self.place(u64::from(hash) << 32 | u64::from(entry + 1));
        self.entries += 1;
    }
}
