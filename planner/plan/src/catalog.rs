//! What the planner knows of the database: schema and statistics at one moment.

use crate::{CheckInfo, ForeignKeyInfo, Generated, StoredExpr};
use gingham_types::{SqlType, Value};
use serde::{Deserialize, Serialize};

/// A table's number; never reused in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TableId(pub u32);

impl TableId {
    /// In a plan, the table that the statement creates. No table has this number.
    pub const NEW: Self = Self(0);
}

/// An index's number; never reused in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IndexId(pub u32);

/// How a table is stored (D-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    /// B+tree with a columnar copy that follows it.
    Hybrid,
    /// B+tree only.
    Row,
    /// Row groups only, with a small row-wise delta.
    Column,
}

impl Storage {
    /// The word in `WITH (storage = '…')`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Row => "row",
            Self::Column => "column",
        }
    }
}

/// Schema and statistics. `version` changes with every change of either that should
/// make a cached plan stale.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// Grows with every change.
    pub version: u64,
    /// Tables, in no particular order.
    pub tables: Vec<TableInfo>,
    /// Views, in no particular order.
    pub views: Vec<ViewInfo>,
}

/// A view: a name for a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewInfo {
    /// Name as written at creation; compared as identifiers are.
    pub name: String,
    /// Column names given at creation, or none.
    pub columns: Vec<String>,
    /// The query's text.
    pub sql: String,
}

/// One table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableInfo {
    /// Its number.
    pub id: TableId,
    /// Folded name.
    pub name: String,
    /// Columns in declared order.
    pub columns: Vec<ColumnInfo>,
    /// Ordinals of the primary key's columns in key order; empty without one.
    pub primary_key: Vec<usize>,
    /// How it is stored.
    pub storage: Storage,
    /// Secondary indexes; UNIQUE constraints are unique indexes.
    pub indexes: Vec<IndexInfo>,
    /// CHECK constraints.
    pub checks: Vec<CheckInfo>,
    /// FOREIGN KEYs of this table.
    pub foreign_keys: Vec<ForeignKeyInfo>,
    /// What is known of its contents.
    pub statistics: TableStatistics,
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnInfo {
    /// Folded name.
    pub name: String,
    /// Declared type.
    pub ty: SqlType,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// DEFAULT expression (no column references); `None` is NULL.
    pub default: Option<StoredExpr>,
    /// Whether and how the database makes its values.
    pub generated: Option<Generated>,
}

/// One secondary index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexInfo {
    /// Its number.
    pub id: IndexId,
    /// Folded name.
    pub name: String,
    /// Column ordinals and whether each is descending; none if the index is special.
    pub columns: Vec<(usize, bool)>,
    /// Whether equal keys (without NULL) are refused.
    pub unique: bool,
    /// What an index has instead of columns of every row.
    pub special: Option<SpecialIndex>,
}

/// An index on expressions, or of some rows only. Whoever looks for an index over certain
/// columns never finds one of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpecialIndex {
    /// What the entries are ordered by, and whether each descends; also plain columns.
    pub keys: Vec<(StoredExpr, bool)>,
    /// Only rows for which this is true have an entry.
    pub predicate: Option<StoredExpr>,
}

impl SpecialIndex {
    /// Every expression, to change in place.
    pub fn stored_mut(&mut self) -> impl Iterator<Item = &mut StoredExpr> {
        self.keys.iter_mut().map(|(key, _)| key).chain(&mut self.predicate)
    }
}

impl IndexInfo {
    /// The columns that the index keeps unique in all rows, if there are such.
    pub fn unique_columns(&self) -> Option<Vec<usize>> {
        let is_plain = self.unique && self.special.is_none();
        is_plain.then(|| self.columns.iter().map(|(column, _)| *column).collect())
    }

    /// The ordinals of every column that a row's entry depends on.
    pub fn columns_read(&self) -> Vec<usize> {
        let mut ordinals: Vec<usize> = self.columns.iter().map(|(column, _)| *column).collect();
        if let Some(special) = &self.special {
            let stored = special.keys.iter().map(|(key, _)| key).chain(&special.predicate);
            ordinals.extend(stored.flat_map(StoredExpr::columns));
            ordinals.sort_unstable();
            ordinals.dedup();
        }
        ordinals
    }

    /// The columns whose values an entry has, in the entry's order; `None` stands for an
    /// expression.
    pub fn entry_columns(&self) -> Vec<Option<usize>> {
        match &self.special {
            None => self.columns.iter().map(|(column, _)| Some(*column)).collect(),
            Some(special) => special.keys.iter().map(|(key, _)| key.column()).collect(),
        }
    }
}

/// What is known of a table's contents. Counts are exact where the store keeps them
/// and estimates otherwise; bounds are never too narrow for the snapshot they were
/// made from, but data may have moved since: they decide cost, never results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableStatistics {
    /// Rows.
    pub rows: u64,
    /// Row groups that the column store can read.
    pub row_groups: u32,
    /// Rows that a columnar scan has to read from the B+tree instead of a row group.
    pub rows_uncopied: u64,
    /// One for each column, or empty when nothing is known.
    pub columns: Vec<ColumnStatistics>,
}

/// What is known of a column's contents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnStatistics {
    /// Least non-NULL value.
    pub min: Option<Value>,
    /// Greatest non-NULL value.
    pub max: Option<Value>,
    /// NULLs.
    pub nulls: u64,
    /// Estimated distinct non-NULL values; 0 is unknown.
    pub distinct: u64,
    /// Mean bytes of a value as the column store keeps it.
    pub bytes_mean: f32,
}

impl Catalog {
    /// The table of a folded name.
    pub fn table(&self, name: &str) -> Option<&TableInfo> {
        self.tables.iter().find(|t| t.name == name)
    }

    /// The table of a number.
    pub fn table_by_id(&self, id: TableId) -> Option<&TableInfo> {
        self.tables.iter().find(|t| t.id == id)
    }

    /// The view of a folded name.
    pub fn view(&self, name: &str) -> Option<&ViewInfo> {
        self.views.iter().find(|v| v.name == name)
    }
}

impl TableInfo {
    /// Whether exactly these columns are the primary key or a unique one, in any order.
    pub fn has_key(&self, columns: &[usize]) -> bool {
        let same = |key: &[usize]| {
            key.len() == columns.len() && !columns.is_empty() && key.iter().all(|c| columns.contains(c))
        };
        let indexed = |index: &IndexInfo| same(&index.columns.iter().map(|(c, _)| *c).collect::<Vec<_>>());
        same(&self.primary_key) || self.indexes.iter().any(|index| index.unique && indexed(index))
    }

    /// The ordinal of a folded column name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// The index of a number.
    pub fn index_by_id(&self, id: IndexId) -> Option<&IndexInfo> {
        self.indexes.iter().find(|i| i.id == id)
    }

    /// Whether an entry of `index` has the values of all of these columns, so that the
    /// row need not be read. A DOUBLE's key does not tell -0 from 0.
    pub fn index_has(&self, index: &IndexInfo, mut columns: impl Iterator<Item = usize>) -> bool {
        // A column table's entries lead to row ids, not to keys.
        let key: &[usize] = if self.storage == Storage::Column { &[] } else { &self.primary_key };
        let entry = index.entry_columns();
        columns.all(|c| {
            let has = key.contains(&c) || entry.contains(&Some(c));
            has && self.columns.get(c).is_some_and(|column| column.ty != SqlType::Double)
        })
    }
}
