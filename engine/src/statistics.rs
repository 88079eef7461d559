//! Statistics for the planner, kept until the data has moved enough to matter.

use crate::error::Result;
use crate::schema::{Schema, Table};
use crate::table;
use gingham_column_store::storage::TableStatisticsBuilder;
use gingham_plan::{Catalog, ColumnStatistics, Storage, TableId, TableStatistics};
use gingham_row_store::{Direction, Read};
use gingham_types::{Value, compare_values};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Bound;
use std::sync::Arc;

/// Rows looked at for the statistics of a table that has no row groups …
const SAMPLE_ROWS: usize = 4096;
/// … and at the other end, for the greatest key.
const SAMPLE_ROWS_LAST: usize = 64;
/// Bytes of rows after which the sample is large enough: long texts are slow to read.
const SAMPLE_BYTES: usize = 1 << 20;
/// A longer text bounds nothing: the planner gets every bound with each catalog.
const BOUND_BYTES_MAX: usize = 256;

/// The catalog made last, and what it was made from.
#[derive(Default)]
pub(crate) struct StatisticsCache {
    catalog: Option<Arc<Catalog>>,
    schema_version: u64,
    /// For each table, rows and row groups when its statistics were made.
    made_from: HashMap<TableId, (u64, u64)>,
    version: u64,
}

impl StatisticsCache {
    /// The catalog for `schema` on the state `read`: the one made last, unless the schema
    /// or some table's size has moved.
    pub(crate) fn catalog(&mut self, read: &dyn Read, schema: &Schema) -> Result<Arc<Catalog>> {
        let schema_moved = self.schema_version != schema.counters.version;
        let mut sizes = HashMap::new();
        let mut moved = Vec::new();
        for table in schema.tables() {
            let size = size(read, table)?;
            let known = self.made_from.get(&table.id()).copied().filter(|_| self.describes(table));
            if known.is_none_or(|known| has_moved(known, size)) {
                moved.push(table.id());
                sizes.insert(table.id(), size);
            } else if let Some(known) = known {
                sizes.insert(table.id(), known);
            }
        }
        if let (Some(catalog), false, true) = (&self.catalog, schema_moved, moved.is_empty()) {
            return Ok(Arc::clone(catalog));
        }
        let mut collected: HashMap<TableId, TableStatistics> = HashMap::new();
        for table in schema.tables() {
            let kept = self.catalog.as_ref().and_then(|c| c.table_by_id(table.id())).map(|t| t.statistics.clone());
            let statistics = match kept {
                Some(kept) if !moved.contains(&table.id()) => kept,
                _ => collect(read, table)?,
            };
            collected.insert(table.id(), statistics);
        }
        self.version += 1;
        self.schema_version = schema.counters.version;
        self.made_from = sizes;
        let catalog = schema.catalog(self.version, |table| collected.remove(&table.id()).unwrap_or_default());
        Ok(Arc::clone(self.catalog.insert(Arc::new(catalog))))
    }

    /// Whether the catalog made last is of this very table: the number of one whose
    /// creation was rolled back is given again.
    fn describes(&self, table: &Table) -> bool {
        let known = self.catalog.as_ref().and_then(|catalog| catalog.table_by_id(table.id()));
        known.is_some_and(|known| known.name == table.record.name && known.columns == table.record.columns)
    }
}

/// Rows in the tree and row groups, both without walking.
fn size(read: &dyn Read, table: &Table) -> Result<(u64, u64)> {
    let groups = match table.record.storage {
        Storage::Row => 0,
        // A marked group is one less that can be read.
        Storage::Hybrid => read.count(table.groups_tree())? * 2 - read.count(table.marks_tree())?,
        Storage::Column => read.count(table.groups_tree())?,
    };
    Ok((read.count(table.rows_tree())?, groups))
}

/// A fifth more or less, and any change of the row groups.
fn has_moved(known: (u64, u64), now: (u64, u64)) -> bool {
    known.1 != now.1 || known.0.abs_diff(now.0) * 5 > known.0.max(50)
}

#[inline(never)]
fn collect(read: &dyn Read, table: &Table) -> Result<TableStatistics> {
    let mut builder = TableStatisticsBuilder::new(table.row_layout.types().len());
    let groups = table::group_metas(read, table)?;
    for group in &groups {
        builder.add(group);
    }
    let in_tree = read.count(table.rows_tree())?;
    let mut statistics = TableStatistics { rows: builder.rows(), ..TableStatistics::default() };
    statistics.columns = if groups.is_empty() { sample(read, table)? } else { builder.finish() };
    match table.record.storage {
        Storage::Column => {
            let deleted = read.count(table.marks_tree())?;
            statistics.rows = (statistics.rows + in_tree).saturating_sub(deleted);
            statistics.rows_uncopied = in_tree;
        }
        Storage::Hybrid => {
            statistics.rows = in_tree;
            statistics.rows_uncopied = table::uncopied_rows(read, table)?;
        }
        Storage::Row => statistics.rows = in_tree,
    }
    statistics.row_groups = groups.len() as u32;
    Ok(statistics)
}

/// Statistics from the first rows and, for the key's first column, from both ends.
#[inline(never)]
fn sample(read: &dyn Read, table: &Table) -> Result<Vec<ColumnStatistics>> {
    let total = read.count(table.rows_tree())?;
    let mut columns: Vec<Sample> = table.row_layout.types().iter().map(|_| Sample::default()).collect();
    let mut rows = 0u64;
    for (direction, wanted) in [(Direction::Forward, SAMPLE_ROWS), (Direction::Reverse, SAMPLE_ROWS_LAST)] {
        let mut cursor = read.cursor(table.rows_tree(), Bound::Unbounded, Bound::Unbounded, direction)?;
        let mut bytes = 0;
        for _ in 0..wanted {
            let Some((_, row)) = cursor.next()? else { break };
            rows += 1;
            let reader = table.row_layout.reader(row)?;
            for (ordinal, column) in columns.iter_mut().enumerate() {
                column.add(reader.value(ordinal)?);
            }
            bytes += row.len();
            if bytes > SAMPLE_BYTES {
                break;
            }
        }
    }
    Ok(columns.into_iter().map(|column| column.finish(rows, total)).collect())
}

/// What a sample tells of one column.
#[derive(Default)]
struct Sample {
    statistics: ColumnStatistics,
    /// A number for each value that is not NULL, the same for equal ones.
    hashes: Vec<usize>,
    bytes: usize,
    /// A value was too long to be a bound.
    unbounded: bool,
}

impl Sample {
    #[inline(never)]
    fn add(&mut self, value: Value) {
        let text;
        let (hash, bytes) = match &value {
            Value::Null => {
                self.statistics.nulls += 1;
                return;
            }
            Value::Int(value) => (mixed(0, *value as u64), decimal_digits(*value)),
            Value::Text(text) => (hash_of(text.as_bytes()), text.len()),
            Value::Blob(bytes) => (hash_of(bytes), bytes.len()),
            other => {
                text = other.to_string();
                (hash_of(text.as_bytes()), text.len())
            }
        };
        self.hashes.push(hash as usize);
        self.bytes += bytes.min(16);
        if matches!(value, Value::Text(_) | Value::Blob(_)) && bytes > BOUND_BYTES_MAX {
            self.unbounded = true;
            return;
        }
        widen(&mut self.statistics.min, &value, Ordering::Less);
        widen(&mut self.statistics.max, &value, Ordering::Greater);
    }

    /// The statistics of `total` rows, of which `rows` were looked at.
    fn finish(self, rows: u64, total: u64) -> ColumnStatistics {
        let Self { mut statistics, mut hashes, bytes, unbounded } = self;
        hashes.sort_unstable();
        hashes.dedup();
        let distinct = hashes.len() as u64;
        // A column that hardly repeats in the sample is taken to grow with the table.
        let repeats_little = distinct * 10 > rows * 9;
        statistics.distinct = if repeats_little { distinct * total.max(1) / rows.max(1) } else { distinct };
        statistics.nulls = statistics.nulls * total / rows.max(1);
        statistics.bytes_mean = bytes as f32 / rows.max(1) as f32;
        if unbounded {
            (statistics.min, statistics.max) = (None, None);
        }
        statistics
    }
}

/// Bytes of a number in decimal notation.
fn decimal_digits(value: i64) -> usize {
    value.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1 + usize::from(value < 0)
}

/// One step of a multiplicative hash; the finalizer is `SplitMix64`'s.
fn mixed(hash: u64, word: u64) -> u64 {
    let word = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word ^ (word >> 27)
}

fn hash_of(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(bytes.len() as u64, |hash, word| mixed(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(hash, |hash, byte| mixed(hash, u64::from(*byte)))
}

fn widen(bound: &mut Option<Value>, value: &Value, order: Ordering) {
    if bound.as_ref().is_none_or(|b| compare_values(value, b) == order) {
        *bound = Some(value.clone());
    }
}
