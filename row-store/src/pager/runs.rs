//! A set of pages kept as runs: what is free, what a recovery has to set aside.

use std::collections::BTreeMap;

/// Pages, as runs that never touch each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunSet {
    runs: BTreeMap<u32, u32>,
    pages: u64,
}

impl RunSet {
    pub(crate) fn pages(&self) -> u64 {
        self.pages
    }

    /// How many runs there are.
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// `(first, pages)`, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.runs.iter().map(|(first, pages)| (*first, *pages))
    }

    /// The run that `page` is in.
    fn run_of(&self, page: u32) -> Option<(u32, u32)> {
        let (first, pages) = self.runs.range(..=page).next_back()?;
        (page - first < *pages).then_some((*first, *pages))
    }

    /// Whether any page of a run is in the set.
    pub(crate) fn overlaps(&self, first: u32, pages: u32) -> bool {
        let Some(last) = pages.checked_sub(1).and_then(|more| first.checked_add(more)) else { return false };
        self.run_of(first).is_some() || self.runs.range(first..=last).next().is_some()
    }

    /// Adds a run, of which no page may be in the set (ALLOC-1).
    pub(crate) fn insert(&mut self, first: u32, pages: u32) {
        assert!(!self.overlaps(first, pages), "ALLOC-1: pages {first}+{pages} are free already");
        if pages == 0 {
            return;
        }
        self.pages += u64::from(pages);
        let (mut first, mut pages) = (first, pages);
        if let Some((before, length)) = self.runs.range(..first).next_back().map(|(f, p)| (*f, *p))
            && before + length == first
        {
            self.runs.remove(&before);
            first = before;
            pages += length;
        }
        if let Some(length) = self.runs.remove(&(first + pages)) {
            pages += length;
        }
        self.runs.insert(first, pages);
    }

    /// Removes and returns the lowest page.
    pub(crate) fn take_page(&mut self) -> Option<u32> {
        let (first, pages) = self.runs.pop_first()?;
        if pages > 1 {
            self.runs.insert(first + 1, pages - 1);
        }
        self.pages -= 1;
        Some(first)
    }

    /// Removes a run of `pages` from the first run that is long enough.
    pub(crate) fn take_run(&mut self, pages: u32) -> Option<u32> {
        let (first, length) = self.runs.iter().find(|(_, length)| **length >= pages).map(|(f, l)| (*f, *l))?;
        self.runs.remove(&first);
        if length > pages {
            self.runs.insert(first + pages, length - pages);
        }
        self.pages -= u64::from(pages);
        Some(first)
    }

    /// Removes all pages of a run that are in the set; how many there were.
    pub(crate) fn remove(&mut self, first: u32, pages: u32) -> u64 {
        let end = u64::from(first) + u64::from(pages);
        let mut removed = 0;
        while let Some((at, length)) = self
            .run_of(first)
            .or_else(|| self.runs.range(first..).next().map(|(f, l)| (*f, *l)).filter(|(f, _)| u64::from(*f) < end))
        {
            let run_end = u64::from(at) + u64::from(length);
            self.runs.remove(&at);
            if at < first {
                self.runs.insert(at, first - at);
            }
            if run_end > end {
                self.runs.insert(end as u32, (run_end - end) as u32);
            }
            removed += run_end.min(end) - u64::from(at.max(first));
        }
        self.pages -= removed;
        removed
    }

    /// Pages of the run that ends at `end`; 0 if none does.
    pub(crate) fn pages_before(&self, end: u32) -> u32 {
        self.runs
            .range(..end)
            .next_back()
            .filter(|(first, pages)| **first + **pages == end)
            .map_or(0, |(_, pages)| *pages)
    }

    /// If the last run ends at `end`, removes it and returns where it began.
    pub(crate) fn take_tail(&mut self, end: u32) -> Option<u32> {
        let (first, pages) = self.runs.iter().next_back().map(|(f, p)| (*f, *p))?;
        if first + pages != end {
            return None;
        }
        self.runs.remove(&first);
        self.pages -= u64::from(pages);
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_join_and_runs_split() {
        let mut set = RunSet::default();
        set.insert(10, 2);
        set.insert(14, 2);
        set.insert(12, 2);
        assert_eq!(set.iter().collect::<Vec<_>>(), [(10, 6)]);
        assert_eq!(set.remove(12, 2), 2);
        assert_eq!(set.iter().collect::<Vec<_>>(), [(10, 2), (14, 2)]);
        assert_eq!(set.take_page(), Some(10));
        assert_eq!(set.take_run(2), Some(14));
        assert_eq!(set.pages(), 1);
        assert_eq!(set.take_tail(12), Some(11));
        assert_eq!(set.take_page(), None);
    }

    #[test]
    fn removal_counts_only_what_was_there() {
        let mut set = RunSet::default();
        set.insert(0, 4);
        set.insert(6, 4);
        assert!(set.overlaps(3, 2));
        assert!(!set.overlaps(4, 2));
        assert_eq!(set.remove(2, 6), 4);
        assert_eq!(set.iter().collect::<Vec<_>>(), [(0, 2), (8, 2)]);
        assert_eq!(set.pages(), 4);
    }
}
