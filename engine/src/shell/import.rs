//! `.import`: a CSV file into a table.

use crate::Connection;
use crate::vector::{Data, TextVector, Vector};
use std::sync::Arc;

/// Rows handed over at a time.
const BATCH_ROWS: usize = 65_536;

/// Adds the rows of a CSV file, whose header names the columns. An empty field that is
/// not quoted is NULL. All rows or none; how many.
pub(super) fn csv(connection: &mut Connection, file: &str, table: &str) -> Result<u64, String> {
    let mut reader = csv::ReaderBuilder::new().from_path(file).map_err(|e| format!("{file}: {e}"))?;
    let names: Vec<String> =
        reader.headers().map_err(|e| format!("{file}: {e}"))?.iter().map(|name| name.to_lowercase()).collect();
    let own_transaction = !connection.in_transaction();
    if own_transaction {
        connection.begin(false).map_err(|e| e.to_string())?;
    }
    let result = batches(connection, &mut reader, &names, table);
    if own_transaction {
        let ended = if result.is_ok() { connection.commit() } else { connection.rollback() };
        ended.map_err(|e| e.to_string())?;
    }
    result.map_err(|e| format!("{file}: {e}"))
}

fn batches(
    connection: &mut Connection,
    reader: &mut csv::Reader<std::fs::File>,
    names: &[String],
    table: &str,
) -> Result<u64, String> {
    let mut record = csv::StringRecord::new();
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); names.len()];
    let mut rows = 0;
    loop {
        let more = reader.read_record(&mut record).map_err(|e| e.to_string())?;
        if more {
            for (column, field) in columns.iter_mut().zip(&record) {
                column.push(field.to_owned());
            }
        }
        let waiting = columns.first().map_or(0, Vec::len);
        if waiting == BATCH_ROWS || (!more && waiting > 0) {
            let batch: Vec<(String, Arc<Vector>)> = names
                .iter()
                .zip(&mut columns)
                .map(|(name, column)| {
                    let fields = std::mem::take(column);
                    let text = TextVector::from_strings(fields.iter().map(|field| field.as_bytes()))
                        .ok_or("the fields of one batch pass 4 GiB")?;
                    let validity =
                        fields.iter().any(String::is_empty).then(|| fields.iter().map(|f| !f.is_empty()).collect());
                    Ok((name.clone(), Arc::new(Vector { data: Data::Text(text), validity })))
                })
                .collect::<Result<_, String>>()?;
            rows += connection.insert_columns(table, &batch).map_err(|e| e.to_string())?;
        }
        if !more {
            return Ok(rows);
        }
    }
}
