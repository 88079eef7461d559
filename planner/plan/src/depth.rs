//! How deep an expression may be where it is read from bytes.
//!
//! A database file holds expressions (CHECK, generated columns, indexes), and everything
//! that works on one recurses. The planner refuses text that nests too deep; this is
//! the same for a file that was made by something else.

use crate::Expr;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::cell::Cell;

/// Levels of an expression that [`from_bytes`](crate::from_bytes) reads. More than the
/// planner makes of any statement it takes.
pub const EXPR_DEPTH_MAX: usize = 512;

thread_local! {
    /// Levels of the expression that is being read.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// One level, left when it is dropped.
struct Level;

impl Level {
    fn enter<E: de::Error>() -> Result<Self, E> {
        let depth = DEPTH.get();
        if depth >= EXPR_DEPTH_MAX {
            return Err(E::custom("an expression nests too deep"));
        }
        DEPTH.set(depth + 1);
        Ok(Self)
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

// `serde(remote = "Self")` makes inherent functions of these names, without the bound.
impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let _level = Level::enter()?;
        Self::deserialize(deserializer)
    }
}

impl Serialize for Expr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::EXPR_DEPTH_MAX;
    use crate::{Expr, from_bytes, to_bytes};
    use gingham_types::{SqlType, Value};

    fn nested(levels: usize) -> Expr {
        let leaf = Expr::Literal { value: Value::Boolean(true), ty: SqlType::Boolean };
        (1..levels).fold(leaf, |expr, _| Expr::Not(Box::new(expr)))
    }

    /// A file's CHECK would be another expression.
    #[test]
    fn variants_keep_their_numbers() {
        let leaf = || Box::new(Expr::column(0, SqlType::Boolean));
        let numbered = [
            (0, Expr::column(3, SqlType::Integer)),
            (1, nested(1)),
            (5, Expr::boolean(crate::BinaryOp::And, *leaf(), *leaf())),
            (6, Expr::Not(leaf())),
            (8, Expr::IsNull { expr: leaf(), negated: true }),
        ];
        for (number, expr) in numbered {
            assert_eq!(to_bytes(&expr).expect("plain data serializes")[0], number, "{expr:?}");
        }
    }

    #[test]
    fn an_expression_has_a_depth() {
        let deepest = nested(EXPR_DEPTH_MAX);
        let bytes = to_bytes(&deepest).expect("plain data serializes");
        assert_eq!(from_bytes::<Expr>(&bytes).as_ref(), Ok(&deepest));

        let not = to_bytes(&nested(2)).expect("plain data serializes")[0];
        let mut deeper = vec![not; 1_000_000];
        assert!(from_bytes::<Expr>(&deeper).is_err());
        deeper.truncate(1);
        deeper.extend(&bytes);
        assert!(from_bytes::<Expr>(&deeper).is_err());
        // What failed has left no level behind.
        assert_eq!(from_bytes::<Expr>(&bytes).as_ref(), Ok(&deepest));
    }
}
