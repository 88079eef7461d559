//! Queries: from a plan to running operators.

use crate::connection::Connection;
use crate::error::{Error, Result};
use crate::schema::Table;
use crate::statement::{Kind, Prepared, Rows};
use crate::table::{copy_is_due, refresh_copy};
use crate::values::compare_parameter;
use gingham_column_store::execution::{Execution, Options, RowBuffer};
use gingham_plan::{Node, Query, Route, RouteSetting, RowAccess, SqlError, Storage, explain};
use gingham_types::Value;
use std::rc::Rc;
use std::sync::Arc;

/// Runs a query. Outside a transaction its rows come as they are asked for, from the
/// commit it started on; inside one they are all read before this returns.
#[inline(never)]
pub(crate) fn run(connection: &mut Connection, query: &Arc<Query>, parameters: &[Value]) -> Result<Rows> {
    let execution = start(connection, Arc::clone(query), parameters, false)?;
    let rows = Rows::execution(query.columns.clone(), execution);
    if connection.in_transaction() { rows.materialize() } else { Ok(rows) }
}

/// Runs a planned query, planned anew if a columnar copy had to be brought up to date.
pub(crate) fn run_prepared(
    connection: &mut Connection,
    prepared: &Arc<Prepared>,
    sql: &str,
    parameters: &[Value],
) -> Result<(Rows, Arc<Prepared>)> {
    let mut prepared = Arc::clone(prepared);
    if let Kind::Query(query) = &prepared.kind
        && refresh_copies(connection, query)?
    {
        // The copy has moved the statistics that the plan rests on.
        prepared = connection.prepared_by(sql, false)?;
    }
    match &prepared.kind {
        Kind::Query(query) => Ok((run(connection, query, parameters)?, prepared)),
        _ => Err(SqlError::internal("a query became another statement").into()),
    }
}

/// Sets a query up to run on the current transaction's state; `measured` times its operators.
#[inline(never)]
pub(super) fn start(
    connection: &mut Connection,
    query: impl Into<Arc<Query>>,
    parameters: &[Value],
    measured: bool,
) -> Result<Execution> {
    let query = query.into();
    let values = query
        .parameters
        .iter()
        .enumerate()
        .map(|(position, ty)| Ok(compare_parameter(parameters, position, *ty)?.into_owned()))
        .collect::<Result<Vec<Value>>>()?;
    connection.finish_loads_if_writing()?;
    let access = connection.table_access()?;
    let options = Options {
        parameters: values,
        now: connection.shared.now(),
        memory: connection.shared.budget(),
        clock: if measured { connection.shared.fine_clock() } else { None },
        ..Options::default()
    };
    Ok(Execution::new(query, Rc::new(access), options))
}

/// All rows of a query, batch by batch, in temporary space where they are too many.
pub(super) fn collect(connection: &mut Connection, query: &Query, parameters: &[Value]) -> Result<RowBuffer> {
    let mut execution = start(connection, query.clone(), parameters, false)?;
    let mut rows = RowBuffer::new(execution.memory());
    while let Some(batch) = execution.next_batch()? {
        rows.push(batch)?;
    }
    Ok(rows)
}

/// Brings the columnar copies up to date that a query wants to read and that are far
/// behind (D-9). Whether anything changed, so that the query should be planned again.
/// Does nothing while somebody writes: the row tree answers as well.
fn refresh_copies(connection: &mut Connection, query: &Query) -> Result<bool> {
    if connection.in_transaction() || connection.shared.read_only || connection.route == RouteSetting::Row {
        return Ok(false);
    }
    let (view, schema) = connection.view()?;
    let forced = connection.route == RouteSetting::Column;
    let mut due: Vec<Arc<Table>> = Vec::new();
    for root in query.ctes.iter().chain(&query.subqueries).chain([&query.root]) {
        let mut failed = None;
        explain::walk(root, &mut |node| {
            let Node::Scan(scan) = node else { return };
            let reads_all = matches!(scan.route, Route::Column | Route::Row(RowAccess::Full { .. }));
            let Some(table) = schema.table_by_id(scan.table) else { return };
            let is_candidate = reads_all && !scan.locator && table.record.storage == Storage::Hybrid;
            if !is_candidate || due.iter().any(|t| t.id() == table.id()) {
                return;
            }
            match view.read(|read| copy_is_due(read, table, forced)) {
                Ok(true) => due.push(Arc::clone(table)),
                Ok(false) => {}
                Err(error) => failed = Some(error),
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
    }
    drop((view, schema));
    if due.is_empty() {
        return Ok(false);
    }
    let refreshed = connection.write(true, |connection| {
        connection.with_writer(|writer| due.iter().try_for_each(|table| refresh_copy(writer.transaction, table)))
    });
    match refreshed {
        Ok(()) => Ok(true),
        // The copy is a convenience: no room for it, or somebody writing, is no reason to fail.
        Err(Error::Store(gingham_row_store::Error::Busy | gingham_row_store::Error::Full)) => Ok(false),
        Err(error) => Err(error),
    }
}
