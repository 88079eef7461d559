//! WITH (…) of CREATE TABLE.

use super::at_name;
use crate::text::{Source, folded, parse};
use gingham_plan::{ColumnDefinition, SqlError, Storage};
use sqlparser::ast::{self, CreateTableOptions, Ident, SqlOption};
use sqlparser::parser::Parser;

/// What the options say.
pub(super) struct Options {
    pub(super) storage: Storage,
    /// The name of the option and its text.
    sort_by: Option<(Ident, String)>,
}

impl Options {
    pub(super) fn read(options: &CreateTableOptions, source: &Source) -> Result<Self, SqlError> {
        let mut read = Self { storage: Storage::Hybrid, sort_by: None };
        let options = match options {
            CreateTableOptions::None => return Ok(read),
            CreateTableOptions::With(options) => options,
            _ => return Err(SqlError::unsupported("table options other than WITH (…)")),
        };
        for option in options {
            let SqlOption::KeyValue { key, value } = option else {
                return Err(SqlError::unsupported(format!("the table option {option}")));
            };
            let word = match value {
                ast::Expr::Value(value) => value.value.clone().into_string().unwrap_or_default(),
                ast::Expr::Identifier(ident) => ident.value.clone(),
                _ => String::new(),
            };
            match folded(key).as_str() {
                "storage" => {
                    read.storage = match word.to_lowercase().as_str() {
                        "hybrid" => Storage::Hybrid,
                        "row" => Storage::Row,
                        "column" => Storage::Column,
                        _ => {
                            let error = SqlError::new("22023", format!("storage cannot be {value}"));
                            return Err(at_name(error.hint("it is 'hybrid', 'row' or 'column'"), &key.value, source));
                        }
                    };
                }
                "sort_by" => read.sort_by = Some((key.clone(), word)),
                _ => {
                    let error = SqlError::unsupported(format!("the table option {key}"));
                    return Err(at_name(error.hint("the options are storage and sort_by"), &key.value, source));
                }
            }
        }
        Ok(read)
    }

    /// The columns that rows are to be sorted by, and which of them descend.
    pub(super) fn sort_by(
        &self,
        columns: &[ColumnDefinition],
        source: &Source,
    ) -> Result<Vec<(usize, bool)>, SqlError> {
        let Some((option, text)) = &self.sort_by else { return Ok(Vec::new()) };
        let at = |error: SqlError| at_name(error, &option.value, source);
        if self.storage != Storage::Column {
            let error = SqlError::new("22023", "sort_by is for tables in column storage");
            return Err(at(error.hint("add storage = 'column'")));
        }
        let malformed = || {
            let error = SqlError::new("22023", format!("sort_by cannot be '{text}'"));
            at(error.hint("it names columns, such as 'day, amount DESC'"))
        };
        let tokens = Source::read(text).map_err(|_| malformed())?.tokens;
        let keys = parse(&tokens, |parser| parser.parse_comma_separated(Parser::parse_order_by_expr));
        let mut sort_by: Vec<(usize, bool)> = Vec::new();
        for key in keys.map_err(|_| malformed())? {
            let (ast::Expr::Identifier(name), None, None) = (&key.expr, key.options.nulls_first, &key.with_fill) else {
                return Err(malformed());
            };
            let name = folded(name);
            let Some(ordinal) = columns.iter().position(|column| column.name == name) else {
                return Err(at(SqlError::new("42703", format!("sort_by names column {name}, which does not exist"))));
            };
            if sort_by.iter().any(|(known, _)| *known == ordinal) {
                return Err(at(SqlError::new("42701", format!("sort_by names column {name} more than once"))));
            }
            sort_by.push((ordinal, key.options.asc == Some(false)));
        }
        Ok(sort_by)
    }
}
