//! Tables in memory, in the forms that the stores give: batches of uneven sizes, text
//! with dictionaries of a row group or of one entry a row, decimals in either width.

use super::random::Random;
use gingham_column_store::expression::{batch_from_rows, evaluate_row};
use gingham_column_store::source::{FilterCell, KeyFilter, Source, Step, Tables};
use gingham_column_store::vector::{Batch, Data, Dictionary, TextVector, Vector};
use gingham_column_store::{Error, Result};
use gingham_plan::{DynamicFilter, Node, Route, Scan, SqlError, TableId};
use gingham_types::{SqlType, Value};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// One table.
#[derive(Debug)]
pub struct Table {
    pub types: Vec<SqlType>,
    pub rows: Vec<Vec<Value>>,
}

/// Tables by number.
#[derive(Clone, Debug, Default)]
pub struct MemoryTables {
    pub tables: BTreeMap<u32, Rc<Table>>,
    /// Decides sizes and forms of batches.
    pub seed: u64,
    /// Batches read so far.
    pub batches_read: Rc<Cell<usize>>,
    /// Scans opened so far.
    pub opened: Rc<Cell<usize>>,
}

impl MemoryTables {
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    pub fn add(&mut self, id: u32, types: &[SqlType], rows: Vec<Vec<Value>>) {
        self.tables.insert(id, Rc::new(Table { types: types.to_vec(), rows }));
    }

    /// A scan of all columns of a table.
    pub fn scan(&self, id: u32) -> Node {
        let table = &self.tables[&id];
        Node::Scan(Scan {
            table: TableId(id),
            name: format!("t{id}"),
            columns: (0..table.types.len()).collect(),
            types: table.types.clone(),
            locator: false,
            filters: Vec::new(),
            dynamic_filters: Vec::new(),
            route: Route::Column,
            row_cost_us: None,
            column_cost_us: None,
            reason: String::new(),
            rows: table.rows.len() as f64,
        })
    }
}

struct MemorySource {
    table: Rc<Table>,
    scan: Scan,
    filters: Vec<(DynamicFilter, Arc<FilterCell>)>,
    random: Random,
    next: usize,
    batches_read: Rc<Cell<usize>>,
    /// For each column, a dictionary that several batches share.
    shared: Vec<Option<Arc<Dictionary>>>,
}

impl Tables for MemoryTables {
    fn open(&self, scan: &Scan, filters: &[(DynamicFilter, Arc<FilterCell>)]) -> Result<Box<dyn Source>> {
        let table = self.tables.get(&scan.table.0).ok_or_else(|| Error::Sql(SqlError::new("42P01", "no table")))?;
        self.opened.set(self.opened.get() + 1);
        Ok(Box::new(MemorySource {
            table: Rc::clone(table),
            scan: scan.clone(),
            filters: filters.to_vec(),
            random: Random(self.seed ^ u64::from(scan.table.0) << 32),
            next: 0,
            batches_read: Rc::clone(&self.batches_read),
            shared: vec![None; scan.columns.len()],
        }))
    }
}

impl Source for MemorySource {
    fn next(&mut self) -> Result<Step> {
        if self.next == self.table.rows.len() {
            return Ok(Step::Finished);
        }
        if self.random.chance(10) {
            return Ok(Step::Working);
        }
        self.batches_read.set(self.batches_read.get() + 1);
        let size = *self.random.pick(&[1, 7, 300, 2048, 2048]);
        let end = (self.next + size).min(self.table.rows.len());
        let mut kept = Vec::new();
        for row in &self.table.rows[self.next..end] {
            let mut passes = true;
            for filter in &self.scan.filters {
                passes = passes && evaluate_row(filter, row)? == Value::Boolean(true);
            }
            for (dynamic, cell) in &self.filters {
                passes = passes && cell.get().is_none_or(|filter| may_match(filter, &row[dynamic.column]));
            }
            if passes {
                kept.push(self.scan.columns.iter().map(|c| row[*c].clone()).collect::<Vec<Value>>());
            }
        }
        self.next = end;
        if kept.is_empty() {
            return Ok(Step::Working);
        }
        let batch = batch_from_rows(&kept, &self.scan.types)?;
        let columns = batch.columns.iter().enumerate().map(|(at, column)| Arc::new(self.reshape(at, column))).collect();
        Ok(Step::Batch(Batch::new(columns, batch.rows)))
    }
}

/// A filter as a scan applies it; NULL never passes.
fn may_match(filter: &KeyFilter, value: &Value) -> bool {
    match (filter, value) {
        (KeyFilter::Everything, _) => true,
        (_, Value::Null) | (KeyFilter::Nothing, _) => false,
        (KeyFilter::Texts(texts), Value::Text(text)) => texts.binary_search(&text.as_bytes().to_vec()).is_ok(),
        (KeyFilter::Texts(texts), Value::Blob(bytes)) => texts.binary_search(bytes).is_ok(),
        (KeyFilter::Integers { .. }, value) => filter.may_contain(match value {
            Value::Int(v) | Value::Timestamp(v) => *v,
            Value::Date(v) => i64::from(*v),
            Value::Decimal { unscaled, .. } => *unscaled as i64,
            other => panic!("integer filter over {other:?}"),
        }),
        (filter, value) => panic!("{filter:?} over {value:?}"),
    }
}

impl MemorySource {
    /// The same values in another form.
    fn reshape(&mut self, at: usize, column: &Vector) -> Vector {
        let data = match &column.data {
            Data::Int64(v) if matches!(self.scan.types[at], SqlType::Decimal { .. }) && self.random.chance(30) => {
                Data::Int128(v.iter().map(|v| i128::from(*v)).collect())
            }
            Data::Text(text) if self.random.chance(60) => Data::Text(self.share(at, text)),
            other => other.clone(),
        };
        let mut validity = column.validity.clone();
        if validity.is_none() && self.random.chance(20) {
            validity = Some(vec![true; column.len()]);
        }
        Vector { data, validity }
    }

    /// Text over a dictionary of the whole table's strings, the same for several batches.
    fn share(&mut self, at: usize, text: &TextVector) -> TextVector {
        let table = Rc::clone(&self.table);
        let ordinal = self.scan.columns[at];
        let fresh = self.random.chance(15);
        let slot = &mut self.shared[at];
        if slot.is_none() || fresh {
            let mut strings: Vec<&[u8]> = vec![b""];
            strings.extend(table.rows.iter().filter_map(|row| match &row[ordinal] {
                Value::Text(text) => Some(text.as_bytes()),
                Value::Blob(bytes) => Some(&bytes[..]),
                _ => None,
            }));
            strings.sort_unstable();
            strings.dedup();
            let mut dictionary = Dictionary::default();
            for string in strings {
                dictionary.push(string).expect("small");
            }
            *slot = Some(Arc::new(dictionary.with_distinct(true)));
        }
        let dictionary = Arc::clone(slot.as_ref().expect("just set"));
        let find = |bytes: &[u8]| {
            let (mut low, mut high) = (0, dictionary.len() as u32);
            while low < high {
                let middle = u32::midpoint(low, high);
                if dictionary.get(middle) < bytes { low = middle + 1 } else { high = middle }
            }
            low
        };
        let codes = (0..text.len()).map(|row| find(text.bytes(row))).collect();
        TextVector { codes, dictionary }
    }
}
