//! The physical plan as plain data, and what the planner is told to make one.
//!
//! The planner (D-15) is a function from SQL text, a [`Catalog`] snapshot and a
//! [`Route`] preference to a [`Statement`]; the engine executes statements and never
//! sees SQL structure. Everything here is plain, serializable data with no behaviour
//! but printing ([`explain`]), so that the two can live in different wasm modules and
//! a plan can be stored, compared and read.

mod aggregate;
mod catalog;
mod constraint;
mod depth;
mod error;
pub mod explain;
mod expr;
mod node;
mod recursive;
mod statement;
mod window;

pub use aggregate::{AggregateCall, AggregateFunction};
pub use catalog::{
    Catalog, ColumnInfo, ColumnStatistics, IndexId, IndexInfo, SpecialIndex, Storage, TableId, TableInfo,
    TableStatistics, ViewInfo,
};
pub use constraint::{CheckInfo, ForeignAction, ForeignKeyInfo, Generated, StoredExpr};
pub use depth::EXPR_DEPTH_MAX;
pub use error::SqlError;
pub use expr::{BinaryOp, DateField, Expr, Function};
pub use node::{
    Apply, ApplyKind, BuildSide, CteId, DynamicFilter, FilterId, Join, JoinKind, KeyBound, Node, Route, RowAccess,
    Scan, SlotId, SortKey,
};
pub use recursive::{Recursive, WorkId};
pub use statement::{
    AlterTable, Alteration, ColumnDefinition, Conflict, CopyFrom, CreateIndex, CreateTable, Delete, Insert,
    OutputColumn, Query, RouteSetting, Statement, Update,
};
pub use window::{Frame, FrameBound, FrameExclusion, FrameUnits, Window, WindowCall, WindowFunction};

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the planner is asked.
#[derive(Clone, Debug)]
pub struct PlanRequest<'a> {
    /// One statement, without its terminating semicolon.
    pub sql: &'a str,
    /// The schema and statistics to plan against.
    pub catalog: &'a Arc<Catalog>,
    /// Which store to read from where both can answer.
    pub route: RouteSetting,
}

/// Turns one SQL statement into a plan. Implemented by the planner crate, and in the
/// browser by a bridge to the planner's own module.
pub trait Planner: Send {
    /// Plans `request.sql`.
    ///
    /// # Errors
    /// What is wrong with the statement, with line and column counted from the start
    /// of `request.sql` (both from 1).
    fn plan(&mut self, request: &PlanRequest<'_>) -> Result<Statement, SqlError>;
}

/// A plan, a catalog or an error as bytes, for the border between two wasm modules.
/// The encoding is postcard; both sides are built from the same version of this crate.
///
/// # Errors
/// If a value does not serialize, which plain data always does.
pub fn to_bytes<T: Serialize>(value: &T) -> Result<Vec<u8>, SqlError> {
    postcard::to_stdvec(value).map_err(|e| SqlError::internal(format!("plan does not serialize: {e}")))
}

/// Reads what [`to_bytes`] wrote.
///
/// # Errors
/// If the bytes are not such a value.
pub fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, SqlError> {
    postcard::from_bytes(bytes).map_err(|e| SqlError::internal(format!("plan bytes do not read: {e}")))
}
