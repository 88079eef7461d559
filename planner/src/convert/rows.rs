//! UNION and VALUES: rows of several sources under one type a column.

use super::coerce::{cast_to, coerce, common_type};
use super::query::{Converted, Converter, Scope};
use super::relation::constant_behind;
use super::scalar::Place;
use crate::logical::Rel;
use datafusion_expr::logical_plan::{LogicalPlan, Values};
use gingham_plan::{Expr, SqlError};
use gingham_types::{SqlType, Value};
use std::sync::Arc;

impl Converter<'_> {
    pub(super) fn union(&mut self, plan: &LogicalPlan) -> Result<Converted, SqlError> {
        let mut flat = Vec::new();
        let mut pending = vec![plan];
        while let Some(next) = pending.pop() {
            match next {
                LogicalPlan::Union(union) => pending.extend(union.inputs.iter().rev().map(Arc::as_ref)),
                other => flat.push(other),
            }
        }
        let mut inputs = Vec::with_capacity(flat.len());
        for input in flat {
            inputs.push(self.relation(input)?);
        }
        self.union_of(inputs)
    }

    /// UNION ALL of relations with the same number of columns.
    pub(super) fn union_of(&mut self, mut inputs: Vec<Converted>) -> Result<Converted, SqlError> {
        let width = inputs.first().map_or(0, |i| i.ids.len());
        let mut columns = Vec::with_capacity(width);
        for position in 0..width {
            let mut ty = SqlType::Null;
            let mut nullable = false;
            for input in &inputs {
                let id = input.ids[position];
                nullable |= self.columns.nullable(id);
                let other = self.columns.ty(id);
                ty = common_type(ty, other).ok_or_else(|| {
                    SqlError::new(
                        "42804",
                        format!("column {} of the set operation has types {ty} and {other}", position + 1),
                    )
                })?;
            }
            columns.push(self.columns.add(ty, nullable));
        }
        for input in &mut inputs {
            let mut expressions = Vec::new();
            for (id, column) in input.ids.iter_mut().zip(&columns) {
                let own = self.columns.expr(*id);
                let own = if own.ty() == SqlType::Null { constant_behind(&input.rel, *id).unwrap_or(own) } else { own };
                let expr = cast_to(own, self.columns.ty(*column))?;
                *id = self.name(expr, &mut expressions);
            }
            input.rel = input.rel.take().extend(expressions);
        }
        let inputs = inputs.into_iter().map(|i| (i.rel, i.ids)).collect();
        Ok(Converted { rel: Rel::Union { inputs, columns: columns.clone() }, ids: columns })
    }
    pub(super) fn values(&mut self, values: &Values) -> Result<Converted, SqlError> {
        let scope = Scope { schema: Arc::new(datafusion_common::DFSchema::empty()), ids: Vec::new() };
        let mut rows = Vec::with_capacity(values.values.len());
        let mut plain = true;
        for row in &values.values {
            let mut rel = Rel::one_row();
            let mut converted = Vec::with_capacity(row.len());
            for bound in row {
                converted.push(self.expr(bound, &mut Place { scope: &scope, rel: Some(&mut rel) })?);
            }
            plain &= matches!(&rel, Rel::Values { .. });
            rows.push((rel, converted));
        }
        if !plain {
            // A row with a correlated or IN subquery is a query of its own.
            let mut inputs = Vec::with_capacity(rows.len());
            for (rel, row) in rows {
                let mut expressions = Vec::new();
                let ids = row.into_iter().map(|e| self.name(e, &mut expressions)).collect();
                inputs.push(Converted { rel: rel.extend(expressions), ids });
            }
            return self.union_of(inputs);
        }
        self.values_of(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// Constant rows, each column brought to one type.
    pub(crate) fn values_of(&mut self, mut rows: Vec<Vec<Expr>>) -> Result<Converted, SqlError> {
        let width = rows.first().map_or(0, Vec::len);
        let mut columns = Vec::with_capacity(width);
        for position in 0..width {
            let mut ty = SqlType::Null;
            for expr in rows.iter().filter_map(|row| row.get(position)) {
                let unknown = matches!(expr, Expr::Literal { value: Value::Text(_), .. });
                ty = match common_type(ty, expr.ty()) {
                    Some(common) => common,
                    None if unknown => ty,
                    None if ty == SqlType::Text => expr.ty(),
                    None => {
                        let message = format!("column {} of VALUES has types {ty} and {}", position + 1, expr.ty());
                        return Err(SqlError::new("42804", message));
                    }
                };
            }
            let ty = if ty == SqlType::Null { SqlType::Text } else { ty };
            let mut nullable = false;
            for row in &mut rows {
                let expr = std::mem::replace(&mut row[position], Expr::literal(Value::Null, ty));
                row[position] = coerce(expr, ty)?;
                self.note_parameters(&row[position]);
                nullable |= self.nullable(&row[position]);
            }
            columns.push(self.columns.add(ty, nullable));
        }
        Ok(Converted { rel: Rel::Values { rows, columns: columns.clone() }, ids: columns })
    }
}
