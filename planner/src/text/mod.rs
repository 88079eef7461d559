//! From SQL text to a syntax tree that is safe to bind.

mod dialect;
mod grouping;
pub(crate) mod normalize;
pub(crate) mod source;
pub(crate) mod window;

use dialect::GinghamDialect;
use gingham_plan::SqlError;
pub(crate) use normalize::{folded, shown_name};
pub(crate) use source::Source;
use source::{lower_first, position};
use sqlparser::ast::{self, Ident, ObjectName, VisitMut};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Deepest nesting of parentheses and subqueries. Each level costs the parser and
/// datafusion-sql several kilobytes of stack.
const NESTING_MAX: usize = 40;

/// Parses one statement from `tokens`.
pub(crate) fn parse_statement(tokens: &[TokenWithSpan]) -> Result<ast::Statement, SqlError> {
    parse(tokens, |parser| parser.parse_statement())
}

/// Parses `tokens`, all of them but a closing semicolon, with one of the parser's functions.
pub(crate) fn parse<T: VisitMut>(
    tokens: &[TokenWithSpan],
    read: impl FnOnce(&mut Parser) -> Result<T, ParserError>,
) -> Result<T, SqlError> {
    let dialect = GinghamDialect::default();
    let mut parser = Parser::new(&dialect)
        .with_recursion_limit(NESTING_MAX)
        .with_tokens_with_locations(window::mark_exclusions(tokens));
    let mut result = read(&mut parser).map_err(|error| {
        let error = parser_error(&error, &parser);
        match tokens.last().map(|t| t.span.end) {
            Some(end) if error.position.is_none() => error.at(position(end).0, position(end).1),
            _ => error,
        }
    })?;
    while parser.consume_token(&Token::SemiColon) {}
    let next = parser.peek_token_ref();
    if next.token != Token::EOF {
        let (line, column) = position(next.span.start);
        return Err(SqlError::syntax(format!("unexpected \"{}\"", next.token)).at(line, column));
    }
    normalize::balance_chains(&mut result);
    Ok(result)
}

/// Reads the position that the parser appends to its messages.
fn parser_error(error: &ParserError, parser: &Parser) -> SqlError {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text.as_str(),
        ParserError::RecursionLimitExceeded => {
            return SqlError::new("54001", format!("more than {NESTING_MAX} levels of nesting"));
        }
    };
    let (message, located) = match text.rsplit_once(" at Line: ") {
        Some((message, rest)) => {
            let mut numbers = rest.split(", Column: ").map(|n| n.trim().parse::<u32>().ok());
            (message, numbers.next().flatten().zip(numbers.next().flatten()))
        }
        None => (text, None),
    };
    let message = message.strip_suffix(", found: EOF").map_or_else(
        || message.replace("Expected: ", "expected ").replace(", found: ", ", found "),
        |m| format!("{}, found the end of the statement", m.replace("Expected: ", "expected ")),
    );
    let message = message.strip_prefix("sql parser error: ").unwrap_or(&message).trim_end_matches('.');
    let error = SqlError::syntax(lower_first(message));
    let at = located.or_else(|| {
        let start = parser.peek_token_ref().span.start;
        (start.line > 0).then(|| position(start))
    });
    match at {
        Some((line, column)) if line > 0 => error.at(line, column),
        _ => error,
    }
}

/// The folded name of an object; a leading `main.` or `public.` names the only schema.
pub(crate) fn object_name(name: &ObjectName) -> Result<String, SqlError> {
    let parts: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
    match parts.as_slice() {
        [name] => Ok(folded(name)),
        [schema, name] if matches!(folded(schema).as_str(), "main" | "public") => Ok(folded(name)),
        _ => Err(ident_at(SqlError::unsupported(format!("a schema in the name {name}")), parts.first().copied())),
    }
}

/// The error at an identifier's position.
pub(crate) fn ident_at(error: SqlError, ident: Option<&Ident>) -> SqlError {
    match ident.map(|i| i.span.start) {
        Some(start) if start.line > 0 => error.at(position(start).0, position(start).1),
        _ => error,
    }
}
