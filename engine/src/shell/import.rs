//! `.import`: a CSV file into a table.

use crate::{Connection, CsvOptions};
use std::io::Read;

/// Bytes read at a time.
const READ_BYTES: usize = 256 << 10;

/// Adds the rows of a CSV file, whose header names the columns. An empty field that is
/// not quoted is NULL. All rows or none; how many.
pub(super) fn csv(connection: &mut Connection, file: &str, table: &str) -> Result<u64, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{file}: {error}");
    let mut input = std::fs::File::open(file).map_err(|error| failed(&error))?;
    let mut import = connection.import_csv(table, &CsvOptions::default()).map_err(|error| error.to_string())?;
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return import.finish(connection).map_err(|error| failed(&error)),
            Ok(count) => import.push(connection, &buffer[..count]).map_err(|error| failed(&error))?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                import.abort(connection).map_err(|error| failed(&error))?;
                return Err(failed(&error));
            }
        }
    }
}
