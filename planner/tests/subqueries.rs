//! Correlated subqueries: what becomes a join, and what is run row by row.

#[allow(dead_code)]
mod support;

use gingham_plan::{Join, JoinKind, Node, Query, explain};

fn nodes<'a>(query: &'a Query, visit: &mut dyn FnMut(&'a Node)) {
    for root in std::iter::once(&query.root).chain(&query.subqueries).chain(&query.ctes) {
        explain::walk(root, visit);
    }
}

/// The kinds of the joins from the root down, `apply` for subplans.
fn shape(sql: &str) -> Vec<&'static str> {
    let query = support::query(&support::tpch(), sql);
    let mut kinds = Vec::new();
    nodes(&query, &mut |node| match node {
        Node::Join(join) => kinds.push(match (join.kind, join.null_aware) {
            (JoinKind::Inner, _) => "inner",
            (JoinKind::Left, _) => "left",
            (JoinKind::Full, _) => "full",
            (JoinKind::Semi, _) => "semi",
            (JoinKind::Anti, false) => "anti",
            (JoinKind::Anti, true) => "null-aware anti",
            (JoinKind::Mark, false) => "mark",
            (JoinKind::Mark, true) => "null-aware mark",
        }),
        Node::Apply(_) => kinds.push("apply"),
        _ => {}
    });
    kinds
}

#[test]
fn predicates_become_joins() {
    assert_eq!(
        shape("SELECT 1 FROM orders WHERE EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey)"),
        ["semi"]
    );
    assert_eq!(
        shape("SELECT 1 FROM orders WHERE NOT EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey LIMIT 3)"),
        ["anti"]
    );
    assert_eq!(shape("SELECT 1 FROM orders WHERE o_custkey IN (SELECT c_custkey FROM customer)"), ["semi"]);
    assert_eq!(shape("SELECT 1 FROM orders WHERE o_custkey NOT IN (SELECT c_custkey FROM customer)"), ["anti"]);
    assert_eq!(
        shape("SELECT 1 FROM orders WHERE o_custkey NOT IN (SELECT nullif(c_custkey, 5) FROM customer)"),
        ["null-aware anti"]
    );
    assert_eq!(
        shape(
            "SELECT 1 FROM orders WHERE o_custkey = 1 OR EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey)"
        ),
        ["mark"]
    );
    assert_eq!(
        shape("SELECT o_custkey IN (SELECT nullif(c_custkey, 5) FROM customer) FROM orders"),
        ["null-aware mark"]
    );
    assert_eq!(
        shape(
            "SELECT 1 FROM orders WHERE EXISTS (SELECT 1 FROM lineitem, part WHERE l_orderkey = o_orderkey AND l_partkey = p_partkey AND l_quantity > o_totalprice)"
        ),
        ["semi", "inner"]
    );
}

#[test]
fn scalar_aggregates_become_joins() {
    // A count is 0 and not NULL where there is no row.
    let sql = "SELECT o_orderkey, (SELECT count(*) FROM lineitem WHERE l_orderkey = o_orderkey) FROM orders";
    assert_eq!(shape(sql), ["left"]);
    assert!(support::explained(&support::tpch(), sql).contains("Coalesce"));
    let sql =
        "SELECT o_orderkey, (SELECT count(*) + max(l_tax) FROM lineitem WHERE l_orderkey = o_orderkey) FROM orders";
    assert_eq!(shape(sql), ["left"]);
    let sql = "SELECT 1 FROM orders WHERE o_totalprice < (SELECT sum(l_extendedprice) FROM lineitem WHERE l_orderkey = o_orderkey)";
    assert_eq!(shape(sql), ["inner"]);
    let sql = "SELECT (SELECT c_name FROM customer WHERE c_custkey = o_custkey) FROM orders";
    assert_eq!(shape(sql), ["left"]);
}

#[test]
fn the_rest_is_run_row_by_row() {
    // Several rows are an error that a join would not report.
    assert_eq!(shape("SELECT (SELECT c_name FROM customer WHERE c_nationkey = o_custkey) FROM orders"), ["apply"]);
    assert_eq!(
        shape(
            "SELECT (SELECT l_tax FROM lineitem WHERE l_orderkey = o_orderkey ORDER BY l_shipdate LIMIT 1) FROM orders"
        ),
        ["apply"]
    );
    assert_eq!(shape("SELECT (SELECT sum(l_tax) FROM lineitem WHERE l_orderkey < o_orderkey) FROM orders"), ["apply"]);
    assert_eq!(
        shape("SELECT 1 FROM orders WHERE EXISTS (SELECT count(*) FROM lineitem WHERE l_orderkey = o_orderkey)"),
        ["apply"]
    );
    assert_eq!(
        shape(
            "SELECT 1 FROM orders WHERE o_custkey NOT IN (SELECT max(l_suppkey) FROM lineitem WHERE l_orderkey = o_orderkey)"
        ),
        ["apply", "apply"]
    );
}

#[test]
fn uncorrelated_subqueries_run_once() {
    let query = support::query(
        &support::tpch(),
        "SELECT 1 FROM orders WHERE o_totalprice > (SELECT avg(o_totalprice) FROM orders) AND EXISTS (SELECT 1 FROM part)",
    );
    assert_eq!(query.subqueries.len(), 2);
}

#[test]
fn shared_expressions_are_computed_once() {
    let sql = "WITH r AS (SELECT l_suppkey AS s, sum(l_tax) AS t FROM lineitem GROUP BY l_suppkey), \
               q AS (SELECT s FROM r WHERE t > 5) SELECT 1 FROM r, q WHERE r.s = q.s";
    assert_eq!(support::query(&support::tpch(), sql).ctes.len(), 1);
    let once = "WITH r AS (SELECT l_suppkey AS s, sum(l_tax) AS t FROM lineitem GROUP BY l_suppkey) SELECT s FROM r WHERE s = 5";
    let plan = support::explained(&support::tpch(), once);
    assert!(!plan.contains("CTE") && plan.contains("filter=(l_suppkey = 5)"), "{plan}");
}

#[test]
fn outer_joins_become_inner_where_nulls_are_dropped() {
    assert_eq!(
        shape("SELECT 1 FROM orders LEFT JOIN customer ON o_custkey = c_custkey WHERE c_acctbal > 0"),
        ["inner"]
    );
    assert_eq!(
        shape("SELECT 1 FROM orders LEFT JOIN customer ON o_custkey = c_custkey WHERE c_custkey IS NULL"),
        ["left"]
    );
    assert_eq!(
        shape("SELECT 1 FROM orders RIGHT JOIN customer ON o_custkey = c_custkey WHERE o_totalprice > 0"),
        ["inner"]
    );
    assert_eq!(
        shape("SELECT 1 FROM orders FULL JOIN customer ON o_custkey = c_custkey WHERE o_totalprice > 0"),
        ["left"]
    );
    assert_eq!(shape("SELECT 1 FROM orders FULL JOIN customer ON o_custkey = c_custkey"), ["full"]);
}

#[test]
fn set_operations_match_nulls() {
    let query =
        support::query(&support::tpch(), "SELECT o_custkey FROM orders INTERSECT SELECT c_custkey FROM customer");
    let mut found: Vec<&Join> = Vec::new();
    nodes(&query, &mut |node| {
        if let Node::Join(join) = node {
            found.push(join);
        }
    });
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].kind, found[0].null_equal.as_slice()), (JoinKind::Semi, [true].as_slice()));
    assert_eq!(shape("SELECT o_custkey FROM orders EXCEPT SELECT c_custkey FROM customer"), ["anti"]);
}

#[test]
fn lateral_subqueries_join() {
    assert_eq!(
        shape(
            "SELECT c_name, l.m FROM customer, LATERAL (SELECT o_orderkey AS m FROM orders WHERE o_custkey = c_custkey) AS l"
        ),
        ["inner"]
    );
    assert_eq!(
        shape(
            "SELECT c_name, l.m FROM customer LEFT JOIN LATERAL (SELECT o_orderkey AS m FROM orders WHERE o_custkey = c_custkey ORDER BY o_totalprice LIMIT 1) AS l ON true"
        ),
        ["apply"]
    );
}

#[test]
fn filters_follow_equalities() {
    let plan = support::explained(
        &support::tpch(),
        "SELECT 1 FROM orders, lineitem WHERE o_orderkey = l_orderkey AND l_orderkey = 7",
    );
    assert!(plan.contains("filter=(o_orderkey = 7)"), "{plan}");
    assert!(plan.contains("filter=(l_orderkey = 7)"), "{plan}");
    let plan = support::explained(
        &support::tpch(),
        "SELECT 1 FROM orders LEFT JOIN lineitem ON o_orderkey = l_orderkey WHERE o_orderkey = 7",
    );
    assert!(plan.contains("filter=(l_orderkey = 7)"), "{plan}");
    let plan = support::explained(&support::tpch(), "SELECT 1 FROM orders WHERE 1 = 0");
    assert!(plan.starts_with("Values rows=0") || plan.contains("Values rows=0"), "{plan}");
}
