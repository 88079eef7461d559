//! Constant folding and the simplification of predicates, one node at a time.
//!
//! The operands of the node are folded already. What would be an error at run time
//! (overflow, division by zero) is left for run time, which may never come.

use gingham_plan::{BinaryOp, Expr};
use gingham_types::{
    DECIMAL_DIGITS_MAX, Interval, SqlType, Value, add_months, cast, compare_values, power_of_ten, rescale,
};
use std::cmp::Ordering;

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// The simplest expression equal to `expr`, whose operands are folded.
pub(crate) fn fold(expr: Expr) -> Expr {
    match expr {
        Expr::Binary { op: BinaryOp::And, left, right, .. } => simplify_and(*left, *right),
        Expr::Binary { op: BinaryOp::Or, left, right, .. } => simplify_or(*left, *right),
        Expr::Binary { op, left, right, ty } => match binary(op, &left, &right, ty) {
            Some(value) => Expr::literal(value, ty),
            None if op.is_comparison() && is_constant(&left) && !is_constant(&right) => {
                Expr::Binary { op: op.swapped(), left: right, right: left, ty }
            }
            None => Expr::Binary { op, left, right, ty },
        },
        Expr::Not(inner) => negated(*inner),
        Expr::Negate(inner) => match *inner {
            Expr::Literal { value, ty } => match negate(&value) {
                Some(value) => Expr::literal(value, ty),
                None => Expr::Negate(Box::new(Expr::Literal { value, ty })),
            },
            other => Expr::Negate(Box::new(other)),
        },
        Expr::IsNull { expr, negated } => match &*expr {
            Expr::Literal { value, .. } => boolean(value.is_null() != negated),
            _ => Expr::IsNull { expr, negated },
        },
        Expr::Cast { expr, ty, lenient } => match &*expr {
            Expr::Literal { value, .. } => match cast(value, ty) {
                Ok(value) => Expr::literal(value, ty),
                Err(_) if lenient => Expr::literal(Value::Null, ty),
                Err(_) => Expr::Cast { expr, ty, lenient },
            },
            _ => Expr::Cast { expr, ty, lenient },
        },
        Expr::InList { expr, list, negated } => in_list(*expr, list, negated),
        Expr::Case { branches, otherwise, ty } => case(branches, otherwise, ty),
        other => other,
    }
}

fn boolean(value: bool) -> Expr {
    Expr::literal(Value::Boolean(value), SqlType::Boolean)
}

const fn is_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal { .. } | Expr::Parameter { .. } | Expr::Now | Expr::Subquery { .. })
}

/// `left AND right`.
pub(crate) fn simplify_and(left: Expr, right: Expr) -> Expr {
    match (constant_boolean(&left), constant_boolean(&right)) {
        (Some(Some(false)), _) | (_, Some(Some(false))) => boolean(false),
        (Some(Some(true)), _) => right,
        (_, Some(Some(true))) => left,
        _ if left == right => left,
        _ => Expr::boolean(BinaryOp::And, left, right),
    }
}

fn simplify_or(left: Expr, right: Expr) -> Expr {
    match (constant_boolean(&left), constant_boolean(&right)) {
        (Some(Some(true)), _) | (_, Some(Some(true))) => return boolean(true),
        (Some(Some(false)), _) => return right,
        (_, Some(Some(false))) => return left,
        _ if left == right => return left,
        _ => {}
    }
    // `a = 1 OR a = 2` is `a IN (1, 2)`, which scans evaluate at once.
    match (as_list(&left), as_list(&right)) {
        (Some((a, mut list)), Some((b, more))) if a == b => {
            list.extend(more);
            in_list(a.clone(), list, false)
        }
        _ => Expr::boolean(BinaryOp::Or, left, right),
    }
}

/// `Some(None)` is a constant NULL.
fn constant_boolean(expr: &Expr) -> Option<Option<bool>> {
    match expr {
        Expr::Literal { value: Value::Boolean(v), .. } => Some(Some(*v)),
        Expr::Literal { value: Value::Null, .. } => Some(None),
        _ => None,
    }
}

/// An equality with a constant, or a list of constants, as operand and items.
fn as_list(expr: &Expr) -> Option<(&Expr, Vec<Expr>)> {
    match expr {
        Expr::Binary { op: BinaryOp::Equal, left, right, .. }
            if matches!(**left, Expr::Column { .. }) && matches!(**right, Expr::Literal { .. }) =>
        {
            Some((left, vec![(**right).clone()]))
        }
        Expr::InList { expr, list, negated: false } if matches!(**expr, Expr::Column { .. }) => {
            Some((expr, list.clone()))
        }
        _ => None,
    }
}

fn in_list(expr: Expr, list: Vec<Expr>, negated: bool) -> Expr {
    let mut unique: Vec<Expr> = Vec::with_capacity(list.len());
    // Long lists are not searched for repeats here; the executor hashes them.
    const REPEATS_SEARCHED: usize = 64;
    for item in list {
        if unique.len() > REPEATS_SEARCHED || !unique.contains(&item) {
            unique.push(item);
        }
    }
    if let Expr::Literal { value, .. } = &expr
        && unique.iter().all(|item| matches!(item, Expr::Literal { .. }))
    {
        let values = unique.iter().filter_map(|item| match item {
            Expr::Literal { value, .. } => Some(value),
            _ => None,
        });
        let mut any_null = false;
        let mut found = false;
        for item in values {
            any_null |= item.is_null();
            found |= !item.is_null() && compare_values(value, item).is_eq();
        }
        if unique.is_empty() {
            return boolean(negated);
        }
        if value.is_null() || (!found && any_null) {
            return Expr::literal(Value::Null, SqlType::Boolean);
        }
        return boolean(found != negated);
    }
    if unique.is_empty() {
        return boolean(negated);
    }
    if unique.len() == 1
        && let Some(item) = unique.pop()
    {
        let op = if negated { BinaryOp::NotEqual } else { BinaryOp::Equal };
        return Expr::boolean(op, expr, item);
    }
    Expr::InList { expr: Box::new(expr), list: unique, negated }
}

/// `NOT expr`, with the negation moved inward where that is exact under NULLs.
fn negated(expr: Expr) -> Expr {
    let opposite = |op| match op {
        BinaryOp::Equal => Some(BinaryOp::NotEqual),
        BinaryOp::NotEqual => Some(BinaryOp::Equal),
        BinaryOp::Less => Some(BinaryOp::GreaterOrEqual),
        BinaryOp::LessOrEqual => Some(BinaryOp::Greater),
        BinaryOp::Greater => Some(BinaryOp::LessOrEqual),
        BinaryOp::GreaterOrEqual => Some(BinaryOp::Less),
        BinaryOp::IsDistinctFrom => Some(BinaryOp::IsNotDistinctFrom),
        BinaryOp::IsNotDistinctFrom => Some(BinaryOp::IsDistinctFrom),
        _ => None,
    };
    match expr {
        Expr::Literal { value: Value::Boolean(v), .. } => boolean(!v),
        Expr::Literal { value: Value::Null, .. } => Expr::literal(Value::Null, SqlType::Boolean),
        Expr::Not(inner) => *inner,
        Expr::IsNull { expr, negated } => Expr::IsNull { expr, negated: !negated },
        Expr::InList { expr, list, negated } => Expr::InList { expr, list, negated: !negated },
        Expr::Like { expr, pattern, escape, negated, ignore_case } => {
            Expr::Like { expr, pattern, escape, negated: !negated, ignore_case }
        }
        Expr::Binary { op: BinaryOp::And, left, right, .. } => simplify_or(negated(*left), negated(*right)),
        Expr::Binary { op: BinaryOp::Or, left, right, .. } => simplify_and(negated(*left), negated(*right)),
        Expr::Binary { op, left, right, ty } => match opposite(op) {
            Some(op) => Expr::Binary { op, left, right, ty },
            None => Expr::Not(Box::new(Expr::Binary { op, left, right, ty })),
        },
        other => Expr::Not(Box::new(other)),
    }
}

fn case(branches: Vec<(Expr, Expr)>, otherwise: Option<Box<Expr>>, ty: SqlType) -> Expr {
    let mut kept = Vec::with_capacity(branches.len());
    for (condition, result) in branches {
        match constant_boolean(&condition) {
            Some(Some(true)) if kept.is_empty() => return result,
            Some(Some(true)) => return Expr::Case { branches: kept, otherwise: Some(Box::new(result)), ty },
            Some(_) => {}
            None => kept.push((condition, result)),
        }
    }
    if kept.is_empty() {
        return otherwise.map_or(Expr::literal(Value::Null, ty), |e| *e);
    }
    Expr::Case { branches: kept, otherwise, ty }
}

fn negate(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Null => Value::Null,
        Value::Int(v) => Value::Int(v.checked_neg()?),
        Value::Double(v) => Value::Double(-v),
        Value::Decimal { unscaled, scale } => Value::Decimal { unscaled: unscaled.checked_neg()?, scale: *scale },
        Value::Interval(v) => Value::Interval(Interval {
            months: v.months.checked_neg()?,
            days: v.days.checked_neg()?,
            micros: v.micros.checked_neg()?,
        }),
        _ => return None,
    })
}

/// `left op right` of two constants.
fn binary(op: BinaryOp, left: &Expr, right: &Expr, ty: SqlType) -> Option<Value> {
    // NULL with anything but AND, OR and the DISTINCT forms is NULL.
    let strict = !matches!(op, BinaryOp::IsDistinctFrom | BinaryOp::IsNotDistinctFrom);
    let null = |e: &Expr| matches!(e, Expr::Literal { value: Value::Null, .. });
    if strict && (null(left) || null(right)) {
        return Some(Value::Null);
    }
    let (Expr::Literal { value: a, .. }, Expr::Literal { value: b, .. }) = (left, right) else { return None };
    let order = || compare_values(a, b);
    match op {
        BinaryOp::Equal => Some(Value::Boolean(order() == Ordering::Equal)),
        BinaryOp::NotEqual => Some(Value::Boolean(order() != Ordering::Equal)),
        BinaryOp::Less => Some(Value::Boolean(order() == Ordering::Less)),
        BinaryOp::LessOrEqual => Some(Value::Boolean(order() != Ordering::Greater)),
        BinaryOp::Greater => Some(Value::Boolean(order() == Ordering::Greater)),
        BinaryOp::GreaterOrEqual => Some(Value::Boolean(order() != Ordering::Less)),
        BinaryOp::IsDistinctFrom => Some(Value::Boolean(order() != Ordering::Equal)),
        BinaryOp::IsNotDistinctFrom => Some(Value::Boolean(order() == Ordering::Equal)),
        BinaryOp::Concat => match (a, b) {
            (Value::Text(a), Value::Text(b)) => Some(Value::Text(format!("{a}{b}"))),
            _ => None,
        },
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulo => {
            arithmetic(op, a, b, ty)
        }
        BinaryOp::And | BinaryOp::Or => None,
    }
}

fn arithmetic(op: BinaryOp, a: &Value, b: &Value, ty: SqlType) -> Option<Value> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => {
            let value = match op {
                BinaryOp::Add => a.checked_add(*b)?,
                BinaryOp::Subtract => a.checked_sub(*b)?,
                BinaryOp::Multiply => a.checked_mul(*b)?,
                BinaryOp::Divide => a.checked_div(*b)?,
                BinaryOp::Modulo => a.checked_rem(*b)?,
                _ => return None,
            };
            (ty == SqlType::BigInt || i32::try_from(value).is_ok()).then_some(Value::Int(value))
        }
        (Value::Double(a), Value::Double(b)) => {
            let value = match op {
                BinaryOp::Add => a + b,
                BinaryOp::Subtract => a - b,
                BinaryOp::Multiply => a * b,
                _ => return None,
            };
            value.is_finite().then_some(Value::Double(value))
        }
        (Value::Decimal { unscaled: a, scale: s }, Value::Decimal { unscaled: b, scale: t }) => {
            let SqlType::Decimal { precision, scale } = ty else { return None };
            let unscaled = match op {
                BinaryOp::Add => rescale(*a, *s, scale)?.checked_add(rescale(*b, *t, scale)?)?,
                BinaryOp::Subtract => rescale(*a, *s, scale)?.checked_sub(rescale(*b, *t, scale)?)?,
                BinaryOp::Multiply => rescale(a.checked_mul(*b)?, s + t, scale)?,
                _ => return None,
            };
            let limit = power_of_ten(precision.min(DECIMAL_DIGITS_MAX))?;
            (unscaled.abs() < limit).then_some(Value::Decimal { unscaled, scale })
        }
        (Value::Date(a), Value::Date(b)) if op == BinaryOp::Subtract => Some(Value::Int(i64::from(*a) - i64::from(*b))),
        (Value::Date(days), Value::Int(n)) => {
            let n = i32::try_from(*n).ok()?;
            let moved = if op == BinaryOp::Add { days.checked_add(n) } else { days.checked_sub(n) };
            moved.map(Value::Date)
        }
        (Value::Date(days), Value::Interval(by)) => {
            let by = if op == BinaryOp::Add { *by } else { negated_interval(*by)? };
            // Hours move a DATE by whole days only.
            let days = add_months(*days, by.months)?.checked_add(by.days)?;
            days.checked_add(i32::try_from(by.micros.div_euclid(MICROS_PER_DAY)).ok()?).map(Value::Date)
        }
        (Value::Timestamp(micros), Value::Interval(by)) => {
            let by = if op == BinaryOp::Add { *by } else { negated_interval(*by)? };
            let days = i32::try_from(micros.div_euclid(MICROS_PER_DAY)).ok()?;
            let days = i64::from(add_months(days, by.months)?) + i64::from(by.days);
            let time = micros.rem_euclid(MICROS_PER_DAY).checked_add(by.micros)?;
            days.checked_mul(MICROS_PER_DAY)?.checked_add(time).map(Value::Timestamp)
        }
        (Value::Interval(a), Value::Interval(b)) => {
            let b = if op == BinaryOp::Add { *b } else { negated_interval(*b)? };
            Some(Value::Interval(Interval {
                months: a.months.checked_add(b.months)?,
                days: a.days.checked_add(b.days)?,
                micros: a.micros.checked_add(b.micros)?,
            }))
        }
        (Value::Interval(by), Value::Int(n)) | (Value::Int(n), Value::Interval(by)) if op == BinaryOp::Multiply => {
            let n32 = i32::try_from(*n).ok()?;
            Some(Value::Interval(Interval {
                months: by.months.checked_mul(n32)?,
                days: by.days.checked_mul(n32)?,
                micros: by.micros.checked_mul(*n)?,
            }))
        }
        _ => None,
    }
}

fn negated_interval(by: Interval) -> Option<Interval> {
    Some(Interval { months: by.months.checked_neg()?, days: by.days.checked_neg()?, micros: by.micros.checked_neg()? })
}
