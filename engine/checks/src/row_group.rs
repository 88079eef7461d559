//! Row groups: chunks of every encoding with changed bytes and right checksums, and
//! changed metadata. Rows or an error; the number of rows is the group's.

use crate::base::Bytes;
use gingham_column_store::source::{Source, Step};
use gingham_column_store::storage::{
    ChunkCache, ColumnScan, ExtentReader, RowGroupBuilder, RowGroupMeta, ScanGroup, ScanRequest,
};
use gingham_column_store::{Error, Result};
use gingham_row_store::{Extent, PageId};
use gingham_types::{SqlType, Value};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use xxhash_rust::xxh3::xxh3_64;

const ROWS: i64 = 700;

fn types() -> [SqlType; 10] {
    [
        SqlType::Integer,
        SqlType::BigInt,
        SqlType::Integer,
        SqlType::BigInt,
        SqlType::decimal(15, 2),
        SqlType::decimal(38, 2),
        SqlType::Double,
        SqlType::Text,
        SqlType::Text,
        SqlType::Boolean,
    ]
}

/// A row such that the columns get encodings that differ.
fn row(n: i64) -> Vec<Value> {
    let scattered = n.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64);
    vec![
        Value::Int(n % 90),
        if n % 11 == 0 { Value::Null } else { Value::Int(scattered) },
        Value::Int(n / 50),
        Value::Int(n * 1000 + n % 3),
        Value::Decimal { unscaled: i128::from(n * 25), scale: 2 },
        Value::Decimal { unscaled: i128::from(scattered) << 40, scale: 2 },
        Value::Double(n as f64 / 8.0),
        Value::Text(["red", "green", "blue"][n as usize % 3].into()),
        Value::Text(format!("a text of its own, number {scattered}")),
        if n % 5 == 0 { Value::Null } else { Value::Boolean(n % 2 == 0) },
    ]
}

fn group() -> &'static (Vec<u8>, RowGroupMeta) {
    static GROUP: OnceLock<(Vec<u8>, RowGroupMeta)> = OnceLock::new();
    GROUP.get_or_init(|| {
        let mut builder = RowGroupBuilder::new(&types());
        (0..ROWS).for_each(|n| builder.append_row(&row(n)).expect("of the columns' types"));
        let mut group = builder.finish().expect("has rows");
        let bytes = std::mem::take(&mut group.bytes);
        let extent = Extent { first_page: PageId(1), pages: 1, bytes: bytes.len() as u64, checksum: 0 };
        (bytes, group.into_meta(extent, 0, Vec::new()))
    })
}

struct InMemory(Vec<u8>);

impl ExtentReader for InMemory {
    fn read(&self, _: &Extent, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let end = offset.saturating_add(buffer.len() as u64);
        let range = usize::try_from(offset).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or(usize::MAX);
        buffer.copy_from_slice(self.0.get(range).ok_or_else(|| Error::Corrupt("past the end".into()))?);
        Ok(())
    }
}

/// Rows that a scan of all columns gives.
fn scan(bytes: Vec<u8>, meta: RowGroupMeta) -> Result<usize> {
    let types = types();
    let request = ScanRequest { types: types.to_vec(), columns: (0..types.len()).collect(), ..ScanRequest::default() };
    let groups = vec![ScanGroup { meta: Arc::new(meta), deleted: None }];
    let reader: Rc<dyn ExtentReader> = Rc::new(InMemory(bytes));
    let cache = Arc::new(ChunkCache::new(0));
    let mut scan = ColumnScan::with_expressions(request, groups, reader, cache, Arc::default());
    let mut rows = 0;
    loop {
        match scan.next()? {
            Step::Batch(batch) => {
                for (column, ty) in batch.columns.iter().zip(types) {
                    (0..batch.rows).for_each(|row| drop(column.value(row, ty)));
                }
                rows += batch.rows;
            }
            Step::Working => {}
            Step::Finished => return Ok(rows),
        }
    }
}

/// With an even first byte chunks are changed, each change a column, an offset and
/// bytes; with an odd one the metadata is.
pub fn check(data: &[u8]) {
    let (bytes, meta) = group();
    let mut data = Bytes(data);
    if data.byte() % 2 == 1 {
        check_meta(&mut data);
        return;
    }
    let (mut bytes, mut meta) = (bytes.clone(), meta.clone());
    while !data.is_empty() {
        let index = usize::from(data.byte()) % meta.columns.len();
        let column = &mut meta.columns[index];
        let chunk = &mut bytes[column.offset as usize..][..column.bytes as usize];
        // The header of a chunk is where most goes wrong.
        let number = data.number();
        let at = if number.is_multiple_of(2) { number / 2 % 24 } else { number / 2 } % chunk.len();
        let count = (usize::from(data.byte()) % 8 + 1).min(chunk.len() - at);
        let written = data.take(count);
        chunk[at..at + written.len()].copy_from_slice(written);
        column.checksum = xxh3_64(chunk);
    }
    if let Ok(rows) = scan(bytes, meta) {
        assert_eq!(rows, ROWS as usize, "a changed chunk changed the number of rows");
    }
}

fn check_meta(data: &mut Bytes<'_>) {
    let (bytes, meta) = group();
    let mut record = meta.encode();
    let content = record.len() - 8;
    while !data.is_empty() {
        let at = data.number() % content;
        record[at] ^= data.byte();
    }
    let checksum = xxh3_64(&record[..content]);
    record[content..].copy_from_slice(&checksum.to_le_bytes());
    let Ok(found) = RowGroupMeta::decode(&record) else { return };
    // The engine knows the extent from elsewhere and checks it before it reads.
    if found.extent == meta.extent && found.rows == meta.rows {
        let _ = scan(bytes.clone(), found);
    }
}
