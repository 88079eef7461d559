//! One record of the log, and finding the records of an epoch.

use crate::format::{get_u32, get_u64, record, set_u32, set_u64};
use crate::{Error, Result};
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3Builder;

/// What a record says, its payload apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: u8,
    pub(crate) epoch: u64,
    pub(crate) sequence: u64,
    /// Checksum of the record before.
    pub(crate) previous: u64,
    /// Commits up to here were durable when the record was made.
    pub(crate) durable_before: u64,
}

/// Bytes that a record with such a payload takes in the log.
pub(crate) fn record_bytes(payload_bytes: usize) -> usize {
    (record::HEADER_BYTES + payload_bytes).next_multiple_of(record::ALIGNMENT)
}

fn checksum(header: &[u8], payload: &[u8], offset: u64) -> u64 {
    // The offset is the seed, so that a copy of a log inside a value is no record.
    let mut hasher = Xxh3Builder::new().with_seed(offset).build();
    hasher.update(&header[..record::CHECKSUM]);
    hasher.update(&header[record::EPOCH..]);
    hasher.update(payload);
    hasher.digest()
}

/// Appends a record to `out`, to be written at `offset` of the log; returns its checksum.
pub(crate) fn append(out: &mut Vec<u8>, offset: u64, header: &Header, payload: &[u8]) -> u64 {
    let mut bytes = [0; record::HEADER_BYTES];
    bytes[record::MARK..record::PAYLOAD_BYTES].copy_from_slice(&record::MARK_BYTES);
    set_u32(&mut bytes, record::PAYLOAD_BYTES, payload.len() as u32);
    set_u64(&mut bytes, record::EPOCH, header.epoch);
    set_u64(&mut bytes, record::SEQUENCE, header.sequence);
    set_u64(&mut bytes, record::PREVIOUS, header.previous);
    set_u64(&mut bytes, record::DURABLE_BEFORE, header.durable_before);
    bytes[record::KIND] = header.kind;
    let checksum = checksum(&bytes, payload, offset);
    set_u64(&mut bytes, record::CHECKSUM, checksum);
    let end = out.len() + record_bytes(payload.len());
    out.extend_from_slice(&bytes);
    out.extend_from_slice(payload);
    out.resize(end, 0);
    checksum
}

/// Appends the record that starts an epoch, which stands at the log's beginning.
pub(crate) fn append_start(out: &mut Vec<u8>, epoch: u64, commit_sequence: u64, meta_checksum: u64) -> u64 {
    let header = Header {
        kind: record::START,
        epoch,
        sequence: commit_sequence,
        previous: meta_checksum,
        durable_before: commit_sequence,
    };
    append(out, 0, &header, &[])
}

/// A whole record found in the log.
pub(crate) struct Found {
    pub(crate) header: Header,
    pub(crate) checksum: u64,
    pub(crate) payload: Range<usize>,
    /// Where the next record begins.
    pub(crate) end: usize,
}

/// Reads the record at `offset`; `None` if there is no whole one.
pub(crate) fn read(log: &[u8], offset: usize) -> Option<Found> {
    let header = log.get(offset..offset.checked_add(record::HEADER_BYTES)?)?;
    if header[..record::PAYLOAD_BYTES] != record::MARK_BYTES {
        return None;
    }
    let payload_bytes = get_u32(header, record::PAYLOAD_BYTES) as usize;
    let start = offset + record::HEADER_BYTES;
    let payload = log.get(start..start.checked_add(payload_bytes)?)?;
    let stored = get_u64(header, record::CHECKSUM);
    if stored != checksum(header, payload, offset as u64) {
        return None;
    }
    Some(Found {
        header: Header {
            kind: header[record::KIND],
            epoch: get_u64(header, record::EPOCH),
            sequence: get_u64(header, record::SEQUENCE),
            previous: get_u64(header, record::PREVIOUS),
            durable_before: get_u64(header, record::DURABLE_BEFORE),
        },
        checksum: stored,
        payload: start..start + payload_bytes,
        end: offset + record_bytes(payload_bytes),
    })
}

/// The commits that recovery replays.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Scan {
    /// Each commit's number and where its payload is.
    pub(crate) commits: Vec<(u64, Range<usize>)>,
    /// Where the next record would go.
    pub(crate) end: usize,
    /// Checksum of the last record.
    pub(crate) last_checksum: u64,
}

/// Finds the whole records of `epoch` that follow each other without a gap: REC-2.
///
/// # Errors
/// [`Error::Corrupt`] if the log belongs to a later epoch, whose meta slot must have
/// been lost (REC-3), or if a record is broken that a later one says was durable.
pub(crate) fn scan(log: &[u8], epoch: u64, meta_checksum: u64, commit_sequence: u64) -> Result<Scan> {
    let corrupt = |what: String| Error::corrupt(crate::format::LOG_FIRST_PAGE, what);
    let mut result = Scan::default();
    if let Some(found) = read(log, 0) {
        let later = found.header.epoch;
        if later > epoch {
            return Err(corrupt(format!("the log is of epoch {later}, the newest whole meta slot of {epoch}")));
        }
    }
    // The start says nothing that the meta slot does not: it may be damaged.
    let mut start = Vec::new();
    let (mut previous, mut sequence) =
        (append_start(&mut start, epoch, commit_sequence, meta_checksum), commit_sequence);
    let mut offset = start.len();
    while let Some(found) = read(log, offset) {
        let header = &found.header;
        if header.epoch != epoch
            || (header.previous != previous && !crate::mutation::is_active("new epoch and log chain"))
            || header.kind != record::COMMIT
            || Some(header.sequence) != sequence.checked_add(1)
        {
            break;
        }
        result.commits.push((header.sequence, found.payload));
        (offset, previous, sequence) = (found.end, found.checksum, header.sequence);
    }
    result.end = offset;
    result.last_checksum = previous;
    // A record cannot be durable without those before it (LOG-2): one further on that
    // knew of more durable commits than are whole proves that a durable one was damaged.
    let mut at = offset;
    while at + record::HEADER_BYTES <= log.len() {
        if log[at..at + record::PAYLOAD_BYTES] == record::MARK_BYTES
            && let Some(found) = read(log, at)
        {
            if found.header.epoch > epoch {
                return Err(corrupt("the log has records of an epoch whose meta slot was lost".into()));
            }
            if found.header.epoch == epoch && found.header.durable_before > sequence {
                let lost = sequence + 1;
                return Err(corrupt(format!("the record of commit {lost} is damaged although it was durable")));
            }
        }
        at += record::ALIGNMENT;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A start and three commits; the third knew that the first was durable.
    fn log() -> (Vec<u8>, Vec<usize>) {
        let (mut log, mut ends) = (Vec::new(), Vec::new());
        let mut previous = append_start(&mut log, 3, 10, 77);
        ends.push(log.len());
        for (sequence, durable, payload) in [(11, 10, "one"), (12, 11, "two"), (13, 11, "three")] {
            let at = log.len() as u64;
            let header = Header { kind: record::COMMIT, epoch: 3, sequence, previous, durable_before: durable };
            previous = append(&mut log, at, &header, payload.as_bytes());
            ends.push(log.len());
        }
        log.resize(4096, 0);
        (log, ends)
    }

    fn sequences(log: &[u8]) -> Result<Vec<u64>> {
        scan(log, 3, 77, 10).map(|scan| scan.commits.iter().map(|commit| commit.0).collect())
    }

    #[test]
    fn whole_records_are_found_in_order() {
        let (log, _) = log();
        assert_eq!(sequences(&log), Ok(vec![11, 12, 13]));
        assert_eq!(scan(&log, 4, 77, 10).map(|scan| scan.commits.len()), Ok(0), "another epoch");
        assert!(scan(&log, 2, 77, 10).is_err(), "the meta slot of epoch 3 is missing");
        assert!(scan(&log, 3, 78, 10).is_err(), "the epoch began from another meta slot");
    }

    #[test]
    fn a_torn_tail_is_cut_and_damage_is_reported() {
        let (log, ends) = log();
        let mut torn = log.clone();
        torn[ends[2] + 20] ^= 1;
        assert_eq!(sequences(&torn), Ok(vec![11, 12]), "the last record was never acknowledged");
        let mut torn = log.clone();
        torn[ends[1] + 20] ^= 1;
        assert_eq!(sequences(&torn), Ok(vec![11]), "nobody knew the second to be durable");
        let mut damaged = log.clone();
        damaged[20] ^= 1;
        assert_eq!(sequences(&damaged), Ok(vec![11, 12, 13]), "the start can be told from the meta slot");
        let mut damaged = log;
        damaged[ends[0] + 20] ^= 1;
        assert!(sequences(&damaged).is_err(), "the second knew the first to be durable");
    }
}
