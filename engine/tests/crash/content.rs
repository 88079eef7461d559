//! What a reader can tell of a database, in a form that compares quickly.

use gingham::vfs::fault::FaultVfs;
use gingham::{Connection, Database, Options, Value};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The file that is crashed.
pub(crate) const NAME: &str = "crash.db";

/// Rows of one table, whatever their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Rows {
    count: u64,
    digest: u64,
}

impl Rows {
    pub(crate) fn add(&mut self, row: &[Value]) {
        let mut hasher = DefaultHasher::new();
        for value in row {
            value.to_string().hash(&mut hasher);
        }
        self.count += 1;
        // A sum, for rows come in any order.
        self.digest = self.digest.wrapping_add(hasher.finish());
    }
}

/// The tables that are there, by name. Two states with equal contents differ in nothing
/// that the tests' statements can tell.
pub(crate) type Content = BTreeMap<String, Rows>;

pub(crate) fn open(vfs: &FaultVfs) -> gingham::Result<Database> {
    Database::open_with(Arc::new(vfs.clone()), NAME, Options::default())
}

/// Runs a statement for its effect.
pub(crate) fn execute(connection: &mut Connection, sql: &str) -> gingham::Result<()> {
    connection.execute(sql, &[])?.collect_values().map(drop)
}

/// Reads `tables` by both routes, in one read-only transaction so that no columnar copy
/// is brought up to date by it. The routes have to agree.
pub(crate) fn read_content(database: &Database, tables: &[&str]) -> Result<Content, gingham::Error> {
    let mut connection = database.connect();
    execute(&mut connection, "BEGIN READ ONLY")?;
    let mut contents = Vec::new();
    for route in ["row", "column"] {
        execute(&mut connection, &format!("SET route = '{route}'"))?;
        let mut content = Content::new();
        for table in tables {
            let rows = match connection.execute(&format!("SELECT * FROM {table}"), &[]) {
                Ok(mut rows) => rows.collect_values()?,
                Err(error) if error.to_sql_error().code == "42P01" => continue,
                Err(error) => return Err(error),
            };
            let found = content.entry((*table).to_owned()).or_default();
            rows.iter().for_each(|row| found.add(row));
        }
        contents.push(content);
    }
    execute(&mut connection, "COMMIT")?;
    assert_eq!(contents[0], contents[1], "the routes do not agree");
    Ok(contents.remove(0))
}

/// Checks everything that the database can check of itself.
pub(crate) fn check_integrity(database: &Database) -> Result<(), String> {
    let report = database.integrity_check().map_err(|error| format!("integrity check: {error}"))?;
    if report.is_sound() { Ok(()) } else { Err(format!("integrity: {:?}", report.problems)) }
}
