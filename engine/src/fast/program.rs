//! Small shapes bound to a table: names looked up, the key condition recognized.

use super::parser::{Assignment, Columns, Comparison, Condition, Operand, Select, Shape};
use crate::schema::{Schema, Table};
use gingham_plan::{OutputColumn, RouteSetting, Storage};
use gingham_types::{SqlType, Value, cast, compare_values};
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
    /// Rows in key order.
    Range {
        table: Arc<Table>,
        lower: Option<(Argument, bool)>,
        upper: Option<(Argument, bool)>,
        reverse: bool,
        columns: Vec<usize>,
        limit: Option<Argument>,
    },
    /// `count(*)`.
    Count {
        table: Arc<Table>,
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
    },
    /// One row to remove.
    Delete {
        table: Arc<Table>,
        key: Vec<Argument>,
    },
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
            Self::Get { table, columns, .. } | Self::Range { table, columns, .. } => columns
                .iter()
                .map(|c| &table.record.columns[*c])
                .map(|c| OutputColumn { name: c.name.clone(), ty: c.ty })
                .collect(),
            Self::Count { .. } => vec![OutputColumn { name: "count(*)".into(), ty: SqlType::BigInt }],
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
            let key = bind_key(&table, &conditions)?;
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
            (seen.len() == assignments.len()).then_some(Program::Update { table, key, assignments })
        }
        Shape::Delete { table, conditions } => {
            let table = row_table(schema, &table)?;
            let key = bind_key(&table, &conditions)?;
            Some(Program::Delete { table, key })
        }
        Shape::Begin => Some(Program::Begin),
        Shape::Commit => Some(Program::Commit),
        Shape::Rollback => Some(Program::Rollback),
    }
}

/// The table, if its rows are in a B+tree.
fn row_table(schema: &Schema, name: &str) -> Option<Arc<Table>> {
    schema.table(name).filter(|t| t.record.storage != Storage::Column).cloned()
}

fn bind_select(select: Select, schema: &Schema, route: RouteSetting) -> Option<Program> {
    let table = row_table(schema, &select.table)?;
    // Forced onto row groups, only the planner knows the way.
    if route == RouteSetting::Column && table.record.storage == Storage::Hybrid {
        return None;
    }
    let columns = match select.columns {
        Columns::Count => {
            let bare = select.conditions.is_empty() && select.order.is_none() && select.limit.is_none();
            return bare.then_some(Program::Count { table });
        }
        Columns::All => (0..table.record.columns.len()).collect(),
        Columns::Named(names) => names
            .iter()
            .map(|name| table.record.columns.iter().position(|c| c.name == *name))
            .collect::<Option<Vec<usize>>>()?,
    };
    let limit = match select.limit {
        None => None,
        Some(operand) => Some(argument(operand, SqlType::BigInt)?),
    };
    let reverse = match &select.order {
        None => false,
        Some((name, descending)) => {
            let [key] = table.record.primary_key[..] else { return None };
            if table.record.columns[key].name != *name {
                return None;
            }
            *descending
        }
    };
    if let Some(key) = bind_key(&table, &select.conditions) {
        return Some(Program::Get { table, key, columns, limit });
    }
    let (lower, upper) = bind_range(&table, &select.conditions)?;
    Some(Program::Range { table, lower, upper, reverse, columns, limit })
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
            argument(condition.operand.clone(), definition.ty)
        })
        .collect()
}

type Ends = (Option<(Argument, bool)>, Option<(Argument, bool)>);

/// The ends of a range of a key of one column.
fn bind_range(table: &Table, conditions: &[Condition]) -> Option<Ends> {
    let (mut lower, mut upper) = (None, None);
    for condition in conditions {
        let [key] = table.record.primary_key[..] else { return None };
        let definition = &table.record.columns[key];
        if condition.column != definition.name {
            return None;
        }
        let (end, inclusive) = match condition.comparison {
            Comparison::Equal => return None,
            Comparison::Less => (&mut upper, false),
            Comparison::LessOrEqual => (&mut upper, true),
            Comparison::Greater => (&mut lower, false),
            Comparison::GreaterOrEqual => (&mut lower, true),
        };
        if end.is_some() {
            return None;
        }
        *end = Some((argument(condition.operand.clone(), definition.ty)?, inclusive));
    }
    Some((lower, upper))
}

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
fn argument(operand: Operand, ty: SqlType) -> Option<Argument> {
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
