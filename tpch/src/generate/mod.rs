//! The tables' data as batches of columns, generated as they are asked for.
//!
//! The rows are those of the standard's generator, byte for byte and in its order.
//! One batch is held at a time; besides it the generator keeps 300 MiB of text, from
//! which all comments are cut, for as long as the process lives.

mod column;
mod tables;

pub use column::{ColumnData, TextColumn};

use crate::scale::ScaleFactor;
use crate::schema::Table;

/// Rows of a batch where nothing else is asked for: a row group's worth.
pub const ROWS_DEFAULT: usize = 64 * 1024;
/// The most rows a batch may have: its longest text column then stays below 200 MiB.
pub const ROWS_MAX: usize = 1024 * 1024;

/// Consecutive rows of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Whose rows these are.
    pub table: Table,
    /// Position of the first row in the table, from 0.
    pub first_row: u64,
    /// The columns in the table's order, all of the same length, at least one row.
    pub columns: Vec<ColumnData>,
}

impl Batch {
    /// The number of rows.
    pub fn row_count(&self) -> usize {
        self.columns.first().map_or(0, ColumnData::len)
    }
}

/// How far the generation of a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The table.
    pub table: Table,
    /// Rows handed out so far.
    pub rows_done: u64,
    /// Rows in all; LINEITEM's number is an estimate until it is complete.
    pub rows_estimate: u64,
}

/// The rows of `table` in batches of `rows_max` (clamped to 1..=[`ROWS_MAX`]); only the
/// last batch is shorter.
pub fn batches(table: Table, scale: ScaleFactor, rows_max: usize) -> impl Iterator<Item = Batch> {
    let rows_max = rows_max.clamp(1, ROWS_MAX);
    let mut next_columns = tables::column_source(table, scale, rows_max);
    let mut first_row = 0;
    std::iter::from_fn(move || {
        let batch = Batch { table, first_row, columns: next_columns() };
        first_row += batch.row_count() as u64;
        (batch.row_count() > 0).then_some(batch)
    })
}

/// The number of rows of `table`: exact but for LINEITEM, whose orders have four lines on average.
pub fn row_count_estimate(table: Table, scale: ScaleFactor) -> u64 {
    // As the generator computes it, in floating point and cut.
    let scaled = |rows_at_one: u32| (f64::from(rows_at_one) * scale.value()) as u64;
    match table {
        Table::Region => 5,
        Table::Nation => 25,
        Table::Supplier => scaled(10_000),
        Table::Customer => scaled(150_000),
        Table::Part => scaled(200_000),
        Table::PartSupp => 4 * scaled(200_000),
        Table::Orders => scaled(1_500_000),
        Table::LineItem => 4 * scaled(1_500_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_counts_at_a_hundredth_are_the_known_ones() {
        for (table, count) in [
            (Table::Region, 5),
            (Table::Nation, 25),
            (Table::Supplier, 100),
            (Table::Customer, 1_500),
            (Table::Part, 2_000),
            (Table::PartSupp, 8_000),
            (Table::Orders, 15_000),
            (Table::LineItem, 60_175),
        ] {
            let rows: usize = batches(table, ScaleFactor::HUNDREDTH, ROWS_DEFAULT).map(|b| b.row_count()).sum();
            assert_eq!(rows, count, "{table}");
            if table != Table::LineItem {
                assert_eq!(row_count_estimate(table, ScaleFactor::HUNDREDTH), count as u64, "{table}");
            }
        }
    }

    #[test]
    fn batches_split_the_rows_without_changing_them() {
        for table in Table::ALL {
            let whole: Vec<Batch> = batches(table, ScaleFactor::HUNDREDTH, ROWS_MAX).collect();
            assert_eq!(whole.len(), 1);
            let mut next_row = 0;
            for part in batches(table, ScaleFactor::HUNDREDTH, 777) {
                assert_eq!(part.first_row, next_row);
                for (part_column, column) in part.columns.iter().zip(&whole[0].columns) {
                    assert_eq!(part_column.len(), part.row_count());
                    assert_rows_equal(part_column, column, next_row as usize);
                }
                next_row += part.row_count() as u64;
            }
            assert_eq!(next_row, whole[0].row_count() as u64);
        }
    }

    fn assert_rows_equal(part: &ColumnData, whole: &ColumnData, at: usize) {
        use ColumnData::*;
        match (part, whole) {
            (Int32(a), Int32(b)) | (Date(a), Date(b)) => assert_eq!(a[..], b[at..at + a.len()]),
            (Decimal(a), Decimal(b)) => assert_eq!(a[..], b[at..at + a.len()]),
            (Text(a), Text(b)) => (0..a.len()).for_each(|row| assert_eq!(a.get(row), b.get(at + row))),
            _ => panic!("batches of one table disagree on a column's type"),
        }
    }

    #[test]
    fn columns_have_the_types_of_the_schema() {
        for table in Table::ALL {
            let batch = batches(table, ScaleFactor::HUNDREDTH, 1).next().expect("every table has rows");
            let types: Vec<_> = batch.columns.iter().map(ColumnData::column_type).collect();
            let declared: Vec<_> = table.columns().iter().map(|column| column.column_type).collect();
            assert_eq!(types, declared, "{table}");
        }
    }
}
