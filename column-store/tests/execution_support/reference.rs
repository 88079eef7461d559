//! Plans row by row: slow, plain, and written from the comments of the plan crate alone.

use super::tables::MemoryTables;
use gingham_column_store::expression::{Runtime, evaluate_row_with};
use gingham_column_store::{Error, Result};
use gingham_plan::{
    AggregateCall, AggregateFunction, Apply, ApplyKind, Expr, Join, JoinKind, Node, Query, SortKey, SqlError,
};
use gingham_types::{SqlType, Value, compare_values, power_of_ten, rescale};
use std::cell::RefCell;
use std::cmp::Ordering;

type Rows = Vec<Vec<Value>>;

/// Evaluates the nodes of one query.
pub struct Reference<'a> {
    query: &'a Query,
    tables: &'a MemoryTables,
    runtime: RefCell<Runtime>,
}

impl<'a> Reference<'a> {
    pub fn new(query: &'a Query, tables: &'a MemoryTables) -> Self {
        let runtime = Runtime {
            parameters: Vec::new(),
            slots: vec![None; query.slot_count as usize],
            subqueries: vec![None; query.subqueries.len()],
            now: None,
        };
        Self { query, tables, runtime: RefCell::new(runtime) }
    }

    pub fn with_parameters(self, parameters: Vec<Value>) -> Self {
        self.runtime.borrow_mut().parameters = parameters;
        self
    }

    fn eval(&self, expr: &Expr, row: &[Value]) -> Result<Value> {
        let mut needed = Vec::new();
        expr.visit(&mut |e| {
            if let Expr::Subquery { index, .. } = e {
                needed.push(*index);
            }
        });
        for index in needed {
            if self.runtime.borrow().subqueries[index].is_none() {
                let rows = self.rows(&self.query.subqueries[index])?;
                let value = scalar(&rows)?;
                self.runtime.borrow_mut().subqueries[index] = Some(value);
            }
        }
        evaluate_row_with(expr, row, &self.runtime.borrow())
    }

    fn holds(&self, expr: &Expr, row: &[Value]) -> Result<bool> {
        Ok(self.eval(expr, row)? == Value::Boolean(true))
    }

    pub fn rows(&self, node: &Node) -> Result<Rows> {
        match node {
            Node::Scan(scan) => {
                let mut rows = Vec::new();
                for row in &self.tables.tables[&scan.table.0].rows {
                    let mut passes = true;
                    for filter in &scan.filters {
                        passes = passes && self.holds(filter, row)?;
                    }
                    if passes {
                        rows.push(pick(row, &scan.columns));
                    }
                }
                Ok(rows)
            }
            Node::Values { rows, .. } => {
                rows.iter().map(|row| row.iter().map(|e| self.eval(e, &[])).collect()).collect()
            }
            Node::Filter { input, predicates, columns, .. } => {
                let mut rows = Vec::new();
                for row in self.rows(input)? {
                    let mut passes = true;
                    for predicate in predicates {
                        passes = passes && self.holds(predicate, &row)?;
                    }
                    if passes {
                        rows.push(pick(&row, columns));
                    }
                }
                Ok(rows)
            }
            Node::Project { input, expressions } => {
                self.rows(input)?.iter().map(|row| expressions.iter().map(|e| self.eval(e, row)).collect()).collect()
            }
            Node::Aggregate { input, groups, aggregates, .. } => self.aggregate(&self.rows(input)?, groups, aggregates),
            Node::Join(join) => self.join(join),
            Node::Apply(apply) => self.apply(apply),
            Node::Sort { input, keys, limit, offset } => {
                let rows = self.sort(self.rows(input)?, keys)?;
                self.limit(rows, limit.as_ref(), offset.as_ref())
            }
            Node::Limit { input, limit, offset } => self.limit(self.rows(input)?, limit.as_ref(), offset.as_ref()),
            Node::Union { inputs } => {
                let mut rows = Vec::new();
                for input in inputs {
                    rows.extend(self.rows(input)?);
                }
                Ok(rows)
            }
            Node::Expand { .. } | Node::Recursive(_) | Node::Work { .. } | Node::Series { .. } | Node::Window(_) => {
                panic!("no random plan has this; the SQL suite tests it: {node:?}")
            }
            Node::Cte { id, columns, .. } => {
                let rows = self.rows(&self.query.ctes[id.0 as usize])?;
                Ok(rows.iter().map(|row| pick(row, columns)).collect())
            }
        }
    }

    fn limit(&self, rows: Rows, limit: Option<&Expr>, offset: Option<&Expr>) -> Result<Rows> {
        let number = |e: Option<&Expr>, default: usize| -> Result<usize> {
            Ok(match e.map(|e| self.eval(e, &[])).transpose()? {
                Some(Value::Int(v)) => v as usize,
                _ => default,
            })
        };
        let (limit, offset) = (number(limit, usize::MAX)?, number(offset, 0)?);
        Ok(rows.into_iter().skip(offset).take(limit).collect())
    }

    fn sort(&self, rows: Rows, keys: &[SortKey]) -> Result<Rows> {
        let mut keyed = Vec::new();
        for row in rows {
            let values = keys.iter().map(|key| self.eval(&key.expr, &row)).collect::<Result<Vec<Value>>>()?;
            keyed.push((values, row));
        }
        keyed.sort_by(|(a, _), (b, _)| {
            for (key, (a, b)) in keys.iter().zip(a.iter().zip(b)) {
                let order = match (a.is_null(), b.is_null()) {
                    (true, true) => Ordering::Equal,
                    (true, false) => {
                        if key.nulls_first {
                            Ordering::Less
                        } else {
                            Ordering::Greater
                        }
                    }
                    (false, true) => {
                        if key.nulls_first {
                            Ordering::Greater
                        } else {
                            Ordering::Less
                        }
                    }
                    (false, false) if key.descending => compare_values(b, a),
                    (false, false) => compare_values(a, b),
                };
                if order != Ordering::Equal {
                    return order;
                }
            }
            Ordering::Equal
        });
        Ok(keyed.into_iter().map(|(_, row)| row).collect())
    }

    fn aggregate(&self, rows: &Rows, groups: &[Expr], calls: &[AggregateCall]) -> Result<Rows> {
        let mut list: Vec<(Vec<Value>, Vec<&Vec<Value>>)> = Vec::new();
        let mut keyed = Vec::new();
        for row in rows {
            keyed.push((groups.iter().map(|g| self.eval(g, row)).collect::<Result<Vec<Value>>>()?, row));
        }
        keyed.sort_by(|(a, _), (b, _)| super::compare_rows(a, b));
        for (key, row) in keyed {
            match list.last_mut() {
                Some((last, rows)) if super::compare_rows(last, &key) == Ordering::Equal => rows.push(row),
                _ => list.push((key, vec![row])),
            }
        }
        if groups.is_empty() && list.is_empty() {
            list.push((Vec::new(), Vec::new()));
        }
        list.into_iter()
            .map(|(mut key, rows)| {
                for call in calls {
                    key.push(self.call(call, &rows)?);
                }
                Ok(key)
            })
            .collect()
    }

    fn call(&self, call: &AggregateCall, rows: &[&Vec<Value>]) -> Result<Value> {
        let mut values = Vec::new();
        for row in rows {
            let passes = match &call.filter {
                Some(filter) => self.holds(filter, row)?,
                None => true,
            };
            if passes {
                values.push(match &call.argument {
                    Some(argument) => self.eval(argument, row)?,
                    None => Value::Boolean(true),
                });
            }
        }
        values.retain(|v| !v.is_null());
        if call.distinct {
            let mut distinct: Vec<Value> = Vec::new();
            for value in values {
                if !distinct.iter().any(|d| compare_values(d, &value) == Ordering::Equal) {
                    distinct.push(value);
                }
            }
            values = distinct;
        }
        fold(call, &values)
    }

    fn apply(&self, apply: &Apply) -> Result<Rows> {
        let mut rows = Vec::new();
        for row in self.rows(&apply.input)? {
            for (slot, column) in &apply.bindings {
                self.runtime.borrow_mut().slots[slot.0 as usize] = Some(row[*column].clone());
            }
            let inner = self.rows(&apply.subplan)?;
            let with = |extra: &[Value]| row.iter().chain(extra).cloned().collect::<Vec<Value>>();
            match apply.kind {
                ApplyKind::Scalar => rows.push(with(&[scalar(&inner)?])),
                ApplyKind::Exists => rows.push(with(&[Value::Boolean(!inner.is_empty())])),
                ApplyKind::Left if inner.is_empty() => rows.push(with(&vec![Value::Null; apply.types.len()])),
                ApplyKind::Cross | ApplyKind::Left => rows.extend(inner.iter().map(|extra| with(extra))),
            }
        }
        Ok(rows)
    }

    fn join(&self, join: &Join) -> Result<Rows> {
        let (left, right) = (self.rows(&join.left)?, self.rows(&join.right)?);
        let keys = |rows: &Rows, keys: &[Expr]| -> Result<Rows> {
            rows.iter().map(|row| keys.iter().map(|k| self.eval(k, row)).collect()).collect()
        };
        let (left_keys, right_keys) = (keys(&left, &join.left_keys)?, keys(&right, &join.right_keys)?);
        let right_width = join.right.types().len();
        let left_width = join.left.types().len();
        let mut right_matched = vec![false; right.len()];
        let mut rows = Vec::new();
        for (l, left_key) in left.iter().zip(&left_keys) {
            let mut matched = false;
            let mut unknown = false;
            for (at, (r, right_key)) in right.iter().zip(&right_keys).enumerate() {
                let joined: Vec<Value> = l.iter().chain(r).cloned().collect();
                let mut truths: Vec<Option<bool>> = left_key
                    .iter()
                    .zip(right_key)
                    .zip(&join.null_equal)
                    .map(|((a, b), null_equal)| {
                        if !null_equal && (a.is_null() || b.is_null()) {
                            return None;
                        }
                        Some(compare_values(a, b) == Ordering::Equal)
                    })
                    .collect();
                // Residuals are evaluated on pairs with equal keys only, but here also
                // where the first key is unknown.
                let rest = truths.iter().skip(1).all(|t| *t == Some(true));
                if truths.is_empty() {
                    truths.push(Some(true));
                }
                if !rest || truths[0] == Some(false) {
                    continue;
                }
                let residual = match &join.residual {
                    Some(e) => self.holds(e, &joined)?,
                    None => true,
                };
                if !residual {
                    continue;
                }
                if truths[0] == Some(true) {
                    matched = true;
                    right_matched[at] = true;
                    if matches!(join.kind, JoinKind::Inner | JoinKind::Left | JoinKind::Full) {
                        rows.push(joined);
                    }
                } else if join.null_aware {
                    unknown = true;
                }
            }
            match join.kind {
                JoinKind::Inner => {}
                JoinKind::Left | JoinKind::Full => {
                    if !matched {
                        rows.push(l.iter().cloned().chain(vec![Value::Null; right_width]).collect());
                    }
                }
                JoinKind::Semi => rows.extend(matched.then(|| l.clone())),
                JoinKind::Anti => rows.extend((!matched && !unknown).then(|| l.clone())),
                JoinKind::Mark => {
                    let mark = if matched || !unknown { Value::Boolean(matched) } else { Value::Null };
                    rows.push(l.iter().cloned().chain([mark]).collect());
                }
            }
        }
        if join.kind == JoinKind::Full {
            for (r, matched) in right.iter().zip(right_matched) {
                if !matched {
                    rows.push(vec![Value::Null; left_width].into_iter().chain(r.iter().cloned()).collect());
                }
            }
        }
        Ok(rows.iter().map(|row| pick(row, &join.columns)).collect())
    }
}

fn pick(row: &[Value], columns: &[usize]) -> Vec<Value> {
    columns.iter().map(|c| row[*c].clone()).collect()
}

fn scalar(rows: &Rows) -> Result<Value> {
    match &rows[..] {
        [] => Ok(Value::Null),
        [row] => Ok(row[0].clone()),
        _ => Err(Error::Sql(SqlError::new("21000", "several rows"))),
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Int(v) => *v as f64,
        Value::Double(v) => *v,
        Value::Decimal { unscaled, scale } => *unscaled as f64 / 10f64.powi(i32::from(*scale)),
        other => panic!("{other:?} is no number"),
    }
}

fn fold(call: &AggregateCall, values: &[Value]) -> Result<Value> {
    let overflow = || Error::Sql(SqlError::new("22003", "overflow"));
    let exact = || -> Result<(i128, u8)> {
        let mut sum = 0i128;
        let mut of = 0;
        for value in values {
            let (v, s) = match value {
                Value::Int(v) => (i128::from(*v), 0),
                Value::Decimal { unscaled, scale } => (*unscaled, *scale),
                other => panic!("sum of {other:?}"),
            };
            sum = sum.checked_add(v).ok_or_else(overflow)?;
            of = s;
        }
        Ok((sum, of))
    };
    if matches!(call.function, AggregateFunction::CountStar | AggregateFunction::Count) {
        return Ok(Value::Int(values.len() as i64));
    }
    let Some(first) = values.first() else {
        return Ok(Value::Null);
    };
    let extreme = |wanted: Ordering| {
        values.iter().fold(first, |best, v| if compare_values(v, best) == wanted { v } else { best }).clone()
    };
    Ok(match call.function {
        AggregateFunction::Min => extreme(Ordering::Less),
        AggregateFunction::Max => extreme(Ordering::Greater),
        AggregateFunction::BoolAnd => Value::Boolean(values.iter().all(|v| *v == Value::Boolean(true))),
        AggregateFunction::BoolOr => Value::Boolean(values.contains(&Value::Boolean(true))),
        AggregateFunction::Sum => match call.ty {
            SqlType::Double => Value::Double(values.iter().map(number).sum()),
            SqlType::BigInt => Value::Int(i64::try_from(exact()?.0).map_err(|_| overflow())?),
            SqlType::Decimal { scale, .. } => {
                let (sum, _) = exact()?;
                if sum.unsigned_abs() >= 10u128.pow(38) {
                    return Err(overflow());
                }
                Value::Decimal { unscaled: sum, scale }
            }
            other => panic!("sum gives {other:?}"),
        },
        AggregateFunction::Average => match call.ty {
            SqlType::Decimal { scale, .. } => {
                let (sum, of) = exact()?;
                // Sixfold scale first, so that the quotient is rounded once.
                let wide = sum.checked_mul(power_of_ten(scale - of).expect("small")).ok_or_else(overflow)?;
                let count = values.len() as i128;
                let (quotient, remainder) = (wide / count, wide % count);
                let up = i128::from(remainder.abs() * 2 >= count) * wide.signum();
                Value::Decimal { unscaled: rescale(quotient + up, scale, scale).expect("same"), scale }
            }
            _ => match first {
                Value::Double(_) => Value::Double(values.iter().map(number).sum::<f64>() / values.len() as f64),
                _ => Value::Double(exact()?.0 as f64 / values.len() as f64),
            },
        },
        function => {
            let count = values.len() as f64;
            let sample = matches!(function, AggregateFunction::VarianceSample | AggregateFunction::StddevSample);
            if sample && values.len() == 1 {
                return Ok(Value::Null);
            }
            let mean = values.iter().map(number).sum::<f64>() / count;
            let squares: f64 = values.iter().map(|v| (number(v) - mean).powi(2)).sum();
            let variance = squares / if sample { count - 1.0 } else { count };
            let root = matches!(function, AggregateFunction::StddevSample | AggregateFunction::StddevPopulation);
            Value::Double(if root { variance.sqrt() } else { variance })
        }
    })
}
