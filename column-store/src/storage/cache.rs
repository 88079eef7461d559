//! Decoded chunks kept between queries.
//!
//! Chunks are found by the content of their extent, so that pages freed and used again
//! never give old data. A scan over more than fits would evict everything just before it
//! is wanted again if the least recently used chunk went first; therefore, among chunks
//! that were never asked for twice, the newest goes first, and a chunk in use counts as
//! idle only after as many other accesses as four times the number of chunks.

use super::chunk::Chunk;
use crate::vector::Dictionary;
use gingham_row_store::Extent;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// Dictionaries up to this size are shared between chunks that have the same.
const SHARED_DICTIONARY_BYTES_MAX: usize = 32 << 10;

/// Most shared dictionaries remembered: 8 MiB at worst, not counted against the budget.
const SHARED_DICTIONARIES_MAX: usize = 256;

/// Where a chunk comes from: its extent and its column.
pub type ChunkKey = (Extent, u32);

/// A cache of decoded chunks within a budget of bytes, shared by all queries of a
/// database. Chunks that a query holds stay alive past their eviction.
#[derive(Debug)]
pub struct ChunkCache {
    bytes_max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    chunks: HashMap<ChunkKey, Entry>,
    /// Keys by the time of their last use.
    by_use: BTreeMap<u64, ChunkKey>,
    /// Chunks put in and not asked for since, the newest last; may name evicted ones.
    unproven: Vec<(u64, ChunkKey)>,
    clock: u64,
    bytes: usize,
    hits: u64,
    misses: u64,
    dictionaries: HashMap<u64, Arc<Dictionary>>,
}

#[derive(Debug)]
struct Entry {
    chunk: Arc<Chunk>,
    bytes: usize,
    used: u64,
}

/// What a cache holds and how often it helped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Bytes held.
    pub bytes: usize,
    /// Chunks held.
    pub chunks: usize,
    /// Lookups that found their chunk.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
}

impl ChunkCache {
    /// An empty cache of up to `bytes_max` bytes; 0 keeps nothing.
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, state: Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A chunk, if it is there.
    pub fn get(&self, key: &ChunkKey) -> Option<Arc<Chunk>> {
        let mut state = self.state();
        let state = &mut *state;
        state.clock += 1;
        let Some(entry) = state.chunks.get_mut(key) else {
            state.misses += 1;
            return None;
        };
        state.hits += 1;
        state.by_use.remove(&entry.used);
        entry.used = state.clock;
        state.by_use.insert(entry.used, *key);
        Some(Arc::clone(&entry.chunk))
    }

    /// Keeps a chunk, evicting others to make room; one greater than an eighth of the
    /// budget is not kept.
    pub fn insert(&self, key: ChunkKey, chunk: &Arc<Chunk>) {
        let bytes = chunk.memory_bytes();
        if bytes > self.bytes_max / 8 {
            return;
        }
        let mut state = self.state();
        if state.chunks.contains_key(&key) {
            return;
        }
        while state.bytes + bytes > self.bytes_max && state.evict() {}
        state.clock += 1;
        let used = state.clock;
        state.bytes += bytes;
        state.chunks.insert(key, Entry { chunk: Arc::clone(chunk), bytes, used });
        state.by_use.insert(used, key);
        state.unproven.push((used, key));
        if state.unproven.len() > 2 * state.chunks.len() + 64 {
            let State { unproven, chunks, .. } = &mut *state;
            unproven.retain(|(used, key)| chunks.get(key).is_some_and(|entry| entry.used == *used));
        }
    }

    /// A dictionary equal to `dictionary`, the same one for equal ones if they are
    /// small: what operators computed for its entries holds for other chunks, too.
    pub fn share(&self, dictionary: Arc<Dictionary>) -> Arc<Dictionary> {
        if dictionary.memory_bytes() > SHARED_DICTIONARY_BYTES_MAX {
            return dictionary;
        }
        let hash = xxh3_64(dictionary.bytes()) ^ dictionary.len() as u64;
        let mut state = self.state();
        if let Some(known) = state.dictionaries.get(&hash).filter(|known| ***known == *dictionary) {
            return Arc::clone(known);
        }
        if state.dictionaries.len() >= SHARED_DICTIONARIES_MAX {
            state.dictionaries.clear();
        }
        state.dictionaries.insert(hash, Arc::clone(&dictionary));
        dictionary
    }

    /// Forgets everything.
    pub fn clear(&self) {
        *self.state() = State::default();
    }

    /// What the cache holds.
    pub fn statistics(&self) -> CacheStatistics {
        let state = self.state();
        CacheStatistics { bytes: state.bytes, chunks: state.chunks.len(), hits: state.hits, misses: state.misses }
    }
}

impl State {
    /// Evicts one chunk; whether there was one.
    fn evict(&mut self) -> bool {
        let Some((oldest_use, oldest)) = self.by_use.first_key_value().map(|(used, key)| (*used, *key)) else {
            return false;
        };
        let idle = self.clock - oldest_use > 4 * self.chunks.len() as u64;
        let victim = if idle { oldest } else { self.newest_unproven().unwrap_or(oldest) };
        if let Some(entry) = self.chunks.remove(&victim) {
            self.bytes -= entry.bytes;
            self.by_use.remove(&entry.used);
        }
        true
    }

    fn newest_unproven(&mut self) -> Option<ChunkKey> {
        while let Some((used, key)) = self.unproven.pop() {
            if self.chunks.get(&key).is_some_and(|entry| entry.used == used) {
                return Some(key);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::chunk::Values;
    use gingham_row_store::PageId;
    use gingham_types::SqlType;

    fn key(page: u32) -> ChunkKey {
        (Extent { first_page: PageId(page), pages: 1, bytes: 1, checksum: 1 }, 0)
    }

    fn chunk(rows: usize) -> Arc<Chunk> {
        Arc::new(Chunk { ty: SqlType::BigInt, rows, values: Values::Integers(vec![0; rows]), validity: None })
    }

    fn pass(cache: &ChunkCache, pages: std::ops::Range<u32>) -> usize {
        pages
            .filter(|page| {
                let found = cache.get(&key(*page)).is_some();
                if !found {
                    cache.insert(key(*page), &chunk(100));
                }
                found
            })
            .count()
    }

    #[test]
    fn repeated_scans_of_more_than_fits_keep_what_fits() {
        let cache = ChunkCache::new(50 * chunk(100).memory_bytes());
        assert_eq!(pass(&cache, 0..100), 0);
        for _ in 0..5 {
            assert!(pass(&cache, 0..100) >= 48);
            assert!(cache.statistics().bytes <= 50 * chunk(100).memory_bytes());
        }
    }

    #[test]
    fn what_is_no_longer_used_makes_room() {
        let cache = ChunkCache::new(50 * chunk(100).memory_bytes());
        for _ in 0..10 {
            pass(&cache, 0..50);
        }
        for _ in 0..20 {
            pass(&cache, 100..150);
        }
        assert_eq!(pass(&cache, 100..150), 50);
    }

    #[test]
    fn threads_may_share_it() {
        const fn shared<T: Send + Sync>() {}
        shared::<ChunkCache>();
    }

    #[test]
    fn a_chunk_beyond_the_budget_is_not_kept() {
        let cache = ChunkCache::new(1000);
        cache.insert(key(1), &chunk(1000));
        assert_eq!(cache.statistics(), CacheStatistics::default());
    }
}
