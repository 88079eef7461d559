//! One predicate at work: made ready for a group when its first row gets there, its
//! selectivity observed for the order in the next group.

use super::group::{ChunkSource, OpenGroup};
use super::kernel::{Kernel, Prepared};
use super::materialize::{RowSet, materialize};
use super::predicate::{Predicate, Test};
use super::prune::{Verdict, may_join, verdict};
use super::selection::Selection;
use super::{FilterFunction, ScanRequest, join_filter, pair};
use crate::Result;
use crate::source::FilterCell;
use crate::storage::chunk::{Chunk, CodedIntegers, Codes, TextCodes, Values};
use crate::storage::meta::{Encoding, RowGroupMeta};
use crate::vector::{BATCH_ROWS, Batch, Dictionary, Vector};
use gingham_plan::Expr;
use std::sync::Arc;

/// Rows for which an estimate counts as much as as many observed ones.
const ESTIMATE_ROWS: f64 = 4096.0;

/// A join's filter that lets more than this part of so many rows pass is not worth
/// testing rows for.
const USELESS_PART: f64 = 0.97;
const USELESS_ROWS: u64 = 32_768;

/// A predicate is mapped over a column's codes if there are this many rows a code.
const ROWS_PER_CODE_MIN: usize = 2;

/// What the scan needs to evaluate steps.
pub(super) struct Context<'a> {
    pub(super) request: &'a ScanRequest,
    pub(super) source: &'a ChunkSource,
    pub(super) filter: &'a FilterFunction,
}

/// One predicate of a scan.
pub(super) struct Step {
    kind: Kind,
    state: State,
    tested: u64,
    passed: u64,
    /// Expected part of the rows that pass, for this group.
    estimate: f64,
    /// A kernel made for a dictionary, which holds for every chunk that shares it.
    remembered: Option<(Arc<Dictionary>, Prepared)>,
}

enum Kind {
    Predicate(Predicate),
    Join(usize, Arc<FilterCell>),
    Residual { exprs: Vec<Expr>, columns: Vec<usize> },
}

/// What the step is in the current group.
enum State {
    /// Nothing to do.
    Skip,
    /// Not reached by any row yet.
    Fresh,
    One(Arc<Chunk>, Prepared),
    Two(Arc<Chunk>, Arc<Chunk>),
    /// By the expression evaluator.
    Evaluate,
}

impl Step {
    fn new(kind: Kind) -> Self {
        Self { kind, state: State::Skip, tested: 0, passed: 0, estimate: 1.0, remembered: None }
    }

    pub(super) fn predicate(predicate: Predicate) -> Self {
        Self::new(Kind::Predicate(predicate))
    }

    pub(super) fn join(column: usize, cell: Arc<FilterCell>) -> Self {
        Self::new(Kind::Join(column, cell))
    }

    pub(super) fn residual(exprs: Vec<Expr>, columns: Vec<usize>) -> Self {
        Self::new(Kind::Residual { exprs, columns })
    }

    /// Turns to a group; `false` if no row of it can pass.
    pub(super) fn enter(&mut self, group: &RowGroupMeta) -> bool {
        self.state = State::Fresh;
        self.estimate = 0.5;
        match &self.kind {
            Kind::Predicate(predicate) => match verdict(predicate, group) {
                Verdict::Never => return false,
                Verdict::Always => self.state = State::Skip,
                Verdict::Perhaps(part) => self.estimate = part,
            },
            Kind::Join(column, cell) => match cell.get() {
                None => self.state = State::Skip,
                Some(filter) => {
                    if group.columns.get(*column).is_some_and(|chunk| !may_join(filter, chunk, group.rows)) {
                        return false;
                    }
                    if self.tested > USELESS_ROWS && self.passed as f64 > self.tested as f64 * USELESS_PART {
                        self.state = State::Skip;
                    }
                }
            },
            Kind::Residual { .. } => {}
        }
        true
    }

    /// Whether there is nothing to test in the current group.
    pub(super) const fn is_skipped(&self) -> bool {
        matches!(self.state, State::Skip)
    }

    /// Steps go by this, ascending: the cost of a row over the part of rows it rules out.
    pub(super) fn rank(&self, group: &RowGroupMeta) -> f64 {
        let pass = (self.passed as f64 + self.estimate * ESTIMATE_ROWS) / (self.tested as f64 + ESTIMATE_ROWS);
        self.cost(group) / (1.0 - pass).max(1e-6)
    }

    /// Rough nanoseconds a row.
    fn cost(&self, group: &RowGroupMeta) -> f64 {
        let is_coded = |column: usize| {
            let encoding = group.columns.get(column).map(|chunk| chunk.encoding);
            matches!(encoding, Some(Encoding::Dictionary | Encoding::Constant) | None)
        };
        match &self.kind {
            Kind::Predicate(Predicate::Column { column, test: Test::Text(test), .. }) if !is_coded(*column) => {
                test.cost()
            }
            Kind::Predicate(Predicate::Column { .. }) => 0.3,
            Kind::Predicate(Predicate::Pair { .. }) => 1.0,
            Kind::Predicate(Predicate::Mapped { column, .. }) => {
                if is_coded(*column) {
                    1.0
                } else {
                    50.0
                }
            }
            Kind::Join(..) => 2.0,
            // After everything else, whatever it rules out.
            Kind::Residual { .. } => 1e9,
        }
    }

    /// Deselects the rows that fail.
    pub(super) fn apply(
        &mut self,
        group: &mut OpenGroup,
        selection: &mut Selection,
        context: &Context<'_>,
    ) -> Result<()> {
        if matches!(self.state, State::Fresh) {
            self.state = self.prepare(group, context)?;
        }
        let before = selection.count();
        match (&self.state, &self.kind) {
            (State::Skip | State::Fresh, _) => {}
            (State::One(chunk, prepared), _) => prepared.apply(chunk, selection),
            (State::Two(left, right), Kind::Predicate(Predicate::Pair { op, .. })) => {
                pair::apply(left, *op, right, selection);
            }
            (_, Kind::Residual { exprs, columns }) => evaluate(exprs, columns, group, selection, context)?,
            (_, Kind::Predicate(Predicate::Mapped { column, expr })) => {
                evaluate(std::slice::from_ref(expr), &[*column], group, selection, context)?;
            }
            (_, Kind::Predicate(Predicate::Pair { left, op, right })) => {
                let column = |index, ordinal: usize| Expr::column(index, context.request.types[ordinal]);
                let expr = Expr::boolean(*op, column(0, *left), column(1, *right));
                evaluate(&[expr], &[*left, *right], group, selection, context)?;
            }
            (State::Evaluate | State::Two(..), _) => {}
        }
        self.tested += before as u64;
        self.passed += selection.count() as u64;
        Ok(())
    }

    fn prepare(&mut self, group: &mut OpenGroup, context: &Context<'_>) -> Result<State> {
        let mut load = |ordinal: usize| group.chunk(ordinal, context.request, context.source);
        match &self.kind {
            Kind::Predicate(Predicate::Column { column, test, on_null }) => {
                let chunk = load(*column)?;
                if let Some(prepared) = self.remembered_for(&chunk) {
                    return Ok(State::One(chunk, prepared));
                }
                let prepared = Prepared { kernel: Kernel::of_test(test, &chunk), on_null: *on_null };
                self.remember(&chunk, &prepared);
                Ok(State::One(chunk, prepared))
            }
            Kind::Predicate(Predicate::Pair { left, right, .. }) => {
                let (left, right) = (load(*left)?, load(*right)?);
                Ok(if pair::applies(&left, &right) { State::Two(left, right) } else { State::Evaluate })
            }
            Kind::Predicate(Predicate::Mapped { column, expr }) => {
                let chunk = load(*column)?;
                if let Some(mut prepared) = self.remembered_for(&chunk) {
                    prepared.on_null = chunk.has_nulls() && on_null(expr, &chunk, context)?;
                    return Ok(State::One(chunk, prepared));
                }
                let Some(prepared) = map(expr, &chunk, context)? else { return Ok(State::Evaluate) };
                self.remember(&chunk, &prepared);
                Ok(State::One(chunk, prepared))
            }
            Kind::Join(column, cell) => {
                let Some(filter) = cell.get() else { return Ok(State::Skip) };
                let chunk = load(*column)?;
                if let Some(prepared) = self.remembered_for(&chunk) {
                    return Ok(State::One(chunk, prepared));
                }
                let Some(prepared) = join_filter::prepare(filter, &chunk) else { return Ok(State::Skip) };
                self.remember(&chunk, &prepared);
                Ok(State::One(chunk, prepared))
            }
            Kind::Residual { .. } => Ok(State::Evaluate),
        }
    }

    fn remembered_for(&self, chunk: &Chunk) -> Option<Prepared> {
        let Values::Text { dictionary, codes: TextCodes::Coded(_) } = &chunk.values else { return None };
        let (known, prepared) = self.remembered.as_ref()?;
        Arc::ptr_eq(known, dictionary).then(|| prepared.clone())
    }

    fn remember(&mut self, chunk: &Chunk, prepared: &Prepared) {
        if let Values::Text { dictionary, codes: TextCodes::Coded(_) } = &chunk.values {
            self.remembered = Some((Arc::clone(dictionary), prepared.clone()));
        }
    }
}

/// Evaluates expressions over `columns` for the selected rows.
fn evaluate(
    exprs: &[Expr],
    columns: &[usize],
    group: &mut OpenGroup,
    selection: &mut Selection,
    context: &Context<'_>,
) -> Result<()> {
    let chunks = columns
        .iter()
        .map(|ordinal| group.chunk(*ordinal, context.request, context.source))
        .collect::<Result<Vec<_>>>()?;
    let rows = if selection.is_all() { RowSet::Range(selection.slice()) } else { RowSet::List(selection.rows()) };
    let vectors = chunks.iter().map(|chunk| Arc::new(materialize(chunk, &rows))).collect();
    let count = rows.len();
    let passed = (context.filter)(exprs, &Batch::new(vectors, count))?;
    if passed.len() < count {
        selection.keep(&passed);
    }
    Ok(())
}

/// Evaluates a predicate once for each code of a chunk, if there are few enough.
fn map(expr: &Expr, chunk: &Chunk, context: &Context<'_>) -> Result<Option<Prepared>> {
    let count = match &chunk.values {
        Values::Coded(CodedIntegers { code_max, .. }) => *code_max as usize + 1,
        Values::Text { codes: TextCodes::Coded(_) | TextCodes::Same, dictionary } => dictionary.len(),
        Values::Constant(_) => 1,
        _ => return Ok(None),
    };
    if count > 1 && count * ROWS_PER_CODE_MIN > chunk.rows {
        return Ok(None);
    }
    let all = Codes::U32((0..count as u32).collect());
    let values = match &chunk.values {
        Values::Coded(coded) => {
            Values::Coded(CodedIntegers { codes: all, map: coded.map.clone(), code_max: coded.code_max })
        }
        Values::Text { dictionary, .. } => {
            Values::Text { codes: TextCodes::Coded(all), dictionary: Arc::clone(dictionary) }
        }
        other => other.clone(),
    };
    let domain = Chunk { ty: chunk.ty, rows: count, values, validity: None };
    let mut table = vec![0u8; count];
    for start in (0..count).step_by(BATCH_ROWS) {
        let rows = start..count.min(start + BATCH_ROWS);
        let vector = materialize(&domain, &RowSet::Range(rows.clone()));
        for passed in (context.filter)(std::slice::from_ref(expr), &Batch::new(vec![Arc::new(vector)], rows.len()))? {
            table[start + passed as usize] = 1;
        }
    }
    let on_null = chunk.has_nulls() && on_null(expr, chunk, context)?;
    Ok(Some(Prepared { kernel: Kernel::of_table(table), on_null }))
}

/// Whether a predicate is true of NULL.
fn on_null(expr: &Expr, chunk: &Chunk, context: &Context<'_>) -> Result<bool> {
    let vector = Vector::constant(&gingham_types::Value::Null, chunk.ty, 1);
    let passed = (context.filter)(std::slice::from_ref(expr), &Batch::new(vec![Arc::new(vector)], 1))?;
    Ok(!passed.is_empty())
}
