//! `integrity_check`: every page has exactly one owner, and each is as it should be.

use crate::format::extent::BLOCK_BYTES;
use crate::state::State;
use crate::tree::{self, Check};
use crate::{Extent, IntegrityReport, PageId};

/// Verifies the newest commit.
pub(crate) fn check(state: &mut State, extents: &[Extent]) -> IntegrityReport {
    let mut report = IntegrityReport::default();
    let mut owned = Owners::new(state.pager.high_water());
    owned.claim_run(0, state.pager.data_first());

    let directory = std::sync::Arc::clone(&state.committed);
    for (tree, root) in directory.trees() {
        let mut claim = |page: PageId| owned.claim(page.0);
        let mut check = Check { tree: tree.0, problems: &mut report.problems, claim: &mut claim };
        tree::check(&mut state.pager, root, &mut check);
        report.entries = report.entries.wrapping_add(root.entries);
    }
    report.tree_pages = owned.count - u64::from(state.pager.data_first());

    for extent in extents {
        check_extent(state, extent, &mut owned, &mut report);
    }
    for (first, pages) in state.pager.free_runs().iter() {
        if !owned.claim_run(first, pages) {
            report.problems.push(format!("free pages {first}+{pages} are in use"));
        }
        report.free_pages += u64::from(pages);
    }
    let meta = &state.meta;
    for (what, first, pages) in
        [("directory", meta.directory_first, meta.directory_pages), ("free list", meta.free_first, meta.free_pages)]
    {
        if pages > 0 && !owned.claim_run(first, pages) {
            report.problems.push(format!("{what} pages {first}+{pages} are used twice"));
        }
    }
    for freed in state.pager.holders.pending() {
        if !owned.claim_run(freed.first, freed.pages) {
            report.problems.push(format!("held pages {}+{} are in use", freed.first, freed.pages));
        }
    }
    let lost = owned.lost();
    if let Some(first) = lost.first() {
        report.problems.push(format!("{} pages belong to nobody, the first is {first}", lost.len()));
    }
    report.problems.truncate(tree::PROBLEMS_MAX);
    report
}

fn check_extent(state: &mut State, extent: &Extent, owned: &mut Owners, report: &mut IntegrityReport) {
    let first = extent.first_page.0;
    if let Err(error) = state.check_extent(extent) {
        report.problems.push(format!("extent at page {first}: {error}"));
        return;
    }
    if !owned.claim_run(first, extent.pages) {
        report.problems.push(format!("extent at page {first} shares a page"));
    }
    report.extent_pages += u64::from(extent.pages);
    let mut buffer = vec![0; (16 * BLOCK_BYTES).min(extent.bytes as usize)];
    let mut at = 0;
    while at < extent.bytes {
        let part = buffer.len().min((extent.bytes - at) as usize);
        if let Err(error) = state.read_extent(extent, at, &mut buffer[..part]) {
            report.problems.push(format!("extent at page {first}: {error}"));
            return;
        }
        at += part as u64;
    }
}

/// One bit a page.
struct Owners {
    bits: Vec<u64>,
    pages: u32,
    count: u64,
}

impl Owners {
    fn new(pages: u32) -> Self {
        Self { bits: vec![0; (pages as usize).div_ceil(64)], pages, count: 0 }
    }

    fn claim(&mut self, page: u32) -> bool {
        if page >= self.pages {
            return false;
        }
        let (word, bit) = (page as usize / 64, 1 << (page % 64));
        let free = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        self.count += u64::from(free);
        free
    }

    fn claim_run(&mut self, first: u32, pages: u32) -> bool {
        (first..first.saturating_add(pages)).fold(true, |all, page| self.claim(page) & all)
    }

    fn lost(&self) -> Vec<u32> {
        (0..self.pages).filter(|page| self.bits[*page as usize / 64] & (1 << (page % 64)) == 0).collect()
    }
}
