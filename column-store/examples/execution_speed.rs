//! Nanoseconds a row of the operators that analytical queries spend their time in.
//!
//! `cargo run --release -p gingham-column-store --example execution_speed [NAME]`
//!
//! Batches are made beforehand and handed out again and again, so that what is measured
//! is execution without storage. Each figure is the best of three runs, in time on the
//! processor where the system tells it (Linux), so that a busy machine counts less.

use gingham_column_store::Result;
use gingham_column_store::execution::{Execution, Options};
use gingham_column_store::source::{FilterCell, Source, Step, Tables};
use gingham_column_store::vector::{BATCH_ROWS, Batch, Data, Dictionary, TextVector, Vector};
use gingham_plan::{
    AggregateCall, AggregateFunction, BinaryOp, BuildSide, DynamicFilter, Expr, Function, Join, JoinKind, Node,
    OutputColumn, Query, Route, Scan, SortKey, TableId,
};
use gingham_types::{SqlType, Value};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

const ROWS: usize = 6_000_000;
const BUILD_ROWS: i64 = 1_500_000;
const DECIMAL: SqlType = SqlType::Decimal { precision: 15, scale: 2 };

struct Repeated {
    batches: Vec<Batch>,
    types: Vec<SqlType>,
    rows: usize,
}

#[derive(Default)]
struct Prepared(Vec<Rc<Repeated>>);

struct RepeatedSource {
    table: Rc<Repeated>,
    columns: Vec<usize>,
    at: usize,
    rows: usize,
}

impl Tables for Prepared {
    fn open(&self, scan: &Scan, _: &[(DynamicFilter, Arc<FilterCell>)]) -> Result<Box<dyn Source>> {
        let table = Rc::clone(&self.0[scan.table.0 as usize]);
        Ok(Box::new(RepeatedSource { table, columns: scan.columns.clone(), at: 0, rows: 0 }))
    }
}

impl Source for RepeatedSource {
    fn next(&mut self) -> Result<Step> {
        if self.rows >= self.table.rows {
            return Ok(Step::Finished);
        }
        let batch = &self.table.batches[self.at % self.table.batches.len()];
        self.at += 1;
        self.rows += batch.rows;
        Ok(Step::Batch(batch.project(&self.columns)))
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z ^ (z >> 29)
    }

    fn below(&mut self, bound: i64) -> i64 {
        (self.next() >> 1) as i64 % bound
    }
}

impl Prepared {
    /// Adds a table and gives a scan of it.
    fn add(&mut self, types: &[SqlType], rows: usize, batches: Vec<Batch>) -> Node {
        self.0.push(Rc::new(Repeated { batches, types: types.to_vec(), rows }));
        let table = &self.0[self.0.len() - 1];
        Node::Scan(Scan {
            table: TableId(self.0.len() as u32 - 1),
            name: "t".into(),
            columns: (0..table.types.len()).collect(),
            types: table.types.clone(),
            locator: false,
            filters: Vec::new(),
            dynamic_filters: Vec::new(),
            route: Route::Column,
            row_cost_us: None,
            column_cost_us: None,
            reason: String::new(),
            rows: rows as f64,
        })
    }
}

fn int64(values: impl Iterator<Item = i64>) -> Arc<Vector> {
    Arc::new(Vector::new(Data::Int64(values.collect())))
}

fn batches(rows: usize, mut make: impl FnMut(std::ops::Range<i64>) -> Vec<Arc<Vector>>) -> Vec<Batch> {
    (0..rows as i64)
        .step_by(BATCH_ROWS)
        .map(|start| {
            let end = (start + BATCH_ROWS as i64).min(rows as i64);
            Batch::new(make(start..end), (end - start) as usize)
        })
        .collect()
}

fn measure(name: &str, rows: usize, tables: &Rc<Prepared>, root: &Node) {
    if std::env::args().nth(1).is_some_and(|wanted| !name.contains(&wanted)) {
        return;
    }
    let columns = root.types().iter().map(|ty| OutputColumn { name: String::new(), ty: *ty }).collect();
    let query = Arc::new(Query {
        root: root.clone(),
        columns,
        subqueries: Vec::new(),
        ctes: Vec::new(),
        parameters: Vec::new(),
        filter_count: 0,
        slot_count: 0,
    });
    let mut best = f64::INFINITY;
    let mut rows_out = 0;
    let start = Instant::now();
    for _ in 0..3 {
        let before_ns = elapsed_ns(start);
        let mut execution = Execution::new(Arc::clone(&query), tables.clone(), Options::default());
        rows_out = 0;
        while let Some(batch) = execution.next_batch().expect("runs") {
            rows_out += batch.rows;
        }
        best = best.min((elapsed_ns(start) - before_ns) as f64 / rows as f64);
    }
    println!("{name:<44} {best:>8.2} ns a row, {rows_out} rows out");
}

/// Nanoseconds that this thread has run for, or since `start` where that is not known.
fn elapsed_ns(start: Instant) -> u64 {
    let on_processor = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let first = on_processor.as_deref().and_then(|text| text.split_whitespace().next()?.parse().ok());
    first.unwrap_or_else(|| start.elapsed().as_nanos() as u64)
}

fn call(function: AggregateFunction, argument: Option<Expr>, ty: SqlType) -> AggregateCall {
    AggregateCall::new(function, argument, ty)
}

fn count(input: Node) -> Node {
    let calls = vec![call(AggregateFunction::CountStar, None, SqlType::BigInt)];
    Node::Aggregate { input: Box::new(input), groups: Vec::new(), aggregates: calls, rows: 1.0 }
}

fn binary(op: BinaryOp, left: Expr, right: Expr, ty: SqlType) -> Expr {
    Expr::Binary { op, left: Box::new(left), right: Box::new(right), ty }
}

/// LINEITEM as TPC-H's first query sees it, less the date.
fn pricing_summary(tables: &mut Prepared) -> Node {
    let mut random = Random(1);
    let dictionary = |entries: &[&str]| {
        let mut dictionary = Dictionary::default();
        for entry in entries {
            dictionary.push(entry.as_bytes()).expect("small");
        }
        Arc::new(dictionary.with_distinct(true))
    };
    let (flags, statuses) = (dictionary(&["A", "N", "R"]), dictionary(&["F", "O"]));
    let types = [SqlType::Text, SqlType::Text, DECIMAL, DECIMAL, DECIMAL, DECIMAL];
    let batches = batches(1 << 17, |range| {
        let pairs = [(0, 0), (1, 0), (1, 1), (2, 0)];
        let groups: Vec<(u32, u32)> = range.clone().map(|_| pairs[random.below(4) as usize]).collect();
        let text = |codes: Vec<u32>, dictionary: &Arc<Dictionary>| {
            Arc::new(Vector::new(Data::Text(TextVector { codes, dictionary: Arc::clone(dictionary) })))
        };
        let mut decimal = |low: i64, high: i64| int64(range.clone().map(|_| low + random.below(high - low)));
        vec![
            text(groups.iter().map(|g| g.0).collect(), &flags),
            text(groups.iter().map(|g| g.1).collect(), &statuses),
            decimal(100, 5100),
            decimal(90_000, 10_500_000),
            decimal(0, 11),
            decimal(0, 9),
        ]
    });
    let scan = tables.add(&types, ROWS, batches);
    let column = |index: usize| Expr::column(index, types[index]);
    let wider = SqlType::decimal(16, 2);
    let one = || Expr::literal(Value::Decimal { unscaled: 100, scale: 2 }, wider);
    let cast = |index| Expr::Cast { expr: Box::new(column(index)), ty: wider, lenient: false };
    let price = binary(
        BinaryOp::Multiply,
        column(3),
        binary(BinaryOp::Subtract, one(), cast(4), wider),
        SqlType::decimal(32, 4),
    );
    let charge = binary(
        BinaryOp::Multiply,
        price.clone(),
        binary(BinaryOp::Add, one(), cast(5), wider),
        SqlType::decimal(38, 6),
    );
    let sum = |argument: Expr, scale| call(AggregateFunction::Sum, Some(argument), SqlType::decimal(38, scale));
    let average = |argument: Expr| call(AggregateFunction::Average, Some(argument), SqlType::decimal(38, 6));
    Node::Aggregate {
        input: Box::new(scan),
        groups: vec![column(0), column(1)],
        aggregates: vec![
            sum(column(2), 2),
            sum(column(3), 2),
            sum(price, 4),
            sum(charge, 6),
            average(column(2)),
            average(column(3)),
            average(column(4)),
            call(AggregateFunction::CountStar, None, SqlType::BigInt),
        ],
        rows: 4.0,
    }
}

/// A stride that scatters keys over 2^40 without making two equal.
fn scatter(key: i64) -> i64 {
    ((key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24) as i64
}

fn key_table(tables: &mut Prepared, rows: usize, key: impl Fn(i64) -> i64) -> Node {
    let types = [SqlType::BigInt, SqlType::BigInt];
    let batches = batches(rows, |range| vec![int64(range.clone().map(&key)), int64(range)]);
    tables.add(&types, rows, batches)
}

fn join(left: Node, right: Node, kind: JoinKind, columns: Vec<usize>) -> Node {
    let key = || vec![Expr::column(0, SqlType::BigInt)];
    Node::Join(Box::new(Join {
        kind,
        left,
        right,
        left_keys: key(),
        right_keys: key(),
        null_equal: vec![false],
        residual: None,
        null_aware: false,
        build: BuildSide::Right,
        publish: vec![None],
        columns,
        rows: 1.0,
    }))
}

fn main() {
    let mut tables = Prepared::default();
    let mut plans: Vec<(String, usize, Node)> = Vec::new();
    plans.push(("Q1 shape: 4 groups, 8 aggregates".into(), ROWS, pricing_summary(&mut tables)));

    type Key = fn(i64) -> i64;
    let shapes: [(&str, Key); 4] = [
        ("dense clustered", |at| at / 4),
        ("dense random", |at| (scatter(at) & i64::MAX) % BUILD_ROWS),
        ("hash clustered", |at| scatter(at / 4)),
        ("hash random", |at| scatter((scatter(at) & i64::MAX) % BUILD_ROWS)),
    ];
    for (name, key) in shapes {
        let probe = key_table(&mut tables, ROWS, key);
        let build = if name.starts_with("dense") {
            key_table(&mut tables, BUILD_ROWS as usize, |at| at)
        } else {
            key_table(&mut tables, BUILD_ROWS as usize, scatter)
        };
        let built = count(join(
            Node::Limit {
                input: Box::new(probe.clone()),
                limit: Some(Expr::literal(Value::Int(1), SqlType::BigInt)),
                offset: None,
            },
            build.clone(),
            JoinKind::Semi,
            vec![],
        ));
        plans.push((format!("join build {name} (a build row)"), BUILD_ROWS as usize, built));
        plans.push((
            format!("join probe {name}, with build"),
            ROWS,
            count(join(probe.clone(), build.clone(), JoinKind::Semi, vec![])),
        ));
        plans.push((
            format!("join {name}, build payload, with build"),
            ROWS,
            count(join(probe.clone(), build, JoinKind::Inner, vec![3])),
        ));
        let sum = call(AggregateFunction::Sum, Some(Expr::column(1, SqlType::BigInt)), SqlType::decimal(38, 0));
        plans.push((
            format!("group {name}, 1.5 million groups"),
            ROWS,
            Node::Aggregate {
                input: Box::new(probe),
                groups: vec![Expr::column(0, SqlType::BigInt)],
                aggregates: vec![sum],
                rows: BUILD_ROWS as f64,
            },
        ));
    }

    let mut random = Random(7);
    let numbers = batches(1 << 17, |range| {
        vec![int64(range.clone().map(|_| random.below(1_000_000))), int64(range.map(|_| random.below(100)))]
    });
    let scan = tables.add(&[DECIMAL, SqlType::BigInt], ROWS, numbers);
    let sum = vec![call(AggregateFunction::Sum, Some(Expr::column(0, DECIMAL)), SqlType::decimal(38, 2))];
    let total = |input: Node| Node::Aggregate {
        input: Box::new(input),
        groups: Vec::new(),
        aggregates: sum.clone(),
        rows: 1.0,
    };
    plans.push(("sum of one column".into(), ROWS, total(scan.clone())));
    for percent in [1, 50] {
        let limit = Expr::literal(Value::Int(percent), SqlType::BigInt);
        let predicate = Expr::boolean(BinaryOp::Less, Expr::column(1, SqlType::BigInt), limit);
        let filter =
            Node::Filter { input: Box::new(scan.clone()), predicates: vec![predicate], columns: vec![0], rows: 1.0 };
        plans.push((format!("filter to {percent} %, then sum"), ROWS, total(filter)));
    }
    let year = Expr::Call {
        function: Function::Extract(gingham_plan::DateField::Year),
        arguments: vec![Expr::column(0, SqlType::Date)],
        ty: SqlType::BigInt,
    };
    let dates = batches(1 << 17, |range| {
        vec![Arc::new(Vector::new(Data::Int32(range.map(|_| 8000 + random.below(2500) as i32).collect())))]
    });
    let dates = tables.add(&[SqlType::Date], ROWS, dates);
    plans.push(("extract year".into(), ROWS, Node::Project { input: Box::new(dates), expressions: vec![year] }));
    let key = |index: usize, ty| SortKey { expr: Expr::column(index, ty), descending: true, nulls_first: false };
    let sort = |limit: Option<i64>, rows: i64| Node::Sort {
        input: Box::new(Node::Limit {
            input: Box::new(scan.clone()),
            limit: Some(Expr::literal(Value::Int(rows), SqlType::BigInt)),
            offset: None,
        }),
        keys: vec![key(0, DECIMAL), key(1, SqlType::BigInt)],
        limit: limit.map(|limit| Expr::literal(Value::Int(limit), SqlType::BigInt)),
        offset: None,
    };
    plans.push(("top 100 by two keys".into(), ROWS, sort(Some(100), ROWS as i64)));
    plans.push(("sort 1 million rows by two keys".into(), 1_000_000, sort(None, 1_000_000)));

    let tables = Rc::new(tables);
    for (name, rows, root) in &plans {
        measure(name, *rows, &tables, root);
    }
}
