//! Carrying out planned statements.

mod alter;
mod bulk;
mod cluster;
mod copy;
mod definition;
mod explain;
mod manipulation;
mod query;
mod settings;
mod vacuum;

pub(crate) use bulk::refuse_value;
pub(crate) use query::run_prepared;

use crate::connection::Connection;
use crate::error::Result;
use crate::statement::Rows;
use gingham_plan::{OutputColumn, Statement};
use gingham_types::{SqlType, Value};
use std::sync::Arc;

/// Runs a planned statement.
pub(crate) fn execute(
    connection: &mut Connection,
    sql: &str,
    statement: &Statement,
    parameters: &[Value],
) -> Result<Rows> {
    match statement {
        Statement::Query(query) => query::run(connection, &Arc::new(query.clone()), parameters),
        Statement::Insert(insert) => connection.write(false, |c| manipulation::insert(c, insert, parameters)),
        Statement::Update(update) => connection.write(false, |c| manipulation::update(c, update, parameters)),
        Statement::Delete(delete) => connection.write(false, |c| manipulation::delete(c, delete, parameters)),
        Statement::CreateTable(create) => connection.write(false, |c| definition::create_table(c, create, parameters)),
        Statement::AlterTable(None) => Ok(Rows::changes_only(0)),
        Statement::AlterTable(Some(change)) => connection.write(false, |c| alter::alter_table(c, change)),
        Statement::DropTable { names, if_exists } => {
            connection.write(false, |c| definition::drop_tables(c, names, *if_exists))
        }
        Statement::CreateIndex(create) => connection.write(false, |c| definition::create_index(c, create)),
        Statement::DropIndex { name, if_exists } => {
            connection.write(false, |c| definition::drop_index(c, name, *if_exists))
        }
        Statement::CreateView { name, columns, sql, replace, if_not_exists } => {
            let view = gingham_plan::ViewInfo { name: name.clone(), columns: columns.clone(), sql: sql.clone() };
            connection.write(false, |c| definition::create_view(c, view, *replace, *if_not_exists))
        }
        Statement::DropView { names, if_exists } => {
            connection.write(false, |c| definition::drop_views(c, names, *if_exists))
        }
        Statement::Begin { read_only } => connection.begin(*read_only).map(|()| Rows::changes_only(0)),
        Statement::Commit => connection.commit().map(|()| Rows::changes_only(0)),
        Statement::Rollback => connection.rollback().map(|()| Rows::changes_only(0)),
        Statement::Savepoint(name) => connection.savepoint(name).map(|()| Rows::changes_only(0)),
        Statement::Release(name) => connection.release(name).map(|()| Rows::changes_only(0)),
        Statement::RollbackTo(name) => connection.rollback_to(name).map(|()| Rows::changes_only(0)),
        Statement::Set { name, value } => settings::set(connection, name, value),
        Statement::Show { name } => settings::show(connection, name),
        Statement::CopyFrom(from) => copy::from_file(connection, from),
        Statement::Checkpoint => {
            connection.shared.store.checkpoint()?;
            Ok(Rows::changes_only(0))
        }
        Statement::Vacuum => vacuum::vacuum(connection),
        Statement::Cluster(table) => cluster::cluster(connection, *table),
        Statement::Explain { analyze, statement } => explain::explain(connection, sql, *analyze, statement, parameters),
    }
}

/// The result columns of a planned statement; none if it gives no rows.
pub(crate) fn output_columns(statement: &Statement) -> Vec<OutputColumn> {
    let text = |name: &str| vec![OutputColumn { name: name.to_owned(), ty: SqlType::Text }];
    match statement {
        Statement::Query(query) => query.columns.clone(),
        Statement::Insert(gingham_plan::Insert { returning, .. })
        | Statement::Update(gingham_plan::Update { returning, .. })
        | Statement::Delete(gingham_plan::Delete { returning, .. }) => {
            returning.iter().map(|(column, _)| column.clone()).collect()
        }
        Statement::Show { name } => text(name),
        Statement::Explain { .. } => text("plan"),
        _ => Vec::new(),
    }
}
