//! A small database with every kind of page, and reading one that may be damaged.

use gingham_row_store::{Direction, Durability, Extent, MemoryVfs, Read, Result, Store, StoreOptions, TreeId, format};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

const NAME: &str = "checked";

/// The tree that the base's entries are in.
pub(crate) const TREE: TreeId = TreeId(20);

/// What a reader can tell: entries, and the contents of extents by their keys.
pub(crate) type Content = BTreeMap<Vec<u8>, Vec<u8>>;

/// Keys of extents' references begin so.
const EXTENT_PREFIX: &[u8] = b"\xffextent";

fn options() -> StoreOptions {
    StoreOptions { log_bytes: 16 * 1024, ..StoreOptions::default() }
}

/// The bytes of a closed database with leaves, inner pages, a chain, an extent, free
/// pages and a directory, and its contents.
pub(crate) fn base() -> &'static (Vec<u8>, Content) {
    static BASE: OnceLock<(Vec<u8>, Content)> = OnceLock::new();
    BASE.get_or_init(|| {
        let bytes = make().expect("memory has room");
        let content = read(&bytes).expect("nothing is damaged");
        (bytes, content)
    })
}

fn make() -> Result<Vec<u8>> {
    let vfs = MemoryVfs::new();
    let store = Store::open(Arc::new(vfs.clone()), NAME, options())?;
    let mut transaction = store.begin()?;
    transaction.create_tree_with_id(TREE)?;
    for key in 0..900u32 {
        transaction.put(TREE, &key.to_be_bytes(), &[key as u8; 40])?;
    }
    transaction.put(TREE, b"long", &[b'l'; 20_000])?;
    transaction.put(TREE, b"longer", &[b'm'; 20_000])?;
    for number in 0..3u8 {
        let extent = transaction.write_extent(&[number; 9000])?;
        transaction.put(TREE, &[EXTENT_PREFIX, &[number]].concat(), &extent.encode())?;
    }
    transaction.commit(None)?;
    // Free pages in the middle.
    let mut transaction = store.begin()?;
    transaction.delete(TREE, b"long")?;
    for key in 200..700u32 {
        transaction.delete(TREE, &key.to_be_bytes())?;
    }
    transaction.commit(Some(Durability::Strict))?;
    store.close()?;
    vfs.bytes(NAME)
}

/// Opens bytes as a database, reads everything, lets it check itself, and writes to it
/// if it reads well.
pub(crate) fn read(bytes: &[u8]) -> Result<Content> {
    let vfs = MemoryVfs::new();
    vfs.insert(NAME, bytes)?;
    let store = Store::open(Arc::new(vfs), NAME, options())?;
    let read = read_store(&store);
    let extents = read.as_ref().map_or(&[][..], |(_, extents)| extents.as_slice());
    let is_sound = store.integrity_check(extents).is_ok_and(|report| report.is_sound());
    let (content, _) = read?;
    // Writing over damage that nobody can know of may fail, and must not panic.
    let written = write(&store);
    if is_sound {
        written?;
    }
    Ok(content)
}

fn read_store(store: &Store) -> Result<(Content, Vec<Extent>)> {
    let snapshot = store.snapshot()?;
    let (mut content, mut extents) = (Content::new(), Vec::new());
    for tree in snapshot.trees() {
        let mut cursor = snapshot.cursor(tree, Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
        let mut count = 0;
        while let Some((key, value)) = cursor.next()? {
            count += 1;
            let reference = key.starts_with(EXTENT_PREFIX).then(|| Extent::decode(value)).flatten();
            let value = match reference {
                Some(extent) => {
                    extents.push(extent);
                    // A reference that makes no sense is refused before its bytes are asked for.
                    let mut buffer = vec![0; (extent.bytes as usize).min(1 << 20)];
                    snapshot.read_extent(&extent, 0, &mut buffer)?;
                    buffer
                }
                None => value.to_vec(),
            };
            content.insert([tree.0.to_be_bytes().as_slice(), key].concat(), value);
        }
        let mut cursor = snapshot.cursor(tree, Bound::Unbounded, Bound::Unbounded, Direction::Reverse)?;
        while cursor.next()?.is_some() {
            count -= 1;
        }
        assert_eq!(count, 0, "a cursor meets as many entries backwards as forwards");
        let _ = snapshot.count_range(tree, Bound::Included(b"k".as_slice()), Bound::Unbounded)?;
        let _ = snapshot.get(tree, b"longer")?;
    }
    Ok((content, extents))
}

fn write(store: &Store) -> Result<()> {
    let mut transaction = store.begin()?;
    if !transaction.tree_exists(TREE) {
        transaction.create_tree_with_id(TREE)?;
    }
    for key in 0..20u32 {
        transaction.put(TREE, &(key * 50).to_be_bytes(), &[7; 600])?;
        transaction.delete(TREE, &(key * 50 + 1).to_be_bytes())?;
    }
    transaction.write_extent(&[1; 30_000])?;
    transaction.commit(None)?;
    store.checkpoint()
}

/// The log's place in a file of the base's layout.
pub(crate) fn log_range(bytes: &[u8]) -> std::ops::Range<usize> {
    let pages = format::get_u32(bytes, format::meta::LOG_PAGES) as usize;
    let first = format::LOG_FIRST_PAGE as usize * format::PAGE_BYTES;
    first..first + pages * format::PAGE_BYTES
}

/// Bytes taken one by one; zeros when they are used up.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    pub(crate) fn number(&mut self) -> usize {
        usize::from(self.byte()) | usize::from(self.byte()) << 8
    }

    pub(crate) fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
