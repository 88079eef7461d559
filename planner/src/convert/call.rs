//! Scalar functions: names to [`Function`]s, with arguments of the types these want.

use super::coerce::{arithmetic, cast_to, coerce, same_type};
use super::query::Converter;
use super::scalar::{Place, result_type};
use datafusion_expr::expr::ScalarFunction;
use gingham_plan::{BinaryOp, DateField, Expr, Function, SqlError};
use gingham_types::{DECIMAL_DIGITS_MAX, SqlType, Value};

/// What a function's argument must be.
#[derive(Clone, Copy)]
enum Argument {
    Text,
    BigInt,
    Double,
    /// DOUBLE or DECIMAL; integers as they are.
    Number,
}

impl Converter<'_> {
    /// Converts a call, of an operator or of a function.
    pub(super) fn call(&mut self, call: &ScalarFunction, place: &mut Place<'_>) -> Result<Expr, SqlError> {
        if let Some(op) = operator_of(call.name()) {
            return self.operator(op, &call.args, place);
        }
        let mut arguments = Vec::with_capacity(call.args.len());
        for argument in &call.args {
            arguments.push(self.expr(argument, place)?);
        }
        let name = call.name();
        let expr = function(name, arguments).map_err(|error| self.locate(error, name))?;
        self.note_parameters(&expr);
        Ok(expr)
    }
}

/// A function's call with arguments of the types it wants.
fn function(name: &str, mut arguments: Vec<Expr>) -> Result<Expr, SqlError> {
    use Argument::{BigInt, Double, Number, Text};
    let text = SqlType::Text;
    let integer = SqlType::Integer;
    let fixed = |function, kinds: &[Argument], required: usize, ty| {
        Ok(Expr::Call { function, arguments: typed(name, &arguments, kinds, required)?, ty })
    };
    match name {
        "now" | "current_timestamp" | "localtimestamp" | "current_date" if !arguments.is_empty() => {
            Err(wrong_count(name, arguments.len()))
        }
        "now" | "current_timestamp" | "localtimestamp" => Ok(Expr::Now),
        "current_date" => cast_to(Expr::Now, SqlType::Date),
        "sqrt" => fixed(Function::Sqrt, &[Double], 1, SqlType::Double),
        "exp" => fixed(Function::Exp, &[Double], 1, SqlType::Double),
        "ln" => fixed(Function::Ln, &[Double], 1, SqlType::Double),
        "log" | "log10" => fixed(Function::Log10, &[Double], 1, SqlType::Double),
        "power" | "pow" => fixed(Function::Power, &[Double, Double], 2, SqlType::Double),
        "sign" => fixed(Function::Sign, &[Number], 1, integer),
        "length" | "char_length" | "character_length" => fixed(Function::Length, &[Text], 1, integer),
        "lower" => fixed(Function::Lower, &[Text], 1, text),
        "upper" => fixed(Function::Upper, &[Text], 1, text),
        "trim" | "btrim" => fixed(Function::Trim, &[Text, Text], 1, text),
        "ltrim" => fixed(Function::TrimStart, &[Text, Text], 1, text),
        "rtrim" => fixed(Function::TrimEnd, &[Text, Text], 1, text),
        "replace" => fixed(Function::Replace, &[Text, Text, Text], 3, text),
        "substring" | "substr" => fixed(Function::Substring, &[Text, BigInt, BigInt], 2, text),
        "strpos" | "instr" => fixed(Function::Position, &[Text, Text], 2, integer),
        "left" => fixed(Function::Left, &[Text, BigInt], 2, text),
        "right" => fixed(Function::Right, &[Text, BigInt], 2, text),
        "repeat" => fixed(Function::Repeat, &[Text, BigInt], 2, text),
        "reverse" => fixed(Function::Reverse, &[Text], 1, text),
        "starts_with" => fixed(Function::StartsWith, &[Text, Text], 2, SqlType::Boolean),
        "lpad" | "rpad" => {
            let function = if name == "lpad" { Function::PadStart } else { Function::PadEnd };
            if arguments.len() == 2 {
                arguments.push(Expr::literal(Value::Text(" ".into()), text));
            }
            Ok(Expr::Call { function, arguments: typed(name, &arguments, &[Text, BigInt, Text], 3)?, ty: text })
        }
        "concat" => {
            let arguments = arguments.into_iter().map(|a| cast_to(a, text)).collect::<Result<_, _>>()?;
            Ok(Expr::Call { function: Function::ConcatAll, arguments, ty: text })
        }
        "abs" => {
            let arguments = typed(name, &arguments, &[Number], 1)?;
            let ty = arguments[0].ty();
            Ok(Expr::Call { function: Function::Abs, arguments, ty })
        }
        "ceil" | "ceiling" => rounding(name, Function::Ceil, arguments),
        "floor" => rounding(name, Function::Floor, arguments),
        "round" => rounding(name, Function::Round, arguments),
        "trunc" => rounding(name, Function::Truncate, arguments),
        "mod" => match <[Expr; 2]>::try_from(arguments) {
            Ok([a, b]) => arithmetic(BinaryOp::Modulo, a, b),
            Err(arguments) => Err(wrong_count(name, arguments.len())),
        },
        "octet_length" => match arguments.as_slice() {
            [a] if a.ty() == SqlType::Blob => {
                Ok(Expr::Call { function: Function::OctetLength, arguments, ty: integer })
            }
            _ => fixed(Function::OctetLength, &[Text], 1, integer),
        },
        "coalesce" | "ifnull" | "greatest" | "least" => same_typed(name, arguments),
        "nullif" => match <[Expr; 2]>::try_from(arguments) {
            Ok([a, b]) => {
                let types = format!("{} and {}", a.ty(), b.ty());
                let (a, b) = same_type(a, b).map_err(|error| {
                    error.unwrap_or_else(|| SqlError::new("42804", format!("nullif compares {types}")))
                })?;
                let ty = a.ty();
                Ok(Expr::Call { function: Function::NullIf, arguments: vec![a, b], ty })
            }
            Err(arguments) => Err(wrong_count(name, arguments.len())),
        },
        "extract" | "date_part" => extract(name, arguments),
        "split_part" => fixed(Function::SplitPart, &[Text, Text, BigInt], 3, text),
        "initcap" => fixed(Function::InitialCapitals, &[Text], 1, text),
        "chr" => fixed(Function::Character, &[BigInt], 1, text),
        "ascii" => fixed(Function::CodePoint, &[Text], 1, integer),
        "make_date" => fixed(Function::MakeDate, &[BigInt, BigInt, BigInt], 3, SqlType::Date),
        "typeof" | "pg_typeof" => match arguments.as_slice() {
            [a] => Ok(Expr::literal(Value::Text(a.ty().to_string()), text)),
            _ => Err(wrong_count(name, arguments.len())),
        },
        "date_add" | "date_sub" => match <[Expr; 2]>::try_from(arguments) {
            Ok([a, b]) => arithmetic(if name == "date_add" { BinaryOp::Add } else { BinaryOp::Subtract }, a, b),
            Err(arguments) => Err(wrong_count(name, arguments.len())),
        },
        "date_diff" | "datediff" => super::time::difference(name, arguments),
        "strftime" | "to_char" | "dayname" | "monthname" => super::time::formatted(name, arguments),
        "year" | "quarter" | "month" | "week" | "day" | "hour" | "minute" | "second" | "dayofweek" | "dayofyear"
        | "epoch" => {
            arguments.insert(0, Expr::literal(Value::Text(name.to_owned()), text));
            extract(name, arguments)
        }
        "date_trunc" => date_trunc(name, arguments),
        "date" => match <[Expr; 1]>::try_from(arguments) {
            Ok([a]) => cast_to(a, SqlType::Date),
            Err(arguments) => Err(wrong_count(name, arguments.len())),
        },
        _ => Err(SqlError::new("42883", format!("function {name} does not exist"))),
    }
}

/// Functions whose arguments and result have one type.
fn same_typed(name: &str, mut arguments: Vec<Expr>) -> Result<Expr, SqlError> {
    let function = match name {
        "greatest" => Function::Greatest,
        "least" => Function::Least,
        _ => Function::Coalesce,
    };
    if arguments.is_empty() || (name == "ifnull" && arguments.len() != 2) {
        return Err(wrong_count(name, arguments.len()));
    }
    let ty = result_type(arguments.iter(), name)?;
    arguments = arguments.into_iter().map(|a| coerce(a, ty)).collect::<Result<_, _>>()?;
    if function == Function::Coalesce {
        // What follows a value that is never NULL is never looked at, nor are NULLs.
        arguments.retain(|a| !matches!(a, Expr::Literal { value: Value::Null, .. }));
        if let Some(first) = arguments.iter().position(|a| matches!(a, Expr::Literal { .. })) {
            arguments.truncate(first + 1);
        }
    }
    match arguments.len() {
        0 => Ok(Expr::literal(Value::Null, ty)),
        1 => Ok(arguments.swap_remove(0)),
        _ => Ok(Expr::Call { function, arguments, ty }),
    }
}

pub(super) fn wrong_count(name: &str, count: usize) -> SqlError {
    SqlError::new("42883", format!("function {name} does not take {count} arguments"))
}

/// Brings arguments to the types a function wants.
fn typed(name: &str, arguments: &[Expr], kinds: &[Argument], required: usize) -> Result<Vec<Expr>, SqlError> {
    if arguments.len() < required || arguments.len() > kinds.len() {
        return Err(wrong_count(name, arguments.len()));
    }
    let wrong =
        |ty: SqlType| SqlError::new("42883", format!("function {name} does not take {ty}")).hint("cast the argument");
    let convert = |(argument, kind): (&Expr, &Argument)| {
        let ty = argument.ty();
        let target = match kind {
            Argument::Text => SqlType::Text,
            Argument::BigInt => SqlType::BigInt,
            Argument::Double => SqlType::Double,
            Argument::Number if ty.is_numeric() => ty,
            Argument::Number => SqlType::Double,
        };
        coerce(argument.clone(), target).map_err(|error| if error.code == "42804" { wrong(ty) } else { error })
    };
    arguments.iter().zip(kinds).map(convert).collect()
}

/// `ceil`, `floor`, `round` and `trunc`, which leave integers alone.
fn rounding(name: &str, function: Function, arguments: Vec<Expr>) -> Result<Expr, SqlError> {
    let digits_allowed = function == Function::Round;
    let count = arguments.len();
    let mut iterator = arguments.into_iter();
    let (Some(first), digits, None) = (iterator.next(), iterator.next(), iterator.next()) else {
        return Err(wrong_count(name, count));
    };
    if digits.is_some() && !digits_allowed {
        return Err(wrong_count(name, count));
    }
    let mut arguments = typed(name, &[first], &[Argument::Number], 1)?;
    let ty = arguments[0].ty();
    if ty.is_integer() && digits.is_none() {
        return Ok(arguments.swap_remove(0));
    }
    if ty.is_integer() {
        let (precision, scale) = ty.as_decimal().unwrap_or((19, 0));
        let number = arguments.swap_remove(0);
        arguments.push(cast_to(number, SqlType::decimal(precision, scale))?);
    }
    let digits = digits.map(|digits| coerce(digits, SqlType::Integer)).transpose()?;
    let ty = match arguments[0].ty() {
        SqlType::Decimal { precision, scale } => {
            // As many digits after the point as asked for; as the argument where that is
            // not known before the query runs.
            let wanted = match &digits {
                None => 0,
                Some(Expr::Literal { value: Value::Int(n), .. }) => {
                    u8::try_from((*n).clamp(0, i64::from(DECIMAL_DIGITS_MAX))).unwrap_or(0)
                }
                Some(_) => scale,
            };
            // Rounding up may carry into one digit more.
            let precision = precision.saturating_sub(scale).saturating_add(wanted).saturating_add(1);
            SqlType::decimal(precision.clamp(wanted.max(1), DECIMAL_DIGITS_MAX), wanted)
        }
        ty => ty,
    };
    arguments.extend(digits);
    Ok(Expr::Call { function, arguments, ty })
}

/// `extract(field FROM x)` as (field, x).
fn extract(name: &str, arguments: Vec<Expr>) -> Result<Expr, SqlError> {
    let (field, from) = field_and_time(name, arguments)?;
    Ok(Expr::Call { function: Function::Extract(field), arguments: vec![from], ty: SqlType::BigInt })
}

fn date_trunc(name: &str, arguments: Vec<Expr>) -> Result<Expr, SqlError> {
    let (field, from) = field_and_time(name, arguments)?;
    if matches!(field, DateField::DayOfWeek | DateField::DayOfYear | DateField::Epoch) {
        return Err(SqlError::new("22023", "date_trunc does not know this unit"));
    }
    let ty = from.ty();
    Ok(Expr::Call { function: Function::DateTruncate(field), arguments: vec![from], ty })
}

pub(super) fn field_and_time(name: &str, arguments: Vec<Expr>) -> Result<(DateField, Expr), SqlError> {
    let count = arguments.len();
    let Ok([field, from]) = <[Expr; 2]>::try_from(arguments) else { return Err(wrong_count(name, count)) };
    let Expr::Literal { value: Value::Text(field), .. } = field else {
        return Err(SqlError::unsupported(format!("{name} with a unit that is not a constant")));
    };
    let known = match field.to_ascii_lowercase().trim_end_matches('s') {
        "year" => DateField::Year,
        "quarter" => DateField::Quarter,
        "month" => DateField::Month,
        "week" => DateField::Week,
        "day" => DateField::Day,
        "dow" | "dayofweek" => DateField::DayOfWeek,
        "doy" | "dayofyear" => DateField::DayOfYear,
        "hour" => DateField::Hour,
        "minute" => DateField::Minute,
        "second" => DateField::Second,
        "epoch" => DateField::Epoch,
        _ => return Err(SqlError::new("22023", format!("{name} does not know the unit {field}"))),
    };
    let from = match from.ty() {
        SqlType::Date | SqlType::Timestamp => from,
        SqlType::Null | SqlType::Text if super::coerce::is_unknown(&from) => cast_to(from, SqlType::Timestamp)?,
        ty => return Err(SqlError::new("42883", format!("function {name} does not take {ty}"))),
    };
    Ok((known, from))
}

fn operator_of(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Subtract,
        "*" => BinaryOp::Multiply,
        "/" => BinaryOp::Divide,
        "%" => BinaryOp::Modulo,
        "||" => BinaryOp::Concat,
        "=" => BinaryOp::Equal,
        "<>" => BinaryOp::NotEqual,
        "<" => BinaryOp::Less,
        "<=" => BinaryOp::LessOrEqual,
        ">" => BinaryOp::Greater,
        ">=" => BinaryOp::GreaterOrEqual,
        _ => return None,
    })
}
