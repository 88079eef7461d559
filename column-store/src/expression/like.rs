//! LIKE patterns, compiled to the cheapest matcher that decides them.

use super::error;
use crate::Result;
use crate::text_search::{begins, ends, find_all};
use memchr::memmem::Finder;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Matcher {
    kind: Kind,
    ignore_case: bool,
}

#[derive(Debug)]
enum Kind {
    /// No wildcard.
    Equals(Vec<u8>),
    /// Literal runs between `%`: what the text starts with, what it contains in that
    /// order, what it ends with.
    Runs { prefix: Vec<u8>, middle: Vec<Finder<'static>>, suffix: Vec<u8> },
    /// Anything with `_`.
    General(Vec<Token>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Byte(u8),
    /// `_`: one character.
    One,
    /// `%`: any run.
    Many,
}

impl Matcher {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// 22025 when the pattern ends in its escape character.
    pub(crate) fn new(pattern: &str, escape: Option<char>, ignore_case: bool) -> Result<Self> {
        let lowered;
        let pattern = if ignore_case {
            lowered = pattern.to_lowercase();
            &lowered
        } else {
            pattern
        };
        let mut tokens = Vec::with_capacity(pattern.len());
        let mut characters = pattern.chars();
        let mut buffer = [0; 4];
        while let Some(c) = characters.next() {
            let literal = if Some(c) == escape {
                characters.next().ok_or_else(|| {
                    error::invalid_argument("22025", "LIKE pattern must not end with escape character")
                })?
            } else if c == '%' {
                if tokens.last() != Some(&Token::Many) {
                    tokens.push(Token::Many);
                }
                continue;
            } else if c == '_' {
                tokens.push(Token::One);
                continue;
            } else {
                c
            };
            tokens.extend(literal.encode_utf8(&mut buffer).bytes().map(Token::Byte));
        }
        Ok(Self { kind: Kind::from_tokens(tokens), ignore_case })
    }

    /// Whether a text matches.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        if self.ignore_case {
            let lowered = String::from_utf8_lossy(text).to_lowercase();
            return self.kind.matches(lowered.as_bytes());
        }
        self.kind.matches(text)
    }
}

impl Kind {
    fn from_tokens(tokens: Vec<Token>) -> Self {
        if tokens.contains(&Token::One) {
            return Self::General(tokens);
        }
        let mut runs: Vec<Vec<u8>> = tokens
            .split(|t| *t == Token::Many)
            .map(|run| run.iter().filter_map(|t| if let Token::Byte(b) = t { Some(*b) } else { None }).collect())
            .collect();
        let suffix = runs.pop().unwrap_or_default();
        if runs.is_empty() {
            return Self::Equals(suffix);
        }
        let prefix = runs.remove(0);
        let middle = runs.iter().map(|run| Finder::new(run).into_owned()).collect();
        Self::Runs { prefix, middle, suffix }
    }

    #[inline]
    fn matches(&self, text: &[u8]) -> bool {
        match self {
            Self::Equals(pattern) => text == pattern,
            Self::Runs { prefix, middle, suffix } => {
                if text.len() < prefix.len() + suffix.len() || !begins(text, prefix) || !ends(text, suffix) {
                    return false;
                }
                find_all(middle, &text[prefix.len()..text.len() - suffix.len()])
            }
            Self::General(tokens) => matches_general(tokens, text),
        }
    }
}

/// Greedy matching with one point to come back to: the last `%`. An earlier one need
/// never be tried again, so the time is at most pattern times text.
fn matches_general(tokens: &[Token], text: &[u8]) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let step = match tokens.get(token) {
            Some(Token::Many) => {
                token += 1;
                retry = Some((token, at));
                continue;
            }
            Some(Token::Byte(byte)) if text.get(at) == Some(byte) => 1,
            Some(Token::One) if at < text.len() => character_bytes(text, at),
            None if at == text.len() => return true,
            _ => 0,
        };
        if step > 0 {
            token += 1;
            at += step;
        } else if let Some((after, from)) = retry.filter(|(_, from)| *from < text.len()) {
            let from = from + character_bytes(text, from);
            retry = Some((after, from));
            token = after;
            at = from;
        } else {
            return false;
        }
    }
}

/// Bytes of the character that begins at `at`.
fn character_bytes(text: &[u8], at: usize) -> usize {
    let rest = &text[at + 1..];
    1 + rest.iter().take_while(|byte| **byte & 0xC0 == 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, expected: bool) {
        let matcher = Matcher::new(pattern, Some('\\'), false).expect("a valid pattern");
        assert_eq!(matcher.matches(text.as_bytes()), expected, "{text:?} LIKE {pattern:?}");
    }

    #[test]
    fn expression_like_by_shape() {
        check("abc", "abc", true);
        check("abc", "abcd", false);
        check("ab%", "abcd", true);
        check("%cd", "abcd", true);
        check("%bc%", "abcd", true);
        check("a%a", "a", false);
        check("a%a", "aa", true);
        check("%a%b%", "xbxaxb", true);
        check("%a%b%", "xbxa", false);
        check("%special%requests%", "the special customer requests", true);
        check("%", "", true);
        check("", "", true);
        check("", "x", false);
    }

    #[test]
    fn expression_like_with_single_characters() {
        check("a_c", "abc", true);
        check("a_c", "aéc", true);
        check("_", "é", true);
        check("_", "", false);
        check("%_b%", "b", false);
        check("%a_b%", "aabxacb", true);
        check("__%", "é", false);
        check("a\\%b", "a%b", true);
        check("a\\%b", "axb", false);
        check("a\\_%", "a_x", true);
    }

    #[test]
    fn expression_like_ignores_case() {
        let matcher = Matcher::new("%ÄB_", None, true).expect("a valid pattern");
        assert!(matcher.matches("xäBc".as_bytes()));
        assert!(!matcher.matches("xab".as_bytes()));
    }

    #[test]
    fn expression_like_refuses_a_trailing_escape() {
        assert!(Matcher::new("a\\", Some('\\'), false).is_err());
    }
}
