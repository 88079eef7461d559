//! Foreign keys from both ends: where a table finds the keys it refers to, and who
//! refers to its own. Derived from the records whenever the schema changes.

use super::{Schema, Table};
use gingham_plan::{Storage, TableId};
use gingham_row_store::TreeId;
use gingham_row_store::key::KeyLayout;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The key that a foreign key of a table refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parent {
    /// The referring columns by ordinal, in the key's order.
    pub(crate) columns: Vec<usize>,
    pub(crate) tree: TreeId,
    pub(crate) layout: KeyLayout,
    /// Whether an entry goes on after the key, as in an index.
    pub(crate) is_index: bool,
}

/// A foreign key that refers to a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Child {
    pub(crate) table: TableId,
    /// Its position in the child's `TableRecord::foreign_keys`.
    pub(crate) position: usize,
    /// The columns referred to by ordinal, in the foreign key's order.
    pub(crate) columns: Vec<usize>,
}

/// A tree that has rows or entries in the order of some columns.
pub(crate) struct Ordered<'t> {
    pub(crate) columns: Vec<usize>,
    pub(crate) tree: TreeId,
    pub(crate) layout: &'t KeyLayout,
    /// The index by position; `None` is the primary key's own tree.
    pub(crate) index: Option<usize>,
}

impl Table {
    /// The trees that begin with declared columns: the rows by key, and the indexes.
    pub(crate) fn ordered(&self) -> impl Iterator<Item = (Ordered<'_>, bool)> {
        let key = (!self.has_row_id()).then(|| Ordered {
            columns: self.record.primary_key.clone(),
            tree: self.rows_tree(),
            layout: &self.key_layout,
            index: None,
        });
        let indexes = self.indexes.iter().enumerate().map(|(position, index)| {
            let columns = index.info.columns.iter().map(|(column, _)| *column).collect();
            (Ordered { columns, tree: index.tree, layout: &index.layout, index: Some(position) }, index.info.unique)
        });
        key.map(|key| (key, true)).into_iter().chain(indexes)
    }

    /// A tree that begins with exactly these columns, in any order.
    pub(crate) fn ordered_by(&self, columns: &[usize]) -> Option<Ordered<'_>> {
        self.ordered().map(|(tree, _)| tree).find(|tree| {
            tree.columns.get(..columns.len()).is_some_and(|first| columns.iter().all(|c| first.contains(c)))
        })
    }

    /// The unique key of exactly these columns, other than the index at `except`.
    pub(crate) fn key_of(&self, columns: &[usize], except: Option<usize>) -> Option<Ordered<'_>> {
        let same = |key: &[usize]| key.len() == columns.len() && columns.iter().all(|c| key.contains(c));
        self.ordered()
            .find(|(tree, unique)| *unique && same(&tree.columns) && (tree.index.is_none() || tree.index != except))
            .map(|(tree, _)| tree)
    }

    /// Why the index at `position` has to stay: a foreign key needs it.
    pub(crate) fn index_is_needed(&self, position: usize) -> bool {
        let is_parent_key = self.children.iter().any(|child| self.key_of(&child.columns, Some(position)).is_none());
        let finds_children = self.record.storage == Storage::Column
            && self
                .record
                .foreign_keys
                .iter()
                .any(|key| self.ordered_by(&key.columns).is_some_and(|tree| tree.index == Some(position)));
        is_parent_key || finds_children
    }
}

impl Schema {
    /// Brings `parents` and `children` of every table up to date.
    ///
    /// # Errors
    /// A foreign key that refers to nothing.
    pub(super) fn link(&mut self) -> Result<(), String> {
        let mut children: BTreeMap<TableId, Vec<Child>> = BTreeMap::new();
        for table in self.tables.values() {
            for (position, key) in table.record.foreign_keys.iter().enumerate() {
                let columns = key.parent_columns.clone();
                children.entry(key.parent).or_default().push(Child { table: table.id(), position, columns });
            }
        }
        let mut changed = Vec::new();
        for table in self.tables.values() {
            let parents = table
                .record
                .foreign_keys
                .iter()
                .map(|key| {
                    self.parent(table, key)
                        .ok_or_else(|| format!("foreign key {} of table {} has no key", key.name, table.record.name))
                })
                .collect::<Result<Vec<Parent>, String>>()?;
            let children = children.remove(&table.id()).unwrap_or_default();
            if parents != table.parents || children != table.children {
                changed.push(Table { parents, children, ..Table::new(table.record.clone()) });
            }
        }
        for table in changed {
            self.tables.insert(table.record.name.clone(), Arc::new(table));
        }
        Ok(())
    }

    fn parent(&self, table: &Table, key: &gingham_plan::ForeignKeyInfo) -> Option<Parent> {
        let parent = if key.parent == table.id() { table } else { self.table_by_id(key.parent)? };
        let found = parent.key_of(&key.parent_columns, None)?;
        let own = |column: &usize| {
            let at = key.parent_columns.iter().position(|c| c == column)?;
            key.columns.get(at).copied()
        };
        Some(Parent {
            columns: found.columns.iter().map(own).collect::<Option<Vec<usize>>>()?,
            tree: found.tree,
            layout: found.layout.clone(),
            is_index: found.index.is_some(),
        })
    }
}
