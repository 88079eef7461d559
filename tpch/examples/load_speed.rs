//! How fast CSV files become tables, natively: parsing, encoding and writing, file by file.
//!
//! `cargo run --release --package gingham-tpch --features engine --example load_speed -- FOLDER [TABLE…]`
//!
//! FOLDER is one that `gingham-tpch --csv` wrote. Tables are in column storage, in a database
//! file that is removed afterwards.

use gingham::{Connection, CsvOptions, Database, Options};
use gingham_tpch::{PrimaryKeys, Storage, Table};
use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

/// What the browser hands over at a time.
const PIECE_BYTES: usize = 256 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let folder = words.first().ok_or("which folder?")?;
    let path = std::env::temp_dir().join(format!("gingham-load-speed-{}", std::process::id()));
    let result = load(Path::new(folder), &words[1..], &path);
    std::fs::remove_file(&path)?;
    result
}

fn load(folder: &Path, names: &[String], path: &Path) -> Result<(), Box<dyn Error>> {
    let database = Database::open(path, Options::default())?;
    let mut connection = database.connect();
    for table in Table::ALL.iter().filter(|table| names.is_empty() || names.iter().any(|name| name == table.name())) {
        connection.execute(&table.create_sql(Storage::Column, PrimaryKeys::Omitted), &[])?;
        let started = Instant::now();
        let (bytes, rows) = import(&mut connection, table.name(), &folder.join(format!("{}.csv", table.name())))?;
        let seconds = started.elapsed().as_secs_f64();
        println!("{:10} {rows:>9} rows {seconds:>8.3} s {:>8.1} MB/s", table.name(), bytes as f64 / 1e6 / seconds);
    }
    println!("{} bytes in the file", std::fs::metadata(path)?.len());
    Ok(())
}

fn import(connection: &mut Connection, table: &str, file: &Path) -> Result<(u64, u64), Box<dyn Error>> {
    let mut input = std::fs::File::open(file)?;
    let mut import = connection.import_csv(table, &CsvOptions::default())?;
    let mut piece = vec![0; PIECE_BYTES];
    let mut bytes = 0;
    loop {
        let count = input.read(&mut piece)?;
        if count == 0 {
            return Ok((bytes, import.finish(connection)?));
        }
        import.push(connection, &piece[..count])?;
        bytes += count as u64;
    }
}
