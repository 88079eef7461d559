//! datafusion-sql's errors with SQLSTATE, position and hint.

use super::functions::Functions;
use crate::text::Source;
use crate::text::source::lower_first;
use datafusion_common::{Column, DataFusionError, SchemaError};
use gingham_plan::{Catalog, SqlError};

/// Starts the message of a missing table; its name follows.
pub(super) const TABLE_NOT_FOUND: &str = "\u{1}table not found: ";

/// Translates an error of datafusion-sql.
pub(crate) fn translate(error: DataFusionError, catalog: &Catalog, source: &Source) -> SqlError {
    match error {
        DataFusionError::Diagnostic(diagnostic, inner) => {
            let translated = translate(*inner, catalog, source);
            match diagnostic.span {
                Some(span) if span.start.line > 0 => translated.at(span.start.line as u32, span.start.column as u32),
                _ => translated,
            }
        }
        DataFusionError::Context(_, inner) => translate(*inner, catalog, source),
        DataFusionError::Shared(inner) => plan_error(&inner.to_string(), catalog, source),
        DataFusionError::Collection(errors) => match errors.into_iter().next() {
            Some(first) => translate(first, catalog, source),
            None => SqlError::internal("an error without a cause"),
        },
        DataFusionError::External(error) => match error.downcast::<SqlError>() {
            Ok(error) => *error,
            Err(other) => SqlError::internal(other.to_string()),
        },
        DataFusionError::SchemaError(error, _) => schema_error(*error, source),
        DataFusionError::Plan(message) => plan_error(&message, catalog, source),
        DataFusionError::NotImplemented(message) => {
            SqlError::new("0A000", format!("not supported: {}", lower_first(&shorten(&message))))
        }
        DataFusionError::SQL(error, _) => {
            let text = error.to_string();
            SqlError::syntax(lower_first(&shorten(text.strip_prefix("sql parser error: ").unwrap_or(&text))))
        }
        DataFusionError::ArrowError(error, _) => SqlError::new("22P02", lower_first(&error.to_string())),
        other => SqlError::internal(shorten(&other.strip_backtrace())),
    }
}

/// Keeps a message to one line of readable length.
fn shorten(message: &str) -> String {
    const LENGTH_MAX: usize = 200;
    let line = message.lines().next().unwrap_or_default();
    if line.chars().count() <= LENGTH_MAX {
        return line.to_owned();
    }
    line.chars().take(LENGTH_MAX).chain("…".chars()).collect()
}

fn at_column(error: SqlError, column: &Column, source: &Source) -> SqlError {
    let span = column.spans().first().map(|s| (s.start.line as u32, s.start.column as u32));
    match span.filter(|(line, _)| *line > 0).or_else(|| source.find(&column.name)) {
        Some((line, column)) => error.at(line, column),
        None => error,
    }
}

fn schema_error(error: SchemaError, source: &Source) -> SqlError {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            if let Some(relation) = &field.relation {
                let known =
                    valid_fields.iter().any(|f| f.relation.as_ref().is_some_and(|r| r.table() == relation.table()));
                if !known {
                    let message = format!("no table in FROM is called {}", relation.table());
                    let tables = valid_fields.iter().filter_map(|f| f.relation.as_ref()).map(|r| r.table());
                    let error = hinted(SqlError::new("42P01", message), relation.table(), tables);
                    return at_column(error, &field, source);
                }
            }
            let message = format!("column {} does not exist", field.flat_name());
            let names = valid_fields.iter().map(|f| f.name.as_str());
            at_column(hinted(SqlError::new("42703", message), &field.name, names), &field, source)
        }
        SchemaError::AmbiguousReference { field } => {
            let error = SqlError::new("42702", format!("column {} is ambiguous", field.name))
                .hint("put the table's name or alias before it");
            at_column(error, &field, source)
        }
        SchemaError::DuplicateQualifiedField { qualifier, .. } => {
            SqlError::new("42712", format!("table name {} is used more than once", qualifier.table()))
                .hint("give each use an alias of its own")
        }
        SchemaError::DuplicateUnqualifiedField { name } => {
            SqlError::new("42701", format!("column {name} appears more than once"))
        }
    }
}

fn plan_error(message: &str, catalog: &Catalog, source: &Source) -> SqlError {
    if let Some(name) = message.strip_prefix(TABLE_NOT_FOUND) {
        let names = catalog.tables.iter().map(|t| &t.name).chain(catalog.views.iter().map(|v| &v.name));
        let error =
            hinted(SqlError::new("42P01", format!("table {name} does not exist")), name, names.map(String::as_str));
        return located(error, name, source);
    }
    if let Some(rest) = message.strip_prefix("Invalid function '") {
        let name = rest.split('\'').next().unwrap_or_default();
        let clock = matches!(name, "current_time" | "localtime" | "random");
        let error = SqlError::new("42883", format!("function {name} does not exist"));
        let error =
            if clock { error.hint("pass the value as a parameter") } else { hinted(error, name, Functions::names()) };
        return located(error, name, source);
    }
    let code = if message.contains("GROUP BY") || message.contains("aggregat") {
        "42803"
    } else if message.contains("more than once") {
        "42712"
    } else if message.contains("number of columns")
        || message.contains("Too many columns")
        || message.contains("Inconsistent data length")
    {
        "42601"
    } else if message.contains("non-boolean") || message.contains("Inconsistent data type") || message.contains("type")
    {
        "42804"
    } else {
        "42601"
    };
    let quoted = message.split(['"', '\'']).nth(1).unwrap_or_default();
    let name = quoted.rsplit('.').next().unwrap_or_default();
    located(SqlError::new(code, lower_first(&shorten(message))), name, source)
}

fn located(error: SqlError, name: &str, source: &Source) -> SqlError {
    let name = name.rsplit('.').next().unwrap_or(name);
    match source.find(name) {
        Some((line, column)) if !name.is_empty() => error.at(line, column),
        _ => error,
    }
}

fn hinted<'n>(error: SqlError, name: &str, known: impl Iterator<Item = &'n str>) -> SqlError {
    match nearest(name, known) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error,
    }
}

/// The name among `known` that `name` is most likely a misspelling of.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let folded = name.to_lowercase();
    let limit = (folded.chars().count() / 3).max(1);
    known
        .map(|candidate| (distance(&folded, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edit distance (Levenshtein), over at most 64 characters of each.
fn distance(a: &str, b: &str) -> usize {
    const LENGTH_MAX: usize = 64;
    let b: Vec<char> = b.chars().take(LENGTH_MAX).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(LENGTH_MAX).enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        assert_eq!(nearest("custmer", ["orders", "customer"].into_iter()), Some("customer"));
        assert_eq!(nearest("xyz", ["orders", "customer"].into_iter()), None);
    }
}
