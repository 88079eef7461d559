//! COPY table FROM 'file': a CSV file of the operating system into a table.

use crate::connection::Connection;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::Error;
use crate::error::Result;
use crate::load::CsvOptions;
use crate::statement::Rows;
use gingham_plan::{CopyFrom, SqlError};

/// Bytes read at a time.
#[cfg(not(target_arch = "wasm32"))]
const READ_BYTES: usize = 256 << 10;

/// Adds the rows of the file.
#[cfg(not(target_arch = "wasm32"))]
#[inline(never)]
pub(super) fn from_file(connection: &mut Connection, copy: &CopyFrom) -> Result<Rows> {
    use std::io::Read;
    let failed = |error: &std::io::Error| {
        let code = if error.kind() == std::io::ErrorKind::NotFound { "58P01" } else { "58030" };
        Error::Sql(SqlError::new(code, format!("{}: {error}", copy.path)))
    };
    let mut file = std::fs::File::open(&copy.path).map_err(|error| failed(&error))?;
    let mut import = connection.import_csv(&copy.table, &options(copy))?;
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => import.push(connection, &buffer[..count]).map_err(|error| in_file(error, copy))?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                import.abort(connection)?;
                return Err(failed(&error));
            }
        }
    }
    let rows = import.finish(connection).map_err(|error| in_file(error, copy))?;
    Ok(Rows::changes_only(rows))
}

/// In the browser there are no files to name.
#[cfg(target_arch = "wasm32")]
#[inline(never)]
pub(super) fn from_file(_: &mut Connection, copy: &CopyFrom) -> Result<Rows> {
    let _ = options(copy);
    Err(SqlError::unsupported("COPY from a file in the browser").hint("use db.import").into())
}

fn options(copy: &CopyFrom) -> CsvOptions {
    CsvOptions {
        header: copy.header,
        delimiter: copy.delimiter,
        null: copy.null.clone(),
        columns: copy.columns.clone(),
    }
}

/// The error of a file's content. Its place is one of the file, not of the statement.
#[cfg(not(target_arch = "wasm32"))]
fn in_file(error: Error, copy: &CopyFrom) -> Error {
    match error {
        Error::Sql(error) if error.position.is_some() => {
            Error::Sql(SqlError { message: format!("{}: {}", copy.path, error.message), position: None, ..error })
        }
        other => other,
    }
}
