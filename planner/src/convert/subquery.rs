//! Subqueries as joins, as values computed once, or as subplans run row by row.

use super::coerce::{no_operator, same_type};
use super::fold::fold;
use super::query::{Converted, Converter, Scope};
use super::scalar::Place;
use crate::logical::decorrelate::{Purpose, pull, single_row};
use crate::logical::{Id, IdSet, Join, Rel, columns_of, substitute};
use datafusion_expr::expr::SetQuantifier;
use datafusion_expr::logical_plan::Subquery;
use datafusion_expr::{Expr as Bound, Operator};
use gingham_plan::{AggregateCall, AggregateFunction, ApplyKind, BinaryOp, Expr, Function, JoinKind, SqlError};
use gingham_types::{SqlType, Value};

impl Converter<'_> {
    /// Converts a subquery whose outer names resolve in `scope`.
    fn subplan(&mut self, subquery: &Subquery, scope: &Scope) -> Result<Converted, SqlError> {
        self.outer.push(scope.clone());
        let converted = self.relation(&subquery.subquery);
        self.outer.pop();
        converted
    }

    /// Keeps the rows of `rel` for which a subquery predicate is true (with `negated`, its negation).
    pub(super) fn filter_by_subquery(
        &mut self,
        bound: &Bound,
        negated: bool,
        scope: &Scope,
        rel: &mut Rel,
    ) -> Result<(), SqlError> {
        match bound {
            Bound::Exists(exists) => {
                let sub = self.subplan(&exists.subquery, scope)?;
                let anti = exists.negated != negated;
                if is_constant(&sub.rel) {
                    let expr = self.exists_once(sub.rel);
                    let expr = if anti { fold(Expr::Not(Box::new(expr))) } else { expr };
                    *rel = rel.take().filter(vec![expr]);
                    return Ok(());
                }
                let kind = if anti { JoinKind::Anti } else { JoinKind::Semi };
                if !self.try_join_into(kind, rel, &sub.rel, Vec::new(), false, None) {
                    let input = rel.take();
                    *rel = self.filter_by_apply(input, sub.rel, anti);
                }
                Ok(())
            }
            Bound::InSubquery(within) => {
                let x = self.expr(&within.expr, &mut Place { scope, rel: Some(rel) })?;
                let sub = self.subplan(&within.subquery, scope)?;
                let anti = within.negated != negated;
                self.filter_in(x, sub, anti, rel)
            }
            _ => Err(SqlError::internal("not a subquery predicate")),
        }
    }

    /// `x [NOT] IN (sub)` as a filter.
    fn filter_in(&mut self, x: Expr, sub: Converted, anti: bool, rel: &mut Rel) -> Result<(), SqlError> {
        let y = self.value_of(&sub)?;
        let nullable = self.nullable(&x) || self.nullable(&y);
        let on = self.equality(x.clone(), y)?;
        let kind = if anti { JoinKind::Anti } else { JoinKind::Semi };
        if self.try_join_into(kind, rel, &sub.rel, vec![on.clone()], anti && nullable, None) {
            return Ok(());
        }
        if anti {
            let expr = self.in_by_apply(rel, sub, x, on);
            *rel = rel.take().filter(vec![fold(Expr::Not(Box::new(expr)))]);
        } else {
            let subplan = sub.rel.filter(vec![on]);
            let input = rel.take();
            *rel = self.filter_by_apply(input, subplan, false);
        }
        Ok(())
    }

    /// `x = y`, kept as it is: what NOT IN says of NULL needs both sides.
    fn equality(&mut self, x: Expr, y: Expr) -> Result<Expr, SqlError> {
        let types = (x.ty().to_string(), y.ty().to_string());
        let (x, y) = same_type(x, y)
            .map_err(|error| error.unwrap_or_else(|| no_operator(BinaryOp::Equal, &types.0, &types.1)))?;
        let expr = Expr::boolean(BinaryOp::Equal, x, y);
        self.note_parameters(&expr);
        Ok(expr)
    }

    fn value_of(&self, sub: &Converted) -> Result<Expr, SqlError> {
        match sub.ids.as_slice() {
            [id] => Ok(self.columns.expr(*id)),
            _ => Err(SqlError::syntax("a subquery used as a value must have one column")),
        }
    }

    /// A subquery inside an expression.
    pub(super) fn subquery(&mut self, bound: &Bound, place: &mut Place<'_>) -> Result<Expr, SqlError> {
        match bound {
            Bound::ScalarSubquery(subquery) => {
                let sub = self.subplan(subquery, place.scope)?;
                self.scalar(sub, place)
            }
            Bound::Exists(exists) => {
                let sub = self.subplan(&exists.subquery, place.scope)?;
                let expr = if is_constant(&sub.rel) {
                    self.exists_once(sub.rel)
                } else {
                    let rel = relation_of(place)?;
                    let mark = self.columns.add(SqlType::Boolean, false);
                    if !self.try_join_into(JoinKind::Mark, rel, &sub.rel, Vec::new(), false, Some(mark)) {
                        *rel = apply(ApplyKind::Exists, rel.take(), sub.rel, vec![mark]);
                    }
                    self.columns.expr(mark)
                };
                Ok(if exists.negated { fold(Expr::Not(Box::new(expr))) } else { expr })
            }
            Bound::InSubquery(within) => {
                let x = self.expr(&within.expr, place)?;
                let sub = self.subplan(&within.subquery, place.scope)?;
                let expr = self.membership(x, sub, place)?;
                Ok(if within.negated { fold(Expr::Not(Box::new(expr))) } else { expr })
            }
            Bound::SetComparison(set) => {
                let (member, negated) = match (set.op, &set.quantifier) {
                    (Operator::Eq, SetQuantifier::Any) => (true, false),
                    (Operator::NotEq, SetQuantifier::All) => (true, true),
                    _ => (false, false),
                };
                if !member {
                    let what = format!("{} ANY and ALL over a subquery", set.op);
                    return Err(
                        self.located(SqlError::unsupported(what).hint("use min() or max() in the subquery"), bound)
                    );
                }
                let x = self.expr(&set.expr, place)?;
                let sub = self.subplan(&set.subquery, place.scope)?;
                let expr = self.membership(x, sub, place)?;
                Ok(if negated { fold(Expr::Not(Box::new(expr))) } else { expr })
            }
            _ => Err(SqlError::internal("not a subquery")),
        }
    }

    /// `x IN (sub)` as a value: TRUE, FALSE or NULL.
    fn membership(&mut self, x: Expr, sub: Converted, place: &mut Place<'_>) -> Result<Expr, SqlError> {
        let y = self.value_of(&sub)?;
        let nullable = self.nullable(&x) || self.nullable(&y);
        let on = self.equality(x.clone(), y)?;
        let rel = relation_of(place)?;
        let mark = self.columns.add(SqlType::Boolean, nullable);
        if self.try_join_into(JoinKind::Mark, rel, &sub.rel, vec![on.clone()], nullable, Some(mark)) {
            return Ok(self.columns.expr(mark));
        }
        Ok(self.in_by_apply(rel, sub, x, on))
    }

    /// `x IN (sub)` by running `sub` for each row: true where a row is equal, else NULL
    /// where `x` or a row is NULL, else false.
    fn in_by_apply(&mut self, rel: &mut Rel, sub: Converted, x: Expr, on: Expr) -> Expr {
        let y = self.columns.expr(sub.ids[0]);
        let null = |e: Expr| Expr::IsNull { expr: Box::new(e), negated: false };
        let unknown = fold(Expr::boolean(BinaryOp::Or, null(x), null(y)));
        let found = self.columns.add(SqlType::Boolean, false);
        let maybe = self.columns.add(SqlType::Boolean, false);
        *rel = apply(ApplyKind::Exists, rel.take(), sub.rel.clone().filter(vec![on]), vec![found]);
        *rel = apply(ApplyKind::Exists, rel.take(), sub.rel.filter(vec![unknown]), vec![maybe]);
        let boolean = |v| Expr::literal(v, SqlType::Boolean);
        Expr::Case {
            branches: vec![
                (self.columns.expr(found), boolean(Value::Boolean(true))),
                (self.columns.expr(maybe), boolean(Value::Null)),
            ],
            otherwise: Some(Box::new(boolean(Value::Boolean(false)))),
            ty: SqlType::Boolean,
        }
    }

    fn filter_by_apply(&mut self, input: Rel, subplan: Rel, anti: bool) -> Rel {
        let mark = self.columns.add(SqlType::Boolean, false);
        let expr = self.columns.expr(mark);
        let predicate = if anti { fold(Expr::Not(Box::new(expr))) } else { expr };
        apply(ApplyKind::Exists, input, subplan, vec![mark]).filter(vec![predicate])
    }

    /// Whether an uncorrelated subquery has a row, found out once.
    fn exists_once(&mut self, rel: Rel) -> Expr {
        let one = Some(Expr::literal(Value::Int(1), SqlType::BigInt));
        let limited = Rel::Limit { input: Box::new(rel), limit: one, offset: None };
        let count = self.columns.add(SqlType::BigInt, false);
        let call = AggregateCall::new(AggregateFunction::CountStar, None, SqlType::BigInt);
        let counted = Rel::Aggregate { input: Box::new(limited), groups: Vec::new(), aggregates: vec![(count, call)] };
        let zero = Expr::literal(Value::Int(0), SqlType::BigInt);
        let found = Expr::boolean(BinaryOp::Greater, self.columns.expr(count), zero);
        let id = self.columns.add(SqlType::Boolean, false);
        self.subqueries.push((counted.extend(vec![(id, found)]), id));
        Expr::Subquery { index: self.subqueries.len() - 1, ty: SqlType::Boolean }
    }

    /// The single value of a subquery.
    fn scalar(&mut self, sub: Converted, place: &mut Place<'_>) -> Result<Expr, SqlError> {
        let value = match self.value_of(&sub)? {
            Expr::Column { index, .. } => index,
            _ => return Err(SqlError::internal("a subquery's column is not a column")),
        };
        if is_constant(&sub.rel) {
            let (rel, ids) = self.settle(sub.rel, vec![value])?;
            let ty = self.columns.ty(ids[0]);
            self.subqueries.push((rel, ids[0]));
            return Ok(Expr::Subquery { index: self.subqueries.len() - 1, ty });
        }
        let rel = relation_of(place)?;
        let outer = rel.outputs();
        let pulled = pull(sub.rel.clone(), &outer, Purpose::Value, &mut self.columns);
        let pulled = pulled.filter(|p| {
            uncorrelated(&p.rel, &outer) && (p.defaults.is_some() || single_row(&p.rel, &p.predicates, self.catalog))
        });
        let Some(mut pulled) = pulled else {
            self.columns.mark_nullable(&[value].into_iter().collect());
            *rel = apply(ApplyKind::Scalar, rel.take(), sub.rel, vec![value]);
            return Ok(self.columns.expr(value));
        };
        let mut expr = self.columns.expr(value);
        substitute(&mut expr, &pulled.deferred);
        if let Some(default) = pulled.defaults.as_ref().and_then(|d| d.get(&value)) {
            let default = default.clone();
            let null = matches!(default, Expr::Literal { value: Value::Null, .. });
            let never_null = !self.nullable(&expr);
            if never_null && !null {
                let ty = expr.ty();
                expr = Expr::Call { function: Function::Coalesce, arguments: vec![expr, default], ty };
            } else if !null {
                let indicator = self.columns.add(SqlType::Boolean, true);
                let yes = Expr::literal(Value::Boolean(true), SqlType::Boolean);
                pulled.rel = pulled.rel.extend(vec![(indicator, yes)]);
                let missing = Expr::IsNull { expr: Box::new(self.columns.expr(indicator)), negated: false };
                let ty = expr.ty();
                expr = Expr::Case { branches: vec![(missing, default)], otherwise: Some(Box::new(expr)), ty };
            }
        }
        self.columns.mark_nullable(&pulled.rel.outputs());
        let left = rel.take();
        *rel = Rel::Join(Box::new(Join {
            kind: JoinKind::Left,
            left,
            right: pulled.rel,
            on: pulled.predicates,
            null_aware: false,
            mark: None,
        }));
        Ok(expr)
    }

    /// Joins `rel` with a subquery by pulling its correlation up; false if that cannot be done.
    fn try_join_into(
        &mut self,
        kind: JoinKind,
        rel: &mut Rel,
        sub: &Rel,
        on: Vec<Expr>,
        null_aware: bool,
        mark: Option<Id>,
    ) -> bool {
        let outer = rel.outputs();
        let purpose = if on.is_empty() { Purpose::Existence } else { Purpose::Membership };
        let Some(mut pulled) = pull(sub.clone(), &outer, purpose, &mut self.columns) else { return false };
        if !uncorrelated(&pulled.rel, &outer) {
            return false;
        }
        // A row that an aggregate would give over no rows is lost by the join: it must not matter.
        let always_there = pulled.defaults.as_ref().is_some_and(|defaults| {
            on.is_empty()
                || kind != JoinKind::Semi
                || defaults.values().any(|d| !matches!(d, Expr::Literal { value: Value::Null, .. }))
        });
        if always_there {
            return false;
        }
        let mut conditions = on;
        conditions.append(&mut pulled.predicates);
        for condition in &mut conditions {
            substitute(condition, &pulled.deferred);
        }
        // What NOT IN says of NULL a join finds in its keys, and a value that depends on both
        // sides is no key.
        if null_aware && !conditions.first().is_some_and(|membership| is_key(membership, &outer)) {
            return false;
        }
        let left = rel.take();
        *rel = Rel::Join(Box::new(Join { kind, left, right: pulled.rel, on: conditions, null_aware, mark }));
        true
    }

    /// A LATERAL subquery beside the relation it refers to.
    pub(super) fn lateral(
        &mut self,
        kind: ApplyKind,
        left: Rel,
        right: Rel,
        output: Vec<Id>,
        on: Vec<Expr>,
    ) -> Result<Rel, SqlError> {
        let outer = left.outputs();
        let pulled = pull(right.clone(), &outer, Purpose::Rows, &mut self.columns)
            .filter(|p| p.defaults.is_none() && uncorrelated(&p.rel, &outer))
            .filter(|p| kind == ApplyKind::Cross || p.deferred.is_empty());
        if kind == ApplyKind::Left {
            self.columns.mark_nullable(&right.outputs());
        }
        let Some(pulled) = pulled else {
            return Ok(apply(kind, left, right.filter(on), output));
        };
        let join_kind = if kind == ApplyKind::Cross { JoinKind::Inner } else { JoinKind::Left };
        let mut conditions = on;
        conditions.extend(pulled.predicates);
        let join = Join { kind: join_kind, left, right: pulled.rel, on: conditions, null_aware: false, mark: None };
        Ok(Rel::Join(Box::new(join)).extend(pulled.deferred.into_iter().collect()))
    }
}

/// Whether a subquery has the same rows wherever and whenever it is run.
fn is_constant(rel: &Rel) -> bool {
    rel.free_columns().is_empty() && !rel.reads_work()
}

/// Whether `rel` refers to none of the outer columns any more.
fn uncorrelated(rel: &Rel, outer: &IdSet) -> bool {
    !rel.free_columns().intersects(outer)
}

/// Whether the right operand of an equality has nothing of the outer row in it.
fn is_key(equality: &Expr, outer: &IdSet) -> bool {
    let Expr::Binary { right, .. } = equality else { return false };
    let mut used = IdSet::default();
    columns_of(right, &mut used);
    !used.is_empty() && !used.intersects(outer)
}

fn apply(kind: ApplyKind, input: Rel, subplan: Rel, output: Vec<Id>) -> Rel {
    Rel::Apply { kind, input: Box::new(input), subplan: Box::new(subplan), output }
}

/// The relation that a subquery in an expression may extend.
fn relation_of<'p>(place: &'p mut Place<'_>) -> Result<&'p mut Rel, SqlError> {
    place.rel.as_deref_mut().ok_or_else(|| SqlError::unsupported("a correlated or IN subquery in this place"))
}
