//! Physical operators.

use crate::{AggregateCall, Expr, IndexId, Recursive, TableId, TableInfo, Window, WorkId};
use gingham_types::SqlType;
use serde::{Deserialize, Serialize};

/// A slot that an [`Apply`] binds to a value of its outer row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SlotId(pub u32);

/// A filter that a join's build side hands to scans on its probe side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FilterId(pub u32);

/// A common table expression computed once: `Query::ctes[id]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CteId(pub u32);

/// One physical operator with its inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Node {
    /// Reads a table.
    Scan(Scan),
    /// Constant rows. Each row has `types.len()` expressions without columns. One row
    /// of no columns is a SELECT without FROM.
    Values {
        /// Rows of expressions.
        rows: Vec<Vec<Expr>>,
        /// Column types.
        types: Vec<SqlType>,
    },
    /// Keeps the rows for which every conjunct is true, and of them the columns `columns`.
    Filter {
        /// Input.
        input: Box<Node>,
        /// Conjuncts over the input, cheapest and most selective first.
        predicates: Vec<Expr>,
        /// Input columns to put out, in order.
        columns: Vec<usize>,
        /// Estimated rows out.
        rows: f64,
    },
    /// Computes expressions over the input.
    Project {
        /// Input.
        input: Box<Node>,
        /// One for each output column.
        expressions: Vec<Expr>,
    },
    /// Groups (by no key: one row always). Puts out the group keys, then the aggregates.
    Aggregate {
        /// Input.
        input: Box<Node>,
        /// Group keys over the input. NULLs are one group.
        groups: Vec<Expr>,
        /// Aggregates over the input.
        aggregates: Vec<AggregateCall>,
        /// Estimated groups.
        rows: f64,
    },
    /// Hash join, or nested loops when there are no keys.
    Join(Box<Join>),
    /// Runs a subplan for each input row; what could not be turned into a join.
    Apply(Box<Apply>),
    /// Orders all rows; with `limit`, only the first `offset + limit` are kept (top-k).
    Sort {
        /// Input.
        input: Box<Node>,
        /// Keys, most significant first.
        keys: Vec<SortKey>,
        /// LIMIT, a BIGINT constant or parameter; NULL is no limit.
        limit: Option<Expr>,
        /// OFFSET, a BIGINT constant or parameter.
        offset: Option<Expr>,
    },
    /// Passes at most `limit` rows after skipping `offset`.
    Limit {
        /// Input.
        input: Box<Node>,
        /// LIMIT, a BIGINT constant or parameter; NULL is no limit.
        limit: Option<Expr>,
        /// OFFSET, a BIGINT constant or parameter.
        offset: Option<Expr>,
    },
    /// Each row once for each grouping set: its columns, then the keys, NULL where they
    /// are not in the set, then the set's position as INTEGER. Without any input row, one
    /// row of NULLs for each set without keys: the group of all rows.
    Expand {
        /// Input.
        input: Box<Node>,
        /// Keys over the input.
        keys: Vec<Expr>,
        /// For each set, which keys are in it.
        sets: Vec<Vec<bool>>,
    },
    /// A recursive common table expression.
    Recursive(Box<Recursive>),
    /// Rows of the last round of a recursive common table expression.
    Work {
        /// Which expression's.
        work: WorkId,
        /// Its columns to put out, in order.
        columns: Vec<usize>,
        /// Types of `columns`.
        types: Vec<SqlType>,
    },
    /// One column of values from `start` by `step` to `stop`, both included: all BIGINT, or
    /// TIMESTAMP with an INTERVAL as step. No row if one is NULL; a step of zero is error 22023.
    Series {
        /// First value.
        start: Expr,
        /// Bound.
        stop: Expr,
        /// Distance.
        step: Expr,
    },
    /// Window functions over sorted rows.
    Window(Box<Window>),
    /// All rows of all inputs in order; the inputs have the same column types.
    Union {
        /// Inputs.
        inputs: Vec<Node>,
    },
    /// The rows of a shared common table expression.
    Cte {
        /// Which.
        id: CteId,
        /// Its columns to put out, in order.
        columns: Vec<usize>,
        /// Types of `columns`.
        types: Vec<SqlType>,
        /// Estimated rows.
        rows: f64,
    },
}

/// Which store a scan reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Route {
    /// The B+tree.
    Row(RowAccess),
    /// Row groups, plus what is not yet in them.
    Column,
}

/// How a scan walks the B+tree. Bounds restrict what is read; filters still apply.
/// Bound expressions have no columns (constants, parameters, slots, subqueries) and
/// the type of the key column they bound; a NULL bound matches nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RowAccess {
    /// All rows in key order.
    Full {
        /// Descending key order.
        reverse: bool,
    },
    /// A range of the primary key (`index: None`) or of a secondary index.
    Range {
        /// Which index.
        index: Option<IndexId>,
        /// Values that the leading key columns equal.
        equal: Vec<Expr>,
        /// Lower bound of the next key column.
        lower: Option<KeyBound>,
        /// Upper bound of the next key column.
        upper: Option<KeyBound>,
        /// Descending key order.
        reverse: bool,
        /// Only entries whose next key column is not NULL. Those with a bound on it are
        /// never NULL.
        not_null: bool,
    },
    /// Single keys, each a prefix of the key columns, read in key order without repeats.
    Keys {
        /// Which index.
        index: Option<IndexId>,
        /// Keys, all of one length.
        keys: Vec<Vec<Expr>>,
    },
    /// The keys that a join's build side has: a nested index join. Where it has too many
    /// to list, the whole table.
    Lookup {
        /// Which index.
        index: Option<IndexId>,
        /// Values that the leading key columns equal.
        equal: Vec<Expr>,
        /// Gives the values of the next key column; also one of the scan's dynamic filters.
        filter: FilterId,
    },
}

impl RowAccess {
    /// The index that is walked; `None` is the primary key.
    pub const fn index(&self) -> Option<IndexId> {
        match self {
            Self::Full { .. } => None,
            Self::Range { index, .. } | Self::Keys { index, .. } | Self::Lookup { index, .. } => *index,
        }
    }

    /// The expressions that say where to look.
    pub fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::Full { .. } => Vec::new(),
            Self::Range { equal, lower, upper, .. } => {
                equal.iter_mut().chain(lower.iter_mut().chain(upper).map(|bound| &mut bound.value)).collect()
            }
            Self::Keys { keys, .. } => keys.iter_mut().flatten().collect(),
            Self::Lookup { equal, .. } => equal.iter_mut().collect(),
        }
    }
}

/// One end of a key range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyBound {
    /// The bound.
    pub value: Expr,
    /// Whether the bound itself belongs to the range.
    pub inclusive: bool,
}

/// Reads one table. Output: `columns` in order, then, with `locator`, one BLOB column
/// that names the row to UPDATE and DELETE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scan {
    /// Which table.
    pub table: TableId,
    /// Its name and alias, for EXPLAIN.
    pub name: String,
    /// Ordinals of the columns to put out.
    pub columns: Vec<usize>,
    /// Types of `columns`.
    pub types: Vec<SqlType>,
    /// Whether a row locator follows the columns.
    pub locator: bool,
    /// Conjuncts that rows must satisfy; `Expr::Column` is the ordinal in the table.
    pub filters: Vec<Expr>,
    /// Filters that joins above will fill in; rows they exclude may be dropped, need not be.
    pub dynamic_filters: Vec<DynamicFilter>,
    /// Where to read.
    pub route: Route,
    /// Estimated cost in microseconds of the best row access, where there is one.
    pub row_cost_us: Option<f64>,
    /// Estimated cost in microseconds of the columnar scan, where there is one.
    pub column_cost_us: Option<f64>,
    /// Why the route was taken, for EXPLAIN.
    pub reason: String,
    /// Estimated rows out.
    pub rows: f64,
}

/// A join's filter as a scan sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DynamicFilter {
    /// Which filter.
    pub filter: FilterId,
    /// Ordinal in the table of the column it applies to.
    pub column: usize,
}

/// Kinds of join. `left` is the side that outer, semi, anti and mark joins preserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JoinKind {
    /// Pairs that match.
    Inner,
    /// Pairs, and left rows without a match with NULLs on the right.
    Left,
    /// Pairs, and rows of either side without a match.
    Full,
    /// Left rows with a match; columns of the left only.
    Semi,
    /// Left rows without a match; columns of the left only.
    Anti,
    /// All left rows with one more BOOLEAN column: whether there is a match; with
    /// `null_aware`, NULL where IN would be.
    Mark,
}

/// Which input the hash table is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BuildSide {
    /// `left`.
    Left,
    /// `right`.
    Right,
}

/// A join. Rows match when all keys are equal and `residual` is true. The joined row
/// is left columns, then right columns (for semi and anti left only, for mark left
/// and the mark); `columns` selects from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Join {
    /// Kind.
    pub kind: JoinKind,
    /// Preserved input.
    pub left: Node,
    /// Other input.
    pub right: Node,
    /// Keys over the left input. None of either: every pair is tried (nested loops).
    pub left_keys: Vec<Expr>,
    /// Keys over the right input, of the same types.
    pub right_keys: Vec<Expr>,
    /// For each key, whether NULL equals NULL (IS NOT DISTINCT FROM).
    pub null_equal: Vec<bool>,
    /// Further condition over left columns followed by right columns.
    pub residual: Option<Expr>,
    /// For Anti and Mark: the semantics of NOT IN and IN on the first key (`x NOT IN
    /// (…)` is not true when x or any of the values is NULL, unless there are none).
    pub null_aware: bool,
    /// Side to build on.
    pub build: BuildSide,
    /// For each key, the filter to publish over the build side's keys, if wanted. The
    /// planner asks for one only where dropping probe rows without match is right.
    pub publish: Vec<Option<FilterId>>,
    /// Columns of the joined row to put out, in order.
    pub columns: Vec<usize>,
    /// Estimated rows out.
    pub rows: f64,
}

/// What an [`Apply`] makes of its subplan's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ApplyKind {
    /// The single value of one column; NULL for no row; error 21000 for several.
    Scalar,
    /// BOOLEAN: whether there is a row.
    Exists,
    /// Every row of the subplan joined with the outer row (LATERAL).
    Cross,
    /// As `Cross`, with NULLs where the subplan has no row.
    Left,
}

/// Runs `subplan` once for each distinct combination of the bound outer values. Puts
/// out the input's columns, then the value (Scalar, Exists) or the subplan's columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Apply {
    /// Outer rows.
    pub input: Node,
    /// What to run; refers to outer values by slot.
    pub subplan: Node,
    /// What to make of its rows.
    pub kind: ApplyKind,
    /// Slots and the input columns they are bound to.
    pub bindings: Vec<(SlotId, usize)>,
    /// Types of the columns that are added to the input's.
    pub types: Vec<SqlType>,
}

/// One sort key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SortKey {
    /// What to order by, over the input.
    pub expr: Expr,
    /// Greatest first.
    pub descending: bool,
    /// NULLs before everything else, whichever the direction.
    pub nulls_first: bool,
}

impl Scan {
    /// Whether the entries of a secondary index have every column that is wanted, so that
    /// rows are not read.
    pub fn reads_index_only(&self, table: &TableInfo) -> bool {
        let Route::Row(access) = &self.route else { return false };
        let Some(index) = access.index().and_then(|id| table.index_by_id(id)) else { return false };
        let mut filtered = Vec::new();
        self.filters.iter().for_each(|filter| {
            filter.visit(&mut |e| {
                if let Expr::Column { index, .. } = e {
                    filtered.push(*index);
                }
            });
        });
        let dynamic = self.dynamic_filters.iter().map(|f| f.column);
        table.index_has(index, self.columns.iter().copied().chain(filtered).chain(dynamic))
    }
}

impl Node {
    /// The types of the output columns.
    pub fn types(&self) -> Vec<SqlType> {
        match self {
            Self::Scan(scan) => {
                let mut types = scan.types.clone();
                types.extend(scan.locator.then_some(SqlType::Blob));
                types
            }
            Self::Values { types, .. } | Self::Cte { types, .. } | Self::Work { types, .. } => types.clone(),
            Self::Recursive(recursive) => recursive.types.clone(),
            Self::Series { start, .. } => vec![start.ty()],
            Self::Expand { input, keys, .. } => {
                let mut types = input.types();
                types.extend(keys.iter().map(Expr::ty));
                types.push(SqlType::Integer);
                types
            }
            Self::Filter { input, columns, .. } => {
                let types = input.types();
                columns.iter().map(|c| types[*c]).collect()
            }
            Self::Project { expressions, .. } => expressions.iter().map(Expr::ty).collect(),
            Self::Aggregate { groups, aggregates, .. } => {
                groups.iter().map(Expr::ty).chain(aggregates.iter().map(|a| a.ty)).collect()
            }
            Self::Join(join) => {
                let types = join.joined_types();
                join.columns.iter().map(|c| types[*c]).collect()
            }
            Self::Window(window) => {
                let mut types = window.input.types();
                types.extend(window.calls.iter().map(|call| call.ty));
                types
            }
            Self::Apply(apply) => apply.input.types().into_iter().chain(apply.types.iter().copied()).collect(),
            Self::Sort { input, .. } | Self::Limit { input, .. } => input.types(),
            Self::Union { inputs } => inputs.first().map(Self::types).unwrap_or_default(),
        }
    }

    /// The inputs, in order.
    pub fn inputs(&self) -> Vec<&Self> {
        match self {
            Self::Scan(_) | Self::Values { .. } | Self::Cte { .. } | Self::Work { .. } | Self::Series { .. } => {
                Vec::new()
            }
            Self::Recursive(recursive) => vec![&recursive.start, &recursive.step],
            Self::Filter { input, .. }
            | Self::Project { input, .. }
            | Self::Aggregate { input, .. }
            | Self::Expand { input, .. }
            | Self::Sort { input, .. }
            | Self::Limit { input, .. } => vec![input],
            Self::Join(join) => vec![&join.left, &join.right],
            Self::Apply(apply) => vec![&apply.input, &apply.subplan],
            Self::Window(window) => vec![&window.input],
            Self::Union { inputs } => inputs.iter().collect(),
        }
    }
}

impl Join {
    /// The types of the joined row, before `columns` selects from it.
    pub fn joined_types(&self) -> Vec<SqlType> {
        let mut types = self.left.types();
        match self.kind {
            JoinKind::Inner | JoinKind::Left | JoinKind::Full => types.extend(self.right.types()),
            JoinKind::Mark => types.push(SqlType::Boolean),
            JoinKind::Semi | JoinKind::Anti => {}
        }
        types
    }
}
