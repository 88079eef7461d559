//! Joins against the reference: every kind, either build side, key types that lead to
//! every table, NULLs, duplicates, residuals, empty inputs.

mod execution_support;

use execution_support::random::{Random, TYPES, rows};
use execution_support::tables::MemoryTables;
use execution_support::{check, query, run};
use gingham_plan::{BinaryOp, BuildSide, DynamicFilter, Expr, FilterId, Join, JoinKind, Node};
use gingham_types::{SqlType, Value};

const KINDS: [JoinKind; 6] =
    [JoinKind::Inner, JoinKind::Left, JoinKind::Full, JoinKind::Semi, JoinKind::Anti, JoinKind::Mark];

fn join(tables: &MemoryTables, kind: JoinKind, build: BuildSide, keys: &[SqlType]) -> Join {
    let (left, right) = (tables.scan(0), tables.scan(1));
    let columns = |width: usize| keys.iter().enumerate().map(|(at, ty)| Expr::column(at, *ty)).take(width).collect();
    let mut join = Join {
        kind,
        left_keys: columns(keys.len()),
        right_keys: columns(keys.len()),
        null_equal: vec![false; keys.len()],
        residual: None,
        null_aware: false,
        build,
        publish: vec![None; keys.len()],
        columns: Vec::new(),
        rows: 0.0,
        left,
        right,
    };
    join.columns = (0..join.joined_types().len()).rev().collect();
    join
}

fn residual(random: &mut Random, left_width: usize, payload: usize) -> Expr {
    let op = *random.pick(&[BinaryOp::Less, BinaryOp::NotEqual, BinaryOp::GreaterOrEqual]);
    Expr::boolean(op, Expr::column(payload, SqlType::Integer), Expr::column(left_width + payload, SqlType::Integer))
}

/// Tables 0 and 1 with keys of these types and an INTEGER payload.
fn tables(random: &mut Random, keys: &[SqlType], sizes: (usize, usize), spread: i64, nulls: usize) -> MemoryTables {
    let mut types = keys.to_vec();
    types.push(SqlType::Integer);
    let mut tables = MemoryTables::new(random.next());
    tables.add(0, &types, rows(random, &types, sizes.0, spread, nulls));
    tables.add(1, &types, rows(random, &types, sizes.1, spread, nulls));
    tables
}

#[test]
fn execution_joins_of_every_kind_and_key_type() {
    for seed in 0..150u64 {
        let mut random = Random(seed);
        let key_count = *random.pick(&[1, 1, 1, 2, 3]);
        let keys: Vec<SqlType> = (0..key_count).map(|_| *random.pick(&TYPES)).collect();
        let sizes = (*random.pick(&[0, 1, 40, 250]), *random.pick(&[0, 1, 40, 250]));
        let spread = *random.pick(&[3, 20, 300, 100_000]);
        let nulls = *random.pick(&[0, 0, 20]);
        let tables = tables(&mut random, &keys, sizes, spread, nulls);
        let with_residual = random.chance(40);
        for kind in KINDS {
            for build in [BuildSide::Left, BuildSide::Right] {
                let mut join = join(&tables, kind, build, &keys);
                if with_residual {
                    join.residual = Some(residual(&mut random, keys.len() + 1, keys.len()));
                }
                join.null_equal = keys.iter().map(|_| seed % 5 == 0).collect();
                let context =
                    format!("seed {seed}: {kind:?} {build:?} {keys:?} {sizes:?} spread {spread} {with_residual}");
                check(Node::Join(Box::new(join)), &tables, &context);
            }
        }
    }
}

#[test]
fn execution_null_aware_joins() {
    for seed in 0..120u64 {
        let mut random = Random(seed);
        let key_count = *random.pick(&[1, 1, 2]);
        let keys: Vec<SqlType> = (0..key_count).map(|_| *random.pick(&TYPES)).collect();
        let sizes = (*random.pick(&[0, 1, 30, 120]), *random.pick(&[0, 1, 30, 120]));
        let nulls = *random.pick(&[0, 1, 15]);
        let spread = *random.pick(&[3, 50]);
        let tables = tables(&mut random, &keys, sizes, spread, nulls);
        let with_residual = random.chance(40);
        for kind in [JoinKind::Anti, JoinKind::Mark, JoinKind::Semi] {
            for build in [BuildSide::Left, BuildSide::Right] {
                let mut join = join(&tables, kind, build, &keys);
                join.null_aware = kind != JoinKind::Semi;
                join.null_equal[key_count - 1] = key_count > 1 && seed % 2 == 0;
                if with_residual {
                    join.residual = Some(residual(&mut random, keys.len() + 1, keys.len()));
                }
                let context =
                    format!("seed {seed}: {kind:?} {build:?} {keys:?} {sizes:?} nulls {nulls} {with_residual}");
                check(Node::Join(Box::new(join)), &tables, &context);
            }
        }
    }
}

#[test]
fn execution_nested_loops() {
    for seed in 0..25u64 {
        let mut random = Random(seed);
        let sizes = (*random.pick(&[0, 1, 50, 120]), *random.pick(&[0, 1, 50, 120]));
        let tables = tables(&mut random, &[], sizes, 30, 10);
        for kind in KINDS {
            for build in [BuildSide::Left, BuildSide::Right] {
                for with_residual in [false, true] {
                    let mut join = join(&tables, kind, build, &[]);
                    join.residual = with_residual.then(|| residual(&mut random, 1, 0));
                    let context = format!("seed {seed}: {kind:?} {build:?} {sizes:?} {with_residual}");
                    check(Node::Join(Box::new(join)), &tables, &context);
                }
            }
        }
    }
}

/// Many more pairs than a step takes, all of one key.
#[test]
fn execution_join_with_one_key_for_all() {
    let types = [SqlType::BigInt, SqlType::Integer];
    let mut tables = MemoryTables::new(1);
    let same = |count: i64| (0..count).map(|at| vec![Value::Int(7), Value::Int(at)]).collect::<Vec<_>>();
    tables.add(0, &types, same(3000));
    tables.add(1, &types, same(50));
    for build in [BuildSide::Left, BuildSide::Right] {
        let root = Node::Join(Box::new(join(&tables, JoinKind::Inner, build, &[SqlType::BigInt])));
        assert_eq!(run(query(root), &tables).expect("runs").len(), 150_000, "{build:?}");
    }
}

#[test]
fn execution_join_publishes_its_keys() {
    for (seed, ty) in TYPES.iter().enumerate() {
        let mut random = Random(seed as u64);
        let tables = tables(&mut random, &[*ty], (2000, 20), 5000, 5);
        for kind in [JoinKind::Inner, JoinKind::Semi] {
            let plain = join(&tables, kind, BuildSide::Right, &[*ty]);
            let mut filtered = plain.clone();
            filtered.publish = vec![Some(FilterId(3))];
            let Node::Scan(scan) = &mut filtered.left else { panic!("a scan") };
            scan.dynamic_filters.push(DynamicFilter { filter: FilterId(3), column: 0 });
            let expected = run(query(Node::Join(Box::new(plain))), &tables);
            let actual = run(query(Node::Join(Box::new(filtered))), &tables);
            execution_support::compare(actual, expected, true, &format!("{ty:?} {kind:?}"));
        }
    }
}

#[test]
fn execution_join_with_an_empty_build_side_leaves_the_probe_side_alone() {
    let mut random = Random(9);
    let tables = tables(&mut random, &[SqlType::Integer], (5000, 0), 50, 0);
    for kind in [JoinKind::Inner, JoinKind::Semi] {
        tables.opened.set(0);
        let root = Node::Join(Box::new(join(&tables, kind, BuildSide::Right, &[SqlType::Integer])));
        assert!(run(query(root), &tables).expect("runs").is_empty());
        assert_eq!(tables.opened.get(), 1, "{kind:?} opens its build side only");
    }
}
