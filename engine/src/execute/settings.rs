//! SET, SHOW and PRAGMA.

use crate::connection::Connection;
use crate::error::Result;
use crate::statement::Rows;
use gingham_column_store::expression::batch_from_rows;
use gingham_plan::{OutputColumn, RouteSetting, SqlError};
use gingham_row_store::Durability;
use gingham_types::{SqlType, Value};

fn invalid(name: &str, value: &str, allowed: &str) -> SqlError {
    SqlError::new("22023", format!("'{value}' is not a value of {name}")).hint(format!("use one of {allowed}"))
}

#[inline(never)]
pub(super) fn set(connection: &mut Connection, name: &str, value: &Value) -> Result<Rows> {
    let word = value.to_string().to_lowercase();
    match name {
        "route" => {
            connection.route = match word.as_str() {
                "auto" => RouteSetting::Auto,
                "row" => RouteSetting::Row,
                "column" => RouteSetting::Column,
                _ => return Err(invalid(name, &word, "auto, row, column").into()),
            };
        }
        "durability" => {
            connection.durability = match word.as_str() {
                "strict" => Some(Durability::Strict),
                "relaxed" => Some(Durability::Relaxed),
                "default" => None,
                _ => return Err(invalid(name, &word, "strict, relaxed, default").into()),
            };
        }
        _ => return Err(unknown(name).into()),
    }
    Ok(Rows::changes_only(0))
}

#[inline(never)]
pub(super) fn show(connection: &mut Connection, name: &str) -> Result<Rows> {
    let statistics = || connection.shared.store.statistics();
    let lines = match name {
        "route" => vec![
            match connection.route {
                RouteSetting::Auto => "auto",
                RouteSetting::Row => "row",
                RouteSetting::Column => "column",
            }
            .to_owned(),
        ],
        "durability" => vec![
            match connection.durability {
                Some(Durability::Strict) => "strict",
                Some(Durability::Relaxed) => "relaxed",
                None => "default",
            }
            .to_owned(),
        ],
        "page_size" => vec![statistics().page_bytes.to_string()],
        "page_count" => vec![statistics().pages.to_string()],
        "freelist_count" => vec![statistics().free_pages.to_string()],
        "integrity_check" => {
            let report = crate::integrity::check(&connection.shared)?;
            if report.is_sound() { vec!["ok".to_owned()] } else { report.problems }
        }
        _ => return Err(unknown(name).into()),
    };
    let rows: Vec<Vec<Value>> = lines.into_iter().map(|line| vec![Value::Text(line)]).collect();
    let column = OutputColumn { name: name.to_owned(), ty: SqlType::Text };
    Ok(Rows::batches(vec![column], [batch_from_rows(&rows, &[SqlType::Text])?], 0))
}

fn unknown(name: &str) -> SqlError {
    SqlError::new("42704", format!("there is no setting \"{name}\""))
        .hint("settings are route, durability; reports are page_size, page_count, freelist_count, integrity_check")
}
