//! A plan as text, one operator a line, inputs indented below it.
//!
//! The text is stable and free of timings, so that tests can hold plans as golden
//! files; [`Query`] numbers subqueries and common table expressions as the plan does.

use crate::{
    AggregateCall, AggregateFunction, ApplyKind, BuildSide, Expr, Frame, FrameBound, FrameExclusion, FrameUnits,
    JoinKind, KeyBound, Node, Query, Route, RowAccess, Scan, SortKey, TableInfo, WindowCall, WindowFunction,
};
use gingham_types::{SqlType, Value};
use std::fmt::{self, Write};

/// One line of EXPLAIN: depth in the tree, the node's position in a depth-first walk
/// of the whole query, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Nesting, from 0.
    pub depth: usize,
    /// Text without indentation.
    pub text: String,
}

/// The lines of a query: subqueries and common table expressions first, then the
/// tree. Operators are listed in the order of [`walk`].
pub fn lines(query: &Query, table: &dyn Fn(crate::TableId) -> Option<TableInfo>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, node) in query.ctes.iter().enumerate() {
        lines.push(Line { depth: 0, text: format!("CTE {index}:") });
        node_lines(node, 1, table, &mut lines);
    }
    for (index, node) in query.subqueries.iter().enumerate() {
        lines.push(Line { depth: 0, text: format!("Subquery {index}:") });
        node_lines(node, 1, table, &mut lines);
    }
    node_lines(&query.root, 0, table, &mut lines);
    lines
}

/// The nodes of a tree, parents first, in the order that [`lines`] prints them.
pub fn walk<'a>(node: &'a Node, visit: &mut dyn FnMut(&'a Node)) {
    visit(node);
    for input in node.inputs() {
        walk(input, visit);
    }
}

fn node_lines(node: &Node, depth: usize, table: &dyn Fn(crate::TableId) -> Option<TableInfo>, lines: &mut Vec<Line>) {
    lines.push(Line { depth, text: describe(node, table) });
    for input in node.inputs() {
        node_lines(input, depth + 1, table, lines);
    }
}

/// One node, without its inputs.
pub fn describe(node: &Node, table: &dyn Fn(crate::TableId) -> Option<TableInfo>) -> String {
    let mut text = String::new();
    let result = match node {
        Node::Scan(scan) => write_scan(&mut text, scan, table(scan.table).as_ref()),
        Node::Values { rows, .. } => write!(text, "Values rows={}", rows.len()),
        Node::Filter { predicates, rows, .. } => {
            write!(text, "Filter {} rows≈{}", list(predicates, " AND "), round(*rows))
        }
        Node::Project { expressions, .. } => write!(text, "Project {}", list(expressions, ", ")),
        Node::Aggregate { groups, aggregates, rows, .. } => {
            let calls: Vec<String> = aggregates.iter().map(aggregate).collect();
            write!(text, "Aggregate by [{}] compute [{}] rows≈{}", list(groups, ", "), calls.join(", "), round(*rows))
        }
        Node::Join(join) => write_join(&mut text, join),
        Node::Apply(apply) => {
            let kind = match apply.kind {
                ApplyKind::Scalar => "scalar",
                ApplyKind::Exists => "exists",
                ApplyKind::Cross => "cross",
                ApplyKind::Left => "left",
            };
            let bindings: Vec<String> = apply.bindings.iter().map(|(s, c)| format!("${}=#{c}", s.0)).collect();
            write!(text, "Apply {kind} [{}]", bindings.join(", "))
        }
        Node::Sort { keys, limit, offset, .. } => {
            let name = if limit.is_some() { "TopK" } else { "Sort" };
            let keys: Vec<String> = keys.iter().map(sort_key).collect();
            write!(text, "{name} by [{}]{}", keys.join(", "), bounds(limit.as_ref(), offset.as_ref()))
        }
        Node::Limit { limit, offset, .. } => write!(text, "Limit{}", bounds(limit.as_ref(), offset.as_ref())),
        Node::Window(window) => {
            let keys: Vec<String> = window.order.iter().map(sort_key).collect();
            let calls: Vec<String> = window.calls.iter().map(window_call).collect();
            let partition = list(&window.partition, ", ");
            write!(
                text,
                "Window partition by [{partition}] order by [{}] compute [{}]",
                keys.join(", "),
                calls.join(", ")
            )
        }
        Node::Expand { keys, sets, .. } => {
            write!(text, "Expand keys [{}] into {} grouping sets", list(keys, ", "), sets.len())
        }
        Node::Recursive(recursive) => {
            write!(text, "Recursive {}{}", recursive.work.0, if recursive.distinct { " distinct" } else { "" })
        }
        Node::Work { work, .. } => write!(text, "Work {}", work.0),
        Node::Series { start, stop, step } => write!(text, "Series from {start} to {stop} by {step}"),
        Node::Union { inputs } => write!(text, "Union inputs={}", inputs.len()),
        Node::Cte { id, rows, .. } => write!(text, "CTE {} rows≈{}", id.0, round(*rows)),
    };
    debug_assert!(result.is_ok(), "writing to a String does not fail");
    text
}

fn write_scan(text: &mut String, scan: &Scan, table: Option<&TableInfo>) -> fmt::Result {
    let name = |ordinal: usize| match table.and_then(|t| t.columns.get(ordinal)) {
        Some(column) => column.name.clone(),
        None => format!("#{ordinal}"),
    };
    let route = match &scan.route {
        Route::Column => "column".to_owned(),
        Route::Row(access) => {
            let only = table.is_some_and(|t| scan.reads_index_only(t));
            format!("row {}{}", describe_access(access, table), if only { " only" } else { "" })
        }
    };
    let columns: Vec<String> = scan.columns.iter().map(|c| name(*c)).collect();
    write!(text, "Scan {} route={route} columns=[{}]", scan.name, columns.join(", "))?;
    if !scan.filters.is_empty() {
        let filters: Vec<String> = scan.filters.iter().map(|f| format!("{}", Named { expr: f, name: &name })).collect();
        write!(text, " filter={}", filters.join(" AND "))?;
    }
    if !scan.dynamic_filters.is_empty() {
        let filters: Vec<String> =
            scan.dynamic_filters.iter().map(|f| format!("{}∈f{}", name(f.column), f.filter.0)).collect();
        write!(text, " dynamic=[{}]", filters.join(", "))?;
    }
    let cost = |cost: Option<f64>| cost.map_or("none".to_owned(), |c| format!("{}µs", round(c)));
    write!(
        text,
        " rows≈{} cost(row={}, column={}) because {}",
        round(scan.rows),
        cost(scan.row_cost_us),
        cost(scan.column_cost_us),
        scan.reason
    )
}

fn describe_access(access: &RowAccess, table: Option<&TableInfo>) -> String {
    let index_name = |index: &Option<crate::IndexId>| match index {
        None => "primary key".to_owned(),
        Some(id) => table
            .and_then(|t| t.indexes.iter().find(|i| i.id == *id))
            .map_or_else(|| format!("index {}", id.0), |i| format!("index {}", i.name)),
    };
    match access {
        RowAccess::Full { reverse } => if *reverse { "full descending" } else { "full" }.to_owned(),
        RowAccess::Keys { index, keys } => format!("{} keys={}", index_name(index), keys.len()),
        RowAccess::Lookup { index, equal, filter } => {
            let mut text = index_name(index);
            if !equal.is_empty() {
                text += &format!(" = ({})", list(equal, ", "));
            }
            text + &format!(" keys of f{}", filter.0)
        }
        RowAccess::Range { index, equal, lower, upper, reverse, not_null } => {
            let mut text = index_name(index);
            if !equal.is_empty() {
                text += &format!(" = ({})", list(equal, ", "));
            }
            let bound = |b: &KeyBound, closed: &str, open: &str| {
                format!(" {} {}", if b.inclusive { closed } else { open }, b.value)
            };
            text += &lower.as_ref().map(|b| bound(b, ">=", ">")).unwrap_or_default();
            text += &upper.as_ref().map(|b| bound(b, "<=", "<")).unwrap_or_default();
            text += if *not_null { " not NULL" } else { "" };
            text + if *reverse { " descending" } else { "" }
        }
    }
}

fn write_join(text: &mut String, join: &crate::Join) -> fmt::Result {
    let kind = match join.kind {
        JoinKind::Inner => "inner",
        JoinKind::Left => "left",
        JoinKind::Full => "full",
        JoinKind::Semi => "semi",
        JoinKind::Anti => "anti",
        JoinKind::Mark => "mark",
    };
    let name = if join.left_keys.is_empty() { "NestedLoopJoin" } else { "HashJoin" };
    let build = if join.build == BuildSide::Left { "left" } else { "right" };
    let keys: Vec<String> = join
        .left_keys
        .iter()
        .zip(&join.right_keys)
        .zip(&join.null_equal)
        .map(|((l, r), null)| format!("{l} {} {r}", if *null { "≡" } else { "=" }))
        .collect();
    write!(text, "{name} {kind} build={build} on [{}]", keys.join(", "))?;
    if let Some(residual) = &join.residual {
        write!(text, " residual={residual}")?;
    }
    if join.null_aware {
        write!(text, " null-aware")?;
    }
    let published: Vec<String> = join.publish.iter().flatten().map(|f| format!("f{}", f.0)).collect();
    if !published.is_empty() {
        write!(text, " publish=[{}]", published.join(", "))?;
    }
    write!(text, " rows≈{}", round(join.rows))
}

const fn aggregate_name(function: AggregateFunction) -> &'static str {
    match function {
        AggregateFunction::CountStar | AggregateFunction::Count => "count",
        AggregateFunction::Sum => "sum",
        AggregateFunction::Average => "avg",
        AggregateFunction::Min => "min",
        AggregateFunction::Max => "max",
        AggregateFunction::BoolAnd => "bool_and",
        AggregateFunction::BoolOr => "bool_or",
        AggregateFunction::VarianceSample => "var_samp",
        AggregateFunction::VariancePopulation => "var_pop",
        AggregateFunction::StddevSample => "stddev_samp",
        AggregateFunction::StddevPopulation => "stddev_pop",
        AggregateFunction::StringJoin => "string_agg",
        AggregateFunction::QuantileContinuous => "quantile_cont",
        AggregateFunction::QuantileDiscrete => "quantile_disc",
        AggregateFunction::Mode => "mode",
        AggregateFunction::First => "first",
        AggregateFunction::Last => "last",
        AggregateFunction::AnyValue => "any_value",
        AggregateFunction::ArgumentMin => "arg_min",
        AggregateFunction::ArgumentMax => "arg_max",
        AggregateFunction::CovariancePopulation => "covar_pop",
        AggregateFunction::CovarianceSample => "covar_samp",
        AggregateFunction::Correlation => "corr",
    }
}

fn aggregate(call: &AggregateCall) -> String {
    if call.function == AggregateFunction::CountStar {
        return filtered("count(*)".to_owned(), call.filter.as_ref());
    }
    let name = aggregate_name(call.function);
    let distinct = if call.distinct { "DISTINCT " } else { "" };
    let arguments: Vec<String> = call.argument.iter().chain(&call.second).map(ToString::to_string).collect();
    let keys: Vec<String> = call.order.iter().map(sort_key).collect();
    let order = if keys.is_empty() { String::new() } else { format!(" ORDER BY {}", keys.join(", ")) };
    filtered(format!("{name}({distinct}{}{order})", arguments.join(", ")), call.filter.as_ref())
}

fn window_call(call: &WindowCall) -> String {
    let name = match call.function {
        WindowFunction::RowNumber => "row_number",
        WindowFunction::Rank => "rank",
        WindowFunction::DenseRank => "dense_rank",
        WindowFunction::PercentRank => "percent_rank",
        WindowFunction::CumeDist => "cume_dist",
        WindowFunction::Ntile => "ntile",
        WindowFunction::Lag => "lag",
        WindowFunction::Lead => "lead",
        WindowFunction::First => "first_value",
        WindowFunction::Last => "last_value",
        WindowFunction::Nth => "nth_value",
        WindowFunction::Aggregate(function) => aggregate_name(function),
    };
    let star = matches!(call.function, WindowFunction::Aggregate(AggregateFunction::CountStar));
    let arguments = if star { "*".to_owned() } else { list(&call.arguments, ", ") };
    let distinct = if call.distinct { "DISTINCT " } else { "" };
    let nulls = if call.ignore_nulls { " IGNORE NULLS" } else { "" };
    let text = filtered(format!("{name}({distinct}{arguments}){nulls}"), call.filter.as_ref());
    if call.frame == Frame::WHOLE { text } else { format!("{text} {}", frame(&call.frame)) }
}

fn frame(frame: &Frame) -> String {
    let units = match frame.units {
        FrameUnits::Rows => "rows",
        FrameUnits::Range => "range",
        FrameUnits::Groups => "groups",
    };
    let bound = |bound: &FrameBound| match bound {
        FrameBound::UnboundedPreceding => "first".to_owned(),
        FrameBound::Preceding(count) => format!("-{count}"),
        FrameBound::CurrentRow => "current".to_owned(),
        FrameBound::Following(count) => format!("+{count}"),
        FrameBound::UnboundedFollowing => "last".to_owned(),
        FrameBound::Value(value) => value.to_string(),
    };
    let exclude = match frame.exclude {
        FrameExclusion::NoOthers => "",
        FrameExclusion::CurrentRow => " without current",
        FrameExclusion::Group => " without group",
        FrameExclusion::Ties => " without ties",
    };
    format!("{units}({}..{}{exclude})", bound(&frame.start), bound(&frame.end))
}

fn filtered(text: String, filter: Option<&Expr>) -> String {
    match filter {
        Some(filter) => format!("{text} FILTER ({filter})"),
        None => text,
    }
}

fn sort_key(key: &SortKey) -> String {
    let direction = if key.descending { " DESC" } else { "" };
    // The defaults of PostgreSQL: NULLs are greater than everything.
    let nulls = match (key.descending, key.nulls_first) {
        (false, true) => " NULLS FIRST",
        (true, false) => " NULLS LAST",
        _ => "",
    };
    format!("{}{direction}{nulls}", key.expr)
}

fn bounds(limit: Option<&Expr>, offset: Option<&Expr>) -> String {
    let limit = limit.map(|e| format!(" limit={e}")).unwrap_or_default();
    limit + &offset.map(|e| format!(" offset={e}")).unwrap_or_default()
}

fn list(expressions: &[Expr], separator: &str) -> String {
    expressions.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
}

/// Three significant digits: estimates claim no more.
fn round(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Named { expr: self, name: &|index| format!("#{index}") })
    }
}

/// An expression with its columns named by a function.
struct Named<'a> {
    expr: &'a Expr,
    name: &'a dyn Fn(usize) -> String,
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        let sub = |expr| Named { expr, name };
        let join =
            |items: &[Expr]| items.iter().map(|expr| Named { expr, name }.to_string()).collect::<Vec<_>>().join(", ");
        match self.expr {
            Expr::Column { index, .. } => f.write_str(&(self.name)(*index)),
            Expr::Literal { value, ty } => write_literal(f, value, *ty),
            Expr::Parameter { index, .. } => write!(f, "?{}", index + 1),
            Expr::Slot { slot, .. } => write!(f, "${}", slot.0),
            Expr::Now => f.write_str("now()"),
            Expr::Subquery { index, .. } => write!(f, "subquery {index}"),
            Expr::Binary { op, left, right, .. } => {
                write!(f, "({} {} {})", sub(left), op.symbol(), sub(right))
            }
            Expr::Not(e) => write!(f, "NOT {}", sub(e)),
            Expr::Negate(e) => write!(f, "-{}", sub(e)),
            Expr::IsNull { expr, negated } => {
                write!(f, "{} IS {}NULL", sub(expr), if *negated { "NOT " } else { "" })
            }
            Expr::InList { expr, list, negated } => {
                write!(f, "{} {}IN ({})", sub(expr), if *negated { "NOT " } else { "" }, join(list))
            }
            Expr::Like { expr, pattern, negated, ignore_case, .. } => {
                let not = if *negated { "NOT " } else { "" };
                let like = if *ignore_case { "ILIKE" } else { "LIKE" };
                write!(f, "{} {not}{like} {}", sub(expr), sub(pattern))
            }
            Expr::Case { branches, otherwise, .. } => {
                f.write_str("CASE")?;
                for (condition, result) in branches {
                    write!(f, " WHEN {} THEN {}", sub(condition), sub(result))?;
                }
                if let Some(otherwise) = otherwise {
                    write!(f, " ELSE {}", sub(otherwise))?;
                }
                f.write_str(" END")
            }
            Expr::Cast { expr, ty, lenient } => {
                write!(f, "{}({} AS {ty})", if *lenient { "TRY_CAST" } else { "CAST" }, sub(expr))
            }
            Expr::Call { function, arguments, .. } => write!(f, "{function:?}({})", join(arguments)),
        }
    }
}

fn write_literal(f: &mut fmt::Formatter<'_>, value: &Value, ty: SqlType) -> fmt::Result {
    match value {
        Value::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
        Value::Date(_) | Value::Timestamp(_) | Value::Interval(_) => write!(f, "{ty} '{value}'"),
        other => write!(f, "{other}"),
    }
}
