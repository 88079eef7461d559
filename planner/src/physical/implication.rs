//! Whether a query's filters imply the condition of a partial index.

use gingham_plan::{BinaryOp, Expr};
use gingham_types::{Value, compare_values};
use std::cmp::Ordering;

/// Whether `condition` is true of every row of which all `filters` are true. Says no where
/// it does not know: then the index is not used.
pub(super) fn implied(condition: &Expr, filters: &[Expr]) -> bool {
    filters.iter().any(|filter| implies(filter, condition))
}

/// Whether `condition` is true of every row of which `filter` is true.
pub(super) fn implies(filter: &Expr, condition: &Expr) -> bool {
    if filter == condition {
        return true;
    }
    match condition {
        Expr::IsNull { expr, negated: true } => null_rejecting(filter, expr),
        // What is true of one alternative is true of all.
        Expr::Binary { op: BinaryOp::Or, left, right, .. } => implies(filter, left) || implies(filter, right),
        Expr::InList { expr, list, negated: false } => {
            values_of(filter, expr).is_some_and(|values| values.iter().all(|v| contains(list, v) == Some(true)))
        }
        // A condition on a BOOLEAN is its own comparison.
        Expr::Not(inner) => equals(filter, inner, &Value::Boolean(false)),
        Expr::Binary { op, left, right, .. } if op.is_comparison() => match (&**left, &**right) {
            (expr, Expr::Literal { value, .. }) => comparison(filter, expr, *op, value),
            (Expr::Literal { value, .. }, expr) => comparison(filter, expr, op.swapped(), value),
            _ => false,
        },
        _ => equals(filter, condition, &Value::Boolean(true)),
    }
}

/// Whether `filter` says that `expr` has exactly this value.
fn equals(filter: &Expr, expr: &Expr, value: &Value) -> bool {
    values_of(filter, expr).is_some_and(|values| values.iter().all(|v| **v == *value))
}

/// Whether a NULL in `expr` keeps `filter` from being true.
fn null_rejecting(filter: &Expr, expr: &Expr) -> bool {
    match filter {
        Expr::Binary { op, left, right, .. } if op.is_comparison() => **left == *expr || **right == *expr,
        Expr::InList { expr: inner, .. } | Expr::Like { expr: inner, .. } | Expr::Not(inner) => **inner == *expr,
        other => other == expr,
    }
}

/// The values that a filter leaves to an expression, if it lists them.
fn values_of<'f>(filter: &'f Expr, expr: &Expr) -> Option<Vec<&'f Value>> {
    let literal = |e: &'f Expr| match e {
        Expr::Literal { value, .. } if !value.is_null() => Some(value),
        _ => None,
    };
    match filter {
        Expr::Binary { op: BinaryOp::Equal, left, right, .. } => {
            let other = if **left == *expr {
                right
            } else if **right == *expr {
                left
            } else {
                return None;
            };
            Some(vec![literal(other)?])
        }
        Expr::InList { expr: inner, list, negated: false } if **inner == *expr => list.iter().map(literal).collect(),
        _ => None,
    }
}

fn contains(list: &[Expr], wanted: &Value) -> Option<bool> {
    let mut found = false;
    for item in list {
        let Expr::Literal { value, .. } = item else { return None };
        found |= !value.is_null() && compare_values(value, wanted).is_eq();
    }
    Some(found)
}

/// Whether `filter` implies `expr op bound`.
fn comparison(filter: &Expr, expr: &Expr, op: BinaryOp, bound: &Value) -> bool {
    if bound.is_null() {
        return false;
    }
    if let Some(values) = values_of(filter, expr) {
        return values.iter().all(|value| holds(compare_values(value, bound), op));
    }
    let Expr::Binary { op: known, left, right, .. } = filter else { return false };
    let (known, limit) = match (&**left, &**right) {
        (e, Expr::Literal { value, .. }) if e == expr => (*known, value),
        (Expr::Literal { value, .. }, e) if e == expr => (known.swapped(), value),
        _ => return false,
    };
    if limit.is_null() {
        return false;
    }
    // From `expr known limit` and where the limit lies follows `expr op bound`.
    use BinaryOp::{Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let order = compare_values(limit, bound);
    match (known, op) {
        (Greater, Greater | GreaterOrEqual | NotEqual) | (GreaterOrEqual, GreaterOrEqual) => order.is_ge(),
        (GreaterOrEqual, Greater | NotEqual) => order.is_gt(),
        (Less, Less | LessOrEqual | NotEqual) | (LessOrEqual, LessOrEqual) => order.is_le(),
        (LessOrEqual, Less | NotEqual) => order.is_lt(),
        (NotEqual, NotEqual) => order.is_eq(),
        _ => false,
    }
}

const fn holds(order: Ordering, op: BinaryOp) -> bool {
    match op {
        BinaryOp::Equal => order.is_eq(),
        BinaryOp::NotEqual => order.is_ne(),
        BinaryOp::Less => order.is_lt(),
        BinaryOp::LessOrEqual => order.is_le(),
        BinaryOp::Greater => order.is_gt(),
        BinaryOp::GreaterOrEqual => order.is_ge(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_types::SqlType;

    fn compare(op: BinaryOp, value: i64) -> Expr {
        let literal = Expr::literal(Value::Int(value), SqlType::Integer);
        Expr::boolean(op, Expr::column(0, SqlType::Integer), literal)
    }

    #[test]
    fn comparisons_imply_what_follows_from_them_for_every_value() {
        let operators = [
            BinaryOp::Equal,
            BinaryOp::NotEqual,
            BinaryOp::Less,
            BinaryOp::LessOrEqual,
            BinaryOp::Greater,
            BinaryOp::GreaterOrEqual,
        ];
        let mut count = 0;
        for (known, op) in operators.iter().flat_map(|a| operators.iter().map(move |b| (*a, *b))) {
            for (limit, bound) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
                let says = implied(&compare(op, bound), &[compare(known, limit)]);
                let follows = (-9..16i64)
                    .filter(|value| holds(value.cmp(&limit), known))
                    .all(|value| holds(value.cmp(&bound), op));
                assert!(!says || follows, "{known:?} {limit} does not imply {op:?} {bound}");
                count += u32::from(says);
            }
        }
        assert!(count > 200, "{count}");
    }

    #[test]
    fn comparisons_imply_that_a_column_is_not_null() {
        let column = || Box::new(Expr::column(0, SqlType::Integer));
        let not_null = Expr::IsNull { expr: column(), negated: true };
        assert!(implied(&not_null, &[compare(BinaryOp::Less, 3)]));
        let distinct = compare(BinaryOp::IsDistinctFrom, 3);
        assert!(!implied(&not_null, &[distinct]));
        assert!(!implied(&not_null, &[Expr::IsNull { expr: column(), negated: false }]));
    }
}
