//! A table's record in the schema tree.

use gingham_plan::{CheckInfo, ColumnInfo, ForeignKeyInfo, Generated, IndexInfo, Storage, TableId};
use gingham_types::SqlType;
use serde::{Deserialize, Serialize};

/// Everything that is stored about a table but its contents and statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableRecord {
    pub(crate) id: TableId,
    pub(crate) name: String,
    pub(crate) columns: Vec<ColumnInfo>,
    /// Ordinals of the key's columns; empty without a primary key.
    pub(crate) primary_key: Vec<usize>,
    pub(crate) storage: Storage,
    pub(crate) indexes: Vec<IndexRecord>,
    pub(crate) checks: Vec<CheckInfo>,
    /// A parent is always in the schema too.
    pub(crate) foreign_keys: Vec<ForeignKeyInfo>,
    pub(crate) trees: Trees,
    /// What rows are sorted by in row groups, and which columns descend. The last field:
    /// records of version 2 end before it.
    pub(crate) sort_by: Vec<(usize, bool)>,
}

/// The numbers of a table's trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trees {
    /// Rows by key. For a column table the delta: rows not in a group yet, by row id.
    pub(crate) rows: u32,
    /// Row groups: by the least key they stand for (hybrid) or by first row id (column).
    pub(crate) groups: u32,
    /// Hybrid: the groups that no longer tell the truth, by the same key. Column: row
    /// ids of rows in groups that were deleted.
    pub(crate) marks: u32,
}

/// A secondary index. One without a name is the key of a column table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct IndexRecord {
    pub(crate) info: IndexInfo,
    pub(crate) tree: u32,
}

impl TableRecord {
    /// Checks what the rest of the engine takes for granted of a record.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let columns = self.columns.len();
        let indexed = self.indexes.iter().flat_map(|i| i.info.columns_read());
        let referring = self.foreign_keys.iter().flat_map(|key| key.columns.iter().copied());
        let computed = self.columns.iter().filter_map(|column| match &column.generated {
            Some(Generated::Stored(expr)) => Some(expr),
            _ => None,
        });
        let read = computed.chain(self.checks.iter().map(|c| &c.condition)).flat_map(|expr| expr.columns());
        let sorted = self.sort_by.iter().map(|(column, _)| *column);
        let mut named = self.primary_key.iter().copied().chain(indexed).chain(referring).chain(read).chain(sorted);
        if columns == 0 || named.any(|c| c >= columns) {
            return Err(format!("the record of table {} names columns it does not have", self.name));
        }
        let mut keys = self.indexes.iter().filter_map(|i| i.info.special.as_ref()).flat_map(|special| &special.keys);
        if keys.any(|(key, _)| matches!(key.expr.ty(), SqlType::Null | SqlType::Interval)) {
            return Err(format!("the record of table {} has an index on what has no key", self.name));
        }
        Ok(())
    }
}
