//! Blocks as operators: the chosen order, each predicate where its columns first meet.

use super::graph::{Graph, ITEMS_MAX, Mask};
use super::join::Sides;
use super::lower::{Lowered, Lowering};
use super::order::{Tree, order};
use crate::logical::{Dependent, Id, IdSet, Rel, columns_of};
use gingham_plan::{BinaryOp, Expr, JoinKind, SqlError};

impl Lowering<'_> {
    pub(super) fn block(
        &mut self,
        inputs: Vec<Rel>,
        predicates: &[Expr],
        dependents: Vec<Dependent>,
        required: &IdSet,
    ) -> Result<Lowered, SqlError> {
        if inputs.len() + dependents.len() >= ITEMS_MAX {
            return Err(SqlError::new("54001", format!("more than {ITEMS_MAX} relations in one join")));
        }
        let mut graph = Graph::new(&self.estimator, &inputs, predicates, &dependents);
        let mut wanted = required.clone();
        predicates.iter().chain(dependents.iter().flat_map(|d| &d.on)).for_each(|e| columns_of(e, &mut wanted));
        graph.weigh(&wanted, self.estimator.columns);
        let Some(tree) = order(&graph) else { return Err(SqlError::internal("a join of nothing")) };
        let count = inputs.len();
        let mut parts = Parts {
            graph: &graph,
            inputs: inputs.into_iter().map(Some).collect(),
            conditions: dependents.iter().map(|d| d.on.clone()).collect(),
            dependents: dependents.into_iter().map(Some).collect(),
            count,
            required,
        };
        self.tree(&tree, &mut parts)
    }

    fn tree(&mut self, tree: &Tree, parts: &mut Parts<'_>) -> Result<Lowered, SqlError> {
        let mask = tree.mask();
        let graph = parts.graph;
        match tree {
            Tree::Leaf(item) => {
                let needed = parts.needed(mask);
                let Some(rel) = parts.inputs[*item].take() else {
                    return Err(SqlError::internal("an input is used twice"));
                };
                self.lower(rel, &needed)
            }
            Tree::Inner(a, b) => {
                let (left_mask, right_mask) = (a.mask(), b.mask());
                let left = self.tree(a, parts)?;
                let right = self.tree(b, parts)?;
                let mut on: Vec<Expr> = Vec::new();
                for class in &graph.classes {
                    if let (Some(x), Some(y)) = (member(class, left_mask), member(class, right_mask)) {
                        let columns = self.estimator.columns;
                        on.push(Expr::boolean(BinaryOp::Equal, columns.expr(x), columns.expr(y)));
                    }
                }
                let newly = |items: Mask| items & !mask == 0 && items & !left_mask != 0 && items & !right_mask != 0;
                on.extend(graph.edges.iter().filter(|e| newly(e.items)).map(|e| e.expr.clone()));
                let rows = graph.rows(mask);
                let needed = parts.needed(mask);
                let sides = Sides { kind: JoinKind::Inner, left, right, on, null_aware: false, mark: None, rows };
                self.join(sides, &needed, &|id| graph.domain(id))
            }
            Tree::Dependent(below, item) => {
                let below_mask = below.mask();
                let left = self.tree(below, parts)?;
                let Some(dependent) = parts.dependents[*item - parts.count].take() else {
                    return Err(SqlError::internal("a dependent join is used twice"));
                };
                let above = parts.needed(mask);
                let newly: Vec<Expr> = graph
                    .edges
                    .iter()
                    .filter(|e| e.items & !mask == 0 && e.items & !below_mask != 0)
                    .map(|e| e.expr.clone())
                    .collect();
                let mut out = above.clone();
                newly.iter().for_each(|e| columns_of(e, &mut out));
                let mut right_needed = IdSet::default();
                dependent.on.iter().for_each(|e| columns_of(e, &mut right_needed));
                if dependent.kind == JoinKind::Left {
                    right_needed.union(&out);
                }
                let right_estimate = self.estimator.estimate(&dependent.right);
                let right = self.lower(dependent.right, &right_needed)?;
                let rows = graph.rows(mask);
                let Dependent { kind, on, null_aware, mark, .. } = dependent;
                let domain = |id: Id| {
                    if right_estimate.columns.contains_key(&id) { right_estimate.domain(id) } else { graph.domain(id) }
                };
                let sides = Sides { kind, left, right, on, null_aware, mark, rows };
                let joined = self.join(sides, &out, &domain)?;
                if newly.is_empty() { Ok(joined) } else { self.filtered(joined, newly, &above, rows) }
            }
        }
    }
}

/// What is left of a block while its tree is lowered.
struct Parts<'a> {
    graph: &'a Graph,
    inputs: Vec<Option<Rel>>,
    dependents: Vec<Option<Dependent>>,
    /// The conditions of all dependents, also of those joined already.
    conditions: Vec<Vec<Expr>>,
    count: usize,
    required: &'a IdSet,
}

impl Parts<'_> {
    /// The columns that the join of `mask` must put out.
    fn needed(&self, mask: Mask) -> IdSet {
        let mut wanted = self.required.clone();
        for edge in self.graph.edges.iter().filter(|e| e.items & !mask != 0) {
            columns_of(&edge.expr, &mut wanted);
        }
        for (index, conditions) in self.conditions.iter().enumerate() {
            if mask >> (index + self.count) & 1 == 0 {
                conditions.iter().for_each(|e| columns_of(e, &mut wanted));
            }
        }
        for class in &self.graph.classes {
            let outside = class.iter().any(|(_, item)| mask >> item & 1 == 0);
            if outside {
                wanted.extend(member(class, mask));
            }
        }
        let mut provided = IdSet::default();
        for (index, item) in self.graph.items.iter().enumerate() {
            if mask >> index & 1 == 1 {
                provided.union(&item.outputs);
            }
        }
        wanted.iter().filter(|id| provided.contains(*id)).collect()
    }
}

/// The first member of a class that belongs to `mask`: the one that stands for it.
fn member(class: &[(Id, usize)], mask: Mask) -> Option<Id> {
    class.iter().find(|(_, item)| mask >> item & 1 == 1).map(|(id, _)| *id)
}
