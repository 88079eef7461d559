//! Conjuncts, one after the other over the rows that are left.

use super::frame::Frame;
use super::operand::Operand;
use super::program::{Compiler, Program};
use super::runtime::Runtime;
use super::selection::{Selection, true_rows};
use crate::Result;
use crate::vector::{Batch, Data};
use gingham_plan::{BinaryOp, Expr};
use gingham_types::Value;
use std::rc::Rc;

/// A conjunct that cannot fail runs over the whole batch while at least one row in this
/// many is left: gathering its columns would cost more.
const GATHER_BELOW: usize = 3;

/// Compiled conjuncts.
#[derive(Debug)]
pub struct Predicates {
    conjuncts: Vec<Program>,
    shared: Vec<Rc<Program>>,
}

impl Predicates {
    /// Compiles conjuncts, cheapest and most selective first.
    ///
    /// # Errors
    /// As [`super::EvaluatorSet::new`].
    pub fn new(conjuncts: &[Expr], runtime: &Runtime) -> Result<Self> {
        let mut compiler = Compiler::default();
        let parts: Vec<Expr> = conjuncts.iter().flat_map(split).cloned().collect();
        let conjuncts = compiler.compile_all(&parts, runtime)?;
        Ok(Self { conjuncts, shared: compiler.shared })
    }

    /// The rows of `batch` for which every conjunct is true.
    ///
    /// # Errors
    /// As [`super::EvaluatorSet::evaluate`].
    pub fn select(&self, batch: &Batch) -> Result<Selection> {
        let whole = Frame::new(batch, &self.shared);
        // `None` is every row.
        let mut left: Option<Vec<u32>> = None;
        for conjunct in &self.conjuncts {
            left = match left {
                None => match true_positions(&conjunct.evaluate(&whole)?) {
                    Some(rows) if rows.len() == batch.rows => None,
                    rows => rows,
                },
                Some(rows) if rows.is_empty() => return Ok(Selection::Rows(rows)),
                Some(rows) if conjunct.infallible && rows.len() * GATHER_BELOW >= batch.rows => {
                    Some(keep_true(rows, &conjunct.evaluate(&whole)?))
                }
                Some(rows) => {
                    let part = Frame::with_rows(batch, rows.clone(), &self.shared);
                    Some(match true_positions(&conjunct.evaluate(&part)?) {
                        None => rows,
                        Some(kept) => kept.iter().map(|at| rows[*at as usize]).collect(),
                    })
                }
            };
        }
        Ok(left.map_or(Selection::All, Selection::Rows))
    }
}

fn split(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Binary { op: BinaryOp::And, left, right, .. } => {
            let mut parts = split(left);
            parts.extend(split(right));
            parts
        }
        other => vec![other],
    }
}

/// The positions at which a truth value is true; `None` is all.
fn true_positions(operand: &Operand) -> Option<Vec<u32>> {
    match operand {
        Operand::Constant(Value::Boolean(true)) => None,
        Operand::Constant(_) => Some(Vec::new()),
        Operand::Column(vector) => Some(match &vector.data {
            Data::Boolean(data) => true_rows(data, vector.validity.as_deref()),
            _ => Vec::new(),
        }),
    }
}

/// Those of `rows` at which a truth value over the whole batch is true.
fn keep_true(mut rows: Vec<u32>, operand: &Operand) -> Vec<u32> {
    match operand {
        Operand::Constant(Value::Boolean(true)) => rows,
        Operand::Constant(_) => Vec::new(),
        Operand::Column(vector) => {
            let Data::Boolean(data) = &vector.data else {
                return Vec::new();
            };
            let mut count = 0;
            for at in 0..rows.len() {
                let row = rows[at];
                rows[count] = row;
                count += usize::from(data[row as usize] && vector.is_valid(row as usize));
            }
            rows.truncate(count);
            rows
        }
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
