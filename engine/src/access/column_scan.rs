//! Columnar scans: row groups where they tell the truth, the row tree for the rest.

use super::bounds::{AccessRanges, KeyRange};
use super::row_scan::{RowScan, RowScanPlan};
use super::view::View;
use crate::database::Shared;
use crate::error::{Error, Result};
use crate::schema::Table;
use crate::table::{group_of, ranges, select};
use gingham_column_store::source::{Source, SourceCounts, Step};
use gingham_column_store::storage::{ColumnScan, ExtentReader, RowMask, ScanGroup, ScanMetrics, ScanRequest};
use gingham_plan::Storage;
use gingham_row_store::{Direction, Extent};
use std::collections::VecDeque;
use std::ops::Bound;
use std::rc::Rc;
use std::sync::Arc;

/// Several sources one after the other.
#[derive(Default)]
struct Chain {
    sources: VecDeque<Box<dyn Source>>,
    /// What finished sources have read.
    read: SourceCounts,
}

impl Source for Chain {
    fn next(&mut self) -> gingham_column_store::Result<Step> {
        while let Some(source) = self.sources.front_mut() {
            match source.next()? {
                Step::Finished => {
                    self.read = self.read.with(source.counts(), u64::wrapping_add);
                    self.sources.pop_front();
                }
                step => return Ok(step),
            }
        }
        Ok(Step::Finished)
    }

    fn counts(&self) -> SourceCounts {
        let current = self.sources.front().map(|source| source.counts()).unwrap_or_default();
        self.read.with(current, u64::wrapping_add)
    }
}

impl ExtentReader for View {
    fn read(&self, extent: &Extent, offset: u64, buffer: &mut [u8]) -> gingham_column_store::Result<()> {
        Ok(self.read_extent(extent, offset, buffer)?)
    }
}

/// A scan over the row groups of a table and what is not in them.
pub(crate) fn open_column_scan(shared: &Arc<Shared>, view: &View, plan: RowScanPlan) -> Result<Box<dyn Source>> {
    let mut sources: VecDeque<Box<dyn Source>> = VecDeque::new();
    let everything = || (Bound::Unbounded, Bound::Unbounded);
    match plan.table.record.storage {
        // A copy does not know its rows' keys.
        Storage::Hybrid if !plan.locator => {
            let mut clean: Vec<ScanGroup> = Vec::new();
            let ranges = view.read(|read| ranges(read, &plan.table))?;
            if ranges.is_empty() {
                sources.push_back(Box::new(row_scan(&plan, view, everything())?));
            }
            for range in ranges {
                if range.marked {
                    if !clean.is_empty() {
                        sources.push_back(Box::new(group_scan(shared, view, &plan, std::mem::take(&mut clean))));
                    }
                    sources.push_back(Box::new(row_scan(&plan, view, (range.lower, range.upper))?));
                } else {
                    clean.push(ScanGroup { meta: group_of(shared, &range.key, &range.record)?, deleted: None });
                }
            }
            if !clean.is_empty() {
                sources.push_back(Box::new(group_scan(shared, view, &plan, clean)));
            }
        }
        Storage::Column => {
            let groups = column_groups(shared, view, &plan.table)?;
            sources.push_back(Box::new(group_scan(shared, view, &plan, groups)));
            sources.push_back(Box::new(row_scan(&plan, view, everything())?));
        }
        Storage::Hybrid | Storage::Row => sources.push_back(Box::new(row_scan(&plan, view, everything())?)),
    }
    Ok(match sources.len() {
        1 => sources.pop_front().unwrap_or_else(|| Box::new(Chain::default())),
        _ => Box::new(Chain { sources, read: SourceCounts::default() }),
    })
}

fn row_scan(plan: &RowScanPlan, view: &View, range: KeyRange) -> Result<RowScan> {
    let access = AccessRanges::of_rows(&plan.table, range, false);
    RowScan::new(plan.clone(), view.clone(), access)
}

fn group_scan(shared: &Shared, view: &View, plan: &RowScanPlan, groups: Vec<ScanGroup>) -> ColumnScan {
    let request = ScanRequest {
        types: plan.table.row_layout.types().to_vec(),
        defaults: Vec::new(),
        columns: plan.columns.clone(),
        locator: plan.locator,
        filters: plan.filters.clone(),
        dynamic_filters: plan.dynamic_filters.iter().map(|(f, cell)| (f.column, Arc::clone(cell))).collect(),
    };
    ColumnScan::new(
        request,
        groups,
        Rc::new(view.clone()),
        Arc::clone(&shared.chunks),
        Rc::new(select),
        Arc::new(ScanMetrics::default()),
    )
}

/// The groups of a column table with their deleted rows.
fn column_groups(shared: &Shared, view: &View, table: &Table) -> Result<Vec<ScanGroup>> {
    view.read(|read| {
        let everything = (Bound::Unbounded, Bound::Unbounded);
        let mut marks = read.cursor(table.marks_tree(), everything.0, everything.1, Direction::Forward)?;
        let mut mark = marks.next()?.map(|(key, _)| key.to_vec());
        let mut cursor = read.cursor(table.groups_tree(), everything.0, everything.1, Direction::Forward)?;
        let mut groups = Vec::new();
        while let Some((key, record)) = cursor.next()? {
            let meta = group_of(shared, key, record)?;
            let first = meta.first_row_id;
            let mut deleted = RowMask::new();
            while let Some(row_key) = &mark {
                let row: [u8; 8] = row_key
                    .as_slice()
                    .try_into()
                    .map_err(|_| Error::Corrupt("a row id does not have eight bytes".into()))?;
                match u64::from_be_bytes(row).checked_sub(first) {
                    Some(position) if position < u64::from(meta.rows) => deleted.insert(position as usize),
                    Some(_) => break,
                    None => return Err(Error::Corrupt("a deleted row belongs to no row group".into())),
                };
                mark = marks.next()?.map(|(key, _)| key.to_vec());
            }
            let deleted = (!deleted.is_empty()).then(|| Arc::new(deleted));
            groups.push(ScanGroup { meta, deleted });
        }
        Ok(groups)
    })
}
