//! UPDATE and DELETE: a query for the rows with their locators, as SQL would write it.

use super::constraint::refuse_value;
use super::insert::{assigned_column, is_default, updated_default};
use super::select::Bound;
use super::{Session, at_name};
use crate::bind::{LOCATOR, TARGET};
use crate::convert::{Converter, assign, cast_to, constant_behind};
use crate::logical::Id;
use crate::text::normalize::at;
use crate::text::{self, Source, folded};
use gingham_plan::{Delete, Expr, SqlError, Statement, TableInfo, Update};
use gingham_types::{SqlType, Value};
use sqlparser::ast::{self, FromTable, Ident, ObjectName, SelectItem, SetExpr, TableFactor, TableWithJoins};

/// The table that a statement changes.
struct Target<'t> {
    index: usize,
    table: &'t TableInfo,
    /// The name that expressions know it by.
    alias: String,
}

impl Session<'_> {
    pub(super) fn update(&self, update: ast::Update, source: &Source) -> Result<Statement, SqlError> {
        if update.from.is_some() {
            return Err(at_name(
                SqlError::unsupported("UPDATE … FROM").hint("use a subquery in SET and WHERE"),
                "from",
                source,
            ));
        }
        if update.or.is_some() || update.limit.is_some() || !update.order_by.is_empty() || update.output.is_some() {
            return Err(SqlError::unsupported("this form of UPDATE"));
        }
        let target = self.target(&update.table, source)?;
        let mut values: Vec<Option<ast::Expr>> = vec![None; target.table.columns.len()];
        for assignment in update.assignments {
            let ordinal = assigned_column(&assignment.target, target.table, source)?;
            if !is_default(&assignment.value) {
                let refused = refuse_value(&target.table.columns[ordinal]);
                refused.map_err(|error| at(error, &assignment.value))?;
            }
            if values[ordinal].replace(assignment.value).is_some() {
                let name = &target.table.columns[ordinal].name;
                let error = SqlError::new("42601", format!("column {name} is assigned more than once"));
                return Err(at_name(error, name, source));
            }
        }
        let assigned: Vec<bool> = values.iter().map(Option::is_some).collect();
        let defaulted: Vec<bool> = values.iter().map(|v| v.as_ref().is_some_and(is_default)).collect();
        let null = || ast::Expr::value(ast::Value::Null);
        let mut items: Vec<ast::Expr> = Vec::with_capacity(values.len() + 1);
        for (column, value) in target.table.columns.iter().zip(values) {
            items.push(match value {
                Some(value) if is_default(&value) => null(),
                Some(value) => value,
                None => target.column(&column.name),
            });
        }
        items.push(target.column(LOCATOR));
        let mut converter = Converter::new(self.binder.catalog, source);
        let bound = self.rows(&target, items, update.selection, &mut converter, source)?;
        let mut expressions = Vec::new();
        let mut ids: Vec<Id> = Vec::with_capacity(bound.ids.len());
        for (ordinal, column) in target.table.columns.iter().enumerate() {
            let expr = if defaulted[ordinal] {
                updated_default(column).map_err(|error| at_name(error, &column.name, source))?
            } else {
                let id = bound.ids[ordinal];
                if assigned[ordinal] {
                    assigned_value(&mut converter, &bound, id, column.ty)
                        .map_err(|error| at_name(error, &column.name, source))?
                } else {
                    converter.columns.expr(id)
                }
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
        ids.extend(bound.ids.last());
        let returning = self.returning(update.returning, target.table, &target.alias, &mut converter, source)?;
        let bound = Bound { rel: bound.rel.extend(expressions), ids, names: target.names() };
        let query = self.finish(converter, bound)?;
        Ok(Statement::Update(Update { table: target.table.id, source: query, returning }))
    }

    pub(super) fn delete(&self, delete: ast::Delete, source: &Source) -> Result<Statement, SqlError> {
        if delete.using.is_some() || !delete.tables.is_empty() {
            return Err(at_name(
                SqlError::unsupported("DELETE … USING").hint("use a subquery in WHERE"),
                "using",
                source,
            ));
        }
        if delete.limit.is_some() || !delete.order_by.is_empty() || delete.output.is_some() {
            return Err(SqlError::unsupported("DELETE with ORDER BY or LIMIT"));
        }
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let [from] = from.as_slice() else { return Err(SqlError::unsupported("DELETE from several tables")) };
        let target = self.target(from, source)?;
        let table = target.table;
        let all = delete.returning.is_some();
        let wanted = |ordinal: usize| {
            all || table.primary_key.contains(&ordinal)
                || table.indexes.iter().any(|i| i.columns.iter().any(|(c, _)| *c == ordinal))
        };
        // What nobody looks at is not read.
        let mut items: Vec<ast::Expr> = Vec::with_capacity(table.columns.len() + 1);
        for (ordinal, column) in table.columns.iter().enumerate() {
            let item = if wanted(ordinal) { target.column(&column.name) } else { ast::Expr::value(ast::Value::Null) };
            items.push(item);
        }
        items.push(target.column(LOCATOR));
        let mut converter = Converter::new(self.binder.catalog, source);
        let bound = self.rows(&target, items, delete.selection, &mut converter, source)?;
        let mut expressions = Vec::new();
        let mut ids = Vec::with_capacity(bound.ids.len());
        for (ordinal, column) in table.columns.iter().enumerate() {
            if wanted(ordinal) {
                ids.push(bound.ids[ordinal]);
            } else {
                let id = converter.columns.add(column.ty, true);
                expressions.push((id, Expr::literal(Value::Null, column.ty)));
                ids.push(id);
            }
        }
        ids.extend(bound.ids.last());
        let returning = self.returning(delete.returning, table, &target.alias, &mut converter, source)?;
        let bound = Bound { rel: bound.rel.extend(expressions), ids, names: target.names() };
        let query = self.finish(converter, bound)?;
        Ok(Statement::Delete(Delete { table: table.id, source: query, returning }))
    }

    fn target(&self, from: &TableWithJoins, source: &Source) -> Result<Target<'_>, SqlError> {
        let TableFactor::Table { name, alias, args: None, .. } = &from.relation else {
            return Err(SqlError::unsupported("changing anything but a table"));
        };
        if !from.joins.is_empty() {
            return Err(SqlError::unsupported("changing a join"));
        }
        let (index, table) = self.table(name, source)?;
        let alias = alias.as_ref().map_or_else(|| table.name.clone(), |a| folded(&a.name));
        Ok(Target { index, table, alias })
    }

    /// `SELECT items FROM target WHERE selection`.
    fn rows(
        &self,
        target: &Target<'_>,
        items: Vec<ast::Expr>,
        selection: Option<ast::Expr>,
        converter: &mut Converter<'_>,
        source: &Source,
    ) -> Result<Bound, SqlError> {
        let template = Source::read("SELECT 0 FROM t AS t")?;
        let mut query = text::parse(&template.tokens, |parser| parser.parse_query())?;
        let SetExpr::Select(select) = &mut *query.body else {
            return Err(SqlError::internal("a SELECT is not one"));
        };
        select.projection = items
            .into_iter()
            .enumerate()
            .map(|(i, expr)| SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', format!("\0{i}")) })
            .collect();
        if let Some(TableWithJoins { relation: TableFactor::Table { name, alias, .. }, .. }) = select.from.first_mut() {
            *name = ObjectName::from(vec![Ident::with_quote('"', TARGET)]);
            if let Some(alias) = alias {
                alias.name = Ident::with_quote('"', &target.alias);
            }
        }
        select.selection = selection;
        self.binder.set_target(target.index);
        let mut bound = self.bind(*query, converter, source)?;
        if let crate::logical::Rel::Scan(scan) = &mut bound.rel {
            scan.alias.clone_from(&target.table.name);
        }
        Ok(bound)
    }
}

impl Target<'_> {
    /// A reference to a column.
    fn column(&self, name: &str) -> ast::Expr {
        ast::Expr::CompoundIdentifier(vec![Ident::with_quote('"', &self.alias), Ident::with_quote('"', name)])
    }

    fn names(&self) -> Vec<String> {
        self.table.columns.iter().map(|c| c.name.clone()).chain(["locator".to_owned()]).collect()
    }
}

/// The value of column `id` of `bound` brought to the type of the column it is assigned
/// to. A constant takes that type itself, so that `SET d = '2024-01-01'` is a date and not a cast of text.
pub(super) fn assigned_value(
    converter: &mut Converter<'_>,
    bound: &Bound,
    id: Id,
    ty: SqlType,
) -> Result<Expr, SqlError> {
    let given = constant_behind(&bound.rel, id).unwrap_or_else(|| converter.columns.expr(id));
    let expr = if given.ty() == SqlType::Null { cast_to(given, ty)? } else { assign(given, ty)? };
    converter.note_parameters(&expr);
    Ok(expr)
}
