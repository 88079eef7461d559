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
/// Longest chain of other infix operators and of set operations, counted through
/// parentheses: a chain inside one adds to the chain around it. An unoptimized planner on
/// a thread with two megabytes of stack takes somewhat more than this.
const OPERATOR_CHAIN_MAX: usize = 100;
/// Most joins, counted in the same way.
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
        check_depth(&tokens)?;
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

/// Refuses statements whose tree would be too deep to walk.
fn check_depth(tokens: &[TokenWithSpan]) -> Result<(), SqlError> {
    let mut previous = Keyword::NoKeyword;
    let mut stack = vec![Level::default()];
    for token in tokens {
        let Some(level) = stack.last_mut() else { break };
        match &token.token {
            Token::LParen | Token::LBracket => {
                let forms = level.forms + usize::from(opens_form(previous));
                let selects = level.selects;
                stack.push(Level { forms, selects, ..Level::default() });
            }
            Token::RParen | Token::RBracket => {
                if stack.len() > 1
                    && let Some(inner) = stack.pop()
                    && let Some(outer) = stack.last_mut()
                {
                    outer.take(&inner);
                }
            }
            Token::Comma | Token::SemiColon => {
                level.operators.next();
                level.logical = 0;
            }
            Token::Word(Word { keyword, quote_style: None, .. }) => match keyword {
                Keyword::AND | Keyword::OR => {
                    level.logical += 1;
                    level.operators.next();
                }
                Keyword::NOT | Keyword::IS | Keyword::BETWEEN | Keyword::LIKE | Keyword::COLLATE => {
                    level.operators.here += 1;
                }
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => level.set_operations.here += 1,
                Keyword::JOIN => level.joins.here += 1,
                Keyword::FROM | Keyword::WHERE | Keyword::WHEN | Keyword::THEN => {
                    level.operators.next();
                    level.logical = 0;
                }
                Keyword::SELECT => {
                    level.operators.next();
                    level.logical = 0;
                    level.selects += 1;
                }
                Keyword::CASE => level.forms += 1,
                Keyword::END => level.forms = level.forms.saturating_sub(1),
                _ => {}
            },
            Token::Word(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::Placeholder(_)
            | Token::Period => {}
            _ => level.operators.here += 1,
        }
        previous = match &token.token {
            Token::Word(Word { keyword, quote_style: None, .. }) => *keyword,
            _ => Keyword::NoKeyword,
        };
        let level = stack.last().copied().unwrap_or_default();
        // A set operation's SELECTs stand side by side.
        let selects = level.selects.saturating_sub(level.set_operations.here);
        let too_long = [
            (level.logical, LOGICAL_CHAIN_MAX, "AND and OR operands in a row"),
            (level.operators.depth(), OPERATOR_CHAIN_MAX, "operators one inside the other"),
            (level.set_operations.depth(), OPERATOR_CHAIN_MAX, "set operations one inside the other"),
            (level.joins.depth(), JOIN_CHAIN_MAX, "joins one inside the other"),
            (level.forms, FORM_NESTING_MAX, "levels of CASE, CAST and the like"),
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

/// What is counted between two parentheses.
#[derive(Clone, Copy, Default)]
struct Level {
    logical: usize,
    operators: Chain,
    set_operations: Chain,
    joins: Chain,
    /// Forms and SELECTs that this pair of parentheses is in.
    forms: usize,
    selects: usize,
}

impl Level {
    /// Takes in what a closed pair of parentheses held. Its place in the chains around
    /// it is not known yet: they may go on after it.
    fn take(&mut self, inner: &Self) {
        self.operators.inside = self.operators.inside.max(inner.operators.depth());
        self.set_operations.inside = self.set_operations.inside.max(inner.set_operations.depth());
        self.joins.inside = self.joins.inside.max(inner.joins.depth());
    }
}

/// A chain without parentheses, which makes a tree as deep as it is long.
#[derive(Clone, Copy, Default)]
struct Chain {
    here: usize,
    /// The deepest in parentheses that belong to this chain.
    inside: usize,
    /// The deepest of the chains before this one.
    before: usize,
}

impl Chain {
    /// Another chain begins beside this one.
    fn next(&mut self) {
        *self = Self { before: self.depth(), ..Self::default() };
    }

    fn depth(&self) -> usize {
        self.before.max(self.here + self.inside)
    }
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
