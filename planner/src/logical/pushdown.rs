//! Predicates moved to where they drop rows first, and joins gathered into blocks.
//!
//! One pass from the root down. Each relation is handed the conjuncts that hold above
//! it; it passes on what it may and puts the rest above itself. Inner joins, filters and
//! the joins that preserve their left side flatten into one [`Rel::Block`], whose order
//! the physical planner chooses. Within a block equalities make classes, and what is
//! known of one member holds for all; disjunctions give up what they share and what they
//! imply of one input.

mod block;
mod disjunction;

use super::{Columns, Id, IdSet, Join, Rel, rejects_null, substitute, uses_only};
use block::Gathered;
pub(crate) use block::classes;
use gingham_plan::{Expr, JoinKind};
use gingham_types::{SqlType, Value};
use std::collections::HashMap;

/// Rewrites a whole tree.
pub(crate) fn optimize(rel: Rel, columns: &Columns) -> Rel {
    push(rel, Vec::new(), columns)
}

/// Whether a predicate is never true.
fn never(predicate: &Expr) -> bool {
    matches!(predicate, Expr::Literal { value: Value::Boolean(false) | Value::Null, .. })
}

fn literal_true(predicate: &Expr) -> bool {
    matches!(predicate, Expr::Literal { value: Value::Boolean(true), .. })
}

/// Pushes `predicates` into `rel`.
fn push(rel: Rel, mut predicates: Vec<Expr>, columns: &Columns) -> Rel {
    predicates.retain(|p| !literal_true(p));
    if predicates.iter().any(never) {
        return Rel::Values { rows: Vec::new(), columns: rel.outputs().iter().collect() };
    }
    match rel {
        Rel::Scan(mut scan) => {
            for predicate in predicates {
                super::push_new(predicate, &mut scan.filters);
            }
            Rel::Scan(scan)
        }
        Rel::Values { .. } | Rel::Cte { .. } | Rel::Work { .. } | Rel::Series { .. } => rel.filter(predicates),
        Rel::Expand { input, keys, sets, number } => {
            let input = Box::new(push(unordered(*input), Vec::new(), columns));
            Rel::Expand { input, keys, sets, number }.filter(predicates)
        }
        Rel::Recursive { start, step, columns: outputs, work, distinct } => {
            let optimized = |(rel, ids): (Box<Rel>, Vec<Id>)| (Box::new(push(*rel, Vec::new(), columns)), ids);
            let (start, step) = (optimized(start), optimized(step));
            Rel::Recursive { start, step, columns: outputs, work, distinct }.filter(predicates)
        }
        Rel::Join(mut join) if stays_full(&join, &predicates) => {
            join.left = push(unordered(join.left), Vec::new(), columns);
            join.right = push(unordered(join.right), Vec::new(), columns);
            Rel::Join(join).filter(predicates)
        }
        Rel::Filter { .. } | Rel::Extend { .. } | Rel::Join(_) | Rel::Block { .. } => {
            push_into_block(rel, predicates, columns)
        }
        Rel::Aggregate { input, groups, aggregates } => {
            let map: HashMap<Id, Expr> = groups.iter().cloned().collect();
            let keys: IdSet = groups.iter().map(|(id, _)| *id).collect();
            let mut below = Vec::new();
            let mut above = Vec::new();
            let outputs: IdSet = keys.iter().chain(aggregates.iter().map(|(id, _)| *id)).collect();
            for mut predicate in predicates {
                let mut used = IdSet::default();
                super::columns_of(&predicate, &mut used);
                let on_keys = used.iter().all(|id| keys.contains(id) || !outputs.contains(id));
                if on_keys && !groups.is_empty() {
                    substitute(&mut predicate, &map);
                    below.push(predicate);
                } else {
                    above.push(predicate);
                }
            }
            let input = Box::new(push(unordered(*input), below, columns));
            Rel::Aggregate { input, groups, aggregates }.filter(above)
        }
        Rel::Window { input, partition, order, calls } => {
            // Whole partitions may go before: the others are not changed by it.
            let keys: IdSet = partition.iter().filter_map(column_of).collect();
            let own = input.outputs();
            let (below, above) = predicates.into_iter().partition(|predicate| {
                let mut used = IdSet::default();
                super::columns_of(predicate, &mut used);
                let computed = calls.iter().any(|(id, _)| used.contains(*id));
                !computed && !used.is_empty() && used.iter().all(|id| keys.contains(id) || !own.contains(id))
            });
            let input = Box::new(push(unordered(*input), below, columns));
            Rel::Window { input, partition, order, calls }.filter(above)
        }
        Rel::Sort { input, keys, limit: None, offset: None } => {
            Rel::Sort { input: Box::new(push(*input, predicates, columns)), keys, limit: None, offset: None }
        }
        Rel::Sort { input, keys, limit, offset } => {
            Rel::Sort { input: Box::new(push(*input, Vec::new(), columns)), keys, limit, offset }.filter(predicates)
        }
        Rel::Limit { input, limit, offset } => {
            Rel::Limit { input: Box::new(push(*input, Vec::new(), columns)), limit, offset }.filter(predicates)
        }
        Rel::Union { inputs, columns: outputs } => {
            let inputs = inputs
                .into_iter()
                .map(|(input, ids)| {
                    let map: HashMap<Id, Expr> =
                        outputs.iter().zip(&ids).map(|(output, id)| (*output, columns.expr(*id))).collect();
                    let mut own = predicates.clone();
                    own.iter_mut().for_each(|p| substitute(p, &map));
                    (push(input, own, columns), ids)
                })
                .collect();
            Rel::Union { inputs, columns: outputs }
        }
        Rel::Apply { kind, input, subplan, output } => {
            let added: IdSet = output.iter().copied().collect();
            let (above, below) = predicates.into_iter().partition(|p| {
                let mut used = IdSet::default();
                super::columns_of(p, &mut used);
                used.intersects(&added)
            });
            let input = Box::new(push(*input, below, columns));
            let subplan = Box::new(push(*subplan, Vec::new(), columns));
            Rel::Apply { kind, input, subplan, output }.filter(above)
        }
    }
}

/// The column that an expression is.
const fn column_of(expr: &Expr) -> Option<Id> {
    match expr {
        Expr::Column { index, .. } => Some(*index),
        _ => None,
    }
}

/// Whether a join is a full one of which `predicates` drop no unmatched rows: a barrier.
fn stays_full(join: &Join, predicates: &[Expr]) -> bool {
    join.kind == JoinKind::Full
        && !any_rejects(predicates, &join.left.outputs())
        && !any_rejects(predicates, &join.right.outputs())
}

/// Flattens inner joins and what commutes with them, then distributes the predicates.
fn push_into_block(rel: Rel, predicates: Vec<Expr>, columns: &Columns) -> Rel {
    let mut gathered = Gathered::default();
    for predicate in predicates {
        gathered.add(predicate);
    }
    gather(rel, &mut gathered, columns);
    gathered.finish(columns)
}

/// Adds `rel` to the block.
fn gather(rel: Rel, block: &mut Gathered, columns: &Columns) {
    match rel {
        Rel::Filter { input, predicates } => {
            for predicate in predicates {
                block.add(predicate);
            }
            gather(*input, block, columns);
        }
        Rel::Extend { input, expressions } => {
            block.define(expressions);
            gather(*input, block, columns);
        }
        Rel::Join(join) => gather_join(*join, block, columns),
        Rel::Block { inputs, predicates, dependents } => {
            for predicate in predicates {
                block.add(predicate);
            }
            block.dependents.splice(0..0, dependents);
            for input in inputs {
                gather(input, block, columns);
            }
        }
        other => block.inputs.push(other),
    }
}

fn gather_join(mut join: Join, block: &mut Gathered, columns: &Columns) {
    if join.kind == JoinKind::Left && block.rejects(&join.right.outputs()) {
        join.kind = JoinKind::Inner;
    }
    if join.kind == JoinKind::Full {
        let keeps_left = block.rejects(&join.left.outputs());
        let keeps_right = block.rejects(&join.right.outputs());
        match (keeps_left, keeps_right) {
            (true, true) => join.kind = JoinKind::Inner,
            // A row with the left side present: the left side is the preserved one.
            (true, false) => join.kind = JoinKind::Left,
            (false, true) => {
                std::mem::swap(&mut join.left, &mut join.right);
                join.kind = JoinKind::Left;
            }
            (false, false) => {}
        }
    }
    match join.kind {
        JoinKind::Inner => {
            for predicate in join.on {
                block.add(predicate);
            }
            gather(unordered(join.left), block, columns);
            gather(unordered(join.right), block, columns);
        }
        // Its inputs are pushed into when the block is finished.
        JoinKind::Full => block.inputs.push(Rel::Join(Box::new(join))),
        JoinKind::Left | JoinKind::Semi | JoinKind::Anti | JoinKind::Mark => {
            let provided = join.left.outputs();
            let mut on = Vec::new();
            for predicate in join.on {
                // A semi join drops left rows that fail; the others keep them.
                let left_only = uses_only(&predicate, &provided) && !uses_only(&predicate, &IdSet::default());
                if join.kind == JoinKind::Semi && left_only {
                    block.add(predicate);
                } else {
                    on.push(predicate);
                }
            }
            block.add_dependent(join.kind, unordered(join.right), on, join.null_aware, join.mark);
            gather(unordered(join.left), block, columns);
        }
    }
}

/// `rel` without an order that nothing above keeps.
fn unordered(rel: Rel) -> Rel {
    match rel {
        Rel::Sort { input, limit: None, offset: None, .. } => unordered(*input),
        Rel::Extend { input, expressions } => Rel::Extend { input: Box::new(unordered(*input)), expressions },
        Rel::Filter { input, predicates } => Rel::Filter { input: Box::new(unordered(*input)), predicates },
        other => other,
    }
}

/// Whether `predicates` drop rows whose columns in `nulls` are all NULL.
fn any_rejects(predicates: &[Expr], nulls: &IdSet) -> bool {
    predicates.iter().any(|p| rejects_null(p, nulls))
}

fn boolean_type(expr: &Expr) -> bool {
    expr.ty() == SqlType::Boolean
}
