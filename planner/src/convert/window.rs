//! Window functions: calls with their partitions, orders and frames.

use super::aggregate::{unaliased, wrong_count};
use super::coerce::{arithmetic, cast_to, coerce, common_type, is_unknown};
use super::collected::{collected, rewritten};
use super::query::{Converted, Converter, Scope};
use super::scalar::{Place, result_type};
use crate::logical::Rel;
use crate::text::window::exclusion_of;
use datafusion_common::ScalarValue;
use datafusion_expr::expr::WindowFunction as BoundCall;
use datafusion_expr::logical_plan::Window;
use datafusion_expr::{Expr as Bound, WindowFrame, WindowFrameBound, WindowFrameUnits};
use gingham_plan::{
    AggregateCall, AggregateFunction, BinaryOp, Expr, Frame, FrameBound, FrameExclusion, FrameUnits, SortKey, SqlError,
    WindowCall, WindowFunction,
};
use gingham_types::{SqlType, Value, parse_decimal, parse_interval};
use std::sync::Arc;

/// Window functions that are no aggregates, by the names of their stubs.
pub(super) fn function_of(name: &str) -> Option<WindowFunction> {
    Some(match name {
        "row_number" => WindowFunction::RowNumber,
        "rank" => WindowFunction::Rank,
        "dense_rank" => WindowFunction::DenseRank,
        "percent_rank" => WindowFunction::PercentRank,
        "cume_dist" => WindowFunction::CumeDist,
        "ntile" => WindowFunction::Ntile,
        "lag" => WindowFunction::Lag,
        "lead" => WindowFunction::Lead,
        "nth" => WindowFunction::Nth,
        _ => return None,
    })
}

/// Calls that share partitions and order.
struct Group {
    partition: Vec<Expr>,
    order: Vec<SortKey>,
    calls: Vec<(usize, WindowCall)>,
}

impl Converter<'_> {
    pub(super) fn window(&mut self, window: &Window) -> Result<Converted, SqlError> {
        let Converted { mut rel, ids } = self.relation(&window.input)?;
        let scope = Scope { schema: Arc::clone(window.input.schema()), ids };
        let mut outputs = scope.ids.clone();
        let mut groups: Vec<Group> = Vec::new();
        for bound in &window.window_expr {
            let Bound::WindowFunction(bound_call) = unaliased(bound) else {
                return Err(SqlError::internal("a window function is not one"));
            };
            let (partition, order, call) = self.window_call(bound_call, &scope, &mut rel)?;
            let nullable = !matches!(
                call.function,
                WindowFunction::RowNumber
                    | WindowFunction::Rank
                    | WindowFunction::DenseRank
                    | WindowFunction::PercentRank
                    | WindowFunction::CumeDist
                    | WindowFunction::Aggregate(AggregateFunction::Count | AggregateFunction::CountStar)
            );
            let id = self.columns.add(call.ty, nullable);
            outputs.push(id);
            match groups.iter_mut().find(|g| g.partition == partition && g.order == order) {
                Some(group) => group.calls.push((id, call)),
                None => groups.push(Group { partition, order, calls: vec![(id, call)] }),
            }
        }
        for Group { partition, order, calls } in groups {
            rel = Rel::Window { input: Box::new(rel), partition, order, calls };
        }
        Ok(Converted { rel, ids: outputs })
    }

    fn window_call(
        &mut self,
        bound: &BoundCall,
        scope: &Scope,
        rel: &mut Rel,
    ) -> Result<(Vec<Expr>, Vec<SortKey>, WindowCall), SqlError> {
        let name = bound.fun.name();
        let parameters = &bound.params;
        let mut exclude = FrameExclusion::NoOthers;
        let mut partition: Vec<Expr> = Vec::new();
        for key in &parameters.partition_by {
            if let Some(exclusion) = marker(key) {
                exclude = exclusion;
                continue;
            }
            let expr = self.key(key, scope, rel)?;
            if !is_constant(&expr) && !partition.contains(&expr) {
                partition.push(expr);
            }
        }
        let mut keys: Vec<SortKey> = Vec::new();
        for key in &parameters.order_by {
            let expr = self.key(&key.expr, scope, rel)?;
            keys.push(SortKey { expr, descending: !key.asc, nulls_first: key.nulls_first });
        }
        let mut order: Vec<SortKey> = Vec::new();
        for key in &keys {
            let known = is_constant(&key.expr) || partition.contains(&key.expr);
            if !known && !order.iter().any(|k| k.expr == key.expr) {
                order.push(key.clone());
            }
        }
        let frame = frame_of(&parameters.window_frame, &keys, order.is_empty(), exclude);
        let frame = frame.map_err(|error| self.locate(error, "over"))?;
        let filter = match &parameters.filter {
            Some(bound) => {
                let expr = self.expr(bound, &mut Place { scope, rel: Some(rel) })?;
                Some(self.boolean(expr, bound)?)
            }
            None => None,
        };
        let mut arguments = Vec::with_capacity(parameters.args.len());
        for bound in &parameters.args {
            arguments.push(self.expr(bound, &mut Place { scope, rel: Some(rel) })?);
        }
        let ignore_nulls = matches!(parameters.null_treatment, Some(datafusion_expr::expr::NullTreatment::IgnoreNulls));
        let call = WindowCall {
            function: WindowFunction::RowNumber,
            arguments,
            distinct: parameters.distinct,
            filter,
            ignore_nulls,
            order: Vec::new(),
            frame,
            ty: SqlType::BigInt,
        };
        let call = self.typed_call(name, call).map_err(|error| self.locate(error, name))?;
        call.arguments.iter().for_each(|argument| self.note_parameters(argument));
        Ok((partition, order, call))
    }

    /// A partition's or order's key.
    fn key(&mut self, bound: &Bound, scope: &Scope, rel: &mut Rel) -> Result<Expr, SqlError> {
        let expr = self.expr(bound, &mut Place { scope, rel: Some(rel) })?;
        if expr.ty() == SqlType::Null { cast_to(expr, SqlType::Text) } else { Ok(expr) }
    }

    /// The call with its function, and its arguments as that wants them.
    fn typed_call(&self, name: &str, mut call: WindowCall) -> Result<WindowCall, SqlError> {
        let picks = match name {
            "first" => Some(WindowFunction::First),
            "last" => Some(WindowFunction::Last),
            _ => function_of(name),
        };
        let Some(function) = picks else { return self.aggregate_over(name, call) };
        if call.filter.is_some() || call.distinct {
            let what = if call.distinct { "DISTINCT" } else { "FILTER" };
            return Err(SqlError::unsupported(format!("{what} with the window function {name}")));
        }
        call.function = function;
        let (least, most) = match function {
            WindowFunction::Lag | WindowFunction::Lead => (1, 3),
            WindowFunction::Ntile | WindowFunction::First | WindowFunction::Last => (1, 1),
            WindowFunction::Nth => (2, 2),
            _ => (0, 0),
        };
        let count = call.arguments.len();
        if count < least || count > most {
            return Err(wrong_count(name, count));
        }
        let ranks = matches!(
            function,
            WindowFunction::RowNumber
                | WindowFunction::Rank
                | WindowFunction::DenseRank
                | WindowFunction::PercentRank
                | WindowFunction::CumeDist
                | WindowFunction::Ntile
        );
        if call.ignore_nulls && ranks {
            return Err(SqlError::unsupported(format!("IGNORE NULLS with {name}")));
        }
        if ranks || matches!(function, WindowFunction::Lag | WindowFunction::Lead) {
            call.frame = Frame::WHOLE;
        }
        let mut arguments = std::mem::take(&mut call.arguments).into_iter();
        match function {
            WindowFunction::PercentRank | WindowFunction::CumeDist => call.ty = SqlType::Double,
            WindowFunction::Ntile => {
                call.arguments.extend(arguments.next().map(|e| coerce(e, SqlType::BigInt)).transpose()?);
                call.ty = SqlType::Integer;
            }
            WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank => {}
            _ => {
                let (first, count, default) = (arguments.next(), arguments.next(), arguments.next());
                let Some(first) = first else { return Err(wrong_count(name, 0)) };
                call.ty = if is_unknown(&first) && default.is_none() && first.ty() != SqlType::Null {
                    first.ty()
                } else {
                    result_type(std::iter::once(&first).chain(&default), name)?
                };
                call.arguments.push(coerce(first, call.ty)?);
                if matches!(function, WindowFunction::Lag | WindowFunction::Lead | WindowFunction::Nth) {
                    let one = Expr::literal(Value::Int(1), SqlType::BigInt);
                    call.arguments.push(count.map_or(Ok(one), |e| coerce(e, SqlType::BigInt))?);
                }
                call.arguments.extend(default.map(|e| coerce(e, call.ty)).transpose()?);
            }
        }
        Ok(call)
    }

    /// An aggregate over a frame.
    fn aggregate_over(&self, name: &str, mut call: WindowCall) -> Result<WindowCall, SqlError> {
        if call.ignore_nulls {
            return Err(SqlError::unsupported(format!("IGNORE NULLS with the aggregate {name}")));
        }
        let typed = match collected(name, &mut call.arguments, Vec::new(), call.distinct)? {
            Some(typed) => AggregateCall { filter: call.filter, ..typed },
            None => {
                let (name, distinct, filter) = rewritten(name, &mut call.arguments, call.distinct, call.filter)?;
                let count = call.arguments.len();
                if count > 1 {
                    return Err(wrong_count(name, count));
                }
                self.typed_aggregate(name, call.arguments.pop(), distinct, filter)?
            }
        };
        if (typed.distinct || typed.function.is_collected()) && call.frame != Frame::WHOLE {
            let what = if typed.distinct { "DISTINCT" } else { name };
            let error = SqlError::unsupported(format!("{what} over a frame that is not the whole partition"));
            return Err(error.hint("leave ORDER BY and the frame out of OVER"));
        }
        call.function = WindowFunction::Aggregate(typed.function);
        call.arguments = typed.argument.into_iter().chain(typed.second).collect();
        call.order = typed.order;
        call.distinct = typed.distinct;
        call.filter = typed.filter;
        call.ty = typed.ty;
        Ok(call)
    }
}

const fn is_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal { .. } | Expr::Parameter { .. } | Expr::Subquery { .. })
}

/// The EXCLUDE clause that a partition key stands for.
fn marker(key: &Bound) -> Option<FrameExclusion> {
    match unaliased(key) {
        Bound::Cast(cast) => marker(&cast.expr),
        Bound::Literal(ScalarValue::Utf8(Some(text)), _) => exclusion_of(text),
        _ => None,
    }
}

/// The frame, by `keys`; `peers` says that all rows of a partition are.
fn frame_of(bound: &WindowFrame, keys: &[SortKey], peers: bool, exclude: FrameExclusion) -> Result<Frame, SqlError> {
    let units = match bound.units {
        WindowFrameUnits::Rows => FrameUnits::Rows,
        WindowFrameUnits::Range => FrameUnits::Range,
        WindowFrameUnits::Groups => FrameUnits::Groups,
    };
    let rank = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::Preceding(_) => 0,
        WindowFrameBound::CurrentRow => 1,
        WindowFrameBound::Following(_) => 2,
    };
    if rank(&bound.start_bound) > rank(&bound.end_bound) {
        return Err(SqlError::new("42P20", "the frame ends before it starts"));
    }
    let mut key = None;
    let start = frame_bound(&bound.start_bound, units, keys, &mut key)?;
    let end = frame_bound(&bound.end_bound, units, keys, &mut key)?;
    let whole = |bound: FrameBound, unbounded: FrameBound| match bound {
        FrameBound::CurrentRow if units != FrameUnits::Rows && peers => unbounded,
        other => other,
    };
    let start = whole(start, FrameBound::UnboundedPreceding);
    let end = whole(end, FrameBound::UnboundedFollowing);
    let unbounded = start == FrameBound::UnboundedPreceding && end == FrameBound::UnboundedFollowing;
    let units = if unbounded { FrameUnits::Rows } else { units };
    Ok(Frame { units, start, end, exclude, key })
}

fn frame_bound(
    bound: &WindowFrameBound,
    units: FrameUnits,
    keys: &[SortKey],
    range: &mut Option<(Expr, bool)>,
) -> Result<FrameBound, SqlError> {
    let (value, following) = match bound {
        WindowFrameBound::CurrentRow => return Ok(FrameBound::CurrentRow),
        WindowFrameBound::Preceding(value) => (value, false),
        WindowFrameBound::Following(value) => (value, true),
    };
    match value {
        value if value.is_null() && following => Ok(FrameBound::UnboundedFollowing),
        value if value.is_null() => Ok(FrameBound::UnboundedPreceding),
        ScalarValue::UInt64(Some(count)) if units != FrameUnits::Range => {
            Ok(if following { FrameBound::Following(*count) } else { FrameBound::Preceding(*count) })
        }
        ScalarValue::Utf8(Some(text)) if units == FrameUnits::Range => {
            let [key] = keys else {
                return Err(SqlError::new("42P20", "RANGE with an offset needs exactly one ORDER BY key"));
            };
            // What the key is compared with: the offset away from it, against the order
            // for PRECEDING.
            let op = if following == key.descending { BinaryOp::Subtract } else { BinaryOp::Add };
            let (mut own, mut value) = range_value(&key.expr, text, op)?;
            let Some(ty) = common_type(own.ty(), value.ty()) else {
                return Err(SqlError::internal("a frame's bound has another type than its key"));
            };
            if let Some((other, _)) = range {
                // Both bounds are compared with one key.
                let ty = common_type(ty, other.ty()).unwrap_or(ty);
                if other.ty() != ty {
                    return Err(SqlError::unsupported("RANGE with offsets of different types"));
                }
                own = other.clone();
                value = cast_to(value, ty)?;
            } else {
                own = cast_to(own, ty)?;
                value = cast_to(value, ty)?;
            }
            *range = Some((own, key.descending));
            Ok(FrameBound::Value(value))
        }
        other => Err(SqlError::unsupported(format!("the frame offset {other}"))),
    }
}

/// The key of a RANGE frame, wide enough for what is added to it, and the bound.
fn range_value(key: &Expr, text: &str, op: BinaryOp) -> Result<(Expr, Expr), SqlError> {
    let wrong = || SqlError::new("22P02", format!("\"{text}\" is no offset for ORDER BY {}", key.ty()));
    let number = parse_decimal(text.trim())
        .and_then(|(unscaled, scale)| (unscaled >= 0).then_some(Value::Decimal { unscaled, scale }));
    let (key, offset) = match key.ty() {
        SqlType::Date | SqlType::Timestamp => match (number, key.ty()) {
            (Some(Value::Decimal { unscaled, scale: 0 }), SqlType::Date) => {
                let days = i32::try_from(unscaled).map_err(|_| wrong())?;
                (key.clone(), Expr::literal(Value::Int(i64::from(days)), SqlType::Integer))
            }
            _ => {
                let interval = parse_interval(text, None).ok_or_else(wrong)?;
                if interval.months < 0 || interval.days < 0 || interval.micros < 0 {
                    return Err(SqlError::new("22013", "a frame's offset must not be negative"));
                }
                let key = cast_to(key.clone(), SqlType::Timestamp)?;
                (key, Expr::literal(Value::Interval(interval), SqlType::Interval))
            }
        },
        ty if ty.is_numeric() => {
            let value = number.ok_or_else(wrong)?;
            let ty = value.sql_type();
            // So wide that the offset leads past no end of the key's type.
            let key = match key.ty() {
                SqlType::Integer => cast_to(key.clone(), SqlType::decimal(11, 0))?,
                SqlType::BigInt => cast_to(key.clone(), SqlType::decimal(20, 0))?,
                _ => key.clone(),
            };
            (key, Expr::literal(value, ty))
        }
        ty => {
            return Err(SqlError::unsupported(format!("RANGE with an offset over ORDER BY {ty}")));
        }
    };
    let value = arithmetic(op, key.clone(), offset)?;
    Ok((key, value))
}
