//! Statistics for the planner, kept until the data has moved enough to matter.

use crate::error::Result;
use crate::schema::{Schema, Table};
use crate::table;
use gingham_column_store::storage::TableStatisticsBuilder;
use gingham_plan::{Catalog, ColumnStatistics, Storage, TableId, TableStatistics};
use gingham_row_store::{Direction, Read};
use gingham_types::{Value, compare_values};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;

/// Rows looked at for the statistics of a table that has no row groups.
const SAMPLE_ROWS: usize = 4096;

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
            let known = self.made_from.get(&table.id()).copied().filter(|_| self.catalog.is_some());
            if schema_moved || known.is_none_or(|known| has_moved(known, size)) {
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
fn sample(read: &dyn Read, table: &Table) -> Result<Vec<ColumnStatistics>> {
    let types = table.row_layout.types();
    let total = read.count(table.rows_tree())?;
    let mut columns = vec![ColumnStatistics::default(); types.len()];
    let mut values: Vec<HashSet<String>> = vec![HashSet::new(); types.len()];
    let mut bytes = vec![0usize; types.len()];
    let mut rows = 0u64;
    for direction in [Direction::Forward, Direction::Reverse] {
        let mut cursor = read.cursor(table.rows_tree(), Bound::Unbounded, Bound::Unbounded, direction)?;
        let wanted = if direction == Direction::Forward { SAMPLE_ROWS } else { SAMPLE_ROWS.min(64) };
        for _ in 0..wanted {
            let Some((_, row)) = cursor.next()? else { break };
            rows += 1;
            for (ordinal, value) in table.row_layout.decode_all(row)?.into_iter().enumerate() {
                let column = &mut columns[ordinal];
                if value.is_null() {
                    column.nulls += 1;
                    continue;
                }
                let text = value.to_string();
                bytes[ordinal] += text.len().min(16);
                values[ordinal].insert(text);
                widen(&mut column.min, &value, Ordering::Less);
                widen(&mut column.max, &value, Ordering::Greater);
            }
        }
    }
    for (ordinal, column) in columns.iter_mut().enumerate() {
        let distinct = values[ordinal].len() as u64;
        // A column that hardly repeats in the sample is taken to grow with the table.
        let repeats_little = distinct * 10 > rows * 9;
        column.distinct = if repeats_little { distinct * total.max(1) / rows.max(1) } else { distinct };
        column.nulls = column.nulls * total / rows.max(1);
        column.bytes_mean = bytes[ordinal] as f32 / rows.max(1) as f32;
    }
    Ok(columns)
}

fn widen(bound: &mut Option<Value>, value: &Value, order: Ordering) {
    if bound.as_ref().is_none_or(|b| compare_values(value, b) == order) {
        *bound = Some(value.clone());
    }
}
