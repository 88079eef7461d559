//! What an expression refers to besides its input: parameters, slots, subqueries.

use crate::{Error, Result};
use gingham_plan::{Expr, SqlError};
use gingham_types::Value;

/// The values that stand for [`Expr::Parameter`], [`Expr::Slot`], [`Expr::Now`] and
/// [`Expr::Subquery`]. They are fixed when an expression is compiled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runtime {
    /// Statement parameters by position, cast to their types.
    pub parameters: Vec<Value>,
    /// Outer values by slot; `None` where no enclosing apply has bound the slot.
    pub slots: Vec<Option<Value>>,
    /// Results of scalar subqueries by position; `None` where one has not run.
    pub subqueries: Vec<Option<Value>>,
    /// When the statement began; `None` where there is no clock.
    pub now: Option<Value>,
}

impl Runtime {
    /// A runtime with parameters and a time only.
    pub const fn with_parameters(parameters: Vec<Value>, now: Option<Value>) -> Self {
        Self { parameters, slots: Vec::new(), subqueries: Vec::new(), now }
    }

    /// The constant that `expr` stands for, if it is a parameter, slot, time or subquery.
    ///
    /// # Errors
    /// 42P02 for a parameter without a value; 0A000 for a time without a clock; XX000 for another without a
    /// value.
    pub(crate) fn constant(&self, expr: &Expr) -> Result<Option<&Value>> {
        let missing = |what: &str, index: usize| {
            Error::Sql(SqlError::internal(format!("{what} {index} is used before it has a value")))
        };
        match expr {
            Expr::Parameter { index, .. } => self.parameters.get(*index).map(Some).ok_or_else(|| {
                let message = format!("there is no value for parameter {}", index + 1);
                Error::Sql(SqlError::new("42P02", message))
            }),
            Expr::Slot { slot, .. } => match self.slots.get(slot.0 as usize) {
                Some(Some(value)) => Ok(Some(value)),
                _ => Err(missing("slot", slot.0 as usize)),
            },
            Expr::Now => match &self.now {
                Some(now) => Ok(Some(now)),
                None => Err(Error::Sql(SqlError::unsupported("now() without a clock"))),
            },
            Expr::Subquery { index, .. } => match self.subqueries.get(*index) {
                Some(Some(value)) => Ok(Some(value)),
                _ => Err(missing("subquery", *index)),
            },
            _ => Ok(None),
        }
    }

    /// `expr` with every parameter, slot, time and subquery replaced by a literal, and every
    /// part without columns by its value. A part that fails stays as it is: it may
    /// never be reached.
    ///
    /// # Errors
    /// As [`Runtime::constant`].
    pub fn bind(&self, expr: &Expr) -> Result<Expr> {
        let mut bound = expr.clone();
        let mut failed = None;
        bound.visit_mut(&mut |node| match self.constant(node) {
            Ok(Some(value)) => *node = Expr::Literal { value: value.clone(), ty: node.ty() },
            Ok(None) => fold(node),
            Err(error) => failed = Some(error),
        });
        failed.map_or(Ok(bound), Err)
    }
}

/// Replaces an operator over literals by its value. Children come before parents, so
/// that looking one level down is enough.
fn fold(node: &mut Expr) {
    let children = node.children();
    if children.is_empty() || !children.iter().all(|child| matches!(child, Expr::Literal { .. })) {
        return;
    }
    if let Ok(value) = super::evaluate_row(node, &[]) {
        *node = Expr::Literal { value, ty: node.ty() };
    }
}
