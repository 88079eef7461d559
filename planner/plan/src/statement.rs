//! Planned statements.

use crate::{CheckInfo, ColumnInfo, Expr, ForeignKeyInfo, Generated, Node, SpecialIndex, Storage, StoredExpr, TableId};
use gingham_types::{SqlType, Value};
use serde::{Deserialize, Serialize};

/// `SET route = …` (D-13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RouteSetting {
    /// The cheaper for each table reference.
    #[default]
    Auto,
    /// The B+tree wherever the table has one.
    Row,
    /// Row groups wherever the table has them.
    Column,
}

/// COPY table FROM a CSV file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyFrom {
    /// Folded name.
    pub table: String,
    /// The columns of the fields, where they are named.
    pub columns: Option<Vec<String>>,
    /// The file.
    pub path: String,
    /// Whether the first record names the columns.
    pub header: bool,
    /// The byte between fields.
    pub delimiter: u8,
    /// What a field without quotes has for NULL.
    pub null: String,
}

/// One planned statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Statement {
    /// SELECT, VALUES, SHOW, DESCRIBE.
    Query(Query),
    /// INSERT.
    Insert(Insert),
    /// UPDATE.
    Update(Update),
    /// DELETE.
    Delete(Delete),
    /// CREATE TABLE (also AS, with the query that fills it).
    CreateTable(CreateTable),
    /// ALTER TABLE; `None` if there is nothing to alter (IF EXISTS).
    AlterTable(Option<AlterTable>),
    /// DROP TABLE.
    DropTable {
        /// Folded names.
        names: Vec<String>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// CREATE INDEX.
    CreateIndex(CreateIndex),
    /// DROP INDEX.
    DropIndex {
        /// Folded name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// CREATE VIEW.
    CreateView {
        /// Folded name.
        name: String,
        /// Column names, or none.
        columns: Vec<String>,
        /// The query's text.
        sql: String,
        /// OR REPLACE.
        replace: bool,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// DROP VIEW.
    DropView {
        /// Folded names.
        names: Vec<String>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// BEGIN.
    Begin {
        /// READ ONLY.
        read_only: bool,
    },
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// SAVEPOINT name.
    Savepoint(String),
    /// RELEASE [SAVEPOINT] name.
    Release(String),
    /// ROLLBACK TO [SAVEPOINT] name.
    RollbackTo(String),
    /// SET name = value, PRAGMA name = value.
    Set {
        /// Folded name.
        name: String,
        /// The value as written.
        value: Value,
    },
    /// SHOW name, PRAGMA name: one row of settings or a report.
    Show {
        /// Folded name.
        name: String,
    },
    /// CHECKPOINT.
    Checkpoint,
    /// COPY table FROM 'file'.
    CopyFrom(CopyFrom),
    /// VACUUM.
    Vacuum,
    /// CLUSTER: the row groups of one table, or of all that have an order, in order.
    Cluster(Option<TableId>),
    /// EXPLAIN [ANALYZE] statement.
    Explain {
        /// ANALYZE: run it and report rows and time.
        analyze: bool,
        /// What to explain.
        statement: Box<Statement>,
    },
}

/// A result column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputColumn {
    /// Name as shown.
    pub name: String,
    /// Type.
    pub ty: SqlType,
}

/// A query: an operator tree and the parts it refers to by number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// The operators.
    pub root: Node,
    /// The result columns: the root's output, named.
    pub columns: Vec<OutputColumn>,
    /// Uncorrelated scalar subqueries, each run at most once, before its first use. A
    /// subquery may use those before it in the list.
    pub subqueries: Vec<Node>,
    /// Common table expressions, each computed at most once. May use those before it.
    pub ctes: Vec<Node>,
    /// Types of the statement's parameters, in order.
    pub parameters: Vec<SqlType>,
    /// How many dynamic filters the tree names.
    pub filter_count: u32,
    /// How many slots the tree names.
    pub slot_count: u32,
}

/// What INSERT does with a row whose primary or unique key exists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Conflict {
    /// Error 23505.
    Abort,
    /// Skip the row (ON CONFLICT DO NOTHING, INSERT OR IGNORE).
    Ignore,
    /// Delete the old row (INSERT OR REPLACE).
    Replace,
    /// ON CONFLICT (…) DO UPDATE.
    Update {
        /// Ordinals of the conflict target's columns; empty is any key.
        target: Vec<usize>,
        /// Ordinal and new value, over the old row's columns followed by the new row's (EXCLUDED).
        assignments: Vec<(usize, Expr)>,
        /// WHERE, over the same columns.
        condition: Option<Expr>,
    },
}

/// INSERT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Insert {
    /// Into which table.
    pub table: TableId,
    /// Rows with every column of the table in declared order, cast to its type,
    /// defaults filled in.
    pub source: Query,
    /// On an existing key.
    pub conflict: Conflict,
    /// RETURNING, over the new row's columns.
    pub returning: Vec<(OutputColumn, Expr)>,
}

/// UPDATE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// Which table.
    pub table: TableId,
    /// For each row to change: its new columns in declared order, cast, then its locator.
    pub source: Query,
    /// RETURNING, over the new row's columns.
    pub returning: Vec<(OutputColumn, Expr)>,
}

/// DELETE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delete {
    /// Which table.
    pub table: TableId,
    /// For each row to delete: its columns in declared order (only those that RETURNING
    /// or keys need are meaningful), then its locator.
    pub source: Query,
    /// RETURNING, over the old row's columns.
    pub returning: Vec<(OutputColumn, Expr)>,
}

/// A column in CREATE TABLE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnDefinition {
    /// Folded name.
    pub name: String,
    /// Type.
    pub ty: SqlType,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// DEFAULT, cast to the column's type.
    pub default: Option<StoredExpr>,
    /// Whether and how the database makes its values.
    pub generated: Option<Generated>,
}

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreateTable {
    /// Folded name.
    pub name: String,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Columns.
    pub columns: Vec<ColumnDefinition>,
    /// Ordinals of the primary key's columns; empty without one.
    pub primary_key: Vec<usize>,
    /// UNIQUE constraints: ordinals.
    pub unique: Vec<Vec<usize>>,
    /// CHECK constraints.
    pub checks: Vec<CheckInfo>,
    /// FOREIGN KEYs; the parent [`TableId::NEW`] is the table itself.
    pub foreign_keys: Vec<ForeignKeyInfo>,
    /// WITH (storage = '…').
    pub storage: Storage,
    /// WITH (sort_by = '…'): ordinals, and whether descending. Of column tables only.
    pub sort_by: Vec<(usize, bool)>,
    /// AS SELECT.
    pub source: Option<Query>,
}

/// ALTER TABLE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlterTable {
    /// Which table.
    pub table: TableId,
    /// What changes.
    pub change: Alteration,
}

/// One change of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Alteration {
    /// RENAME TO a folded name.
    Rename(String),
    /// RENAME COLUMN: what the table has, with other names and texts.
    Describe {
        /// Every column.
        columns: Vec<ColumnInfo>,
        /// Every CHECK.
        checks: Vec<CheckInfo>,
        /// What each index has instead of columns.
        special: Vec<Option<SpecialIndex>>,
    },
    /// ADD COLUMN, at the end.
    AddColumn {
        /// The column; rows that are there get its DEFAULT.
        column: ColumnInfo,
        /// Its CHECKs.
        checks: Vec<CheckInfo>,
    },
    /// DROP COLUMN, by ordinal. Nothing in the table or referring to it needs the column.
    DropColumn(usize),
}

/// CREATE INDEX.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreateIndex {
    /// Folded name.
    pub name: String,
    /// On which table.
    pub table: TableId,
    /// Ordinals, and whether descending; none if the index is special.
    pub columns: Vec<(usize, bool)>,
    /// Expressions and WHERE.
    pub special: Option<SpecialIndex>,
    /// UNIQUE.
    pub unique: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
}
