//! Sorts against the reference, in order: every key type, directions, NULLs at either
//! end, ties, limits that keep a few rows, many, or all.

mod execution_support;

use execution_support::check_ordered;
use execution_support::random::{Random, TYPES, rows};
use execution_support::tables::MemoryTables;
use gingham_plan::{Expr, Node, SortKey};
use gingham_types::{SqlType, Value};

fn count(value: i64) -> Expr {
    Expr::literal(Value::Int(value), SqlType::BigInt)
}

#[test]
fn execution_sorts_of_every_type_and_direction() {
    for seed in 0..120u64 {
        let mut random = Random(seed);
        let key_count = *random.pick(&[1, 1, 2, 3]);
        let mut types: Vec<SqlType> = (0..key_count).map(|_| *random.pick(&TYPES)).collect();
        types.push(SqlType::Integer);
        let size = *random.pick(&[0, 1, 100, 3000, 15_000]);
        let spread = *random.pick(&[2, 100, 1_000_000]);
        let nulls = *random.pick(&[0, 10]);
        let mut tables = MemoryTables::new(seed);
        tables.add(0, &types, rows(&mut random, &types, size, spread, nulls));
        let keys: Vec<SortKey> = (0..key_count)
            .map(|at| {
                let column = Expr::column(at, types[at]);
                let negated = matches!(types[at], SqlType::Double) && random.chance(30);
                SortKey {
                    expr: if negated { Expr::Negate(Box::new(column)) } else { column },
                    descending: random.chance(50),
                    nulls_first: random.chance(50),
                }
            })
            .collect();
        let limit = random
            .pick(&[None, Some(count(0)), Some(count(1)), Some(count(10)), Some(count(5000)), Some(count(150_000))])
            .clone();
        let offset = random.pick(&[None, Some(count(3)), Some(count(700))]).clone();
        let context = format!("seed {seed}: {types:?} {size} rows, {keys:?} {limit:?} {offset:?}");
        let root = Node::Sort { input: Box::new(tables.scan(0)), keys, limit, offset };
        check_ordered(root, &tables, &context);
    }
}

/// More rows than one run, and text past the ranked dictionaries.
#[test]
fn execution_sort_merges_runs() {
    let mut random = Random(11);
    let types = [SqlType::Text, SqlType::BigInt];
    let data = (0..80_000i64)
        .map(|at| vec![Value::Text(format!("common prefix {}", random.next() % 70_000)), Value::Int(at)])
        .collect();
    let mut tables = MemoryTables::new(12);
    tables.add(0, &types, data);
    let key = |at: usize, descending| SortKey { expr: Expr::column(at, types[at]), descending, nulls_first: false };
    for keys in [vec![key(0, false), key(1, true)], vec![key(1, true)]] {
        let root = Node::Sort { input: Box::new(tables.scan(0)), keys, limit: None, offset: Some(count(5)) };
        check_ordered(root, &tables, "80,000 rows");
    }
}
