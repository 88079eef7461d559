//! Aggregates that see all values of a group in order, and names that stand for others.

use super::aggregate::wrong_count;
use super::coerce::{cast_to, coerce, is_unknown};
use super::fold::fold;
use gingham_plan::{AggregateCall, AggregateFunction, BinaryOp, Expr, SortKey, SqlError};
use gingham_types::{SqlType, Value};

/// The call of a collecting aggregate; `None` for another one.
pub(super) fn collected(
    name: &str,
    arguments: &mut Vec<Expr>,
    order: Vec<SortKey>,
    distinct: bool,
) -> Result<Option<AggregateCall>, SqlError> {
    use AggregateFunction as Function;
    let function = match name {
        "string_agg" | "group_concat" => Function::StringJoin,
        "median" | "quantile_cont" | "percentile_cont" => Function::QuantileContinuous,
        "quantile" | "quantile_disc" | "percentile_disc" => Function::QuantileDiscrete,
        "mode" => Function::Mode,
        "first" => Function::First,
        "last" => Function::Last,
        "any_value" => Function::AnyValue,
        "arg_min" | "min_by" => Function::ArgumentMin,
        "arg_max" | "max_by" => Function::ArgumentMax,
        "covar_pop" => Function::CovariancePopulation,
        "covar_samp" => Function::CovarianceSample,
        "corr" => Function::Correlation,
        _ => return Ok(None),
    };
    let count = arguments.len();
    let mut values = std::mem::take(arguments).into_iter();
    let (Some(first), second, None) = (values.next(), values.next(), values.next()) else {
        return Err(wrong_count(name, count));
    };
    let own_order = |descending| vec![SortKey { expr: Expr::column(0, SqlType::Null), descending, nulls_first: false }];
    // WITHIN GROUP has put what it orders by first.
    let descending = order.first().is_some_and(|key| key.descending);
    let known = |e: Expr| if is_unknown(&e) { cast_to(e, SqlType::Text) } else { Ok(e) };
    let (argument, second, order) = match (function, second) {
        (Function::StringJoin, separator) => {
            let separator = match separator {
                Some(separator) => coerce(separator, SqlType::Text)?,
                None if name == "group_concat" => Expr::literal(Value::Text(",".into()), SqlType::Text),
                None => return Err(wrong_count(name, count)),
            };
            let text =
                if name == "group_concat" { cast_to(first, SqlType::Text)? } else { coerce(first, SqlType::Text)? };
            (text, Some(separator), order)
        }
        (Function::QuantileContinuous, share) if share.is_some() || name == "median" => {
            let share = match share {
                Some(_) if name == "median" => return Err(wrong_count(name, count)),
                Some(share) => share_of(share)?,
                None => Expr::literal(Value::Double(0.5), SqlType::Double),
            };
            if !first.ty().is_numeric() && !is_unknown(&first) {
                return Err(SqlError::new("42883", format!("function {name} does not take {}", first.ty())));
            }
            (cast_to(first, SqlType::Double)?, Some(share), own_order(descending))
        }
        (Function::QuantileDiscrete, Some(share)) => (known(first)?, Some(share_of(share)?), own_order(descending)),
        (Function::Mode, None) => (known(first)?, None, own_order(false)),
        (Function::First | Function::Last | Function::AnyValue, None) => (known(first)?, None, order),
        (Function::ArgumentMin | Function::ArgumentMax, Some(key)) => {
            let key = known(key)?;
            let keys =
                vec![SortKey { expr: key.clone(), descending: function == Function::ArgumentMax, nulls_first: false }];
            (known(first)?, Some(key), keys)
        }
        (Function::CovariancePopulation | Function::CovarianceSample | Function::Correlation, Some(second)) => {
            let number = |e: Expr| match e.ty() {
                ty if ty.is_numeric() || is_unknown(&e) => cast_to(e, SqlType::Double),
                ty => Err(SqlError::new("42883", format!("function {name} does not take {ty}"))),
            };
            (number(first)?, Some(number(second)?), Vec::new())
        }
        _ => return Err(wrong_count(name, count)),
    };
    let ty = argument.ty();
    // What is ordered by its own value.
    let order = order
        .into_iter()
        .map(|key| match key.expr {
            Expr::Column { ty: SqlType::Null, .. } => SortKey { expr: argument.clone(), ..key },
            _ => key,
        })
        .collect();
    Ok(Some(AggregateCall { distinct, second, order, ..AggregateCall::new(function, Some(argument), ty) }))
}

/// A quantile's share as a DOUBLE, refused now if it is a constant out of range.
fn share_of(share: Expr) -> Result<Expr, SqlError> {
    let share =
        if share.ty().is_numeric() { cast_to(share, SqlType::Double)? } else { coerce(share, SqlType::Double)? };
    match &share {
        Expr::Literal { value: Value::Double(v), .. } if !(0.0..=1.0).contains(v) => {
            Err(SqlError::new("22003", format!("the share {v} of a quantile is not between 0 and 1")))
        }
        _ => Ok(share),
    }
}

/// A name's aggregate and what it is called with, for names that stand for others.
pub(super) fn rewritten<'n>(
    name: &'n str,
    arguments: &mut Vec<Expr>,
    distinct: bool,
    filter: Option<Expr>,
) -> Result<(&'n str, bool, Option<Expr>), SqlError> {
    match name {
        // The exact count is near enough, and the same on every run.
        "approx_count_distinct" if arguments.len() == 1 => Ok(("count", true, filter)),
        "count_if" | "countif" if arguments.len() == 1 && !distinct => {
            let condition = arguments
                .pop()
                .map_or(Ok(Expr::literal(Value::Null, SqlType::Boolean)), |e| coerce(e, SqlType::Boolean))?;
            let filter = match filter {
                Some(filter) => fold(Expr::boolean(BinaryOp::And, filter, condition)),
                None => condition,
            };
            Ok(("count", false, Some(filter)))
        }
        "approx_count_distinct" | "count_if" | "countif" => Err(wrong_count(name, arguments.len())),
        _ => Ok((name, distinct, filter)),
    }
}
