//! What every plan must satisfy for an executor to trust it.

use gingham_plan::{ApplyKind, Expr, JoinKind, Node, Query, Route, RowAccess};
use gingham_types::SqlType;

/// Checks positions and types of every operator of a query.
///
/// # Panics
/// At the first operator that refers to a column it does not have, or to one of another type.
pub(crate) fn check(query: &Query) {
    for node in query.ctes.iter().chain(&query.subqueries).chain([&query.root]) {
        check_node(node, query);
    }
    let types: Vec<SqlType> = query.columns.iter().map(|c| c.ty).collect();
    assert_eq!(query.root.types(), types, "the result has the types it says");
    for node in &query.subqueries {
        assert_eq!(node.types().len(), 1, "a scalar subquery has one column");
    }
}

fn check_expr(expr: &Expr, input: &[SqlType], query: &Query) {
    expr.visit(&mut |e| match e {
        Expr::Column { index, ty } => {
            assert_eq!(input.get(*index), Some(ty), "column {index} of {input:?} in {expr}");
        }
        Expr::Parameter { index, ty } => {
            assert!(*index < query.parameters.len(), "parameter {index}");
            assert_ne!(*ty, SqlType::Null, "parameter {index} has a type in {expr}");
        }
        Expr::Subquery { index, ty } => {
            let subquery = query.subqueries.get(*index).expect("the subquery exists");
            assert_eq!(subquery.types(), [*ty], "the subquery's type");
        }
        Expr::Binary { op, left, right, .. } if op.is_comparison() => {
            assert_eq!(left.ty(), right.ty(), "operands of {e}");
        }
        Expr::InList { expr, list, .. } => {
            assert!(list.iter().all(|item| item.ty() == expr.ty()), "items of {e}");
        }
        Expr::Case { branches, otherwise, ty } => {
            assert!(branches.iter().all(|(c, r)| c.ty() == SqlType::Boolean && r.ty() == *ty), "branches of {e}");
            assert!(otherwise.iter().all(|r| r.ty() == *ty), "ELSE of {e}");
        }
        _ => {}
    });
}

fn check_node(node: &Node, query: &Query) {
    for input in node.inputs() {
        check_node(input, query);
    }
    let check = |expr: &Expr, input: &[SqlType]| check_expr(expr, input, query);
    let boolean = |expr: &Expr| assert_eq!(expr.ty(), SqlType::Boolean, "{expr} is a condition");
    match node {
        Node::Scan(scan) => {
            assert_eq!(scan.columns.len(), scan.types.len());
            scan.filters.iter().for_each(boolean);
            if let Route::Row(RowAccess::Keys { keys, .. }) = &scan.route {
                keys.iter().flatten().for_each(|key| check(key, &[]));
            }
        }
        Node::Values { rows, types } => {
            for row in rows {
                assert_eq!(row.iter().map(Expr::ty).collect::<Vec<_>>(), *types);
                row.iter().for_each(|e| check(e, &[]));
            }
        }
        Node::Filter { input, predicates, columns, .. } => {
            let types = input.types();
            predicates.iter().for_each(|e| check(e, &types));
            predicates.iter().for_each(boolean);
            assert!(columns.iter().all(|c| *c < types.len()));
        }
        Node::Project { input, expressions } => {
            let types = input.types();
            expressions.iter().for_each(|e| check(e, &types));
        }
        Node::Aggregate { input, groups, aggregates, .. } => {
            let types = input.types();
            groups.iter().for_each(|e| check(e, &types));
            for call in aggregates {
                call.expressions().for_each(|e| check(e, &types));
                call.filter.iter().for_each(boolean);
            }
        }
        Node::Join(join) => {
            let (left, right) = (join.left.types(), join.right.types());
            join.left_keys.iter().for_each(|e| check(e, &left));
            join.right_keys.iter().for_each(|e| check(e, &right));
            for (a, b) in join.left_keys.iter().zip(&join.right_keys) {
                assert_eq!(a.ty(), b.ty(), "keys {a} and {b}");
            }
            assert_eq!(join.left_keys.len(), join.right_keys.len());
            assert_eq!(join.left_keys.len(), join.null_equal.len());
            assert_eq!(join.left_keys.len(), join.publish.len());
            let both: Vec<SqlType> = left.iter().chain(&right).copied().collect();
            join.residual.iter().for_each(|e| check(e, &both));
            join.residual.iter().for_each(boolean);
            let width = join.joined_types().len();
            assert!(join.columns.iter().all(|c| *c < width));
            if join.null_aware {
                assert!(matches!(join.kind, JoinKind::Anti | JoinKind::Mark) && !join.left_keys.is_empty());
            }
        }
        Node::Apply(apply) => {
            let width = apply.input.types().len();
            assert!(apply.bindings.iter().all(|(slot, c)| *c < width && slot.0 < query.slot_count));
            match apply.kind {
                ApplyKind::Exists => assert_eq!(apply.types, [SqlType::Boolean]),
                _ => assert_eq!(apply.types, apply.subplan.types()),
            }
        }
        Node::Sort { input, keys, .. } => {
            let types = input.types();
            keys.iter().for_each(|key| check(&key.expr, &types));
        }
        Node::Union { inputs } => {
            let types: Vec<Vec<SqlType>> = inputs.iter().map(Node::types).collect();
            assert!(types.windows(2).all(|pair| pair[0] == pair[1]), "union of {types:?}");
        }
        Node::Window(window) => {
            let types = window.input.types();
            window.expressions().for_each(|e| check(e, &types));
            window.calls.iter().flat_map(|call| &call.filter).for_each(boolean);
        }
        Node::Expand { input, keys, sets } => {
            let types = input.types();
            keys.iter().for_each(|e| check(e, &types));
            assert!(sets.iter().all(|set| set.len() == keys.len()));
        }
        Node::Recursive(recursive) => {
            assert_eq!(recursive.start.types(), recursive.types);
            assert_eq!(recursive.step.types(), recursive.types);
        }
        Node::Work { columns, types, .. } => assert_eq!(columns.len(), types.len()),
        Node::Series { start, stop, step } => [start, stop, step].into_iter().for_each(|e| check(e, &[])),
        Node::Limit { .. } => {}
        Node::Cte { id, columns, types, .. } => {
            let shared = query.ctes.get(id.0 as usize).expect("the expression exists").types();
            let picked: Vec<SqlType> = columns.iter().map(|c| shared[*c]).collect();
            assert_eq!(picked, *types);
        }
    }
}
