//! The 22 queries in so little memory that they have to spill: the answers stay the same.

#![cfg(feature = "engine")]

use arrow_array::RecordBatch;
use gingham::{Connection, Database, Options};
use gingham_tpch::{
    Answer, Layout, PrimaryKeys, QueryNumber, ResultSet, ScaleFactor, SqlTarget, Storage, load, run_query,
};

const MEMORY_BYTES: u64 = 256 << 10;

struct Target(Connection);

impl SqlTarget for Target {
    fn execute(&mut self, sql: &str) -> Result<ResultSet, String> {
        let mut rows = self.0.execute(sql, &[]).map_err(|error| error.to_sql_error().to_string())?;
        let columns = rows.columns().iter().map(|column| (column.name.clone(), column.ty)).collect();
        let rows = rows.collect_values().map_err(|error| error.to_sql_error().to_string())?;
        Ok(ResultSet { columns, rows })
    }

    fn load(&mut self, table: &str, batch: RecordBatch) -> Result<(), String> {
        self.0.insert_batch(table, &batch).map(|_| ()).map_err(|error| error.to_sql_error().to_string())
    }
}

fn check(storage: Storage, keys: PrimaryKeys) {
    let options = Options { memory_bytes_max: MEMORY_BYTES, ..Options::default() };
    let database = Database::memory(options).expect("opens");
    let mut target = Target(database.connect());
    let scale = ScaleFactor::HUNDREDTH;
    load(&mut target, Layout { scale, storage, keys }, |_| {}).expect("loads");
    let mut spilling = 0;
    for query in QueryNumber::all() {
        let before = database.temporary_bytes().0;
        let answer = Answer::of(query, scale).expect("known");
        run_query(&mut target, query, scale, 0, Some(&answer)).expect("answers");
        spilling += u32::from(database.temporary_bytes().0 > before);
        assert_eq!(database.temporary_bytes().1, 0, "{query} gives its space back");
    }
    assert!(spilling >= 5, "{spilling} queries spill in {storage} storage");
}

#[test]
fn tpch_in_a_quarter_of_a_mebibyte_from_row_groups() {
    check(Storage::Column, PrimaryKeys::Omitted);
}

#[test]
fn tpch_in_a_quarter_of_a_mebibyte_from_both_stores() {
    check(Storage::Hybrid, PrimaryKeys::Declared);
}
