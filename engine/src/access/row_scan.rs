//! Scans of the row store: a walk over key ranges, rows into batches, filters on batches.

use super::bounds::{AccessRanges, Lookup};
use super::row_batch::RowBatch;
use super::view::View;
use super::walk::Walk;
use crate::database::Shared;
use crate::error::Result;
use crate::schema::Table;
use gingham_column_store::expression::{Predicates, Runtime};
use gingham_column_store::source::{FilterCell, Source, SourceCounts, Step};
use gingham_column_store::vector::{BATCH_ROWS, Batch, Data};
use gingham_plan::{DynamicFilter, Expr};
use std::ops::Bound;
use std::sync::Arc;

/// Most keys of a join that are looked up one by one …
const LOOKUP_KEYS_MAX: usize = 1 << 16;
/// … and at most one for so many rows of the table: moving to the next row costs about a
/// tenth of finding one.
const ROWS_PER_LOOKUP: u64 = 4;

/// What to read and keep.
#[derive(Clone)]
pub(crate) struct RowScanPlan {
    pub(crate) shared: Arc<Shared>,
    pub(crate) table: Arc<Table>,
    /// Ordinals of the columns to put out.
    pub(crate) columns: Vec<usize>,
    pub(crate) locator: bool,
    /// Conjuncts over table ordinals, without parameters, slots and subqueries.
    pub(crate) filters: Vec<Expr>,
    pub(crate) dynamic_filters: Vec<(DynamicFilter, Arc<FilterCell>)>,
    /// Stop after so many rows.
    pub(crate) limit: Option<u64>,
}

/// A scan of the row store.
pub(crate) struct RowScan {
    plan: RowScanPlan,
    walk: Walk,
    /// Where the ranges come from once a join has said which keys it has.
    lookup: Option<(Lookup, Option<Arc<FilterCell>>)>,
    /// Output columns first, then those only filters need.
    batch: RowBatch,
    columns_read: usize,
    filters: Option<Predicates>,
    dynamic_columns: Vec<(usize, Arc<FilterCell>)>,
    /// Rows in the next batch: small at first, for queries that want few.
    batch_rows: usize,
    rows_left: u64,
}

impl RowScan {
    pub(crate) fn new(plan: RowScanPlan, view: View, mut access: AccessRanges) -> Result<Self> {
        let mut read = plan.columns.clone();
        let position = |ordinal: usize, read: &mut Vec<usize>| {
            read.iter().position(|c| *c == ordinal).unwrap_or_else(|| {
                read.push(ordinal);
                read.len() - 1
            })
        };
        let mut filters = plan.filters.clone();
        for filter in &mut filters {
            filter.visit_mut(&mut |expr| {
                if let Expr::Column { index, .. } = expr {
                    *index = position(*index, &mut read);
                }
            });
        }
        let dynamic_columns = plan
            .dynamic_filters
            .iter()
            .map(|(filter, cell)| (position(filter.column, &mut read), Arc::clone(cell)))
            .collect();
        let lookup = access.lookup.take().map(|lookup| {
            let cell = plan.dynamic_filters.iter().find(|(filter, _)| filter.filter == lookup.filter);
            let cell = cell.map(|(_, cell)| Arc::clone(cell));
            (lookup, cell)
        });
        let filters = if filters.is_empty() { None } else { Some(Predicates::new(&filters, &Runtime::default())?) };
        let columns_read = read.len();
        let walk = Walk::new(Arc::clone(&plan.shared), Arc::clone(&plan.table), view, access, read.clone());
        let types = plan.table.row_layout.types();
        let columns: Vec<_> = read.iter().map(|ordinal| (walk.place(*ordinal), types[*ordinal])).collect();
        Ok(Self {
            batch: RowBatch::new(&columns, plan.locator),
            walk,
            lookup,
            columns_read,
            filters,
            dynamic_columns,
            batch_rows: 64,
            rows_left: plan.limit.unwrap_or(u64::MAX),
            plan,
        })
    }

    /// Asks the join for its keys, which are complete when the first row is asked for.
    /// Where they are too many to look up, everything is read in key order.
    fn resolve_lookup(&mut self) -> Result<()> {
        let Some((lookup, cell)) = self.lookup.take() else { return Ok(()) };
        let rows = self.walk.entries_in_tree()?;
        let keys_max = LOOKUP_KEYS_MAX.min(usize::try_from(rows / ROWS_PER_LOOKUP).unwrap_or(usize::MAX)).max(1);
        self.walk.set_ranges(match cell.as_ref().and_then(|cell| lookup.ranges(cell, keys_max)) {
            Some(ranges) => ranges?,
            None => vec![(Bound::Unbounded, Bound::Unbounded)],
        });
        Ok(())
    }

    /// Reads up to a batch of rows, unfiltered; fewer only at the end.
    fn fill(&mut self) -> Result<()> {
        let wanted = if self.filters.is_none() && self.dynamic_columns.is_empty() {
            self.batch_rows.min(usize::try_from(self.rows_left).unwrap_or(usize::MAX))
        } else {
            self.batch_rows
        };
        let Self { walk, batch, .. } = self;
        while batch.rows() < wanted && walk.next_row(|row, locator| batch.push_row(row, locator))? {}
        Ok(())
    }

    fn next_step(&mut self) -> Result<Step> {
        if self.rows_left == 0 {
            return Ok(Step::Finished);
        }
        self.resolve_lookup()?;
        self.fill()?;
        self.batch_rows = (self.batch_rows * 4).min(BATCH_ROWS);
        if self.batch.rows() == 0 {
            return Ok(Step::Finished);
        }
        let mut batch = self.batch.take();
        for (column, cell) in &self.dynamic_columns {
            batch = keep_possible(batch, *column, cell);
        }
        if let (Some(filters), true) = (&self.filters, batch.rows > 0) {
            batch = filters.select(&batch)?.apply(&batch);
        }
        if batch.rows == 0 {
            return Ok(Step::Working);
        }
        if batch.rows as u64 > self.rows_left {
            batch = batch.gather(&(0..self.rows_left as u32).collect::<Vec<_>>());
        }
        self.rows_left -= batch.rows as u64;
        if self.columns_read > self.plan.columns.len() {
            let mut columns: Vec<usize> = (0..self.plan.columns.len()).collect();
            columns.extend(self.plan.locator.then_some(self.columns_read));
            batch = batch.project(&columns);
        }
        Ok(Step::Batch(batch))
    }
}

impl Source for RowScan {
    fn next(&mut self) -> gingham_column_store::Result<Step> {
        self.next_step().map_err(Into::into)
    }

    fn counts(&self) -> SourceCounts {
        SourceCounts { bytes_read: self.walk.bytes_read(), ..SourceCounts::default() }
    }
}

/// Drops the rows that a join's filter rules out.
fn keep_possible(batch: Batch, column: usize, cell: &FilterCell) -> Batch {
    let Some(filter) = cell.get() else { return batch };
    let vector = &batch.columns[column];
    let may_match = |row: usize| match &vector.data {
        Data::Int32(values) => filter.may_contain(i64::from(values[row])),
        Data::Int64(values) => filter.may_contain(values[row]),
        _ => true,
    };
    let kept: Vec<u32> =
        (0..batch.rows).filter(|row| vector.is_valid(*row) && may_match(*row)).map(|row| row as u32).collect();
    if kept.len() == batch.rows { batch } else { batch.gather(&kept) }
}
