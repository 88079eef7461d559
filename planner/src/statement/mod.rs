//! Every kind of statement.

mod alter;
mod constraint;
mod copy;
mod create;
mod index;
mod insert;
mod modify;
mod returning;
mod select;
mod session;
mod stored;
mod table_options;

use crate::bind::{Binder, nearest};
use crate::text::{self, Source, folded, object_name};
use gingham_plan::{Catalog, RouteSetting, SqlError, Statement, TableInfo};
use sqlparser::ast::{self, ObjectName, ObjectType, TransactionAccessMode, TransactionMode};
use sqlparser::keywords::Keyword;

/// One statement's planning.
pub(crate) struct Session<'a> {
    pub(crate) binder: Binder<'a>,
    pub(crate) setting: RouteSetting,
}

impl Session<'_> {
    /// Plans the statement of `source`.
    pub(crate) fn plan(&self, source: &Source) -> Result<Statement, SqlError> {
        if source.tokens.is_empty() {
            return Err(SqlError::syntax("the statement is empty"));
        }
        if let Some(statement) = self.settings(source)? {
            return Ok(statement);
        }
        match source.keyword(0) {
            Keyword::EXPLAIN => return self.explain(source),
            Keyword::END | Keyword::ABORT => {
                let commit = source.keyword(0) == Keyword::END;
                return Ok(if commit { Statement::Commit } else { Statement::Rollback });
            }
            _ => {}
        }
        match text::parse_statement(&source.tokens)? {
            ast::Statement::Query(query) => Ok(Statement::Query(self.select(*query, source)?)),
            ast::Statement::Insert(insert) => self.insert(insert, source),
            ast::Statement::Update(update) => self.update(update, source),
            ast::Statement::Delete(delete) => self.delete(delete, source),
            ast::Statement::CreateTable(create) => self.create_table(create, source),
            ast::Statement::AlterTable(alter) => self.alter_table(alter, source),
            ast::Statement::CreateIndex(create) => self.create_index(create, source),
            ast::Statement::CreateView(create) => self.create_view(create, source),
            ast::Statement::Drop { object_type, if_exists, names, cascade, temporary, .. } => {
                if cascade || temporary {
                    return Err(SqlError::unsupported(if cascade { "CASCADE" } else { "DROP TEMPORARY" }));
                }
                drop_object(object_type, if_exists, &names)
            }
            ast::Statement::StartTransaction { modes, modifier, statements, .. } => {
                if modifier.is_some() || !statements.is_empty() {
                    return Err(SqlError::unsupported("this form of BEGIN"));
                }
                let read_only = modes
                    .iter()
                    .any(|mode| matches!(mode, TransactionMode::AccessMode(TransactionAccessMode::ReadOnly)));
                Ok(Statement::Begin { read_only })
            }
            ast::Statement::Commit { chain: false, .. } => Ok(Statement::Commit),
            ast::Statement::Rollback { chain: false, savepoint: None } => Ok(Statement::Rollback),
            ast::Statement::Rollback { chain: false, savepoint: Some(name) } => {
                Ok(Statement::RollbackTo(folded(&name)))
            }
            ast::Statement::Copy { source: from, to, target, options, legacy_options, .. } => {
                self.copy(copy::CopyParts { source: from, to, target, options, legacy_options }, source)
            }
            ast::Statement::Savepoint { name } => Ok(Statement::Savepoint(folded(&name))),
            ast::Statement::ReleaseSavepoint { name } => Ok(Statement::Release(folded(&name))),
            _ => {
                let words: Vec<String> = (0..2).filter_map(|i| source.word(i)).collect();
                let error = SqlError::unsupported(words.join(" ").to_uppercase());
                let start = source.tokens[0].span.start;
                Err(error.at(start.line as u32, start.column as u32))
            }
        }
    }

    fn explain(&self, source: &Source) -> Result<Statement, SqlError> {
        let mut skipped = 1;
        let mut analyze = false;
        loop {
            match source.keyword(skipped) {
                Keyword::ANALYZE => analyze = true,
                Keyword::VERBOSE => {}
                _ if source.word(skipped).as_deref() == Some("query")
                    && source.word(skipped + 1).as_deref() == Some("plan") =>
                {
                    skipped += 1;
                }
                _ => break,
            }
            skipped += 1;
        }
        let inner = Source { tokens: source.tokens[skipped..].to_vec(), parameter_count: source.parameter_count };
        if inner.keyword(0) == Keyword::EXPLAIN {
            return Err(SqlError::syntax("EXPLAIN of EXPLAIN"));
        }
        Ok(Statement::Explain { analyze, statement: Box::new(self.plan(&inner)?) })
    }

    /// The table of a name, and its position in the catalog.
    fn table(&self, name: &ObjectName, source: &Source) -> Result<(usize, &TableInfo), SqlError> {
        let folded = object_name(name)?;
        let catalog: &Catalog = self.binder.catalog;
        match catalog.tables.iter().position(|t| t.name == folded) {
            Some(index) => Ok((index, &catalog.tables[index])),
            None if catalog.view(&folded).is_some() => {
                let error = SqlError::new("42809", format!("{folded} is a view, not a table"));
                Err(at_name(error, &folded, source))
            }
            None => {
                let error = SqlError::new("42P01", format!("table {folded} does not exist"));
                let near = nearest(&folded, catalog.tables.iter().map(|t| t.name.as_str()));
                let error = match near {
                    Some(near) => error.hint(format!("did you mean {near}?")),
                    None => error,
                };
                Err(at_name(error, &folded, source))
            }
        }
    }
}

/// The ordinal of a column of `table`.
fn column_of(table: &TableInfo, name: &str, source: &Source) -> Result<usize, SqlError> {
    table.column(name).ok_or_else(|| {
        let error = SqlError::new("42703", format!("column {name} of table {} does not exist", table.name));
        let near = nearest(name, table.columns.iter().map(|c| c.name.as_str()));
        let error = match near {
            Some(near) => error.hint(format!("did you mean {near}?")),
            None => error,
        };
        at_name(error, name, source)
    })
}

/// The error at the first place where the text names `name`.
fn at_name(error: SqlError, name: &str, source: &Source) -> SqlError {
    match source.find(name) {
        Some((line, column)) => error.at(line, column),
        None => error,
    }
}

fn drop_object(kind: ObjectType, if_exists: bool, names: &[ObjectName]) -> Result<Statement, SqlError> {
    let mut folded = names.iter().map(object_name).collect::<Result<Vec<_>, _>>()?;
    match kind {
        ObjectType::Table => Ok(Statement::DropTable { names: folded, if_exists }),
        ObjectType::View => Ok(Statement::DropView { names: folded, if_exists }),
        ObjectType::Index => match (folded.pop(), folded.is_empty()) {
            (Some(name), true) => Ok(Statement::DropIndex { name, if_exists }),
            _ => Err(SqlError::unsupported("DROP INDEX of several indexes")),
        },
        other => Err(SqlError::unsupported(format!("DROP {other}"))),
    }
}
