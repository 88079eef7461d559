//! The rows of one slice of a group that are still in question.
//!
//! While most rows are, a byte a row says which, and predicates run over all of them in
//! vector instructions; once few are, their positions are listed and predicates look at
//! those only.

use super::super::mask::RowMask;
use super::materialize::{RUN_ROWS_MIN, RowSet};
use std::ops::Range;

/// A list is better than a mask when fewer than one row in this many is left.
const ROWS_PER_LISTED_MIN: usize = 8;

/// Some of the rows `start .. start + rows` of a group.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    start: usize,
    rows: usize,
    form: Form,
    /// 1 where a row is selected, while the form is `Mask`.
    mask: Vec<u8>,
    /// Positions in the group, ascending, while the form is `List`.
    list: Vec<u32>,
    /// Rows selected.
    count: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    #[default]
    All,
    Mask,
    List,
}

impl Selection {
    /// Selects all rows of a slice but the deleted ones.
    pub(crate) fn begin(&mut self, start: usize, rows: usize, deleted: Option<&RowMask>) {
        (self.start, self.rows, self.form, self.count) = (start, rows, Form::All, rows);
        if let Some(deleted) = deleted {
            self.narrow(|mask| {
                for (row, slot) in mask.iter_mut().enumerate() {
                    *slot = u8::from(!deleted.contains(start + row));
                }
            });
        }
    }

    /// The slice.
    pub(crate) const fn slice(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.rows
    }

    /// Selected rows.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// Whether predicates should run over the whole slice.
    pub(crate) fn is_dense(&self) -> bool {
        self.form != Form::List
    }

    /// Deselects everything.
    pub(crate) fn clear(&mut self) {
        self.form = Form::List;
        self.list.clear();
        self.count = 0;
    }

    /// Lets `f` set bytes of the mask to 0; only while dense.
    pub(crate) fn narrow(&mut self, f: impl FnOnce(&mut [u8])) {
        if self.form == Form::All {
            self.mask.clear();
            self.mask.resize(self.rows, 1);
            self.form = Form::Mask;
        }
        f(&mut self.mask);
        self.count = count(&self.mask);
        if self.count == self.rows {
            self.form = Form::All;
        } else if self.count * ROWS_PER_LISTED_MIN < self.rows {
            self.enlist();
        }
    }

    /// Keeps the rows, given by position in the group, that pass.
    pub(crate) fn retain(&mut self, mut pass: impl FnMut(usize) -> bool) {
        self.make_list();
        let mut kept = 0;
        for index in 0..self.list.len() {
            let row = self.list[index];
            self.list[kept] = row;
            kept += usize::from(pass(row as usize));
        }
        self.list.truncate(kept);
        self.count = kept;
    }

    /// Keeps the rows at some ascending positions of the selection.
    pub(crate) fn keep(&mut self, positions: &[u32]) {
        self.make_list();
        for (index, position) in positions.iter().enumerate() {
            self.list[index] = self.list[*position as usize];
        }
        self.list.truncate(positions.len());
        self.count = positions.len();
    }

    /// The selected rows, by position in the group.
    pub(crate) fn rows(&mut self) -> &[u32] {
        self.make_list();
        &self.list
    }

    /// The selected rows in the form that is copied fastest.
    pub(crate) fn row_set(&mut self) -> RowSet<'_> {
        match self.form {
            Form::All => RowSet::Range(self.slice()),
            Form::Mask => match self.runs() {
                Some(runs) => RowSet::Runs(runs, self.count),
                None => RowSet::List(self.rows()),
            },
            Form::List => RowSet::of(&self.list),
        }
    }

    /// The rows of the mask by runs, unless these are short.
    fn runs(&self) -> Option<Vec<Range<usize>>> {
        let most = self.count / RUN_ROWS_MIN;
        let mut runs: Vec<Range<usize>> = Vec::with_capacity(most + 8);
        for (index, eight) in self.mask.chunks(8).enumerate() {
            let from = self.start + index * 8;
            if eight == [1; 8] {
                add_run(&mut runs, from..from + 8);
            } else {
                for (offset, _) in eight.iter().enumerate().filter(|(_, selected)| **selected != 0) {
                    add_run(&mut runs, from + offset..from + offset + 1);
                }
                if runs.len() > most {
                    return None;
                }
            }
        }
        (runs.len() <= most).then_some(runs)
    }

    fn make_list(&mut self) {
        match self.form {
            Form::All => {
                self.list.clear();
                self.list.extend(self.start as u32..(self.start + self.rows) as u32);
                self.form = Form::List;
            }
            Form::Mask => self.enlist(),
            Form::List => {}
        }
    }

    fn enlist(&mut self) {
        self.form = Form::List;
        // Without branches but for eight rows at once: selected and other rows come mixed.
        // The last write may be of a row that is not selected.
        self.list.resize(self.rows, 0);
        let list = self.list.as_mut_slice();
        let mut next = 0;
        for (index, eight) in self.mask.chunks(8).enumerate() {
            if eight == [0; 8] {
                continue;
            }
            let from = (self.start + index * 8) as u32;
            for (row, selected) in (from..).zip(eight) {
                list[next] = row;
                next += usize::from(*selected);
            }
        }
        self.list.truncate(next);
    }
}

/// Adds rows after all others.
fn add_run(runs: &mut Vec<Range<usize>>, rows: Range<usize>) {
    match runs.last_mut() {
        Some(last) if last.end == rows.start => last.end = rows.end,
        _ => runs.push(rows),
    }
}

fn count(mask: &[u8]) -> usize {
    // Sums of up to 255 bytes fit a byte, which keeps the inner loop in byte lanes.
    mask.chunks(255).map(|part| usize::from(part.iter().sum::<u8>())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_found_in_a_mask() {
        let mut selection = Selection::default();
        selection.begin(10_000, 2043, None);
        selection.narrow(|mask| {
            for row in [0, 100, 101, 1000, 2042] {
                mask[row] = 0;
            }
        });
        let RowSet::Runs(runs, 2038) = selection.row_set() else { unreachable!("the rows are in three runs") };
        assert_eq!(runs, [10_001..10_100, 10_102..11_000, 11_001..12_042]);
    }

    #[test]
    fn masks_and_lists_hold_the_same_rows() {
        for step in [1, 2, 3, 7, 100, 5000] {
            let rows = 2043;
            let wanted: Vec<u32> = (0..rows as u32).filter(|row| row % step == 0).map(|row| row + 4096).collect();
            let mut selection = Selection::default();
            selection.begin(4096, rows, None);
            selection.narrow(|mask| {
                mask.iter_mut()
                    .enumerate()
                    .for_each(|(row, slot)| *slot &= u8::from((row as u32).is_multiple_of(step)));
            });
            assert_eq!(selection.count(), wanted.len());
            assert_eq!(selection.row_set().positions(), wanted);
            assert_eq!(selection.rows(), wanted);
            selection.retain(|row| row % 2 == 0);
            let even: Vec<u32> = wanted.into_iter().filter(|row| row % 2 == 0).collect();
            assert_eq!(selection.rows(), even);
            selection.keep(&[0]);
            assert_eq!(selection.rows(), &even[..1]);
        }
    }
}
