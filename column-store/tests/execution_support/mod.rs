//! What the execution tests share: tables in memory that hand out batches of uneven
//! sizes and forms, random data, and a reference interpreter that evaluates plans row
//! by row with nothing but values.

#![allow(dead_code, unreachable_pub)]

pub mod random;
pub mod reference;
pub mod tables;

use gingham_column_store::Error;
use gingham_column_store::execution::{Execution, Options};
use gingham_plan::{Node, OutputColumn, Query};
use gingham_types::{Value, compare_values};
use std::cmp::Ordering;
use std::rc::Rc;
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

/// The rows of a query.
pub fn run(query: Query, tables: &MemoryTables) -> Result<Vec<Vec<Value>>, Error> {
    Execution::new(query, Rc::new(tables.clone()), Options::default()).collect_rows()
}

/// Runs a tree and the reference, and compares the rows as bags.
pub fn check(root: Node, tables: &MemoryTables, context: &str) {
    let query = query(root);
    let expected = reference::Reference::new(&query, tables).rows(&query.root);
    let actual = run(query, tables);
    compare(actual, expected, true, context);
}

/// As [`check`], with the order of rows.
pub fn check_ordered(root: Node, tables: &MemoryTables, context: &str) {
    let query = query(root);
    let expected = reference::Reference::new(&query, tables).rows(&query.root);
    let actual = run(query, tables);
    compare(actual, expected, false, context);
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
