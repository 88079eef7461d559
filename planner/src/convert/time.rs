//! Functions of times that need their format or unit while planning.

use super::call::{field_and_time, wrong_count};
use super::coerce::{cast_to, coerce, is_unknown};
use gingham_plan::{Expr, Function, SqlError};
use gingham_types::{SqlType, Value};

/// `date_diff('unit', from, to)`.
pub(super) fn difference(name: &str, arguments: Vec<Expr>) -> Result<Expr, SqlError> {
    let count = arguments.len();
    let Ok([unit, from, to]) = <[Expr; 3]>::try_from(arguments) else { return Err(wrong_count(name, count)) };
    let (field, from) = field_and_time(name, vec![unit.clone(), from])?;
    let (_, to) = field_and_time(name, vec![unit, to])?;
    let ty = if from.ty() == to.ty() { from.ty() } else { SqlType::Timestamp };
    let arguments = vec![cast_to(from, ty)?, cast_to(to, ty)?];
    Ok(Expr::Call { function: Function::DateDifference(field), arguments, ty: SqlType::BigInt })
}

/// A time by a format: `strftime` in C's, `to_char` in PostgreSQL's.
pub(super) fn formatted(name: &str, arguments: Vec<Expr>) -> Result<Expr, SqlError> {
    let count = arguments.len();
    let text = |format: &str| Expr::literal(Value::Text(format.to_owned()), SqlType::Text);
    let (time, format) = match (name, <[Expr; 2]>::try_from(arguments)) {
        // SQLite has the format first.
        ("strftime", Ok([a, b])) if matches!(b.ty(), SqlType::Date | SqlType::Timestamp) => (b, a),
        ("strftime" | "to_char", Ok([a, b])) => (a, b),
        ("dayname" | "monthname", Err(mut one)) if one.len() == 1 => {
            (one.swap_remove(0), text(if name == "dayname" { "%A" } else { "%B" }))
        }
        _ => return Err(wrong_count(name, count)),
    };
    let time = match time.ty() {
        SqlType::Date | SqlType::Timestamp => cast_to(time, SqlType::Timestamp)?,
        _ if is_unknown(&time) => cast_to(time, SqlType::Timestamp)?,
        ty => return Err(SqlError::new("42883", format!("function {name} does not take {ty}"))),
    };
    let format = match (name, format) {
        ("to_char", Expr::Literal { value: Value::Text(pattern), .. }) => text(&translated(&pattern)),
        ("to_char", _) => return Err(SqlError::unsupported("to_char with a format that is not a constant")),
        (_, format) => coerce(format, SqlType::Text)?,
    };
    Ok(Expr::Call { function: Function::FormatTime, arguments: vec![time, format], ty: SqlType::Text })
}

/// PostgreSQL's patterns, the longest first, and C's.
const PATTERNS: &[(&str, &str)] = &[
    ("YYYY", "%Y"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("Month", "%B"),
    ("DDD", "%j"),
    ("Day", "%A"),
    ("Mon", "%b"),
    ("YY", "%y"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("Dy", "%a"),
    ("HH", "%I"),
    ("MI", "%M"),
    ("SS", "%S"),
    ("MS", "%g"),
    ("US", "%f"),
    ("AM", "%p"),
    ("PM", "%p"),
    ("IW", "%V"),
    ("ID", "%u"),
    ("FM", ""),
    ("Q", "%q"),
];

/// A format of PostgreSQL as one of C's. Text in double quotes stands for itself.
fn translated(pattern: &str) -> String {
    let mut format = String::new();
    let mut rest = pattern;
    let mut quoted = false;
    while let Some(character) = rest.chars().next() {
        let known = PATTERNS.iter().find(|(pattern, _)| !quoted && rest.starts_with(pattern));
        if let Some((pattern, own)) = known {
            format.push_str(own);
            rest = &rest[pattern.len()..];
            continue;
        }
        match character {
            '"' => quoted = !quoted,
            '%' => format.push_str("%%"),
            other => format.push(other),
        }
        rest = &rest[character.len_utf8()..];
    }
    format
}
