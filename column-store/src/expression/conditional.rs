//! What evaluates only some of its parts for some of the rows: AND, OR, CASE, COALESCE.

use super::comparison::booleans;
use super::error;
use super::frame::Frame;
use super::logic;
use super::operand::Operand;
use super::program::Program;
use super::selection::{split_nulls, true_rows};
use crate::Result;
use crate::vector::{Data, Dictionary, TextVector, Vector};
use gingham_types::{SqlType, Value};
use std::sync::Arc;

/// `left AND right` or `left OR right`: the right side over the rows that the left side
/// does not decide, or over all where that cannot fail and most are undecided.
pub(crate) fn connective(and: bool, left: &Program, right: &Program, frame: &Frame<'_>) -> Result<Operand> {
    let rows = frame.len();
    let first = left.evaluate(frame)?;
    let vector = match &first {
        Operand::Constant(Value::Boolean(v)) if *v != and => return Ok(first),
        Operand::Constant(_) => return logic::connect(&first, &right.evaluate(frame)?, and, rows),
        Operand::Column(vector) => vector,
    };
    let values = booleans(&first)?;
    let valid = first.validity();
    let undecided: Vec<u32> = (0..rows as u32)
        .filter(|row| values.get(*row as usize) == and || !valid.is_none_or(|v| v[*row as usize]))
        .collect();
    if undecided.is_empty() {
        return Ok(first);
    }
    if undecided.len() == rows || (right.infallible && undecided.len() * 2 > rows) {
        return logic::connect(&first, &right.evaluate(frame)?, and, rows);
    }
    let second = right.evaluate(&frame.narrow(&undecided))?;
    let part = Operand::Column(Arc::new(vector.gather(&undecided)));
    let part = logic::connect(&part, &second, and, undecided.len())?;
    let pieces = [(undecided, part)];
    scatter(&pieces, SqlType::Boolean, rows, Some(Value::Boolean(!and)))
}

/// CASE: each condition over the rows that no former one took, each result over the
/// rows that its condition took.
pub(crate) fn case(
    branches: &[(Program, Program)],
    otherwise: Option<&Program>,
    ty: SqlType,
    frame: &Frame<'_>,
) -> Result<Operand> {
    let rows = frame.len();
    let mut left: Vec<u32> = (0..rows as u32).collect();
    let mut pieces = Vec::with_capacity(branches.len() + 1);
    for (condition, result) in branches {
        if left.is_empty() {
            break;
        }
        let part;
        let here = if left.len() == rows {
            frame
        } else {
            part = frame.narrow(&left);
            &part
        };
        let taken = match condition.evaluate(here)? {
            Operand::Constant(Value::Boolean(true)) => (0..left.len() as u32).collect(),
            Operand::Constant(_) => continue,
            Operand::Column(vector) => match &vector.data {
                Data::Boolean(data) => true_rows(data, vector.validity.as_deref()),
                _ => continue,
            },
        };
        if taken.is_empty() {
            continue;
        }
        if taken.len() == rows {
            return result.evaluate(frame);
        }
        let (took, rest) = split(&left, &taken);
        pieces.push((took.clone(), result.evaluate(&frame.narrow(&took))?));
        left = rest;
    }
    if let Some(otherwise) = otherwise {
        if left.len() == rows {
            return otherwise.evaluate(frame);
        }
        if !left.is_empty() {
            let value = otherwise.evaluate(&frame.narrow(&left))?;
            pieces.push((left, value));
        }
    }
    scatter(&pieces, ty, rows, None)
}

/// COALESCE: each argument over the rows for which all before were NULL.
pub(crate) fn coalesce(list: &[Program], ty: SqlType, frame: &Frame<'_>) -> Result<Operand> {
    let rows = frame.len();
    let mut left: Vec<u32> = (0..rows as u32).collect();
    let mut pieces = Vec::with_capacity(list.len());
    for argument in list {
        if left.is_empty() {
            break;
        }
        let whole = left.len() == rows;
        let value = if whole { argument.evaluate(frame)? } else { argument.evaluate(&frame.narrow(&left))? };
        match &value {
            Operand::Constant(Value::Null) => {}
            Operand::Constant(_) => {
                if whole {
                    return Ok(value);
                }
                pieces.push((std::mem::take(&mut left), value));
            }
            Operand::Column(vector) => {
                let (null, valid) = split_nulls(vector);
                if null.is_empty() && whole {
                    return Ok(value);
                }
                let took = valid.iter().map(|at| left[*at as usize]).collect();
                left = null.iter().map(|at| left[*at as usize]).collect();
                pieces.push((took, Operand::Column(Arc::new(vector.gather(&valid)))));
            }
        }
    }
    scatter(&pieces, ty, rows, None)
}

/// The rows at the positions in `taken` (ascending), and the others.
fn split(rows: &[u32], taken: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut rest = Vec::with_capacity(rows.len() - taken.len());
    let mut next = taken.iter().copied().peekable();
    for (at, row) in rows.iter().enumerate() {
        if next.peek() == Some(&(at as u32)) {
            next.next();
        } else {
            rest.push(*row);
        }
    }
    (taken.iter().map(|at| rows[*at as usize]).collect(), rest)
}

/// One vector from values over disjoint rows; elsewhere `rest`, or NULL.
fn scatter(pieces: &[(Vec<u32>, Operand)], ty: SqlType, rows: usize, rest: Option<Value>) -> Result<Operand> {
    let covered: usize = pieces.iter().map(|(at, _)| at.len()).sum();
    let mut valid = vec![rest.is_some(); rows];
    for (at, operand) in pieces {
        let validity = operand.validity();
        for (position, row) in at.iter().enumerate() {
            valid[*row as usize] = !operand.is_null() && validity.is_none_or(|v| v[position]);
        }
    }
    let validity = if (covered == rows || rest.is_some()) && valid.iter().all(|v| *v) { None } else { Some(valid) };
    let fill = rest.unwrap_or(Value::Null);
    let data = match Vector::constant(&fill, ty, rows).data {
        Data::Boolean(mut out) => {
            write(pieces, &mut out, |d| if let Data::Boolean(v) = d { Some(v) } else { None }, ty)?;
            Data::Boolean(out)
        }
        Data::Int32(mut out) => {
            write(pieces, &mut out, |d| if let Data::Int32(v) = d { Some(v) } else { None }, ty)?;
            Data::Int32(out)
        }
        Data::Double(mut out) => {
            write(pieces, &mut out, |d| if let Data::Double(v) = d { Some(v) } else { None }, ty)?;
            Data::Double(out)
        }
        Data::Interval(mut out) => {
            write(pieces, &mut out, |d| if let Data::Interval(v) = d { Some(v) } else { None }, ty)?;
            Data::Interval(out)
        }
        Data::Int64(mut out) => {
            if pieces.iter().any(|(_, operand)| is_wide(operand)) {
                let mut wide = vec![0i128; rows];
                write_wide(pieces, &mut wide);
                Data::Int128(wide)
            } else {
                write(pieces, &mut out, |d| if let Data::Int64(v) = d { Some(v) } else { None }, ty)?;
                Data::Int64(out)
            }
        }
        Data::Int128(out) => Data::Int128(out),
        Data::Text(_) => Data::Text(scatter_text(pieces, rows)?),
    };
    Ok(Operand::new(data, validity))
}

fn is_wide(operand: &Operand) -> bool {
    match operand {
        Operand::Column(vector) => matches!(vector.data, Data::Int128(_)),
        Operand::Constant(Value::Decimal { unscaled, .. }) => i64::try_from(*unscaled).is_err(),
        Operand::Constant(_) => false,
    }
}

fn write<T: Copy>(
    pieces: &[(Vec<u32>, Operand)],
    out: &mut [T],
    values: impl Fn(&Data) -> Option<&Vec<T>>,
    ty: SqlType,
) -> Result<()> {
    let wrong = || error::internal(format!("branches of {ty} have different forms"));
    for (at, operand) in pieces {
        match operand {
            Operand::Constant(Value::Null) => {}
            Operand::Constant(value) => {
                let one = Vector::constant(value, ty, 1);
                let value = *values(&one.data).and_then(|v| v.first()).ok_or_else(wrong)?;
                for row in at {
                    out[*row as usize] = value;
                }
            }
            Operand::Column(vector) => match values(&vector.data) {
                Some(values) => {
                    for (row, value) in at.iter().zip(values) {
                        out[*row as usize] = *value;
                    }
                }
                // A bare NULL is of another form and has nothing to write.
                None if vector.validity.as_ref().is_some_and(|v| !v.contains(&true)) => {}
                None => return Err(wrong()),
            },
        }
    }
    Ok(())
}

fn write_wide(pieces: &[(Vec<u32>, Operand)], out: &mut [i128]) {
    for (at, operand) in pieces {
        for (position, row) in at.iter().enumerate() {
            out[*row as usize] = match operand {
                Operand::Constant(Value::Decimal { unscaled, .. }) => *unscaled,
                Operand::Constant(_) => 0,
                Operand::Column(vector) => match &vector.data {
                    Data::Int64(v) => i128::from(v[position]),
                    Data::Int128(v) => v[position],
                    _ => 0,
                },
            };
        }
    }
}

/// Texts of several origins. Where they share one dictionary it is kept.
fn scatter_text(pieces: &[(Vec<u32>, Operand)], rows: usize) -> Result<TextVector> {
    let mut dictionaries = pieces.iter().map(|(_, operand)| match operand {
        Operand::Column(vector) => match &vector.data {
            Data::Text(text) if !text.dictionary.is_empty() => Some(&text.dictionary),
            _ => None,
        },
        Operand::Constant(_) => None,
    });
    let first = dictionaries.next().flatten();
    if let Some(first) = first.filter(|first| dictionaries.all(|d| d.is_some_and(|d| Arc::ptr_eq(d, first)))) {
        let mut codes = vec![0; rows];
        for (at, operand) in pieces {
            let Operand::Column(vector) = operand else { continue };
            let Data::Text(text) = &vector.data else { continue };
            for (row, code) in at.iter().zip(&text.codes) {
                codes[*row as usize] = *code;
            }
        }
        return Ok(TextVector { codes, dictionary: Arc::clone(first) });
    }
    let mut dictionary = Dictionary::default();
    let empty = dictionary.push(b"").ok_or_else(error::text_too_large)?;
    let mut codes = vec![empty; rows];
    for (at, operand) in pieces {
        match operand {
            Operand::Constant(value) => {
                let bytes = match value {
                    Value::Text(text) => text.as_bytes(),
                    Value::Blob(bytes) => bytes,
                    _ => continue,
                };
                let code = dictionary.push(bytes).ok_or_else(error::text_too_large)?;
                for row in at {
                    codes[*row as usize] = code;
                }
            }
            Operand::Column(vector) => {
                let Data::Text(text) = &vector.data else { continue };
                let few = text.dictionary.len() <= text.len();
                let mut known = vec![u32::MAX; if few { text.dictionary.len() } else { 0 }];
                for (row, code) in at.iter().zip(&text.codes) {
                    let new = match known.get(*code as usize) {
                        Some(new) if *new != u32::MAX => *new,
                        _ => dictionary.push(text.dictionary.get(*code)).ok_or_else(error::text_too_large)?,
                    };
                    if let Some(known) = known.get_mut(*code as usize) {
                        *known = new;
                    }
                    codes[*row as usize] = new;
                }
            }
        }
    }
    Ok(TextVector { codes, dictionary: Arc::new(dictionary) })
}
