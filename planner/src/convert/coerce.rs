//! Which types operators take and give, and the casts that get operands there.
//!
//! Strict as PostgreSQL: a string literal or a parameter takes the type that its
//! context needs, numbers widen INTEGER → BIGINT → DECIMAL → DOUBLE, DATE widens to
//! TIMESTAMP, nothing else converts by itself.

use super::fold::fold;
use gingham_plan::{BinaryOp, Expr, SqlError};
use gingham_types::{DECIMAL_DIGITS_MAX, SqlType, Value, cast, compare_values};

/// Least scale of a DECIMAL quotient.
const QUOTIENT_SCALE_MIN: u8 = 6;

/// Whether an expression takes the type of its context: a string literal, a bare NULL
/// or a parameter without a type yet. A NULL that was cast, or that is what became of an
/// expression, has its type.
pub(crate) fn is_unknown(expr: &Expr) -> bool {
    match expr {
        Expr::Literal { value: Value::Text(_), .. } => true,
        Expr::Literal { value: Value::Null, ty } => *ty == SqlType::Null,
        Expr::Parameter { ty, .. } => *ty == SqlType::Null,
        _ => false,
    }
}

/// The type of `left op right` for an arithmetic operator or `||`; `None` where there is no such operator.
pub(crate) fn arithmetic_type(op: BinaryOp, left: SqlType, right: SqlType) -> Option<SqlType> {
    use SqlType::{BigInt, Date, Double, Integer, Interval, Null, Text, Timestamp};
    if op == BinaryOp::Concat {
        return (left == Text || right == Text || left == Null || right == Null).then_some(Text);
    }
    match (op, left, right) {
        (BinaryOp::Add | BinaryOp::Subtract, Date | Timestamp, Interval) => return Some(left),
        (BinaryOp::Add, Interval, Date | Timestamp) => return Some(right),
        (BinaryOp::Add | BinaryOp::Subtract, Date, Integer | BigInt) => return Some(Date),
        (BinaryOp::Add, Integer | BigInt, Date) => return Some(Date),
        (BinaryOp::Subtract, Date, Date) => return Some(Integer),
        (BinaryOp::Add | BinaryOp::Subtract, Interval, Interval) => return Some(Interval),
        (BinaryOp::Multiply, Interval, Integer | BigInt) | (BinaryOp::Multiply, Integer | BigInt, Interval) => {
            return Some(Interval);
        }
        _ => {}
    }
    let (left, right) = match (left, right) {
        (Null, Null) => (Integer, Integer),
        (Null, other) | (other, Null) => (other, other),
        pair => pair,
    };
    if !left.is_numeric() || !right.is_numeric() {
        return None;
    }
    if left == Double || right == Double {
        return Some(Double);
    }
    if left.is_integer() && right.is_integer() {
        return Some(if left == BigInt || right == BigInt { BigInt } else { Integer });
    }
    let ((p1, s1), (p2, s2)) = (left.as_decimal()?, right.as_decimal()?);
    let capped = |precision: u8, scale: u8| {
        SqlType::decimal(precision.clamp(scale.max(1), DECIMAL_DIGITS_MAX.max(scale)), scale)
    };
    match op {
        BinaryOp::Add | BinaryOp::Subtract => {
            let scale = s1.max(s2);
            Some(capped((p1 - s1).max(p2 - s2) + scale + 1, scale))
        }
        BinaryOp::Multiply => (s1 + s2 <= DECIMAL_DIGITS_MAX).then(|| capped(p1.saturating_add(p2), s1 + s2)),
        BinaryOp::Divide => Some(SqlType::decimal(DECIMAL_DIGITS_MAX, s1.max(s2).max(QUOTIENT_SCALE_MIN))),
        BinaryOp::Modulo => {
            let scale = s1.max(s2);
            Some(capped((p1 - s1).max(p2 - s2) + scale, scale))
        }
        _ => None,
    }
}

/// The type that values of both types convert to by themselves.
pub(crate) fn common_type(left: SqlType, right: SqlType) -> Option<SqlType> {
    use SqlType::{BigInt, Date, Double, Null, Timestamp};
    if left == right {
        return Some(left);
    }
    match (left, right) {
        (Null, other) | (other, Null) => Some(other),
        (Date, Timestamp) | (Timestamp, Date) => Some(Timestamp),
        (Double, other) | (other, Double) if other.is_numeric() => Some(Double),
        (a, b) if a.is_integer() && b.is_integer() => Some(BigInt),
        (a, b) => {
            let ((p1, s1), (p2, s2)) = (a.as_decimal()?, b.as_decimal()?);
            let scale = s1.max(s2);
            Some(SqlType::decimal(((p1 - s1).max(p2 - s2) + scale).min(DECIMAL_DIGITS_MAX), scale))
        }
    }
}

/// Casts `expr` to `ty` whatever it is, as CAST does; constants are converted now.
pub(crate) fn cast_to(expr: Expr, ty: SqlType) -> Result<Expr, SqlError> {
    if expr.ty() == ty {
        return Ok(expr);
    }
    match expr {
        Expr::Literal { value, .. } => Ok(Expr::literal(cast(&value, ty)?, ty)),
        Expr::Parameter { index, ty: SqlType::Null } => Ok(Expr::Parameter { index, ty }),
        other => {
            if !castable(other.ty(), ty) {
                return Err(SqlError::new("42846", format!("cannot cast {} to {ty}", other.ty())));
            }
            Ok(Expr::Cast { expr: Box::new(other), ty, lenient: false })
        }
    }
}

/// Whether CAST is defined between two types.
fn castable(from: SqlType, to: SqlType) -> bool {
    use SqlType::{BigInt, Blob, Boolean, Date, Double, Integer, Interval, Null, Text, Timestamp};
    match (from, to) {
        (Null, _) => true,
        (Blob, Text) => false,
        (_, Text) => true,
        (Text, _) => to != Null,
        (Boolean, Integer | BigInt) | (Integer | BigInt, Boolean) => true,
        (Integer | BigInt | Double | SqlType::Decimal { .. }, _) => to.is_numeric(),
        (Date, Timestamp) | (Timestamp, Date) => true,
        (Interval | Boolean | Blob | Date | Timestamp, _) => from == to,
    }
}

/// Brings `expr` to `ty` where that happens by itself.
pub(crate) fn coerce(expr: Expr, ty: SqlType) -> Result<Expr, SqlError> {
    let from = expr.ty();
    if from == ty || is_unknown(&expr) {
        return cast_to(expr, ty);
    }
    if ty == SqlType::Null {
        return Ok(expr);
    }
    let widens = match (from, ty) {
        (SqlType::Decimal { .. }, SqlType::Decimal { .. }) => true,
        // A constant that fits is as good as one of the right type.
        _ if matches!(expr, Expr::Literal { .. }) && from.is_numeric() && ty.is_numeric() => exact(&expr, ty),
        (from, ty) => common_type(from, ty)
            .is_some_and(|common| common == ty || ty.as_decimal().is_some() && common != SqlType::Double),
    };
    if widens {
        return cast_to(expr, ty);
    }
    Err(SqlError::new("42804", format!("expected {ty} but found {from}")).hint(format!("write CAST(… AS {ty})")))
}

/// Brings `expr` to a column's type on assignment: every conversion between numbers is
/// allowed (and rounds or fails at run time), and every type becomes TEXT.
pub(crate) fn assign(expr: Expr, ty: SqlType) -> Result<Expr, SqlError> {
    let from = expr.ty();
    let allowed = from == ty
        || is_unknown(&expr)
        || from == SqlType::Null
        || (from.is_numeric() && ty.is_numeric())
        || ty == SqlType::Text && from != SqlType::Blob
        || matches!((from, ty), (SqlType::Date, SqlType::Timestamp) | (SqlType::Timestamp, SqlType::Date))
        || matches!((from, ty), (SqlType::Text, SqlType::Blob));
    if allowed {
        return cast_to(expr, ty);
    }
    Err(SqlError::new("42804", format!("a value of type {from} does not go into a column of type {ty}"))
        .hint(format!("write CAST(… AS {ty})")))
}

/// Whether a constant converts to `ty` without changing its value.
fn exact(expr: &Expr, ty: SqlType) -> bool {
    let Expr::Literal { value, .. } = expr else { return false };
    matches!(cast(value, ty), Ok(converted) if compare_values(value, &converted).is_eq())
}

/// `left op right` for a comparison, both operands brought to one type. A constant is
/// converted to the other side's type where that is exact, so that a comparison with a
/// column stays one that a scan understands.
pub(crate) fn compare(op: BinaryOp, left: Expr, right: Expr) -> Result<Expr, SqlError> {
    let types = (left.ty(), right.ty());
    let (left, right) = same_type(left, right)
        .map_err(|error| error.unwrap_or_else(|| no_operator(op, &types.0.to_string(), &types.1.to_string())))?;
    Ok(fold(Expr::boolean(op, left, right)))
}

/// The error of an operator that is not defined.
pub(crate) fn no_operator(op: BinaryOp, left: &str, right: &str) -> SqlError {
    SqlError::new("42883", format!("operator does not exist: {left} {} {right}", op.symbol()))
        .hint("cast one side to the type of the other")
}

/// Two operands as operands of one type, or `Err(None)` where there is none.
pub(crate) fn same_type(left: Expr, right: Expr) -> Result<(Expr, Expr), Option<SqlError>> {
    let (a, b) = (left.ty(), right.ty());
    if a == b && a != SqlType::Null {
        return Ok((left, right));
    }
    match (is_unknown(&left), is_unknown(&right)) {
        (true, true) => {
            let ty = if a == SqlType::Null && b == SqlType::Null {
                SqlType::Text
            } else if a == SqlType::Null {
                b
            } else {
                a
            };
            return Ok((cast_to(left, ty).map_err(Some)?, cast_to(right, ty).map_err(Some)?));
        }
        (true, false) => return Ok((cast_to(left, b).map_err(Some)?, right)),
        (false, true) => return Ok((left, cast_to(right, a).map_err(Some)?)),
        (false, false) => {}
    }
    let Some(common) = common_type(a, b) else { return Err(None) };
    let constant = |e: &Expr| matches!(e, Expr::Literal { .. });
    if constant(&right) && !constant(&left) && exact_for(&right, a) {
        return Ok((left, cast_to(right, a).map_err(Some)?));
    }
    if constant(&left) && !constant(&right) && exact_for(&left, b) {
        return Ok((cast_to(left, b).map_err(Some)?, right));
    }
    Ok((cast_to(left, common).map_err(Some)?, cast_to(right, common).map_err(Some)?))
}

/// Whether a constant may stand for itself in the other side's type: exactly equal, or
/// the nearest DOUBLE, which is what the common type would make of it as well.
fn exact_for(expr: &Expr, ty: SqlType) -> bool {
    ty == SqlType::Double && expr.ty().is_numeric() || exact(expr, ty)
}

/// `left op right` for an arithmetic operator or `||`, with the operands as
/// [`BinaryOp`] wants them.
pub(crate) fn arithmetic(op: BinaryOp, left: Expr, right: Expr) -> Result<Expr, SqlError> {
    let (left, right) = (known(left, &right, op)?, right);
    let right = known(right, &left, op)?;
    let types = (left.ty(), right.ty());
    let (left, right) = (narrow(left, types.1)?, narrow(right, types.0)?);
    let (a, b) = (left.ty(), right.ty());
    let Some(ty) = arithmetic_type(op, a, b) else {
        return Err(no_operator(op, &left.ty().to_string(), &right.ty().to_string()));
    };
    let (left, right) = match (op, ty) {
        (BinaryOp::Concat, _) => (cast_to(left, SqlType::Text)?, cast_to(right, SqlType::Text)?),
        (BinaryOp::Add, SqlType::Date | SqlType::Timestamp) if !matches!(a, SqlType::Date | SqlType::Timestamp) => {
            (right, left)
        }
        (_, SqlType::Date | SqlType::Timestamp) => (left, right),
        (_, SqlType::Interval) => {
            let folded = fold(Expr::Binary { op, left: Box::new(left), right: Box::new(right), ty });
            return match folded {
                Expr::Literal { .. } => Ok(folded),
                _ => Err(SqlError::unsupported("arithmetic on intervals that are not constants")),
            };
        }
        (BinaryOp::Subtract, SqlType::Integer) if a == SqlType::Date => (left, right),
        (BinaryOp::Multiply | BinaryOp::Divide, SqlType::Decimal { .. }) => (as_decimal(left)?, as_decimal(right)?),
        _ => (cast_to(left, ty)?, cast_to(right, ty)?),
    };
    let right = match (ty, right.ty()) {
        (SqlType::Date, SqlType::BigInt) => cast_to(right, SqlType::Integer)?,
        _ => right,
    };
    Ok(fold(Expr::Binary { op, left: Box::new(left), right: Box::new(right), ty }))
}

/// Gives an operand of unknown type the one that goes with the other operand.
fn known(expr: Expr, other: &Expr, op: BinaryOp) -> Result<Expr, SqlError> {
    if !is_unknown(&expr) {
        return Ok(expr);
    }
    let ty = match (op, other.ty()) {
        (BinaryOp::Concat, _) => SqlType::Text,
        _ if is_unknown(other) => SqlType::Integer,
        (BinaryOp::Add, SqlType::Date | SqlType::Timestamp) => SqlType::Interval,
        (BinaryOp::Subtract, SqlType::Date) if matches!(expr, Expr::Literal { value: Value::Text(_), .. }) => {
            SqlType::Date
        }
        (BinaryOp::Subtract, SqlType::Date) => SqlType::Integer,
        (_, ty) => ty,
    };
    cast_to(expr, ty)
}

/// A constant integer beside a DECIMAL counts as its digits, not as all of INTEGER: the
/// result stays narrow enough for 64-bit arithmetic.
fn narrow(expr: Expr, other: SqlType) -> Result<Expr, SqlError> {
    match (&expr, other) {
        (Expr::Literal { value: Value::Int(v), .. }, SqlType::Decimal { .. }) => {
            let digits = v.unsigned_abs().checked_ilog10().unwrap_or(0) as u8 + 1;
            cast_to(expr, SqlType::decimal(digits, 0))
        }
        _ => Ok(expr),
    }
}

/// An operand of a DECIMAL product or quotient, with its own scale.
fn as_decimal(expr: Expr) -> Result<Expr, SqlError> {
    match (&expr, expr.ty()) {
        (_, SqlType::Decimal { .. }) => Ok(expr),
        (_, ty) => match ty.as_decimal() {
            Some((precision, scale)) => cast_to(expr, SqlType::decimal(precision, scale)),
            None => Ok(expr),
        },
    }
}
