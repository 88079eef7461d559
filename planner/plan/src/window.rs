//! Window functions: what one operator computes beside the rows of its input.

use crate::{AggregateFunction, Expr, Node, SortKey};
use gingham_types::SqlType;
use serde::{Deserialize, Serialize};

/// Adds a column for each call. The input arrives sorted by `partition`, then `order`,
/// and leaves in that order. Puts out the input's columns, then the calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Sorted input.
    pub input: Node,
    /// Rows with equal values are a partition. NULL equals NULL.
    pub partition: Vec<Expr>,
    /// Rows of a partition with equal values are peers; without keys all rows are.
    pub order: Vec<SortKey>,
    /// What to compute.
    pub calls: Vec<WindowCall>,
    /// Estimated rows.
    pub rows: f64,
}

/// One window function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowCall {
    /// Which.
    pub function: WindowFunction,
    /// Arguments as the function's comment says.
    pub arguments: Vec<Expr>,
    /// DISTINCT; only where the frame is the whole partition.
    pub distinct: bool,
    /// FILTER (WHERE …), BOOLEAN; aggregates only.
    pub filter: Option<Expr>,
    /// IGNORE NULLS, for the functions that pick a row.
    pub ignore_nulls: bool,
    /// ORDER BY of aggregates that have one of their own.
    pub order: Vec<SortKey>,
    /// The rows that aggregates, `First`, `Last` and `Nth` see.
    pub frame: Frame,
    /// Result type.
    pub ty: SqlType,
}

/// Window functions. Aggregates give over a frame what they give over a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WindowFunction {
    /// `row_number()`, BIGINT.
    RowNumber,
    /// `rank()`, BIGINT.
    Rank,
    /// `dense_rank()`, BIGINT.
    DenseRank,
    /// `percent_rank()`, DOUBLE.
    PercentRank,
    /// `cume_dist()`, DOUBLE.
    CumeDist,
    /// `ntile(BIGINT)`, INTEGER; not above zero is error 22014.
    Ntile,
    /// `lag(x, BIGINT offset [, default of x's type])`.
    Lag,
    /// `lead(x, BIGINT offset [, default of x's type])`.
    Lead,
    /// `first_value(x)`.
    First,
    /// `last_value(x)`.
    Last,
    /// `nth_value(x, BIGINT)`; not above zero is error 22016.
    Nth,
    /// An aggregate; the second argument is its `second`.
    Aggregate(AggregateFunction),
}

/// The rows around the current one that a function sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// What bounds count.
    pub units: FrameUnits,
    /// First row.
    pub start: FrameBound,
    /// Last row.
    pub end: FrameBound,
    /// Rows left out.
    pub exclude: FrameExclusion,
    /// What [`FrameBound::Value`] bounds, and whether it descends.
    pub key: Option<(Expr, bool)>,
}

/// What the bounds of a frame count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FrameUnits {
    /// Rows.
    Rows,
    /// Values of the sort key; the current row stands for its peers.
    Range,
    /// Groups of peers.
    Groups,
}

/// One end of a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FrameBound {
    /// The partition's first row.
    UnboundedPreceding,
    /// So many rows or groups before.
    Preceding(u64),
    /// The current row or its peers.
    CurrentRow,
    /// So many rows or groups after.
    Following(u64),
    /// The partition's last row.
    UnboundedFollowing,
    /// The rows whose key is not before (not after, as an end) this value of the key's
    /// type, which never descends while the key ascends. Rows with a NULL key are in
    /// the frames of each other only.
    Value(Expr),
}

/// EXCLUDE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FrameExclusion {
    /// Nothing.
    NoOthers,
    /// The current row.
    CurrentRow,
    /// The current row and its peers.
    Group,
    /// Its peers, but not the current row itself.
    Ties,
}

impl Frame {
    /// The whole partition.
    pub const WHOLE: Self = Self {
        units: FrameUnits::Rows,
        start: FrameBound::UnboundedPreceding,
        end: FrameBound::UnboundedFollowing,
        exclude: FrameExclusion::NoOthers,
        key: None,
    };
}

impl WindowCall {
    /// Every expression over the input.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let bounds = [&self.frame.start, &self.frame.end].into_iter().filter_map(|bound| match bound {
            FrameBound::Value(expr) => Some(expr),
            _ => None,
        });
        let key = self.frame.key.iter().map(|(key, _)| key);
        let order = self.order.iter().map(|key| &key.expr);
        self.arguments.iter().chain(&self.filter).chain(order).chain(key).chain(bounds)
    }

    /// Every expression over the input, to change in place.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let bounds = [&mut self.frame.start, &mut self.frame.end].into_iter().filter_map(|bound| match bound {
            FrameBound::Value(expr) => Some(expr),
            _ => None,
        });
        let key = self.frame.key.iter_mut().map(|(key, _)| key);
        let order = self.order.iter_mut().map(|key| &mut key.expr);
        self.arguments.iter_mut().chain(&mut self.filter).chain(order).chain(key).chain(bounds)
    }
}

impl Window {
    /// Every expression over the input.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let order = self.order.iter().map(|key| &key.expr);
        self.partition.iter().chain(order).chain(self.calls.iter().flat_map(WindowCall::expressions))
    }
}
