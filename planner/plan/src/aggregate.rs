//! Aggregates.

use crate::{Expr, SortKey};
use gingham_types::SqlType;
use serde::{Deserialize, Serialize};

/// One aggregate of an [`crate::Node::Aggregate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AggregateCall {
    /// Which.
    pub function: AggregateFunction,
    /// The argument; none for COUNT(*).
    pub argument: Option<Expr>,
    /// DISTINCT.
    pub distinct: bool,
    /// FILTER (WHERE …), BOOLEAN.
    pub filter: Option<Expr>,
    /// A second argument, for the functions that say so.
    pub second: Option<Expr>,
    /// ORDER BY within the call, for the functions that say so.
    pub order: Vec<SortKey>,
    /// Result type.
    pub ty: SqlType,
}

impl AggregateCall {
    /// A call of one argument at most.
    pub const fn new(function: AggregateFunction, argument: Option<Expr>, ty: SqlType) -> Self {
        Self { function, argument, distinct: false, filter: None, second: None, order: Vec::new(), ty }
    }

    /// Every expression over the input.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let order = self.order.iter().map(|key| &key.expr);
        self.argument.iter().chain(&self.filter).chain(&self.second).chain(order)
    }

    /// Every expression over the input, to change in place.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let order = self.order.iter_mut().map(|key| &mut key.expr);
        self.argument.iter_mut().chain(&mut self.filter).chain(&mut self.second).chain(order)
    }
}

/// Aggregate functions. All but the counts give NULL over no rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AggregateFunction {
    /// Rows; BIGINT.
    CountStar,
    /// Non-NULL arguments; BIGINT.
    Count,
    /// INTEGER → BIGINT, BIGINT → DECIMAL(38,0) (BIGINT for counts of parts), DECIMAL(p,s) → DECIMAL(38,s), DOUBLE. Overflow is error 22003.
    Sum,
    /// DECIMAL(p,s) → DECIMAL(38, max(s,6)) rounded half away from zero; DOUBLE from integers and DOUBLE.
    Average,
    /// Least, of the argument's type.
    Min,
    /// Greatest, of the argument's type.
    Max,
    /// BOOLEAN.
    BoolAnd,
    /// BOOLEAN.
    BoolOr,
    /// Sample variance of DOUBLE.
    VarianceSample,
    /// Population variance of DOUBLE.
    VariancePopulation,
    /// Sample standard deviation of DOUBLE.
    StddevSample,
    /// Population standard deviation of DOUBLE.
    StddevPopulation,
    /// `string_agg(TEXT, TEXT)`: the arguments in order, the second before each but the first.
    StringJoin,
    /// The value, between two neighbours if need be, below which the share `second` (a
    /// DOUBLE from 0 to 1, else error 22003) of the values lies. Of DOUBLE, by `order`.
    QuantileContinuous,
    /// The first value in `order` up to which there is the share `second` of the values.
    QuantileDiscrete,
    /// The most frequent value, the least of several.
    Mode,
    /// The first argument in order, also NULL.
    First,
    /// The last argument in order, also NULL.
    Last,
    /// The first argument that is not NULL.
    AnyValue,
    /// The argument where `second` is least; neither is NULL.
    ArgumentMin,
    /// The argument where `second` is greatest; neither is NULL.
    ArgumentMax,
    /// Population covariance of two DOUBLEs.
    CovariancePopulation,
    /// Sample covariance of two DOUBLEs.
    CovarianceSample,
    /// Correlation of two DOUBLEs.
    Correlation,
}

impl AggregateFunction {
    /// Whether every value is kept until the end, and `second` and `order` have a meaning.
    pub const fn is_collected(self) -> bool {
        matches!(
            self,
            Self::StringJoin
                | Self::QuantileContinuous
                | Self::QuantileDiscrete
                | Self::Mode
                | Self::First
                | Self::Last
                | Self::AnyValue
                | Self::ArgumentMin
                | Self::ArgumentMax
                | Self::CovariancePopulation
                | Self::CovarianceSample
                | Self::Correlation
        )
    }
}
