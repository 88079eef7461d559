//! The log: any bytes in its place, and whole records with any changes in them.

use crate::base::{Bytes, base, log_range, read};
use gingham_row_store::format::{self, record};
use xxhash_rust::xxh3::Xxh3Builder;

/// With an even first byte the rest stands in the log as it is: no commit can be found.
/// With an odd one it is cut into payloads of whole records that follow each other,
/// whose changes are to be applied or refused.
pub fn check(data: &[u8]) {
    let (sound, content) = base();
    let mut file = sound.clone();
    let log = log_range(sound);
    let mut data = Bytes(data);
    if data.byte() % 2 == 0 {
        let at = log.start + (data.number() * 8) % (log.len() / 2);
        let bytes = data.take(log.end - at);
        file[at..at + bytes.len()].copy_from_slice(bytes);
        if let Ok(found) = read(&file) {
            assert!(found == *content, "bytes in the log became a commit");
        }
        return;
    }
    let mut chain = Chain::of(&file);
    while !data.is_empty() {
        let bytes = data.number() % 400;
        if !chain.append(&mut file[log.clone()], data.take(bytes)) {
            break;
        }
    }
    let first = read(&file);
    assert_eq!(first, read(&file), "recovery gives one answer");
}

/// The end of a log that whole records are appended to.
struct Chain {
    offset: usize,
    epoch: u64,
    sequence: u64,
    previous: u64,
}

impl Chain {
    /// Right after the start of the epoch of the newest meta slot.
    fn of(file: &[u8]) -> Self {
        let slots = [0, format::PAGE_BYTES].map(|at| &file[at..at + format::meta::BYTES]);
        let newest = slots.into_iter().max_by_key(|slot| format::get_u64(slot, format::meta::SEQUENCE));
        let newest = newest.expect("two slots");
        let mut chain = Self {
            offset: 0,
            epoch: format::get_u64(newest, format::meta::EPOCH),
            sequence: format::get_u64(newest, format::meta::COMMIT_SEQUENCE),
            previous: format::get_u64(newest, format::meta::CHECKSUM),
        };
        let mut start = [0; record::HEADER_BYTES];
        chain.previous = chain.seal(&mut start, record::START, &[]);
        chain.offset = start.len();
        chain
    }

    fn seal(&self, header: &mut [u8; record::HEADER_BYTES], kind: u8, payload: &[u8]) -> u64 {
        header[..record::PAYLOAD_BYTES].copy_from_slice(&record::MARK_BYTES);
        format::set_u32(header, record::PAYLOAD_BYTES, payload.len() as u32);
        format::set_u64(header, record::EPOCH, self.epoch);
        format::set_u64(header, record::SEQUENCE, self.sequence);
        format::set_u64(header, record::PREVIOUS, self.previous);
        format::set_u64(header, record::DURABLE_BEFORE, self.sequence - u64::from(kind == record::COMMIT));
        header[record::KIND] = kind;
        let mut hasher = Xxh3Builder::new().with_seed(self.offset as u64).build();
        hasher.update(&header[..record::CHECKSUM]);
        hasher.update(&header[record::EPOCH..]);
        hasher.update(payload);
        let checksum = hasher.digest();
        format::set_u64(header, record::CHECKSUM, checksum);
        checksum
    }

    /// Writes the next commit; `false` if it does not fit.
    fn append(&mut self, log: &mut [u8], payload: &[u8]) -> bool {
        let end = (self.offset + record::HEADER_BYTES + payload.len()).next_multiple_of(record::ALIGNMENT);
        if end > log.len() {
            return false;
        }
        self.sequence += 1;
        let mut header = [0; record::HEADER_BYTES];
        self.previous = self.seal(&mut header, record::COMMIT, payload);
        log[self.offset..self.offset + header.len()].copy_from_slice(&header);
        log[self.offset + header.len()..][..payload.len()].copy_from_slice(payload);
        self.offset = end;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::TREE;
    use gingham_row_store::format::change;

    #[test]
    fn a_record_made_here_is_a_commit() {
        let (sound, content) = base();
        let mut file = sound.clone();
        let put = [&[change::PUT, TREE.0 as u8, 0, 3, 1], b"new".as_slice(), b"v"].concat();
        assert!(Chain::of(&file).append(&mut file[log_range(sound)], &put));
        let found = read(&file).expect("a sound log");
        let key = [TREE.0.to_be_bytes().as_slice(), b"new"].concat();
        assert_eq!(found.get(&key).map(Vec::as_slice), Some(b"v".as_slice()));
        assert_eq!(found.len(), content.len() + 1);
    }
}
