//! The operators that are not joins, aggregates or sorts, and what surrounds them:
//! values, filters, projections, limits, unions, common table expressions, scalar
//! subqueries, applies, parameters, cancelling, memory, profiles, Arrow.

mod execution_support;

use execution_support::random::{Random, rows};
use execution_support::tables::MemoryTables;
use execution_support::{check, check_ordered, compare, query, reference::Reference, run};
use gingham_column_store::Error;
use gingham_column_store::execution::{Execution, MemoryBudget, Options, result};
use gingham_column_store::source::Step;
use gingham_plan::{
    AggregateCall, AggregateFunction, Apply, ApplyKind, BinaryOp, BuildSide, CteId, Expr, Join, JoinKind, Node, Query,
    SlotId, SortKey,
};
use gingham_types::{SqlType, Value};
use std::cell::Cell;
use std::rc::Rc;

const INTEGER: SqlType = SqlType::Integer;
const BIGINT: SqlType = SqlType::BigInt;

fn column(index: usize, ty: SqlType) -> Expr {
    Expr::column(index, ty)
}

fn integer(value: i64) -> Expr {
    Expr::literal(Value::Int(value), INTEGER)
}

fn bigint(value: i64) -> Expr {
    Expr::literal(Value::Int(value), BIGINT)
}

fn compared(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::boolean(op, left, right)
}

/// Table 0: (INTEGER, TEXT, DECIMAL), table 1: (INTEGER, BIGINT).
fn tables(seed: u64, sizes: (usize, usize)) -> MemoryTables {
    let mut random = Random(seed);
    let mut tables = MemoryTables::new(seed);
    let first = [INTEGER, SqlType::Text, SqlType::decimal(12, 2)];
    let second = [INTEGER, BIGINT];
    tables.add(0, &first, rows(&mut random, &first, sizes.0, 60, 10));
    tables.add(1, &second, rows(&mut random, &second, sizes.1, 60, 10));
    tables
}

fn filter(input: Node, predicates: Vec<Expr>) -> Node {
    let columns = (0..input.types().len()).collect();
    Node::Filter { input: Box::new(input), predicates, columns, rows: 1.0 }
}

fn sum(input: Node, index: usize) -> Node {
    let call = AggregateCall::new(AggregateFunction::Sum, Some(column(index, BIGINT)), SqlType::decimal(38, 0));
    Node::Aggregate { input: Box::new(input), groups: Vec::new(), aggregates: vec![call], rows: 1.0 }
}

#[test]
fn execution_filters_projects_limits_and_unions() {
    for seed in 0..40u64 {
        let tables = tables(seed, (3000, 500));
        let small = || compared(BinaryOp::Less, column(0, INTEGER), integer(seed as i64 - 20));
        let filtered = || Node::Filter {
            input: Box::new(tables.scan(0)),
            predicates: vec![small()],
            columns: vec![2, 0],
            rows: 1.0,
        };
        check_ordered(filtered(), &tables, "filter");
        let double = Expr::Binary {
            op: BinaryOp::Add,
            left: Box::new(column(1, INTEGER)),
            right: Box::new(column(1, INTEGER)),
            ty: INTEGER,
        };
        let projected = || Node::Project { input: Box::new(filtered()), expressions: vec![double.clone(), integer(7)] };
        check_ordered(projected(), &tables, "project");
        for (limit, offset) in [
            (Some(bigint(5)), None),
            (Some(bigint(0)), None),
            (Some(bigint(900)), Some(bigint(10))),
            (None, Some(bigint(3))),
        ] {
            let input = Box::new(projected());
            check_ordered(Node::Limit { input, limit, offset }, &tables, "limit");
        }
        let union = Node::Union { inputs: vec![projected(), projected(), projected()] };
        check_ordered(union, &tables, "union");
    }
}

#[test]
fn execution_limit_stops_reading() {
    let tables = tables(1, (100_000, 0));
    let root = Node::Limit { input: Box::new(tables.scan(0)), limit: Some(bigint(10)), offset: None };
    assert_eq!(run(query(root), &tables).expect("runs").len(), 10);
    assert!(tables.batches_read.get() < 15, "{} batches read", tables.batches_read.get());
}

#[test]
fn execution_negative_limits_are_refused() {
    let tables = tables(1, (10, 0));
    for (limit, offset, code) in [(Some(bigint(-1)), None, "2201W"), (None, Some(bigint(-1)), "2201X")] {
        let root = Node::Limit { input: Box::new(tables.scan(0)), limit, offset };
        assert!(matches!(run(query(root), &tables), Err(Error::Sql(e)) if e.code == code));
    }
}

#[test]
fn execution_values_and_a_row_of_no_columns() {
    let tables = MemoryTables::new(0);
    let list = (0..5000).map(|at| vec![integer(at), Expr::literal(Value::Text(format!("r{at}")), SqlType::Text)]);
    let values = Node::Values { rows: list.collect(), types: vec![INTEGER, SqlType::Text] };
    check_ordered(values, &tables, "values");
    let one = Node::Values { rows: vec![Vec::new()], types: Vec::new() };
    let root = Node::Project { input: Box::new(one), expressions: vec![integer(42)] };
    assert_eq!(run(query(root), &tables).expect("runs"), [[Value::Int(42)]]);
}

#[test]
fn execution_parameters_reach_every_operator() {
    let tables = tables(3, (800, 100));
    let parameter = |index, ty| Expr::Parameter { index, ty };
    let root = Node::Limit {
        input: Box::new(filter(
            tables.scan(0),
            vec![compared(BinaryOp::Greater, column(0, INTEGER), parameter(0, INTEGER))],
        )),
        limit: Some(parameter(1, BIGINT)),
        offset: None,
    };
    let parameters = vec![Value::Int(-5), Value::Int(20)];
    let query = query(root);
    let expected = Reference::new(&query, &tables).with_parameters(parameters.clone()).rows(&query.root);
    let options = Options { parameters, ..Options::default() };
    let actual = Execution::new(query.clone(), Rc::new(tables.clone()), options).collect_rows();
    compare(actual, expected, false, "parameters");
    let missing = Execution::new(query, Rc::new(tables), Options::default()).collect_rows();
    assert!(matches!(missing, Err(Error::Sql(e)) if e.code == "42P02"));
}

#[test]
fn execution_subqueries_run_once_and_only_when_needed() {
    let tables = tables(4, (900, 400));
    let subquery = |index| Expr::Subquery { index, ty: SqlType::decimal(38, 0) };
    let wide = |e: Expr| Expr::Cast { expr: Box::new(e), ty: SqlType::decimal(38, 0), lenient: false };
    let above = compared(BinaryOp::Greater, wide(column(0, INTEGER)), subquery(1));
    let mut with = query(filter(tables.scan(0), vec![above]));
    let second = Node::Project {
        input: Box::new(Node::Values { rows: vec![Vec::new()], types: Vec::new() }),
        expressions: vec![Expr::Binary {
            op: BinaryOp::Modulo,
            left: Box::new(subquery(0)),
            right: Box::new(wide(integer(25))),
            ty: SqlType::decimal(38, 0),
        }],
    };
    // The third subquery fails if it runs, and is never needed.
    let bad = Node::Limit { input: Box::new(tables.scan(0)), limit: Some(bigint(-1)), offset: None };
    with.subqueries = vec![sum(tables.scan(1), 1), second, bad];
    tables.opened.set(0);
    let actual = run(with.clone(), &tables);
    assert_eq!(tables.opened.get(), 2, "each table is opened once");
    let expected = Reference::new(&with, &tables).rows(&with.root);
    compare(actual, expected, false, "subqueries");
}

#[test]
fn execution_scalar_subqueries_have_one_row() {
    let tables = tables(5, (10, 10));
    let subquery = Expr::Subquery { index: 0, ty: INTEGER };
    let mut with = query(filter(tables.scan(0), vec![compared(BinaryOp::Equal, column(0, INTEGER), subquery)]));
    with.subqueries = vec![tables.scan(1)];
    assert!(matches!(run(with.clone(), &tables), Err(Error::Sql(e)) if e.code == "21000"));
    with.subqueries = vec![filter(tables.scan(1), vec![Expr::literal(Value::Boolean(false), SqlType::Boolean)])];
    assert!(run(with, &tables).expect("NULL for no row").is_empty());
}

fn self_join(left: Node, right: Node) -> Node {
    let width = left.types().len() + right.types().len();
    Node::Join(Box::new(Join {
        kind: JoinKind::Inner,
        left,
        right,
        left_keys: vec![column(0, INTEGER)],
        right_keys: vec![column(0, INTEGER)],
        null_equal: vec![false],
        residual: None,
        null_aware: false,
        build: BuildSide::Right,
        publish: vec![None],
        columns: (0..width).collect(),
        rows: 1.0,
    }))
}

#[test]
fn execution_common_table_expressions_are_computed_once() {
    let tables = tables(6, (10, 3000));
    let cte = |columns: Vec<usize>, types: Vec<SqlType>| Node::Cte { id: CteId(1), columns, types, rows: 1.0 };
    let root = self_join(cte(vec![0, 1], vec![INTEGER, BIGINT]), cte(vec![0], vec![INTEGER]));
    let mut with = query(Node::Limit { input: Box::new(root), limit: Some(bigint(100_000_000)), offset: None });
    with.ctes = vec![
        tables.scan(1),
        filter(
            Node::Cte { id: CteId(0), columns: vec![0, 1], types: vec![INTEGER, BIGINT], rows: 1.0 },
            vec![compared(BinaryOp::Less, column(0, INTEGER), integer(-20))],
        ),
    ];
    tables.opened.set(0);
    let actual = run(with.clone(), &tables);
    assert_eq!(tables.opened.get(), 1);
    let expected = Reference::new(&with, &tables).rows(&with.root);
    compare(actual, expected, true, "common table expressions");
}

fn apply(tables: &MemoryTables, kind: ApplyKind) -> Node {
    let slot = Expr::Slot { slot: SlotId(0), ty: INTEGER };
    let inner = filter(tables.scan(1), vec![compared(BinaryOp::Equal, column(0, INTEGER), slot)]);
    let (subplan, types) = match kind {
        ApplyKind::Scalar => (sum(inner, 1), vec![SqlType::decimal(38, 0)]),
        ApplyKind::Exists => (inner, vec![SqlType::Boolean]),
        ApplyKind::Cross | ApplyKind::Left => (inner, vec![INTEGER, BIGINT]),
    };
    Node::Apply(Box::new(Apply { input: tables.scan(0), subplan, kind, bindings: vec![(SlotId(0), 0)], types }))
}

#[test]
fn execution_applies_run_once_for_each_outer_value() {
    for seed in 0..10u64 {
        for kind in [ApplyKind::Scalar, ApplyKind::Exists, ApplyKind::Cross, ApplyKind::Left] {
            let tables = tables(seed, (1500, 80));
            check(apply(&tables, kind), &tables, &format!("seed {seed} {kind:?}"));
            assert!(tables.opened.get() <= 63, "{} scans for 61 outer values, NULL and the input", tables.opened.get());
        }
    }
}

/// The joins of an apply's subplan publish other keys on every run.
#[test]
fn execution_applies_have_their_own_dynamic_filters() {
    let tables = tables(7, (300, 200));
    let slot = Expr::Slot { slot: SlotId(0), ty: INTEGER };
    let build = filter(tables.scan(1), vec![compared(BinaryOp::Equal, column(0, INTEGER), slot)]);
    let mut probe = tables.scan(1);
    let Node::Scan(scan) = &mut probe else { panic!("a scan") };
    scan.dynamic_filters.push(gingham_plan::DynamicFilter { filter: gingham_plan::FilterId(0), column: 0 });
    let Node::Join(mut join) = self_join(probe, build) else { panic!("a join") };
    join.publish = vec![Some(gingham_plan::FilterId(0))];
    let subplan = sum(Node::Join(join), 1);
    let types = vec![SqlType::decimal(38, 0)];
    let bindings = vec![(SlotId(0), 0)];
    let root =
        Node::Apply(Box::new(Apply { input: tables.scan(0), subplan, kind: ApplyKind::Scalar, bindings, types }));
    check(root, &tables, "filters below an apply");
}

#[test]
fn execution_scalar_apply_refuses_several_rows() {
    let tables = tables(8, (100, 400));
    let slot = Expr::Slot { slot: SlotId(0), ty: INTEGER };
    let subplan = Node::Project {
        input: Box::new(filter(tables.scan(1), vec![compared(BinaryOp::Equal, column(0, INTEGER), slot)])),
        expressions: vec![column(1, BIGINT)],
    };
    let bindings = vec![(SlotId(0), 0)];
    let root = Node::Apply(Box::new(Apply {
        input: tables.scan(0),
        subplan,
        kind: ApplyKind::Scalar,
        bindings,
        types: vec![BIGINT],
    }));
    assert!(matches!(run(query(root), &tables), Err(Error::Sql(e)) if e.code == "21000"));
}

fn sorted(input: Node) -> Query {
    let key = SortKey { expr: column(0, INTEGER), descending: false, nulls_first: false };
    query(Node::Sort { input: Box::new(input), keys: vec![key], limit: None, offset: None })
}

#[test]
fn execution_cancels_between_steps() {
    let tables = tables(9, (50_000, 0));
    let mut execution = Execution::new(sorted(tables.scan(0)), Rc::new(tables), Options::default());
    assert!(matches!(execution.step().expect("runs"), Step::Working));
    execution.cancel().cancel();
    assert!(matches!(execution.step(), Err(Error::Cancelled)));
}

#[test]
fn execution_stays_in_its_memory() {
    let tables = tables(10, (60_000, 50_000));
    let budget = Rc::new(MemoryBudget::new(200_000));
    let plans = [
        sorted(tables.scan(0)),
        query(self_join(tables.scan(0), tables.scan(1))),
        query(Node::Aggregate {
            input: Box::new(Node::Project {
                input: Box::new(self_join(tables.scan(1), filter(tables.scan(1), Vec::new()))),
                expressions: vec![column(1, BIGINT), column(3, BIGINT)],
            }),
            groups: vec![column(0, BIGINT), column(1, BIGINT)],
            aggregates: Vec::new(),
            rows: 1.0,
        }),
    ];
    for plan in plans {
        let options = Options { memory: Rc::clone(&budget), ..Options::default() };
        let result = Execution::new(plan, Rc::new(tables.clone()), options).collect_rows();
        assert!(matches!(result, Err(Error::OutOfMemory { bytes_max: 200_000, .. })));
        assert_eq!(budget.bytes_used(), 0, "all is given back");
    }
    assert!(budget.bytes_peak() <= 200_000);
}

#[test]
fn execution_profiles_follow_the_plan() {
    let tables = tables(11, (4000, 300));
    let root = filter(
        self_join(tables.scan(0), tables.scan(1)),
        vec![compared(BinaryOp::Less, column(0, INTEGER), integer(0))],
    );
    let ticks = Rc::new(Cell::new(0.0));
    let clock = Rc::clone(&ticks);
    let tick = move || {
        clock.set(clock.get() + 1.0);
        clock.get()
    };
    let options = Options { clock: Some(Rc::new(tick)), ..Options::default() };
    let mut execution = Execution::new(query(root), Rc::new(tables), options);
    let rows = execution.collect_rows().expect("runs").len() as u64;
    let profile = execution.profile();
    let counts: Vec<u64> = profile.in_order().map(|node| node.rows).collect();
    assert_eq!(counts.len(), 4, "filter, join, two scans");
    assert_eq!((counts[0], counts[2], counts[3]), (rows, 4000, 300));
    assert!(profile.root.iter().all(|node| node.time_ms > 0.0 && node.starts == 1));
    assert!(profile.root[0].time_ms > profile.root[1].time_ms, "the time of an operator includes its inputs'");
}

#[test]
fn execution_results_become_arrow() {
    let mut random = Random(12);
    let types = execution_support::random::TYPES;
    let mut tables = MemoryTables::new(12);
    tables.add(0, &types, rows(&mut random, &types, 700, 5000, 15));
    let query = query(tables.scan(0));
    let schema = result::arrow_schema(&query.columns);
    let mut execution = Execution::new(query.clone(), Rc::new(tables), Options::default());
    while let Some(batch) = execution.next_batch().expect("runs") {
        let arrow = result::record_batch(&batch, &query.columns, &schema).expect("converts");
        assert_eq!(arrow.num_rows(), batch.rows);
        for (array, column) in arrow.columns().iter().zip(&batch.columns) {
            let nulls = (0..batch.rows).filter(|row| !column.is_valid(*row)).count();
            assert_eq!(array.null_count(), nulls);
        }
    }
}
