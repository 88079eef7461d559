//! Bound expressions as typed ones.

use super::coerce::{arithmetic, cast_to, coerce, common_type, compare, is_unknown};
use super::fold::fold;
use super::query::{Converter, Scope};
use crate::bind::from_arrow;
use crate::logical::Rel;
use arrow_schema::Field;
use datafusion_common::{Column, ScalarValue};
use datafusion_expr::expr::{Between, BinaryExpr, Case, InList, Like};
use datafusion_expr::{Expr as Bound, Operator};
use gingham_plan::{BinaryOp, Expr, SqlError};
use gingham_types::{Interval, SqlType, Value};

/// Where an expression stands: the names it can use, and the relation that subqueries
/// in it may extend with columns.
pub(crate) struct Place<'p> {
    pub(crate) scope: &'p Scope,
    pub(crate) rel: Option<&'p mut Rel>,
}

impl Converter<'_> {
    /// Converts an expression.
    pub(crate) fn expr(&mut self, bound: &Bound, place: &mut Place<'_>) -> Result<Expr, SqlError> {
        match bound {
            Bound::Alias(alias) => self.expr(&alias.expr, place),
            Bound::Column(column) => self.column(column, place.scope),
            Bound::OuterReferenceColumn(field, column) => self.outer_column(field, column),
            Bound::Literal(value, _) => literal(value),
            Bound::Placeholder(placeholder) => self.parameter(&placeholder.id),
            Bound::BinaryExpr(binary) => self.binary(binary, place),
            Bound::Not(inner) => {
                let expr = self.expr(inner, place)?;
                let expr = self.boolean(expr, inner)?;
                Ok(fold(Expr::Not(Box::new(expr))))
            }
            Bound::Negative(inner) => {
                let expr = self.expr(inner, place)?;
                let expr = if is_unknown(&expr) { cast_to(expr, SqlType::Integer)? } else { expr };
                if expr.ty().is_numeric() || expr.ty() == SqlType::Interval {
                    return Ok(fold(Expr::Negate(Box::new(expr))));
                }
                Err(self.located(SqlError::new("42883", format!("operator does not exist: - {}", expr.ty())), inner))
            }
            Bound::IsNull(inner) => self.is_null(inner, false, place),
            Bound::IsNotNull(inner) => self.is_null(inner, true, place),
            Bound::IsTrue(inner) => self.is_boolean(inner, Value::Boolean(true), false, place),
            Bound::IsNotTrue(inner) => self.is_boolean(inner, Value::Boolean(true), true, place),
            Bound::IsFalse(inner) => self.is_boolean(inner, Value::Boolean(false), false, place),
            Bound::IsNotFalse(inner) => self.is_boolean(inner, Value::Boolean(false), true, place),
            Bound::IsUnknown(inner) => self.is_boolean(inner, Value::Null, false, place),
            Bound::IsNotUnknown(inner) => self.is_boolean(inner, Value::Null, true, place),
            Bound::Between(between) => self.between(between, place),
            Bound::Like(like) => self.like(like, place),
            Bound::InList(list) => self.in_list(list, place),
            Bound::Case(case) => self.case(case, place),
            Bound::Cast(cast) => self.cast(&cast.expr, cast.field.data_type(), false, place),
            Bound::TryCast(cast) => self.cast(&cast.expr, cast.field.data_type(), true, place),
            Bound::ScalarFunction(call) => self.call(call, place),
            Bound::ScalarSubquery(_) | Bound::Exists(_) | Bound::InSubquery(_) | Bound::SetComparison(_) => {
                self.subquery(bound, place)
            }
            other => Err(self.refused(other)),
        }
    }

    fn refused(&self, bound: &Bound) -> SqlError {
        let error = match bound {
            Bound::AggregateFunction(call) => {
                SqlError::new("42803", format!("the aggregate {} is not allowed here", call.func.name()))
            }
            Bound::WindowFunction(call) => {
                SqlError::new("42P20", format!("the window function {} is not allowed here", call.fun.name()))
            }
            Bound::SimilarTo(_) => SqlError::unsupported("SIMILAR TO"),
            Bound::GroupingSet(_) => SqlError::unsupported("GROUPING SETS, ROLLUP and CUBE"),
            other => SqlError::unsupported(format!("the expression {other}")),
        };
        self.located(error, bound)
    }

    /// The error at the first column or literal of the expression that has a position.
    pub(crate) fn located(&self, error: SqlError, bound: &Bound) -> SqlError {
        let mut pending = vec![bound];
        while let Some(next) = pending.pop() {
            let text = match next {
                Bound::Column(column) | Bound::OuterReferenceColumn(_, column) => {
                    if let Some(span) = column.spans().first()
                        && span.start.line > 0
                    {
                        return error.at(span.start.line as u32, span.start.column as u32);
                    }
                    column.name.clone()
                }
                Bound::Literal(ScalarValue::Utf8(Some(text)), _) => text.clone(),
                Bound::Literal(ScalarValue::Int64(Some(value)), _) => value.to_string(),
                Bound::AggregateFunction(call) => call.func.name().to_owned(),
                Bound::WindowFunction(call) => call.fun.name().to_owned(),
                Bound::ScalarFunction(call) => {
                    if let Some((line, column)) = self.source.find(call.name()) {
                        return error.at(line, column);
                    }
                    pending.extend(call.args.iter().rev());
                    continue;
                }
                Bound::BinaryExpr(b) => {
                    pending.extend([b.right.as_ref(), b.left.as_ref()]);
                    continue;
                }
                Bound::Cast(cast) => {
                    pending.push(&cast.expr);
                    continue;
                }
                Bound::Alias(alias) => {
                    pending.push(&alias.expr);
                    continue;
                }
                Bound::Not(e) | Bound::Negative(e) | Bound::IsNull(e) | Bound::IsNotNull(e) => {
                    pending.push(e);
                    continue;
                }
                Bound::Like(like) => {
                    pending.extend([like.pattern.as_ref(), like.expr.as_ref()]);
                    continue;
                }
                Bound::InList(list) => {
                    pending.push(&list.expr);
                    continue;
                }
                _ => continue,
            };
            if let Some((line, column)) = self.source.find(&text) {
                return error.at(line, column);
            }
        }
        error
    }

    fn column(&self, column: &Column, scope: &Scope) -> Result<Expr, SqlError> {
        match scope.find(column) {
            Some(id) => Ok(self.columns.expr(id)),
            None => Err(self
                .locate(SqlError::new("42703", format!("column {} does not exist", column.flat_name())), &column.name)),
        }
    }

    fn outer_column(&self, field: &Field, column: &Column) -> Result<Expr, SqlError> {
        match self.outer.iter().rev().find_map(|scope| scope.find(column)) {
            Some(id) => Ok(self.columns.expr(id)),
            // The binder only supposed that there is such a column.
            None if field.data_type().is_null() => {
                let message = format!("column {} does not exist", column.flat_name());
                Err(self.locate(SqlError::new("42703", message), &column.name))
            }
            None => Err(self.locate(
                SqlError::unsupported(format!("a reference to the outer column {} here", column.flat_name())),
                &column.name,
            )),
        }
    }

    fn parameter(&self, id: &str) -> Result<Expr, SqlError> {
        let number = id.strip_prefix('$').and_then(|n| n.parse::<usize>().ok());
        match number.and_then(|n| n.checked_sub(1)).filter(|index| *index < self.parameters.len()) {
            Some(index) => Ok(Expr::Parameter { index, ty: SqlType::Null }),
            None => Err(SqlError::new("42P02", format!("there is no parameter {id}"))),
        }
    }

    /// A predicate's operand: BOOLEAN, or unknown.
    pub(crate) fn boolean(&mut self, expr: Expr, bound: &Bound) -> Result<Expr, SqlError> {
        if expr.ty() == SqlType::Boolean {
            return Ok(expr);
        }
        if is_unknown(&expr) || expr.ty() == SqlType::Null {
            let expr = cast_to(expr, SqlType::Boolean).map_err(|e| self.located(e, bound))?;
            self.note_parameters(&expr);
            return Ok(expr);
        }
        let error = SqlError::new("42804", format!("expected a BOOLEAN condition but found {}", expr.ty()));
        Err(self.located(error, bound))
    }

    fn binary(&mut self, binary: &BinaryExpr, place: &mut Place<'_>) -> Result<Expr, SqlError> {
        let left = self.expr(&binary.left, place)?;
        let right = self.expr(&binary.right, place)?;
        let (op, negated) = match binary.op {
            Operator::And | Operator::Or => {
                let left = self.boolean(left, &binary.left)?;
                let right = self.boolean(right, &binary.right)?;
                let op = if binary.op == Operator::And { BinaryOp::And } else { BinaryOp::Or };
                return Ok(fold(Expr::boolean(op, left, right)));
            }
            Operator::IsDistinctFrom => (BinaryOp::IsDistinctFrom, false),
            Operator::IsNotDistinctFrom => (BinaryOp::IsNotDistinctFrom, false),
            Operator::LikeMatch | Operator::NotLikeMatch => (BinaryOp::Equal, binary.op == Operator::NotLikeMatch),
            Operator::ILikeMatch | Operator::NotILikeMatch => {
                return self.like_of(left, right, None, binary.op == Operator::NotILikeMatch, true, &binary.left);
            }
            other => {
                return Err(self.located(SqlError::unsupported(format!("the operator {other}")), &binary.left));
            }
        };
        if op == BinaryOp::Equal {
            return self.like_of(left, right, None, negated, false, &binary.left);
        }
        self.compared(op, left, right, &binary.left)
    }

    /// `left op right`, an operator that datafusion-sql holds as a call.
    pub(super) fn operator(&mut self, op: BinaryOp, bounds: &[Bound], place: &mut Place<'_>) -> Result<Expr, SqlError> {
        let [left_bound, right_bound] = bounds else {
            return Err(SqlError::internal("an operator without two operands"));
        };
        let left = self.expr(left_bound, place)?;
        let right = self.expr(right_bound, place)?;
        if op.is_comparison() {
            return self.compared(op, left, right, left_bound);
        }
        let expr = arithmetic(op, left, right).map_err(|error| self.located(error, left_bound))?;
        self.note_parameters(&expr);
        Ok(expr)
    }

    pub(super) fn compared(&mut self, op: BinaryOp, left: Expr, right: Expr, bound: &Bound) -> Result<Expr, SqlError> {
        let text = [&left, &right].iter().find_map(|e| match e {
            Expr::Literal { value: Value::Text(text), .. } => Some(text.clone()),
            _ => None,
        });
        let expr = compare(op, left, right).map_err(|error| match text {
            Some(text) if error.code == "22P02" => self.locate(error, &text),
            _ => self.located(error, bound),
        })?;
        self.note_parameters(&expr);
        Ok(expr)
    }

    fn is_null(&mut self, inner: &Bound, negated: bool, place: &mut Place<'_>) -> Result<Expr, SqlError> {
        let expr = self.expr(inner, place)?;
        let expr = if expr.ty() == SqlType::Null { cast_to(expr, SqlType::Text)? } else { expr };
        self.note_parameters(&expr);
        Ok(fold(Expr::IsNull { expr: Box::new(expr), negated }))
    }

    fn is_boolean(
        &mut self,
        inner: &Bound,
        value: Value,
        negated: bool,
        place: &mut Place<'_>,
    ) -> Result<Expr, SqlError> {
        let expr = self.expr(inner, place)?;
        let expr = self.boolean(expr, inner)?;
        if value.is_null() {
            return Ok(fold(Expr::IsNull { expr: Box::new(expr), negated }));
        }
        let op = if negated { BinaryOp::IsDistinctFrom } else { BinaryOp::IsNotDistinctFrom };
        Ok(fold(Expr::boolean(op, expr, Expr::literal(value, SqlType::Boolean))))
    }

    fn between(&mut self, between: &Between, place: &mut Place<'_>) -> Result<Expr, SqlError> {
        let expr = self.expr(&between.expr, place)?;
        let low = self.expr(&between.low, place)?;
        let high = self.expr(&between.high, place)?;
        let lower = self.compared(BinaryOp::GreaterOrEqual, expr.clone(), low, &between.expr)?;
        let upper = self.compared(BinaryOp::LessOrEqual, expr, high, &between.expr)?;
        let both = fold(Expr::boolean(BinaryOp::And, lower, upper));
        Ok(if between.negated { fold(Expr::Not(Box::new(both))) } else { both })
    }

    fn like(&mut self, like: &Like, place: &mut Place<'_>) -> Result<Expr, SqlError> {
        let expr = self.expr(&like.expr, place)?;
        let pattern = self.expr(&like.pattern, place)?;
        self.like_of(expr, pattern, like.escape_char, like.negated, like.case_insensitive, &like.expr)
    }

    fn like_of(
        &mut self,
        expr: Expr,
        pattern: Expr,
        escape: Option<char>,
        negated: bool,
        ignore_case: bool,
        bound: &Bound,
    ) -> Result<Expr, SqlError> {
        let text = |e: Expr| {
            let ty = e.ty();
            coerce(e, SqlType::Text)
                .map_err(|_| SqlError::new("42883", format!("operator does not exist: {ty} LIKE TEXT")))
        };
        let expr = text(expr).map_err(|e| self.located(e, bound))?;
        let pattern = text(pattern).map_err(|e| self.located(e, bound))?;
        let null = |e: &Expr| matches!(e, Expr::Literal { value: Value::Null, .. });
        if null(&expr) || null(&pattern) {
            return Ok(Expr::literal(Value::Null, SqlType::Boolean));
        }
        // A pattern without wildcards is an equality, which scans and joins understand.
        if !ignore_case
            && let Expr::Literal { value: Value::Text(text), .. } = &pattern
            && !text.contains(['%', '_', '\\'])
            && escape.is_none_or(|c| !text.contains(c))
        {
            let op = if negated { BinaryOp::NotEqual } else { BinaryOp::Equal };
            return self.compared(op, expr, pattern, bound);
        }
        // PostgreSQL escapes with a backslash unless told otherwise.
        let escape = Some(escape.unwrap_or('\\'));
        let like = Expr::Like { expr: Box::new(expr), pattern: Box::new(pattern), escape, negated, ignore_case };
        self.note_parameters(&like);
        Ok(like)
    }

    fn in_list(&mut self, list: &InList, place: &mut Place<'_>) -> Result<Expr, SqlError> {
        let mut expr = self.expr(&list.expr, place)?;
        let mut items = Vec::with_capacity(list.list.len());
        for item in &list.list {
            items.push(self.expr(item, place)?);
        }
        // One type for all: the operand's where every constant converts exactly.
        let mut ty = expr.ty();
        for item in items.iter().filter(|item| !is_unknown(item)) {
            if coerce(item.clone(), expr.ty()).is_ok() && !is_unknown(&expr) {
                continue;
            }
            ty = common_type(ty, item.ty()).ok_or_else(|| {
                let error = SqlError::new("42883", format!("operator does not exist: {ty} = {}", item.ty()));
                self.located(error, &list.expr)
            })?;
        }
        let ty = if ty == SqlType::Null { SqlType::Text } else { ty };
        expr = cast_to(expr, ty)?;
        for item in &mut items {
            let taken = std::mem::replace(item, Expr::literal(Value::Null, ty));
            *item = cast_to(taken, ty).map_err(|e| self.located(e, &list.expr))?;
        }
        let result = fold(Expr::InList { expr: Box::new(expr), list: items, negated: list.negated });
        self.note_parameters(&result);
        Ok(result)
    }

    fn case(&mut self, case: &Case, place: &mut Place<'_>) -> Result<Expr, SqlError> {
        let operand = case.expr.as_ref().map(|e| self.expr(e, place)).transpose()?;
        let mut branches = Vec::with_capacity(case.when_then_expr.len());
        for (when, then) in &case.when_then_expr {
            let condition = self.expr(when, place)?;
            let condition = match &operand {
                Some(operand) => self.compared(BinaryOp::Equal, operand.clone(), condition, when)?,
                None => self.boolean(condition, when)?,
            };
            branches.push((condition, self.expr(then, place)?));
        }
        let otherwise = case.else_expr.as_ref().map(|e| self.expr(e, place)).transpose()?;
        let results = branches.iter().map(|(_, r)| r).chain(&otherwise);
        let ty = result_type(results, "CASE").map_err(|error| self.locate(error, "case"))?;
        let branches =
            branches.into_iter().map(|(c, r)| Ok((c, coerce(r, ty)?))).collect::<Result<Vec<_>, SqlError>>()?;
        let otherwise = otherwise.map(|e| coerce(e, ty)).transpose()?.map(Box::new);
        let expr = fold(Expr::Case { branches, otherwise, ty });
        self.note_parameters(&expr);
        Ok(expr)
    }

    fn cast(
        &mut self,
        inner: &Bound,
        ty: &arrow_schema::DataType,
        lenient: bool,
        place: &mut Place<'_>,
    ) -> Result<Expr, SqlError> {
        let Some(ty) = from_arrow(ty) else {
            return Err(self.located(SqlError::unsupported(format!("the type {ty}")), inner));
        };
        let expr = self.expr(inner, place)?;
        if lenient && !matches!(expr, Expr::Parameter { .. }) {
            if expr.ty() == ty {
                return Ok(expr);
            }
            return Ok(fold(Expr::Cast { expr: Box::new(expr), ty, lenient }));
        }
        let expr = cast_to(expr, ty).map_err(|error| self.located(error, inner))?;
        self.note_parameters(&expr);
        Ok(expr)
    }
}

/// The one type of several results; TEXT if all are unknown.
pub(super) fn result_type<'e>(results: impl Iterator<Item = &'e Expr>, what: &str) -> Result<SqlType, SqlError> {
    let mut ty = SqlType::Null;
    for result in results.filter(|result| !is_unknown(result)) {
        ty = common_type(ty, result.ty())
            .ok_or_else(|| SqlError::new("42804", format!("{what} has results of types {ty} and {}", result.ty())))?;
    }
    Ok(if ty == SqlType::Null { SqlType::Text } else { ty })
}

/// A constant.
fn literal(value: &ScalarValue) -> Result<Expr, SqlError> {
    let (value, ty) = match value {
        ScalarValue::Null => (Value::Null, SqlType::Null),
        ScalarValue::Boolean(Some(v)) => (Value::Boolean(*v), SqlType::Boolean),
        ScalarValue::Int64(Some(v)) => {
            let ty = if i32::try_from(*v).is_ok() { SqlType::Integer } else { SqlType::BigInt };
            (Value::Int(*v), ty)
        }
        ScalarValue::UInt64(Some(v)) => {
            (Value::Decimal { unscaled: i128::from(*v), scale: 0 }, SqlType::decimal(20, 0))
        }
        ScalarValue::Float64(Some(v)) => (Value::Double(*v), SqlType::Double),
        ScalarValue::Decimal128(Some(v), _, scale) => {
            let scale = u8::try_from(*scale).map_err(|_| SqlError::unsupported("a DECIMAL of negative scale"))?;
            let value = Value::Decimal { unscaled: *v, scale };
            let ty = value.sql_type();
            (value, ty)
        }
        ScalarValue::Decimal256(..) => {
            return Err(SqlError::new("22003", "a number has more than 38 digits"));
        }
        ScalarValue::Utf8(Some(text)) => (Value::Text(text.clone()), SqlType::Text),
        ScalarValue::Binary(Some(bytes)) => (Value::Blob(bytes.clone()), SqlType::Blob),
        ScalarValue::IntervalMonthDayNano(Some(v)) => {
            let interval = Interval { months: v.months, days: v.days, micros: v.nanoseconds / 1_000 };
            (Value::Interval(interval), SqlType::Interval)
        }
        other => match from_arrow(&other.data_type()) {
            Some(ty) if other.is_null() => (Value::Null, ty),
            _ => return Err(SqlError::unsupported(format!("the constant {other}"))),
        },
    };
    Ok(Expr::literal(value, ty))
}
