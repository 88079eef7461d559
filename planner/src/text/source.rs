//! One statement's text as tokens with positions: parameters numbered, nesting bounded.
//!
//! Everything that recurses over the syntax tree later (the parser, datafusion-sql,
//! destructors) is bounded here, before a tree exists, because a stack overflow cannot
//! be caught and a wasm stack is one mebibyte.

use super::dialect::GinghamDialect;
use gingham_plan::SqlError;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Whitespace, Word};
use std::collections::HashMap;

/// Longest chain of `AND` or `OR` operands; the chain is balanced after parsing.
const LOGICAL_CHAIN_MAX: usize = 4_000;
/// Longest chain of other infix operators and of set operations without parentheses.
const OPERATOR_CHAIN_MAX: usize = 250;
/// Most relations joined in one FROM clause.
const JOIN_CHAIN_MAX: usize = 200;
/// Deepest nesting of CASE and of forms such as `CAST (…)`. Where one does not parse, the
/// parser reads it again as a plain call, so the time of an error doubles with each level.
const FORM_NESTING_MAX: usize = 12;
/// Deepest nesting of SELECT, which costs the most stack.
const SELECT_NESTING_MAX: usize = 24;
/// Highest parameter number.
const PARAMETERS_MAX: usize = 32_766;

/// The tokens of a statement, without white space and comments.
#[derive(Debug)]
pub(crate) struct Source {
    /// Tokens with their positions; parameters are `$1`, `$2`, ….
    pub(crate) tokens: Vec<TokenWithSpan>,
    /// How many parameters the statement has.
    pub(crate) parameter_count: usize,
}

impl Source {
    /// Reads the tokens of `sql`.
    pub(crate) fn read(sql: &str) -> Result<Self, SqlError> {
        let dialect = GinghamDialect::default();
        let tokens = Tokenizer::new(&dialect, sql).tokenize_with_location().map_err(|error| {
            let location = error.location;
            SqlError::syntax(lower_first(error.message.trim_end_matches('.')))
                .at(location.line as u32, location.column as u32)
        })?;
        let (tokens, parameter_count) = number_parameters(tokens)?;
        check_chains(&tokens)?;
        Ok(Self { tokens, parameter_count })
    }

    /// The position of the first token that names `identifier`, whatever its case.
    pub(crate) fn find(&self, identifier: &str) -> Option<(u32, u32)> {
        self.tokens.iter().find_map(|token| match &token.token {
            Token::Word(word) if word.value.eq_ignore_ascii_case(identifier) => Some(position(token.span.start)),
            Token::SingleQuotedString(text) | Token::Number(text, _) if text == identifier => {
                Some(position(token.span.start))
            }
            _ => None,
        })
    }

    /// The unquoted words at the start, as keywords.
    pub(crate) fn keyword(&self, index: usize) -> Keyword {
        match self.tokens.get(index).map(|t| &t.token) {
            Some(Token::Word(Word { keyword, quote_style: None, .. })) => *keyword,
            _ => Keyword::NoKeyword,
        }
    }

    /// The unquoted word at `index` in lower case.
    pub(crate) fn word(&self, index: usize) -> Option<String> {
        match self.tokens.get(index).map(|t| &t.token) {
            Some(Token::Word(Word { value, quote_style: None, .. })) => Some(value.to_ascii_lowercase()),
            _ => None,
        }
    }
}

/// A location as errors carry it.
pub(crate) const fn position(location: Location) -> (u32, u32) {
    (location.line as u32, location.column as u32)
}

/// A message as the middle of a sentence.
pub(crate) fn lower_first(message: &str) -> String {
    let mut characters = message.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => String::new(),
    }
}

/// Drops white space and rewrites `?`, `?2`, `:name` and `$name` to `$n`.
fn number_parameters(tokens: Vec<TokenWithSpan>) -> Result<(Vec<TokenWithSpan>, usize), SqlError> {
    let mut result: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut count = 0usize;
    let mut iterator = tokens.into_iter().peekable();
    while let Some(mut token) = iterator.next() {
        let name = match &token.token {
            Token::Whitespace(Whitespace::SingleLineComment { .. } | _) => continue,
            Token::Placeholder(text) => text.clone(),
            Token::Colon => match iterator.peek() {
                Some(TokenWithSpan { token: Token::Word(word), span }) if span.start == token.span.end => {
                    let name = format!(":{}", word.value);
                    iterator.next();
                    name
                }
                _ => {
                    result.push(token);
                    continue;
                }
            },
            _ => {
                result.push(token);
                continue;
            }
        };
        let (line, column) = position(token.span.start);
        let number = match name.get(1..).unwrap_or_default() {
            "" => count + 1,
            digits if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().unwrap_or(usize::MAX),
            _ => {
                let next = count + 1;
                *names.entry(name.clone()).or_insert(next)
            }
        };
        if number == 0 || number > PARAMETERS_MAX {
            let message = format!("parameter {name} is not between 1 and {PARAMETERS_MAX}");
            return Err(SqlError::new("42P02", message).at(line, column));
        }
        count = count.max(number);
        token.token = Token::Placeholder(format!("${number}"));
        result.push(token);
    }
    Ok((result, count))
}

/// Refuses chains that would make a tree too deep to walk.
fn check_chains(tokens: &[TokenWithSpan]) -> Result<(), SqlError> {
    #[derive(Clone, Copy, Default)]
    struct Chain {
        logical: usize,
        operators: usize,
        set_operations: usize,
        joins: usize,
        /// Forms and SELECTs that this pair of parentheses is in.
        forms: usize,
        selects: usize,
    }
    let mut previous = Keyword::NoKeyword;
    let mut stack = vec![Chain::default()];
    for token in tokens {
        let Some(chain) = stack.last_mut() else { break };
        match &token.token {
            Token::LParen | Token::LBracket => {
                let forms = chain.forms + usize::from(opens_form(previous));
                let selects = chain.selects;
                stack.push(Chain { forms, selects, ..Chain::default() });
            }
            Token::RParen | Token::RBracket => {
                if stack.len() > 1 {
                    stack.pop();
                }
            }
            Token::Comma | Token::SemiColon => (chain.operators, chain.logical) = (0, 0),
            Token::Word(Word { keyword, quote_style: None, .. }) => match keyword {
                Keyword::AND | Keyword::OR => {
                    chain.logical += 1;
                    chain.operators = 0;
                }
                Keyword::NOT | Keyword::IS | Keyword::BETWEEN | Keyword::LIKE | Keyword::COLLATE => {
                    chain.operators += 1;
                }
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => chain.set_operations += 1,
                Keyword::JOIN => chain.joins += 1,
                Keyword::FROM | Keyword::WHERE | Keyword::WHEN | Keyword::THEN => {
                    (chain.operators, chain.logical) = (0, 0);
                }
                Keyword::SELECT => {
                    (chain.operators, chain.logical) = (0, 0);
                    chain.selects += 1;
                }
                Keyword::CASE => chain.forms += 1,
                Keyword::END => chain.forms = chain.forms.saturating_sub(1),
                _ => {}
            },
            Token::Word(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::Placeholder(_)
            | Token::Period => {}
            _ => chain.operators += 1,
        }
        previous = match &token.token {
            Token::Word(Word { keyword, quote_style: None, .. }) => *keyword,
            _ => Keyword::NoKeyword,
        };
        let chain = stack.last().copied().unwrap_or_default();
        // A set operation's SELECTs stand side by side.
        let selects = chain.selects.saturating_sub(chain.set_operations);
        let too_long = [
            (chain.logical, LOGICAL_CHAIN_MAX, "AND and OR operands in a row"),
            (chain.operators, OPERATOR_CHAIN_MAX, "operators without parentheses"),
            (chain.set_operations, OPERATOR_CHAIN_MAX, "set operations in a row"),
            (chain.joins, JOIN_CHAIN_MAX, "joins"),
            (chain.forms, FORM_NESTING_MAX, "levels of CASE, CAST and the like"),
            (selects, SELECT_NESTING_MAX, "levels of SELECT"),
        ];
        for (length, limit, what) in too_long {
            if length > limit {
                let (line, column) = position(token.span.start);
                return Err(SqlError::new("54001", format!("more than {limit} {what}")).at(line, column));
            }
        }
    }
    Ok(())
}

/// Whether the parser has a rule of its own for a word followed by a parenthesis.
const fn opens_form(word: Keyword) -> bool {
    matches!(
        word,
        Keyword::CAST
            | Keyword::TRY_CAST
            | Keyword::SAFE_CAST
            | Keyword::CONVERT
            | Keyword::TRY_CONVERT
            | Keyword::CASE
            | Keyword::EXISTS
            | Keyword::EXTRACT
            | Keyword::CEIL
            | Keyword::FLOOR
            | Keyword::POSITION
            | Keyword::SUBSTR
            | Keyword::SUBSTRING
            | Keyword::OVERLAY
            | Keyword::TRIM
            | Keyword::INTERVAL
            | Keyword::ARRAY
            | Keyword::STRUCT
            | Keyword::MATCH
            | Keyword::MAP
            | Keyword::FROM
            | Keyword::NOT
            | Keyword::PRIOR
            | Keyword::CONNECT_BY_ROOT
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_every_kind_are_numbered() {
        let source = Source::read("select ?, ?5, :name, $2, :name, ?").expect("reads");
        let numbers: Vec<String> = source
            .tokens
            .iter()
            .filter_map(|t| match &t.token {
                Token::Placeholder(text) => Some(text.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(numbers, ["$1", "$5", "$6", "$2", "$6", "$7"]);
        assert_eq!(source.parameter_count, 7);
    }

    #[test]
    fn long_chains_are_refused() {
        let sum = format!("select {}", vec!["1"; 300].join("+"));
        assert_eq!(Source::read(&sum).map_err(|e| e.code.into_owned()).err().as_deref(), Some("54001"));
        let list = format!("select 1 in ({})", vec!["1"; 20_000].join(","));
        assert!(Source::read(&list).is_ok());
    }
}
