//! Settings, reports, descriptions and upkeep: SET, PRAGMA, SHOW, DESCRIBE, CHECKPOINT,
//! VACUUM, CLUSTER.
//!
//! Read from tokens: the parser's grammar for them is narrower than what people write.

use super::Session;
use crate::text::Source;
use crate::text::source::position;
use gingham_plan::{
    Catalog, Expr, ForeignAction, Generated, Node, OutputColumn, Query, SqlError, Statement, TableInfo,
};
use gingham_types::{SqlType, Value, parse_decimal};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

impl Session<'_> {
    /// The statement, if it is one of these.
    pub(super) fn settings(&self, source: &Source) -> Result<Option<Statement>, SqlError> {
        let tokens = match source.tokens.split_last() {
            Some((last, rest)) if last.token == Token::SemiColon => rest,
            _ => source.tokens.as_slice(),
        };
        let statement = match source.word(0).as_deref() {
            Some("set") => set(tokens, source)?,
            Some("pragma") => pragma(tokens, source)?,
            Some("show") => self.show(tokens, source)?,
            Some("checkpoint") if tokens.len() == 1 => Statement::Checkpoint,
            Some("cluster") => self.cluster(tokens, source)?,
            Some("vacuum") => match tokens.get(1) {
                None => Statement::Vacuum,
                Some(extra) => {
                    let (line, column) = position(extra.span.start);
                    let error = SqlError::unsupported("VACUUM of anything but the whole database");
                    return Err(error.at(line, column));
                }
            },
            Some("describe" | "desc") => match source.keyword(1) {
                Keyword::SELECT | Keyword::WITH | Keyword::VALUES => return Ok(None),
                _ => self.describe(tokens, source)?,
            },
            _ => return Ok(None),
        };
        Ok(Some(statement))
    }

    /// CLUSTER [table].
    fn cluster(&self, tokens: &[TokenWithSpan], source: &Source) -> Result<Statement, SqlError> {
        if tokens.len() == 1 {
            return Ok(Statement::Cluster(None));
        }
        let (name, end) = dotted_name(tokens, 1, source)?;
        if let Some(extra) = tokens.get(end) {
            return Err(unexpected(extra));
        }
        let name = name.strip_prefix("main.").or_else(|| name.strip_prefix("public.")).unwrap_or(&name);
        match self.binder.catalog.table(name) {
            Some(table) => Ok(Statement::Cluster(Some(table.id))),
            None => {
                let (line, column) = position(tokens[1].span.start);
                Err(SqlError::new("42P01", format!("table {name} does not exist")).at(line, column))
            }
        }
    }

    fn show(&self, tokens: &[TokenWithSpan], source: &Source) -> Result<Statement, SqlError> {
        let catalog = self.binder.catalog;
        if source.word(1).as_deref() == Some("tables") && tokens.len() == 2 {
            let mut names: Vec<(&str, &str)> = catalog
                .tables
                .iter()
                .map(|t| (t.name.as_str(), t.storage.name()))
                .chain(catalog.views.iter().map(|v| (v.name.as_str(), "view")))
                .collect();
            names.sort_unstable();
            let rows = names.into_iter().map(|(name, storage)| vec![text(name), text(storage)]).collect();
            return Ok(Statement::Query(report(&["name", "storage"], rows)));
        }
        let name = dotted_name(tokens, 1, source)?;
        if name.1 != tokens.len() {
            return Err(unexpected(&tokens[name.1]));
        }
        Ok(Statement::Show { name: name.0 })
    }

    fn describe(&self, tokens: &[TokenWithSpan], source: &Source) -> Result<Statement, SqlError> {
        let start = if source.word(1).as_deref() == Some("table") && tokens.len() > 2 { 2 } else { 1 };
        let (name, end) = dotted_name(tokens, start, source)?;
        if let Some(extra) = tokens.get(end) {
            return Err(unexpected(extra));
        }
        let name = name.strip_prefix("main.").or_else(|| name.strip_prefix("public.")).unwrap_or(&name);
        if let Some(view) = self.binder.catalog.view(name) {
            let view_source = Source::read(&format!("SELECT * FROM \"{}\"", view.name.replace('"', "\"\"")))?;
            let query = crate::text::parse(&view_source.tokens, |parser| parser.parse_query())?;
            let columns = self.select(*query, &view_source)?.columns;
            let row =
                |c: OutputColumn| vec![text(&c.name), text(&c.ty.to_string()), text("YES"), null(), null(), null()];
            return Ok(Statement::Query(report(DESCRIBE_COLUMNS, columns.into_iter().map(row).collect())));
        }
        let ident = sqlparser::ast::ObjectName::from(vec![sqlparser::ast::Ident::with_quote('"', name)]);
        match self.table(&ident, source) {
            Ok((_, table)) => {
                let rows = describe_table(table, self.binder.catalog);
                Ok(Statement::Query(report(DESCRIBE_COLUMNS, rows)))
            }
            Err(error) => Err(error),
        }
    }
}

const DESCRIBE_COLUMNS: &[&str] = &["column_name", "column_type", "null", "key", "default", "extra"];

fn describe_table(table: &TableInfo, catalog: &Catalog) -> Vec<Vec<Expr>> {
    let row = |(ordinal, column): (usize, &gingham_plan::ColumnInfo)| {
        let unique = table.indexes.iter().any(|i| i.unique_columns().is_some_and(|key| key == [ordinal]));
        let key = if table.primary_key.contains(&ordinal) {
            text("PRI")
        } else if unique {
            text("UNI")
        } else {
            null()
        };
        let default = column.default.as_ref().map_or_else(null, |e| text(&e.sql));
        let nullable = if column.nullable { "YES" } else { "NO" };
        let extra = extra(table, ordinal, catalog);
        let extra = if extra.is_empty() { null() } else { text(&extra.join(", ")) };
        vec![text(&column.name), text(&column.ty.to_string()), text(nullable), key, default, extra]
    };
    table.columns.iter().enumerate().map(row).collect()
}

/// What else there is to a column: generation, CHECK and FOREIGN KEY.
fn extra(table: &TableInfo, ordinal: usize, catalog: &Catalog) -> Vec<String> {
    let mut extra = Vec::new();
    match &table.columns[ordinal].generated {
        Some(Generated::Identity { always: true, .. }) => extra.push("GENERATED ALWAYS AS IDENTITY".to_owned()),
        Some(Generated::Identity { .. }) => extra.push("GENERATED BY DEFAULT AS IDENTITY".to_owned()),
        Some(Generated::Stored(stored)) => extra.push(format!("GENERATED ALWAYS AS ({}) STORED", stored.sql)),
        None => {}
    }
    let checks = table.checks.iter().filter(|check| check.condition.columns().contains(&ordinal));
    extra.extend(checks.map(|check| format!("CHECK ({})", check.condition.sql)));
    for key in table.foreign_keys.iter().filter(|key| key.columns.contains(&ordinal)) {
        let Some(parent) = catalog.table_by_id(key.parent) else { continue };
        let names: Vec<&str> = key.parent_columns.iter().map(|c| parent.columns[*c].name.as_str()).collect();
        let mut sql = format!("REFERENCES {} ({})", parent.name, names.join(", "));
        for (event, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
            if action != ForeignAction::NoAction {
                sql += &format!(" ON {event} {}", action.sql());
            }
        }
        extra.push(sql);
    }
    extra
}

fn text(value: &str) -> Expr {
    Expr::literal(Value::Text(value.to_owned()), SqlType::Text)
}

const fn null() -> Expr {
    Expr::literal(Value::Null, SqlType::Text)
}

/// Constant rows of text as a query.
fn report(names: &[&str], rows: Vec<Vec<Expr>>) -> Query {
    let types = vec![SqlType::Text; names.len()];
    let columns = names.iter().map(|n| OutputColumn { name: (*n).to_owned(), ty: SqlType::Text }).collect();
    Query {
        root: Node::Values { rows, types },
        columns,
        subqueries: Vec::new(),
        ctes: Vec::new(),
        parameters: Vec::new(),
        filter_count: 0,
        slot_count: 0,
    }
}

fn unexpected(token: &TokenWithSpan) -> SqlError {
    let (line, column) = position(token.span.start);
    SqlError::syntax(format!("unexpected \"{}\"", token.token)).at(line, column)
}

fn end_of_statement() -> SqlError {
    SqlError::syntax("unexpected end of the statement")
}

/// A name of words joined by points, folded, and the index of the token after it.
fn dotted_name(tokens: &[TokenWithSpan], start: usize, _: &Source) -> Result<(String, usize), SqlError> {
    let mut name = String::new();
    let mut index = start;
    loop {
        match tokens.get(index) {
            Some(TokenWithSpan { token: Token::Word(word), .. }) => {
                let quoted = word.quote_style.is_some();
                name += &if quoted { word.value.clone() } else { word.value.to_lowercase() };
            }
            Some(other) => return Err(unexpected(other)),
            None => return Err(end_of_statement()),
        }
        index += 1;
        if tokens.get(index).map(|t| &t.token) != Some(&Token::Period) {
            return Ok((name, index));
        }
        name.push('.');
        index += 1;
    }
}

fn set(tokens: &[TokenWithSpan], source: &Source) -> Result<Statement, SqlError> {
    let mut start = 1;
    if matches!(source.keyword(1), Keyword::SESSION | Keyword::LOCAL | Keyword::GLOBAL) {
        if source.keyword(1) != Keyword::SESSION {
            return Err(SqlError::unsupported(format!("SET {}", source.word(1).unwrap_or_default().to_uppercase())));
        }
        start = 2;
    }
    let (name, next) = dotted_name(tokens, start, source)?;
    match tokens.get(next) {
        Some(token) if token.token == Token::Eq || source.keyword(next) == Keyword::TO => {}
        Some(other) => return Err(unexpected(other)),
        None => return Err(end_of_statement()),
    }
    let value = setting_value(&tokens[next + 1..])?;
    Ok(Statement::Set { name, value })
}

fn pragma(tokens: &[TokenWithSpan], source: &Source) -> Result<Statement, SqlError> {
    let (name, next) = dotted_name(tokens, 1, source)?;
    match tokens.get(next).map(|t| &t.token) {
        None => Ok(Statement::Show { name }),
        Some(Token::Eq) => Ok(Statement::Set { name, value: setting_value(&tokens[next + 1..])? }),
        Some(Token::LParen) => match tokens.split_last() {
            Some((last, _)) if last.token == Token::RParen => {
                Ok(Statement::Set { name, value: setting_value(&tokens[next + 1..tokens.len() - 1])? })
            }
            _ => Err(end_of_statement()),
        },
        Some(_) => Err(unexpected(&tokens[next])),
    }
}

/// A word, string or number, perhaps negative.
fn setting_value(tokens: &[TokenWithSpan]) -> Result<Value, SqlError> {
    let number = |text: &str, negative: bool| {
        let sign = if negative { "-" } else { "" };
        let text = format!("{sign}{}", text.replace('_', ""));
        if let Ok(value) = text.parse() {
            return Some(Value::Int(value));
        }
        parse_decimal(&text).map(|(unscaled, scale)| Value::Decimal { unscaled, scale })
    };
    let value = match tokens {
        [] => return Err(end_of_statement()),
        [TokenWithSpan { token: Token::SingleQuotedString(text), .. }] => Some(Value::Text(text.clone())),
        [TokenWithSpan { token: Token::Number(text, _), .. }] => number(text, false),
        [TokenWithSpan { token: Token::Minus, .. }, TokenWithSpan { token: Token::Number(text, _), .. }] => {
            number(text, true)
        }
        [TokenWithSpan { token: Token::Word(word), .. }] => Some(match word.keyword {
            Keyword::TRUE if word.quote_style.is_none() => Value::Boolean(true),
            Keyword::FALSE if word.quote_style.is_none() => Value::Boolean(false),
            Keyword::NULL | Keyword::DEFAULT if word.quote_style.is_none() => Value::Null,
            _ if word.quote_style.is_some() => Value::Text(word.value.clone()),
            _ => Value::Text(word.value.to_lowercase()),
        }),
        [_, extra, ..] => return Err(unexpected(extra)),
        [other] => return Err(unexpected(other)),
    };
    value.ok_or_else(|| unexpected(&tokens[0]))
}
