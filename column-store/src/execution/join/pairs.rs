//! Candidate pairs of a probe batch, a bounded number at a time.

use super::build::Build;
use super::table::JoinTable;

/// Pairs tried at a time, unless one probe row alone ends later.
const PAIRS_MAX: usize = 4096;

/// Rows of the probe batch and of the build side, pair by pair.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) probe: Vec<u32>,
    pub(super) build: Vec<u32>,
}

impl Pairs {
    /// Some of the pairs.
    pub(super) fn pick(&self, kept: &[u32]) -> Self {
        let pick = |rows: &[u32]| kept.iter().map(|at| rows[*at as usize]).collect();
        Self { probe: pick(&self.probe), build: pick(&self.build) }
    }
}

/// Which pairs to try.
#[derive(Debug)]
pub(super) enum Candidates {
    /// Build rows of the same key: for each probe row the first of them plus one.
    Heads(Vec<u32>),
    /// Every build row.
    All,
    /// For null-aware joins: every build row where the flag is set (the probe row's
    /// first key is NULL), else those whose first key is NULL.
    Nulls(Vec<bool>),
}

/// How far a probe batch has been paired.
#[derive(Debug)]
pub(super) struct Cursor {
    candidates: Candidates,
    row: usize,
    /// Position within the row: a build row plus one of a chain, or an index.
    inner: usize,
}

impl Cursor {
    pub(super) const fn new(candidates: Candidates) -> Self {
        Self { candidates, row: 0, inner: 0 }
    }

    /// The next pairs; none when there are no more. Probe rows where `skip` is set are
    /// left out.
    pub(super) fn next(&mut self, rows: usize, build: &Build, skip: Option<&[bool]>) -> Pairs {
        let mut pairs = Pairs::default();
        match (&self.candidates, &build.table) {
            (Candidates::Heads(heads), Some(table)) if table.unique() => {
                if self.row == 0 {
                    unique_pairs(heads, skip, &mut pairs);
                    self.row = rows;
                }
            }
            (Candidates::Heads(heads), Some(table)) => {
                while self.row < rows && pairs.probe.len() < PAIRS_MAX {
                    let head = if self.inner == 0 { heads[self.row] as usize } else { self.inner };
                    let skipped = skip.is_some_and(|skip| skip[self.row]);
                    self.inner = if skipped { 0 } else { chain(table, self.row, head, &mut pairs) };
                    if self.inner == 0 {
                        self.row += 1;
                    }
                }
            }
            (Candidates::Heads(_), None) => self.row = rows,
            (Candidates::All, _) => {
                let at = (&mut self.row, &mut self.inner);
                list_pairs(at, rows, skip, &mut pairs, |_| None, build.rows());
            }
            (Candidates::Nulls(all), _) => {
                let at = (&mut self.row, &mut self.inner);
                let list = |row: usize| (!all[row]).then_some(&build.null_rows[..]);
                list_pairs(at, rows, skip, &mut pairs, list, build.rows());
            }
        }
        pairs
    }
}

/// Pairs each probe row with a list of build rows, or with all of them, from a position
/// `(row, inner)` on.
fn list_pairs<'a>(
    (at_row, at_inner): (&mut usize, &mut usize),
    rows: usize,
    skip: Option<&[bool]>,
    pairs: &mut Pairs,
    list: impl Fn(usize) -> Option<&'a [u32]>,
    build_rows: usize,
) {
    while *at_row < rows && pairs.probe.len() < PAIRS_MAX {
        let list = list(*at_row);
        let skipped = skip.is_some_and(|skip| skip[*at_row]);
        let length = if skipped { 0 } else { list.map_or(build_rows, <[u32]>::len) };
        let end = length.min(*at_inner + PAIRS_MAX - pairs.probe.len());
        match list {
            None => pairs.build.extend(*at_inner as u32..end.max(*at_inner) as u32),
            Some(list) => pairs.build.extend_from_slice(list.get(*at_inner..end).unwrap_or_default()),
        }
        pairs.probe.resize(pairs.build.len(), *at_row as u32);
        *at_inner = end;
        if end >= length {
            *at_row += 1;
            *at_inner = 0;
        }
    }
}

fn unique_pairs(heads: &[u32], skip: Option<&[bool]>, pairs: &mut Pairs) {
    pairs.probe = vec![0; heads.len()];
    pairs.build = vec![0; heads.len()];
    let mut count = 0;
    for (row, head) in heads.iter().enumerate() {
        pairs.probe[count] = row as u32;
        pairs.build[count] = head.wrapping_sub(1);
        count += usize::from(*head != 0);
    }
    pairs.probe.truncate(count);
    pairs.build.truncate(count);
    if let Some(skip) = skip {
        let kept: Vec<u32> = (0..count as u32).filter(|at| !skip[pairs.probe[*at as usize] as usize]).collect();
        *pairs = pairs.pick(&kept);
    }
}

/// Follows a chain until there are [`PAIRS_MAX`] pairs; gives where to go on, or 0.
fn chain(table: &JoinTable, row: usize, mut head: usize, pairs: &mut Pairs) -> usize {
    while head != 0 {
        if pairs.probe.len() >= PAIRS_MAX {
            return head;
        }
        let build = head as u32 - 1;
        pairs.probe.push(row as u32);
        pairs.build.push(build);
        head = table.next(build) as usize;
    }
    0
}
