//! Filters compiled for the scan: which of them it evaluates on codes, and how.

use super::mappable::{is_infallible, only_column};
use super::ranges::RangeSet;
use super::text_test::{Pattern, TextSet, TextTest};
use crate::storage::encoding::double::ordered;
use gingham_plan::{BinaryOp, Expr, Function};
use gingham_types::{SqlType, Value, power_of_ten};
use std::sync::Arc;

/// One conjunct, or several on the same column.
#[derive(Clone, Debug)]
pub(crate) enum Predicate {
    /// A test of one column's value.
    Column { column: usize, test: Test, on_null: bool },
    /// A comparison of two integer-like columns of one type.
    Pair { left: usize, op: BinaryOp, right: usize },
    /// An expression over one column that cannot fail: evaluated once for each entry of
    /// a dictionary. Its column is `Expr::Column { index: 0 }`.
    Mapped { column: usize, expr: Expr },
}

/// What values that are not NULL pass.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// Integer-like values, and doubles by their ordered bits.
    Numbers(RangeSet),
    /// TEXT and BLOB.
    Text(Arc<TextTest>),
}

/// All filters of a scan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compiled {
    /// Evaluated by the scan, in any order.
    pub(crate) predicates: Vec<Predicate>,
    /// Evaluated by the expression evaluator on the rows that passed the others. Columns
    /// are positions in `residual_columns`.
    pub(crate) residual: Vec<Expr>,
    /// Table ordinals.
    pub(crate) residual_columns: Vec<usize>,
    /// Some filter is never true.
    pub(crate) nothing: bool,
}

/// Compiles conjuncts over table ordinals.
pub(crate) fn compile(filters: &[Expr]) -> Compiled {
    let mut compiled = Compiled::default();
    for filter in filters {
        compiled.add(filter);
    }
    compiled.number_residual();
    compiled
}

impl Compiled {
    fn add(&mut self, filter: &Expr) {
        match filter {
            Expr::Binary { op: BinaryOp::And, left, right, .. } => {
                self.add(left);
                self.add(right);
            }
            Expr::Literal { value: Value::Boolean(true), .. } => {}
            Expr::Literal { .. } => self.nothing = true,
            filter => {
                if let Some((column, test)) = column_test(filter) {
                    self.add_test(column, test.values, test.on_null == Some(true));
                } else if let Some(pair) = column_pair(filter) {
                    self.predicates.push(pair);
                } else if let Some(column) = only_column(filter).filter(|_| is_infallible(filter)) {
                    let mut expr = filter.clone();
                    renumber(&mut expr, &mut |_| 0);
                    self.predicates.push(Predicate::Mapped { column, expr });
                } else {
                    self.residual.push(filter.clone());
                }
            }
        }
    }

    /// Bounds of a range often come as two conjuncts: one test costs less than two.
    fn add_test(&mut self, column: usize, new: Test, new_on_null: bool) {
        for predicate in &mut self.predicates {
            if let Predicate::Column { column: known, test, on_null } = predicate
                && *known == column
            {
                *on_null &= new_on_null;
                *test = test.and(&new);
                return;
            }
        }
        self.predicates.push(Predicate::Column { column, test: new, on_null: new_on_null });
    }

    fn number_residual(&mut self) {
        let Self { residual, residual_columns, .. } = self;
        for expr in residual {
            renumber(expr, &mut |ordinal| position_in(residual_columns, ordinal));
        }
    }
}

/// The position of `ordinal` in `columns`, where it is added if it is not there.
pub(crate) fn position_in(columns: &mut Vec<usize>, ordinal: usize) -> usize {
    columns.iter().position(|known| *known == ordinal).unwrap_or_else(|| {
        columns.push(ordinal);
        columns.len() - 1
    })
}

pub(crate) fn renumber(expr: &mut Expr, number: &mut impl FnMut(usize) -> usize) {
    expr.visit_mut(&mut |node| {
        if let Expr::Column { index, .. } = node {
            *index = number(*index);
        }
    });
}

/// A test with three-valued results, while it is put together.
struct Draft {
    values: Test,
    /// What the test gives for NULL.
    on_null: Option<bool>,
    /// Whether values that do not pass give false; otherwise some give NULL, and the
    /// test cannot be negated.
    exact: bool,
}

impl Test {
    fn text(test: TextTest) -> Self {
        Self::Text(Arc::new(test))
    }

    fn and(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Numbers(a), Self::Numbers(b)) => Self::Numbers(a.intersection(b)),
            (Self::Text(a), Self::Text(b)) => Self::text(TextTest::All(vec![(**a).clone(), (**b).clone()])),
            // One column has one type.
            (a, _) => a.clone(),
        }
    }

    fn or(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Numbers(a), Self::Numbers(b)) => Self::Numbers(a.union(b)),
            (Self::Text(a), Self::Text(b)) => Self::text(TextTest::Any(vec![(**a).clone(), (**b).clone()])),
            (a, _) => a.clone(),
        }
    }

    fn not(&self) -> Self {
        match self {
            Self::Numbers(a) => Self::Numbers(a.complement()),
            Self::Text(a) => Self::text(TextTest::Not(Box::new((**a).clone()))),
        }
    }

    fn everything(ty: SqlType) -> Self {
        if is_text(ty) { Self::text(TextTest::Always) } else { Self::Numbers(RangeSet::all()) }
    }

    fn nothing(ty: SqlType) -> Self {
        if is_text(ty) { Self::text(TextTest::Never) } else { Self::Numbers(RangeSet::none()) }
    }
}

const fn is_text(ty: SqlType) -> bool {
    matches!(ty, SqlType::Text | SqlType::Blob)
}

fn has_test(ty: SqlType) -> bool {
    !matches!(ty, SqlType::Null | SqlType::Interval)
}

/// A filter as a test of one column, if it is one.
fn column_test(expr: &Expr) -> Option<(usize, Draft)> {
    match expr {
        Expr::Column { index, ty: SqlType::Boolean } => {
            Some((*index, Draft { values: Test::Numbers(RangeSet::between(1, 1)), on_null: None, exact: true }))
        }
        Expr::Not(inner) => {
            let (column, draft) = column_test(inner)?;
            let Draft { values, on_null, exact: true } = draft else { return None };
            Some((column, Draft { values: values.not(), on_null: on_null.map(|v| !v), exact: true }))
        }
        Expr::IsNull { expr, negated } => {
            let Expr::Column { index, ty } = **expr else { return None };
            if !has_test(ty) {
                return None;
            }
            let values = if *negated { Test::everything(ty) } else { Test::nothing(ty) };
            Some((index, Draft { values, on_null: Some(!negated), exact: true }))
        }
        Expr::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right, .. } => {
            let (column, a) = column_test(left)?;
            let (other, b) = column_test(right)?;
            (column == other).then(|| (column, combine(*op, &a, &b)))
        }
        Expr::Binary { op, left, right, .. } => {
            comparison(*op, left, right).or_else(|| prefix_test(expr, if is_literal(left) { right } else { left }))
        }
        Expr::InList { expr: operand, list, negated } => {
            in_list(operand, list, *negated).or_else(|| prefix_test(expr, operand))
        }
        Expr::Like { expr, pattern, escape, negated, ignore_case: false } => {
            let (Expr::Column { index, ty: SqlType::Text }, Expr::Literal { value: Value::Text(pattern), .. }) =
                (&**expr, &**pattern)
            else {
                return None;
            };
            let test = Test::text(TextTest::Like(Pattern::new(pattern, *escape)?));
            let values = if *negated { test.not() } else { test };
            Some((*index, Draft { values, on_null: None, exact: true }))
        }
        _ => None,
    }
}

fn combine(op: BinaryOp, a: &Draft, b: &Draft) -> Draft {
    let (values, on_null) = if op == BinaryOp::And {
        let on_null = match (a.on_null, b.on_null) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        (a.values.and(&b.values), on_null)
    } else {
        let on_null = match (a.on_null, b.on_null) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        };
        (a.values.or(&b.values), on_null)
    };
    Draft { values, on_null, exact: a.exact && b.exact }
}

/// A column under casts that lose nothing: its ordinal, and by what a cast multiplies.
fn column_operand(expr: &Expr) -> Option<(usize, SqlType, i128)> {
    match expr {
        Expr::Column { index, ty } if has_test(*ty) => Some((*index, *ty, 1)),
        Expr::Cast { expr, ty, lenient: false } => {
            let (index, from, factor) = column_operand(expr)?;
            let more = match (from, *ty) {
                (from, to) if from == to => 1,
                (SqlType::Integer, SqlType::BigInt) => 1,
                (SqlType::Date, SqlType::Timestamp) => 86_400_000_000,
                (from, SqlType::Decimal { precision, scale }) => {
                    let (from_precision, from_scale) = from.as_decimal()?;
                    let more_scale = scale.checked_sub(from_scale)?;
                    if precision.checked_sub(scale)? < from_precision.checked_sub(from_scale)? {
                        return None;
                    }
                    power_of_ten(more_scale)?
                }
                _ => return None,
            };
            Some((index, *ty, factor.checked_mul(more)?))
        }
        _ => None,
    }
}

/// The least and greatest key of a constant: they differ for the two zeros of DOUBLE.
fn number_of(value: &Value, ty: SqlType) -> Option<(i128, i128)> {
    let single = match (value, ty) {
        (Value::Boolean(v), SqlType::Boolean) => i128::from(*v),
        (Value::Int(v), SqlType::Integer | SqlType::BigInt) | (Value::Timestamp(v), SqlType::Timestamp) => {
            i128::from(*v)
        }
        (Value::Date(v), SqlType::Date) => i128::from(*v),
        (Value::Decimal { unscaled, scale }, SqlType::Decimal { scale: wanted, .. }) if *scale == wanted => *unscaled,
        (Value::Double(0.0), SqlType::Double) => {
            return Some((i128::from(ordered(-0.0)), i128::from(ordered(0.0))));
        }
        (Value::Double(v), SqlType::Double) => i128::from(ordered(*v)),
        _ => return None,
    };
    Some((single, single))
}

fn bytes_of(value: &Value, ty: SqlType) -> Option<&[u8]> {
    match (value, ty) {
        (Value::Text(text), SqlType::Text) => Some(text.as_bytes()),
        (Value::Blob(bytes), SqlType::Blob) => Some(bytes),
        _ => None,
    }
}

fn comparison(op: BinaryOp, left: &Expr, right: &Expr) -> Option<(usize, Draft)> {
    let (column, value, op) = match (left, right) {
        (column, Expr::Literal { value, .. }) => (column, value, op),
        (Expr::Literal { value, .. }, column) => (column, value, op.swapped()),
        _ => return None,
    };
    let (index, ty, factor) = column_operand(column)?;
    // The two operators that are never NULL are (in)equality with an answer for NULL.
    let (op, on_null) = match op {
        BinaryOp::IsDistinctFrom => (BinaryOp::NotEqual, Some(!value.is_null())),
        BinaryOp::IsNotDistinctFrom => (BinaryOp::Equal, Some(value.is_null())),
        op if op.is_comparison() => (op, None),
        _ => return None,
    };
    if value.is_null() {
        let everything = on_null.is_some() && op == BinaryOp::NotEqual;
        let values = if everything { Test::everything(ty) } else { Test::nothing(ty) };
        return Some((index, Draft { values, on_null, exact: on_null.is_some() }));
    }
    let values = if is_text(ty) {
        Test::text(TextTest::Compare(op, bytes_of(value, ty)?.to_vec()))
    } else {
        let (low, high) = number_of(value, ty)?;
        let set = match op {
            BinaryOp::Equal => RangeSet::between(low, high),
            BinaryOp::NotEqual => RangeSet::between(low, high).complement(),
            BinaryOp::Less => RangeSet::between(i128::MIN, low.checked_sub(1)?),
            BinaryOp::LessOrEqual => RangeSet::between(i128::MIN, high),
            BinaryOp::Greater => RangeSet::between(high.checked_add(1)?, i128::MAX),
            BinaryOp::GreaterOrEqual => RangeSet::between(low, i128::MAX),
            _ => return None,
        };
        Test::Numbers(set.divided(factor))
    };
    Some((index, Draft { values, on_null, exact: true }))
}

fn in_list(expr: &Expr, list: &[Expr], negated: bool) -> Option<(usize, Draft)> {
    let (index, ty, factor) = column_operand(expr)?;
    let mut has_null = false;
    let mut items = Vec::with_capacity(list.len());
    for item in list {
        match item {
            Expr::Literal { value: Value::Null, .. } => has_null = true,
            Expr::Literal { value, .. } => items.push(value),
            _ => return None,
        }
    }
    let values = if is_text(ty) {
        let values = items.into_iter().map(|v| Some(bytes_of(v, ty)?.to_vec())).collect::<Option<Vec<_>>>()?;
        Test::text(TextTest::In(TextSet::new(values)))
    } else {
        let points = items.into_iter().map(|v| number_of(v, ty)).collect::<Option<Vec<_>>>()?;
        Test::Numbers(RangeSet::of(points).divided(factor))
    };
    // With a NULL in the list, what is not in it is unknown: never true.
    let values = match (negated, has_null) {
        (false, _) => values,
        (true, false) => values.not(),
        (true, true) => Test::nothing(ty),
    };
    Some((index, Draft { values, on_null: None, exact: !has_null }))
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal { .. })
}

/// The column and number of characters of an expression that is the beginning of a text.
fn prefix_operand(expr: &Expr) -> Option<(usize, usize)> {
    let Expr::Call { function, arguments, .. } = expr else { return None };
    let (Expr::Column { index, ty: SqlType::Text }, rest) = arguments.split_first()? else { return None };
    let count = match (function, rest) {
        (
            Function::Substring,
            [Expr::Literal { value: Value::Int(1), .. }, Expr::Literal { value: Value::Int(count), .. }],
        )
        | (Function::Left, [Expr::Literal { value: Value::Int(count), .. }]) => count,
        _ => return None,
    };
    Some((*index, usize::try_from(*count).ok()?))
}

/// A test of the beginning of a text column, which is `operand`: as one of the column.
fn prefix_test(expr: &Expr, operand: &Expr) -> Option<(usize, Draft)> {
    let (column, characters) = prefix_operand(operand)?;
    let mut whole = expr.clone();
    whole.visit_mut(&mut |node| {
        if node == operand {
            *node = Expr::column(column, SqlType::Text);
        }
    });
    let (column, draft) = column_test(&whole)?;
    let Test::Text(test) = draft.values else { return None };
    let values = Test::text(TextTest::Prefix(characters, Box::new((*test).clone())));
    Some((column, Draft { values, ..draft }))
}

fn column_pair(expr: &Expr) -> Option<Predicate> {
    let Expr::Binary { op, left, right, .. } = expr else { return None };
    let (Expr::Column { index: left, ty }, Expr::Column { index: right, ty: other }) = (&**left, &**right) else {
        return None;
    };
    let integer_like = !is_text(*ty) && has_test(*ty) && *ty != SqlType::Double;
    let same = match (ty, other) {
        (SqlType::Decimal { scale: a, .. }, SqlType::Decimal { scale: b, .. }) => a == b,
        (a, b) => a == b,
    };
    (op.is_comparison() && integer_like && same).then_some(Predicate::Pair { left: *left, op: *op, right: *right })
}
