//! Window functions as operators: each over a sort, unless the order is there already.

use super::lower::{Lowered, Lowering};
use super::ordered::deliver;
use crate::logical::{Id, IdSet, Rel, columns_of};
use gingham_plan::{Expr, Node, SortKey, SqlError, Window, WindowCall};

impl Lowering<'_> {
    pub(super) fn window(
        &mut self,
        input: Rel,
        partition: Vec<Expr>,
        order: Vec<SortKey>,
        calls: Vec<(Id, WindowCall)>,
        required: &IdSet,
    ) -> Result<Lowered, SqlError> {
        let calls: Vec<(Id, WindowCall)> = calls.into_iter().filter(|(id, _)| required.contains(*id)).collect();
        if calls.is_empty() {
            return self.lower(input, required);
        }
        let mut needed = required.clone();
        partition.iter().chain(order.iter().map(|k| &k.expr)).for_each(|e| columns_of(e, &mut needed));
        calls.iter().flat_map(|(_, call)| call.expressions()).for_each(|e| columns_of(e, &mut needed));
        let Lowered { mut node, mut layout, rows } = self.lower(input, &needed)?;
        let partition = self.place_all(partition, &layout)?;
        let order = order
            .into_iter()
            .map(|key| Ok(SortKey { expr: self.place(key.expr, &layout)?, ..key }))
            .collect::<Result<Vec<SortKey>, SqlError>>()?;
        let mut placed = Vec::with_capacity(calls.len());
        let below = layout.clone();
        for (id, mut call) in calls {
            for expr in call.expressions_mut() {
                *expr = self.place(expr.clone(), &below)?;
            }
            layout.push(id);
            placed.push(call);
        }
        let key = |expr: &Expr| SortKey { expr: expr.clone(), descending: false, nulls_first: false };
        let keys: Vec<SortKey> = partition.iter().map(key).chain(order.iter().cloned()).collect();
        let ordered = keys.is_empty()
            || is_sorted(&node, &keys)
            || deliver(&mut node, &keys, None, None, &self.estimator, self.setting);
        if !ordered {
            node = Node::Sort { input: Box::new(node), keys, limit: None, offset: None };
        }
        let window = Window { input: node, partition, order, calls: placed, rows };
        Ok(Lowered { node: Node::Window(Box::new(window)), layout, rows })
    }

    /// Grouping sets: the input with its keys once for each.
    pub(super) fn expand(
        &mut self,
        input: Rel,
        keys: Vec<(Id, Expr)>,
        sets: Vec<Vec<bool>>,
        number: Id,
        required: &IdSet,
    ) -> Result<Lowered, SqlError> {
        let mut needed = required.clone();
        keys.iter().for_each(|(_, e)| columns_of(e, &mut needed));
        let Lowered { node, mut layout, rows } = self.lower(input, &needed)?;
        let below = layout.clone();
        let mut placed = Vec::with_capacity(keys.len());
        for (id, key) in keys {
            placed.push(self.place(key, &below)?);
            layout.push(id);
        }
        layout.push(number);
        let rows = rows * sets.len() as f64;
        Ok(Lowered { node: Node::Expand { input: Box::new(node), keys: placed, sets }, layout, rows })
    }
}

/// Whether the rows of `node` come in the order of `keys`, for they have been sorted by
/// them or by more.
pub(super) fn is_sorted(node: &Node, keys: &[SortKey]) -> bool {
    match node {
        Node::Sort { keys: own, .. } => own.starts_with(keys),
        // What it adds stands behind the columns of its input.
        Node::Window(window) => is_sorted(&window.input, keys),
        _ => false,
    }
}
