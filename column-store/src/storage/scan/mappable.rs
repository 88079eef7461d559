//! Which expressions may be evaluated for each entry of a dictionary instead of each row.

use gingham_plan::{BinaryOp, Expr, Function};
use gingham_types::Value;

/// The column of an expression that has exactly one.
pub(crate) fn only_column(expr: &Expr) -> Option<usize> {
    let (mut column, mut one) = (None, true);
    expr.visit(&mut |node| {
        if let Expr::Column { index, .. } = node {
            one &= column.is_none_or(|known| known == *index);
            column = Some(*index);
        }
    });
    column.filter(|_| one)
}

/// Whether evaluating an expression raises no error, whatever the values of its columns:
/// then it may be evaluated for values that no row reaches.
pub(crate) fn is_infallible(expr: &Expr) -> bool {
    let literal = |expr: &Expr| matches!(expr, Expr::Literal { .. });
    let own = match expr {
        Expr::Column { .. } | Expr::Literal { .. } | Expr::Not(_) | Expr::IsNull { .. } | Expr::InList { .. } => true,
        Expr::Case { .. } => true,
        Expr::Like { pattern, .. } => literal(pattern),
        Expr::Binary { op, .. } => {
            op.is_comparison()
                || matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Concat)
                || matches!(op, BinaryOp::IsDistinctFrom | BinaryOp::IsNotDistinctFrom)
        }
        Expr::Call { function, arguments, .. } => match function {
            Function::Substring => match arguments.get(2) {
                None => true,
                Some(Expr::Literal { value: Value::Int(length), .. }) => *length >= 0,
                Some(_) => false,
            },
            Function::Left | Function::Right => arguments.get(1).is_some_and(literal),
            Function::Extract(_)
            | Function::Length
            | Function::OctetLength
            | Function::Lower
            | Function::Upper
            | Function::Trim
            | Function::TrimStart
            | Function::TrimEnd
            | Function::Position
            | Function::StartsWith
            | Function::Coalesce
            | Function::NullIf
            | Function::Greatest
            | Function::Least => true,
            _ => false,
        },
        _ => false,
    };
    own && expr.children().into_iter().all(is_infallible)
}
