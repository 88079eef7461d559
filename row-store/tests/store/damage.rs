//! Damaged files: a flipped bit, a swapped page or a cut-off end gives an error or the
//! right contents, never a panic, a hang or other contents.

use crate::random::Random;
use crate::simulation::workload::{TREE, Workload};
use crate::simulation::{Content, NAME, open, read_content};
use gingham_row_store::format::{self, PAGE_BYTES};
use gingham_row_store::vfs::fault::{FaultVfs, SECTOR_BYTES};
use gingham_row_store::{Durability, Error};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The bytes of a database with everything in it, closed, and its contents.
fn closed_database() -> (Vec<u8>, Content) {
    let vfs = FaultVfs::new();
    let workload = Workload::run(&vfs, None);
    assert!(workload.finished);
    let store = open(&vfs).expect("open");
    let mut transaction = store.begin().expect("begin");
    transaction.put(TREE, b"long", &vec![b'l'; 30_000]).expect("put");
    transaction.commit(None).expect("commit");
    let content = read_content(&store).expect("read").0;
    store.close().expect("close");
    (vfs.bytes(NAME), content)
}

/// The same with commits in its log, and its contents without and with the last one.
fn database_with_log() -> (Vec<u8>, Content, Content) {
    let (bytes, mut states) = database_with_states();
    let (after, before) = (states.pop().expect("states"), states.pop().expect("states"));
    (bytes, before, after)
}

/// A database with commits in its log, and the states before and after each of them.
fn database_with_states() -> (Vec<u8>, Vec<Content>) {
    let vfs = FaultVfs::new();
    Workload::run(&vfs, None);
    let store = open(&vfs).expect("open");
    let mut states = Vec::new();
    for number in 0..12u8 {
        if number > 0 {
            states.push(read_content(&store).expect("read").0);
        }
        let mut transaction = store.begin().expect("begin");
        transaction.put(TREE, &[b'z', number], &[number; 300]).expect("put");
        transaction.commit(Some(Durability::Strict)).expect("commit");
    }
    states.push(read_content(&store).expect("read").0);
    (vfs.bytes(NAME), states)
}

/// What is found in a damaged file.
fn read(bytes: &[u8]) -> Result<Content, String> {
    let vfs = FaultVfs::new();
    vfs.set_bytes(NAME, bytes);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let store = open(&vfs).map_err(|error| error.to_string())?;
        let (content, extents) = read_content(&store)?;
        // The check may find more, and must not panic either.
        let _ = store.integrity_check(&extents).map_err(|error| error.to_string())?;
        Ok(content)
    }));
    outcome.unwrap_or_else(|_| panic!("the store panicked"))
}

/// Flips bits all over a file, `step` apart; returns how many were found out.
fn flip_everywhere(bytes: &[u8], step: usize, allowed: &[&Content]) -> (usize, usize) {
    let (mut noticed, mut flipped) = (0, 0);
    let mut damaged = bytes.to_vec();
    for bit in (0..bytes.len() * 8).step_by(step) {
        damaged[bit / 8] ^= 1 << (bit % 8);
        flipped += 1;
        match read(&damaged) {
            Ok(content) => assert!(allowed.contains(&&content), "bit {bit} of byte {} changed what is read", bit / 8),
            Err(_) => noticed += 1,
        }
        damaged[bit / 8] ^= 1 << (bit % 8);
    }
    (noticed, flipped)
}

#[test]
fn flipped_bits_of_a_closed_database_give_an_error_or_its_contents() {
    let (bytes, content) = closed_database();
    let (noticed, flipped) = flip_everywhere(&bytes, 1999, &[&content]);
    println!("{noticed} of {flipped} flips were noticed");
    assert!(flipped > 500 && noticed > 50);
}

/// What a page of a closed database is: its kind where it has one.
fn kind_of(bytes: &[u8], page: usize) -> &'static str {
    let at = page * PAGE_BYTES;
    let log_pages = u32::from_le_bytes(bytes[48..52].try_into().expect("four bytes")) as usize;
    match (page, bytes[at + format::page::KIND]) {
        (0 | 1, _) => "meta",
        _ if page < 2 + log_pages => "log",
        (_, format::kind::LEAF) => "leaf",
        (_, format::kind::INNER) => "inner",
        (_, format::kind::OVERFLOW) => "overflow",
        (_, format::kind::DIRECTORY) => "directory",
        (_, format::kind::FREE_LIST) => "free list",
        _ => "extent or free",
    }
}

#[test]
fn flipped_bits_of_every_kind_of_page_are_noticed_or_harmless() {
    let (bytes, content) = closed_database();
    let mut seen: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let random = &mut Random::new(11);
    let mut damaged = bytes.clone();
    for page in 0..bytes.len() / PAGE_BYTES {
        let kind = kind_of(&bytes, page);
        // Every field of the header, the first slots, and anywhere.
        let mut places: Vec<usize> = [0, 8, 9, 10, 12, 14, 16, 17, 18, 20, 24, 28].into();
        places.extend((0..4).map(|_| random.below(PAGE_BYTES as u64) as usize));
        for place in places {
            let (at, mask) = (page * PAGE_BYTES + place, 1 << random.below(8));
            damaged[at] ^= mask;
            let counts = seen.entry(kind).or_default();
            counts.0 += 1;
            match read(&damaged) {
                Ok(found) => assert!(found == content, "byte {place} of {kind} page {page} changed what is read"),
                Err(_) => counts.1 += 1,
            }
            damaged[at] ^= mask;
        }
    }
    println!("flips and how many were noticed: {seen:?}");
    for kind in ["leaf", "inner", "overflow", "directory", "free list", "extent or free"] {
        assert!(seen.get(kind).is_some_and(|counts| counts.1 > 0), "no damage of a {kind} page was noticed: {seen:?}");
    }
}

#[test]
fn a_log_that_ends_or_is_overwritten_anywhere_gives_a_state_that_was() {
    let (bytes, states) = database_with_states();
    let log = 2 * PAGE_BYTES..bytes.len().min(2 * PAGE_BYTES + 32 * 1024);
    let used = log.start + bytes[log.clone()].iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let random = &mut Random::new(12);
    let (mut errors, mut prefixes) = (0, [0; 16]);
    for at in (log.start..used).step_by(24) {
        let mut zeroed = bytes.clone();
        zeroed[at..log.end].fill(0);
        let mut garbage = bytes.clone();
        garbage[at..log.end].iter_mut().for_each(|byte| *byte = random.next() as u8);
        // A hole with whole records behind it: those knew that what is gone was durable.
        let mut hole = bytes.clone();
        hole[at..(at + SECTOR_BYTES).min(log.end)].fill(0xa5);
        for (how, damaged) in [("zeros", zeroed), ("garbage", garbage), ("a hole", hole)] {
            match read(&damaged) {
                Ok(found) => match states.iter().position(|state| *state == found) {
                    Some(state) => prefixes[state] += 1,
                    None => panic!("{how} from byte {at} gave a state that never was"),
                },
                Err(_) => errors += 1,
            }
        }
    }
    println!("{errors} errors, states found: {prefixes:?}");
    assert!(errors > 50 && prefixes[..states.len()].iter().all(|count| *count > 0));
}

#[test]
fn flipped_bits_of_meta_slots_give_an_error_or_the_contents() {
    let (bytes, content) = closed_database();
    let mut noticed = 0;
    let mut damaged = bytes.clone();
    for slot in [0, PAGE_BYTES] {
        for bit in (slot * 8..(slot + 140) * 8).step_by(3) {
            damaged[bit / 8] ^= 1 << (bit % 8);
            match read(&damaged) {
                Ok(found) => assert!(found == content, "bit {bit} brought an older state back"),
                Err(_) => noticed += 1,
            }
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
    }
    assert!(noticed > 200, "{noticed}");
}

#[test]
fn flipped_bits_of_a_log_give_an_error_or_all_but_the_last_commit() {
    let (bytes, before, after) = database_with_log();
    // The last record has no witness that it was whole once: losing it looks like a
    // write that was torn before it was acknowledged.
    let log = &bytes[..10 * PAGE_BYTES];
    let mut whole = bytes.clone();
    let (mut noticed, mut lost) = (0, 0);
    for bit in (2 * PAGE_BYTES * 8..log.len() * 8).step_by(101) {
        whole[bit / 8] ^= 1 << (bit % 8);
        match read(&whole) {
            Ok(content) if content == before => lost += 1,
            Ok(content) => assert!(content == after, "bit {bit} changed what is read"),
            Err(_) => noticed += 1,
        }
        whole[bit / 8] ^= 1 << (bit % 8);
    }
    println!("{noticed} noticed, {lost} in the last record");
    assert!(noticed > 100 && lost > 5);
}

#[test]
fn swapped_and_overwritten_pages_are_noticed() {
    let (bytes, content) = closed_database();
    let pages = bytes.len() / PAGE_BYTES;
    let random = &mut Random::new(3);
    for _ in 0..300 {
        let mut damaged = bytes.clone();
        let (a, b) = (random.below(pages as u64) as usize, random.below(pages as u64) as usize);
        let page = bytes[b * PAGE_BYTES..(b + 1) * PAGE_BYTES].to_vec();
        damaged[a * PAGE_BYTES..(a + 1) * PAGE_BYTES].copy_from_slice(&page);
        if let Ok(found) = read(&damaged) {
            assert!(found == content, "page {b} in the place of page {a} changed what is read");
        }
    }
}

#[test]
fn cut_off_files_are_noticed() {
    let (bytes, content) = closed_database();
    // At every boundary of pages, and between.
    let between = (1..bytes.len()).step_by(PAGE_BYTES / 3);
    for length in between.chain((1..bytes.len() / PAGE_BYTES).map(|page| page * PAGE_BYTES)) {
        if let Ok(found) = read(&bytes[..length]) {
            assert!(found == content, "{length} bytes read as another database");
        }
    }
}

#[test]
fn other_files_and_newer_versions_are_refused() {
    let refuse = |bytes: &[u8]| {
        let vfs = FaultVfs::new();
        vfs.set_bytes(NAME, bytes);
        let error = open(&vfs).err().expect("refused");
        assert_eq!(vfs.bytes(NAME), bytes, "a file that is refused is not touched");
        error
    };
    assert_eq!(refuse(b"SQLite format 3\0 and so on"), Error::NotADatabase);
    assert_eq!(refuse(&[b"PAR1".to_vec(), vec![0; 60_000]].concat()), Error::NotADatabase);
    let (mut bytes, _) = closed_database();
    bytes[8] = 2;
    assert_eq!(refuse(&bytes), Error::NewerVersion { found: 2, supported: 1 });
    let (mut bytes, _) = closed_database();
    bytes[30] ^= 1;
    bytes[PAGE_BYTES + 30] ^= 1;
    assert!(matches!(refuse(&bytes), Error::Corrupt { .. }));
}
