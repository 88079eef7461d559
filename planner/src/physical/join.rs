//! Joins as operators: keys, residual, build side, dynamic filters.

use super::dynamic::{attach, droppable};
use super::graph::key_share;
use super::lookup::look_up;
use super::lower::{Lowered, Lowering};
use super::order::{Side, choose_build};
use crate::logical::{Id, IdSet, columns_of};
use gingham_plan::{BinaryOp, BuildSide, Expr, FilterId, Join, JoinKind, Node, SqlError};

/// A build side that has this share of the probe side's keys or more is no filter.
const FILTER_SHARE_MAX: f64 = 0.8;

/// The sides and conditions of a join about to be lowered.
pub(super) struct Sides {
    pub(super) kind: JoinKind,
    pub(super) left: Lowered,
    pub(super) right: Lowered,
    pub(super) on: Vec<Expr>,
    pub(super) null_aware: bool,
    pub(super) mark: Option<Id>,
    pub(super) rows: f64,
}

impl Lowering<'_> {
    /// Lowers a join: keys, residual, build side, dynamic filters.
    pub(super) fn join(
        &mut self,
        sides: Sides,
        required: &IdSet,
        domain: &dyn Fn(Id) -> f64,
    ) -> Result<Lowered, SqlError> {
        let Sides { kind, mut left, mut right, on, null_aware, mark, rows } = sides;
        let left_set: IdSet = left.layout.iter().copied().collect();
        let right_set: IdSet = right.layout.iter().copied().collect();
        let mut keys: Vec<(Expr, Expr, bool)> = Vec::new();
        let mut residual = Vec::new();
        for condition in on {
            match split(&condition, &left_set, &right_set) {
                Some(key) => keys.push(key),
                None => residual.push(condition),
            }
        }
        if null_aware && keys.is_empty() {
            return Err(SqlError::unsupported("NOT IN over these operands"));
        }
        let side = |lowered: &Lowered| Side { rows: lowered.rows, width: lowered.layout.len() as f64 };
        let (mut builds_left, _) = choose_build(kind, side(&left), side(&right), rows);
        if null_aware || keys.is_empty() {
            builds_left = false;
        }
        if kind == JoinKind::Inner && builds_left {
            // Inner joins are symmetric: the build side is always shown on the right.
            std::mem::swap(&mut left, &mut right);
            keys.iter_mut().for_each(|(a, b, _)| std::mem::swap(a, b));
            builds_left = false;
        }
        let publish = keys
            .iter()
            .map(|(left_key, right_key, null_equal)| {
                let (build_key, probe_key) = if builds_left { (left_key, right_key) } else { (right_key, left_key) };
                let (build, probe) = if builds_left { (&left, &mut right) } else { (&right, &mut left) };
                if *null_equal || !droppable(kind, builds_left, null_aware) {
                    return None;
                }
                let (Expr::Column { index: build_id, .. }, Expr::Column { index: probe_id, .. }) =
                    (build_key, probe_key)
                else {
                    return None;
                };
                if key_share(domain(*build_id), build.rows, domain(*probe_id)) >= FILTER_SHARE_MAX {
                    return None;
                }
                let position = probe.layout.iter().position(|id| id == probe_id)?;
                let filter = FilterId(self.filters);
                if !attach(&mut probe.node, position, filter) {
                    return None;
                }
                self.filters += 1;
                let keys_count = build.rows.min(domain(*build_id)).max(1.0);
                look_up(&mut probe.node, filter, keys_count, &self.estimator, self.setting);
                Some(filter)
            })
            .collect();
        let mut joined = left.layout.clone();
        match kind {
            JoinKind::Inner | JoinKind::Left | JoinKind::Full => joined.extend(&right.layout),
            JoinKind::Mark => joined.extend(mark),
            JoinKind::Semi | JoinKind::Anti => {}
        }
        let both: Vec<Id> = left.layout.iter().chain(&right.layout).copied().collect();
        let residual = if residual.is_empty() { None } else { Some(self.place(Expr::all(residual), &both)?) };
        let null_equal = keys.iter().map(|(_, _, n)| *n).collect();
        let mut left_keys = Vec::with_capacity(keys.len());
        let mut right_keys = Vec::with_capacity(keys.len());
        for (a, b, _) in keys {
            left_keys.push(self.place(a, &left.layout)?);
            right_keys.push(self.place(b, &right.layout)?);
        }
        let columns: Vec<usize> = (0..joined.len()).filter(|p| required.contains(joined[*p])).collect();
        let layout = columns.iter().map(|p| joined[*p]).collect();
        let build = if builds_left { BuildSide::Left } else { BuildSide::Right };
        let node = Node::Join(Box::new(Join {
            kind,
            left: left.node,
            right: right.node,
            left_keys,
            right_keys,
            null_equal,
            residual,
            null_aware,
            build,
            publish,
            columns,
            rows,
        }));
        Ok(Lowered { node, layout, rows })
    }
}

/// An equality of a left and a right expression, as such.
fn split(condition: &Expr, left: &IdSet, right: &IdSet) -> Option<(Expr, Expr, bool)> {
    let Expr::Binary { op, left: a, right: b, .. } = condition else { return None };
    let null_equal = match op {
        BinaryOp::Equal => false,
        BinaryOp::IsNotDistinctFrom => true,
        _ => return None,
    };
    let used = |e: &Expr| {
        let mut set = IdSet::default();
        columns_of(e, &mut set);
        set
    };
    let (x, y) = (used(a), used(b));
    let on = |side: &IdSet, other: &IdSet, set: &IdSet| set.intersects(side) && !set.intersects(other);
    // A key of one side may be a constant of the other.
    let free = |set: &IdSet| !set.intersects(left) && !set.intersects(right);
    if (on(left, right, &x) || free(&x)) && on(right, left, &y) {
        return Some(((**a).clone(), (**b).clone(), null_equal));
    }
    if (on(left, right, &y) || free(&y)) && on(right, left, &x) {
        return Some(((**b).clone(), (**a).clone(), null_equal));
    }
    None
}
