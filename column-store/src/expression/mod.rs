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

mod arithmetic;
pub mod builder;
mod calendar;
mod cast;
mod comparison;
mod conditional;
pub(crate) mod decimal;
mod entries;
pub(crate) mod error;
mod format_time;
mod frame;
mod function;
mod in_list;
mod like;
mod logic;
mod operand;
mod predicates;
mod program;
pub mod runtime;
mod scalar;
mod scalar_binary;
mod scalar_function;
pub mod selection;
mod text;
mod text_function;

pub(crate) use arithmetic::bits_of;
pub use builder::{ColumnBuilder, batch_from_rows};
pub use predicates::{Predicates, filter};
pub use runtime::Runtime;
pub use scalar::{evaluate_row, evaluate_row_with};
pub use selection::Selection;

use crate::Result;
use crate::vector::{Batch, Vector};
use frame::Frame;
use gingham_plan::Expr;
use program::{Compiler, Program};
use std::rc::Rc;
use std::sync::Arc;

/// Several compiled expressions over the same batches. Parts that occur in more than
/// one place are computed once a batch.
#[derive(Debug)]
pub struct EvaluatorSet {
    programs: Vec<Program>,
    shared: Vec<Rc<Program>>,
}

impl EvaluatorSet {
    /// Compiles expressions with the runtime's values as constants.
    ///
    /// # Errors
    /// 42P02 for a parameter without a value; 22025 for a bad LIKE pattern.
    pub fn new(expressions: &[Expr], runtime: &Runtime) -> Result<Self> {
        let mut compiler = Compiler::default();
        let programs = compiler.compile_all(expressions, runtime)?;
        Ok(Self { programs, shared: compiler.shared })
    }

    /// Their values for every row of `batch`.
    ///
    /// # Errors
    /// What the operators raise: 22012, 22003, 22P02, …
    pub fn evaluate(&self, batch: &Batch) -> Result<Vec<Arc<Vector>>> {
        self.evaluate_frame(&Frame::new(batch, &self.shared))
    }

    /// Their values for some rows of `batch`, in the order given; others are not looked at.
    ///
    /// # Errors
    /// As [`EvaluatorSet::evaluate`].
    pub fn evaluate_rows(&self, batch: &Batch, rows: &[u32]) -> Result<Vec<Arc<Vector>>> {
        self.evaluate_frame(&Frame::with_rows(batch, rows.to_vec(), &self.shared))
    }

    fn evaluate_frame(&self, frame: &Frame<'_>) -> Result<Vec<Arc<Vector>>> {
        self.programs.iter().map(|p| Ok(p.evaluate(frame)?.into_vector(p.ty, frame.len()))).collect()
    }
}

/// A compiled expression.
#[derive(Debug)]
pub struct Evaluator(EvaluatorSet);

impl Evaluator {
    /// Compiles `expr` with the runtime's values as constants.
    ///
    /// # Errors
    /// As [`EvaluatorSet::new`].
    pub fn new(expr: &Expr, runtime: &Runtime) -> Result<Self> {
        EvaluatorSet::new(std::slice::from_ref(expr), runtime).map(Self)
    }

    /// The value for every row of `batch`. A bare column is the batch's own.
    ///
    /// # Errors
    /// As [`EvaluatorSet::evaluate`].
    pub fn evaluate(&self, batch: &Batch) -> Result<Arc<Vector>> {
        first(self.0.evaluate(batch)?)
    }

    /// The value for some rows of `batch`, in the order given; others are not looked at.
    ///
    /// # Errors
    /// As [`EvaluatorSet::evaluate`].
    pub fn evaluate_rows(&self, batch: &Batch, rows: &[u32]) -> Result<Arc<Vector>> {
        first(self.0.evaluate_rows(batch, rows)?)
    }
}

fn first(mut values: Vec<Arc<Vector>>) -> Result<Arc<Vector>> {
    values.pop().ok_or_else(|| error::internal("an evaluator without an expression"))
}

/// The value of `expr` for every row of `batch`. Compiles first: use [`Evaluator`] for
/// more than one batch.
///
/// # Errors
/// As [`Evaluator::new`] and [`Evaluator::evaluate`].
pub fn evaluate(expr: &Expr, batch: &Batch, runtime: &Runtime) -> Result<Arc<Vector>> {
    Evaluator::new(expr, runtime)?.evaluate(batch)
}
