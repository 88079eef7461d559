//! Expressions that a table keeps: CHECK, DEFAULT, generated columns.

use super::Session;
use crate::convert::{Converter, Scope, assign};
use crate::text::Source;
use crate::text::normalize::{at, folded};
use gingham_plan::{Expr, SqlError, StoredExpr};
use gingham_types::SqlType;
use sqlparser::ast::{self, Ident, VisitMut, VisitorMut};
use std::ops::ControlFlow;

/// A column that an expression may name.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownColumn<'c> {
    pub(super) name: &'c str,
    pub(super) ty: SqlType,
    pub(super) nullable: bool,
}

/// Deepest stored expression: it is written, read and shown by recursion, and by the
/// core module on a stack of its own.
const STORED_DEPTH_MAX: usize = 64;

/// Whether an expression has more than `max` levels. Without recursion: it may have
/// thousands.
fn is_deeper(expr: &Expr, max: usize) -> bool {
    let mut level = vec![expr];
    for _ in 0..max {
        level = level.into_iter().flat_map(Expr::children).collect();
        if level.is_empty() {
            return false;
        }
    }
    true
}

impl<'c> KnownColumn<'c> {
    pub(super) fn of(column: &'c gingham_plan::ColumnInfo) -> Self {
        Self { name: &column.name, ty: column.ty, nullable: column.nullable }
    }
}

impl Session<'_> {
    /// Binds an expression over one row of the table `table`; `what` names it in errors.
    pub(super) fn stored(
        &self,
        expr: &ast::Expr,
        table: &str,
        columns: &[KnownColumn<'_>],
        what: &str,
        source: &Source,
    ) -> Result<StoredExpr, SqlError> {
        let mut converter = Converter::new(self.binder.catalog, source);
        let scope = super::returning::scope_over(table, columns, &mut converter)?;
        let bound = self.expression(expr.clone(), &scope, &mut converter, source)?;
        if is_deeper(&bound, STORED_DEPTH_MAX) {
            let message = format!("{what} has more than {STORED_DEPTH_MAX} levels, or so many operators in a row");
            return Err(at(SqlError::new("54001", message), expr));
        }
        let mut reads_clock = false;
        bound.visit(&mut |e| reads_clock |= matches!(e, Expr::Now));
        // Only a DEFAULT, which sees no columns, is evaluated once.
        if reads_clock && !columns.is_empty() {
            let error = SqlError::new("42P17", format!("{what} does not change with time"));
            return Err(at(error.hint("keep the time in a column, with a DEFAULT"), expr));
        }
        let is_constant = !refers_elsewhere(&bound, &converter);
        if source.parameter_count > 0 || !is_constant {
            let error = SqlError::new("0A000", format!("{what} has neither parameters nor subqueries"));
            return Err(at(error, expr));
        }
        let mut shown = expr.clone();
        let _ = shown.visit(&mut Unqualify { table });
        Ok(StoredExpr { expr: by_ordinal(bound, &scope), sql: shown.to_string() })
    }

    /// As [`Session::stored`], converted to `ty` as INSERT converts what it is given.
    pub(super) fn stored_as(
        &self,
        expr: &ast::Expr,
        ty: SqlType,
        table: &str,
        columns: &[KnownColumn<'_>],
        what: &str,
        source: &Source,
    ) -> Result<StoredExpr, SqlError> {
        let stored = self.stored(expr, table, columns, what, source)?;
        let converted = assign(stored.expr, ty).map_err(|error| at(error, expr))?;
        Ok(StoredExpr { expr: converted, sql: stored.sql })
    }

    /// As [`Session::stored`], of type BOOLEAN.
    pub(super) fn stored_condition(
        &self,
        expr: &ast::Expr,
        table: &str,
        columns: &[KnownColumn<'_>],
        what: &str,
        source: &Source,
    ) -> Result<StoredExpr, SqlError> {
        let stored = self.stored(expr, table, columns, what, source)?;
        if !matches!(stored.expr.ty(), SqlType::Boolean | SqlType::Null) {
            let error = SqlError::new("42804", format!("{what} is of type {}, not BOOLEAN", stored.expr.ty()));
            return Err(at(error, expr));
        }
        Ok(stored)
    }
}

fn refers_elsewhere(expr: &Expr, converter: &Converter<'_>) -> bool {
    let mut found = !converter.subqueries.is_empty();
    expr.visit(&mut |e| found |= matches!(e, Expr::Subquery { .. } | Expr::Slot { .. } | Expr::Parameter { .. }));
    found
}

/// The scope's column numbers as ordinals.
fn by_ordinal(mut expr: Expr, scope: &Scope) -> Expr {
    expr.visit_mut(&mut |e| {
        if let Expr::Column { index, .. } = e
            && let Some(ordinal) = scope.ids.iter().position(|id| id == index)
        {
            *index = ordinal;
        }
    });
    expr
}

/// Takes the table's name from before its columns: it may be given another.
struct Unqualify<'t> {
    table: &'t str,
}

impl VisitorMut for Unqualify<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        if let ast::Expr::CompoundIdentifier(parts) = expr
            && let [table, column] = parts.as_slice()
            && folded(table) == self.table
        {
            let column: Ident = column.clone();
            *expr = ast::Expr::Identifier(column);
        }
        ControlFlow::Continue(())
    }
}
