//! A join's plan in terms of its build and probe sides.

use super::build::BuildRows;
use crate::Result;
use crate::execution::stage::Site;
use crate::expression::{EvaluatorSet, Predicates, Runtime};
use crate::source::FilterCell;
use crate::vector::Batch;
use gingham_plan::{BinaryOp, BuildSide, Expr, Join, JoinKind};
use gingham_types::SqlType;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a column of the output comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A column of the probe side.
    Probe(usize),
    /// A stored column of the build side.
    Build(usize),
    /// The mark.
    Mark,
}

/// A condition over pairs of rows, with the columns it reads.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) predicates: Predicates,
    /// For each column of the condition's own batch, where it comes from.
    pub(super) columns: Vec<Origin>,
}

/// What does not change while a join runs.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) kind: JoinKind,
    /// Whether the build side is the one that outer, semi, anti and mark joins preserve.
    pub(super) build_is_left: bool,
    pub(super) null_aware: bool,
    pub(super) null_equal: Vec<bool>,
    pub(super) key_types: Vec<SqlType>,
    pub(super) build_keys: EvaluatorSet,
    pub(super) probe_keys: EvaluatorSet,
    /// Columns of the build side to keep, and their types.
    pub(super) stored: Vec<usize>,
    pub(super) stored_types: Vec<SqlType>,
    pub(super) probe_types: Vec<SqlType>,
    pub(super) output: Vec<Origin>,
    pub(super) output_types: Vec<SqlType>,
    pub(super) residual: Option<Condition>,
    /// For null-aware joins with more than one key or a residual: all of the condition
    /// but the first key.
    pub(super) rest: Option<Condition>,
    pub(super) publish: Vec<Option<Arc<FilterCell>>>,
}

impl Spec {
    pub(super) fn new(site: &Site<'_>, join: &Join) -> Result<Self> {
        let runtime = site.scope.runtime();
        let build_is_left = join.build == BuildSide::Left;
        let (left_types, right_types) = (join.left.types(), join.right.types());
        let left_width = left_types.len();
        let mut stored = StoredColumns::default();
        let mut origin = |column: usize| {
            let (in_left, at) = if column < left_width { (true, column) } else { (false, column - left_width) };
            if in_left == build_is_left { Origin::Build(stored.place(at)) } else { Origin::Probe(at) }
        };
        let marks = join.kind == JoinKind::Mark;
        let output: Vec<Origin> = join
            .columns
            .iter()
            .map(|column| if marks && *column == left_width { Origin::Mark } else { origin(*column) })
            .collect();
        let residual = join.residual.as_ref().map(|e| condition(e, &mut origin, &runtime)).transpose()?;
        let rest = rest_of(join, left_width).map(|e| condition(&e, &mut origin, &runtime)).transpose()?;
        let keys = |keys: &[Expr]| EvaluatorSet::new(keys, &runtime);
        let (build, probe) =
            if build_is_left { (&join.left_keys, &join.right_keys) } else { (&join.right_keys, &join.left_keys) };
        let (build_types, probe_types) =
            if build_is_left { (left_types, right_types) } else { (right_types, left_types) };
        let joined = join.joined_types();
        let cell = |id: &Option<gingham_plan::FilterId>| {
            id.and_then(|id| site.scope.filters.get(id.0 as usize)).map(Arc::clone)
        };
        Ok(Self {
            kind: join.kind,
            build_is_left,
            null_aware: join.null_aware && !join.left_keys.is_empty(),
            null_equal: join.null_equal.clone(),
            key_types: build.iter().map(Expr::ty).collect(),
            build_keys: keys(build)?,
            probe_keys: keys(probe)?,
            stored_types: stored.columns.iter().map(|column| build_types[*column]).collect(),
            stored: stored.columns,
            probe_types,
            output,
            output_types: join.columns.iter().map(|column| joined[*column]).collect(),
            residual,
            rest,
            publish: join.publish.iter().map(cell).collect(),
        })
    }

    /// The build side's rows of a batch: their keys, then the columns to keep.
    pub(super) fn build_rows(&self, batch: &Batch) -> Result<BuildRows> {
        let mut columns = self.build_keys.evaluate(batch)?;
        columns.extend(batch.project(&self.stored).columns);
        Ok(Batch { columns, rows: batch.rows })
    }

    /// Whether rows without a match can be told key by key: then the sides can be divided
    /// by their keys.
    pub(super) fn can_divide(&self) -> bool {
        !self.key_types.is_empty() && !self.null_aware
    }

    /// Whether pairs of rows are put out.
    pub(super) const fn emits_pairs(&self) -> bool {
        matches!(self.kind, JoinKind::Inner | JoinKind::Left | JoinKind::Full)
    }

    /// Whether probe rows without a match are put out, or marked.
    pub(super) const fn preserves_probe(&self) -> bool {
        match self.kind {
            JoinKind::Full => true,
            JoinKind::Left | JoinKind::Anti | JoinKind::Mark => !self.build_is_left,
            JoinKind::Inner | JoinKind::Semi => false,
        }
    }

    /// Whether something about build rows is put out after the last probe row.
    pub(super) const fn drains_build(&self) -> bool {
        match self.kind {
            JoinKind::Full => true,
            JoinKind::Inner => false,
            _ => self.build_is_left,
        }
    }
}

/// Columns of the build side in the order in which they are first needed.
#[derive(Default)]
struct StoredColumns {
    columns: Vec<usize>,
}

impl StoredColumns {
    fn place(&mut self, column: usize) -> usize {
        self.columns.iter().position(|c| *c == column).unwrap_or_else(|| {
            self.columns.push(column);
            self.columns.len() - 1
        })
    }
}

/// Compiles a condition over the joined row against the columns it uses only.
fn condition(expr: &Expr, origin: &mut impl FnMut(usize) -> Origin, runtime: &Runtime) -> Result<Condition> {
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut columns = Vec::new();
    let mut own = expr.clone();
    own.visit_mut(&mut |e| {
        if let Expr::Column { index, .. } = e {
            *index = *places.entry(*index).or_insert_with(|| {
                columns.push(origin(*index));
                columns.len() - 1
            });
        }
    });
    Ok(Condition { predicates: Predicates::new(&conjuncts(own), runtime)?, columns })
}

fn conjuncts(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::Binary { op: BinaryOp::And, left, right, .. } => {
            let mut list = conjuncts(*left);
            list.extend(conjuncts(*right));
            list
        }
        other => vec![other],
    }
}

/// The condition of a null-aware join without its first key, over the joined row.
fn rest_of(join: &Join, left_width: usize) -> Option<Expr> {
    if !join.null_aware || join.left_keys.is_empty() {
        return None;
    }
    let equalities = join.left_keys.iter().zip(&join.right_keys).zip(&join.null_equal).skip(1);
    let mut parts: Vec<Expr> = equalities
        .map(|((left, right), null_equal)| {
            let mut right = right.clone();
            right.visit_mut(&mut |e| {
                if let Expr::Column { index, .. } = e {
                    *index += left_width;
                }
            });
            let op = if *null_equal { BinaryOp::IsNotDistinctFrom } else { BinaryOp::Equal };
            Expr::boolean(op, left.clone(), right)
        })
        .collect();
    parts.extend(join.residual.clone());
    (!parts.is_empty()).then(|| Expr::all(parts))
}
