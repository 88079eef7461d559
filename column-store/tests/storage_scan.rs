//! Scans give what a row-by-row filter gives, and read no more than they need.

mod storage_support;

use gingham_column_store::source::{FilterCell, KeyBits, KeyFilter};
use gingham_column_store::storage::ScanRequest;
use gingham_plan::{BinaryOp, Expr, Function};
use gingham_types::{SqlType, Value};
use std::sync::Arc;
use storage_support::*;

const TYPES: [SqlType; 10] = [
    SqlType::Integer,
    SqlType::BigInt,
    SqlType::decimal(15, 2),
    SqlType::Date,
    SqlType::Text,
    SqlType::Boolean,
    SqlType::Double,
    SqlType::Text,
    SqlType::decimal(38, 2),
    SqlType::Date,
];

fn value(column: usize, row: usize, nulls: bool, random: &mut Random) -> Value {
    if nulls && random.below(8) == 0 {
        return Value::Null;
    }
    match column {
        0 => Value::Int((row / 3) as i64),
        1 => Value::Int(*random.pick(&[i64::MIN, i64::MAX, 0, 1 << 40, -7])),
        2 => Value::Decimal { unscaled: i128::from(random.below(50)) * 100, scale: 2 },
        3 => Value::Date(9000 + random.below(300) as i32 + (row / 100) as i32),
        4 => Value::Text((*random.pick(&["AIR", "MAIL", "FOB", "RAIL", "", "AIR REG"])).into()),
        5 => Value::Boolean(random.below(3) == 0),
        6 => Value::Double(*random.pick(&[0.0, -0.0, 1.5, -3.25, f64::NAN, f64::INFINITY, 1e300, 0.1])),
        7 => Value::Text(format!("{:x} special {}", random.next(), *random.pick(&["requests", "deposits", "ü"]))),
        8 => Value::Decimal { unscaled: *random.pick(&[i128::MAX, -5, i128::MIN, 1 << 70]), scale: 2 },
        _ => Value::Date(9000 + random.below(300) as i32),
    }
}

fn table(seed: u64, rows: usize, group_rows: usize) -> Table {
    let mut random = Random(seed);
    let nulls: Vec<bool> = (0..TYPES.len()).map(|_| random.below(2) == 0).collect();
    let rows = (0..rows)
        .map(|row| (0..TYPES.len()).map(|column| value(column, row, nulls[column], &mut random)).collect())
        .collect();
    Table::new(&TYPES, rows, group_rows)
}

const COMPARISONS: [BinaryOp; 8] = [
    BinaryOp::Equal,
    BinaryOp::NotEqual,
    BinaryOp::Less,
    BinaryOp::LessOrEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterOrEqual,
    BinaryOp::IsDistinctFrom,
    BinaryOp::IsNotDistinctFrom,
];

fn predicate(table: &Table, depth: u32, random: &mut Random) -> Expr {
    let index = random.below(TYPES.len() as u64) as usize;
    let ty = TYPES[index];
    let sample = |random: &mut Random| {
        let row = random.below(table.rows.len() as u64) as usize;
        match random.below(12) {
            0 => literal(Value::Null, ty),
            1 => literal(value(index, 77_777, false, random), ty),
            _ => literal(table.rows[row][index].clone(), ty),
        }
    };
    match random.below(if depth == 0 { 9 } else { 13 }) {
        0..=3 => compare(*random.pick(&COMPARISONS), column(index, ty), sample(random)),
        4 => compare(*random.pick(&COMPARISONS), sample(random), column(index, ty)),
        5 => Expr::IsNull { expr: Box::new(column(index, ty)), negated: random.below(2) == 0 },
        6 => {
            let list = (0..=random.below(4)).map(|_| sample(random)).collect();
            Expr::InList { expr: Box::new(column(index, ty)), list, negated: random.below(3) == 0 }
        }
        7 => {
            let pattern = *random.pick(&["%special%requests", "A%", "%IL", "AIR", "%", "_AIL", "%ü%", "%e%e%s%", ""]);
            Expr::Like {
                expr: Box::new(column(*random.pick(&[4, 7]), SqlType::Text)),
                pattern: Box::new(literal(Value::Text(pattern.into()), SqlType::Text)),
                escape: None,
                negated: random.below(2) == 0,
                ignore_case: false,
            }
        }
        8 => compare(*random.pick(&COMPARISONS[..6]), column(3, SqlType::Date), column(9, SqlType::Date)),
        9 => Expr::Not(Box::new(predicate(table, depth - 1, random))),
        10 => {
            let ty = SqlType::decimal(18, 3);
            let cast = Expr::Cast { expr: Box::new(column(2, TYPES[2])), ty, lenient: false };
            let value = Value::Decimal { unscaled: i128::from(random.below(50_000)), scale: 3 };
            compare(*random.pick(&COMPARISONS[..6]), cast, literal(value, ty))
        }
        op => {
            let op = if op == 11 { BinaryOp::And } else { BinaryOp::Or };
            Expr::boolean(op, predicate(table, depth - 1, random), predicate(table, depth - 1, random))
        }
    }
}

/// NULL-safe, zero- and NaN-aware comparison by text: rows print all they hold.
fn assert_same(found: &[Vec<Value>], wanted: &[Vec<Value>], what: &str) {
    assert_eq!(found.len(), wanted.len(), "rows of {what}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!(format!("{found:?}"), format!("{wanted:?}"), "{what}");
    }
}

#[test]
fn random_predicates_agree_with_a_naive_filter() {
    for seed in 0..12 {
        let mut random = Random(seed + 1000);
        let mut table = table(seed, 5000, *random.pick(&[1, 700, 2048, 5000].map(|n: usize| n.max(300))));
        for round in 0..60 {
            let deleted: Vec<usize> = match random.below(3) {
                0 => (0..40).map(|_| random.below(5000) as usize).collect(),
                1 => (100..random.below(3000) as usize).collect(),
                _ => Vec::new(),
            };
            table.delete(&deleted);
            let filters: Vec<Expr> = (0..random.below(4)).map(|_| predicate(&table, 2, &mut random)).collect();
            let columns: Vec<usize> = (0..random.below(5)).map(|_| random.below(10) as usize).collect();
            let (found, _) = table.scan(table.request(&columns, filters.clone()));
            let wanted = expected(&table, &columns, &filters, &deleted);
            assert_same(&found, &wanted, &format!("seed {seed}, round {round}: {filters:?}"));
            let found = table.scan_with_expressions(table.request(&columns, filters.clone()));
            assert_same(&found, &wanted, &format!("expressions, seed {seed}, round {round}: {filters:?}"));
        }
    }
}

#[test]
fn join_filters_drop_only_what_cannot_match() {
    let mut random = Random(5);
    let table = table(3, 6000, 1500);
    for column in [0usize, 1, 2, 3, 8] {
        for round in 0..20 {
            let min = *random.pick(&[0, 500, 9050, 1900]);
            let max = min + 20 * 64 - 1;
            let mut bits = KeyBits::new(20 * 64 - 1, round % 3);
            for distance in 0..20 * 64 {
                if random.below(4) == 0 {
                    bits.insert(distance);
                }
            }
            let bits = (random.below(2) == 0).then(|| Arc::new(bits));
            let filter = KeyFilter::Integers { min, max, bits };
            let request = ScanRequest {
                dynamic_filters: vec![(column, cell(filter.clone()))],
                ..table.request(&[column], vec![])
            };
            let (found, _) = table.scan(request);
            let key = |row: &[Value]| match &row[0] {
                Value::Int(v) => Some(i128::from(*v)),
                Value::Date(v) => Some(i128::from(*v)),
                Value::Decimal { unscaled, .. } => Some(*unscaled),
                _ => None,
            };
            let passes = |row: &Vec<Value>| {
                key(row).and_then(|key| i64::try_from(key).ok()).is_some_and(|key| filter.may_contain(key))
            };
            let all = expected(&table, &[column], &[], &[]);
            let wanted: Vec<_> = all.iter().filter(|row| passes(row)).cloned().collect();
            if column == 8 {
                assert!(found.len() >= wanted.len(), "wide decimals may pass untested");
            } else {
                assert_same(&found, &wanted, &format!("column {column}, round {round}, {filter:?}"));
            }
        }
    }
}

#[test]
fn join_filters_on_text_and_extremes() {
    let table = table(4, 4000, 1000);
    let scan = |column: usize, filter: Option<KeyFilter>| {
        let cell = filter.map_or_else(|| Arc::new(FilterCell::default()), cell);
        let request = ScanRequest { dynamic_filters: vec![(column, cell)], ..table.request(&[column], vec![]) };
        table.scan(request)
    };
    let keys: Vec<Vec<u8>> = vec![b"AIR".to_vec(), b"RAIL".to_vec()];
    let (found, _) = scan(4, Some(KeyFilter::Texts(Arc::new(keys))));
    let is_key = |row: &Vec<Value>| matches!(&row[0], Value::Text(text) if text == "AIR" || text == "RAIL");
    let wanted: Vec<_> = expected(&table, &[4], &[], &[]).into_iter().filter(is_key).collect();
    assert_same(&found, &wanted, "text keys");
    let Value::Text(one) = &table.rows.iter().find(|row| !row[7].is_null()).expect("a text")[7] else { unreachable!() };
    let (found, _) = scan(7, Some(KeyFilter::Texts(Arc::new(vec![one.clone().into_bytes()]))));
    assert_eq!(found, vec![vec![Value::Text(one.clone())]]);
    let (found, metrics) = scan(0, Some(KeyFilter::Nothing));
    assert_eq!((found.len(), metrics.groups_pruned()), (0, 4));
    assert_eq!(scan(0, Some(KeyFilter::Everything)).0.len(), 4000);
    assert_eq!(scan(0, None).0.len(), 4000);
}

#[test]
fn bounds_exclude_groups_and_whole_groups_need_no_test() {
    let rows: Vec<Vec<Value>> =
        (0..10_000).map(|row| vec![Value::Int(row), Value::Text(format!("key{:05}", row % 5000))]).collect();
    let table = Table::new(&[SqlType::BigInt, SqlType::Text], rows, 1000);
    let key = || column(0, SqlType::BigInt);
    let int = |v| literal(Value::Int(v), SqlType::BigInt);
    let check = |filters: Vec<Expr>, rows: usize, pruned: u64, chunks: u64| {
        table.cache.clear();
        let (found, metrics) = table.scan(table.request(&[], filters.clone()));
        let seen = (found.len(), metrics.groups_pruned(), metrics.chunks_read());
        assert_eq!(seen, (rows, pruned, chunks), "{filters:?}");
    };
    check(vec![], 10_000, 0, 0);
    check(vec![compare(BinaryOp::Less, key(), int(1500))], 1500, 8, 1);
    check(vec![compare(BinaryOp::Equal, key(), int(-1))], 0, 10, 0);
    let between = vec![compare(BinaryOp::GreaterOrEqual, key(), int(2000)), compare(BinaryOp::Less, key(), int(4000))];
    check(between, 2000, 8, 0);
    let list = Expr::InList { expr: Box::new(key()), list: vec![int(5), int(9999)], negated: false };
    check(vec![list], 2, 8, 2);
    check(vec![Expr::IsNull { expr: Box::new(key()), negated: false }], 0, 10, 0);
    check(vec![Expr::IsNull { expr: Box::new(key()), negated: true }], 10_000, 0, 0);
    check(vec![literal(Value::Boolean(false), SqlType::Boolean)], 0, 10, 0);
    let like = |pattern: &str| Expr::Like {
        expr: Box::new(column(1, SqlType::Text)),
        pattern: Box::new(literal(Value::Text(pattern.into()), SqlType::Text)),
        escape: None,
        negated: false,
        ignore_case: false,
    };
    check(vec![like("key012%")], 200, 8, 2);
    check(vec![like("nothing%")], 0, 10, 0);
}

#[test]
fn join_filters_exclude_groups_by_their_bitmap() {
    let rows: Vec<Vec<Value>> = (0..10_000).map(|row| vec![Value::Int(row)]).collect();
    let table = Table::new(&[SqlType::BigInt], rows, 1000);
    let mut bits = KeyBits::new(9999, 0);
    for key in [3500, 3501, 9999] {
        bits.insert(key);
    }
    let filter = KeyFilter::Integers { min: 0, max: 9999, bits: Some(Arc::new(bits)) };
    let request = ScanRequest { dynamic_filters: vec![(0, cell(filter))], ..table.request(&[0], vec![]) };
    let (found, metrics) = table.scan(request);
    assert_eq!(found, [3500, 3501, 9999].map(|key| vec![Value::Int(key)]));
    assert_eq!((metrics.groups(), metrics.groups_pruned(), metrics.rows_read()), (10, 8, 2000));
}

#[test]
fn chunks_that_no_row_needs_are_not_read() {
    // Bounds do not tell that no row has both: the first column is tested, none passes,
    // and the others stay where they are.
    let rows: Vec<Vec<Value>> =
        (0..3000).map(|row| vec![Value::Int(row % 2 * 10), Value::Int(row), Value::Text(format!("{row}"))]).collect();
    let types = [SqlType::Integer, SqlType::Integer, SqlType::Text];
    let table = Table::new(&types, rows, 1000);
    let filter = compare(BinaryOp::Equal, column(0, types[0]), literal(Value::Int(5), types[0]));
    let (found, metrics) = table.scan(table.request(&[1, 2], vec![filter]));
    assert_eq!((found.len(), metrics.groups_pruned(), metrics.chunks_read()), (0, 0, 3));
    assert_eq!(metrics.rows_out(), 0);
}

#[test]
fn locators_are_row_ids() {
    let mut table = table(9, 2500, 1000);
    table.delete(&[0, 1200]);
    let request = ScanRequest { locator: true, ..table.request(&[], vec![]) };
    let (found, _) = table.scan(request);
    let wanted: Vec<Vec<Value>> = (0..2500u64)
        .filter(|row| *row != 0 && *row != 1200)
        .map(|row| vec![Value::Blob((1000 + row).to_be_bytes().to_vec())])
        .collect();
    assert_eq!(found, wanted);
}

#[test]
fn columns_added_later_have_their_default() {
    let mut table = table(10, 1000, 300);
    let mut add = |ty: SqlType, value: Value| {
        table.types.push(ty);
        table.rows.iter_mut().for_each(|row| row.push(value.clone()));
    };
    add(SqlType::Text, Value::Text("new".into()));
    add(SqlType::Integer, Value::Int(7));
    add(SqlType::Date, Value::Null);
    let mut fill = table.rows[0].clone();
    fill[..10].fill(Value::Null);
    for filter in [
        compare(BinaryOp::Equal, column(10, SqlType::Text), literal(Value::Text("new".into()), SqlType::Text)),
        compare(BinaryOp::Less, column(11, SqlType::Integer), literal(Value::Int(7), SqlType::Integer)),
        Expr::IsNull { expr: Box::new(column(12, SqlType::Date)), negated: false },
        compare(BinaryOp::Equal, column(11, SqlType::Integer), column(0, SqlType::Integer)),
    ] {
        let filters = vec![filter];
        let request = ScanRequest { defaults: fill.clone(), ..table.request(&[0, 10, 11, 12], filters.clone()) };
        let (found, _) = table.scan(request);
        assert_same(&found, &expected(&table, &[0, 10, 11, 12], &filters, &[]), &format!("{filters:?}"));
    }
}

#[test]
fn functions_of_a_dictionary_run_once_an_entry() {
    use std::cell::Cell;
    use std::rc::Rc;
    let rows: Vec<Vec<Value>> = (0..4000).map(|row| vec![Value::Text(format!("mode {}", row % 7))]).collect();
    let table = Table::new(&[SqlType::Text], rows, 1000);
    let upper = Expr::Call { function: Function::Upper, arguments: vec![column(0, SqlType::Text)], ty: SqlType::Text };
    let filter = compare(BinaryOp::Equal, upper, literal(Value::Text("MODE 3".into()), SqlType::Text));
    let evaluated = Rc::new(Cell::new(0));
    let counter = Rc::clone(&evaluated);
    let function = move |_: &[Expr], batch: &gingham_column_store::vector::Batch| {
        counter.set(counter.get() + batch.rows);
        let texts = (0..batch.rows).map(|row| batch.columns[0].value(row, SqlType::Text));
        Ok(texts.enumerate().filter(|(_, v)| *v == Value::Text("mode 3".into())).map(|(row, _)| row as u32).collect())
    };
    let mut scan = gingham_column_store::storage::ColumnScan::new(
        table.request(&[0], vec![filter]),
        table.groups.clone(),
        Rc::clone(&table.extents) as Rc<dyn gingham_column_store::storage::ExtentReader>,
        Arc::clone(&table.cache),
        Rc::new(function),
        Arc::default(),
    );
    let found = drain(&mut scan, &[SqlType::Text]).expect("undamaged data");
    assert_eq!(found.len(), (0..4000).filter(|row| row % 7 == 3).count());
    assert_eq!(evaluated.get(), 7, "groups share their dictionary, so its entries are tested once");
}
