//! EXPLAIN and EXPLAIN ANALYZE.

use super::query;
use crate::connection::Connection;
use crate::error::Result;
use crate::statement::Rows;
use gingham_column_store::execution::NodeProfile;
use gingham_column_store::expression::batch_from_rows;
use gingham_column_store::source::Step;
use gingham_plan::{OutputColumn, Query, SqlError, Statement, explain};
use gingham_types::{SqlType, Value};

#[inline(never)]
pub(super) fn explain(
    connection: &mut Connection,
    sql: &str,
    analyze: bool,
    statement: &Statement,
    parameters: &[Value],
) -> Result<Rows> {
    let (heading, query) = match statement {
        Statement::Query(query) => (None, query),
        Statement::Insert(insert) => (Some("Insert"), &insert.source),
        Statement::Update(update) => (Some("Update"), &update.source),
        Statement::Delete(delete) => (Some("Delete"), &delete.source),
        _ => return Err(SqlError::unsupported(format!("EXPLAIN of this statement ({sql})")).into()),
    };
    let schema = connection.write_schema();
    let catalog = {
        let (view, schema) = connection.view()?;
        view.read(|read| connection.shared.catalog(read, &schema))?
    };
    let lines = explain::lines(query, &|id| catalog.table_by_id(id).cloned());
    drop(schema);
    let profile = if analyze && heading.is_none() { Some(measure(connection, query, parameters)?) } else { None };
    if analyze && heading.is_some() {
        return Err(SqlError::unsupported("EXPLAIN ANALYZE of a statement that changes rows").into());
    }
    let mut text: Vec<String> = heading.map(str::to_owned).into_iter().collect();
    let mut measured = profile.iter().flatten();
    for line in lines {
        let indent = "  ".repeat(line.depth + usize::from(heading.is_some()));
        let is_operator = !line.text.ends_with(':');
        let note = if is_operator { measured.next().map(|m| format!(" ({m})")) } else { None };
        text.push(format!("{indent}{}{}", line.text, note.unwrap_or_default()));
    }
    let rows: Vec<Vec<Value>> = text.into_iter().map(|line| vec![Value::Text(line)]).collect();
    let column = OutputColumn { name: "plan".into(), ty: SqlType::Text };
    Ok(Rows::batches(vec![column], [batch_from_rows(&rows, &[SqlType::Text])?], 0))
}

/// Runs a query to its end; what each operator did, in the order of EXPLAIN's lines.
fn measure(connection: &mut Connection, query: &Query, parameters: &[Value]) -> Result<Vec<String>> {
    let mut execution = query::start(connection, query.clone(), parameters, true)?;
    while !matches!(execution.step()?, Step::Finished) {}
    Ok(execution.profile().in_order().map(note).collect())
}

/// What one operator did. Bytes are those it held at most, wrote to temporary space, and
/// read from tables.
fn note(operator: &NodeProfile) -> String {
    let mut note = format!("actual rows={}, {:.3} ms", operator.rows, operator.time_ms);
    let read = operator.read;
    for (name, bytes) in
        [("memory", operator.memory_bytes), ("spilled", operator.spilled_bytes), ("read", read.bytes_read)]
    {
        if bytes > 0 {
            note += &format!(", {name} {bytes} bytes");
        }
    }
    if read.groups > 0 {
        note += &format!(", {} of {} row groups pruned", read.groups_pruned, read.groups);
    }
    note
}
