//! Operators with too little memory: what must be spilled is, results stay the same, and
//! a full device is an error after which everything is as before. That small inputs
//! give the same rows with next to no memory is checked with every other execution test.

mod execution_support;

use execution_support::random::Random;
use execution_support::tables::MemoryTables;
use execution_support::{compare, query, run, run_spilling};
use gingham_column_store::Error;
use gingham_column_store::execution::{Execution, MemoryBudget, Options, TempSpace};
use gingham_plan::{AggregateCall, AggregateFunction, BuildSide, Expr, Join, JoinKind, Node, Query, SortKey};
use gingham_row_store::{Error as StoreError, MemoryVfs, OpenMode, Result as StoreResult, Vfs, VfsFile};
use gingham_types::{SqlType, Value};
use std::rc::Rc;
use std::sync::Arc;

const TYPES: [SqlType; 3] = [SqlType::BigInt, SqlType::Text, SqlType::Integer];

/// Keys `0..keys`, a text and a row number; `skew` of 100 rows have key 0.
fn table(tables: &mut MemoryTables, id: u32, rows: i64, keys: u64, skew: usize) {
    let mut random = Random(u64::from(id) + 1);
    let rows = (0..rows)
        .map(|row| {
            let key = if random.chance(skew) { 0 } else { (random.next() % keys) as i64 };
            vec![Value::Int(key), Value::Text(format!("text of {}", key % 97)), Value::Int(row)]
        })
        .collect();
    tables.add(id, &TYPES, rows);
}

fn tables(sizes: (i64, i64), keys: u64, skew: usize) -> MemoryTables {
    let mut tables = MemoryTables::new(5);
    table(&mut tables, 0, sizes.0, keys, 0);
    table(&mut tables, 1, sizes.1, keys, skew);
    tables
}

fn join(tables: &MemoryTables, kind: JoinKind, keys: &[usize], null_aware: bool) -> Node {
    let columns = |_| keys.iter().map(|at| Expr::column(*at, TYPES[*at])).collect::<Vec<Expr>>();
    let mut join = Join {
        kind,
        left: tables.scan(0),
        right: tables.scan(1),
        left_keys: columns(0),
        right_keys: columns(1),
        null_equal: vec![false; keys.len()],
        residual: None,
        null_aware,
        build: BuildSide::Right,
        publish: vec![None; keys.len()],
        columns: Vec::new(),
        rows: 0.0,
    };
    join.columns = (0..join.joined_types().len()).collect();
    Node::Join(Box::new(join))
}

/// Runs with and without enough memory.
fn check(query: &Query, tables: &MemoryTables, bytes_max: u64, as_bag: bool, context: &str) {
    let expected = run(query.clone(), tables);
    let (actual, spilled) = run_spilling(query.clone(), tables, bytes_max);
    assert!(spilled > 0, "{context} spills");
    compare(actual, expected, as_bag, context);
}

#[test]
fn execution_spills_joins_of_every_kind() {
    let tables = tables((9000, 40_000), 20_000, 0);
    for kind in [JoinKind::Inner, JoinKind::Left, JoinKind::Full, JoinKind::Semi, JoinKind::Anti, JoinKind::Mark] {
        check(&query(join(&tables, kind, &[0], false)), &tables, 400_000, true, &format!("{kind:?} by number"));
        check(&query(join(&tables, kind, &[0, 1], false)), &tables, 400_000, true, &format!("{kind:?} by both"));
    }
}

/// Dividing by a hash never separates rows of one key.
#[test]
fn execution_spills_joins_of_one_key() {
    let tables = tables((300, 40_000), 20_000, 98);
    for kind in [JoinKind::Inner, JoinKind::Full, JoinKind::Semi, JoinKind::Anti] {
        check(&query(join(&tables, kind, &[0], false)), &tables, 200_000, true, &format!("{kind:?}"));
    }
}

#[test]
fn execution_spills_joins_chunk_by_chunk() {
    let tables = tables((25, 10_000), 20_000, 0);
    for kind in [JoinKind::Anti, JoinKind::Mark] {
        check(&query(join(&tables, kind, &[0], true)), &tables, 100_000, true, &format!("null-aware {kind:?}"));
    }
    check(&query(join(&tables, JoinKind::Inner, &[], false)), &tables, 100_000, true, "nested loops");
}

#[test]
fn execution_spills_groups_and_distinct_values() {
    let tables = tables((50_000, 0), 30_000, 0);
    let call = |function, column: usize, distinct| AggregateCall {
        function,
        argument: Some(Expr::column(column, TYPES[column])),
        distinct,
        filter: None,
        second: None,
        order: Vec::new(),
        ty: match function {
            AggregateFunction::Min => TYPES[column],
            _ => SqlType::BigInt,
        },
    };
    let calls = vec![
        call(AggregateFunction::Count, 0, false),
        call(AggregateFunction::Min, 1, false),
        call(AggregateFunction::Sum, 2, false),
        call(AggregateFunction::Count, 2, true),
    ];
    for groups in [vec![], vec![0], vec![1], vec![0, 1]] {
        let root = Node::Aggregate {
            input: Box::new(tables.scan(0)),
            groups: groups.iter().map(|at: &usize| Expr::column(*at, TYPES[*at])).collect(),
            aggregates: calls.clone(),
            rows: 10.0,
        };
        check(&query(root), &tables, 300_000, true, &format!("grouped by {groups:?}"));
    }
}

/// Keys that come in order, and texts that go with them, need no table and no look-ups. What
/// does not keep to that comes when memory is short, or gone.
#[test]
fn execution_spills_groups_that_kept_an_order() {
    for (other_keys, other_texts) in [(false, false), (true, false), (false, true), (true, true)] {
        let rows = (0..60_000).map(|row: i64| {
            let late = row > 20_000 && row % 5 == 0;
            let key = if late && other_keys { row * 7919 % 30_000 } else { row / 2 };
            let text = if late && other_texts { row % 3 } else { key };
            vec![Value::Int(key), Value::Text(format!("text of {text}")), Value::Int(row)]
        });
        let mut tables = MemoryTables::new(5);
        tables.add(0, &TYPES, rows.collect());
        let call = |function| AggregateCall::new(function, Some(Expr::column(2, TYPES[2])), SqlType::BigInt);
        for groups in [vec![0], vec![0, 1]] {
            let root = Node::Aggregate {
                input: Box::new(tables.scan(0)),
                groups: groups.iter().map(|at: &usize| Expr::column(*at, TYPES[*at])).collect(),
                aggregates: vec![call(AggregateFunction::Count), call(AggregateFunction::Sum)],
                rows: 10.0,
            };
            let context = format!("{groups:?}, other keys {other_keys}, other texts {other_texts}");
            for bytes_max in [400_000, 1_000_000] {
                check(&query(root.clone()), &tables, bytes_max, true, &context);
            }
        }
    }
}

fn sorted(tables: &MemoryTables, limit: Option<i64>) -> Query {
    let key = |at: usize, descending| SortKey { expr: Expr::column(at, TYPES[at]), descending, nulls_first: false };
    let limit = limit.map(|rows| Expr::literal(Value::Int(rows), SqlType::BigInt));
    let keys = vec![key(1, true), key(0, false)];
    query(Node::Sort { input: Box::new(tables.scan(0)), keys, limit, offset: None })
}

#[test]
fn execution_spills_sorts_in_several_passes() {
    let tables = tables((60_000, 0), 500, 0);
    for bytes_max in [100_000, 1_000_000] {
        for limit in [None, Some(50_000), Some(200_000)] {
            check(&sorted(&tables, limit), &tables, bytes_max, false, &format!("{bytes_max} bytes, limit {limit:?}"));
        }
    }
}

#[test]
fn execution_spills_common_table_expressions() {
    let tables = tables((40_000, 0), 500, 0);
    let mut query = query(Node::Union { inputs: Vec::new() });
    query.ctes = vec![tables.scan(0)];
    let read =
        |_| Node::Cte { id: gingham_plan::CteId(0), columns: vec![2, 0], types: vec![TYPES[2], TYPES[0]], rows: 1.0 };
    query.root = Node::Union { inputs: vec![read(0), read(1)] };
    query.columns.clear();
    check(&query, &tables, 200_000, false, "read twice");
}

/// A file system that is full after some bytes.
struct SmallVfs(MemoryVfs);
struct SmallFile(Box<dyn VfsFile>);

const ROOM_BYTES: u64 = 200_000;

impl Vfs for SmallVfs {
    fn open(&self, name: &str, mode: OpenMode) -> StoreResult<Box<dyn VfsFile>> {
        Ok(Box::new(SmallFile(self.0.open(name, mode)?)))
    }
    fn delete(&self, name: &str) -> StoreResult<()> {
        self.0.delete(name)
    }
    fn exists(&self, name: &str) -> StoreResult<bool> {
        self.0.exists(name)
    }
}

impl VfsFile for SmallFile {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> StoreResult<()> {
        self.0.read_at(offset, buffer)
    }
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> StoreResult<()> {
        if offset + bytes.len() as u64 > ROOM_BYTES {
            return Err(StoreError::Full);
        }
        self.0.write_at(offset, bytes)
    }
    fn len(&mut self) -> StoreResult<u64> {
        self.0.len()
    }
    fn set_len(&mut self, bytes: u64) -> StoreResult<()> {
        self.0.set_len(bytes)
    }
    fn sync(&mut self) -> StoreResult<()> {
        self.0.sync()
    }
    fn close(&mut self) -> StoreResult<()> {
        self.0.close()
    }
}

#[test]
fn execution_reports_a_full_device_and_gives_the_space_back() {
    let tables = tables((40_000, 40_000), 20_000, 0);
    let temp = TempSpace::new(Arc::new(SmallVfs(MemoryVfs::new())), "temp".to_owned()).expect("there is no file");
    let temp = Arc::new(temp);
    for query in [sorted(&tables, None), query(join(&tables, JoinKind::Inner, &[0], false))] {
        let memory = Rc::new(MemoryBudget::new(100_000).with_temp(Some(Arc::clone(&temp))));
        let options = Options { memory: Rc::clone(&memory), ..Options::default() };
        let result = Execution::new(query, Rc::new(tables.clone()), options).collect_rows();
        assert!(matches!(result, Err(Error::Store(StoreError::Full))));
        assert_eq!((memory.bytes_used(), temp.bytes_used()), (0, 0));
    }
}
