//! A converted query as operators, with its shared parts.

use super::estimate::{Estimate, Estimator};
use super::lower::Lowering;
use crate::convert::Converter;
use crate::logical::{Id, IdSet, Rel, pushdown};
use gingham_plan::{Node, RouteSetting, SqlError};
use std::collections::HashMap;

/// The parts of a `Query` that come from relations.
pub(crate) struct Output {
    pub(crate) root: Node,
    pub(crate) subqueries: Vec<Node>,
    pub(crate) ctes: Vec<Node>,
    pub(crate) filter_count: u32,
    pub(crate) slot_count: u32,
}

/// Plans `rel`, whose result is the columns `ids`, and everything it shares.
pub(crate) fn plan_query(
    converter: &mut Converter<'_>,
    rel: Rel,
    ids: &[Id],
    setting: RouteSetting,
) -> Result<Output, SqlError> {
    let subqueries = std::mem::take(&mut converter.subqueries);
    let shared = std::mem::take(&mut converter.ctes);
    let columns = &converter.columns;
    let root = pushdown::optimize(rel, columns);
    let subqueries: Vec<(Rel, Id)> =
        subqueries.into_iter().map(|(rel, id)| (pushdown::optimize(rel, columns), id)).collect();
    let mut ctes: Vec<(Rel, Vec<Id>)> = Vec::with_capacity(shared.len());
    let mut estimates: Vec<(Estimate, Vec<Id>)> = Vec::with_capacity(shared.len());
    for cte in shared {
        let rel = pushdown::optimize(cte.rel, columns);
        let estimator = Estimator { catalog: converter.catalog, columns, ctes: &estimates };
        let estimate = estimator.estimate(&rel);
        estimates.push((estimate, cte.ids.clone()));
        ctes.push((rel, cte.ids));
    }
    let estimator = Estimator { catalog: converter.catalog, columns, ctes: &estimates };
    let mut lowering = Lowering {
        estimator,
        setting,
        filters: 0,
        slots: 0,
        bound: HashMap::new(),
        cte_columns: vec![IdSet::default(); ctes.len()],
    };
    let mut root = lowering.lower_exactly(root, ids)?;
    let mut subquery_nodes = Vec::with_capacity(subqueries.len());
    for (rel, id) in subqueries {
        subquery_nodes.push(lowering.lower_exactly(rel, &[id])?);
    }
    // Later expressions may read earlier ones, so the last is planned first: by then all
    // that read an expression have said which columns they want.
    let mut cte_nodes = Vec::with_capacity(ctes.len());
    let mut positions: Vec<Vec<usize>> = vec![Vec::new(); ctes.len()];
    for (index, (rel, ids)) in ctes.into_iter().enumerate().rev() {
        let mut kept: Vec<usize> = lowering.cte_columns[index].iter().collect();
        if kept.is_empty() && !ids.is_empty() {
            kept.push(0);
        }
        let wanted: Vec<Id> = kept.iter().map(|ordinal| ids[*ordinal]).collect();
        cte_nodes.push(lowering.lower_exactly(rel, &wanted)?);
        positions[index] = kept;
    }
    cte_nodes.reverse();
    for node in std::iter::once(&mut root).chain(&mut subquery_nodes).chain(&mut cte_nodes) {
        renumber(node, &positions);
    }
    Ok(Output {
        root,
        subqueries: subquery_nodes,
        ctes: cte_nodes,
        filter_count: lowering.filters,
        slot_count: lowering.slots,
    })
}

/// Turns ordinals of a shared expression into positions among the columns it keeps.
fn renumber(node: &mut Node, positions: &[Vec<usize>]) {
    match node {
        Node::Cte { id, columns, .. } => {
            if let Some(kept) = positions.get(id.0 as usize) {
                for column in columns {
                    *column = kept.iter().position(|k| k == column).unwrap_or(0);
                }
            }
        }
        Node::Scan(_) | Node::Values { .. } | Node::Work { .. } | Node::Series { .. } => {}
        Node::Recursive(recursive) => {
            renumber(&mut recursive.start, positions);
            renumber(&mut recursive.step, positions);
        }
        Node::Filter { input, .. }
        | Node::Project { input, .. }
        | Node::Aggregate { input, .. }
        | Node::Expand { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. } => renumber(input, positions),
        Node::Join(join) => {
            renumber(&mut join.left, positions);
            renumber(&mut join.right, positions);
        }
        Node::Window(window) => renumber(&mut window.input, positions),
        Node::Apply(apply) => {
            renumber(&mut apply.input, positions);
            renumber(&mut apply.subplan, positions);
        }
        Node::Union { inputs } => inputs.iter_mut().for_each(|input| renumber(input, positions)),
    }
}
