//! A file of format version 1, byte for byte. If this fails the format has changed:
//! raise the version, migrate or refuse older files, and add a file beside this one.
//! `GINGHAM_WRITE_GOLDEN=<path> cargo test -p gingham-row-store golden` writes it.

use gingham_row_store::{Durability, MemoryVfs, Read, Store, StoreOptions, TreeId};
use std::sync::Arc;

const TREE: TreeId = TreeId(3);

static VERSION_1: &[u8] = include_bytes!("golden/version-1.gingham");

fn options() -> StoreOptions {
    StoreOptions { log_bytes: 16 * 1024, ..StoreOptions::default() }
}

/// A checkpoint with leaves, an inner page, a chain, an extent, a free run and a
/// directory, and a commit in the log.
fn write() -> Vec<u8> {
    let vfs = MemoryVfs::new();
    let store = Store::open(Arc::new(vfs.clone()), "golden", options()).expect("open");
    let mut transaction = store.begin().expect("begin");
    transaction.create_tree_with_id(TREE).expect("create");
    for key in 0..120u32 {
        transaction.put(TREE, &key.to_be_bytes(), &[key as u8; 100]).expect("put");
    }
    transaction.put(TREE, b"long", &[b'l'; 9000]).expect("put");
    let extent = transaction.write_extent(&[b'e'; 5000]).expect("extent");
    transaction.put(TREE, b"\xffextent", &extent.encode()).expect("put");
    transaction.commit(None).expect("commit");
    store.checkpoint().expect("checkpoint");
    let mut transaction = store.begin().expect("begin");
    transaction.delete(TREE, &7u32.to_be_bytes()).expect("delete");
    transaction.put(TREE, b"last", b"commit").expect("put");
    transaction.commit(Some(Durability::Strict)).expect("commit");
    vfs.bytes("golden").expect("bytes")
}

#[test]
fn version_1_is_written_as_ever() {
    let written = write();
    if let Some(path) = std::env::var_os("GINGHAM_WRITE_GOLDEN") {
        std::fs::write(path, &written).expect("write");
    }
    assert!(written == VERSION_1, "the bytes of a new file differ from those of version 1");
}

#[test]
fn version_1_is_read() {
    let vfs = MemoryVfs::new();
    vfs.insert("golden", VERSION_1).expect("insert");
    let store = Store::open(Arc::new(vfs), "golden", options()).expect("open");
    let snapshot = store.snapshot().expect("snapshot");
    assert_eq!((snapshot.count(TREE), snapshot.sequence()), (Ok(122), 2));
    assert_eq!(snapshot.get(TREE, b"long"), Ok(Some(vec![b'l'; 9000])));
    assert_eq!(snapshot.get(TREE, b"last"), Ok(Some(b"commit".to_vec())));
    let reference = snapshot.get(TREE, b"\xffextent").expect("get").expect("there");
    let extent = gingham_row_store::Extent::decode(&reference).expect("a reference");
    let mut bytes = vec![0; 5000];
    snapshot.read_extent(&extent, 0, &mut bytes).expect("read");
    assert_eq!(bytes, vec![b'e'; 5000]);
    assert!(store.integrity_check(&[extent]).expect("check").is_sound());
}
