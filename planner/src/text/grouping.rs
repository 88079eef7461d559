//! GROUP BY before binding: ROLLUP and CUBE written out as sets, and the one group of a
//! HAVING without GROUP BY.
//!
//! datafusion-sql takes a key that ROLLUP or CUBE names twice for two columns of one name;
//! in written-out sets it counts once. It takes HAVING only beside a key or an aggregate.

use crate::bind::Functions;
use sqlparser::ast::{Expr, GroupByExpr, Query, Select, Visit, Visitor};
use std::ops::ControlFlow;

/// Elements of a ROLLUP that are written out. Longer ones have more sets than are allowed
/// or come near it, and are left to be refused or taken as they are.
const ROLLUP_MAX: usize = 64;
/// Elements of a CUBE, which has two to the power of that many sets.
const CUBE_MAX: usize = 12;

/// Makes grouping explicit.
pub(super) fn write_out(select: &mut Select) {
    let has_aggregate = || select.projection.visit(&mut Aggregates::default()).is_break();
    let in_having = || select.having.visit(&mut Aggregates::default()).is_break();
    let ungrouped = matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    if select.having.is_some() && ungrouped && !has_aggregate() && !in_having() {
        select.group_by = GroupByExpr::Expressions(vec![Expr::GroupingSets(vec![Vec::new()])], Vec::new());
    }
    let GroupByExpr::Expressions(keys, _) = &mut select.group_by else { return };
    for key in keys {
        let sets = match key {
            Expr::Rollup(list) if list.len() <= ROLLUP_MAX => {
                (0..=list.len()).rev().map(|count| list[..count].concat()).collect()
            }
            Expr::Cube(list) if list.len() <= CUBE_MAX => {
                let subset = |bits: usize| {
                    let chosen = list.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
                    chosen.flat_map(|(_, keys)| keys.clone()).collect()
                };
                (0..1usize << list.len()).rev().map(subset).collect()
            }
            _ => continue,
        };
        *key = Expr::GroupingSets(sets);
    }
}

/// Looks for a call of an aggregate that is not in a subquery.
#[derive(Default)]
struct Aggregates {
    depth: usize,
}

impl Visitor for Aggregates {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(call)
                if self.depth == 0 && call.over.is_none() && Functions::is_aggregate(&call.name.to_string()) =>
            {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
