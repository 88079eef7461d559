//! The statistics of a table from those of its groups.

use super::meta::RowGroupMeta;
use super::sketch::DistinctSketch;
use gingham_plan::ColumnStatistics;
use gingham_types::{Value, compare_values};
use std::cmp::Ordering;

/// Merges the chunk statistics of a table's groups.
#[derive(Clone, Debug, Default)]
pub struct TableStatisticsBuilder {
    columns: Vec<Column>,
    rows: u64,
    groups: u32,
}

#[derive(Clone, Debug, Default)]
struct Column {
    min: Bound,
    max: Bound,
    rows: u64,
    nulls: u64,
    bytes: u64,
    distinct_most: u64,
    sketch: DistinctSketch,
}

#[derive(Clone, Debug, Default)]
enum Bound {
    #[default]
    Empty,
    Value(Value),
    /// Some chunk with values has no bound.
    Unknown,
}

impl Bound {
    fn add(&mut self, other: Option<&Value>, all_null: bool, keep: Ordering) {
        match (&*self, other) {
            (_, None) if all_null => {}
            (_, None) => *self = Self::Unknown,
            (Self::Empty, Some(value)) => *self = Self::Value(value.clone()),
            (Self::Value(known), Some(value)) if compare_values(value, known) == keep => {
                *self = Self::Value(value.clone());
            }
            _ => {}
        }
    }

    fn into_value(self) -> Option<Value> {
        if let Self::Value(value) = self { Some(value) } else { None }
    }
}

impl TableStatisticsBuilder {
    /// For a table of `columns` columns.
    pub fn new(columns: usize) -> Self {
        Self { columns: vec![Column::default(); columns], rows: 0, groups: 0 }
    }

    /// Adds a group. Columns added to the table after it count as NULL in it.
    pub fn add(&mut self, group: &RowGroupMeta) {
        self.rows += u64::from(group.rows);
        self.groups += 1;
        for (index, column) in self.columns.iter_mut().enumerate() {
            column.rows += u64::from(group.rows);
            let Some(chunk) = group.columns.get(index) else {
                column.nulls += u64::from(group.rows);
                continue;
            };
            let all_null = chunk.nulls == group.rows;
            column.min.add(chunk.min.as_ref(), all_null, Ordering::Less);
            column.max.add(chunk.max.as_ref(), all_null, Ordering::Greater);
            column.nulls += u64::from(chunk.nulls);
            column.bytes += u64::from(chunk.bytes);
            column.distinct_most = column.distinct_most.max(u64::from(chunk.distinct_estimate));
            column.sketch.merge(&chunk.sketch);
        }
    }

    /// Rows, deleted ones included.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Groups.
    pub const fn groups(&self) -> u32 {
        self.groups
    }

    /// One for each column.
    pub fn finish(self) -> Vec<ColumnStatistics> {
        self.columns.into_iter().map(Column::finish).collect()
    }
}

impl Column {
    fn finish(self) -> ColumnStatistics {
        let values = self.rows - self.nulls;
        // The sketch knows nothing of bounds: a column of integers has no more distinct
        // values than its range, and none has more than it has values.
        let distinct = self.sketch.estimate().max(self.distinct_most).min(values);
        let (min, max) = (self.min.into_value(), self.max.into_value());
        let range = integer_range(min.as_ref(), max.as_ref());
        ColumnStatistics {
            min,
            max,
            nulls: self.nulls,
            distinct: range.map_or(distinct, |range| distinct.min(range)),
            bytes_mean: if self.rows == 0 { 0.0 } else { (self.bytes as f64 / self.rows as f64) as f32 },
        }
    }
}

/// How many integers there are between two bounds, for types that count.
fn integer_range(min: Option<&Value>, max: Option<&Value>) -> Option<u64> {
    let (min, max) = match (min?, max?) {
        (Value::Int(min), Value::Int(max)) => (i128::from(*min), i128::from(*max)),
        (Value::Date(min), Value::Date(max)) => (i128::from(*min), i128::from(*max)),
        (Value::Boolean(min), Value::Boolean(max)) => (i128::from(*min), i128::from(*max)),
        (Value::Decimal { unscaled: min, .. }, Value::Decimal { unscaled: max, .. }) => (*min, *max),
        _ => return None,
    };
    u64::try_from(max.checked_sub(min)?.checked_add(1)?).ok()
}
