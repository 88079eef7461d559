//! GROUPING SETS, ROLLUP and CUBE; DISTINCT ON; INTERSECT ALL and EXCEPT ALL.
//!
//! Grouping sets are grouped by all keys first, where the aggregates can be put together
//! from parts; what is left is repeated for each set with the keys that are not in it
//! NULL, and grouped again by keys and set.

use super::aggregate::{sum_type, unaliased};
use super::coerce::cast_to;
use super::query::{Converted, Converter, Scope};
use super::scalar::Place;
use crate::logical::{Id, Rel};
use datafusion_expr::Expr as Bound;
use datafusion_expr::expr::GroupingSet;
use datafusion_expr::logical_plan::{Aggregate, DistinctOn};
use gingham_plan::{
    AggregateCall, AggregateFunction, BinaryOp, Expr, Frame, Function, SortKey, SqlError, WindowCall, WindowFunction,
};
use gingham_types::{SqlType, Value};
use std::sync::Arc;

/// Grouping sets of one GROUP BY.
const SETS_MAX: usize = 4096;
/// Arguments of GROUPING, whose result has a bit for each.
const GROUPING_ARGUMENTS_MAX: usize = 31;

impl Converter<'_> {
    /// GROUP BY with sets, or with GROUPING over plain keys.
    pub(super) fn grouping_sets(
        &mut self,
        aggregate: &Aggregate,
        set: Option<&GroupingSet>,
    ) -> Result<Converted, SqlError> {
        let Converted { mut rel, ids } = self.relation(&aggregate.input)?;
        let scope = Scope { schema: Arc::clone(aggregate.input.schema()), ids };
        let keys: Vec<&Bound> = match set {
            Some(set) => set.distinct_expr(),
            None => aggregate.group_expr.iter().collect(),
        };
        let sets = sets_of(set, &keys)?;
        let mut groups = Vec::with_capacity(keys.len());
        for bound in &keys {
            let expr = self.expr(bound, &mut Place { scope: &scope, rel: Some(&mut rel) })?;
            groups.push(if expr.ty() == SqlType::Null { cast_to(expr, SqlType::Text)? } else { expr });
        }
        // Each call's aggregate, or for GROUPING the key of each bit.
        let mut calls: Vec<Result<AggregateCall, Vec<usize>>> = Vec::new();
        for bound in &aggregate.aggr_expr {
            let Bound::AggregateFunction(call) = unaliased(bound) else {
                return Err(self.located(SqlError::unsupported(format!("the aggregate {bound}")), bound));
            };
            if call.func.name() != "grouping" {
                calls.push(Ok(self.aggregate_call(call, &scope, &mut rel)?));
                continue;
            }
            let position = |e: &Bound| keys.iter().position(|key| unaliased(key) == unaliased(e));
            match call.params.args.iter().map(position).collect::<Option<Vec<usize>>>() {
                Some(positions) if !positions.is_empty() && positions.len() <= GROUPING_ARGUMENTS_MAX => {
                    calls.push(Err(positions));
                }
                _ => {
                    let error = SqlError::new("42803", "the arguments of GROUPING must be keys of GROUP BY");
                    return Err(self.locate(error, "grouping"));
                }
            }
        }
        let parts = calls.iter().flatten().all(is_decomposable) && !groups.is_empty();
        let rel = if parts {
            Grouped::by_parts(self, rel, groups, &calls)
        } else {
            Grouped::whole(self, rel, groups, &calls)
        };
        Ok(self.group_sets(rel, &sets, &calls, set.is_some()))
    }

    /// Groups what stands ready by set, and computes the calls.
    fn group_sets(
        &mut self,
        grouped: Grouped,
        sets: &[Vec<bool>],
        calls: &[Result<AggregateCall, Vec<usize>>],
        numbered: bool,
    ) -> Converted {
        let number = self.columns.add(SqlType::Integer, false);
        let keys: Vec<(Id, Expr)> =
            grouped.keys.into_iter().map(|key| (self.columns.add(key.ty(), true), key)).collect();
        let mut groups: Vec<(Id, Expr)> = keys.iter().map(|(id, _)| (*id, self.columns.expr(*id))).collect();
        groups.push((number, self.columns.expr(number)));
        let mut outputs: Vec<Id> = keys.iter().map(|(id, _)| *id).collect();
        outputs.extend(numbered.then_some(number));
        let expanded = Rel::Expand { input: Box::new(grouped.rel), keys, sets: sets.to_vec(), number };
        let mut aggregates = Vec::new();
        let mut finals: Vec<(Id, Expr)> = Vec::new();
        let mut merged = grouped.merged.into_iter();
        for call in calls {
            let result = match call {
                Err(positions) => self.grouping_bits(positions, sets, number),
                Ok(call) => {
                    let mut values = Vec::new();
                    for merge in merged.next().unwrap_or_default() {
                        let nullable =
                            !matches!(merge.function, AggregateFunction::Count | AggregateFunction::CountStar);
                        let id = self.columns.add(merge.ty, nullable);
                        values.push(self.columns.expr(id));
                        aggregates.push((id, merge));
                    }
                    finished(call, values)
                }
            };
            outputs.push(match result {
                Expr::Column { index, .. } => index,
                expr => {
                    let id = self.columns.add(expr.ty(), true);
                    finals.push((id, expr));
                    id
                }
            });
        }
        let rel = Rel::Aggregate { input: Box::new(expanded), groups, aggregates };
        Converted { rel: rel.extend(finals), ids: outputs }
    }

    /// GROUPING: a bit for each argument, set where its key is not in the set.
    fn grouping_bits(&self, positions: &[usize], sets: &[Vec<bool>], number: Id) -> Expr {
        let bits = |set: &Vec<bool>| positions.iter().fold(0, |bits, position| bits << 1 | i64::from(!set[*position]));
        let integer = |value: i64| Expr::literal(Value::Int(value), SqlType::Integer);
        let branch = |(index, set): (usize, &Vec<bool>)| {
            let is_set = Expr::boolean(BinaryOp::Equal, self.columns.expr(number), integer(index as i64));
            (is_set, integer(bits(set)))
        };
        let branches: Vec<(Expr, Expr)> = sets.iter().enumerate().map(branch).collect();
        Expr::Case { branches, otherwise: None, ty: SqlType::Integer }
    }

    /// `rel` with a column that numbers the rows of each partition from 1.
    fn numbered(&mut self, rel: Rel, partition: Vec<Expr>, order: Vec<SortKey>) -> (Rel, Id) {
        let id = self.columns.add(SqlType::BigInt, false);
        let call = WindowCall {
            function: WindowFunction::RowNumber,
            arguments: Vec::new(),
            distinct: false,
            filter: None,
            ignore_nulls: false,
            order: Vec::new(),
            frame: Frame::WHOLE,
            ty: SqlType::BigInt,
        };
        (Rel::Window { input: Box::new(rel), partition, order, calls: vec![(id, call)] }, id)
    }

    /// INTERSECT ALL and EXCEPT ALL: the n-th of equal rows matches only an n-th one.
    pub(super) fn number_repeats(
        &mut self,
        left: &mut Rel,
        right: &mut Rel,
        on: &mut Vec<Expr>,
    ) -> Result<(), SqlError> {
        let mut sides = (Vec::new(), Vec::new());
        for condition in on.iter() {
            let Expr::Binary { left, right, .. } = condition else {
                return Err(SqlError::internal("a set operation's condition is no comparison"));
            };
            sides.0.push((**left).clone());
            sides.1.push((**right).clone());
        }
        let (numbered, a) = self.numbered(left.take(), sides.0, Vec::new());
        *left = numbered;
        let (numbered, b) = self.numbered(right.take(), sides.1, Vec::new());
        *right = numbered;
        on.push(Expr::boolean(BinaryOp::Equal, self.columns.expr(a), self.columns.expr(b)));
        Ok(())
    }

    /// DISTINCT ON: the first row of each partition, in the order of ORDER BY.
    pub(super) fn distinct_on(&mut self, distinct: &DistinctOn) -> Result<Converted, SqlError> {
        let Converted { mut rel, ids } = self.relation(&distinct.input)?;
        let scope = Scope { schema: Arc::clone(distinct.input.schema()), ids };
        let mut partition = Vec::with_capacity(distinct.on_expr.len());
        for bound in &distinct.on_expr {
            let expr = self.expr(bound, &mut Place { scope: &scope, rel: Some(&mut rel) })?;
            partition.push(if expr.ty() == SqlType::Null { cast_to(expr, SqlType::Text)? } else { expr });
        }
        let mut order = Vec::new();
        for key in distinct.sort_expr.iter().flatten() {
            let expr = self.expr(&key.expr, &mut Place { scope: &scope, rel: Some(&mut rel) })?;
            let expr = if expr.ty() == SqlType::Null { cast_to(expr, SqlType::Text)? } else { expr };
            order.push(SortKey { expr, descending: !key.asc, nulls_first: key.nulls_first });
        }
        let within: Vec<SortKey> = order.iter().filter(|key| !partition.contains(&key.expr)).cloned().collect();
        let (numbered, id) = self.numbered(rel, partition, within);
        let one = Expr::literal(Value::Int(1), SqlType::BigInt);
        rel = numbered.filter(vec![Expr::boolean(BinaryOp::Equal, self.columns.expr(id), one)]);
        if !order.is_empty() {
            rel = Rel::Sort { input: Box::new(rel), keys: order, limit: None, offset: None };
        }
        self.project(rel, &scope, &distinct.select_expr)
    }
}

/// Rows ready to be repeated for each set: their keys, and for each call the aggregates
/// that its result is made of.
struct Grouped {
    rel: Rel,
    keys: Vec<Expr>,
    merged: Vec<Vec<AggregateCall>>,
}

impl Grouped {
    /// Every row; arguments are columns, so that the row that stands for none has NULLs.
    fn whole(
        converter: &mut Converter<'_>,
        rel: Rel,
        keys: Vec<Expr>,
        calls: &[Result<AggregateCall, Vec<usize>>],
    ) -> Self {
        let mut expressions = Vec::new();
        let mut merged = Vec::new();
        for call in calls.iter().flatten() {
            let mut call = call.clone();
            if call.function == AggregateFunction::CountStar {
                call.function = AggregateFunction::Count;
                call.argument = Some(Expr::literal(Value::Boolean(true), SqlType::Boolean));
            }
            for expr in call.expressions_mut() {
                let id = converter.columns.add(expr.ty(), true);
                expressions.push((id, std::mem::replace(expr, converter.columns.expr(id))));
            }
            merged.push(vec![call]);
        }
        Self { rel: rel.extend(expressions), keys, merged }
    }

    /// Rows grouped by all keys, with parts of the aggregates.
    fn by_parts(
        converter: &mut Converter<'_>,
        rel: Rel,
        keys: Vec<Expr>,
        calls: &[Result<AggregateCall, Vec<usize>>],
    ) -> Self {
        let mut groups: Vec<(Id, Expr)> = Vec::new();
        let mut columns = Vec::with_capacity(keys.len());
        for key in keys {
            let id = converter.columns.add(key.ty(), true);
            columns.push(converter.columns.expr(id));
            groups.push((id, key));
        }
        let mut aggregates: Vec<(Id, AggregateCall)> = Vec::new();
        let mut merged = Vec::new();
        for call in calls.iter().flatten() {
            let mut merges = Vec::new();
            for (part, function) in parts_of(call) {
                let id = match aggregates.iter().find(|(_, known)| *known == part) {
                    Some((id, _)) => *id,
                    None => {
                        let id = converter.columns.add(part.ty, true);
                        aggregates.push((id, part.clone()));
                        id
                    }
                };
                let ty =
                    if function == AggregateFunction::Sum { sum_type(part.ty).unwrap_or(part.ty) } else { part.ty };
                let argument = Some(converter.columns.expr(id));
                merges.push(AggregateCall::new(function, argument, ty));
            }
            merged.push(merges);
        }
        let rel = Rel::Aggregate { input: Box::new(rel), groups, aggregates };
        Self { rel, keys: columns, merged }
    }
}

/// Whether a call's result over several groups comes from results over each.
fn is_decomposable(call: &AggregateCall) -> bool {
    use AggregateFunction::{Average, BoolAnd, BoolOr, Count, CountStar, Max, Min, Sum};
    !call.distinct && matches!(call.function, CountStar | Count | Sum | Average | Min | Max | BoolAnd | BoolOr)
}

/// The parts of a decomposable call, and what puts each together.
fn parts_of(call: &AggregateCall) -> Vec<(AggregateCall, AggregateFunction)> {
    use AggregateFunction::{Average, Count, CountStar, Sum};
    match call.function {
        Count | CountStar => vec![(call.clone(), Sum)],
        Average => {
            let argument = call.argument.as_ref().map_or(SqlType::Null, Expr::ty);
            let sum = AggregateCall { function: Sum, ty: sum_type(argument).unwrap_or(argument), ..call.clone() };
            let count = AggregateCall { function: Count, ty: SqlType::BigInt, ..call.clone() };
            vec![(sum, Sum), (count, Sum)]
        }
        function => vec![(call.clone(), function)],
    }
}

/// A call's result from what it is made of.
fn finished(call: &AggregateCall, mut values: Vec<Expr>) -> Expr {
    let cast = |expr: Expr, ty| {
        if expr.ty() == ty { expr } else { Expr::Cast { expr: Box::new(expr), ty, lenient: false } }
    };
    let last = values.pop();
    match (call.function, values.pop(), last) {
        (AggregateFunction::Average, Some(sum), Some(count)) => {
            let ty = if call.ty == SqlType::Double { SqlType::Double } else { SqlType::decimal(19, 0) };
            let zero = cast_to(Expr::literal(Value::Int(0), SqlType::Integer), ty);
            let count = cast(count, ty);
            let count = match zero {
                Ok(zero) => Expr::Call { function: Function::NullIf, arguments: vec![count, zero], ty },
                Err(_) => count,
            };
            let sum = if call.ty == SqlType::Double { cast(sum, SqlType::Double) } else { sum };
            Expr::Binary { op: BinaryOp::Divide, left: Box::new(sum), right: Box::new(count), ty: call.ty }
        }
        // The group of no rows has no count to add up.
        (AggregateFunction::Count | AggregateFunction::CountStar, _, Some(count)) if count.ty() != call.ty => {
            let zero = Expr::literal(Value::Int(0), call.ty);
            Expr::Call { function: Function::Coalesce, arguments: vec![cast(count, call.ty), zero], ty: call.ty }
        }
        (_, _, Some(value)) => cast(value, call.ty),
        (_, _, None) => Expr::literal(Value::Null, call.ty),
    }
}

/// Which keys are in each set.
fn sets_of(set: Option<&GroupingSet>, keys: &[&Bound]) -> Result<Vec<Vec<bool>>, SqlError> {
    let too_many = || SqlError::new("54001", format!("more than {SETS_MAX} grouping sets"));
    let flags = |list: &[Bound]| -> Vec<bool> { keys.iter().map(|key| list.contains(key)).collect() };
    let sets: Vec<Vec<bool>> = match set {
        None => vec![vec![true; keys.len()]],
        Some(GroupingSet::GroupingSets(lists)) => lists.iter().map(|list| flags(list)).collect(),
        Some(GroupingSet::Rollup(list)) => (0..=list.len()).rev().map(|count| flags(&list[..count])).collect(),
        Some(GroupingSet::Cube(list)) => {
            let subsets = 1usize.checked_shl(list.len() as u32).filter(|n| *n <= SETS_MAX).ok_or_else(too_many)?;
            let subset = |bits: usize| {
                let chosen: Vec<Bound> =
                    list.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, e)| e.clone()).collect();
                flags(&chosen)
            };
            (0..subsets).rev().map(subset).collect()
        }
    };
    if sets.len() > SETS_MAX { Err(too_many()) } else { Ok(sets) }
}
