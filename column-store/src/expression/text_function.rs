//! Functions on strings.

use super::error;
use super::scalar_function::arity;
use crate::Result;
use gingham_plan::Function;
use gingham_types::Value;
use std::borrow::Cow;

/// The longest string that REPEAT, LPAD and RPAD make.
const TEXT_BYTES_MAX: usize = 256 << 20;

/// The other arguments of a function whose first argument is the string it works on.
#[derive(Clone, Debug)]
pub(crate) enum TextCall<'a> {
    Lower,
    Upper,
    Reverse,
    Trim { start: bool, end: bool, characters: Option<&'a str> },
    Replace { from: &'a str, to: &'a str },
    Substring { start: i64, length: Option<i64> },
    Left(i64),
    Right(i64),
    Repeat(i64),
    Pad { length: i64, fill: &'a str, start: bool },
    InitialCapitals,
    SplitPart { delimiter: &'a str, number: i64 },
}

impl<'a> TextCall<'a> {
    /// The call of `function` whose arguments after the first are `rest`, none NULL.
    pub(crate) fn new(function: Function, rest: &'a [Value]) -> Option<Self> {
        let trim = |start, end| match rest {
            [] => Some(Self::Trim { start, end, characters: None }),
            [Value::Text(characters)] => Some(Self::Trim { start, end, characters: Some(characters) }),
            _ => None,
        };
        match (function, rest) {
            (Function::Lower, []) => Some(Self::Lower),
            (Function::Upper, []) => Some(Self::Upper),
            (Function::Reverse, []) => Some(Self::Reverse),
            (Function::Trim, _) => trim(true, true),
            (Function::TrimStart, _) => trim(true, false),
            (Function::TrimEnd, _) => trim(false, true),
            (Function::Replace, [Value::Text(from), Value::Text(to)]) => Some(Self::Replace { from, to }),
            (Function::Substring, [Value::Int(start)]) => Some(Self::Substring { start: *start, length: None }),
            (Function::Substring, [Value::Int(start), Value::Int(length)]) => {
                Some(Self::Substring { start: *start, length: Some(*length) })
            }
            (Function::InitialCapitals, []) => Some(Self::InitialCapitals),
            (Function::SplitPart, [Value::Text(delimiter), Value::Int(number)]) => {
                Some(Self::SplitPart { delimiter, number: *number })
            }
            (Function::Left, [Value::Int(count)]) => Some(Self::Left(*count)),
            (Function::Right, [Value::Int(count)]) => Some(Self::Right(*count)),
            (Function::Repeat, [Value::Int(count)]) => Some(Self::Repeat(*count)),
            (Function::PadStart | Function::PadEnd, [Value::Int(length), Value::Text(fill)]) => {
                Some(Self::Pad { length: *length, fill, start: function == Function::PadStart })
            }
            _ => None,
        }
    }

    /// Whether [`TextCall::apply`] succeeds whatever the string.
    pub(crate) const fn infallible(&self) -> bool {
        match self {
            Self::Substring { length: Some(length), .. } => *length >= 0,
            Self::SplitPart { number, .. } => *number != 0,
            Self::Repeat(_) | Self::Pad { .. } => false,
            _ => true,
        }
    }

    /// The result over one string.
    pub(crate) fn apply<'t>(&self, text: &'t str) -> Result<Cow<'t, str>> {
        Ok(match self {
            Self::Lower => Cow::Owned(text.to_lowercase()),
            Self::Upper => Cow::Owned(text.to_uppercase()),
            Self::Reverse => Cow::Owned(text.chars().rev().collect()),
            Self::Trim { start, end, characters } => {
                let strip = |c: char| characters.map_or(c == ' ', |set| set.contains(c));
                let text = if *start { text.trim_start_matches(strip) } else { text };
                Cow::Borrowed(if *end { text.trim_end_matches(strip) } else { text })
            }
            Self::Replace { from: "", .. } => Cow::Borrowed(text),
            Self::Replace { from, to } => Cow::Owned(text.replace(from, to)),
            Self::Substring { start, length } => Cow::Borrowed(substring(text, *start, *length)?),
            Self::InitialCapitals => Cow::Owned(initial_capitals(text)),
            Self::SplitPart { delimiter, number } => Cow::Borrowed(split_part(text, delimiter, *number)?),
            Self::Left(count) => Cow::Borrowed(left(text, *count)),
            Self::Right(count) => Cow::Borrowed(right(text, *count)),
            Self::Repeat(count) => {
                let count = usize::try_from(*count).unwrap_or(0);
                if text.len().checked_mul(count).is_none_or(|bytes| bytes > TEXT_BYTES_MAX) {
                    return Err(error::text_too_large());
                }
                Cow::Owned(text.repeat(count))
            }
            Self::Pad { length, fill, start } => pad(text, *length, fill, *start)?,
        })
    }
}

/// `function(arguments)`, none NULL.
pub(crate) fn call(function: Function, arguments: &[Value]) -> Result<Value> {
    match (function, arguments) {
        (Function::Length, [Value::Text(text)]) => Ok(Value::Int(character_count(text.as_bytes()))),
        (Function::OctetLength, [Value::Text(text)]) => Ok(Value::Int(text.len() as i64)),
        (Function::OctetLength, [Value::Blob(bytes)]) => Ok(Value::Int(bytes.len() as i64)),
        (Function::Position, [Value::Text(text), Value::Text(part)]) => {
            Ok(Value::Int(position(text.as_bytes(), part.as_bytes())))
        }
        (Function::StartsWith, [Value::Text(text), Value::Text(prefix)]) => {
            Ok(Value::Boolean(text.starts_with(prefix.as_str())))
        }
        (Function::CodePoint, [Value::Text(text)]) => {
            Ok(Value::Int(text.chars().next().map_or(0, |c| i64::from(u32::from(c)))))
        }
        (Function::Character, [Value::Int(code)]) => {
            let character = u32::try_from(*code).ok().filter(|code| *code != 0).and_then(char::from_u32);
            let character =
                character.ok_or_else(|| error::invalid_argument("54000", format!("{code} is no character's code")))?;
            Ok(Value::Text(character.to_string()))
        }
        (_, [Value::Text(text), rest @ ..]) => {
            let call = TextCall::new(function, rest).ok_or_else(|| arity(function, arguments))?;
            Ok(Value::Text(call.apply(text)?.into_owned()))
        }
        _ => Err(arity(function, arguments)),
    }
}

/// Characters in UTF-8: the bytes that do not continue one.
pub(crate) fn character_count(bytes: &[u8]) -> i64 {
    bytes.iter().map(|byte| i64::from(byte & 0xC0 != 0x80)).sum()
}

/// Position in characters of the first occurrence of `part`, from 1, or 0.
pub(crate) fn position(text: &[u8], part: &[u8]) -> i64 {
    memchr::memmem::find(text, part).map_or(0, |at| character_count(&text[..at]) + 1)
}

/// CONCAT: NULL counts as empty.
pub(crate) fn concatenate(arguments: &[Value]) -> Result<Value> {
    let mut text = String::new();
    for argument in arguments {
        match argument {
            Value::Null => {}
            Value::Text(part) => text.push_str(part),
            _ => return Err(arity(Function::ConcatAll, arguments)),
        }
    }
    Ok(Value::Text(text))
}

/// The first letter of each word in upper case, the others in lower case.
fn initial_capitals(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut inside = false;
    for character in text.chars() {
        if inside {
            result.extend(character.to_lowercase());
        } else {
            result.extend(character.to_uppercase());
        }
        inside = character.is_alphanumeric();
    }
    result
}

fn split_part<'t>(text: &'t str, delimiter: &str, number: i64) -> Result<&'t str> {
    let at = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
    let Some(skipped) = at.checked_sub(1) else {
        return Err(error::invalid_argument("22023", "the number of a part must not be zero"));
    };
    if delimiter.is_empty() {
        return Ok(if skipped == 0 { text } else { "" });
    }
    let part = if number > 0 { text.split(delimiter).nth(skipped) } else { text.rsplit(delimiter).nth(skipped) };
    Ok(part.unwrap_or(""))
}

/// Byte offset of character number `index`, or the length.
fn byte_offset(text: &str, index: usize) -> usize {
    if text.is_ascii() {
        return index.min(text.len());
    }
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

/// Characters `start .. start + length` of the string thought to begin at 1; what lies
/// outside the string is empty.
fn substring(text: &str, start: i64, length: Option<i64>) -> Result<&str> {
    let end = match length {
        None => i64::MAX,
        Some(length) if length < 0 => {
            return Err(error::invalid_argument("22011", "negative length of a substring"));
        }
        Some(length) => start.saturating_add(length),
    };
    let first = start.max(1);
    if end <= first {
        return Ok("");
    }
    let from = byte_offset(text, usize::try_from(first - 1).unwrap_or(usize::MAX));
    let rest = &text[from..];
    Ok(&rest[..byte_offset(rest, usize::try_from(end - first).unwrap_or(usize::MAX))])
}

fn left(text: &str, count: i64) -> &str {
    let count = if count >= 0 { count } else { character_count(text.as_bytes()).saturating_add(count).max(0) };
    &text[..byte_offset(text, usize::try_from(count).unwrap_or(usize::MAX))]
}

fn right(text: &str, count: i64) -> &str {
    let characters = character_count(text.as_bytes());
    let skipped = if count >= 0 { characters.saturating_sub(count).max(0) } else { count.saturating_neg() };
    &text[byte_offset(text, usize::try_from(skipped).unwrap_or(usize::MAX))..]
}

fn pad<'t>(text: &'t str, length: i64, fill: &str, start: bool) -> Result<Cow<'t, str>> {
    let length = usize::try_from(length).unwrap_or(0);
    let characters = character_count(text.as_bytes()) as usize;
    if characters >= length || fill.is_empty() {
        return Ok(Cow::Borrowed(&text[..byte_offset(text, length)]));
    }
    if length > TEXT_BYTES_MAX / 4 {
        return Err(error::text_too_large());
    }
    let padding: String = fill.chars().cycle().take(length - characters).collect();
    Ok(Cow::Owned(if start { padding + text } else { format!("{text}{padding}") }))
}
