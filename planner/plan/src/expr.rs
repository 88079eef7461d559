//! Typed scalar expressions over the columns of one input.

use crate::node::SlotId;
use gingham_types::{SqlType, Value};
use serde::{Deserialize, Serialize};

/// A scalar expression. Every node knows its type; the planner has inserted every
/// cast, so that operands arrive as each operator's table below says.
///
/// NULL follows SQL: operators give NULL for a NULL operand, AND/OR are three-valued.
///
/// Read from bytes it is at most [`EXPR_DEPTH_MAX`](crate::EXPR_DEPTH_MAX) levels deep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")] // The traits are in `depth`, which counts levels.
pub enum Expr {
    /// A column of the input by position. In [`crate::Scan::filters`] the position is
    /// the column's ordinal in the table.
    Column {
        /// Position, from 0.
        index: usize,
        /// Its type.
        ty: SqlType,
    },
    /// A constant.
    Literal {
        /// The value, already of type `ty`.
        value: Value,
        /// Its type.
        ty: SqlType,
    },
    /// A statement parameter, from 0. The engine casts the bound value to `ty`.
    Parameter {
        /// Position in the statement's parameter list.
        index: usize,
        /// The type that the context gave it.
        ty: SqlType,
    },
    /// A value of the outer row, bound by an enclosing [`crate::Apply`].
    Slot {
        /// Which slot.
        slot: SlotId,
        /// Its type.
        ty: SqlType,
    },
    /// The single value of an uncorrelated scalar subquery: `Query::subqueries[index]`.
    Subquery {
        /// Position in the list.
        index: usize,
        /// Its type.
        ty: SqlType,
    },
    /// `left op right`.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
        /// Result type.
        ty: SqlType,
    },
    /// `NOT e`.
    Not(Box<Expr>),
    /// `-e`, of the operand's type.
    Negate(Box<Expr>),
    /// `e IS [NOT] NULL`.
    IsNull {
        /// Operand of any type.
        expr: Box<Expr>,
        /// IS NOT NULL.
        negated: bool,
    },
    /// `e [NOT] IN (…)`, list items of the operand's type.
    InList {
        /// Operand.
        expr: Box<Expr>,
        /// Items.
        list: Vec<Expr>,
        /// NOT IN.
        negated: bool,
    },
    /// `e [NOT] LIKE pattern` on TEXT. `%` is any run, `_` one character.
    Like {
        /// Operand.
        expr: Box<Expr>,
        /// Pattern.
        pattern: Box<Expr>,
        /// Escape character, if any.
        escape: Option<char>,
        /// NOT LIKE.
        negated: bool,
        /// ILIKE: compare without case.
        ignore_case: bool,
    },
    /// `CASE WHEN … THEN … ELSE … END`; the simple form is rewritten to comparisons.
    /// Branches are evaluated only for the rows that reach them.
    Case {
        /// BOOLEAN conditions with results of type `ty`.
        branches: Vec<(Expr, Expr)>,
        /// Result of type `ty` when no condition is true; NULL without one.
        otherwise: Option<Box<Expr>>,
        /// Result type.
        ty: SqlType,
    },
    /// `CAST(e AS ty)`; with `lenient`, NULL instead of an error (TRY_CAST).
    Cast {
        /// Operand.
        expr: Box<Expr>,
        /// Target type.
        ty: SqlType,
        /// TRY_CAST.
        lenient: bool,
    },
    /// A scalar function.
    Call {
        /// Which.
        function: Function,
        /// Arguments as the function's comment says.
        arguments: Vec<Expr>,
        /// Result type.
        ty: SqlType,
    },
    // Last: files hold expressions, in which a variant is its number.
    /// When the statement began, in UTC: a TIMESTAMP, the same all through it.
    Now,
}

/// Binary operators and the operand types they arrive with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinaryOp {
    /// Both of type `ty` (numbers); DATE/TIMESTAMP + INTERVAL gives the left type; DATE + INTEGER gives DATE (days).
    Add,
    /// As `Add`; also DATE - DATE gives INTEGER (days).
    Subtract,
    /// Both of type `ty`, but DECIMAL operands keep their own scales, which add up to the result's.
    Multiply,
    /// Both of type `ty` (integers truncate), but DECIMAL operands keep their own
    /// scales and the quotient is rounded half away from zero to the result's scale.
    /// Division by zero is error 22012.
    Divide,
    /// Both of type `ty`; the sign follows the dividend; by zero is error 22012.
    Modulo,
    /// Both TEXT.
    Concat,
    /// Both of one type (DECIMAL of one scale).
    Equal,
    /// As `Equal`.
    NotEqual,
    /// As `Equal`.
    Less,
    /// As `Equal`.
    LessOrEqual,
    /// As `Equal`.
    Greater,
    /// As `Equal`.
    GreaterOrEqual,
    /// As `Equal`; never NULL, NULLs are equal to each other.
    IsDistinctFrom,
    /// As `Equal`; never NULL, NULLs are equal to each other.
    IsNotDistinctFrom,
    /// Both BOOLEAN, three-valued.
    And,
    /// Both BOOLEAN, three-valued.
    Or,
}

impl BinaryOp {
    /// Whether the result is BOOLEAN from two values of one type.
    pub const fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Equal | Self::NotEqual | Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual
        )
    }

    /// The operator with its operands exchanged: `a op b` is `b op.swapped() a`.
    #[must_use]
    pub const fn swapped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            other => other,
        }
    }

    /// The operator as written in SQL.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Concat => "||",
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::IsDistinctFrom => "IS DISTINCT FROM",
            Self::IsNotDistinctFrom => "IS NOT DISTINCT FROM",
            Self::And => "AND",
            Self::Or => "OR",
        }
    }
}

/// Fields of EXTRACT and units of DATE_TRUNC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DateField {
    /// Year.
    Year,
    /// Quarter, 1 to 4.
    Quarter,
    /// Month, 1 to 12.
    Month,
    /// ISO week, 1 to 53.
    Week,
    /// Day of the month.
    Day,
    /// Day of the week, Sunday is 0.
    DayOfWeek,
    /// Day of the year, from 1.
    DayOfYear,
    /// Hour.
    Hour,
    /// Minute.
    Minute,
    /// Second, whole.
    Second,
    /// Seconds since 1970-01-01, whole.
    Epoch,
}

/// Scalar functions. Arguments have the types given here; NULL in gives NULL out
/// unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Function {
    /// `abs(number)`, of the argument's type.
    Abs,
    /// `ceil(DOUBLE | DECIMAL)`.
    Ceil,
    /// `floor(DOUBLE | DECIMAL)`.
    Floor,
    /// `round(DOUBLE | DECIMAL [, INTEGER digits])`.
    Round,
    /// `trunc(DOUBLE | DECIMAL)`.
    Truncate,
    /// `sign(number)`, INTEGER.
    Sign,
    /// `sqrt(DOUBLE)`.
    Sqrt,
    /// `exp(DOUBLE)`.
    Exp,
    /// `ln(DOUBLE)`.
    Ln,
    /// `log10(DOUBLE)`.
    Log10,
    /// `power(DOUBLE, DOUBLE)`.
    Power,
    /// `length(TEXT)` in characters, INTEGER.
    Length,
    /// `octet_length(TEXT | BLOB)`, INTEGER.
    OctetLength,
    /// `lower(TEXT)`.
    Lower,
    /// `upper(TEXT)`.
    Upper,
    /// `trim(TEXT [, TEXT characters])`, both ends.
    Trim,
    /// `ltrim(TEXT [, TEXT characters])`.
    TrimStart,
    /// `rtrim(TEXT [, TEXT characters])`.
    TrimEnd,
    /// `replace(TEXT, TEXT from, TEXT to)`.
    Replace,
    /// `substring(TEXT, BIGINT start [, BIGINT length])`, in characters from 1; a negative length is error 22011.
    Substring,
    /// `strpos(TEXT, TEXT)`: position of the first occurrence, from 1, or 0; INTEGER.
    Position,
    /// `left(TEXT, BIGINT)`; a negative count drops that many from the right.
    Left,
    /// `right(TEXT, BIGINT)`; a negative count drops that many from the left.
    Right,
    /// `repeat(TEXT, BIGINT)`.
    Repeat,
    /// `reverse(TEXT)`.
    Reverse,
    /// `lpad(TEXT, BIGINT, TEXT)`.
    PadStart,
    /// `rpad(TEXT, BIGINT, TEXT)`.
    PadEnd,
    /// `starts_with(TEXT, TEXT)`, BOOLEAN.
    StartsWith,
    /// `concat(TEXT, …)`: NULL counts as empty.
    ConcatAll,
    /// `coalesce(a, …)`: the first that is not NULL, evaluated only as far as needed.
    Coalesce,
    /// `nullif(a, b)`: NULL if equal.
    NullIf,
    /// `greatest(a, …)`: NULLs ignored.
    Greatest,
    /// `least(a, …)`: NULLs ignored.
    Least,
    /// `extract(field FROM DATE | TIMESTAMP)`, BIGINT.
    Extract(DateField),
    /// `date_trunc('field', DATE | TIMESTAMP)`, of the argument's type.
    DateTruncate(DateField),
    /// How many bounds of the field are between two values, both DATE or both TIMESTAMP; BIGINT.
    DateDifference(DateField),
    /// `make_date(BIGINT, BIGINT, BIGINT)`; no such day is error 22008.
    MakeDate,
    /// `strftime(TIMESTAMP, TEXT)`.
    FormatTime,
    /// `split_part(TEXT, TEXT delimiter, BIGINT n)`: the n-th part, from 1, or from the end
    /// if negative; empty if there is none; zero is error 22023.
    SplitPart,
    /// `initcap(TEXT)`.
    InitialCapitals,
    /// `chr(BIGINT)`, TEXT; no character is error 54000.
    Character,
    /// `ascii(TEXT)`: the first character's code point, 0 of no text; INTEGER.
    CodePoint,
}

impl Expr {
    /// The type of the value.
    pub fn ty(&self) -> SqlType {
        match self {
            Self::Column { ty, .. }
            | Self::Literal { ty, .. }
            | Self::Parameter { ty, .. }
            | Self::Slot { ty, .. }
            | Self::Subquery { ty, .. }
            | Self::Binary { ty, .. }
            | Self::Case { ty, .. }
            | Self::Cast { ty, .. }
            | Self::Call { ty, .. } => *ty,
            Self::Now => SqlType::Timestamp,
            Self::Not(_) | Self::IsNull { .. } | Self::InList { .. } | Self::Like { .. } => SqlType::Boolean,
            Self::Negate(expr) => expr.ty(),
        }
    }

    /// A column reference.
    pub const fn column(index: usize, ty: SqlType) -> Self {
        Self::Column { index, ty }
    }

    /// A constant.
    pub const fn literal(value: Value, ty: SqlType) -> Self {
        Self::Literal { value, ty }
    }

    /// A comparison or logical connective of two operands.
    pub fn boolean(op: BinaryOp, left: Self, right: Self) -> Self {
        Self::Binary { op, left: Box::new(left), right: Box::new(right), ty: SqlType::Boolean }
    }

    /// All conjuncts joined by AND; TRUE for none.
    pub fn all(conjuncts: impl IntoIterator<Item = Self>) -> Self {
        conjuncts
            .into_iter()
            .reduce(|a, b| Self::boolean(BinaryOp::And, a, b))
            .unwrap_or(Self::literal(Value::Boolean(true), SqlType::Boolean))
    }

    /// The operands, in order.
    pub fn children(&self) -> Vec<&Self> {
        match self {
            Self::Column { .. }
            | Self::Literal { .. }
            | Self::Parameter { .. }
            | Self::Slot { .. }
            | Self::Now
            | Self::Subquery { .. } => Vec::new(),
            Self::Binary { left, right, .. } => vec![left, right],
            Self::Not(e) | Self::Negate(e) | Self::IsNull { expr: e, .. } | Self::Cast { expr: e, .. } => vec![e],
            Self::InList { expr, list, .. } => std::iter::once(&**expr).chain(list).collect(),
            Self::Like { expr, pattern, .. } => vec![expr, pattern],
            Self::Case { branches, otherwise, .. } => {
                branches.iter().flat_map(|(c, r)| [c, r]).chain(otherwise.as_deref()).collect()
            }
            Self::Call { arguments, .. } => arguments.iter().collect(),
        }
    }

    /// The operands, in order, to change in place.
    pub fn children_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Column { .. }
            | Self::Literal { .. }
            | Self::Parameter { .. }
            | Self::Slot { .. }
            | Self::Now
            | Self::Subquery { .. } => Vec::new(),
            Self::Binary { left, right, .. } => vec![left, right],
            Self::Not(e) | Self::Negate(e) | Self::IsNull { expr: e, .. } | Self::Cast { expr: e, .. } => vec![e],
            Self::InList { expr, list, .. } => std::iter::once(&mut **expr).chain(list).collect(),
            Self::Like { expr, pattern, .. } => vec![expr, pattern],
            Self::Case { branches, otherwise, .. } => {
                branches.iter_mut().flat_map(|(c, r)| [c, r]).chain(otherwise.as_deref_mut()).collect()
            }
            Self::Call { arguments, .. } => arguments.iter_mut().collect(),
        }
    }

    /// Calls `f` on this node and everything below it, parents first.
    pub fn visit(&self, f: &mut impl FnMut(&Self)) {
        f(self);
        for child in self.children() {
            child.visit(f);
        }
    }

    /// Calls `f` on everything below this node and then on it.
    pub fn visit_mut(&mut self, f: &mut impl FnMut(&mut Self)) {
        for child in self.children_mut() {
            child.visit_mut(f);
        }
        f(self);
    }
}
