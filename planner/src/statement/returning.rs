//! RETURNING: expressions over the columns of one row.

use super::stored::KnownColumn;
use super::{Session, at_name};
use crate::bind::to_arrow;
use crate::convert::{Converter, Scope};
use crate::text::normalize::name_items;
use crate::text::{Source, folded, shown_name};
use arrow_schema::{Field, Schema};
use datafusion_common::{DFSchema, TableReference};
use gingham_plan::{Expr, OutputColumn, SqlError, TableInfo};
use gingham_types::SqlType;
use sqlparser::ast::{self, SelectItem};
use std::sync::Arc;

/// A scope of a table's columns under a name, with new numbers.
pub(super) fn row_scope(table: &TableInfo, name: &str, converter: &mut Converter<'_>) -> Result<Scope, SqlError> {
    scope_over(name, &table.columns.iter().map(KnownColumn::of).collect::<Vec<_>>(), converter)
}

/// A scope of columns under a table's name, with new numbers.
pub(super) fn scope_over(
    name: &str,
    columns: &[KnownColumn<'_>],
    converter: &mut Converter<'_>,
) -> Result<Scope, SqlError> {
    let fields: Vec<Field> = columns.iter().map(|c| Field::new(c.name, to_arrow(c.ty), c.nullable)).collect();
    let schema = DFSchema::try_from_qualified_schema(TableReference::bare(name), &Schema::new(fields))
        .map_err(|error| SqlError::internal(error.to_string()))?;
    let ids = columns.iter().map(|c| converter.columns.add(c.ty, c.nullable)).collect();
    Ok(Scope { schema: Arc::new(schema), ids })
}

/// Replaces column numbers by their positions in `ids`.
pub(super) fn by_position(mut expr: Expr, ids: &[usize]) -> Result<Expr, SqlError> {
    let mut missing = false;
    let mut subquery = false;
    expr.visit_mut(&mut |e| match e {
        Expr::Column { index, .. } => match ids.iter().position(|id| id == index) {
            Some(position) => *index = position,
            None => missing = true,
        },
        Expr::Subquery { .. } => subquery = true,
        _ => {}
    });
    if subquery {
        return Err(SqlError::unsupported("a subquery in RETURNING or ON CONFLICT"));
    }
    if missing { Err(SqlError::internal("a column is out of reach")) } else { Ok(expr) }
}

impl Session<'_> {
    /// Plans a RETURNING list over the columns of `table`, known as `name`.
    pub(super) fn returning(
        &self,
        items: Option<Vec<SelectItem>>,
        table: &TableInfo,
        name: &str,
        converter: &mut Converter<'_>,
        source: &Source,
    ) -> Result<Vec<(OutputColumn, Expr)>, SqlError> {
        let Some(mut items) = items else { return Ok(Vec::new()) };
        name_items(&mut items);
        let scope = row_scope(table, name, converter)?;
        let mut list = Vec::new();
        for item in items {
            let (expr, output) = match item {
                SelectItem::Wildcard(_) => {
                    list.extend(table.columns.iter().enumerate().map(|(position, c)| {
                        (OutputColumn { name: c.name.clone(), ty: c.ty }, Expr::column(position, c.ty))
                    }));
                    continue;
                }
                SelectItem::ExprWithAlias { expr, alias } => (expr, shown_name(&alias.value).to_owned()),
                SelectItem::UnnamedExpr(expr) => {
                    let output = match &expr {
                        ast::Expr::Identifier(ident) => folded(ident),
                        ast::Expr::CompoundIdentifier(parts) => parts.last().map(folded).unwrap_or_default(),
                        other => other.to_string(),
                    };
                    (expr, output)
                }
                other => {
                    return Err(at_name(SqlError::unsupported(format!("{other} in RETURNING")), "returning", source));
                }
            };
            let expr = self.expression(expr, &scope, converter, source)?;
            let expr = by_position(expr, &scope.ids)?;
            let expr = if expr.ty() == SqlType::Null { crate::convert::cast_to(expr, SqlType::Text)? } else { expr };
            list.push((OutputColumn { name: output, ty: expr.ty() }, expr));
        }
        Ok(list)
    }
}
