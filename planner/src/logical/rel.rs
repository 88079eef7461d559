//! Relations.

use super::{IdSet, columns_of};
use gingham_plan::{AggregateCall, ApplyKind, Expr, JoinKind, SortKey, WindowCall};
use gingham_types::SqlType;

/// A column's number, unique in the statement.
pub(crate) type Id = usize;

/// Type and nullability of every column of the statement.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    infos: Vec<(SqlType, bool)>,
}

impl Columns {
    /// A new column.
    pub(crate) fn add(&mut self, ty: SqlType, nullable: bool) -> Id {
        self.infos.push((ty, nullable));
        self.infos.len() - 1
    }

    pub(crate) fn ty(&self, id: Id) -> SqlType {
        self.infos[id].0
    }

    /// Whether the column can be NULL where it is made (an outer join may add NULLs).
    pub(crate) fn nullable(&self, id: Id) -> bool {
        self.infos[id].1
    }

    /// Remembers that an outer join can make the columns NULL.
    pub(crate) fn mark_nullable(&mut self, ids: &IdSet) {
        for id in ids.iter() {
            self.infos[id].1 = true;
        }
    }

    pub(crate) fn expr(&self, id: Id) -> Expr {
        Expr::column(id, self.ty(id))
    }
}

/// Reads a table.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    /// Position in `Catalog::tables`.
    pub(crate) table: usize,
    /// The name that the query uses.
    pub(crate) alias: String,
    /// One column number for each column of the table.
    pub(crate) columns: Vec<Id>,
    /// The row locator's number, where it is wanted.
    pub(crate) locator: Option<Id>,
    /// Conjuncts.
    pub(crate) filters: Vec<Expr>,
}

/// A join of two relations. `kind` as in the physical plan.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    pub(crate) kind: JoinKind,
    pub(crate) left: Rel,
    pub(crate) right: Rel,
    /// Conjuncts.
    pub(crate) on: Vec<Expr>,
    /// NOT IN and IN semantics on the first conjunct, which is an equality.
    pub(crate) null_aware: bool,
    /// The number of a mark join's column.
    pub(crate) mark: Option<Id>,
}

/// A join of a [`Rel::Block`] that is not an inner join: the block so far is its left side.
#[derive(Clone, Debug)]
pub(crate) struct Dependent {
    /// Left, Semi, Anti or Mark.
    pub(crate) kind: JoinKind,
    pub(crate) right: Rel,
    pub(crate) on: Vec<Expr>,
    pub(crate) null_aware: bool,
    pub(crate) mark: Option<Id>,
}

/// A relation. Its output is a set of columns; order matters only at the root.
#[derive(Clone, Debug)]
pub(crate) enum Rel {
    Scan(Box<Scan>),
    Values {
        rows: Vec<Vec<Expr>>,
        columns: Vec<Id>,
    },
    Filter {
        input: Box<Rel>,
        predicates: Vec<Expr>,
    },
    /// The input's columns and computed ones.
    Extend {
        input: Box<Rel>,
        expressions: Vec<(Id, Expr)>,
    },
    Aggregate {
        input: Box<Rel>,
        groups: Vec<(Id, Expr)>,
        aggregates: Vec<(Id, AggregateCall)>,
    },
    /// The input's columns and window functions over one partitioning and order.
    Window {
        input: Box<Rel>,
        partition: Vec<Expr>,
        order: Vec<SortKey>,
        calls: Vec<(Id, WindowCall)>,
    },
    /// Each row once for each grouping set, with the set's keys and its number.
    Expand {
        input: Box<Rel>,
        keys: Vec<(Id, Expr)>,
        sets: Vec<Vec<bool>>,
        number: Id,
    },
    /// A recursive common table expression: the columns of both terms that make up `columns`.
    Recursive {
        start: (Box<Rel>, Vec<Id>),
        step: (Box<Rel>, Vec<Id>),
        columns: Vec<Id>,
        work: u32,
        distinct: bool,
    },
    /// Its rows of the last round.
    Work {
        work: u32,
        columns: Vec<Id>,
    },
    /// Values from a start to a stop by a step, which have no columns.
    Series {
        bounds: Box<[Expr; 3]>,
        column: Id,
    },
    Join(Box<Join>),
    /// Inner joins in no order yet, and joins that depend on some of them.
    Block {
        inputs: Vec<Rel>,
        predicates: Vec<Expr>,
        dependents: Vec<Dependent>,
    },
    /// Runs `subplan` for each row of `input`; adds the columns `output`, which for
    /// Scalar and for joining kinds are columns of the subplan.
    Apply {
        kind: ApplyKind,
        input: Box<Rel>,
        subplan: Box<Rel>,
        output: Vec<Id>,
    },
    Sort {
        input: Box<Rel>,
        keys: Vec<SortKey>,
        limit: Option<Expr>,
        offset: Option<Expr>,
    },
    Limit {
        input: Box<Rel>,
        limit: Option<Expr>,
        offset: Option<Expr>,
    },
    /// Each input with the numbers of its columns that make up `columns`.
    Union {
        inputs: Vec<(Rel, Vec<Id>)>,
        columns: Vec<Id>,
    },
    /// A shared common table expression: ordinal and number of each column.
    Cte {
        cte: usize,
        columns: Vec<Id>,
    },
}

impl Rel {
    /// One row without columns.
    pub(crate) fn one_row() -> Self {
        Self::Values { rows: vec![Vec::new()], columns: Vec::new() }
    }

    /// The relation with more conjuncts.
    pub(crate) fn filter(self, predicates: Vec<Expr>) -> Self {
        if predicates.is_empty() { self } else { Self::Filter { input: Box::new(self), predicates } }
    }

    /// The relation with computed columns.
    pub(crate) fn extend(self, expressions: Vec<(Id, Expr)>) -> Self {
        if expressions.is_empty() { self } else { Self::Extend { input: Box::new(self), expressions } }
    }

    /// Takes the relation out, leaving a placeholder.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::one_row())
    }

    /// Adds the numbers of the output columns to `set`.
    pub(crate) fn outputs_into(&self, set: &mut IdSet) {
        match self {
            Self::Scan(scan) => set.extend(scan.columns.iter().copied().chain(scan.locator)),
            Self::Expand { input, keys, number, .. } => {
                input.outputs_into(set);
                set.extend(keys.iter().map(|(id, _)| *id));
                set.insert(*number);
            }
            Self::Series { column, .. } => set.insert(*column),
            Self::Values { columns, .. }
            | Self::Cte { columns, .. }
            | Self::Work { columns, .. }
            | Self::Recursive { columns, .. }
            | Self::Union { columns, .. } => {
                set.extend(columns.iter().copied());
            }
            Self::Filter { input, .. } | Self::Sort { input, .. } | Self::Limit { input, .. } => {
                input.outputs_into(set);
            }
            Self::Extend { input, expressions } => {
                input.outputs_into(set);
                set.extend(expressions.iter().map(|(id, _)| *id));
            }
            Self::Aggregate { groups, aggregates, .. } => {
                set.extend(groups.iter().map(|(id, _)| *id).chain(aggregates.iter().map(|(id, _)| *id)));
            }
            Self::Window { input, calls, .. } => {
                input.outputs_into(set);
                set.extend(calls.iter().map(|(id, _)| *id));
            }
            Self::Join(join) => {
                join.left.outputs_into(set);
                if matches!(join.kind, JoinKind::Inner | JoinKind::Left | JoinKind::Full) {
                    join.right.outputs_into(set);
                }
                set.extend(join.mark);
            }
            Self::Block { inputs, dependents, .. } => {
                inputs.iter().for_each(|input| input.outputs_into(set));
                for dependent in dependents {
                    if dependent.kind == JoinKind::Left {
                        dependent.right.outputs_into(set);
                    }
                    set.extend(dependent.mark);
                }
            }
            Self::Apply { input, output, .. } => {
                input.outputs_into(set);
                set.extend(output.iter().copied());
            }
        }
    }

    /// The numbers of the output columns.
    pub(crate) fn outputs(&self) -> IdSet {
        let mut set = IdSet::default();
        self.outputs_into(&mut set);
        set
    }

    /// The inputs.
    pub(crate) fn inputs(&self) -> Vec<&Self> {
        match self {
            Self::Scan(_) | Self::Values { .. } | Self::Cte { .. } | Self::Work { .. } | Self::Series { .. } => {
                Vec::new()
            }
            Self::Recursive { start, step, .. } => vec![&start.0, &step.0],
            Self::Filter { input, .. }
            | Self::Extend { input, .. }
            | Self::Aggregate { input, .. }
            | Self::Expand { input, .. }
            | Self::Window { input, .. }
            | Self::Sort { input, .. }
            | Self::Limit { input, .. } => vec![input],
            Self::Join(join) => vec![&join.left, &join.right],
            Self::Block { inputs, dependents, .. } => {
                inputs.iter().chain(dependents.iter().map(|d| &d.right)).collect()
            }
            Self::Apply { input, subplan, .. } => vec![input, subplan],
            Self::Union { inputs, .. } => inputs.iter().map(|(input, _)| input).collect(),
        }
    }

    /// The expressions of this relation alone.
    pub(crate) fn expressions(&self) -> Vec<&Expr> {
        match self {
            Self::Scan(scan) => scan.filters.iter().collect(),
            Self::Values { rows, .. } => rows.iter().flatten().collect(),
            Self::Filter { predicates, .. } => predicates.iter().collect(),
            Self::Extend { expressions, .. } => expressions.iter().map(|(_, e)| e).collect(),
            Self::Aggregate { groups, aggregates, .. } => groups
                .iter()
                .map(|(_, e)| e)
                .chain(aggregates.iter().flat_map(|(_, call)| call.expressions()))
                .collect(),
            Self::Window { partition, order, calls, .. } => partition
                .iter()
                .chain(order.iter().map(|key| &key.expr))
                .chain(calls.iter().flat_map(|(_, call)| call.expressions()))
                .collect(),
            Self::Join(join) => join.on.iter().collect(),
            Self::Block { predicates, dependents, .. } => {
                predicates.iter().chain(dependents.iter().flat_map(|d| &d.on)).collect()
            }
            Self::Sort { keys, limit, offset, .. } => keys.iter().map(|k| &k.expr).chain(limit).chain(offset).collect(),
            Self::Limit { limit, offset, .. } => limit.iter().chain(offset).collect(),
            Self::Expand { keys, .. } => keys.iter().map(|(_, e)| e).collect(),
            Self::Series { bounds, .. } => bounds.iter().collect(),
            Self::Apply { .. } | Self::Union { .. } | Self::Cte { .. } | Self::Recursive { .. } | Self::Work { .. } => {
                Vec::new()
            }
        }
    }

    /// Columns that the relation refers to and does not provide itself.
    pub(crate) fn free_columns(&self) -> IdSet {
        let mut used = IdSet::default();
        let mut provided = IdSet::default();
        self.gather(&mut used, &mut provided);
        used.subtract(&provided);
        used
    }

    /// Whether it reads the last round of a recursive expression around it.
    pub(crate) fn reads_work(&self) -> bool {
        matches!(self, Self::Work { .. }) || self.inputs().into_iter().any(Self::reads_work)
    }

    fn gather(&self, used: &mut IdSet, provided: &mut IdSet) {
        for expr in self.expressions() {
            columns_of(expr, used);
        }
        for input in self.inputs() {
            input.gather(used, provided);
        }
        self.outputs_into(provided);
    }
}
