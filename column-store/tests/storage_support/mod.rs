//! What the storage tests share: a seeded generator, extents in memory, and a naive
//! evaluator that knows nothing of columns.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unnecessary_wraps)]

use gingham_column_store::source::{FilterCell, Source, Step};
use gingham_column_store::storage::{
    ChunkCache, ColumnScan, ExtentReader, RowGroupBuilder, RowGroupMeta, RowMask, ScanGroup, ScanMetrics, ScanRequest,
};
use gingham_column_store::vector::Batch;
use gingham_column_store::{Error, Result};
use gingham_plan::{BinaryOp, Expr};
use gingham_row_store::{Extent, PageId};
use gingham_types::{SqlType, Value, compare_values};
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

/// SplitMix64: a seed replays a failure.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}

/// Extents by their first page.
#[derive(Default)]
pub struct Extents(pub Vec<Vec<u8>>);

impl Extents {
    pub fn add(&mut self, bytes: Vec<u8>) -> Extent {
        let extent = Extent {
            first_page: PageId(self.0.len() as u32),
            pages: 1,
            bytes: bytes.len() as u64,
            checksum: self.0.len() as u64,
        };
        self.0.push(bytes);
        extent
    }
}

impl ExtentReader for Extents {
    fn read(&self, extent: &Extent, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let bytes = &self.0[extent.first_page.0 as usize];
        let from = bytes.get(offset as usize..offset as usize + buffer.len());
        buffer.copy_from_slice(from.ok_or_else(|| Error::Corrupt("past the end".into()))?);
        Ok(())
    }
}

/// A table in row groups, and its rows.
pub struct Table {
    pub types: Vec<SqlType>,
    pub rows: Vec<Vec<Value>>,
    pub groups: Vec<ScanGroup>,
    pub extents: Rc<Extents>,
    pub cache: Arc<ChunkCache>,
}

impl Table {
    /// Groups of `group_rows` rows each; row ids count from 1,000.
    pub fn new(types: &[SqlType], rows: Vec<Vec<Value>>, group_rows: usize) -> Self {
        let mut extents = Extents::default();
        let mut groups = Vec::new();
        for (index, part) in rows.chunks(group_rows).enumerate() {
            let mut builder = RowGroupBuilder::new(types);
            for row in part {
                builder.append_row(row).expect("a row of the table");
            }
            let mut group = builder.finish().expect("some rows");
            let extent = extents.add(std::mem::take(&mut group.bytes));
            let meta = group.into_meta(extent, 1000 + (index * group_rows) as u64, vec![]);
            let meta = RowGroupMeta::decode(&meta.encode()).expect("just encoded");
            groups.push(ScanGroup { meta: Arc::new(meta), deleted: None });
        }
        let cache = Arc::new(ChunkCache::new(64 << 20));
        Self { types: types.to_vec(), rows, groups, extents: Rc::new(extents), cache }
    }

    /// Marks rows, by position in the table, as deleted.
    pub fn delete(&mut self, deleted: &[usize]) {
        let mut start = 0;
        for group in &mut self.groups {
            let rows = group.meta.rows as usize;
            let mask: RowMask =
                deleted.iter().filter(|row| (start..start + rows).contains(row)).map(|row| row - start).collect();
            group.deleted = (!mask.is_empty()).then(|| Arc::new(mask));
            start += rows;
        }
    }

    pub fn request(&self, columns: &[usize], filters: Vec<Expr>) -> ScanRequest {
        ScanRequest { types: self.types.clone(), columns: columns.to_vec(), filters, ..ScanRequest::default() }
    }

    /// What a scan gives whose residual filters the crate's own expressions evaluate.
    pub fn scan_with_expressions(&self, request: ScanRequest) -> Vec<Vec<Value>> {
        let types: Vec<SqlType> = request.columns.iter().map(|column| self.types[*column]).collect();
        let reader = Rc::clone(&self.extents) as Rc<dyn ExtentReader>;
        let cache = Arc::clone(&self.cache);
        let mut scan = ColumnScan::with_expressions(request, self.groups.clone(), reader, cache, Arc::default());
        drain(&mut scan, &types).expect("undamaged data")
    }

    pub fn scan(&self, request: ScanRequest) -> (Vec<Vec<Value>>, Arc<ScanMetrics>) {
        let metrics = Arc::new(ScanMetrics::default());
        let mut types: Vec<SqlType> = request.columns.iter().map(|column| self.types[*column]).collect();
        if request.locator {
            types.push(SqlType::Blob);
        }
        let mut scan = ColumnScan::new(
            request,
            self.groups.clone(),
            Rc::clone(&self.extents) as Rc<dyn ExtentReader>,
            Arc::clone(&self.cache),
            Rc::new(naive_filter),
            Arc::clone(&metrics),
        );
        (drain(&mut scan, &types).expect("undamaged data"), metrics)
    }
}

pub fn drain(source: &mut dyn Source, types: &[SqlType]) -> Result<Vec<Vec<Value>>> {
    let mut rows = Vec::new();
    loop {
        match source.next()? {
            Step::Batch(batch) => {
                assert!(batch.rows > 0 && batch.rows <= 2048, "a batch of {} rows", batch.rows);
                rows.extend((0..batch.rows).map(|row| row_of(&batch, row, types)));
            }
            Step::Working => {}
            Step::Finished => {
                assert!(matches!(source.next(), Ok(Step::Finished)));
                return Ok(rows);
            }
        }
    }
}

fn row_of(batch: &Batch, row: usize, types: &[SqlType]) -> Vec<Value> {
    batch.columns.iter().zip(types).map(|(column, ty)| column.value(row, *ty)).collect()
}

/// The fallback of the scan, over columns of the expressions' own types.
pub fn naive_filter(filters: &[Expr], batch: &Batch) -> Result<Vec<u32>> {
    let mut types = vec![SqlType::Null; batch.columns.len()];
    for filter in filters {
        filter.visit(&mut |node| {
            if let Expr::Column { index, ty } = node {
                types[*index] = *ty;
            }
        });
    }
    Ok((0..batch.rows as u32)
        .filter(|row| {
            let values = row_of(batch, *row as usize, &types);
            filters.iter().all(|filter| truth(filter, &values) == Some(true))
        })
        .collect())
}

/// Three-valued truth of a filter for a row.
pub fn truth(filter: &Expr, row: &[Value]) -> Option<bool> {
    match evaluate(filter, row) {
        Value::Boolean(v) => Some(v),
        _ => None,
    }
}

fn evaluate(expr: &Expr, row: &[Value]) -> Value {
    let boolean = |v: Option<bool>| v.map_or(Value::Null, Value::Boolean);
    match expr {
        Expr::Column { index, .. } => row[*index].clone(),
        Expr::Literal { value, .. } => value.clone(),
        Expr::Cast { expr, ty, .. } => gingham_types::cast(&evaluate(expr, row), *ty).expect("a cast without loss"),
        Expr::Not(inner) => boolean(truth(inner, row).map(|v| !v)),
        Expr::IsNull { expr, negated } => Value::Boolean(evaluate(expr, row).is_null() != *negated),
        Expr::Binary { op: BinaryOp::And, left, right, .. } => boolean(match (truth(left, row), truth(right, row)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }),
        Expr::Binary { op: BinaryOp::Or, left, right, .. } => boolean(match (truth(left, row), truth(right, row)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        }),
        Expr::Binary { op, left, right, .. } => {
            let (left, right) = (evaluate(left, row), evaluate(right, row));
            let equal = compare_values(&left, &right).is_eq();
            match op {
                BinaryOp::IsDistinctFrom => Value::Boolean(!equal),
                BinaryOp::IsNotDistinctFrom => Value::Boolean(equal),
                _ if left.is_null() || right.is_null() => Value::Null,
                op => Value::Boolean(satisfies(*op, compare_values(&left, &right))),
            }
        }
        Expr::InList { expr, list, negated } => {
            let value = evaluate(expr, row);
            let items: Vec<Value> = list.iter().map(|item| evaluate(item, row)).collect();
            if value.is_null() {
                Value::Null
            } else if items.iter().any(|item| !item.is_null() && compare_values(item, &value).is_eq()) {
                Value::Boolean(!negated)
            } else if items.iter().any(Value::is_null) {
                Value::Null
            } else {
                Value::Boolean(*negated)
            }
        }
        Expr::Like { expr, pattern, negated, .. } => match (evaluate(expr, row), evaluate(pattern, row)) {
            (Value::Text(text), Value::Text(pattern)) => Value::Boolean(
                like(&text.chars().collect::<Vec<_>>(), &pattern.chars().collect::<Vec<_>>()) != *negated,
            ),
            _ => Value::Null,
        },
        other => unreachable!("the tests make no {other:?}"),
    }
}

fn satisfies(op: BinaryOp, ordering: Ordering) -> bool {
    match op {
        BinaryOp::Equal => ordering.is_eq(),
        BinaryOp::NotEqual => ordering.is_ne(),
        BinaryOp::Less => ordering.is_lt(),
        BinaryOp::LessOrEqual => ordering.is_le(),
        BinaryOp::Greater => ordering.is_gt(),
        _ => ordering.is_ge(),
    }
}

fn like(text: &[char], pattern: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('%', rest)) => (0..=text.len()).any(|from| like(&text[from..], rest)),
        Some(('_', rest)) => !text.is_empty() && like(&text[1..], rest),
        Some((c, rest)) => text.first() == Some(c) && like(&text[1..], rest),
    }
}

/// The rows of the table that a scan should give.
pub fn expected(table: &Table, columns: &[usize], filters: &[Expr], deleted: &[usize]) -> Vec<Vec<Value>> {
    let kept = table
        .rows
        .iter()
        .enumerate()
        .filter(|(at, row)| !deleted.contains(at) && filters.iter().all(|filter| truth(filter, row) == Some(true)));
    kept.map(|(_, row)| columns.iter().map(|column| row[*column].clone()).collect()).collect()
}

pub fn cell(filter: gingham_column_store::source::KeyFilter) -> Arc<FilterCell> {
    let cell = Arc::new(FilterCell::default());
    cell.publish(filter);
    cell
}

pub fn column(index: usize, ty: SqlType) -> Expr {
    Expr::column(index, ty)
}

pub fn literal(value: Value, ty: SqlType) -> Expr {
    Expr::literal(value, ty)
}

pub fn compare(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::boolean(op, left, right)
}
