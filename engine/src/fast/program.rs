//! Small shapes bound to a table: names looked up, the key condition recognized.

use super::aggregate::Aggregate;
use super::definition::NewIndex;
use super::parser::{Assignment, Call, Columns, Comparison, Condition, Function, Operand, Select, Shape};
use super::path::{self, Path, Wanted};
use crate::error::Result;
use crate::schema::{Schema, Table};
use crate::values::compare_parameter;
use gingham_plan::{CreateIndex, CreateTable, OutputColumn, RouteSetting, Statement, Storage};
use gingham_types::{SqlType, Value, cast, compare_values};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

/// A statement that runs straight on the row store.
#[derive(Debug)]
pub(crate) enum Program {
    /// One row by its whole key.
    Get {
        table: Arc<Table>,
        key: Vec<Argument>,
        columns: Vec<usize>,
        limit: Option<Argument>,
    },
    /// Rows along a key.
    Scan {
        table: Arc<Table>,
        path: Path,
        columns: Vec<usize>,
        limit: Option<Argument>,
    },
    /// `count(*)` of the rows along a key.
    Count {
        table: Arc<Table>,
        path: Path,
    },
    /// `min` or `max` of a column: that of the first row along a key, or NULL.
    Extreme {
        table: Arc<Table>,
        path: Path,
        column: usize,
        name: &'static str,
    },
    /// Functions of the rows along a key.
    Aggregate {
        table: Arc<Table>,
        path: Path,
        aggregates: Vec<Aggregate>,
    },
    /// Rows to add, a value for each column.
    Insert {
        table: Arc<Table>,
        rows: Vec<Vec<Argument>>,
    },
    /// One row to change.
    Update {
        table: Arc<Table>,
        key: Vec<Argument>,
        assignments: Vec<(usize, NewValue)>,
        /// Nothing but the row depends on the columns assigned to.
        is_plain: bool,
    },
    /// The rows along a key to change.
    UpdateAll {
        table: Arc<Table>,
        path: Path,
        assignments: Vec<(usize, NewValue)>,
    },
    /// One row to remove.
    Delete {
        table: Arc<Table>,
        key: Vec<Argument>,
    },
    /// The rows along a key to remove.
    DeleteAll {
        table: Arc<Table>,
        path: Path,
    },
    /// CREATE and DROP, as the planner would have them.
    Define(Statement),
    Begin,
    Commit,
    Rollback,
}

/// A value known now or at execution, and the type it must have.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    Constant(Value),
    Parameter { position: usize, ty: SqlType },
}

impl Argument {
    /// The value, to compare with a column.
    pub(super) fn compared<'a>(&'a self, parameters: &'a [Value]) -> Result<Cow<'a, Value>> {
        match self {
            Self::Constant(value) => Ok(Cow::Borrowed(value)),
            Self::Parameter { position, ty } => compare_parameter(parameters, *position, *ty),
        }
    }
}

#[derive(Debug)]
pub(crate) enum NewValue {
    Argument(Argument),
    /// The value of an INTEGER or BIGINT column plus or minus a number.
    Add {
        column: usize,
        minus: bool,
        argument: Argument,
    },
}

impl Program {
    /// The columns of the result; empty for statements without one.
    pub(crate) fn output(&self) -> Vec<OutputColumn> {
        match self {
            Self::Get { table, columns, .. } | Self::Scan { table, columns, .. } => columns
                .iter()
                .map(|c| &table.record.columns[*c])
                .map(|c| OutputColumn { name: c.name.clone(), ty: c.ty })
                .collect(),
            Self::Count { .. } => vec![OutputColumn { name: "count(*)".into(), ty: SqlType::BigInt }],
            Self::Extreme { table, column, name, .. } => {
                let column = &table.record.columns[*column];
                vec![OutputColumn { name: format!("{name}({})", column.name), ty: column.ty }]
            }
            Self::Aggregate { table, aggregates, .. } => {
                aggregates.iter().map(|aggregate| aggregate.output(table)).collect()
            }
            _ => Vec::new(),
        }
    }
}

pub(super) fn bind(shape: Shape, schema: &Schema, route: RouteSetting) -> Option<Program> {
    match shape {
        Shape::Select(select) => bind_select(select, schema, route),
        Shape::Insert { table, columns, rows } => {
            let table = row_table(schema, &table)?;
            bind_insert(table, &columns, rows)
        }
        Shape::Update { table, assignments, conditions } => {
            let table = row_table(schema, &table)?;
            let assignments = assignments
                .into_iter()
                .map(|(name, assignment)| {
                    let column = table.record.columns.iter().position(|c| c.name == name)?;
                    Some((column, bind_assignment(&table, column, assignment)?))
                })
                .collect::<Option<Vec<_>>>()?;
            let mut seen: Vec<usize> = assignments.iter().map(|(c, _)| *c).collect();
            seen.sort_unstable();
            seen.dedup();
            if seen.len() < assignments.len() {
                return None;
            }
            if let Some(key) = bind_key(&table, &conditions) {
                let is_plain = seen.iter().all(|column| table.is_plain(*column));
                return Some(Program::Update { table, key, assignments, is_plain });
            }
            let path = path::find(&table, &conditions, Wanted::default())?;
            Some(Program::UpdateAll { table, path, assignments })
        }
        Shape::Delete { table, conditions } => {
            let table = row_table(schema, &table)?;
            if let Some(key) = bind_key(&table, &conditions) {
                return Some(Program::Delete { table, key });
            }
            let path = path::find(&table, &conditions, Wanted::default())?;
            Some(Program::DeleteAll { table, path })
        }
        Shape::CreateTable(table) => bind_table(table, schema),
        Shape::CreateIndex(index) => bind_index(index, schema),
        Shape::Drop(statement) => Some(Program::Define(statement)),
        Shape::Begin => Some(Program::Begin),
        Shape::Commit => Some(Program::Commit),
        Shape::Rollback => Some(Program::Rollback),
    }
}

/// The table, if its rows are in a B+tree.
fn row_table(schema: &Schema, name: &str) -> Option<Arc<Table>> {
    schema.table(name).filter(|t| t.record.storage != Storage::Column).cloned()
}

#[inline(never)]
fn bind_select(select: Select, schema: &Schema, route: RouteSetting) -> Option<Program> {
    let table = row_table(schema, &select.table)?;
    // Forced onto row groups, only the planner knows the way.
    if route == RouteSetting::Column && table.record.storage == Storage::Hybrid {
        return None;
    }
    let column_of = |name: &String| table.record.columns.iter().position(|c| c.name == *name);
    let is_bare = select.order.is_none() && select.limit.is_none();
    let columns = match &select.columns {
        Columns::Calls(calls) => return if is_bare { bind_calls(table, calls, &select.conditions) } else { None },
        Columns::All => (0..table.record.columns.len()).collect(),
        Columns::Named(names) => names.iter().map(column_of).collect::<Option<Vec<usize>>>()?,
    };
    let limit = match select.limit {
        None => None,
        Some(operand) => Some(argument(operand, SqlType::BigInt)?),
    };
    let order = match &select.order {
        None => None,
        Some((name, descending)) => Some((column_of(name)?, *descending)),
    };
    if let (None, Some(key)) = (order, bind_key(&table, &select.conditions)) {
        return Some(Program::Get { table, key, columns, limit });
    }
    if select.conditions.is_empty() && order.is_none() {
        return Some(Program::Scan { table, path: Path::everything(), columns, limit });
    }
    // Without a limit, sorting all rows is cheaper than fetching each by an index.
    let wanted = Wanted { order, not_null: false, whole_index: limit.is_some() };
    let path = path::find(&table, &select.conditions, wanted)?;
    Some(Program::Scan { table, path, columns, limit })
}

#[inline(never)]
fn bind_calls(table: Arc<Table>, calls: &[Call], conditions: &[Condition]) -> Option<Program> {
    if let [Call { function, column }] = calls {
        let Some(name) = column else {
            let path = path::find(&table, conditions, Wanted { whole_index: true, ..Wanted::default() });
            let path = if conditions.is_empty() { Some(Path::everything()) } else { path };
            return path.map(|path| Program::Count { table, path });
        };
        let column = table.record.columns.iter().position(|c| c.name == *name)?;
        // A DOUBLE's key does not tell -0 from 0.
        if matches!(function, Function::Min | Function::Max) && table.record.columns[column].ty != SqlType::Double {
            let wanted =
                Wanted { order: Some((column, *function == Function::Max)), not_null: true, whole_index: true };
            if let Some(path) = path::find(&table, conditions, wanted) {
                return Some(Program::Extreme { table, path, column, name: function.name() });
            }
        }
    }
    // All rows are for the column store.
    if conditions.is_empty() {
        return None;
    }
    let aggregates = calls.iter().map(|call| Aggregate::bind(call, &table)).collect::<Option<Vec<_>>>()?;
    let repeats = (1..aggregates.len()).any(|at| aggregates[..at].contains(&aggregates[at]));
    let path = path::find(&table, conditions, Wanted::default()).filter(|_| !repeats)?;
    Some(Program::Aggregate { table, path, aggregates })
}

/// A new table, if its name is free or may be taken: the planner words the refusal.
#[inline(never)]
fn bind_table(table: CreateTable, schema: &Schema) -> Option<Program> {
    let is_free = schema.table(&table.name).is_none() && schema.view(&table.name).is_none();
    (is_free || table.if_not_exists).then_some(Program::Define(Statement::CreateTable(table)))
}

/// An index over columns, if its name is free or may be taken.
#[inline(never)]
fn bind_index(index: NewIndex, schema: &Schema) -> Option<Program> {
    let NewIndex { name, table, columns, unique, if_not_exists } = index;
    let table = schema.table(&table).filter(|_| if_not_exists || schema.index(&name).is_none())?;
    let column = |(name, descending): (String, bool)| {
        Some((table.record.columns.iter().position(|c| c.name == name)?, descending))
    };
    let columns = columns.into_iter().map(column).collect::<Option<Vec<_>>>()?;
    let index = CreateIndex { name, table: table.id(), columns, special: None, unique, if_not_exists };
    Some(Program::Define(Statement::CreateIndex(index)))
}

/// The key's values, if the conditions are one equality for each of its columns.
fn bind_key(table: &Table, conditions: &[Condition]) -> Option<Vec<Argument>> {
    let key = &table.record.primary_key;
    if key.is_empty() || conditions.len() != key.len() {
        return None;
    }
    key.iter()
        .map(|column| {
            let definition = &table.record.columns[*column];
            let condition = conditions.iter().find(|c| c.column == definition.name)?;
            if condition.comparison != Comparison::Equal {
                return None;
            }
            argument(condition.operands.first()?.clone(), definition.ty)
        })
        .collect()
}

#[inline(never)]
fn bind_insert(table: Arc<Table>, names: &[String], rows: Vec<Vec<Operand>>) -> Option<Program> {
    let columns = &table.record.columns;
    let mut sources: Vec<Option<usize>> = vec![None; columns.len()];
    if names.is_empty() {
        sources = (0..columns.len()).map(Some).collect();
    }
    for (position, name) in names.iter().enumerate() {
        let ordinal = columns.iter().position(|c| c.name == *name)?;
        if sources[ordinal].replace(position).is_some() {
            return None;
        }
    }
    let width = if names.is_empty() { columns.len() } else { names.len() };
    let rows = rows
        .into_iter()
        .map(|row| {
            if row.len() != width {
                return None;
            }
            sources
                .iter()
                .zip(columns)
                .map(|(source, column)| match source {
                    Some(_) if is_made(column) => None,
                    Some(position) => assigned(row[*position].clone(), column.ty),
                    None if column.default.is_none() => Some(Argument::Constant(Value::Null)),
                    None => match column.default.as_ref().map(|default| &default.expr) {
                        Some(gingham_plan::Expr::Literal { value, .. }) => Some(Argument::Constant(value.clone())),
                        _ => None,
                    },
                })
                .collect::<Option<Vec<_>>>()
        })
        .collect::<Option<Vec<_>>>()?;
    Some(Program::Insert { table, rows })
}

/// Whether only the database makes the column's values: the planner words the refusal.
fn is_made(column: &gingham_plan::ColumnInfo) -> bool {
    column.generated.as_ref().is_some_and(gingham_plan::Generated::is_always)
}

fn bind_assignment(table: &Table, column: usize, assignment: Assignment) -> Option<NewValue> {
    let definition = &table.record.columns[column];
    if is_made(definition) {
        return None;
    }
    let ty = definition.ty;
    match assignment {
        Assignment::Value(operand) => Some(NewValue::Argument(assigned(operand, ty)?)),
        Assignment::Add(other, minus, operand) => {
            let other = table.record.columns.iter().position(|c| c.name == other)?;
            let other_type = table.record.columns[other].ty;
            if !ty.is_integer() || other_type != ty {
                return None;
            }
            Some(NewValue::Add { column: other, minus, argument: argument(operand, ty)? })
        }
    }
}

/// An operand to compare with a column: constants must be of its type exactly.
pub(super) fn argument(operand: Operand, ty: SqlType) -> Option<Argument> {
    match operand {
        Operand::Parameter(position) => Some(Argument::Parameter { position, ty }),
        Operand::Literal(value) => {
            let exact = cast(&value, ty).ok()?;
            let same = matches!(value, Value::Text(_)) || compare_values(&value, &exact) == Ordering::Equal;
            same.then_some(Argument::Constant(exact))
        }
    }
}

/// An operand to store in a column: constants are converted as INSERT does.
fn assigned(operand: Operand, ty: SqlType) -> Option<Argument> {
    match operand {
        Operand::Parameter(position) => Some(Argument::Parameter { position, ty }),
        Operand::Literal(value) => Some(Argument::Constant(cast(&value, ty).ok()?)),
    }
}
