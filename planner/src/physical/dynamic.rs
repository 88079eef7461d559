//! Dynamic filters: from a join's build side to the scans that feed its probe side.

use gingham_plan::{DynamicFilter, Expr, FilterId, JoinKind, Node};

/// Whether rows of the probe side that match nothing may be dropped before the join.
pub(super) const fn droppable(kind: JoinKind, builds_left: bool, null_aware: bool) -> bool {
    match kind {
        JoinKind::Inner | JoinKind::Semi => true,
        // The probe side is the one that is not preserved. NOT IN must see its NULLs.
        JoinKind::Left | JoinKind::Anti | JoinKind::Mark => builds_left && !null_aware,
        JoinKind::Full => false,
    }
}

/// Hands a filter on output column `position` of `node` down to scans; whether any takes it.
///
/// A relation may pass the filter on where dropping the rows it excludes below does the
/// same as dropping them above, given that the rows are dropped above anyway.
pub(super) fn attach(node: &mut Node, position: usize, filter: FilterId) -> bool {
    match node {
        Node::Scan(scan) => match scan.columns.get(position) {
            Some(column) => {
                scan.dynamic_filters.push(DynamicFilter { filter, column: *column });
                true
            }
            None => false,
        },
        Node::Filter { input, columns, .. } => match columns.get(position) {
            Some(column) => attach(input, *column, filter),
            None => false,
        },
        Node::Project { input, expressions } => match expressions.get(position) {
            Some(Expr::Column { index, .. }) => attach(input, *index, filter),
            _ => false,
        },
        // Whole groups go, as the key is the same in all their rows.
        Node::Aggregate { input, groups, .. } => match groups.get(position) {
            Some(Expr::Column { index, .. }) => attach(input, *index, filter),
            _ => false,
        },
        // Whole partitions go.
        Node::Window(window) => {
            let key = |e: &Expr| matches!(e, Expr::Column { index, .. } if *index == position);
            window.partition.iter().any(key) && attach(&mut window.input, position, filter)
        }
        Node::Join(join) => {
            let Some(position) = join.columns.get(position).copied() else { return false };
            let left_width = join.left.types().len();
            let same = |keys: &[Expr], at: usize| {
                keys.iter().position(|k| matches!(k, Expr::Column { index, .. } if *index == at))
            };
            if position < left_width {
                if join.kind == JoinKind::Full {
                    return false;
                }
                let mut taken = attach(&mut join.left, position, filter);
                // The other side's equal key goes as well: what it would match is dropped.
                if matches!(join.kind, JoinKind::Inner | JoinKind::Semi | JoinKind::Left)
                    && let Some(key) = same(&join.left_keys, position).filter(|k| !join.null_equal[*k])
                    && let Expr::Column { index, .. } = join.right_keys[key]
                {
                    taken |= attach(&mut join.right, index, filter);
                }
                taken
            } else {
                if join.kind != JoinKind::Inner {
                    return false;
                }
                let position = position - left_width;
                let mut taken = attach(&mut join.right, position, filter);
                if let Some(key) = same(&join.right_keys, position).filter(|k| !join.null_equal[*k])
                    && let Expr::Column { index, .. } = join.left_keys[key]
                {
                    taken |= attach(&mut join.left, index, filter);
                }
                taken
            }
        }
        Node::Apply(apply) => {
            if position < apply.input.types().len() {
                attach(&mut apply.input, position, filter)
            } else {
                false
            }
        }
        Node::Sort { input, limit: None, offset: None, .. } => attach(input, position, filter),
        Node::Union { inputs } => {
            let mut taken = false;
            for input in inputs {
                taken |= attach(input, position, filter);
            }
            taken
        }
        Node::Sort { .. }
        | Node::Limit { .. }
        | Node::Values { .. }
        | Node::Cte { .. }
        | Node::Expand { .. }
        | Node::Recursive(_)
        | Node::Work { .. }
        | Node::Series { .. } => false,
    }
}
