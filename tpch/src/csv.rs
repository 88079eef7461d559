//! The tables as comma-separated files, for databases that load no Arrow.
//!
//! RFC 4180 with a header and LF line ends: a field that holds a comma, a quote or a
//! line end is quoted, and quotes in it are doubled. A file is written under a temporary
//! name and renamed when complete, so a file of the right name is whole and is not
//! written again. The folder's scale factor is noted in it.

use crate::Error;
use crate::generate::{Batch, ColumnData, Progress, ROWS_DEFAULT, batches, row_count_estimate};
use crate::scale::ScaleFactor;
use crate::schema::Table;
use gingham_types::format_date;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The file that says which scale factor a folder's files are of.
const SCALE_FILE: &str = "scale-factor";

/// Whether a table's file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It was.
    Now,
    /// It was there and complete.
    Before,
}

/// Writes `{table}.csv` for all eight tables into `folder`, which is made if need be.
///
/// # Errors
/// [`Error::OtherData`] if the folder holds files of another scale factor, [`Error::Io`] on the way.
pub fn write_csv(
    folder: &Path,
    scale: ScaleFactor,
    mut progress: impl FnMut(Progress),
) -> Result<Vec<(Table, Written)>, Error> {
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    claim_folder(folder, scale)?;
    Table::ALL.into_iter().map(|table| Ok((table, write_table(folder, table, scale, &mut progress)?))).collect()
}

/// Notes the scale factor in a new folder, compares it in an old one.
fn claim_folder(folder: &Path, scale: ScaleFactor) -> Result<(), Error> {
    let path = folder.join(SCALE_FILE);
    match fs::read_to_string(&path) {
        Ok(found) if found.trim() == scale.to_string() => Ok(()),
        Ok(found) => Err(Error::OtherData {
            place: folder.display().to_string(),
            expected: format!("scale factor {scale}"),
            found: format!("scale factor {}", found.trim()),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            fs::write(&path, format!("{scale}\n")).map_err(Error::io(path))
        }
        Err(error) => Err(Error::io(path)(error)),
    }
}

fn write_table(
    folder: &Path,
    table: Table,
    scale: ScaleFactor,
    progress: &mut impl FnMut(Progress),
) -> Result<Written, Error> {
    let path = folder.join(format!("{table}.csv"));
    if path.exists() {
        return Ok(Written::Before);
    }
    // The process's number keeps two writers of one folder apart.
    let temporary = folder.join(format!("{table}.csv.{}.tmp", std::process::id()));
    let file = fs::File::create(&temporary).map_err(Error::io(&temporary))?;
    let written = write_rows(BufWriter::with_capacity(1 << 20, file), table, scale, progress);
    let renamed = written.and_then(|()| fs::rename(&temporary, &path));
    if let Err(error) = renamed {
        // The error that stopped the writing matters, not one of tidying up after it.
        let _ = fs::remove_file(&temporary);
        return Err(Error::io(temporary)(error));
    }
    Ok(Written::Now)
}

fn write_rows(
    mut file: BufWriter<fs::File>,
    table: Table,
    scale: ScaleFactor,
    progress: &mut impl FnMut(Progress),
) -> std::io::Result<()> {
    let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
    writeln!(file, "{}", names.join(","))?;
    let mut rows_done = 0;
    for batch in batches(table, scale, ROWS_DEFAULT) {
        write_batch(&mut file, &batch)?;
        rows_done += batch.row_count() as u64;
        progress(Progress { table, rows_done, rows_estimate: row_count_estimate(table, scale) });
    }
    file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
}

/// Writes the rows of a batch, one line each.
///
/// # Errors
/// Those of `out`.
pub fn write_batch(out: &mut impl Write, batch: &Batch) -> std::io::Result<()> {
    for row in 0..batch.row_count() {
        for (position, column) in batch.columns.iter().enumerate() {
            if position > 0 {
                out.write_all(b",")?;
            }
            match column {
                ColumnData::Int32(values) => write!(out, "{}", values[row])?,
                ColumnData::Decimal(values) => write_hundredths(out, values[row])?,
                ColumnData::Date(values) => out.write_all(format_date(values[row]).as_bytes())?,
                ColumnData::Text(values) => write_text(out, values.get(row))?,
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn write_hundredths(out: &mut impl Write, value: i64) -> std::io::Result<()> {
    let sign = if value < 0 { "-" } else { "" };
    let magnitude = value.unsigned_abs();
    write!(out, "{sign}{}.{:02}", magnitude / 100, magnitude % 100)
}

fn write_text(out: &mut impl Write, value: &str) -> std::io::Result<()> {
    if value.contains([',', '"', '\n', '\r']) {
        write!(out, "\"{}\"", value.replace('"', "\"\""))
    } else {
        out.write_all(value.as_bytes())
    }
}

#[cfg(test)]
mod tests;
