//! Joins, LATERAL among them, and the joins that INTERSECT and EXCEPT are.

use super::coerce::{compare, same_type};
use super::query::{Converted, Converter, Scope};
use super::scalar::Place;
use crate::logical::{Id, Join, Rel, push_conjuncts};
use datafusion_common::{JoinType, NullEquality};
use datafusion_expr::logical_plan::{Join as BoundJoin, JoinConstraint, LogicalPlan};
use gingham_plan::{ApplyKind, BinaryOp, Expr, JoinKind, SqlError};
use std::sync::Arc;

impl Converter<'_> {
    pub(super) fn join(&mut self, join: &BoundJoin) -> Result<Converted, SqlError> {
        let merged = join.join_constraint == JoinConstraint::Using && !join.on.is_empty();
        if merged && matches!(join.join_type, JoinType::Right | JoinType::Full) {
            let error = SqlError::unsupported("USING and NATURAL with a RIGHT or FULL join");
            return Err(error.hint("write the condition with ON and choose the column with coalesce"));
        }
        let left = self.relation(&join.left)?;
        let left_scope = Scope { schema: Arc::clone(join.left.schema()), ids: left.ids };
        // A LATERAL right side refers to the left as an outer scope.
        self.outer.push(left_scope.clone());
        let right = self.relation(&join.right);
        self.outer.pop();
        let right = right?;
        let right_scope = Scope { schema: Arc::clone(join.right.schema()), ids: right.ids };
        let mut on = Vec::new();
        for (index, (a, b)) in join.on.iter().enumerate() {
            let (a, b) = if join.null_equality == NullEquality::NullEqualsNull {
                // INTERSECT and EXCEPT match columns by position.
                let at = |scope: &Scope| scope.ids.get(index).copied().map(|id| self.columns.expr(id));
                match (at(&left_scope), at(&right_scope)) {
                    (Some(a), Some(b)) => (a, b),
                    _ => return Err(SqlError::internal("set operation without columns")),
                }
            } else {
                let a = self.expr(a, &mut Place { scope: &left_scope, rel: None })?;
                (a, self.expr(b, &mut Place { scope: &right_scope, rel: None })?)
            };
            let equal = match join.null_equality {
                NullEquality::NullEqualsNull => {
                    let types = format!("{} and {}", a.ty(), b.ty());
                    let (a, b) = same_type(a, b).map_err(|error| {
                        error.unwrap_or_else(|| {
                            SqlError::new("42804", format!("column {} has types {types}", index + 1))
                        })
                    })?;
                    Expr::boolean(BinaryOp::IsNotDistinctFrom, a, b)
                }
                NullEquality::NullEqualsNothing => compare(BinaryOp::Equal, a, b)?,
            };
            on.push(equal);
        }
        let semi = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti);
        let ids: Vec<Id> = left_scope.ids.iter().chain(right_scope.ids.iter().filter(|_| !semi)).copied().collect();
        let both = Scope { schema: Arc::clone(&join.schema), ids: ids.clone() };
        let (mut left, mut right) = (left.rel, right.rel);
        if semi
            && join.null_equality == NullEquality::NullEqualsNull
            && !matches!(&*join.left, LogicalPlan::Distinct(_))
        {
            self.number_repeats(&mut left, &mut right, &mut on)?;
        }
        let lateral = {
            let provided = left.outputs();
            right.free_columns().intersects(&provided)
        };
        if join.join_type == JoinType::Inner {
            let mut rel = if lateral {
                self.lateral(ApplyKind::Cross, left, right, right_scope.ids, Vec::new())?
            } else {
                Rel::Join(Box::new(Join { kind: JoinKind::Inner, left, right, on, null_aware: false, mark: None }))
            };
            if let Some(filter) = &join.filter {
                self.filter_by(filter, &both, &mut rel)?;
            }
            return Ok(Converted { rel, ids });
        }
        if let Some(filter) = &join.filter {
            let scope = if semi {
                let ids = left_scope.ids.iter().chain(&right_scope.ids).copied().collect();
                let schema = join.left.schema().join(join.right.schema());
                Scope { schema: Arc::new(schema.map_err(|e| SqlError::internal(e.to_string()))?), ids }
            } else {
                both
            };
            let expr = self.expr(filter, &mut Place { scope: &scope, rel: None })?;
            push_conjuncts(self.boolean(expr, filter)?, &mut on);
        }
        let kind = match join.join_type {
            JoinType::Left | JoinType::Right => JoinKind::Left,
            JoinType::Full => JoinKind::Full,
            JoinType::LeftSemi => JoinKind::Semi,
            JoinType::LeftAnti => JoinKind::Anti,
            other => return Err(SqlError::unsupported(format!("a {other} join"))),
        };
        if lateral {
            if kind != JoinKind::Left || join.join_type == JoinType::Right {
                return Err(SqlError::unsupported("LATERAL here"));
            }
            let rel = self.lateral(ApplyKind::Left, left, right, right_scope.ids, on)?;
            return Ok(Converted { rel, ids });
        }
        if join.join_type == JoinType::Right {
            std::mem::swap(&mut left, &mut right);
        }
        if matches!(kind, JoinKind::Left | JoinKind::Full) {
            self.columns.mark_nullable(&right.outputs());
        }
        if kind == JoinKind::Full {
            self.columns.mark_nullable(&left.outputs());
        }
        let rel = Rel::Join(Box::new(Join { kind, left, right, on, null_aware: false, mark: None }));
        Ok(Converted { rel, ids })
    }
}
