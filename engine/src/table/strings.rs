//! Byte strings kept back to back, to be put in order together.

use crate::error::Result;

/// Byte strings one after the other.
#[derive(Default)]
pub(crate) struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Strings {
    /// Adds what `write` appends.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        write(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    pub(crate) fn push_bytes(&mut self, string: &[u8]) {
        self.bytes.extend_from_slice(string);
        self.ends.push(self.bytes.len());
    }

    /// Lets go of all strings, but not of their memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all together.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    /// The numbers of the strings in their order, equal ones in the order they came;
    /// `None` if all ascend already.
    pub(crate) fn order(&self) -> Option<Vec<u32>> {
        let count = self.len();
        if (1..count).all(|at| self.get(at - 1) < self.get(at)) {
            return None;
        }
        // Most pairs are told apart by their first bytes, which lie together here.
        let mut order: Vec<(u64, u32)> = (0..count).map(|at| (first_bytes(self.get(at)), at as u32)).collect();
        order.sort_unstable_by(|a, b| {
            let strings = || self.get(a.1 as usize).cmp(self.get(b.1 as usize));
            a.0.cmp(&b.0).then_with(strings).then(a.1.cmp(&b.1))
        });
        Some(order.into_iter().map(|(_, at)| at).collect())
    }
}

/// The first eight bytes as a number of their order; shorter strings come first.
fn first_bytes(string: &[u8]) -> u64 {
    let mut word = [0; 8];
    let length = string.len().min(8);
    word[..length].copy_from_slice(&string[..length]);
    u64::from_be_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_put_in_order_past_their_first_bytes() {
        let mut strings = Strings::default();
        for text in ["12345678b", "12345678a", "1", "", "12345678", "12345678a"] {
            strings.push_bytes(text.as_bytes());
        }
        assert_eq!(strings.order(), Some(vec![3, 2, 4, 1, 5, 0]));
    }
}
