//! ORDER BY, whole or the first rows only.
//!
//! Rows are kept column by column and their numbers are sorted, by keys packed into one
//! integer as far as they fit it ([`order`]). Rows that are equal in every key stay in
//! the order in which they came.
//!
//! What does not fit the memory budget is sorted in parts, which go to temporary space as
//! runs and are merged from there ([`external`]); [`runs`] does so for rows that others keep.

mod external;
mod full;
mod order;
mod runs;
mod sorter;
mod top;

use super::columns::ColumnStore;
use super::limit::bounds;
use super::stage::{Operator, Site};
use crate::Result;
use crate::expression::EvaluatorSet;
use crate::source::Step;
use crate::vector::Batch;
use gingham_plan::{Expr, SortKey};
use gingham_types::SqlType;
pub(crate) use order::{compare_cells, compare_values_of};
pub(crate) use runs::SortedRuns;
pub use sorter::RowSorter;

/// With at most this many rows wanted only so many are kept.
const TOP_ROWS_MAX: u64 = 100_000;

/// One key over kept rows.
#[derive(Clone, Debug)]
pub(crate) struct SortedBy {
    /// Which kept column.
    pub(crate) column: usize,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

use SortedBy as Key;

/// The rows of a frozen store by some keys; rows equal in all in the order of their numbers.
pub(crate) fn sorted_rows(store: &ColumnStore, keys: &[Key]) -> Vec<u32> {
    let order = order::Order::new(store, keys);
    let mut entries = order.entries(store, 0..store.rows());
    order.sort(store, &mut entries);
    entries.into_iter().map(|(_, row)| row).collect()
}

/// What is kept of the input: its columns, then keys that are not columns.
#[derive(Debug)]
struct Rows {
    layout: Layout,
    /// Columns of the input.
    width: usize,
    extra: EvaluatorSet,
}

/// Kept columns, and the keys among them.
#[derive(Debug)]
struct Layout {
    types: Vec<SqlType>,
    keys: Vec<Key>,
}

impl Rows {
    fn new(site: &Site<'_>, sort_keys: &[SortKey]) -> Result<Self> {
        let mut types = site.node.types();
        let width = types.len();
        let mut extra = Vec::new();
        let mut keys = Vec::new();
        for key in sort_keys {
            let column = match &key.expr {
                Expr::Column { index, .. } => *index,
                expr => {
                    types.push(expr.ty());
                    extra.push(expr.clone());
                    types.len() - 1
                }
            };
            let SortKey { descending, nulls_first, .. } = *key;
            keys.push(Key { column, descending, nulls_first });
        }
        let extra = EvaluatorSet::new(&extra, &site.scope.runtime())?;
        Ok(Self { layout: Layout { types, keys }, width, extra })
    }

    fn store(&self) -> ColumnStore {
        ColumnStore::new(&self.layout.types)
    }

    /// The batch with its extra keys.
    fn widen(&self, batch: &Batch) -> Result<Batch> {
        let mut columns = batch.columns.clone();
        columns.extend(self.extra.evaluate(batch)?);
        Ok(Batch::new(columns, batch.rows))
    }

    /// The output of kept rows.
    fn narrow(&self, mut batch: Batch) -> Batch {
        batch.columns.truncate(self.width);
        batch
    }
}

/// A sort node: the first rows while they are few, else all of them.
pub(crate) struct SortNode(Sort);

enum Sort {
    Top(top::TopOperator),
    Full(full::SortOperator),
}

impl SortNode {
    pub(crate) fn new(site: &Site<'_>, keys: &[SortKey], limit: Option<&Expr>, offset: Option<&Expr>) -> Result<Self> {
        let (limit, offset) = bounds(limit, offset, &site.scope.runtime())?;
        let rows = Rows::new(site, keys)?;
        let memory = site.reservation();
        let sort = full::SortOperator::new(site.input(0), rows, limit, offset, memory);
        Ok(Self(if limit.saturating_add(offset) <= TOP_ROWS_MAX {
            Sort::Top(top::TopOperator::new(sort, limit as usize, offset as usize))
        } else {
            Sort::Full(sort)
        }))
    }
}

impl Operator for SortNode {
    fn next(&mut self) -> Result<Step> {
        match &mut self.0 {
            Sort::Full(sort) => sort.next(),
            Sort::Top(top) => {
                let step = top.next()?;
                if let Some(sort) = top.overflow() {
                    self.0 = Sort::Full(sort);
                }
                Ok(step)
            }
        }
    }
}
