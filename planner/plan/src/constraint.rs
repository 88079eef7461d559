//! What a table computes for its rows and demands of them, as the catalog keeps it.
//!
//! These are part of the file: what they are made of (also [`Expr`], its operators and
//! functions) may gain variants at the end, and may not lose or reorder any.

use crate::{Expr, TableId};
use serde::{Deserialize, Serialize};

/// An expression over the columns of one row of a table: as data, so that it is
/// evaluated without the planner, and as SQL to show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredExpr {
    /// [`Expr::Column`] is an ordinal of the table. No parameters, slots or subqueries.
    pub expr: Expr,
    /// Its text.
    pub sql: String,
}

impl StoredExpr {
    /// The ordinals of the columns it reads, ascending.
    pub fn columns(&self) -> Vec<usize> {
        let mut ordinals = Vec::new();
        self.expr.visit(&mut |e| {
            if let Expr::Column { index, .. } = e {
                ordinals.push(*index);
            }
        });
        ordinals.sort_unstable();
        ordinals.dedup();
        ordinals
    }
}

/// Where the values of a column come from that the database makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Generated {
    /// The next number, for a row that comes without one. No number is given twice, also
    /// after its row is gone.
    Identity {
        /// GENERATED ALWAYS: no row may bring a number of its own.
        always: bool,
        /// The first number.
        start: i64,
        /// From one number to the next, above 0.
        increment: i64,
    },
    /// GENERATED ALWAYS AS (…) STORED.
    Stored(StoredExpr),
}

impl Generated {
    /// Whether a row must not bring a value of its own.
    pub const fn is_always(&self) -> bool {
        !matches!(self, Self::Identity { always: false, .. })
    }
}

/// A CHECK constraint. A row for which it is false is refused; NULL passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckInfo {
    /// Folded name, given or made.
    pub name: String,
    /// Of type BOOLEAN.
    pub condition: StoredExpr,
}

/// What becomes of rows that refer to a key that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ForeignAction {
    /// Refused, unless at the end of the statement the key is there again.
    NoAction,
    /// Refused.
    Restrict,
    /// They go, or get the key's new value.
    Cascade,
    /// The columns become NULL.
    SetNull,
    /// The columns become their DEFAULT.
    SetDefault,
}

impl ForeignAction {
    /// The words after ON DELETE and ON UPDATE.
    pub const fn sql(self) -> &'static str {
        match self {
            Self::NoAction => "NO ACTION",
            Self::Restrict => "RESTRICT",
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
        }
    }
}

/// A FOREIGN KEY: a row whose columns are all not NULL has a row in another table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignKeyInfo {
    /// Folded name, given or made.
    pub name: String,
    /// Ordinals of the referring columns.
    pub columns: Vec<usize>,
    /// The table referred to, perhaps the same.
    pub parent: TableId,
    /// Its columns, one for each of `columns`: those of a primary or unique key in any order.
    pub parent_columns: Vec<usize>,
    /// When the row referred to is deleted.
    pub on_delete: ForeignAction,
    /// When its key changes.
    pub on_update: ForeignAction,
}
