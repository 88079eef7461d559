//! Moving over a range of a tree in order.
use crate::*;
/// Moves over the entries of a range. Owns its state of the database; `Send`.
pub struct Cursor {}
impl Cursor {
    /// The next entry, `(key, value)`, valid until the next call; `None` at the end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> { Err(Error::Poisoned("unfinished".into())) }
    /// Moves so that the next entry is the first at or past `key` in the cursor's direction, within its bounds.
    pub fn seek(&mut self, _key: &[u8]) -> Result<()> { Err(Error::Poisoned("unfinished".into())) }
}
