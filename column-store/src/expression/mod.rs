//! Typed expressions over batches ([`Evaluator`], [`Predicates`]) and over single rows
//! ([`evaluate_row`]).
//!
//! An expression is compiled once ([`Evaluator::new`]): parameters, slots and
//! subqueries become constants, LIKE patterns become matchers, IN lists become sets.
//! Evaluation then runs one kernel an operator over whole vectors. Kernels hold no
//! state but what they remember per text dictionary, so that a function of a
//! dictionary-coded column runs once an entry.
//!
//! Errors are those of rows that an expression really reaches: CASE, AND, OR, COALESCE
//! and a list of conjuncts evaluate their later parts only over the rows that need
//! them, and what stands at a NULL never raises one.

pub mod builder;
mod calendar;
pub(crate) mod decimal;
pub(crate) mod error;
mod like;
pub mod runtime;
mod scalar;
mod scalar_binary;
mod scalar_function;
pub mod selection;
mod text_function;

pub use builder::{ColumnBuilder, batch_from_rows};
pub use runtime::Runtime;
pub use scalar::{evaluate_row, evaluate_row_with};
pub use selection::Selection;

use crate::Result;
use crate::vector::{Batch, Vector};
use gingham_plan::Expr;
use std::sync::Arc;

/// A compiled expression.
#[derive(Debug)]
pub struct Evaluator {
    expr: Expr,
    runtime: Runtime,
}

impl Evaluator {
    /// Compiles `expr` with the runtime's values as constants.
    ///
    /// # Errors
    /// 42P02 for a parameter without a value; 22025 for a bad LIKE pattern.
    pub fn new(expr: &Expr, runtime: &Runtime) -> Result<Self> {
        Ok(Self { expr: runtime.bind(expr)?, runtime: runtime.clone() })
    }

    /// The value for every row of `batch`.
    ///
    /// # Errors
    /// What the operators raise: 22012, 22003, 22P02, …
    pub fn evaluate(&self, batch: &Batch) -> Result<Arc<Vector>> {
        evaluate(&self.expr, batch, &self.runtime)
    }

    /// The value for some rows of `batch`, in the order given; others are not looked at.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn evaluate_rows(&self, batch: &Batch, rows: &[u32]) -> Result<Arc<Vector>> {
        self.evaluate(&batch.gather(rows))
    }
}

/// Several compiled expressions over the same batches.
#[derive(Debug)]
pub struct EvaluatorSet {
    expressions: Vec<Evaluator>,
}

impl EvaluatorSet {
    /// Compiles expressions.
    ///
    /// # Errors
    /// As [`Evaluator::new`].
    pub fn new(expressions: &[Expr], runtime: &Runtime) -> Result<Self> {
        Ok(Self { expressions: expressions.iter().map(|e| Evaluator::new(e, runtime)).collect::<Result<_>>()? })
    }

    /// Their values for every row of `batch`.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn evaluate(&self, batch: &Batch) -> Result<Vec<Arc<Vector>>> {
        self.expressions.iter().map(|e| e.evaluate(batch)).collect()
    }
}

/// The value of `expr` for every row of `batch`. Compiles first: use [`Evaluator`] for
/// more than one batch.
///
/// # Errors
/// As [`Evaluator::new`] and [`Evaluator::evaluate`].
pub fn evaluate(expr: &Expr, batch: &Batch, runtime: &Runtime) -> Result<Arc<Vector>> {
    let mut builder = ColumnBuilder::new(expr.ty(), batch.rows);
    let mut types = Vec::new();
    expr.visit(&mut |e| {
        if let Expr::Column { index, ty } = e {
            types.push((*index, *ty));
        }
    });
    let mut row = vec![gingham_types::Value::Null; batch.columns.len()];
    for at in 0..batch.rows {
        for (index, ty) in &types {
            row[*index] = batch.columns[*index].value(at, *ty);
        }
        builder.push(&evaluate_row_with(expr, &row, runtime)?)?;
    }
    Ok(Arc::new(builder.finish()))
}

/// Compiled conjuncts.
#[derive(Debug)]
pub struct Predicates {
    conjuncts: Vec<Evaluator>,
}

impl Predicates {
    /// Compiles conjuncts, cheapest and most selective first.
    ///
    /// # Errors
    /// As [`Evaluator::new`].
    pub fn new(conjuncts: &[Expr], runtime: &Runtime) -> Result<Self> {
        Ok(Self { conjuncts: conjuncts.iter().map(|c| Evaluator::new(c, runtime)).collect::<Result<_>>()? })
    }

    /// The rows of `batch` for which every conjunct is true.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn select(&self, batch: &Batch) -> Result<Selection> {
        let mut rows: Vec<u32> = (0..batch.rows as u32).collect();
        for conjunct in &self.conjuncts {
            let vector = conjunct.evaluate(&batch.gather(&rows))?;
            if let crate::vector::Data::Boolean(data) = &vector.data {
                let kept = selection::true_rows(data, vector.validity.as_deref());
                rows = kept.iter().map(|r| rows[*r as usize]).collect();
            }
        }
        Ok(if rows.len() == batch.rows { Selection::All } else { Selection::Rows(rows) })
    }
}

/// The rows of `batch` for which every predicate is true. Compiles first: use
/// [`Predicates`] for more than one batch.
///
/// # Errors
/// As [`Predicates::new`] and [`Predicates::select`].
pub fn filter(predicates: &[Expr], batch: &Batch, runtime: &Runtime) -> Result<Selection> {
    Predicates::new(predicates, runtime)?.select(batch)
}
