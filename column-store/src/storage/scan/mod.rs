//! The columnar scan: row groups in, batches of the rows that satisfy the filters out.
//!
//! For each group, first the bounds of its chunks decide ([`prune`]): a filter may
//! exclude the group or need no test at all. The filters left run over slices of
//! [`BATCH_ROWS`] rows, the cheapest and most selective first, each on the rows that
//! passed the ones before ([`selection`]); a chunk is loaded when the first row gets to
//! it. What passes all is collected up to about a thousand rows, so that selective scans
//! do not put out crumbs, and only then widened ([`materialize`]).
//!
//! | file | holds |
//! |---|---|
//! | `predicate` | filters compiled to tests of columns ([`ranges`], [`text_test`]) |
//! | `kernel`, `pair`, `join_filter` | tests made ready for a chunk and applied to it |
//! | `step` | one predicate over the life of a scan |
//! | `group`, `rows` | loading chunks, rows by position |

mod group;
mod join_filter;
mod kernel;
mod mappable;
pub(in crate::storage) mod materialize;
mod metrics;
mod pair;
mod predicate;
mod prune;
mod ranges;
mod rows;
mod selection;
mod step;
mod text_test;

pub use metrics::ScanMetrics;
pub use rows::read_rows;

use super::{ChunkCache, ExtentReader, RowGroupMeta, RowMask};
use crate::Result;
use crate::expression::{Predicates, Runtime, Selection as Selected};
use crate::source::{FilterCell, Source, SourceCounts, Step as Pull};
use crate::vector::{BATCH_ROWS, Batch};
use gingham_plan::Expr;
use gingham_types::{SqlType, Value};
use group::{ChunkSource, OpenGroup};
use materialize::{RowSet, locators, materialize};
use selection::Selection;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use step::{Context, Step};

/// Collected rows make a batch from this many on.
const BATCH_ROWS_MIN: usize = BATCH_ROWS / 2;

/// Groups excluded before the caller gets a say.
const GROUPS_PRUNED_MAX: usize = 64;

/// Evaluates predicates that the scan does not evaluate itself: gives the positions of
/// the rows of a batch, ascending, for which all predicates are true. `Expr::Column` is
/// a position in that batch.
pub type FilterFunction = Rc<dyn Fn(&[Expr], &Batch) -> Result<Vec<u32>>>;

/// A compiled filter: the positions of the rows that pass; `None` for all of them.
type RowFilter = Box<dyn Fn(&Batch) -> Result<Option<Vec<u32>>>>;

/// Compiles conjuncts whose columns are positions in a batch.
type Compile = Box<dyn Fn(&[Expr]) -> Result<RowFilter>>;

/// What to read of a table.
#[derive(Clone, Debug, Default)]
pub struct ScanRequest {
    /// Types of all of the table's columns.
    pub types: Vec<SqlType>,
    /// What columns added after a group was written have in its rows, by ordinal; NULL
    /// beyond the end of the list.
    pub defaults: Vec<Value>,
    /// Ordinals of the columns to put out.
    pub columns: Vec<usize>,
    /// Whether a last column has each row's id: a BLOB of eight bytes, big endian.
    pub locator: bool,
    /// Conjuncts that rows must satisfy; `Expr::Column` is the ordinal in the table.
    /// No parameters, slots or subqueries.
    pub filters: Vec<Expr>,
    /// Joins' filters and the ordinals they apply to. A NULL key matches nothing.
    pub dynamic_filters: Vec<(usize, Arc<FilterCell>)>,
}

/// One row group to read.
#[derive(Clone, Debug)]
pub struct ScanGroup {
    /// Its metadata.
    pub meta: Arc<RowGroupMeta>,
    /// Rows to leave out.
    pub deleted: Option<Arc<RowMask>>,
}

/// A scan over row groups.
pub struct ColumnScan {
    request: ScanRequest,
    groups: std::vec::IntoIter<ScanGroup>,
    source: ChunkSource<'static>,
    compile: Compile,
    /// Some filter is never true.
    nothing: bool,
    /// In the order of the current group.
    steps: Vec<Step>,
    open: Option<OpenGroup>,
    /// The next row of the open group.
    position: usize,
    /// Rows of the open group, by position, that passed and were not put out yet.
    collected: Vec<u32>,
    selection: Selection,
}

impl ColumnScan {
    /// A scan of `groups`, in that order. Filters that it does not evaluate on codes are
    /// compiled once by [`crate::expression`].
    pub fn with_expressions(
        request: ScanRequest,
        groups: Vec<ScanGroup>,
        reader: Rc<dyn ExtentReader>,
        cache: Arc<ChunkCache>,
        metrics: Arc<ScanMetrics>,
    ) -> Self {
        let compile: Compile = Box::new(|exprs| {
            let predicates = Predicates::new(exprs, &Runtime::default())?;
            Ok(Box::new(move |batch| match predicates.select(batch)? {
                Selected::All => Ok(None),
                Selected::Rows(rows) => Ok(Some(rows)),
            }))
        });
        Self::with_compiler(
            request,
            groups,
            ChunkSource { reader, cache, metrics, buffer: RefCell::default() },
            compile,
        )
    }

    /// As [`ColumnScan::with_expressions`], with an evaluator of the caller's.
    pub fn new(
        request: ScanRequest,
        groups: Vec<ScanGroup>,
        reader: Rc<dyn ExtentReader>,
        cache: Arc<ChunkCache>,
        filter: FilterFunction,
        metrics: Arc<ScanMetrics>,
    ) -> Self {
        let compile: Compile = Box::new(move |exprs| {
            let (exprs, filter) = (exprs.to_vec(), Rc::clone(&filter));
            Ok(Box::new(move |batch| filter(&exprs, batch).map(Some)))
        });
        Self::with_compiler(
            request,
            groups,
            ChunkSource { reader, cache, metrics, buffer: RefCell::default() },
            compile,
        )
    }

    fn with_compiler(
        request: ScanRequest,
        groups: Vec<ScanGroup>,
        source: ChunkSource<'static>,
        compile: Compile,
    ) -> Self {
        let compiled = predicate::compile(&request.filters);
        let predicates = compiled.predicates.into_iter();
        let mut steps: Vec<Step> = predicates.map(|predicate| Step::predicate(predicate, &request.types)).collect();
        steps.extend(request.dynamic_filters.iter().map(|(column, cell)| Step::join(*column, Arc::clone(cell))));
        if !compiled.residual.is_empty() {
            steps.push(Step::residual(compiled.residual, compiled.residual_columns));
        }
        Self {
            request,
            groups: groups.into_iter(),
            source,
            compile,
            nothing: compiled.nothing,
            steps,
            open: None,
            position: 0,
            collected: Vec::with_capacity(BATCH_ROWS),
            selection: Selection::default(),
        }
    }

    /// Turns to a group; `false` if its metadata excludes all of its rows.
    fn enter(&mut self, group: ScanGroup) -> bool {
        let metrics = &self.source.metrics;
        metrics.add_groups(1);
        let meta = &group.meta;
        let deleted = group.deleted.as_ref().map_or(0, |deleted| deleted.len());
        let excluded =
            self.nothing || deleted >= meta.rows as usize || !self.steps.iter_mut().all(|step| step.enter(meta));
        if excluded {
            metrics.add_groups_pruned(1);
            return false;
        }
        metrics.add_rows_read(u64::from(meta.rows));
        self.steps.sort_by(|a, b| a.rank(meta).total_cmp(&b.rank(meta)));
        self.position = 0;
        self.open = Some(OpenGroup::new(group, self.request.types.len()));
        true
    }

    /// Tests the next slice of the open group; what passes is in the selection.
    fn select(&mut self, open: &mut OpenGroup) -> Result<()> {
        let rows = (open.rows() - self.position).min(BATCH_ROWS);
        let deleted = open.group.deleted.clone();
        self.selection.begin(self.position, rows, deleted.as_deref());
        self.position += rows;
        let context = Context { request: &self.request, source: &self.source, compile: &self.compile };
        for step in self.steps.iter_mut().filter(|step| !step.is_skipped()) {
            if self.selection.count() == 0 {
                break;
            }
            step.apply(open, &mut self.selection, &context)?;
        }
        Ok(())
    }

    /// The next batch of the open group; `None` at its end.
    fn advance(&mut self, open: &mut OpenGroup) -> Result<Option<Batch>> {
        loop {
            let at_end = self.position == open.rows();
            if self.collected.len() >= BATCH_ROWS_MIN || at_end && !self.collected.is_empty() {
                let collected = std::mem::take(&mut self.collected);
                return self.put_out(open, &RowSet::of(&collected)).map(Some);
            }
            if at_end {
                return Ok(None);
            }
            self.select(open)?;
            let count = self.selection.count();
            if count == 0 {
                continue;
            }
            if self.collected.is_empty() && count >= BATCH_ROWS_MIN {
                let mut selection = std::mem::take(&mut self.selection);
                let batch = self.put_out(open, &selection.row_set());
                self.selection = selection;
                return batch.map(Some);
            }
            if self.collected.len() + count > BATCH_ROWS {
                let collected = std::mem::replace(&mut self.collected, self.selection.rows().to_vec());
                return self.put_out(open, &RowSet::of(&collected)).map(Some);
            }
            self.collected.extend_from_slice(self.selection.rows());
        }
    }

    fn put_out(&self, open: &mut OpenGroup, rows: &RowSet<'_>) -> Result<Batch> {
        let mut columns = Vec::with_capacity(self.request.columns.len() + 1);
        for ordinal in &self.request.columns {
            let chunk = open.chunk(*ordinal, &self.request, &self.source)?;
            columns.push(Arc::new(materialize(&chunk, rows)));
        }
        if self.request.locator {
            columns.push(Arc::new(locators(open.group.meta.first_row_id, rows)));
        }
        self.source.metrics.add_rows_out(rows.len() as u64);
        Ok(Batch::new(columns, rows.len()))
    }
}

impl Source for ColumnScan {
    fn counts(&self) -> SourceCounts {
        let metrics = &self.source.metrics;
        SourceCounts {
            bytes_read: metrics.bytes_read(),
            groups: metrics.groups(),
            groups_pruned: metrics.groups_pruned(),
        }
    }

    fn next(&mut self) -> Result<Pull> {
        let mut pruned = 0;
        loop {
            if self.open.is_none() {
                let Some(group) = self.groups.next() else { return Ok(Pull::Finished) };
                if !self.enter(group) {
                    pruned += 1;
                    if pruned == GROUPS_PRUNED_MAX {
                        return Ok(Pull::Working);
                    }
                    continue;
                }
            }
            let Some(mut open) = self.open.take() else { continue };
            let begun = self.position;
            let advanced = self.advance(&mut open);
            if advanced.is_err() {
                // What is left of the scan would be a wrong answer.
                self.groups = Vec::new().into_iter();
                self.collected.clear();
            }
            let batch = advanced?;
            if let Some(batch) = batch {
                self.open = Some(open);
                return Ok(Pull::Batch(batch));
            }
            if self.position > begun {
                return Ok(Pull::Working);
            }
        }
    }
}
