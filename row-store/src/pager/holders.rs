//! Who still needs pages that the newest state has let go of.
//!
//! Time is a counter of versions. A page is born at one version and freed at a later
//! one; a holder at version `v` (a snapshot, a savepoint, a state that recovery may
//! have to find) needs it if it was born by then and not yet freed: ALLOC-2.

use std::collections::HashMap;
use std::ops::Range;

/// What a holder protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum HolderKind {
    /// A reader in this process: the page in memory or in the file.
    Memory,
    /// A state that recovery may restore: the page in the file.
    Disk,
}

/// Pages that were freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freed {
    pub(crate) first: u32,
    pub(crate) pages: u32,
    pub(crate) born: u64,
    pub(crate) died: u64,
    /// Whether the file has the content; if not, no recovery can need it.
    pub(crate) on_disk: bool,
}

/// The registry of holders, and the freed pages they keep from being used again.
#[derive(Debug, Default)]
pub(crate) struct Holders {
    memory: Versions,
    disk: Versions,
    /// Each entry waits at one holder that needs it; when that one leaves, it moves on
    /// to the next or is free.
    pending: HashMap<(HolderKind, u64), Vec<Freed>>,
    pending_pages: u64,
    /// Those among them that wait for recovery's sake.
    pending_disk_pages: u64,
}

/// Versions that are held, ascending, and how often. There are few, and nearly always the
/// newest comes and goes: every statement that reads holds it.
#[derive(Debug, Default)]
struct Versions(Vec<(u64, u32)>);

impl Versions {
    fn find(&self, version: u64) -> Result<usize, usize> {
        match self.0.last() {
            Some((newest, _)) if *newest == version => Ok(self.0.len() - 1),
            _ => self.0.binary_search_by_key(&version, |held| held.0),
        }
    }

    fn add(&mut self, version: u64) {
        match self.find(version) {
            Ok(index) => self.0[index].1 += 1,
            Err(index) => self.0.insert(index, (version, 1)),
        }
    }

    /// Takes one holder away; whether it was the version's last. `None` if it has none.
    fn remove(&mut self, version: u64) -> Option<bool> {
        let index = self.find(version).ok()?;
        self.0[index].1 -= 1;
        let last = self.0[index].1 == 0;
        if last {
            self.0.remove(index);
        }
        Some(last)
    }

    /// The first version in a range.
    fn first_in(&self, range: Range<u64>) -> Option<u64> {
        let index = self.0.partition_point(|held| held.0 < range.start);
        self.0.get(index).map(|held| held.0).filter(|version| *version < range.end)
    }
}

impl Holders {
    fn of(&mut self, kind: HolderKind) -> &mut Versions {
        match kind {
            HolderKind::Memory => &mut self.memory,
            HolderKind::Disk => &mut self.disk,
        }
    }

    pub(crate) fn register(&mut self, kind: HolderKind, version: u64) {
        self.of(kind).add(version);
    }

    /// Ends one registration; appends to `out` what nobody needs any more.
    pub(crate) fn release(&mut self, kind: HolderKind, version: u64, out: &mut Vec<Freed>) {
        match self.of(kind).remove(version) {
            Some(false) => {}
            Some(true) => {
                // Nothing waits after a statement that only read.
                if self.pending.is_empty() {
                    return;
                }
                for freed in self.pending.remove(&(kind, version)).unwrap_or_default() {
                    self.count_pending(kind, freed.pages, u64::wrapping_sub);
                    if !self.retire(freed) {
                        out.push(freed);
                    }
                }
            }
            None => debug_assert!(false, "holder {version} was never registered"),
        }
    }

    /// Ends every disk holder before `version`.
    pub(crate) fn release_disk_before(&mut self, version: u64, keep: Option<u64>, out: &mut Vec<Freed>) {
        let ended: Vec<(u64, u32)> =
            self.disk.0.iter().filter(|(held, _)| *held < version && Some(*held) != keep).copied().collect();
        for (version, count) in ended {
            for _ in 0..count {
                self.release(HolderKind::Disk, version, out);
            }
        }
    }

    /// The holder that needs a freed run, if any does.
    pub(crate) fn blocker(&self, freed: &Freed) -> Option<(HolderKind, u64)> {
        let lifetime = || freed.born..freed.died;
        if freed.born >= freed.died {
            return None;
        }
        if let Some(version) = self.memory.first_in(lifetime()) {
            return Some((HolderKind::Memory, version));
        }
        if freed.on_disk {
            return self.disk.first_in(lifetime()).map(|version| (HolderKind::Disk, version));
        }
        None
    }

    /// Keeps a freed run for its holders; `false` if there are none and it is free.
    pub(crate) fn retire(&mut self, freed: Freed) -> bool {
        let Some(blocker) = self.blocker(&freed) else { return false };
        self.count_pending(blocker.0, freed.pages, u64::wrapping_add);
        self.pending.entry(blocker).or_default().push(freed);
        true
    }

    /// The newest version that a reader in this process holds: pages born by then must
    /// not be changed in place.
    pub(crate) fn newest_in_memory(&self) -> u64 {
        self.memory.0.last().map_or(0, |held| held.0)
    }

    /// Runs that are kept for holders only; the newest state does not have them.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &Freed> {
        self.pending.values().flatten()
    }

    fn count_pending(&mut self, kind: HolderKind, pages: u32, change: fn(u64, u64) -> u64) {
        self.pending_pages = change(self.pending_pages, u64::from(pages));
        if kind == HolderKind::Disk {
            self.pending_disk_pages = change(self.pending_disk_pages, u64::from(pages));
        }
    }

    pub(crate) fn pending_disk_pages(&self) -> u64 {
        self.pending_disk_pages
    }

    pub(crate) fn pending_pages(&self) -> u64 {
        self.pending_pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn freed(born: u64, at: u64, on_disk: bool) -> Freed {
        Freed { first: 9, pages: 1, born, died: at, on_disk }
    }

    #[test]
    fn a_page_waits_for_every_holder_of_its_lifetime() {
        let mut holders = Holders::default();
        let mut out = Vec::new();
        holders.register(HolderKind::Memory, 5);
        holders.register(HolderKind::Disk, 7);
        assert!(!holders.retire(freed(6, 7, true)), "born after 5, freed by 7");
        assert!(!holders.retire(freed(6, 9, false)), "recovery needs only what the file has");
        assert!(holders.retire(freed(3, 9, true)));
        holders.release(HolderKind::Memory, 5, &mut out);
        assert_eq!((out.len(), holders.pending_pages()), (0, 1));
        holders.release(HolderKind::Disk, 7, &mut out);
        assert_eq!((out.len(), holders.pending_pages()), (1, 0));
    }
}
