//! The changes of one commit as bytes: written while the transaction runs, read back
//! when recovery replays them.

use crate::format::{KEY_BYTES_MAX, VALUE_BYTES_MAX, change};
use crate::{Error, Result};

/// One change of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change<'a> {
    Put { tree: u32, key: &'a [u8], value: &'a [u8] },
    Delete { tree: u32, key: &'a [u8] },
    CreateTree(u32),
    DropTree(u32),
    ClearTree(u32),
    AddExtent { first: u32, pages: u32 },
    FreeExtent { first: u32, pages: u32 },
}

/// Collects the changes of the running transaction.
#[derive(Debug)]
pub(crate) struct ChangeWriter {
    bytes: Vec<u8>,
    bytes_max: usize,
    /// Too much for the log: the commit will be a checkpoint.
    overflowed: bool,
    last_tree: Option<u32>,
    last_key: Vec<u8>,
    changed: bool,
}

/// A position to which the writer can be cut back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeMark {
    bytes: usize,
    changed: bool,
}

impl ChangeWriter {
    /// `bytes_max` is the most a commit may add to the log.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            bytes_max,
            overflowed: bytes_max == 0,
            last_tree: None,
            last_key: Vec::new(),
            changed: false,
        }
    }

    /// Whether there is anything to commit.
    pub(crate) fn has_changes(&self) -> bool {
        self.changed
    }

    /// The payload, unless it is too long for the log.
    pub(crate) fn payload(&self) -> Option<&[u8]> {
        (!self.overflowed).then_some(&self.bytes)
    }

    pub(crate) fn mark(&self) -> ChangeMark {
        ChangeMark { bytes: self.bytes.len(), changed: self.changed }
    }

    /// Forgets what came after a mark.
    pub(crate) fn cut(&mut self, mark: ChangeMark) {
        self.bytes.truncate(mark.bytes);
        self.changed = mark.changed;
        // What the reader will remember here is not known any more; sharing nothing with
        // it is always right.
        self.last_tree = None;
        self.last_key.clear();
    }

    /// Notes a change that the log has no words for: the commit will be a checkpoint.
    pub(crate) fn demand_checkpoint(&mut self) {
        self.changed = true;
        self.overflow();
    }

    fn overflow(&mut self) {
        self.overflowed = true;
        self.bytes = Vec::new();
    }

    fn begin(&mut self, added_bytes: usize) -> bool {
        self.changed = true;
        if !self.overflowed && self.bytes.len() + added_bytes + 32 > self.bytes_max {
            self.overflow();
        }
        !self.overflowed
    }

    /// What comes before a change's bytes, but for the length of its value; and how many bytes
    /// of the key are those of the key before.
    fn keyed(&mut self, tag: u8, tree: u32, key: &[u8]) -> (Head, usize) {
        let mut head = Head::default();
        if self.last_tree == Some(tree) {
            head.byte(tag | change::SAME_TREE);
        } else {
            head.byte(tag);
            head.number(u64::from(tree));
            self.last_tree = Some(tree);
        }
        let shared = shared_bytes(&self.last_key, key);
        head.number(shared as u64);
        head.number((key.len() - shared) as u64);
        self.last_key.truncate(shared);
        self.last_key.extend_from_slice(&key[shared..]);
        (head, shared)
    }

    pub(crate) fn put(&mut self, tree: u32, key: &[u8], value: &[u8]) {
        if self.begin(key.len() + value.len()) {
            let (mut head, shared) = self.keyed(change::PUT, tree, key);
            head.number(value.len() as u64);
            self.bytes.extend_from_slice(head.bytes());
            self.bytes.extend_from_slice(&key[shared..]);
            self.bytes.extend_from_slice(value);
        }
    }

    pub(crate) fn delete(&mut self, tree: u32, key: &[u8]) {
        if self.begin(key.len()) {
            let (head, shared) = self.keyed(change::DELETE, tree, key);
            self.bytes.extend_from_slice(head.bytes());
            self.bytes.extend_from_slice(&key[shared..]);
        }
    }

    fn plain(&mut self, tag: u8, numbers: &[u32]) {
        if self.begin(0) {
            let mut head = Head::default();
            head.byte(tag);
            for number in numbers {
                head.number(u64::from(*number));
            }
            self.bytes.extend_from_slice(head.bytes());
        }
    }

    pub(crate) fn create_tree(&mut self, tree: u32) {
        self.plain(change::CREATE_TREE, &[tree]);
    }

    pub(crate) fn drop_tree(&mut self, tree: u32) {
        self.plain(change::DROP_TREE, &[tree]);
    }

    pub(crate) fn clear_tree(&mut self, tree: u32) {
        self.plain(change::CLEAR_TREE, &[tree]);
    }

    pub(crate) fn add_extent(&mut self, first: u32, pages: u32) {
        self.plain(change::ADD_EXTENT, &[first, pages]);
    }

    pub(crate) fn free_extent(&mut self, first: u32, pages: u32) {
        self.plain(change::FREE_EXTENT, &[first, pages]);
    }
}

/// A change's tag and at most four numbers of at most five bytes each, put together before
/// they are appended at once.
#[derive(Default)]
struct Head {
    bytes: [u8; 24],
    len: usize,
}

impl Head {
    fn byte(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    /// Seven bits a byte, the lowest first.
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// How many bytes two keys begin with that are the same.
fn shared_bytes(left: &[u8], right: &[u8]) -> usize {
    let (left_chunks, right_chunks) = (left.as_chunks::<8>().0, right.as_chunks::<8>().0);
    let mut shared = 0;
    for (left, right) in left_chunks.iter().zip(right_chunks) {
        let different = u64::from_le_bytes(*left) ^ u64::from_le_bytes(*right);
        if different != 0 {
            return shared + different.trailing_zeros() as usize / 8;
        }
        shared += 8;
    }
    shared + left[shared..].iter().zip(&right[shared..]).take_while(|(left, right)| left == right).count()
}

/// Reads the changes of a commit.
pub(crate) struct ChangeReader<'a> {
    rest: &'a [u8],
    tree: Option<u32>,
    key: Vec<u8>,
}

fn damaged() -> Error {
    Error::corrupt(crate::format::LOG_FIRST_PAGE, "a commit's changes in the log cannot be read")
}

impl<'a> ChangeReader<'a> {
    pub(crate) fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload, tree: None, key: Vec::new() }
    }

    fn number(&mut self) -> Result<u32> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or_else(damaged)?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| damaged());
            }
        }
        Err(damaged())
    }

    fn take(&mut self, bytes: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(bytes).ok_or_else(damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next change; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Change<'_>>> {
        let Some((tag, rest)) = self.rest.split_first() else { return Ok(None) };
        self.rest = rest;
        let same_tree = tag & change::SAME_TREE != 0;
        match tag & !change::SAME_TREE {
            keyed @ (change::PUT | change::DELETE) => {
                let tree = if same_tree { self.tree.ok_or_else(damaged)? } else { self.number()? };
                self.tree = Some(tree);
                let (shared, more) = (self.number()? as usize, self.number()? as usize);
                let value_bytes = if keyed == change::PUT { self.number()? as usize } else { 0 };
                if shared > self.key.len() || shared + more > KEY_BYTES_MAX || value_bytes > VALUE_BYTES_MAX {
                    return Err(damaged());
                }
                let suffix = self.take(more)?;
                self.key.truncate(shared);
                self.key.extend_from_slice(suffix);
                let value = self.take(value_bytes)?;
                let key = self.key.as_slice();
                Ok(Some(if keyed == change::PUT {
                    Change::Put { tree, key, value }
                } else {
                    Change::Delete { tree, key }
                }))
            }
            _ if same_tree => Err(damaged()),
            change::CREATE_TREE => Ok(Some(Change::CreateTree(self.number()?))),
            change::DROP_TREE => Ok(Some(Change::DropTree(self.number()?))),
            change::CLEAR_TREE => Ok(Some(Change::ClearTree(self.number()?))),
            change::ADD_EXTENT => Ok(Some(Change::AddExtent { first: self.number()?, pages: self.number()? })),
            change::FREE_EXTENT => Ok(Some(Change::FreeExtent { first: self.number()?, pages: self.number()? })),
            _ => Err(damaged()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_read_back_also_after_a_cut() {
        let mut writer = ChangeWriter::new(10_000);
        writer.put(20, b"apple", b"1");
        let mark = writer.mark();
        writer.put(20, b"apricot", b"2");
        writer.cut(mark);
        writer.put(20, b"apricots", b"3");
        writer.put(20, b"apricots2", b"");
        writer.delete(21, b"apricots");
        writer.create_tree(400);
        writer.add_extent(1 << 30, 7);
        let payload = writer.payload().expect("fits").to_vec();
        let mut reader = ChangeReader::new(&payload);
        let expected = [
            Change::Put { tree: 20, key: b"apple", value: b"1" },
            Change::Put { tree: 20, key: b"apricots", value: b"3" },
            Change::Put { tree: 20, key: b"apricots2", value: b"" },
            Change::Delete { tree: 21, key: b"apricots" },
            Change::CreateTree(400),
            Change::AddExtent { first: 1 << 30, pages: 7 },
        ];
        for change in &expected {
            assert_eq!(reader.next().expect("well formed").as_ref(), Some(change));
        }
        assert_eq!(reader.next(), Ok(None));
    }

    #[test]
    fn shared_bytes_end_where_keys_differ() {
        let key: Vec<u8> = (0..40).collect();
        for end in 0..=key.len() {
            assert_eq!(shared_bytes(&key, &key[..end]), end);
            let mut other = key.clone();
            other.get_mut(end).into_iter().for_each(|byte| *byte ^= 0x80);
            assert_eq!(shared_bytes(&key, &other), end);
        }
    }

    #[test]
    fn sequential_puts_are_small() {
        let mut writer = ChangeWriter::new(10_000);
        (1000u64..1100).for_each(|key| writer.put(20, &key.to_be_bytes(), b"0123456789"));
        let bytes = writer.payload().expect("fits").len();
        assert!(bytes < 100 * 17, "{bytes} bytes for 100 puts of 18 bytes");
    }

    #[test]
    fn any_bytes_give_changes_or_an_error() {
        let mut state = 1u64;
        for _ in 0..2000 {
            let bytes: Vec<u8> = (0..40)
                .map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (state >> 60) as u8 | ((state >> 50) as u8 & 0x83)
                })
                .collect();
            let mut reader = ChangeReader::new(&bytes);
            while let Ok(Some(_)) = reader.next() {}
        }
    }
}
