//! CREATE INDEX: on columns, on expressions, on the rows that satisfy a condition.

use super::stored::KnownColumn;
use super::{Session, at_name, column_of};
use crate::text::normalize::at;
use crate::text::{Source, folded, object_name};
use gingham_plan::{CreateIndex, Expr, SpecialIndex, SqlError, Statement, StoredExpr, TableInfo};
use gingham_types::SqlType;
use sqlparser::ast::{self, IndexColumn, IndexType};

impl Session<'_> {
    pub(super) fn create_index(&self, create: ast::CreateIndex, source: &Source) -> Result<Statement, SqlError> {
        if !create.include.is_empty() {
            return Err(SqlError::unsupported("INCLUDE in an index"));
        }
        if !matches!(create.using, None | Some(IndexType::BTree)) || create.concurrently {
            return Err(SqlError::unsupported("USING and CONCURRENTLY in CREATE INDEX"));
        }
        let (_, table) = self.table(&create.table_name, source)?;
        let keys = create.columns.iter().map(|c| self.index_key(c, table, source)).collect::<Result<Vec<_>, _>>()?;
        let name = match &create.name {
            Some(name) => object_name(name)?,
            None => {
                let name = |(key, _): &(StoredExpr, bool)| match key.column() {
                    Some(ordinal) => table.columns[ordinal].name.as_str(),
                    None => "expr",
                };
                format!("{}_{}_idx", table.name, keys.iter().map(name).collect::<Vec<_>>().join("_"))
            }
        };
        let taken = self.binder.catalog.tables.iter().any(|t| t.indexes.iter().any(|i| i.name == name));
        if taken && !create.if_not_exists {
            return Err(at_name(SqlError::new("42P07", format!("index {name} exists already")), &name, source));
        }
        let known: Vec<KnownColumn<'_>> = table.columns.iter().map(KnownColumn::of).collect();
        let what = "the condition of an index";
        let predicate = create.predicate.as_ref();
        let predicate = predicate.map(|e| self.stored_condition(e, &table.name, &known, what, source)).transpose()?;
        let plain: Option<Vec<(usize, bool)>> =
            keys.iter().map(|(key, descending)| Some((key.column()?, *descending))).collect();
        let (columns, special) = match (plain, predicate) {
            (Some(columns), None) => (columns, None),
            (_, predicate) => (Vec::new(), Some(SpecialIndex { keys, predicate })),
        };
        let (unique, if_not_exists) = (create.unique, create.if_not_exists);
        Ok(Statement::CreateIndex(CreateIndex { name, table: table.id, columns, special, unique, if_not_exists }))
    }

    fn index_key(
        &self,
        column: &IndexColumn,
        table: &TableInfo,
        source: &Source,
    ) -> Result<(StoredExpr, bool), SqlError> {
        if column.operator_class.is_some() || column.column.options.nulls_first.is_some() {
            return Err(SqlError::unsupported("operator classes and NULLS FIRST or LAST in an index"));
        }
        let mut expr = &column.column.expr;
        while let ast::Expr::Nested(inner) = expr {
            expr = inner;
        }
        let descending = column.column.options.asc == Some(false);
        if let ast::Expr::Identifier(ident) = expr {
            let ordinal = column_of(table, &folded(ident), source)?;
            let key = StoredExpr { expr: Expr::column(ordinal, table.columns[ordinal].ty), sql: ident.to_string() };
            return Ok((key, descending));
        }
        let known: Vec<KnownColumn<'_>> = table.columns.iter().map(KnownColumn::of).collect();
        let key = self.stored(expr, &table.name, &known, "an expression of an index", source)?;
        if matches!(key.expr.ty(), SqlType::Interval | SqlType::Null) {
            return Err(at(SqlError::unsupported(format!("an index on a value of type {}", key.expr.ty())), expr));
        }
        if key.columns().is_empty() {
            let error = SqlError::new("42P17", "an expression of an index names a column of the table");
            return Err(at(error, expr));
        }
        Ok((key, descending))
    }
}
