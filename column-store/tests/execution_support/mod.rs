//! What the execution tests share: tables in memory that hand out batches of uneven
//! sizes and forms, random data, and a reference interpreter that evaluates plans row
//! by row with nothing but values.

#![allow(dead_code, unreachable_pub)]

pub mod random;
pub mod reference;
pub mod tables;

use gingham_column_store::Error;
use gingham_column_store::execution::{Execution, MemoryBudget, Options, TempSpace};
use gingham_plan::{Node, OutputColumn, Query};
use gingham_row_store::MemoryVfs;
use gingham_types::{Value, compare_values};
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;
use tables::MemoryTables;

/// A query of one tree.
pub fn query(root: Node) -> Query {
    let columns = root
        .types()
        .into_iter()
        .enumerate()
        .map(|(index, ty)| OutputColumn { name: format!("c{index}"), ty })
        .collect();
    Query {
        root,
        columns,
        subqueries: Vec::new(),
        ctes: Vec::new(),
        parameters: Vec::new(),
        filter_count: 8,
        slot_count: 8,
    }
}

/// Too little for more than a few rows.
const TINY_BYTES: u64 = 4096;

/// The rows of a query in so little memory that whatever can be spilled is, and the bytes
/// that were.
pub fn run_spilling(query: Query, tables: &MemoryTables, bytes_max: u64) -> (Result<Vec<Vec<Value>>, Error>, u64) {
    let vfs = MemoryVfs::new();
    let temp = Arc::new(TempSpace::new(Arc::new(vfs.clone()), "temp".to_owned()).expect("there is no file"));
    let memory = Rc::new(MemoryBudget::new(bytes_max).with_temp(Some(Arc::clone(&temp))));
    let options = Options { memory: Rc::clone(&memory), ..Options::default() };
    // What this run reads is not what the test counts.
    let tables = MemoryTables { opened: Rc::default(), batches_read: Rc::default(), ..tables.clone() };
    let mut execution = Execution::new(query, Rc::new(tables), options);
    let rows = execution.collect_rows();
    drop(execution);
    assert_eq!(memory.bytes_used(), 0, "all memory is given back");
    assert_eq!(temp.bytes_used(), 0, "all temporary space is given back");
    assert_eq!(memory.bytes_spilled(), temp.bytes_written());
    (rows, memory.bytes_spilled())
}

/// The rows of a query.
pub fn run(query: Query, tables: &MemoryTables) -> Result<Vec<Vec<Value>>, Error> {
    Execution::new(query, Rc::new(tables.clone()), Options::default()).collect_rows()
}

/// Runs a tree and the reference, and compares the rows as bags.
pub fn check(root: Node, tables: &MemoryTables, context: &str) {
    let query = query(root);
    let expected = reference::Reference::new(&query, tables).rows(&query.root);
    compare(run(query.clone(), tables), copy(&expected), true, context);
    let (actual, spilled) = run_spilling(query, tables, TINY_BYTES);
    compare(actual, expected, true, &format!("{context}, {spilled} bytes spilled"));
}

/// As [`check`], with the order of rows.
pub fn check_ordered(root: Node, tables: &MemoryTables, context: &str) {
    let query = query(root);
    let expected = reference::Reference::new(&query, tables).rows(&query.root);
    compare(run(query.clone(), tables), copy(&expected), false, context);
    let (actual, spilled) = run_spilling(query, tables, TINY_BYTES);
    compare(actual, expected, false, &format!("{context}, {spilled} bytes spilled"));
}

fn copy(result: &Result<Vec<Vec<Value>>, Error>) -> Result<Vec<Vec<Value>>, Error> {
    match result {
        Ok(rows) => Ok(rows.clone()),
        Err(Error::Sql(error)) => Err(Error::Sql(error.clone())),
        Err(error) => panic!("the reference fails: {error}"),
    }
}

/// Compares rows, or the codes of errors.
pub fn compare(
    actual: Result<Vec<Vec<Value>>, Error>,
    expected: Result<Vec<Vec<Value>>, Error>,
    as_bag: bool,
    context: &str,
) {
    match (actual, expected) {
        (Ok(mut actual), Ok(mut expected)) => {
            if as_bag {
                actual.sort_by(|a, b| compare_rows(a, b));
                expected.sort_by(|a, b| compare_rows(a, b));
            }
            let difference = (0..actual.len().max(expected.len()))
                .find(|at| !matches!((actual.get(*at), expected.get(*at)), (Some(a), Some(b)) if same_row(a, b)));
            if let Some(at) = difference {
                panic!(
                    "{context}: {} rows against {} expected; row {at}: {:?} against {:?}",
                    actual.len(),
                    expected.len(),
                    actual.get(at),
                    expected.get(at)
                );
            }
        }
        (Err(Error::Sql(a)), Err(Error::Sql(b))) => assert_eq!(a.code, b.code, "{context}"),
        (actual, expected) => panic!("{context}: {actual:?} against {expected:?}"),
    }
}

/// Rows in the order of their values.
pub fn compare_rows(a: &[Value], b: &[Value]) -> Ordering {
    a.iter().zip(b).map(|(a, b)| compare_values(a, b)).find(|o| *o != Ordering::Equal).unwrap_or(Ordering::Equal)
}

fn same_row(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
}

/// Equal, or doubles that differ by the order of additions only.
pub fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Double(x), Value::Double(y)) => {
            x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-9 * x.abs().max(y.abs())
        }
        (Value::Decimal { scale: s, .. }, Value::Decimal { scale: t, .. }) if s != t => false,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b) && compare_values(a, b) == Ordering::Equal,
    }
}
