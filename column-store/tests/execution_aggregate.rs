//! Aggregates against the reference: every function, keys that lead to every strategy,
//! DISTINCT, FILTER, NULLs, no rows, overflow.

mod execution_support;

use execution_support::random::{Random, TYPES, rows};
use execution_support::tables::MemoryTables;
use execution_support::{check, query, run};
use gingham_column_store::Error;
use gingham_plan::{AggregateCall, AggregateFunction, BinaryOp, Expr, Node};
use gingham_types::{SqlType, Value};

fn result_type(function: AggregateFunction, ty: SqlType) -> Option<SqlType> {
    use AggregateFunction::*;
    Some(match (function, ty) {
        (CountStar | Count, _) => SqlType::BigInt,
        (Min | Max, _) => ty,
        (Sum, SqlType::Integer) => SqlType::BigInt,
        (Sum, SqlType::BigInt) => SqlType::decimal(38, 0),
        (Sum, SqlType::Decimal { scale, .. }) => SqlType::decimal(38, scale),
        (Sum | Average, SqlType::Double) => SqlType::Double,
        (Average, SqlType::Integer | SqlType::BigInt) => SqlType::Double,
        (Average, SqlType::Decimal { scale, .. }) => SqlType::decimal(38, scale.max(6)),
        (BoolAnd | BoolOr, SqlType::Boolean) => SqlType::Boolean,
        (VarianceSample | VariancePopulation | StddevSample | StddevPopulation, SqlType::Double) => SqlType::Double,
        _ => return None,
    })
}

const FUNCTIONS: [AggregateFunction; 12] = [
    AggregateFunction::CountStar,
    AggregateFunction::Count,
    AggregateFunction::Sum,
    AggregateFunction::Average,
    AggregateFunction::Min,
    AggregateFunction::Max,
    AggregateFunction::BoolAnd,
    AggregateFunction::BoolOr,
    AggregateFunction::VarianceSample,
    AggregateFunction::VariancePopulation,
    AggregateFunction::StddevSample,
    AggregateFunction::StddevPopulation,
];

/// Every function over every column it takes, some distinct, some filtered.
fn calls(random: &mut Random, types: &[SqlType], first: usize) -> Vec<AggregateCall> {
    let mut calls = Vec::new();
    for (at, ty) in types.iter().enumerate().skip(first) {
        for function in FUNCTIONS {
            let Some(result) = result_type(function, *ty) else { continue };
            if !random.chance(50) {
                continue;
            }
            let counts_rows = function == AggregateFunction::CountStar;
            let filter = random.chance(25).then(|| {
                let integer = types.len() - 1;
                let limit = Expr::literal(Value::Int(1), SqlType::Integer);
                Expr::boolean(BinaryOp::Less, Expr::column(integer, SqlType::Integer), limit)
            });
            calls.push(AggregateCall {
                function,
                argument: (!counts_rows).then(|| Expr::column(at, *ty)),
                distinct: !counts_rows && random.chance(25),
                filter,
                second: None,
                order: Vec::new(),
                ty: result,
            });
        }
    }
    calls
}

#[test]
fn execution_aggregates_of_every_function_and_key_type() {
    for seed in 0..200u64 {
        let mut random = Random(seed);
        let key_count = *random.pick(&[0, 1, 1, 2, 3]);
        let mut types: Vec<SqlType> = (0..key_count).map(|_| *random.pick(&TYPES)).collect();
        types.extend((0..3).map(|_| *random.pick(&TYPES)));
        types.push(SqlType::Integer);
        let size = *random.pick(&[0, 1, 50, 500, 4000]);
        let spread = *random.pick(&[2, 10, 300, 50_000]);
        let nulls = *random.pick(&[0, 0, 15, 100]);
        let mut tables = MemoryTables::new(seed);
        tables.add(0, &types, rows(&mut random, &types, size, spread, nulls));
        let root = Node::Aggregate {
            input: Box::new(tables.scan(0)),
            groups: (0..key_count).map(|at| Expr::column(at, types[at])).collect(),
            aggregates: calls(&mut random, &types, key_count),
            rows: *random.pick(&[1.0, 1000.0, f64::INFINITY]),
        };
        check(
            root,
            &tables,
            &format!("seed {seed}: {key_count} keys of {types:?}, {size} rows, spread {spread}, nulls {nulls}"),
        );
    }
}

/// Keys that first look dense and then are not, and the other way about.
#[test]
fn execution_aggregates_change_strategy_as_keys_come() {
    type Key = fn(i64) -> i64;
    let shapes: [(&str, Key); 6] = [
        ("ascending", |at| at),
        ("descending", |at| -at),
        ("dense, then far", |at| if at < 9000 { at % 10 } else { at.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) }),
        ("scattered", |at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64)),
        ("scattered in a range", |at| at.wrapping_mul(7919).rem_euclid(20_000)),
        ("extremes", |at| if at % 2 == 0 { i64::MIN + at % 3 } else { i64::MAX - at % 3 }),
    ];
    for (name, key) in shapes {
        for expected in [0.0, 15_000.0] {
            for second in [false, true] {
                let types = [SqlType::BigInt, SqlType::Text, SqlType::BigInt];
                let texts = ["a", "b", "c"];
                let data = (0..12_000i64)
                    .map(|at| vec![Value::Int(key(at)), Value::Text(texts[at as usize % 3].into()), Value::Int(at)])
                    .collect();
                let mut tables = MemoryTables::new(3);
                tables.add(0, &types, data);
                let root = Node::Aggregate {
                    input: Box::new(tables.scan(0)),
                    groups: (0..=usize::from(second)).map(|at| Expr::column(at, types[at])).collect(),
                    aggregates: vec![AggregateCall::new(
                        AggregateFunction::Sum,
                        Some(Expr::column(2, SqlType::BigInt)),
                        SqlType::decimal(38, 0),
                    )],
                    rows: expected,
                };
                check(root, &tables, &format!("{name}, {expected} expected, second key {second}"));
            }
        }
    }
}

fn sum_of(values: &[i128], precision: u8) -> Result<Vec<Vec<Value>>, Error> {
    let types = [SqlType::decimal(precision, 0)];
    let mut tables = MemoryTables::new(5);
    tables.add(0, &types, values.iter().map(|v| vec![Value::Decimal { unscaled: *v, scale: 0 }]).collect());
    let root = Node::Aggregate {
        input: Box::new(tables.scan(0)),
        groups: Vec::new(),
        aggregates: vec![AggregateCall::new(
            AggregateFunction::Sum,
            Some(Expr::column(0, types[0])),
            SqlType::decimal(38, 0),
        )],
        rows: 1.0,
    };
    run(query(root), &tables)
}

#[test]
fn execution_sums_go_past_64_bits_and_stop_at_38_digits() {
    let decimal = |unscaled| vec![vec![Value::Decimal { unscaled, scale: 0 }]];
    let large = 10i128.pow(18) - 1;
    assert_eq!(sum_of(&vec![large; 5000], 18).expect("fits"), decimal(large * 5000));
    assert_eq!(sum_of(&[vec![large; 50], vec![-large; 49]].concat(), 18).expect("fits"), decimal(large));
    let greatest = 10i128.pow(38) - 1;
    assert_eq!(sum_of(&[greatest, 1, -1], 38).expect("fits in the end"), decimal(greatest));
    assert!(matches!(sum_of(&[greatest, 1], 38), Err(Error::Sql(e)) if e.code == "22003"));
    assert!(matches!(sum_of(&vec![-greatest; 100], 38), Err(Error::Sql(e)) if e.code == "22003"));
}
