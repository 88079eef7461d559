//! SQLite and redb for the native benches.

use super::{Contender, Engine, VALUE};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, backends::InMemoryBackend};
use rusqlite::{Connection, OptionalExtension, params};
use std::hint::black_box;
use std::path::Path;

pub(super) const PEERS: [Contender; 2] = [("sqlite", Sqlite::memory, Sqlite::file), ("redb", Redb::memory, Redb::file)];

struct Sqlite(Connection);

impl Sqlite {
    fn over(connection: Connection) -> Box<dyn Engine> {
        connection.execute_batch("CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)").expect("create");
        Box::new(Self(connection))
    }

    fn memory() -> Box<dyn Engine> {
        Self::over(Connection::open_in_memory().expect("memory"))
    }

    /// The settings under which a commit is durable and cheapest.
    fn file(folder: &Path) -> Box<dyn Engine> {
        let connection = Connection::open(folder.join("sqlite")).expect("open");
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").expect("settings");
        Self::over(connection)
    }
}

impl Engine for Sqlite {
    fn insert(&mut self, keys: &mut dyn Iterator<Item = i64>) {
        let transaction = self.0.transaction().expect("begin");
        let mut insert = transaction.prepare_cached("INSERT INTO t VALUES (?, ?)").expect("prepare");
        for key in keys {
            insert.execute(params![key, VALUE]).expect("insert");
        }
        drop(insert);
        transaction.commit().expect("commit");
    }

    fn get(&mut self, keys: &mut dyn Iterator<Item = i64>) -> usize {
        let mut get = self.0.prepare_cached("SELECT v FROM t WHERE k = ?").expect("prepare");
        let mut bytes = |key| {
            let found = get.query_row([key], |row| Ok(black_box(row.get_ref(0)?.as_blob()?).len()));
            found.optional().expect("get")
        };
        keys.filter_map(&mut bytes).sum()
    }

    fn has(&mut self, keys: &mut dyn Iterator<Item = i64>) -> usize {
        let mut has = self.0.prepare_cached("SELECT 1 FROM t WHERE k = ?").expect("prepare");
        keys.filter(|key| has.exists([*key]).expect("has")).count()
    }

    fn scan(&mut self) -> usize {
        let mut scan = self.0.prepare_cached("SELECT k, v FROM t ORDER BY k").expect("prepare");
        let mut rows = scan.query([]).expect("query");
        let mut bytes = 0;
        while let Some(row) = rows.next().expect("next") {
            bytes += black_box(row.get_ref(1).expect("column").as_blob().expect("blob")).len();
        }
        bytes
    }

    fn commit(&mut self, key: i64) {
        self.0
            .prepare_cached("INSERT INTO t VALUES (?, ?)")
            .expect("prepare")
            .execute(params![key, VALUE])
            .expect("insert");
    }
}

const TABLE: TableDefinition<'_, i64, &[u8]> = TableDefinition::new("t");

struct Redb(Database);

impl Redb {
    fn over(database: Database) -> Box<dyn Engine> {
        let write = database.begin_write().expect("begin");
        drop(write.open_table(TABLE).expect("create"));
        write.commit().expect("commit");
        Box::new(Self(database))
    }

    fn memory() -> Box<dyn Engine> {
        Self::over(Database::builder().create_with_backend(InMemoryBackend::new()).expect("memory"))
    }

    fn file(folder: &Path) -> Box<dyn Engine> {
        Self::over(Database::create(folder.join("redb")).expect("open"))
    }
}

impl Engine for Redb {
    fn insert(&mut self, keys: &mut dyn Iterator<Item = i64>) {
        let write = self.0.begin_write().expect("begin");
        let mut table = write.open_table(TABLE).expect("table");
        for key in keys {
            table.insert(key, VALUE.as_slice()).expect("insert");
        }
        drop(table);
        write.commit().expect("commit");
    }

    fn get(&mut self, keys: &mut dyn Iterator<Item = i64>) -> usize {
        let table = self.0.begin_read().expect("begin").open_table(TABLE).expect("table");
        keys.filter_map(|key| table.get(key).expect("get").map(|value| black_box(value.value()).len())).sum()
    }

    fn has(&mut self, keys: &mut dyn Iterator<Item = i64>) -> usize {
        let table = self.0.begin_read().expect("begin").open_table(TABLE).expect("table");
        keys.filter(|key| table.get(key).expect("get").is_some()).count()
    }

    fn scan(&mut self) -> usize {
        let table = self.0.begin_read().expect("begin").open_table(TABLE).expect("table");
        table.iter().expect("iter").map(|entry| black_box(entry.expect("next").1.value()).len()).sum()
    }

    /// redb's default durability is immediate.
    fn commit(&mut self, key: i64) {
        self.insert(&mut std::iter::once(key));
    }
}
