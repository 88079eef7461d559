//! Loading and running against a database that records what it is told and answers
//! from a script.

use arrow_array::RecordBatch;
use gingham_tpch::check::Difference;
use gingham_tpch::{
    Answer, Error, Layout, Loaded, PrimaryKeys, QueryNumber, ResultKind, ResultSet, ScaleFactor, Shape, SqlTarget,
    Storage, Table, load, run_query,
};
use gingham_types::{SqlType, Value};
use std::collections::VecDeque;

#[derive(Default)]
struct Recorder {
    statements: Vec<String>,
    rows: Vec<(String, usize)>,
    /// What `tpch_load` holds.
    layout: Option<String>,
    /// Results of the next queries; without one a query is an error.
    results: VecDeque<ResultSet>,
    refuses: Option<&'static str>,
}

impl SqlTarget for Recorder {
    fn execute(&mut self, sql: &str) -> Result<ResultSet, String> {
        if self.refuses.is_some_and(|start| sql.starts_with(start)) {
            return Err("refused".to_owned());
        }
        self.statements.push(sql.to_owned());
        if sql == "SELECT layout FROM tpch_load" {
            let layout = self.layout.clone().ok_or("there is no table \"tpch_load\"")?;
            let columns = vec![("layout".to_owned(), SqlType::Text)];
            return Ok(ResultSet { columns, rows: vec![vec![Value::Text(layout)]] });
        }
        if let Some(rest) = sql.strip_prefix("INSERT INTO tpch_load VALUES ('") {
            self.layout = rest.strip_suffix("')").map(str::to_owned);
        }
        if sql.starts_with("select") {
            return self.results.pop_front().ok_or_else(|| "no result left".to_owned());
        }
        Ok(ResultSet::default())
    }

    fn load(&mut self, table: &str, batch: RecordBatch) -> Result<(), String> {
        match self.rows.last_mut() {
            Some((name, rows)) if name == table => *rows += batch.num_rows(),
            _ => self.rows.push((table.to_owned(), batch.num_rows())),
        }
        Ok(())
    }
}

const LAYOUT: Layout = Layout { scale: ScaleFactor::HUNDREDTH, storage: Storage::Hybrid, keys: PrimaryKeys::Declared };

fn query(number: u8) -> QueryNumber {
    QueryNumber::new(number).expect("in range")
}

#[test]
fn all_tables_are_created_filled_and_noted() {
    let mut target = Recorder::default();
    let mut reports = 0;
    let loaded = load(&mut target, LAYOUT, |_| reports += 1).expect("nothing is refused");

    let expected = [5, 25, 100, 1_500, 2_000, 8_000, 15_000, 60_175];
    let Loaded::Now(loads) = loaded else { panic!("the database was empty") };
    assert!(loads.iter().map(|load| load.rows).eq(expected.iter().map(|rows| *rows as u64)));
    let names = Table::ALL.map(|table| table.name().to_owned());
    assert!(target.rows.iter().cloned().eq(names.into_iter().zip(expected)));
    assert_eq!(reports, Table::ALL.len());

    let creates = target.statements.iter().filter(|sql| sql.starts_with("CREATE TABLE")).count();
    assert_eq!(creates, 9);
    let count = |text: &str| target.statements.iter().filter(|sql| *sql == text).count();
    assert_eq!((count("BEGIN"), count("COMMIT")), (8, 8));
    assert_eq!(
        target.statements.last().map(String::as_str),
        Some("INSERT INTO tpch_load VALUES ('TPC-H at scale factor 0.01 in hybrid storage with keys')")
    );
}

#[test]
fn loaded_data_is_used_again_but_not_for_another_layout() {
    let mut target = Recorder { layout: Some(LAYOUT.to_string()), ..Recorder::default() };
    assert_eq!(load(&mut target, LAYOUT, |_| {}).expect("loaded before"), Loaded::Before);
    assert_eq!(target.rows, []);

    let other = Layout { storage: Storage::Column, ..LAYOUT };
    let error = load(&mut target, other, |_| {}).expect_err("another storage");
    assert_eq!(
        error.to_string(),
        "the database holds TPC-H at scale factor 0.01 in hybrid storage with keys, not TPC-H at scale factor 0.01 \
         in column storage with keys; name another place or remove it"
    );
}

#[test]
fn a_refused_statement_stops_the_load() {
    let mut target = Recorder { refuses: Some("CREATE TABLE part "), ..Recorder::default() };
    let error = load(&mut target, LAYOUT, |_| {}).expect_err("refused");
    assert!(
        matches!(&error, Error::Target { doing, message } if doing.starts_with("CREATE TABLE part ") && message == "refused")
    );
    assert_eq!(target.rows.len(), 4);
    assert_eq!(target.layout, None);
}

#[test]
fn every_run_of_a_query_is_checked() {
    let answer = Answer::of(query(4), ScaleFactor::HUNDREDTH).expect("known");
    let right = result_of(&answer);
    let mut wrong = right.clone();
    wrong.rows[2][1] = Value::Int(0);

    let mut target = Recorder { results: [right.clone(), right.clone(), right.clone()].into(), ..Recorder::default() };
    let run = run_query(&mut target, query(4), ScaleFactor::HUNDREDTH, 2, Some(&answer)).expect("right");
    assert_eq!((run.rows, run.warm.len(), target.statements.len()), (5, 2, 3));
    assert!(run.warm_median().is_some_and(|median| run.warm.contains(&median)));

    let mut target = Recorder { results: [right, wrong.clone()].into(), ..Recorder::default() };
    match run_query(&mut target, query(4), ScaleFactor::HUNDREDTH, 2, Some(&answer)) {
        Err(Error::Difference { difference: Difference::Value { row, column, .. }, .. }) => {
            assert_eq!((row, column.as_str()), (3, "order_count"));
        }
        other => panic!("{other:?}"),
    }

    let mut target = Recorder { results: [wrong].into(), ..Recorder::default() };
    let run = run_query(&mut target, query(4), ScaleFactor::HUNDREDTH, 0, None).expect("not checked");
    assert_eq!((run.rows, run.warm_median()), (5, None));
}

#[test]
fn an_error_of_the_database_names_the_query() {
    let mut target = Recorder::default();
    let error = run_query(&mut target, query(6), ScaleFactor::ONE, 0, None).expect_err("no result");
    assert_eq!(error.to_string(), "Q6: no result left");
}

fn result_of(answer: &Answer) -> ResultSet {
    let sql_type = |kind| if kind == ResultKind::Text { SqlType::Text } else { SqlType::BigInt };
    let columns = Shape::of(answer.query).columns.iter();
    ResultSet {
        columns: columns.map(|column| (column.name.to_owned(), sql_type(column.kind))).collect(),
        rows: answer.rows.clone(),
    }
}
