//! `generate_series` as a table.

use super::coerce::{cast_to, coerce, common_type, is_unknown};
use super::query::{Converted, Converter, Scope};
use super::scalar::Place;
use crate::bind::SeriesHandle;
use crate::logical::Rel;
use gingham_plan::{Expr, SqlError};
use gingham_types::{SqlType, Value};
use std::sync::Arc;

impl Converter<'_> {
    pub(super) fn series(&mut self, series: &SeriesHandle) -> Result<Converted, SqlError> {
        let bounds = self.series_bounds(series).map_err(|error| self.locate(error, "generate_series"))?;
        bounds.iter().for_each(|e| self.note_parameters(e));
        let column = self.columns.add(bounds[0].ty(), false);
        Ok(Converted { rel: Rel::Series { bounds: Box::new(bounds), column }, ids: vec![column] })
    }

    fn series_bounds(&mut self, series: &SeriesHandle) -> Result<[Expr; 3], SqlError> {
        let scope = Scope { schema: Arc::new(datafusion_common::DFSchema::empty()), ids: Vec::new() };
        let mut arguments = Vec::with_capacity(series.arguments.len());
        for bound in &series.arguments {
            arguments.push(self.expr(bound, &mut Place { scope: &scope, rel: None })?);
        }
        let count = arguments.len();
        let mut arguments = arguments.into_iter();
        let (Some(start), Some(stop), step, None) =
            (arguments.next(), arguments.next(), arguments.next(), arguments.next())
        else {
            let message = format!("function generate_series does not take {count} arguments");
            return Err(SqlError::new("42883", message));
        };
        let known = [&start, &stop].into_iter().filter(|e| !is_unknown(e)).map(Expr::ty);
        let ty = known.fold(SqlType::Null, |ty, other| common_type(ty, other).unwrap_or(other));
        match ty {
            SqlType::Date | SqlType::Timestamp => {
                let Some(step) = step else {
                    return Err(SqlError::new("42883", "generate_series of times needs a step"));
                };
                let stamp = |e: Expr| {
                    let ty = if is_unknown(&e) { SqlType::Timestamp } else { e.ty() };
                    cast_to(coerce(e, ty)?, SqlType::Timestamp)
                };
                Ok([stamp(start)?, stamp(stop)?, coerce(step, SqlType::Interval)?])
            }
            SqlType::Null | SqlType::Integer | SqlType::BigInt => {
                let step = step.unwrap_or_else(|| Expr::literal(Value::Int(1), SqlType::BigInt));
                let number = |e| coerce(e, SqlType::BigInt);
                Ok([number(start)?, number(stop)?, number(step)?])
            }
            ty => Err(SqlError::new("42883", format!("function generate_series does not take {ty}"))),
        }
    }
}
