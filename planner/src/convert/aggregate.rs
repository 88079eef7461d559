//! GROUP BY and aggregate functions.

use super::coerce::{cast_to, is_unknown};
use super::collected::{collected, rewritten};
use super::query::{Converted, Converter, Scope};
use super::scalar::Place;
use crate::logical::{IdSet, Rel, columns_of};
use datafusion_expr::Expr as Bound;
use datafusion_expr::expr::AggregateFunction as BoundCall;
use datafusion_expr::logical_plan::Aggregate;
use gingham_plan::{AggregateCall, AggregateFunction, Expr, SortKey, SqlError};
use gingham_types::SqlType;
use std::sync::Arc;

/// Least scale of an average of DECIMALs.
const AVERAGE_SCALE_MIN: u8 = 6;

impl Converter<'_> {
    pub(super) fn aggregate(&mut self, aggregate: &Aggregate) -> Result<Converted, SqlError> {
        let grouping =
            |e: &Bound| matches!(unaliased(e), Bound::AggregateFunction(call) if call.func.name() == "grouping");
        if let [Bound::GroupingSet(set)] = aggregate.group_expr.as_slice() {
            return self.grouping_sets(aggregate, Some(set));
        }
        if aggregate.aggr_expr.iter().any(grouping) {
            return self.grouping_sets(aggregate, None);
        }
        let Converted { mut rel, ids } = self.relation(&aggregate.input)?;
        let scope = Scope { schema: Arc::clone(aggregate.input.schema()), ids };
        let mut outputs = Vec::new();
        let mut groups = Vec::with_capacity(aggregate.group_expr.len());
        for (position, bound) in aggregate.group_expr.iter().enumerate() {
            // The schema has one field for an expression that is given twice.
            if aggregate.group_expr[..position].contains(bound) {
                continue;
            }
            let expr = self.expr(bound, &mut Place { scope: &scope, rel: Some(&mut rel) })?;
            let expr = if expr.ty() == SqlType::Null { cast_to(expr, SqlType::Text)? } else { expr };
            let id = match expr {
                // A column keeps its number: it is the same value above and below.
                Expr::Column { index, .. } if !self.is_outer(&expr, &scope, &rel) => index,
                _ => self.columns.add(expr.ty(), self.nullable(&expr)),
            };
            if !groups.iter().any(|(existing, _)| *existing == id) {
                groups.push((id, expr));
            }
            outputs.push(id);
        }
        let mut aggregates = Vec::with_capacity(aggregate.aggr_expr.len());
        for bound in &aggregate.aggr_expr {
            let call = match unaliased(bound) {
                Bound::AggregateFunction(call) => self.aggregate_call(call, &scope, &mut rel)?,
                other => return Err(self.located(SqlError::unsupported(format!("the aggregate {other}")), other)),
            };
            let counts = matches!(call.function, AggregateFunction::Count | AggregateFunction::CountStar);
            let id = self.columns.add(call.ty, !counts);
            aggregates.push((id, call));
            outputs.push(id);
        }
        Ok(Converted { rel: Rel::Aggregate { input: Box::new(rel), groups, aggregates }, ids: outputs })
    }

    pub(super) fn aggregate_call(
        &mut self,
        call: &BoundCall,
        scope: &Scope,
        rel: &mut Rel,
    ) -> Result<AggregateCall, SqlError> {
        let name = call.func.name();
        if super::window::function_of(name).is_some() {
            let error = SqlError::new("42P20", format!("the window function {name} needs OVER"));
            return Err(self.locate(error, name));
        }
        let parameters = &call.params;
        let filter = match &parameters.filter {
            Some(bound) => {
                let expr = self.expr(bound, &mut Place { scope, rel: Some(rel) })?;
                Some(self.boolean(expr, bound)?)
            }
            None => None,
        };
        let mut arguments = Vec::with_capacity(parameters.args.len());
        for bound in &parameters.args {
            arguments.push(self.expr(bound, &mut Place { scope, rel: Some(rel) })?);
        }
        if let Some(argument) = arguments.first() {
            self.check_argument(name, argument, rel)?;
        }
        let mut order = Vec::with_capacity(parameters.order_by.len());
        for key in &parameters.order_by {
            let expr = self.expr(&key.expr, &mut Place { scope, rel: Some(rel) })?;
            order.push(SortKey { expr, descending: !key.asc, nulls_first: key.nulls_first });
        }
        let distinct = parameters.distinct;
        if let Some(call) =
            collected(name, &mut arguments, order, distinct).map_err(|error| self.locate(error, name))?
        {
            call.expressions().for_each(|e| self.note_parameters(e));
            return Ok(AggregateCall { filter, ..call });
        }
        let (name, distinct, filter) = rewritten(name, &mut arguments, distinct, filter)?;
        let count_arguments = arguments.len();
        let argument = match (arguments.pop(), arguments.pop()) {
            (argument, None) => argument,
            _ => return Err(self.locate(wrong_count(name, count_arguments), name)),
        };
        let call = self.typed_aggregate(name, argument, distinct, filter);
        let call = call.map_err(|error| self.locate(error, name))?;
        if let Some(argument) = &call.argument {
            self.note_parameters(argument);
        }
        Ok(call)
    }

    fn check_argument(&self, name: &str, argument: &Expr, rel: &Rel) -> Result<(), SqlError> {
        let mut used = IdSet::default();
        columns_of(argument, &mut used);
        if !used.is_empty() && !used.intersects(&rel.outputs()) {
            let message = format!("the aggregate {name} is over columns of an outer query alone");
            return Err(self.locate(SqlError::new("42803", message), name));
        }
        Ok(())
    }

    pub(super) fn typed_aggregate(
        &self,
        name: &str,
        argument: Option<Expr>,
        distinct: bool,
        filter: Option<Expr>,
    ) -> Result<AggregateCall, SqlError> {
        if name == "count" {
            let rows = match &argument {
                None => true,
                Some(argument) => !distinct && !self.nullable(argument),
            };
            let function = if rows { AggregateFunction::CountStar } else { AggregateFunction::Count };
            let argument = argument.filter(|_| !rows);
            let call = AggregateCall::new(function, argument, SqlType::BigInt);
            return Ok(AggregateCall { distinct: distinct && !rows, filter, ..call });
        }
        let Some(argument) = argument else { return Err(wrong_count(name, 0)) };
        let argument = if is_unknown(&argument) && argument.ty() != SqlType::Text {
            cast_to(argument, SqlType::Integer)?
        } else {
            argument
        };
        let from = argument.ty();
        let wrong = || SqlError::new("42883", format!("function {name} does not take {from}"));
        let (function, ty) = match name {
            "sum" => (AggregateFunction::Sum, sum_type(from).ok_or_else(wrong)?),
            "avg" | "mean" => (AggregateFunction::Average, average_type(from).ok_or_else(wrong)?),
            "min" => (AggregateFunction::Min, from),
            "max" => (AggregateFunction::Max, from),
            "bool_and" | "every" => (AggregateFunction::BoolAnd, SqlType::Boolean),
            "bool_or" => (AggregateFunction::BoolOr, SqlType::Boolean),
            "var_samp" | "variance" => (AggregateFunction::VarianceSample, SqlType::Double),
            "var_pop" => (AggregateFunction::VariancePopulation, SqlType::Double),
            "stddev_samp" | "stddev" => (AggregateFunction::StddevSample, SqlType::Double),
            "stddev_pop" => (AggregateFunction::StddevPopulation, SqlType::Double),
            _ => return Err(SqlError::unsupported(format!("the aggregate {name}"))),
        };
        let argument = match function {
            AggregateFunction::BoolAnd | AggregateFunction::BoolOr if from != SqlType::Boolean => return Err(wrong()),
            AggregateFunction::VarianceSample
            | AggregateFunction::VariancePopulation
            | AggregateFunction::StddevSample
            | AggregateFunction::StddevPopulation => {
                if !from.is_numeric() {
                    return Err(wrong());
                }
                cast_to(argument, SqlType::Double)?
            }
            _ => argument,
        };
        // Repeats change neither the least nor the greatest value, nor AND and OR.
        let distinct = distinct
            && !matches!(
                function,
                AggregateFunction::Min
                    | AggregateFunction::Max
                    | AggregateFunction::BoolAnd
                    | AggregateFunction::BoolOr
            );
        Ok(AggregateCall { distinct, filter, ..AggregateCall::new(function, Some(argument), ty) })
    }
}

pub(super) fn wrong_count(name: &str, count: usize) -> SqlError {
    SqlError::new("42883", format!("aggregate {name} does not take {count} arguments"))
}

pub(super) fn unaliased(bound: &Bound) -> &Bound {
    match bound {
        Bound::Alias(alias) => unaliased(&alias.expr),
        other => other,
    }
}

/// The type of a sum, wide enough for any table.
pub(crate) const fn sum_type(ty: SqlType) -> Option<SqlType> {
    Some(match ty {
        SqlType::Integer => SqlType::BigInt,
        SqlType::BigInt => SqlType::decimal(38, 0),
        SqlType::Decimal { scale, .. } => SqlType::decimal(38, scale),
        SqlType::Double => SqlType::Double,
        _ => return None,
    })
}

fn average_type(ty: SqlType) -> Option<SqlType> {
    Some(match ty {
        SqlType::Decimal { scale, .. } => SqlType::decimal(38, scale.max(AVERAGE_SCALE_MIN)),
        SqlType::Integer | SqlType::BigInt | SqlType::Double => SqlType::Double,
        _ => return None,
    })
}
