//! Wrong contents under right checksums: what only a check of everything can find. Each
//! kind of thing in the file is made wrong once, and `integrity_check` must say so.

use gingham_row_store::format::{PAGE_BYTES, directory, inner, kind, leaf, overflow, page, page_checksum};
use gingham_row_store::{Extent, IntegrityReport, MemoryVfs, Store, StoreOptions, TreeId};
use std::sync::Arc;

const NAME: &str = "database";
const TREE: TreeId = TreeId(20);
const OTHER: TreeId = TreeId(21);

/// A closed database: a tree of three levels with long values, another, an extent, free
/// pages in the middle; its bytes.
fn database() -> (Vec<u8>, Extent) {
    let vfs = MemoryVfs::new();
    let options = StoreOptions { log_bytes: 16 * PAGE_BYTES as u32, ..StoreOptions::default() };
    let store = Store::open(Arc::new(vfs.clone()), NAME, options).expect("opens");
    let mut transaction = store.begin().expect("begins");
    transaction.create_tree_with_id(TREE).expect("creates");
    transaction.create_tree_with_id(OTHER).expect("creates");
    for key in 0..4000u32 {
        let mut long = key.to_be_bytes().to_vec();
        long.resize(600, b'k');
        transaction.put(TREE, &long, &[7; 100]).expect("puts");
    }
    transaction.put(TREE, b"long", &vec![b'l'; 50_000]).expect("puts");
    transaction.put(OTHER, b"key", b"value").expect("puts");
    let gap = transaction.write_extent(&vec![2; 200_000]).expect("writes");
    let extent = transaction.write_extent(&vec![3; 100_000]).expect("writes");
    transaction.commit(None).expect("commits");
    let mut transaction = store.begin().expect("begins");
    transaction.free_extent(&gap).expect("frees");
    transaction.commit(None).expect("commits");
    store.close().expect("closes");
    (vfs.bytes(NAME).expect("bytes"), extent)
}

fn check(bytes: &[u8], extents: &[Extent]) -> Result<IntegrityReport, String> {
    let vfs = MemoryVfs::new();
    vfs.insert(NAME, bytes).expect("inserts");
    let store = Store::open(Arc::new(vfs), NAME, StoreOptions::default()).map_err(|error| error.to_string())?;
    store.integrity_check(extents).map_err(|error| error.to_string())
}

fn checksum(content: &[u8], id: usize) -> [u8; 8] {
    let content: &[u8; PAGE_BYTES] = content.try_into().expect("a page");
    page_checksum(content, id as u32).to_le_bytes()
}

/// The data pages of a kind and level, ascending.
fn pages(bytes: &[u8], wanted: u8, level: u8) -> Vec<usize> {
    let is_wanted = |id: &usize| {
        let content = &bytes[id * PAGE_BYTES..][..PAGE_BYTES];
        let sealed = checksum(content, *id) == content[..8];
        sealed && content[page::KIND] == wanted && content[page::LEVEL] == level
    };
    (18..bytes.len() / PAGE_BYTES).filter(is_wanted).collect()
}

/// Changes a page and seals it again.
fn edit(bytes: &mut [u8], id: usize, change: impl FnOnce(&mut [u8])) {
    let content = &mut bytes[id * PAGE_BYTES..][..PAGE_BYTES];
    change(content);
    let checksum = checksum(content, id);
    content[..8].copy_from_slice(&checksum);
}

fn u16_at(content: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([content[at], content[at + 1]]))
}

fn u32_at(content: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([content[at], content[at + 1], content[at + 2], content[at + 3]])
}

/// Where the cell of an index begins.
fn cell(content: &[u8], index: usize) -> usize {
    u16_at(content, page::SLOTS + 2 * index)
}

#[track_caller]
fn expect(what: &str, expected: &[&str], change: impl FnOnce(&mut Vec<u8>)) {
    let (mut bytes, extent) = database();
    let sound = check(&bytes, &[extent]).expect("checks");
    assert!(sound.is_sound(), "{:?}", sound.problems);
    change(&mut bytes);
    let found = match check(&bytes, &[extent]) {
        Ok(report) => report.problems.join("\n"),
        // What cannot even be opened is found out as well.
        Err(error) => error,
    };
    assert!(expected.iter().any(|part| found.contains(part)), "{what}: {found:?}");
}

#[test]
fn keys_out_of_order() {
    expect("a leaf's slots are swapped", &["out of order"], |bytes| {
        let id = pages(bytes, kind::LEAF, 0)[1];
        edit(bytes, id, |content| {
            let (first, second) = (page::SLOTS, page::SLOTS + 2);
            for at in 0..2 {
                content.swap(first + at, second + at);
            }
        });
    });
}

#[test]
fn an_entry_that_is_gone() {
    // Where its bytes are does not add up any more.
    expect("a leaf has one cell less", &["entries", "cells overlap"], |bytes| {
        let id = pages(bytes, kind::LEAF, 0)[1];
        edit(bytes, id, |content| content[page::COUNT] -= 1);
    });
}

#[test]
fn a_count_in_an_inner_page() {
    expect("an inner cell counts one more", &["entries, not"], |bytes| {
        let id = pages(bytes, kind::INNER, 1)[0];
        edit(bytes, id, |content| {
            let at = cell(content, 1) + inner::ENTRIES;
            content[at] += 1;
        });
    });
}

#[test]
fn a_child_that_two_parents_have() {
    expect("two cells lead to one page", &["used twice"], |bytes| {
        let id = pages(bytes, kind::INNER, 1)[0];
        edit(bytes, id, |content| {
            let (first, second) = (cell(content, 0) + inner::CHILD, cell(content, 1) + inner::CHILD);
            content.copy_within(first..first + 4, second);
        });
    });
}

#[test]
fn a_separator_that_does_not_separate() {
    expect("a separator is above its child's keys", &["out of order"], |bytes| {
        let id = pages(bytes, kind::INNER, 1)[0];
        edit(bytes, id, |content| {
            let at = cell(content, 1) + inner::HEADER_BYTES;
            content[at] = 0xff;
        });
    });
}

#[test]
fn a_chain_that_runs_in_a_circle() {
    expect("an overflow page leads to itself", &["overflow", "used twice"], |bytes| {
        let id = *pages(bytes, kind::OVERFLOW, 0)
            .iter()
            .find(|id| u32_at(&bytes[**id * PAGE_BYTES..], overflow::NEXT) != 0)
            .expect("a chain has pages in its middle");
        edit(bytes, id, |content| content[overflow::NEXT..][..4].copy_from_slice(&(id as u32).to_le_bytes()));
    });
}

#[test]
fn a_value_of_another_length_than_its_chain() {
    expect("a cell names another length", &["overflow chain"], |bytes| {
        let overflows = |content: &[u8], index: usize| {
            u16_at(content, cell(content, index) + leaf::VALUE_BYTES) == usize::from(leaf::OVERFLOWS)
        };
        let (id, index) = pages(bytes, kind::LEAF, 0)
            .into_iter()
            .find_map(|id| {
                let content = &bytes[id * PAGE_BYTES..][..PAGE_BYTES];
                (0..u16_at(content, page::COUNT)).find(|i| overflows(content, *i)).map(|index| (id, index))
            })
            .expect("a value overflows");
        edit(bytes, id, |content| {
            let at = cell(content, index);
            let reference = at + leaf::HEADER_BYTES + u16_at(content, at + leaf::KEY_BYTES);
            content[reference + 4] ^= 0x40;
        });
    });
}

#[test]
fn a_tree_that_another_tree_has() {
    expect("two trees have one root", &["used twice", "entries"], |bytes| {
        let id = pages(bytes, kind::DIRECTORY, 0).pop().expect("a directory");
        edit(bytes, id, |content| {
            let (first, second) = (page::SLOTS, page::SLOTS + directory::ENTRY_BYTES);
            content.copy_within(first + 4..first + directory::ENTRY_BYTES, second + 4);
        });
    });
}

#[test]
fn a_free_page_that_is_in_use() {
    expect("the free list has a page of a tree", &["in use", "is free"], |bytes| {
        let id = pages(bytes, kind::FREE_LIST, 0).pop().expect("a free list");
        edit(bytes, id, |content| {
            let first = u32_at(content, page::SLOTS) - 1;
            let count = u32_at(content, page::SLOTS + 4) + 1;
            content[page::SLOTS..][..4].copy_from_slice(&first.to_le_bytes());
            content[page::SLOTS + 4..][..4].copy_from_slice(&count.to_le_bytes());
        });
    });
}

#[test]
fn a_page_that_nobody_has() {
    expect("the free list lacks a page", &["belong to nobody"], |bytes| {
        let id = pages(bytes, kind::FREE_LIST, 0).pop().expect("a free list");
        edit(bytes, id, |content| {
            let count = u32_at(content, page::SLOTS + 4) - 1;
            content[page::SLOTS + 4..][..4].copy_from_slice(&count.to_le_bytes());
        });
    });
}

#[test]
fn an_extent_that_is_damaged_or_named_twice() {
    expect("a byte of an extent", &["extent at page"], |bytes| {
        let (_, extent) = database();
        bytes[extent.first_page.0 as usize * PAGE_BYTES + 5000] ^= 1;
    });
    let (bytes, extent) = database();
    let report = check(&bytes, &[extent, extent]).expect("checks");
    assert!(report.problems.iter().any(|p| p.contains("shares a page")), "{:?}", report.problems);
    let report = check(&bytes, &[]).expect("checks");
    assert!(report.problems.iter().any(|p| p.contains("belong to nobody")), "{:?}", report.problems);
}
