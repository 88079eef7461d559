//! Changes to the syntax tree before binding.
//!
//! datafusion-sql wants unique names in a select list and names expressions in its own
//! way, so every unnamed expression is given its text as a name, and repeated names a
//! mark after a NUL that [`shown_name`] removes again. Syntax that would be silently
//! ignored or misread later is refused here.
//!
//! Before all that, right after parsing, chains of AND and OR are balanced
//! ([`balance_chains`]), so that what recurses over them stays shallow.

use super::grouping::write_out;
use super::source::position;
use super::window::inline;
use gingham_plan::SqlError;
use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Fetch, Ident, LimitClause, NamedWindowDefinition, Query, Select,
    SelectItem, SetExpr, Spanned, Value, VisitMut, VisitorMut,
};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Separates a name from the mark that makes it unique.
const UNIQUE_MARK: char = '\0';

/// A result column's name as the user is to see it.
pub(crate) fn shown_name(name: &str) -> &str {
    name.split(UNIQUE_MARK).next().unwrap_or(name)
}

/// Prepares a statement's tree for binding.
pub(crate) fn normalize<T: VisitMut>(tree: &mut T) -> Result<(), SqlError> {
    match tree.visit(&mut Normalizer::default()) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Balances every chain of AND or OR in a tree.
pub(super) fn balance_chains<T: VisitMut>(tree: &mut T) {
    struct Balancer;
    impl VisitorMut for Balancer {
        type Break = std::convert::Infallible;

        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
            if let Expr::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } = expr {
                let op = op.clone();
                balance(expr, &op);
            }
            ControlFlow::Continue(())
        }
    }
    let _ = tree.visit(&mut Balancer);
}

#[derive(Default)]
struct Normalizer {
    /// The named windows of the queries and SELECTs around.
    windows: Vec<Vec<NamedWindowDefinition>>,
}

impl VisitorMut for Normalizer {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<SqlError> {
        if let Some(Fetch { with_ties, percent, quantity }) = query.fetch.take() {
            if with_ties || percent {
                return ControlFlow::Break(SqlError::unsupported("FETCH … WITH TIES or PERCENT"));
            }
            let one = || Expr::value(Value::Number("1".into(), false));
            let limit = Some(quantity.unwrap_or_else(one));
            match &mut query.limit_clause {
                Some(LimitClause::LimitOffset { limit: existing @ None, .. }) => *existing = limit,
                Some(_) => return ControlFlow::Break(SqlError::syntax("LIMIT and FETCH exclude each other")),
                none => {
                    *none = Some(LimitClause::LimitOffset { limit, offset: None, limit_by: Vec::new() });
                }
            }
        }
        if !query.locks.is_empty() {
            return ControlFlow::Break(SqlError::unsupported("FOR UPDATE and FOR SHARE"));
        }
        // ORDER BY may name the windows of the SELECT it follows.
        self.windows.push(match &*query.body {
            SetExpr::Select(select) => select.named_window.clone(),
            _ => Vec::new(),
        });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<SqlError> {
        self.windows.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<SqlError> {
        if select.into.is_some() {
            let error = SqlError::unsupported("SELECT INTO").hint("use CREATE TABLE … AS SELECT");
            return ControlFlow::Break(error);
        }
        name_items(&mut select.projection);
        write_out(select);
        self.windows.push(std::mem::take(&mut select.named_window));
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<SqlError> {
        self.windows.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        match expr {
            Expr::AtTimeZone { .. } => return ControlFlow::Break(at(SqlError::unsupported("AT TIME ZONE"), expr)),
            Expr::Function(call) => {
                if let Some(over) = &mut call.over
                    && let Err(error) = inline(over, self.windows.last().map_or(&[], Vec::as_slice))
                {
                    return ControlFlow::Break(at(error, &call.name));
                }
            }
            Expr::Value(value) => {
                // `1e5` is a DOUBLE; the binder would make a DECIMAL of it.
                if let Value::Number(text, _) = &value.value
                    && text.contains(['e', 'E'])
                {
                    let text = Value::SingleQuotedString(text.replace('_', ""));
                    *expr = Expr::Cast {
                        kind: CastKind::Cast,
                        expr: Box::new(Expr::Value(text.with_span(value.span))),
                        data_type: DataType::DoublePrecision,
                        array: false,
                        format: None,
                    };
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// The error where a node of the tree begins.
pub(crate) fn at(error: SqlError, node: &impl Spanned) -> SqlError {
    let start = node.span().start;
    if start.line == 0 { error } else { error.at(position(start).0, position(start).1) }
}

/// Gives every item of a select list a name of its own.
pub(crate) fn name_items(items: &mut [SelectItem]) {
    let has_wildcard =
        items.iter().any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
    let mut taken: HashSet<String> = HashSet::new();
    for (index, item) in items.iter_mut().enumerate() {
        let (name, plain) = match item {
            SelectItem::UnnamedExpr(Expr::Identifier(name)) => (folded(name), true),
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => match parts.last() {
                Some(name) => (folded(name), true),
                None => continue,
            },
            SelectItem::UnnamedExpr(expr) => (expr.to_string(), false),
            SelectItem::ExprWithAlias { alias, .. } => (folded(alias), true),
            _ => continue,
        };
        // What a wildcard brings is not known here, so nothing beside it may look like a column.
        let unique =
            if taken.contains(&name) || has_wildcard { format!("{name}{UNIQUE_MARK}{index}") } else { name.clone() };
        if plain && unique == name {
            taken.insert(name);
            continue;
        }
        taken.insert(unique.clone());
        let alias = Ident::with_quote('"', unique);
        match item {
            SelectItem::UnnamedExpr(expr) => {
                let placeholder = Expr::Identifier(Ident::new(""));
                let expr = std::mem::replace(expr, placeholder);
                *item = SelectItem::ExprWithAlias { expr, alias };
            }
            SelectItem::ExprWithAlias { alias: existing, .. } => *existing = alias,
            _ => {}
        }
    }
}

/// An identifier as it compares: lower case unless quoted.
pub(crate) fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_ascii_lowercase() }
}

/// Rebuilds a chain of one logical operator as a balanced tree.
fn balance(expr: &mut Expr, op: &BinaryOperator) {
    let placeholder = || Expr::Identifier(Ident::new(""));
    let mut operands = Vec::new();
    let mut pending = vec![std::mem::replace(expr, placeholder())];
    while let Some(next) = pending.pop() {
        match next {
            Expr::BinaryOp { left, op: inner, right } if inner == *op => {
                pending.push(*right);
                pending.push(*left);
            }
            other => operands.push(other),
        }
    }
    while operands.len() > 1 {
        let mut paired = Vec::with_capacity(operands.len().div_ceil(2));
        let mut rest = operands.into_iter();
        while let Some(left) = rest.next() {
            paired.push(match rest.next() {
                Some(right) => Expr::BinaryOp { left: Box::new(left), op: op.clone(), right: Box::new(right) },
                None => left,
            });
        }
        operands = paired;
    }
    if let Some(root) = operands.pop() {
        *expr = root;
    }
}
