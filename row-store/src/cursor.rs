//! Moving over a range of a tree in order.

use crate::pager::Page;
use crate::snapshot::Held;
use crate::tree::{self, Root, node, search};
use crate::{Direction, Error, Result};
use std::ops::Bound;
use std::sync::Arc;

/// Moves over the entries of a range. It owns the state of the database it sees, so it
/// borrows nothing, and can be sent to another thread.
pub struct Cursor {
    held: Arc<Held>,
    root: Root,
    lower: Bound<Vec<u8>>,
    upper: Bound<Vec<u8>>,
    direction: Direction,
    /// Inner pages from the root to the leaf's parent, and the cell taken in each.
    way: Vec<(Arc<Page>, usize)>,
    leaf: Option<Arc<Page>>,
    /// The leaf's cells that are in range and still to come.
    low: usize,
    high: usize,
    /// No leaf further on has entries in range.
    last_leaf: bool,
    started: bool,
    /// The value of the entry last returned, if it overflowed its leaf.
    overflow: Vec<u8>,
}

fn owned(bound: Bound<&[u8]>) -> Bound<Vec<u8>> {
    bound.map(<[u8]>::to_vec)
}

fn borrowed(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

impl Cursor {
    pub(crate) fn new(
        held: Arc<Held>,
        root: Root,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
        direction: Direction,
    ) -> Self {
        Self {
            held,
            root,
            lower: owned(lower),
            upper: owned(upper),
            direction,
            way: Vec::new(),
            leaf: None,
            low: 0,
            high: 0,
            last_leaf: root.is_empty(),
            started: root.is_empty(),
            overflow: Vec::new(),
        }
    }

    /// The next entry, `(key, value)`, valid until the next call; `None` at the end.
    #[allow(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.low >= self.high && !self.find_leaf()? {
            return Ok(None);
        }
        let index = match self.direction {
            Direction::Forward => {
                self.low += 1;
                self.low - 1
            }
            Direction::Reverse => {
                self.high -= 1;
                self.high
            }
        };
        let Some(leaf) = &self.leaf else { return Ok(None) };
        match node::leaf_cell(&leaf.bytes, index) {
            (key, node::CellValue::Inline(value)) => Ok(Some((key, value))),
            (key, node::CellValue::Overflow { first, bytes }) => {
                let mut state = self.held.shared.lock()?;
                tree::read_chain(&mut state.pager, first, bytes, &mut self.overflow)?;
                Ok(Some((key, &self.overflow)))
            }
        }
    }

    /// Moves so that the next entry is the first at or past `key` in the cursor's
    /// direction, within its bounds. Moving back is allowed.
    pub fn seek(&mut self, key: &[u8]) -> Result<()> {
        if self.root.is_empty() {
            return Ok(());
        }
        let clamped = match self.direction {
            Direction::Forward => match borrowed(&self.lower) {
                Bound::Included(lower) if lower > key => self.lower.clone(),
                Bound::Excluded(lower) if lower >= key => self.lower.clone(),
                _ => Bound::Included(key.to_vec()),
            },
            Direction::Reverse => match borrowed(&self.upper) {
                Bound::Included(upper) if upper < key => self.upper.clone(),
                Bound::Excluded(upper) if upper <= key => self.upper.clone(),
                _ => Bound::Included(key.to_vec()),
            },
        };
        self.start_at(borrowed(&clamped))
    }

    /// Moves to the next leaf with entries in range; `false` if there is none.
    #[cold]
    fn find_leaf(&mut self) -> Result<bool> {
        if !self.started {
            let start = match self.direction {
                Direction::Forward => self.lower.clone(),
                Direction::Reverse => self.upper.clone(),
            };
            self.start_at(borrowed(&start))?;
        }
        while self.low >= self.high {
            if self.last_leaf {
                self.leaf = None;
                return Ok(false);
            }
            self.step()?;
        }
        Ok(true)
    }

    /// Goes down to the leaf where `start` lies.
    fn start_at(&mut self, start: Bound<&[u8]>) -> Result<()> {
        self.started = true;
        self.last_leaf = true;
        self.way.clear();
        let last = self.direction == Direction::Reverse;
        let from = (self.root.page, self.root.level);
        let mut state = self.held.shared.lock()?;
        let leaf = tree::descend(&mut state.pager, from, start, last, &mut self.way)?;
        drop(state);
        self.enter(leaf);
        match self.direction {
            Direction::Forward => self.low = self.low.max(self.below(start, 0, false)),
            Direction::Reverse => self.high = self.high.min(self.below(start, usize::MAX, true)),
        }
        Ok(())
    }

    /// Cells of the leaf before a bound; with `with_equal` an equal key counts if the
    /// bound includes it, else if the bound excludes it.
    fn below(&self, bound: Bound<&[u8]>, unbounded: usize, upper: bool) -> usize {
        let (key, counts_equal) = match bound {
            Bound::Unbounded => return unbounded,
            Bound::Included(key) => (key, upper),
            Bound::Excluded(key) => (key, !upper),
        };
        let Some(leaf) = &self.leaf else { return 0 };
        match search::leaf(&leaf.bytes, key) {
            Ok(index) => index + usize::from(counts_equal),
            Err(index) => index,
        }
    }

    /// Moves to the neighbouring leaf, or finds that there is none.
    fn step(&mut self) -> Result<()> {
        let last = self.direction == Direction::Reverse;
        while let Some((page, cell)) = self.way.pop() {
            let next = match self.direction {
                Direction::Forward => Some(cell + 1).filter(|next| *next < node::count(&page.bytes)),
                Direction::Reverse => cell.checked_sub(1),
            };
            let Some(next) = next else { continue };
            let level = node::level(&page.bytes).checked_sub(1).ok_or(Error::TooLarge("level"))?;
            let child = node::child(&page.bytes, next);
            self.way.push((page, next));
            let mut state = self.held.shared.lock()?;
            let leaf = tree::descend(&mut state.pager, (child, level), Bound::Unbounded, last, &mut self.way)?;
            drop(state);
            self.enter(leaf);
            return Ok(());
        }
        self.last_leaf = true;
        Ok(())
    }

    /// Notes which cells of a leaf are in range, and whether the range ends in it.
    fn enter(&mut self, leaf: Arc<Page>) {
        let count = node::count(&leaf.bytes);
        self.leaf = Some(leaf);
        self.low = self.below(borrowed(&self.lower), 0, false);
        self.high = self.below(borrowed(&self.upper), count, true);
        self.last_leaf = match self.direction {
            Direction::Forward => self.high < count,
            Direction::Reverse => self.low > 0,
        };
    }
}
