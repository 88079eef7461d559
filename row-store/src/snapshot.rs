//! Reading one commit.
use crate::*;
fn unfinished<T>() -> Result<T> { Err(Error::Poisoned("unfinished".into())) }
/// One commit of the database, kept readable while writers go on. Clones share it.
#[derive(Clone)]
pub struct Snapshot {}
impl Snapshot {
    /// Calls `f` with a key's value.
    pub fn get_with<R>(&self, _tree: TreeId, _key: &[u8], _f: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> { unfinished() }
    /// The number of the commit this is.
    pub fn sequence(&self) -> u64 { 0 }
}
macro_rules! stub { ($t:ty) => { impl Read for $t {
    fn get(&self, _: TreeId, _: &[u8]) -> Result<Option<Vec<u8>>> { unfinished() }
    fn visit(&self, _: TreeId, _: &[u8], _: &mut dyn FnMut(&[u8])) -> Result<bool> { unfinished() }
    fn contains(&self, _: TreeId, _: &[u8]) -> Result<bool> { unfinished() }
    fn count(&self, _: TreeId) -> Result<u64> { unfinished() }
    fn count_range(&self, _: TreeId, _: std::ops::Bound<&[u8]>, _: std::ops::Bound<&[u8]>) -> Result<u64> { unfinished() }
    fn cursor(&self, _: TreeId, _: std::ops::Bound<&[u8]>, _: std::ops::Bound<&[u8]>, _: Direction) -> Result<Cursor> { unfinished() }
    fn read_extent(&self, _: &Extent, _: u64, _: &mut [u8]) -> Result<()> { unfinished() }
    fn trees(&self) -> Vec<TreeId> { Vec::new() }
    fn tree_exists(&self, _: TreeId) -> bool { false }
} } }
stub!(Snapshot);
stub!(Transaction);
