//! INSERT.

use super::constraint::refuse_value;
use super::modify::assigned_value;
use super::returning::{by_position, row_scope};
use super::select::Bound;
use super::{Session, at_name, column_of};
use crate::convert::{Converter, Scope, assign, cast_to};
use crate::logical::{Id, Rel};
use crate::text::normalize::at;
use crate::text::{Source, folded};
use datafusion_common::DFSchema;
use gingham_plan::{Conflict, Expr, Generated, Insert, SqlError, Statement, TableInfo};
use gingham_types::{SqlType, Value, parse_decimal};
use sqlparser::ast::{
    self, AssignmentTarget, ConflictTarget, Ident, OnConflictAction, OnInsert, SetExpr, SqliteOnConflict, TableObject,
    VisitMut, VisitorMut,
};
use std::ops::ControlFlow;
use std::sync::Arc;

impl Session<'_> {
    pub(super) fn insert(&self, insert: ast::Insert, source: &Source) -> Result<Statement, SqlError> {
        let TableObject::TableName(name) = &insert.table else {
            return Err(SqlError::unsupported("INSERT into anything but a table"));
        };
        if insert.overwrite || insert.partitioned.is_some() || !insert.assignments.is_empty() || insert.output.is_some()
        {
            return Err(SqlError::unsupported("this form of INSERT"));
        }
        let (_, table) = self.table(name, source)?;
        let alias = insert.table_alias.as_ref().map_or_else(|| table.name.clone(), |a| folded(&a.alias));
        let mut targets = Vec::with_capacity(insert.columns.len());
        for column in &insert.columns {
            let name = column.0.last().and_then(|p| p.as_ident()).map(folded).unwrap_or_default();
            let ordinal = column_of(table, &name, source)?;
            if targets.contains(&ordinal) {
                let error = SqlError::new("42701", format!("column {name} is given more than once"));
                return Err(at_name(error, &name, source));
            }
            targets.push(ordinal);
        }
        if insert.columns.is_empty() {
            targets = (0..table.columns.len()).collect();
        }
        let mut converter = Converter::new(self.binder.catalog, source);
        let bound = match insert.source {
            None => {
                let row = table.columns.iter().map(default_of).collect::<Result<Vec<_>, _>>()?;
                rows_of(table, vec![row], &mut converter)
            }
            Some(query) => match *query.body {
                SetExpr::Values(values)
                    if query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none() =>
                {
                    let rows = values.rows.into_iter().map(|row| row.content).collect();
                    self.insert_values(rows, table, &targets, &mut converter, source)?
                }
                body => {
                    let query = ast::Query { body: Box::new(body), ..*query };
                    self.insert_query(query, table, &targets, &mut converter, source)?
                }
            },
        };
        let conflict = self.conflict(insert.or, insert.on, table, &alias, &mut converter, source)?;
        let returning = self.returning(insert.returning, table, &alias, &mut converter, source)?;
        let source = self.finish(converter, bound)?;
        Ok(Statement::Insert(Insert { table: table.id, source, conflict, returning }))
    }

    fn insert_values(
        &self,
        rows: Vec<Vec<ast::Expr>>,
        table: &TableInfo,
        targets: &[usize],
        converter: &mut Converter<'_>,
        source: &Source,
    ) -> Result<Bound, SqlError> {
        let scope = Scope { schema: Arc::new(DFSchema::empty()), ids: Vec::new() };
        let defaults = table.columns.iter().map(default_of).collect::<Result<Vec<_>, _>>()?;
        let mut result = Vec::with_capacity(rows.len());
        for cells in rows {
            check_width(cells.len(), targets.len(), table)?;
            let mut row = defaults.clone();
            for (cell, ordinal) in cells.into_iter().zip(targets) {
                if is_default(&cell) {
                    continue;
                }
                let column = &table.columns[*ordinal];
                refuse_value(column).map_err(|error| at(error, &cell))?;
                let text = match &cell {
                    ast::Expr::Value(value) => Some(value.span.start),
                    _ => None,
                };
                let expr = match constant(&cell) {
                    Some(expr) => expr,
                    None => self.expression(cell, &scope, converter, source)?,
                };
                let assigned = assign(expr, column.ty).map_err(|error| {
                    let mut error = error;
                    error.message = format!("column {}: {}", column.name, error.message);
                    match text.filter(|start| start.line > 0) {
                        Some(start) => error.at(start.line as u32, start.column as u32),
                        None => error,
                    }
                })?;
                converter.note_parameters(&assigned);
                row[*ordinal] = assigned;
            }
            result.push(row);
        }
        Ok(rows_of(table, result, converter))
    }

    fn insert_query(
        &self,
        query: ast::Query,
        table: &TableInfo,
        targets: &[usize],
        converter: &mut Converter<'_>,
        source: &Source,
    ) -> Result<Bound, SqlError> {
        for ordinal in targets {
            let column = &table.columns[*ordinal];
            refuse_value(column).map_err(|error| at_name(error, &column.name, source))?;
        }
        let bound = self.bind(query, converter, source)?;
        check_width(bound.ids.len(), targets.len(), table)?;
        let mut expressions = Vec::new();
        let mut ids: Vec<Id> = Vec::with_capacity(table.columns.len());
        for (ordinal, column) in table.columns.iter().enumerate() {
            let expr = match targets.iter().position(|t| *t == ordinal) {
                Some(position) => assigned_value(converter, &bound, bound.ids[position], column.ty)
                    .map_err(|error| at_name(error, &bound.names[position], source))?,
                None => default_of(column)?,
            };
            ids.push(match expr {
                Expr::Column { index, .. } => index,
                expr => {
                    let id = converter.columns.add(column.ty, true);
                    expressions.push((id, expr));
                    id
                }
            });
        }
        let names = table.columns.iter().map(|c| c.name.clone()).collect();
        Ok(Bound { rel: bound.rel.extend(expressions), ids, names })
    }

    fn conflict(
        &self,
        or: Option<SqliteOnConflict>,
        on: Option<OnInsert>,
        table: &TableInfo,
        alias: &str,
        converter: &mut Converter<'_>,
        source: &Source,
    ) -> Result<Conflict, SqlError> {
        match (or, on) {
            (None | Some(SqliteOnConflict::Abort | SqliteOnConflict::Fail), None) => Ok(Conflict::Abort),
            (Some(SqliteOnConflict::Replace), None) => Ok(Conflict::Replace),
            (Some(SqliteOnConflict::Ignore), None) => Ok(Conflict::Ignore),
            (None, Some(OnInsert::OnConflict(conflict))) => {
                let target = match conflict.conflict_target {
                    None => Vec::new(),
                    Some(ConflictTarget::Columns(columns)) => conflict_target(&columns, table, source)?,
                    Some(ConflictTarget::OnConstraint(_)) => {
                        return Err(SqlError::unsupported("ON CONFLICT ON CONSTRAINT").hint("name the columns"));
                    }
                };
                match conflict.action {
                    OnConflictAction::DoNothing => {
                        let keys = usize::from(!table.primary_key.is_empty())
                            + table.indexes.iter().filter(|i| i.unique).count();
                        if target.is_empty() || keys == 1 {
                            return Ok(Conflict::Ignore);
                        }
                        // Only a conflict on this key is to be ignored: an update that never happens.
                        let never = Expr::literal(Value::Boolean(false), SqlType::Boolean);
                        Ok(Conflict::Update { target, assignments: Vec::new(), condition: Some(never) })
                    }
                    OnConflictAction::DoUpdate(update) => {
                        if target.is_empty() {
                            let error = SqlError::syntax("ON CONFLICT DO UPDATE needs the columns of a key");
                            return Err(at_name(error, "conflict", source));
                        }
                        self.conflict_update(update, target, table, alias, converter, source)
                    }
                }
            }
            (_, Some(OnInsert::DuplicateKeyUpdate(_))) => {
                Err(SqlError::unsupported("ON DUPLICATE KEY UPDATE").hint("use ON CONFLICT (…) DO UPDATE"))
            }
            (Some(SqliteOnConflict::Rollback), None) => Err(SqlError::unsupported("INSERT OR ROLLBACK")),
            _ => Err(SqlError::syntax("INSERT OR … and ON CONFLICT exclude each other")),
        }
    }

    fn conflict_update(
        &self,
        update: ast::DoUpdate,
        target: Vec<usize>,
        table: &TableInfo,
        alias: &str,
        converter: &mut Converter<'_>,
        source: &Source,
    ) -> Result<Conflict, SqlError> {
        let old = row_scope(table, alias, converter)?;
        let new = row_scope(table, "excluded", converter)?;
        let schema = old.schema.join(&new.schema).map_err(|error| SqlError::internal(error.to_string()))?;
        let ids: Vec<Id> = old.ids.iter().chain(&new.ids).copied().collect();
        let scope = Scope { schema: Arc::new(schema), ids };
        // A bare name is the old row's, as in SQLite.
        let mut qualify = Qualify { table, alias };
        let mut assignments = Vec::new();
        for assignment in update.assignments {
            let ordinal = assigned_column(&assignment.target, table, source)?;
            let column = &table.columns[ordinal];
            let mut value = assignment.value;
            let expr = if is_default(&value) {
                updated_default(column).map_err(|error| at_name(error, &column.name, source))?
            } else {
                refuse_value(column).map_err(|error| at(error, &value))?;
                let _ = value.visit(&mut qualify);
                let expr = self.expression(value, &scope, converter, source)?;
                assign(expr, column.ty).map_err(|error| at_name(error, &column.name, source))?
            };
            converter.note_parameters(&expr);
            assignments.push((ordinal, by_position(expr, &scope.ids)?));
        }
        let condition = match update.selection {
            None => None,
            Some(mut selection) => {
                let _ = selection.visit(&mut qualify);
                let expr = self.expression(selection, &scope, converter, source)?;
                Some(by_position(cast_to(expr, SqlType::Boolean)?, &scope.ids)?)
            }
        };
        Ok(Conflict::Update { target, assignments, condition })
    }
}

/// Puts the table's name before bare column names.
struct Qualify<'t> {
    table: &'t TableInfo,
    alias: &'t str,
}

impl VisitorMut for Qualify<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        if let ast::Expr::Identifier(name) = expr
            && self.table.column(&folded(name)).is_some()
        {
            *expr = ast::Expr::CompoundIdentifier(vec![Ident::with_quote('"', self.alias), name.clone()]);
        }
        ControlFlow::Continue(())
    }
}

fn check_width(given: usize, wanted: usize, table: &TableInfo) -> Result<(), SqlError> {
    if given == wanted {
        return Ok(());
    }
    let message = format!("INSERT into {} gives {given} values for {wanted} columns", table.name);
    Err(SqlError::syntax(message))
}

/// A column's DEFAULT, or NULL.
pub(super) fn default_of(column: &gingham_plan::ColumnInfo) -> Result<Expr, SqlError> {
    match &column.default {
        Some(default) => cast_to(default.expr.clone(), column.ty),
        None => Ok(Expr::literal(Value::Null, column.ty)),
    }
}

/// What UPDATE … SET column = DEFAULT assigns.
pub(super) fn updated_default(column: &gingham_plan::ColumnInfo) -> Result<Expr, SqlError> {
    match column.generated {
        Some(Generated::Identity { .. }) => Err(SqlError::unsupported("a new number for a row that has one")),
        _ => default_of(column),
    }
}

/// Whether an expression is the word DEFAULT.
pub(super) fn is_default(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default"))
}

/// The column that an assignment is to.
pub(super) fn assigned_column(
    target: &AssignmentTarget,
    table: &TableInfo,
    source: &Source,
) -> Result<usize, SqlError> {
    match target {
        AssignmentTarget::ColumnName(name) => {
            let name = name.0.last().and_then(|p| p.as_ident()).map(folded).unwrap_or_default();
            column_of(table, &name, source)
        }
        AssignmentTarget::Tuple(_) => Err(SqlError::unsupported("assignment to several columns at once")),
    }
}

/// The ordinals of a conflict target, which must be a key.
fn conflict_target(columns: &[Ident], table: &TableInfo, source: &Source) -> Result<Vec<usize>, SqlError> {
    let ordinals = columns.iter().map(|c| column_of(table, &folded(c), source)).collect::<Result<Vec<_>, _>>()?;
    let same = |key: &[usize]| key.len() == ordinals.len() && key.iter().all(|c| ordinals.contains(c));
    let unique = |index: &gingham_plan::IndexInfo| {
        index.unique && same(&index.columns.iter().map(|(c, _)| *c).collect::<Vec<_>>())
    };
    if same(&table.primary_key) || table.indexes.iter().any(unique) {
        return Ok(ordinals);
    }
    let error = SqlError::new("42P10", "no primary key or unique index has exactly the columns of ON CONFLICT");
    Err(at_name(error, "conflict", source))
}

/// Constants as INSERT has them by the thousand, without the way through binding.
fn constant(cell: &ast::Expr) -> Option<Expr> {
    let (negative, value) = match cell {
        ast::Expr::Value(value) => (false, &value.value),
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => match &**expr {
            ast::Expr::Value(value) if matches!(value.value, ast::Value::Number(..)) => (true, &value.value),
            _ => return None,
        },
        _ => return None,
    };
    let value = match value {
        ast::Value::Number(text, false) => {
            let text = if negative { format!("-{text}") } else { text.clone() };
            match text.parse() {
                Ok(value) => Value::Int(value),
                Err(_) => parse_decimal(&text).map(|(unscaled, scale)| Value::Decimal { unscaled, scale })?,
            }
        }
        ast::Value::SingleQuotedString(text) => Value::Text(text.clone()),
        ast::Value::Null => return Some(Expr::literal(Value::Null, SqlType::Null)),
        ast::Value::Boolean(value) => Value::Boolean(*value),
        _ => return None,
    };
    let ty = value.sql_type();
    Some(Expr::literal(value, ty))
}

/// Rows with every column of the table.
fn rows_of(table: &TableInfo, rows: Vec<Vec<Expr>>, converter: &mut Converter<'_>) -> Bound {
    let ids: Vec<Id> = table.columns.iter().map(|c| converter.columns.add(c.ty, true)).collect();
    let names = table.columns.iter().map(|c| c.name.clone()).collect();
    Bound { rel: Rel::Values { rows, columns: ids.clone() }, ids, names }
}
