//! WITH RECURSIVE. The first term says what the columns' types are.

use super::coerce::{cast_to, common_type};
use super::query::{Converted, Converter, Recursion};
use crate::bind::from_arrow;
use crate::logical::{Id, Rel};
use datafusion_expr::logical_plan::RecursiveQuery;
use gingham_plan::{Expr, SqlError};
use gingham_types::{DECIMAL_DIGITS_MAX, SqlType};

impl Converter<'_> {
    pub(super) fn recursive(&mut self, query: &RecursiveQuery) -> Result<Converted, SqlError> {
        let start = self.relation(&query.static_term)?;
        let (start_rel, start_ids) = self.settle(start.rel, start.ids)?;
        // What datafusion-sql takes a constant for is at least as wide, and the recursive
        // term has been brought to it.
        let types: Vec<SqlType> = start_ids
            .iter()
            .zip(query.static_term.schema().fields())
            .map(|(id, field)| {
                let own = self.columns.ty(*id);
                let bound = from_arrow(field.data_type()).and_then(|bound| common_type(own, bound)).unwrap_or(own);
                match bound {
                    SqlType::Decimal { scale, .. } => SqlType::decimal(DECIMAL_DIGITS_MAX, scale),
                    bound => bound,
                }
            })
            .collect();
        let work = self.works;
        self.works += 1;
        self.recursions.push(Recursion { name: query.name.clone(), work, types: types.clone() });
        let step = self.relation(&query.recursive_term);
        self.recursions.pop();
        let step = step?;
        let (start_rel, start_ids) = self.brought_to(start_rel, start_ids, &types)?;
        let (step_rel, step_ids) = self.brought_to(step.rel, step.ids, &types)?;
        let columns: Vec<Id> = types.iter().map(|ty| self.columns.add(*ty, true)).collect();
        let rel = Rel::Recursive {
            start: (Box::new(start_rel), start_ids),
            step: (Box::new(step_rel), step_ids),
            columns: columns.clone(),
            work,
            distinct: query.is_distinct,
        };
        Ok(Converted { rel, ids: columns })
    }

    /// The columns `ids` of `rel` with these types.
    fn brought_to(&mut self, rel: Rel, mut ids: Vec<Id>, types: &[SqlType]) -> Result<(Rel, Vec<Id>), SqlError> {
        let mut expressions = Vec::new();
        for (id, ty) in ids.iter_mut().zip(types) {
            // datafusion-sql has cast decimals to the first term's digits already.
            let own = match cast_behind(&rel, *id) {
                Some(inner) if inner.ty().as_decimal().is_some() && matches!(ty, SqlType::Decimal { .. }) => inner,
                _ => self.columns.expr(*id),
            };
            *id = self.name(cast_to(own, *ty)?, &mut expressions);
        }
        Ok((rel.extend(expressions), ids))
    }

    /// The rows of the last round, inside a recursive term.
    pub(super) fn work(&mut self, name: &str) -> Result<Converted, SqlError> {
        let Some(recursion) = self.recursions.iter().rev().find(|r| r.name == name) else {
            return Err(SqlError::internal(format!("{name} is read outside its recursive term")));
        };
        let work = recursion.work;
        let types = recursion.types.clone();
        let columns: Vec<Id> = types.into_iter().map(|ty| self.columns.add(ty, true)).collect();
        Ok(Converted { rel: Rel::Work { work, columns: columns.clone() }, ids: columns })
    }
}

/// What is cast in a computed column.
fn cast_behind(rel: &Rel, id: Id) -> Option<Expr> {
    match rel {
        Rel::Extend { input, expressions } => match expressions.iter().find(|(own, _)| *own == id) {
            Some((_, Expr::Cast { expr, lenient: false, .. })) => Some((**expr).clone()),
            Some(_) => None,
            None => cast_behind(input, id),
        },
        Rel::Filter { input, .. } | Rel::Sort { input, .. } | Rel::Limit { input, .. } => cast_behind(input, id),
        _ => None,
    }
}
