//! Tokens of the small shapes. Anything unusual ends the attempt.

use crate::script::{blank_bytes, block_comment_bytes};
use gingham_types::{Value, parse_decimal};
use std::collections::HashMap;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, folded to lower case unless quoted; `true` where it was quoted.
    Name(String, bool),
    /// A literal number or string.
    Literal(Value),
    /// A parameter by position, from 0.
    Parameter(usize),
    /// Punctuation: one of `( ) , * = < > <= >= + -`.
    Symbol(&'static str),
}

/// The positions of a statement's parameters: `?` takes the next, `?5` and `$5` the
/// fifth, `:name` the next at its first appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parameters {
    next: usize,
    names: HashMap<String, usize>,
}

/// Most parameters of one statement, as in SQLite.
const PARAMETERS_MAX: usize = 32_766;

impl Parameters {
    /// How many values the statement takes.
    pub(crate) const fn count(&self) -> usize {
        self.next
    }

    /// The position of a named parameter.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Finds the parameters of any statement, also of those that the fast path declines.
    pub(crate) fn scan(sql: &str) -> Self {
        let mut parameters = Self::default();
        let mut rest = sql;
        while let Some(first) = rest.chars().next() {
            let blank = blank_bytes(rest);
            if blank > 0 {
                rest = &rest[blank..];
                continue;
            }
            let bytes = match first {
                '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |at| at + 2),
                '?' | '$' | ':' => match parameters.take(rest) {
                    Some((_, bytes)) => bytes,
                    // `::` is a cast.
                    None => 1 + usize::from(rest[1..].starts_with(':')),
                },
                c if is_name_character(c) => rest.find(|c| !is_name_character(c)).unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            rest = &rest[bytes..];
        }
        parameters
    }

    /// The position of the parameter that `text` starts with, and its bytes.
    fn take(&mut self, text: &str) -> Option<(usize, usize)> {
        let name = &text[1..];
        let name = &name[..name.find(|c| !is_name_character(c)).unwrap_or(name.len())];
        let bytes = 1 + name.len();
        if let Ok(number) = name.parse::<usize>() {
            let in_range = !text.starts_with(':') && (1..=PARAMETERS_MAX).contains(&number);
            return in_range.then(|| {
                self.next = self.next.max(number);
                (number - 1, bytes)
            });
        }
        match (&text[..1], name.is_empty()) {
            ("?", true) => {
                self.next += 1;
                Some((self.next - 1, bytes))
            }
            (":" | "$", false) => {
                let position = *self.names.entry(name.to_owned()).or_insert_with(|| {
                    self.next += 1;
                    self.next - 1
                });
                Some((position, bytes))
            }
            _ => None,
        }
    }
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The tokens of a statement; `None` if there is one that the small shapes do not have.
pub(super) fn tokens(sql: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::with_capacity(16);
    let mut parameters = Parameters::default();
    let mut rest = after_blanks(sql)?;
    while let Some(first) = rest.chars().next() {
        let (token, bytes) = match first {
            'a'..='z' | 'A'..='Z' | '_' => {
                let bytes = rest.find(|c| !is_name_character(c)).unwrap_or(rest.len());
                (Token::Name(rest[..bytes].to_ascii_lowercase(), false), bytes)
            }
            '"' => {
                let (text, bytes) = quoted(rest, '"')?;
                (Token::Name(text, true), bytes)
            }
            '\'' => {
                let (text, bytes) = quoted(rest, '\'')?;
                (Token::Literal(Value::Text(text)), bytes)
            }
            '0'..='9' => number(rest)?,
            '?' | '$' | ':' => {
                let (position, bytes) = parameters.take(rest)?;
                (Token::Parameter(position), bytes)
            }
            _ => symbol(rest)?,
        };
        tokens.push(token);
        rest = after_blanks(&rest[bytes..])?;
    }
    Some(tokens)
}

/// What follows white space and comments; `None` if a comment is not closed.
fn after_blanks(text: &str) -> Option<&str> {
    let mut rest = text.trim_start();
    loop {
        let bytes = if rest.starts_with("/*") {
            block_comment_bytes(rest)?
        } else if rest.starts_with("--") {
            blank_bytes(rest)
        } else {
            return Some(rest);
        };
        // A carriage return ends a line for some.
        if rest.starts_with("--") && rest[..bytes].trim_end().contains('\r') {
            return None;
        }
        rest = rest[bytes..].trim_start();
    }
}

/// Text in quotes, with doubled quotes undone, and its bytes.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut end = 1;
    loop {
        end += text[end..].find(quote)? + 1;
        if !text[end..].starts_with(quote) {
            break;
        }
        end += 1;
    }
    let doubled: String = [quote, quote].iter().collect();
    Some((text[1..end - 1].replace(&doubled, &quote.to_string()), end))
}

fn number(text: &str) -> Option<(Token, usize)> {
    let bytes = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    // `1e5` and `1x` are for the real parser.
    if text[bytes..].starts_with(is_name_character) {
        return None;
    }
    let digits = &text[..bytes];
    // Others than the number itself would write.
    if digits.ends_with('.') || digits.starts_with('0') && digits[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let value = if digits.contains('.') {
        let (unscaled, scale) = parse_decimal(digits)?;
        Value::Decimal { unscaled, scale }
    } else {
        Value::Int(digits.parse().ok()?)
    };
    Some((Token::Literal(value), bytes))
}

fn symbol(text: &str) -> Option<(Token, usize)> {
    if text.starts_with("<>") {
        return None;
    }
    ["<=", ">=", "(", ")", ",", "*", "=", "<", ">", "+", "-"]
        .into_iter()
        .find(|symbol| text.starts_with(symbol))
        .map(|symbol| (Token::Symbol(symbol), symbol.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_in_every_style() {
        let parameters = Parameters::scan("select ?, $3, :a, :b, :a, '?', x::int -- ?\n, ?");
        assert_eq!(parameters.count(), 6);
        assert_eq!(parameters.position("a"), Some(3));
        assert_eq!(parameters.position("b"), Some(4));
        assert_eq!(Parameters::scan("select 1").count(), 0);
    }

    #[test]
    fn unusual_tokens_decline() {
        for sql in ["select 1e5", "a.b", "a || b", "'open", "a::int", "/* /* */", "-- \r a", "01", "1.", "a[1]"] {
            assert_eq!(tokens(sql), None, "{sql}");
        }
        assert_eq!(
            tokens("/* /* */ */ K = -- it is\n 'it''s' --"),
            Some(vec![Token::Name("k".into(), false), Token::Symbol("="), Token::Literal(Value::Text("it's".into()))])
        );
    }
}
