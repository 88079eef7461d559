//! CREATE TABLE and VIEW.

use super::constraint::{Declared, generated, immediate, make_identity, serial};
use super::table_options::Options;
use super::{Session, at_name};
use crate::bind::from_sql;
use crate::text::{Source, folded, object_name};
use gingham_plan::{ColumnDefinition, CreateTable, SqlError, Statement};
use gingham_types::SqlType;
use sqlparser::ast::{self, ColumnOption, IndexColumn, TableConstraint};

/// Keys and constraints as they are declared.
#[derive(Default)]
pub(super) struct Keys<'a> {
    pub(super) primary: Vec<usize>,
    pub(super) unique: Vec<Vec<usize>>,
    pub(super) declared: Declared<'a>,
}

impl Session<'_> {
    pub(super) fn create_table(&self, create: ast::CreateTable, source: &Source) -> Result<Statement, SqlError> {
        let refused = [
            (create.or_replace, "OR REPLACE"),
            (create.temporary, "TEMPORARY"),
            (create.external, "EXTERNAL"),
            (create.like.is_some() || create.clone.is_some(), "LIKE"),
            (create.partition_by.is_some() || create.partition_of.is_some(), "PARTITION"),
            (create.inherits.is_some(), "INHERITS"),
            (create.without_rowid, "WITHOUT ROWID"),
            (create.strict, "STRICT"),
            (create.on_commit.is_some(), "ON COMMIT"),
        ];
        if let Some((_, what)) = refused.iter().find(|(present, _)| *present) {
            return Err(SqlError::unsupported(format!("CREATE TABLE … {what}")));
        }
        let name = object_name(&create.name)?;
        self.check_free(&name, create.if_not_exists, source)?;
        let options = Options::read(&create.table_options, source)?;
        let mut keys = Keys::default();
        let mut columns: Vec<ColumnDefinition> = Vec::with_capacity(create.columns.len());
        for (ordinal, column) in create.columns.iter().enumerate() {
            let definition = self.column(column, ordinal, &mut keys, source)?;
            if columns.iter().any(|c| c.name == definition.name) {
                let error = SqlError::new("42701", format!("column {} is declared more than once", definition.name));
                return Err(at_name(error, &definition.name, source));
            }
            columns.push(definition);
        }
        let query = match create.query {
            None => None,
            Some(query) => {
                if source.parameter_count > 0 {
                    return Err(SqlError::new("42P02", "CREATE TABLE takes no parameters"));
                }
                let query = self.select(*query, source)?;
                if columns.is_empty() {
                    for (position, output) in query.columns.iter().enumerate() {
                        let taken = query.columns[..position].iter().any(|c| c.name == output.name);
                        if taken {
                            let message = format!("column {} appears more than once", output.name);
                            return Err(SqlError::new("42701", message).hint("give it an alias"));
                        }
                        let ty = storable(output.ty, &output.name)?;
                        columns.push(plain_column(output.name.clone(), ty));
                    }
                } else {
                    return Err(SqlError::unsupported("CREATE TABLE with both columns and AS"));
                }
                Some(query)
            }
        };
        if columns.is_empty() {
            return Err(SqlError::syntax(format!("table {name} has no columns")));
        }
        for constraint in &create.constraints {
            table_constraint(constraint, &columns, &mut keys, source)?;
        }
        for ordinal in &keys.primary {
            columns[*ordinal].nullable = false;
        }
        let sort_by = options.sort_by(&columns, source)?;
        let declared = std::mem::take(&mut keys.declared);
        let resolved = self.resolve(&declared, &name, &mut columns, &keys, source)?;
        Ok(Statement::CreateTable(CreateTable {
            name,
            if_not_exists: create.if_not_exists,
            columns,
            primary_key: keys.primary,
            unique: keys.unique,
            checks: resolved.checks,
            foreign_keys: resolved.foreign_keys,
            storage: options.storage,
            sort_by,
            source: query,
        }))
    }

    pub(super) fn check_free(&self, name: &str, if_not_exists: bool, source: &Source) -> Result<(), SqlError> {
        let catalog = self.binder.catalog;
        let what = if catalog.table(name).is_some() {
            "table"
        } else if catalog.view(name).is_some() {
            "view"
        } else {
            return Ok(());
        };
        if if_not_exists {
            return Ok(());
        }
        Err(at_name(SqlError::new("42P07", format!("{what} {name} exists already")), name, source))
    }

    pub(super) fn column<'a>(
        &self,
        column: &'a ast::ColumnDef,
        ordinal: usize,
        keys: &mut Keys<'a>,
        source: &Source,
    ) -> Result<ColumnDefinition, SqlError> {
        let name = folded(&column.name);
        let counts = serial(&column.data_type);
        let ty = counts.map_or_else(|| from_sql(&column.data_type), Ok).and_then(|ty| storable(ty, &name));
        let ty = ty.map_err(|error| at_name(error, &column.name.value, source))?;
        let mut definition = plain_column(name, ty);
        if counts.is_some() {
            make_identity(&mut definition, false)?;
        }
        for option in &column.options {
            let refused = match &option.option {
                ColumnOption::Null | ColumnOption::Comment(_) => continue,
                ColumnOption::NotNull => {
                    definition.nullable = false;
                    continue;
                }
                ColumnOption::Default(expr) => {
                    definition.default = self.stored_as(expr, ty, "", &[], "a DEFAULT", source).map(Some)?;
                    continue;
                }
                ColumnOption::PrimaryKey(key) => {
                    immediate(key.characteristics.as_ref(), source)?;
                    set_primary(keys, vec![ordinal], source)?;
                    continue;
                }
                ColumnOption::Unique(key) => {
                    immediate(key.characteristics.as_ref(), source)?;
                    keys.unique.push(vec![ordinal]);
                    continue;
                }
                ColumnOption::ForeignKey(key) => {
                    keys.declared.foreign_keys.push((option.name.as_ref(), Some(ordinal), key));
                    continue;
                }
                ColumnOption::Check(check) => {
                    keys.declared.checks.push((option.name.as_ref(), check));
                    continue;
                }
                ColumnOption::Generated { .. } => {
                    generated(&option.option, &mut definition, ordinal, &mut keys.declared)
                        .map_err(|error| at_name(error, &column.name.value, source))?;
                    continue;
                }
                ColumnOption::Collation(_) => "COLLATE",
                other => &other.to_string(),
            };
            let error = SqlError::unsupported(format!("{refused} of column {}", definition.name));
            return Err(at_name(error, &column.name.value, source));
        }
        Ok(definition)
    }

    pub(super) fn create_view(&self, create: ast::CreateView, source: &Source) -> Result<Statement, SqlError> {
        if create.materialized || create.temporary || create.secure || create.or_alter {
            return Err(SqlError::unsupported("any but a plain view"));
        }
        if source.parameter_count > 0 {
            return Err(SqlError::new("42P02", "a view has no parameters"));
        }
        let name = object_name(&create.name)?;
        let catalog = self.binder.catalog;
        let blocked = catalog.table(&name).is_some() || !create.or_replace;
        if blocked {
            self.check_free(&name, create.if_not_exists && catalog.table(&name).is_none(), source)?;
        }
        let columns: Vec<String> = create.columns.iter().map(|c| folded(&c.name)).collect();
        let sql = create.query.to_string();
        let query = self.select(*create.query, source)?;
        if !columns.is_empty() && columns.len() != query.columns.len() {
            let message =
                format!("the view names {} columns and its query gives {}", columns.len(), query.columns.len());
            return Err(SqlError::syntax(message));
        }
        let (replace, if_not_exists) = (create.or_replace, create.if_not_exists);
        Ok(Statement::CreateView { name, columns, sql, replace, if_not_exists })
    }
}

fn plain_column(name: String, ty: SqlType) -> ColumnDefinition {
    ColumnDefinition { name, ty, nullable: true, default: None, generated: None }
}

fn storable(ty: SqlType, column: &str) -> Result<SqlType, SqlError> {
    match ty {
        SqlType::Interval => Err(SqlError::unsupported(format!("a column of type INTERVAL ({column})"))),
        SqlType::Null => Ok(SqlType::Text),
        other => Ok(other),
    }
}

fn set_primary(keys: &mut Keys<'_>, columns: Vec<usize>, source: &Source) -> Result<(), SqlError> {
    if !keys.primary.is_empty() {
        let error = SqlError::new("42P16", "a table has one primary key");
        return Err(at_name(error, "primary", source));
    }
    keys.primary = columns;
    Ok(())
}

fn table_constraint<'a>(
    constraint: &'a TableConstraint,
    columns: &[ColumnDefinition],
    keys: &mut Keys<'a>,
    source: &Source,
) -> Result<(), SqlError> {
    let ordinals = |list: &[IndexColumn]| {
        let mut ordinals = Vec::with_capacity(list.len());
        for column in list {
            let ast::Expr::Identifier(ident) = &column.column.expr else {
                return Err(SqlError::unsupported("a key over an expression"));
            };
            let name = folded(ident);
            let Some(ordinal) = columns.iter().position(|c| c.name == name) else {
                let error = SqlError::new("42703", format!("column {name} does not exist"));
                return Err(crate::text::ident_at(error, Some(ident)));
            };
            if ordinals.contains(&ordinal) {
                return Err(crate::text::ident_at(
                    SqlError::new("42701", format!("column {name} is in the key twice")),
                    Some(ident),
                ));
            }
            ordinals.push(ordinal);
        }
        Ok(ordinals)
    };
    match constraint {
        TableConstraint::PrimaryKey(key) => {
            immediate(key.characteristics.as_ref(), source)?;
            set_primary(keys, ordinals(&key.columns)?, source)
        }
        TableConstraint::Unique(key) => {
            immediate(key.characteristics.as_ref(), source)?;
            keys.unique.push(ordinals(&key.columns)?);
            Ok(())
        }
        TableConstraint::ForeignKey(key) => {
            keys.declared.foreign_keys.push((key.name.as_ref(), None, key));
            Ok(())
        }
        TableConstraint::Check(check) => {
            keys.declared.checks.push((check.name.as_ref(), check));
            Ok(())
        }
        other => Err(SqlError::unsupported(format!("the constraint {other}"))),
    }
}
