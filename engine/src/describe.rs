//! The schema as SQL text.

use crate::connection::Connection;
use crate::error::Result;
use crate::schema::Table;
use gingham_plan::{SqlError, ViewInfo};

impl Connection {
    /// Names of tables and views, ascending.
    ///
    /// # Errors
    /// If the database is closed.
    pub fn relation_names(&self) -> Result<Vec<String>> {
        let (_, schema) = self.view()?;
        let mut names: Vec<String> = schema.tables().map(|t| t.record.name.clone()).collect();
        names.extend(schema.views().map(|v| v.name.clone()));
        names.sort();
        Ok(names)
    }

    /// CREATE statements of one table or view, or of all.
    ///
    /// # Errors
    /// 42P01 if there is none of the name.
    pub fn schema_sql(&self, name: Option<&str>) -> Result<Vec<String>> {
        let (_, schema) = self.view()?;
        let wanted = |candidate: &str| name.is_none_or(|name| name == candidate);
        let mut statements: Vec<String> =
            schema.tables().filter(|t| wanted(&t.record.name)).flat_map(|t| table_sql(t)).collect();
        statements.extend(schema.views().filter(|v| wanted(&v.name)).map(view_sql));
        match name {
            Some(name) if statements.is_empty() => {
                Err(SqlError::new("42P01", format!("there is no table or view \"{name}\"")).into())
            }
            _ => Ok(statements),
        }
    }
}

/// An identifier, quoted where it would not read back as it is.
fn quoted(name: &str) -> String {
    let plain =
        name.chars().enumerate().all(|(at, c)| c == '_' || c.is_ascii_lowercase() || (at > 0 && c.is_ascii_digit()));
    if plain && !name.is_empty() { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

fn table_sql(table: &Table) -> Vec<String> {
    let record = &table.record;
    let mut items: Vec<String> = record
        .columns
        .iter()
        .enumerate()
        .map(|(ordinal, column)| {
            let not_null = if column.nullable || record.primary_key.contains(&ordinal) { "" } else { " NOT NULL" };
            let default = column.default.as_ref().map(|d| format!(" DEFAULT {}", d.sql)).unwrap_or_default();
            format!("{} {}{not_null}{default}", quoted(&column.name), column.ty)
        })
        .collect();
    let names = |ordinals: &mut dyn Iterator<Item = usize>| {
        ordinals.map(|c| quoted(&record.columns[c].name)).collect::<Vec<_>>().join(", ")
    };
    if !record.primary_key.is_empty() {
        items.push(format!("PRIMARY KEY ({})", names(&mut record.primary_key.iter().copied())));
    }
    let mut statements = vec![format!(
        "CREATE TABLE {} ({}) WITH (storage = '{}');",
        quoted(&record.name),
        items.join(", "),
        record.storage.name()
    )];
    for index in table.indexes.iter().filter(|i| !i.info.name.is_empty()) {
        let columns: Vec<String> = index
            .info
            .columns
            .iter()
            .map(|(c, desc)| format!("{}{}", quoted(&record.columns[*c].name), if *desc { " DESC" } else { "" }))
            .collect();
        statements.push(format!(
            "CREATE {}INDEX {} ON {} ({});",
            if index.info.unique { "UNIQUE " } else { "" },
            quoted(&index.info.name),
            quoted(&record.name),
            columns.join(", ")
        ));
    }
    statements
}

fn view_sql(view: &ViewInfo) -> String {
    let columns: Vec<String> = view.columns.iter().map(|c| quoted(c)).collect();
    let columns = if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
    format!("CREATE VIEW {}{columns} AS {};", quoted(&view.name), view.sql)
}
