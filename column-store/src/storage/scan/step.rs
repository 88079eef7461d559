//! One predicate at work: made ready for a group when its first row gets there, its
//! selectivity observed for the order in the next group.

use super::group::{ChunkSource, OpenGroup};
use super::kernel::{Kernel, Prepared};
use super::materialize::{RowSet, materialize};
use super::predicate::{Predicate, Test};
use super::prune::{Verdict, may_join, verdict};
use super::selection::Selection;
use super::{Compile, RowFilter, ScanRequest, join_filter, pair};
use crate::Result;
use crate::source::FilterCell;
use crate::storage::chunk::{Chunk, CodedIntegers, Codes, TextCodes, Values};
use crate::storage::meta::{Encoding, RowGroupMeta};
use crate::vector::{BATCH_ROWS, Batch, Dictionary, Vector};
use gingham_plan::Expr;
use gingham_types::{SqlType, Value};
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
    pub(super) source: &'a ChunkSource<'static>,
    pub(super) compile: &'a Compile,
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
    evaluation: Evaluation,
}

/// A step as the expression evaluator carries it out, where the scan cannot.
#[derive(Default)]
struct Evaluation {
    exprs: Vec<Expr>,
    /// Table ordinals of the expressions' columns.
    columns: Vec<usize>,
    compiled: Option<RowFilter>,
}

enum Kind {
    Predicate(Predicate),
    Join(usize, Arc<FilterCell>),
    Residual,
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
    fn new(kind: Kind, evaluation: Evaluation) -> Self {
        Self { kind, state: State::Skip, tested: 0, passed: 0, estimate: 1.0, remembered: None, evaluation }
    }

    /// A step for a predicate; `types` are those of the table's columns.
    pub(super) fn predicate(predicate: Predicate, types: &[SqlType]) -> Self {
        let evaluation = match &predicate {
            Predicate::Column { .. } => Evaluation::default(),
            Predicate::Mapped { column, expr } => Evaluation::new(vec![expr.clone()], vec![*column]),
            Predicate::Pair { left, op, right } => {
                let column =
                    |index, ordinal: usize| Expr::column(index, types.get(ordinal).copied().unwrap_or(SqlType::Null));
                Evaluation::new(vec![Expr::boolean(*op, column(0, *left), column(1, *right))], vec![*left, *right])
            }
        };
        Self::new(Kind::Predicate(predicate), evaluation)
    }

    pub(super) fn join(column: usize, cell: Arc<FilterCell>) -> Self {
        Self::new(Kind::Join(column, cell), Evaluation::default())
    }

    pub(super) fn residual(exprs: Vec<Expr>, columns: Vec<usize>) -> Self {
        Self::new(Kind::Residual, Evaluation::new(exprs, columns))
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
            Kind::Residual => {}
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
            Kind::Residual => 1e9,
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
            (State::Evaluate, _) => self.evaluation.apply(group, selection, context)?,
            (State::Two(..), _) => {}
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
            Kind::Predicate(Predicate::Mapped { column, .. }) => {
                let chunk = load(*column)?;
                if let Some(mut prepared) = self.remembered_for(&chunk) {
                    prepared.on_null = chunk.has_nulls() && self.evaluation.on_null(&chunk, context)?;
                    return Ok(State::One(chunk, prepared));
                }
                let Some(prepared) = self.evaluation.map(&chunk, context)? else { return Ok(State::Evaluate) };
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
            Kind::Residual => Ok(State::Evaluate),
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

impl Evaluation {
    const fn new(exprs: Vec<Expr>, columns: Vec<usize>) -> Self {
        Self { exprs, columns, compiled: None }
    }

    /// The positions of the rows of a batch that pass; `None` for all of them.
    fn passing(&mut self, batch: &Batch, context: &Context<'_>) -> Result<Option<Vec<u32>>> {
        let compiled = match &mut self.compiled {
            Some(compiled) => compiled,
            compiled => compiled.insert((context.compile)(&self.exprs)?),
        };
        compiled(batch)
    }

    /// Evaluates the step for the selected rows.
    fn apply(&mut self, group: &mut OpenGroup, selection: &mut Selection, context: &Context<'_>) -> Result<()> {
        let load = |ordinal: &usize| group.chunk(*ordinal, context.request, context.source);
        let chunks = self.columns.iter().map(load).collect::<Result<Vec<_>>>()?;
        let batch = {
            let rows = selection.row_set();
            let vectors = chunks.iter().map(|chunk| Arc::new(materialize(chunk, &rows))).collect();
            Batch::new(vectors, rows.len())
        };
        if let Some(passed) = self.passing(&batch, context)? {
            selection.keep(&passed);
        }
        Ok(())
    }

    /// Evaluates a predicate once for each code of a chunk, if there are few enough.
    fn map(&mut self, chunk: &Chunk, context: &Context<'_>) -> Result<Option<Prepared>> {
        let Some(domain) = domain(chunk) else { return Ok(None) };
        let mut table = vec![0u8; domain.rows];
        for start in (0..domain.rows).step_by(BATCH_ROWS) {
            let rows = start..domain.rows.min(start + BATCH_ROWS);
            let vector = materialize(&domain, &RowSet::Range(rows.clone()));
            match self.passing(&Batch::new(vec![Arc::new(vector)], rows.len()), context)? {
                None => table[rows].fill(1),
                Some(passed) => passed.iter().for_each(|row| table[start + *row as usize] = 1),
            }
        }
        let on_null = chunk.has_nulls() && self.on_null(chunk, context)?;
        Ok(Some(Prepared { kernel: Kernel::of_table(table), on_null }))
    }

    /// Whether a predicate over one column is true of NULL.
    fn on_null(&mut self, chunk: &Chunk, context: &Context<'_>) -> Result<bool> {
        let vector = Vector::constant(&Value::Null, chunk.ty, 1);
        let passed = self.passing(&Batch::new(vec![Arc::new(vector)], 1), context)?;
        Ok(passed.is_none_or(|passed| !passed.is_empty()))
    }
}

/// A row for each code of a chunk, if a predicate is better evaluated for those.
fn domain(chunk: &Chunk) -> Option<Chunk> {
    let rows = match &chunk.values {
        Values::Coded(CodedIntegers { code_max, .. }) => *code_max as usize + 1,
        Values::Text { codes: TextCodes::Coded(_) | TextCodes::Same, dictionary } => dictionary.len(),
        Values::Constant(_) => 1,
        _ => return None,
    };
    if rows > 1 && rows * ROWS_PER_CODE_MIN > chunk.rows {
        return None;
    }
    let codes = Codes::U32((0..rows as u32).collect());
    let values = match &chunk.values {
        Values::Coded(coded) => {
            Values::Coded(CodedIntegers { codes, map: coded.map.clone(), code_max: coded.code_max })
        }
        Values::Text { dictionary, .. } => {
            Values::Text { codes: TextCodes::Coded(codes), dictionary: Arc::clone(dictionary) }
        }
        other => other.clone(),
    };
    Some(Chunk { ty: chunk.ty, rows, values, validity: None })
}
