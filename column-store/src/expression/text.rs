//! Functions of text over vectors.

use super::entries::{DictionaryMemo, EntryMemo};
use super::error;
use super::like::Matcher;
use super::operand::{Operand, both_valid};
use super::text_function::{TextCall, character_count, position};
use crate::Result;
use crate::vector::{Data, Dictionary, TextVector, Vector};
use gingham_plan::Function;
use gingham_types::{SqlType, Value};
use std::sync::Arc;

/// Whether `function(text, rest…)` gives text and cannot fail.
pub(super) fn is_infallible(function: Function, ty: SqlType, rest: &[Value]) -> bool {
    ty == SqlType::Text && TextCall::new(function, rest).is_some_and(|call| call.infallible())
}

/// Whether `function(text, rest…)` is one of those that [`measure`] computes.
pub(super) fn is_measure(function: Function, ty: SqlType, rest: &[Value]) -> bool {
    matches!(
        (function, ty, rest),
        (Function::Length, SqlType::Text, [])
            | (Function::OctetLength, SqlType::Text | SqlType::Blob, [])
            | (Function::Position | Function::StartsWith, SqlType::Text, [Value::Text(_)])
    )
}

fn text_of(operand: &Operand) -> Result<(&TextVector, &Vector)> {
    match operand {
        Operand::Column(vector) => match &vector.data {
            Data::Text(text) => Ok((text, vector)),
            _ => Err(error::internal("text of another form")),
        },
        Operand::Constant(_) => Err(error::internal("a constant that was not folded")),
    }
}

/// A function from text to text with constant further arguments, which cannot fail.
pub(super) fn apply(operand: &Operand, function: Function, rest: &[Value], memo: &DictionaryMemo) -> Result<Operand> {
    if let Operand::Constant(value) = operand {
        let arguments: Vec<Value> = std::iter::once(value).chain(rest).cloned().collect();
        return super::scalar_function::call(function, &arguments, SqlType::Text).map(Operand::Constant);
    }
    let (text, vector) = text_of(operand)?;
    let call = TextCall::new(function, rest).ok_or_else(|| error::internal(format!("{function:?} of text")))?;
    let push = |bytes: &[u8], made: &mut Dictionary| {
        let result = call.apply(utf8(bytes)?)?;
        made.push(result.as_bytes()).map(|_| ()).ok_or_else(error::text_too_large)
    };
    let result = if let Some(result) = memo.map(text, push)? {
        result
    } else {
        let mut made = Dictionary::default();
        for row in 0..text.len() {
            // NULLs get an entry too, so that codes are row numbers.
            push(if vector.is_valid(row) { text.bytes(row) } else { b"" }, &mut made)?;
        }
        TextVector { codes: (0..text.len() as u32).collect(), dictionary: Arc::new(made) }
    };
    Ok(Operand::new(Data::Text(result), vector.validity.clone()))
}

/// Text that stores and casts have checked.
fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| crate::Error::Corrupt("text that is not UTF-8".into()))
}

/// A function from text to a number or a truth value with constant further arguments.
pub(super) fn measure(
    operand: &Operand,
    function: Function,
    rest: &[Value],
    memo: &EntryMemo<i32>,
    ty: SqlType,
) -> Result<Operand> {
    if let Operand::Constant(value) = operand {
        let arguments: Vec<Value> = std::iter::once(value).chain(rest).cloned().collect();
        return super::scalar_function::call(function, &arguments, ty).map(Operand::Constant);
    }
    let (text, vector) = text_of(operand)?;
    let part = match rest {
        [Value::Text(part)] => part.as_bytes(),
        _ => b"",
    };
    let values = memo.map(text, vector.validity.as_deref(), |bytes| {
        Ok(match function {
            Function::Length => character_count(bytes) as i32,
            Function::OctetLength => bytes.len() as i32,
            Function::StartsWith => i32::from(bytes.starts_with(part)),
            _ => position(bytes, part) as i32,
        })
    })?;
    let data = match ty {
        SqlType::Boolean => Data::Boolean(values.into_iter().map(|v| v != 0).collect()),
        SqlType::BigInt => Data::Int64(values.into_iter().map(i64::from).collect()),
        _ => Data::Int32(values),
    };
    Ok(Operand::new(data, vector.validity.clone()))
}

/// LIKE with a constant pattern.
pub(super) fn like(operand: &Operand, matcher: &Matcher, negated: bool, memo: &EntryMemo<bool>) -> Result<Operand> {
    match operand {
        Operand::Constant(Value::Null) => return Ok(Operand::Constant(Value::Null)),
        Operand::Constant(Value::Text(text)) => {
            return Ok(Operand::Constant(Value::Boolean(matcher.matches(text.as_bytes()) != negated)));
        }
        _ => {}
    }
    let (text, vector) = text_of(operand)?;
    let matches = memo.map(text, vector.validity.as_deref(), |bytes| Ok(matcher.matches(bytes) != negated))?;
    Ok(Operand::new(Data::Boolean(matches), vector.validity.clone()))
}

/// LIKE with a pattern a row.
pub(super) fn like_each(
    operand: &Operand,
    pattern: &Operand,
    escape: Option<char>,
    ignore_case: bool,
    negated: bool,
    rows: usize,
) -> Result<Operand> {
    if operand.is_null() || pattern.is_null() {
        return Ok(Operand::Constant(Value::Null));
    }
    let validity = both_valid(operand, pattern);
    let mut results = vec![false; rows];
    // Patterns tend to repeat from one row to the next.
    let mut last: Option<(&[u8], Matcher)> = None;
    for (row, result) in results.iter_mut().enumerate() {
        if validity.as_ref().is_some_and(|v| !v[row]) {
            continue;
        }
        let pattern = bytes(pattern, row)?;
        if last.as_ref().is_none_or(|(known, _)| *known != pattern) {
            last = Some((pattern, Matcher::new(utf8(pattern)?, escape, ignore_case)?));
        }
        let text = bytes(operand, row)?;
        *result = last.as_ref().is_some_and(|(_, matcher)| matcher.matches(text)) != negated;
    }
    Ok(Operand::new(Data::Boolean(results), validity))
}

/// The bytes of a row of text.
fn bytes(operand: &Operand, row: usize) -> Result<&[u8]> {
    match operand {
        Operand::Constant(Value::Text(text)) => Ok(text.as_bytes()),
        Operand::Constant(Value::Blob(bytes)) => Ok(bytes),
        Operand::Constant(_) => Err(error::internal("text of another type")),
        Operand::Column(_) => text_of(operand).map(|(text, _)| text.bytes(row)),
    }
}

/// `||`.
pub(super) fn concat(a: &Operand, b: &Operand, rows: usize) -> Result<Operand> {
    if a.is_null() || b.is_null() {
        return Ok(Operand::Constant(Value::Null));
    }
    let validity = both_valid(a, b);
    let mut dictionary = Dictionary::default();
    let mut joined = Vec::new();
    for row in 0..rows {
        joined.clear();
        if validity.as_ref().is_none_or(|v| v[row]) {
            joined.extend_from_slice(bytes(a, row)?);
            joined.extend_from_slice(bytes(b, row)?);
        }
        dictionary.push(&joined).ok_or_else(error::text_too_large)?;
    }
    let codes = (0..rows as u32).collect();
    Ok(Operand::new(Data::Text(TextVector { codes, dictionary: Arc::new(dictionary) }), validity))
}
