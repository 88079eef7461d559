//! The schema: tables and views, as stored and as the engine uses them.
//!
//! Records live in the system tree [`SCHEMA_TREE`]: `t` + table id for a table, `v` +
//! name for a view, `m` for the counters, `s` + table id for an identity column's numbers. A record is a version byte and postcard.

mod links;
mod record;

pub(crate) use links::{Child, Parent};
pub(crate) use record::{IndexRecord, TableRecord, Trees};

use crate::error::{Error, Result};
use gingham_plan::{Catalog, IndexInfo, SqlError, Storage, TableId, TableInfo, TableStatistics, ViewInfo};
use gingham_row_store::key::{KeyColumn, KeyLayout};
use gingham_row_store::row::RowLayout;
use gingham_row_store::{Direction, Read, Transaction, TreeId};
use gingham_types::{SqlType, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

/// Where the schema's records are.
pub(crate) const SCHEMA_TREE: TreeId = TreeId(1);

/// Version byte of every schema record.
const RECORD_VERSION: u8 = 3;
/// The version before: records of tables end before `sort_by`.
const RECORD_VERSION_UNSORTED: u8 = 2;

/// Numbers that only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counters {
    /// Changes with every change of the schema.
    pub(crate) version: u64,
    /// The next table's or index's number.
    pub(crate) next_id: u32,
}

/// All tables and views at one commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    pub(crate) counters: Counters,
    tables: BTreeMap<String, Arc<Table>>,
    views: BTreeMap<String, ViewInfo>,
}

/// One table, with what its rows and keys are encoded by.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) record: TableRecord,
    pub(crate) row_layout: RowLayout,
    /// The primary key's layout, or of the hidden row id.
    pub(crate) key_layout: KeyLayout,
    pub(crate) indexes: Vec<Index>,
    /// The key each foreign key refers to.
    pub(crate) parents: Vec<Parent>,
    /// The foreign keys that refer here.
    pub(crate) children: Vec<Child>,
    /// Whether the database makes values of some column.
    pub(crate) generates: bool,
}

/// One secondary index of a [`Table`].
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) info: IndexInfo,
    pub(crate) tree: TreeId,
    pub(crate) layout: KeyLayout,
}

impl Table {
    pub(crate) fn new(record: TableRecord) -> Self {
        let types: Vec<SqlType> = record.columns.iter().map(|c| c.ty).collect();
        let key_column = |sql_type, nullable, descending| KeyColumn { sql_type, nullable, descending };
        let key_layout = if record.primary_key.is_empty() || record.storage == Storage::Column {
            KeyLayout::new(vec![key_column(SqlType::BigInt, false, false)])
        } else {
            KeyLayout::new(record.primary_key.iter().map(|c| key_column(types[*c], false, false)).collect())
        };
        let indexes = record
            .indexes
            .iter()
            .map(|index| Index {
                info: index.info.clone(),
                tree: TreeId(index.tree),
                layout: KeyLayout::new(match &index.info.special {
                    None => index.info.columns.iter().map(|(c, desc)| key_column(types[*c], true, *desc)).collect(),
                    Some(special) => {
                        special.keys.iter().map(|(key, desc)| key_column(key.expr.ty(), true, *desc)).collect()
                    }
                }),
            })
            .collect();
        Self {
            row_layout: RowLayout::new(&types),
            key_layout,
            indexes,
            parents: Vec::new(),
            children: Vec::new(),
            generates: record.columns.iter().any(|c| c.generated.is_some()),
            record,
        }
    }

    pub(crate) fn id(&self) -> TableId {
        self.record.id
    }

    pub(crate) fn rows_tree(&self) -> TreeId {
        TreeId(self.record.trees.rows)
    }

    pub(crate) fn groups_tree(&self) -> TreeId {
        TreeId(self.record.trees.groups)
    }

    pub(crate) fn marks_tree(&self) -> TreeId {
        TreeId(self.record.trees.marks)
    }

    /// Whether rows are found by a hidden row id instead of a declared key.
    pub(crate) fn has_row_id(&self) -> bool {
        self.record.primary_key.is_empty() || self.record.storage == Storage::Column
    }

    /// Whether a column can change without anything else than its row: it is in no key
    /// and no index, nothing refers to it or checks it, nothing is computed.
    pub(crate) fn is_plain(&self, column: usize) -> bool {
        self.is_free(column) && !self.indexes.iter().any(|index| index.info.columns_read().contains(&column))
    }

    /// Whether a row is all that a change of it touches: nothing is in an index, computed, or
    /// referred to.
    pub(crate) fn stands_alone(&self) -> bool {
        self.indexes.is_empty() && self.parents.is_empty() && self.children.is_empty() && !self.generates
    }

    /// As [`Table::is_plain`], but that the column may be in indexes over columns whose
    /// values may repeat.
    pub(crate) fn is_free(&self, column: usize) -> bool {
        let refers = self.parents.iter().any(|parent| parent.columns.contains(&column));
        let is_bound = |index: &Index| {
            (index.info.unique || index.info.special.is_some()) && index.info.columns_read().contains(&column)
        };
        !self.generates
            && self.record.checks.is_empty()
            && !self.record.primary_key.contains(&column)
            && !refers
            && !self.children.iter().any(|child| child.columns.contains(&column))
            && !self.indexes.iter().any(is_bound)
    }

    /// The primary key's values of a row.
    pub(crate) fn key_values(&self, row: &[Value]) -> Vec<Value> {
        self.record.primary_key.iter().map(|c| row[*c].clone()).collect()
    }

    /// The table as the planner sees it.
    pub(crate) fn info(&self, statistics: TableStatistics) -> TableInfo {
        TableInfo {
            id: self.record.id,
            name: self.record.name.clone(),
            columns: self.record.columns.clone(),
            primary_key: self.record.primary_key.clone(),
            storage: self.record.storage,
            // The key of a column table is kept as an index that the planner does not see
            // by name: it is the primary key.
            indexes: self.indexes.iter().map(|i| i.info.clone()).filter(|i| !i.name.is_empty()).collect(),
            checks: self.record.checks.clone(),
            foreign_keys: self.record.foreign_keys.clone(),
            statistics,
        }
    }
}

impl Schema {
    /// Reads the schema of one state of the database.
    pub(crate) fn load(read: &impl Read) -> Result<Self> {
        let mut schema = Self::default();
        if !read.tree_exists(SCHEMA_TREE) {
            return Ok(schema);
        }
        let mut cursor = read.cursor(SCHEMA_TREE, Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
        while let Some((key, value)) = cursor.next()? {
            match key.first() {
                Some(b'm') => schema.counters = decode(value)?,
                Some(b't') => {
                    let record: TableRecord = decode(value)?;
                    record.validate().map_err(Error::Corrupt)?;
                    schema.tables.insert(record.name.clone(), Arc::new(Table::new(record)));
                }
                Some(b'v') => {
                    let view: ViewInfo = decode(value)?;
                    schema.views.insert(view.name.clone(), view);
                }
                Some(b's') => {}
                _ => return Err(Error::Corrupt("unknown record in the schema".into())),
            }
        }
        schema.link().map_err(Error::Corrupt)?;
        Ok(schema)
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.get(name)
    }

    pub(crate) fn table_by_id(&self, id: TableId) -> Option<&Arc<Table>> {
        self.tables.values().find(|t| t.id() == id)
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values()
    }

    pub(crate) fn view(&self, name: &str) -> Option<&ViewInfo> {
        self.views.get(name)
    }

    pub(crate) fn views(&self) -> impl Iterator<Item = &ViewInfo> {
        self.views.values()
    }

    /// The table and index of an index name.
    pub(crate) fn index(&self, name: &str) -> Option<(&Arc<Table>, usize)> {
        self.tables.values().find_map(|t| Some((t, t.indexes.iter().position(|i| i.info.name == name)?)))
    }

    /// The next number for a table or an index.
    pub(crate) fn take_id(&mut self) -> u32 {
        self.counters.next_id += 1;
        self.counters.next_id
    }

    /// Adds or replaces a table here and in its record.
    pub(crate) fn put_table(&mut self, transaction: &mut Transaction, record: TableRecord) -> Result<Arc<Table>> {
        let name = record.name.clone();
        self.put_unlinked(transaction, record)?;
        self.link().map_err(SqlError::internal)?;
        self.table(&name).cloned().ok_or_else(|| SqlError::internal("a new table is missing").into())
    }

    /// As [`Schema::put_table`] for a table whose name changes.
    pub(crate) fn rename_table(&mut self, transaction: &mut Transaction, old: &str, record: TableRecord) -> Result<()> {
        self.tables.remove(old);
        self.put_table(transaction, record).map(drop)
    }

    /// As [`Schema::put_table`], before another table that its foreign keys need changes too.
    pub(crate) fn put_unlinked(&mut self, transaction: &mut Transaction, record: TableRecord) -> Result<()> {
        let mut key = vec![b't'];
        key.extend_from_slice(&record.id.0.to_be_bytes());
        self.put(transaction, &key, &record)?;
        let name = record.name.clone();
        self.tables.insert(name, Arc::new(Table::new(record)));
        Ok(())
    }

    /// Removes a table's record (its trees are the caller's).
    pub(crate) fn remove_table(&mut self, transaction: &mut Transaction, table: &Table) -> Result<()> {
        let mut key = vec![b't'];
        key.extend_from_slice(&table.record.id.0.to_be_bytes());
        self.remove(transaction, &key)?;
        self.tables.remove(&table.record.name);
        Ok(self.link().map_err(SqlError::internal)?)
    }

    pub(crate) fn put_view(&mut self, transaction: &mut Transaction, view: ViewInfo) -> Result<()> {
        self.put(transaction, &view_key(&view.name), &view)?;
        self.views.insert(view.name.clone(), view);
        Ok(())
    }

    pub(crate) fn remove_view(&mut self, transaction: &mut Transaction, name: &str) -> Result<()> {
        self.remove(transaction, &view_key(name))?;
        self.views.remove(name);
        Ok(())
    }

    fn put<T: Serialize>(&mut self, transaction: &mut Transaction, key: &[u8], record: &T) -> Result<()> {
        if !transaction.tree_exists(SCHEMA_TREE) {
            transaction.create_tree_with_id(SCHEMA_TREE)?;
        }
        transaction.put(SCHEMA_TREE, key, &encode(record)?)?;
        self.bump(transaction)
    }

    fn remove(&mut self, transaction: &mut Transaction, key: &[u8]) -> Result<()> {
        transaction.delete(SCHEMA_TREE, key)?;
        self.bump(transaction)
    }

    fn bump(&mut self, transaction: &mut Transaction) -> Result<()> {
        self.counters.version += 1;
        transaction.put(SCHEMA_TREE, b"m", &encode(&self.counters)?)?;
        Ok(())
    }

    /// What the planner plans against.
    pub(crate) fn catalog(&self, version: u64, mut statistics: impl FnMut(&Table) -> TableStatistics) -> Catalog {
        Catalog {
            version,
            tables: self.tables.values().map(|t| t.info(statistics(t))).collect(),
            views: self.views.values().cloned().collect(),
        }
    }
}

fn view_key(name: &str) -> Vec<u8> {
    let mut key = vec![b'v'];
    key.extend_from_slice(name.as_bytes());
    key
}

fn encode<T: Serialize>(record: &T) -> Result<Vec<u8>> {
    let mut bytes = vec![RECORD_VERSION];
    bytes.extend(gingham_plan::to_bytes(record)?);
    Ok(bytes)
}

fn decode<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> Result<T> {
    match bytes.split_first() {
        Some((&RECORD_VERSION, rest)) => {
            gingham_plan::from_bytes(rest).map_err(|_| Error::Corrupt("a schema record does not read".into()))
        }
        Some((&RECORD_VERSION_UNSORTED, rest)) => {
            // An empty list at the end, which other records do not read.
            let mut bytes = rest.to_vec();
            bytes.push(0);
            gingham_plan::from_bytes(&bytes).map_err(|_| Error::Corrupt("a schema record does not read".into()))
        }
        Some((version, _)) if *version > 0 => {
            let age = if *version < RECORD_VERSION { "an earlier" } else { "a later" };
            Err(SqlError::unsupported(format!("the schema of a file that {age} version of Gingham wrote")).into())
        }
        _ => Err(Error::Corrupt("a schema record has an unknown version".into())),
    }
}
