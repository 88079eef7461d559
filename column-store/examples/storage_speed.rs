//! How fast the storage half is: LINEITEM of TPC-H encoded, decoded and scanned.
//!
//! `cargo run --release -p gingham-column-store --example storage_speed [scale factor] [part of a name]`

use gingham_column_store::source::{FilterCell, KeyBits, KeyFilter, Source, Step};
use gingham_column_store::storage::{
    ChunkCache, ColumnScan, ExtentReader, RowGroupBuilder, ScanGroup, ScanMetrics, ScanRequest, TableStatisticsBuilder,
};
use gingham_column_store::vector::{Batch, Data, TextVector, Vector};
use gingham_column_store::{Error, Result};
use gingham_plan::{BinaryOp, Expr};
use gingham_row_store::{Extent, PageId};
use gingham_types::{SqlType, Value, parse_date};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tpchgen::generators::{LineItem, LineItemGenerator};

const NAMES: [&str; 16] = [
    "orderkey",
    "partkey",
    "suppkey",
    "linenumber",
    "quantity",
    "extendedprice",
    "discount",
    "tax",
    "returnflag",
    "linestatus",
    "shipdate",
    "commitdate",
    "receiptdate",
    "shipinstruct",
    "shipmode",
    "comment",
];
const DECIMAL: SqlType = SqlType::decimal(15, 2);
const TYPES: [SqlType; 16] = [
    SqlType::BigInt,
    SqlType::BigInt,
    SqlType::BigInt,
    SqlType::Integer,
    DECIMAL,
    DECIMAL,
    DECIMAL,
    DECIMAL,
    SqlType::Text,
    SqlType::Text,
    SqlType::Date,
    SqlType::Date,
    SqlType::Date,
    SqlType::Text,
    SqlType::Text,
    SqlType::Text,
];
const QUANTITY: usize = 4;
const PRICE: usize = 5;
const DISCOUNT: usize = 6;
const SHIP: usize = 10;
const COMMIT: usize = 11;
const RECEIPT: usize = 12;
const MODE: usize = 14;
const COMMENT: usize = 15;

/// Repetitions of a scan after the first.
const RUNS: u32 = 50;

/// All extents of the table.
struct Extents(Vec<Vec<u8>>);

impl ExtentReader for Extents {
    fn read(&self, extent: &Extent, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let bytes = &self.0[extent.first_page.0 as usize];
        let bytes = bytes.get(offset as usize..offset as usize + buffer.len());
        buffer.copy_from_slice(bytes.ok_or_else(|| Error::Corrupt("past the end".into()))?);
        Ok(())
    }
}

fn batch(rows: &[LineItem<'_>]) -> Batch {
    let long = |get: &dyn Fn(&LineItem<'_>) -> i64| Data::Int64(rows.iter().map(get).collect());
    let int = |get: &dyn Fn(&LineItem<'_>) -> i32| Data::Int32(rows.iter().map(get).collect());
    let text = |get: &dyn for<'a> Fn(&'a LineItem<'_>) -> &'a str| {
        Data::Text(TextVector::from_strings(rows.iter().map(|row| get(row).as_bytes())).expect("below 4 GiB"))
    };
    let columns = vec![
        long(&|r| r.l_orderkey),
        long(&|r| r.l_partkey),
        long(&|r| r.l_suppkey),
        int(&|r| r.l_linenumber),
        long(&|r| r.l_quantity * 100),
        long(&|r| r.l_extendedprice.0),
        long(&|r| r.l_discount.0),
        long(&|r| r.l_tax.0),
        text(&|r| r.l_returnflag),
        text(&|r| r.l_linestatus),
        int(&|r| r.l_shipdate.to_unix_epoch()),
        int(&|r| r.l_commitdate.to_unix_epoch()),
        int(&|r| r.l_receiptdate.to_unix_epoch()),
        text(&|r| r.l_shipinstruct),
        text(&|r| r.l_shipmode),
        text(&|r| r.l_comment),
    ];
    Batch::new(columns.into_iter().map(|data| Arc::new(Vector::new(data))).collect(), rows.len())
}

struct Table {
    groups: Vec<ScanGroup>,
    reader: Rc<dyn ExtentReader>,
    rows: usize,
}

fn load(scale: f64) -> Table {
    let mut builder = RowGroupBuilder::new(&TYPES);
    let (mut groups, mut extents, mut rows) = (Vec::new(), Vec::new(), 0usize);
    let (mut spent, mut raw_bytes) = (Duration::ZERO, 0usize);
    let mut add = |builder: &mut RowGroupBuilder, rows: usize| {
        let mut group = builder.finish().expect("rows were added");
        let bytes = std::mem::take(&mut group.bytes);
        let page = PageId(extents.len() as u32);
        let extent = Extent { first_page: page, pages: 1, bytes: bytes.len() as u64, checksum: u64::from(page.0) };
        extents.push(bytes);
        let meta = group.into_meta(extent, rows as u64, Vec::new());
        groups.push(ScanGroup { meta: Arc::new(meta), deleted: None });
    };
    let mut items = LineItemGenerator::new(scale, 1, 1).into_iter();
    loop {
        let part: Vec<LineItem<'_>> = items.by_ref().take(65_536).collect();
        if part.is_empty() {
            break;
        }
        let batch = batch(&part);
        raw_bytes += part.iter().map(|row| 12 * 8 + 25 + row.l_comment.len()).sum::<usize>();
        let start = Instant::now();
        let before = processor_time(start);
        let mut from = 0;
        while from < batch.rows {
            let taken = builder.append(&batch, from).expect("right types");
            from += taken;
            if builder.is_full() {
                add(&mut builder, rows);
                rows += 65_536;
            }
        }
        spent += processor_time(start) - before;
    }
    if !builder.is_empty() {
        let last = builder.rows();
        add(&mut builder, rows);
        rows += last;
    }
    let encoded: usize = extents.iter().map(Vec::len).sum();
    let seconds = spent.as_secs_f64();
    println!(
        "encode  {rows} rows in {seconds:.2} s of processor time: {:.0} MB/s raw ({} MB), {} MB encoded, {} KB metadata",
        raw_bytes as f64 / 1e6 / seconds,
        raw_bytes / 1_000_000,
        encoded / 1_000_000,
        groups.iter().map(|group| group.meta.encode().len()).sum::<usize>() / 1000,
    );
    let mut statistics = TableStatisticsBuilder::new(16);
    for group in &groups {
        statistics.add(&group.meta);
    }
    for (column, statistics) in statistics.finish().iter().enumerate() {
        println!(
            "  {:<14} {:<19} {:>6.2} bytes/row, {:>8} distinct",
            NAMES[column],
            groups[0].meta.columns[column].encoding.name(),
            statistics.bytes_mean,
            statistics.distinct
        );
    }
    Table { groups, reader: Rc::new(Extents(extents)), rows }
}

/// Drains a scan, giving each batch to `sink`.
fn scan(
    table: &Table,
    cache: &Arc<ChunkCache>,
    request: &ScanRequest,
    sink: &mut dyn FnMut(&Batch),
) -> Arc<ScanMetrics> {
    let metrics = Arc::new(ScanMetrics::default());
    let mut scan = ColumnScan::new(
        request.clone(),
        table.groups.clone(),
        Rc::clone(&table.reader),
        Arc::clone(cache),
        Rc::new(|_: &[Expr], batch: &Batch| Ok((0..batch.rows as u32).collect())),
        Arc::clone(&metrics),
    );
    loop {
        match scan.next().expect("undamaged data") {
            Step::Batch(batch) => sink(&batch),
            Step::Working => {}
            Step::Finished => return metrics,
        }
    }
}

/// Processor time of this thread where the system tells it, else the clock's: on a busy
/// machine the clock measures the others.
fn processor_time(since: Instant) -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = statistics.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

fn measure(name: &str, table: &Table, cache: &Arc<ChunkCache>, request: &ScanRequest) {
    if std::env::args().nth(2).is_some_and(|only| !name.contains(&only)) {
        return;
    }
    let mut ignore = |_: &Batch| {};
    let start = Instant::now();
    scan(table, cache, request, &mut ignore);
    let cold = start.elapsed();
    let mut metrics = Arc::default();
    let before = processor_time(start);
    for _ in 0..RUNS {
        metrics = scan(table, cache, request, &mut ignore);
    }
    let warm = (processor_time(start) - before) / RUNS;
    println!(
        "{name:<34} first {:>7.2} ms, warm {:>7.2} ms = {:>5.2} ns/row; {} rows out, {} of {} groups pruned",
        cold.as_secs_f64() * 1e3,
        warm.as_secs_f64() * 1e3,
        warm.as_secs_f64() * 1e9 / table.rows as f64,
        metrics.rows_out(),
        metrics.groups_pruned(),
        metrics.groups(),
    );
}

fn date(text: &str) -> Expr {
    Expr::literal(Value::Date(parse_date(text).expect("a date")), SqlType::Date)
}

fn decimal(unscaled: i128) -> Expr {
    Expr::literal(Value::Decimal { unscaled, scale: 2 }, DECIMAL)
}

fn compare(column: usize, op: BinaryOp, right: Expr) -> Expr {
    Expr::boolean(op, Expr::column(column, TYPES[column]), right)
}

fn request(columns: &[usize], filters: Vec<Expr>) -> ScanRequest {
    ScanRequest { types: TYPES.to_vec(), columns: columns.to_vec(), filters, ..ScanRequest::default() }
}

fn like(pattern: &str) -> Expr {
    Expr::Like {
        expr: Box::new(Expr::column(COMMENT, SqlType::Text)),
        pattern: Box::new(Expr::literal(Value::Text(pattern.into()), SqlType::Text)),
        escape: None,
        negated: false,
        ignore_case: false,
    }
}

fn main() {
    use BinaryOp::*;
    let scale = std::env::args().nth(1).and_then(|scale| scale.parse().ok()).unwrap_or(1.0);
    let table = load(scale);
    let cache = Arc::new(ChunkCache::new(1 << 30));
    for (column, name) in NAMES.iter().enumerate() {
        measure(&format!("column {name}"), &table, &cache, &request(&[column], vec![]));
    }
    let year = vec![compare(SHIP, GreaterOrEqual, date("1994-01-01")), compare(SHIP, Less, date("1995-01-01"))];
    measure("one year of shipdate", &table, &cache, &request(&[], year.clone()));
    let q6 = request(
        &[PRICE, DISCOUNT],
        [
            year,
            vec![
                compare(DISCOUNT, GreaterOrEqual, decimal(5)),
                compare(DISCOUNT, LessOrEqual, decimal(7)),
                compare(QUANTITY, Less, decimal(2400)),
            ],
        ]
        .concat(),
    );
    measure("Q6", &table, &cache, &q6);
    let mut revenue = 0i128;
    scan(&table, &cache, &q6, &mut |batch| {
        if let (Data::Int64(price), Data::Int64(discount)) = (&batch.columns[0].data, &batch.columns[1].data) {
            revenue += i128::from(price.iter().zip(discount).map(|(price, discount)| price * discount).sum::<i64>());
        }
    });
    println!("  revenue {}", gingham_types::format_decimal(revenue, 4));
    let q1 = request(&[4, 5, 6, 7, 8, 9], vec![compare(SHIP, LessOrEqual, date("1998-09-02"))]);
    measure("Q1", &table, &cache, &q1);
    let pair = |left, op, right| compare(left, op, Expr::column(right, SqlType::Date));
    let text = |text: &str| Expr::literal(Value::Text(text.into()), SqlType::Text);
    let modes = Expr::InList {
        expr: Box::new(Expr::column(MODE, SqlType::Text)),
        list: vec![text("MAIL"), text("SHIP")],
        negated: false,
    };
    let q12 = vec![
        modes,
        pair(COMMIT, Less, RECEIPT),
        pair(SHIP, Less, COMMIT),
        compare(RECEIPT, GreaterOrEqual, date("1994-01-01")),
        compare(RECEIPT, Less, date("1995-01-01")),
    ];
    measure("Q12", &table, &cache, &request(&[0, MODE], q12));
    measure("Q4: commitdate < receiptdate", &table, &cache, &request(&[0], vec![pair(COMMIT, Less, RECEIPT)]));
    let month = vec![compare(SHIP, GreaterOrEqual, date("1995-09-01")), compare(SHIP, Less, date("1995-10-01"))];
    measure("Q14", &table, &cache, &request(&[1, PRICE, DISCOUNT], month));
    measure("comment LIKE '%special%requests%'", &table, &cache, &request(&[], vec![like("%special%requests%")]));
    let parts = 200_000.0 * scale;
    let mut bits = KeyBits::new(parts as u64, 0);
    (0..=parts as u64 / 64).for_each(|word| bits.insert((word * 64 + word % 64).min(parts as u64)));
    let cell = Arc::new(FilterCell::default());
    cell.publish(KeyFilter::Integers { min: 0, max: parts as i64, bits: Some(Arc::new(bits)) });
    let joined = ScanRequest { dynamic_filters: vec![(1, cell)], ..request(&[1, QUANTITY], vec![]) };
    measure("join filter on 1/64 of the parts", &table, &cache, &joined);
    println!("cache: {:?}", cache.statistics());
}
