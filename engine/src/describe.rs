//! The schema as SQL text.

use crate::connection::Connection;
use crate::error::Result;
use crate::schema::{Index, Schema, Table};
use gingham_plan::{ForeignAction, ForeignKeyInfo, Generated, SqlError, Storage, ViewInfo};

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
        let tables = in_order(&schema).into_iter().filter(|t| wanted(&t.record.name));
        let mut statements: Vec<String> = tables.flat_map(|t| table_sql(&schema, t)).collect();
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

/// What follows a column's name.
fn column_sql(table: &Table, ordinal: usize) -> String {
    let column = &table.record.columns[ordinal];
    let mut sql = column.ty.to_string();
    match &column.generated {
        Some(Generated::Identity { always, start, increment }) => {
            let when = if *always { "ALWAYS" } else { "BY DEFAULT" };
            sql += &format!(" GENERATED {when} AS IDENTITY");
            if (*start, *increment) != (1, 1) {
                sql += &format!(" (START WITH {start} INCREMENT BY {increment})");
            }
            return sql;
        }
        Some(Generated::Stored(stored)) => sql += &format!(" GENERATED ALWAYS AS ({}) STORED", stored.sql),
        None => {}
    }
    if !column.nullable && !table.record.primary_key.contains(&ordinal) {
        sql += " NOT NULL";
    }
    if let Some(default) = &column.default {
        sql += &format!(" DEFAULT {}", default.sql);
    }
    sql
}

fn foreign_key_sql(key: &ForeignKeyInfo, table: &Table, parent: &Table) -> String {
    let mut sql = format!(
        "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({})",
        quoted(&key.name),
        names(table, key.columns.iter()),
        quoted(&parent.record.name),
        names(parent, key.parent_columns.iter())
    );
    for (event, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
        if action != ForeignAction::NoAction {
            sql += &format!(" ON {event} {}", action.sql());
        }
    }
    sql
}

fn names<'c>(table: &Table, ordinals: impl Iterator<Item = &'c usize>) -> String {
    ordinals.map(|c| quoted(&table.record.columns[*c].name)).collect::<Vec<_>>().join(", ")
}

/// The name that the database gives the index of a UNIQUE constraint over these columns.
fn constraint_name(table: &Table, index: &Index) -> Option<String> {
    let plain = index.info.unique && index.info.columns.iter().all(|(_, descending)| !descending);
    let names: Vec<&str> = index.info.columns.iter().map(|(c, _)| table.record.columns[*c].name.as_str()).collect();
    plain.then(|| format!("{}_{}_key", table.record.name, names.join("_")))
}

fn table_sql(schema: &Schema, table: &Table) -> Vec<String> {
    let record = &table.record;
    let column = |ordinal: usize| format!("{} {}", quoted(&record.columns[ordinal].name), column_sql(table, ordinal));
    let mut items: Vec<String> = (0..record.columns.len()).map(column).collect();
    if !record.primary_key.is_empty() {
        items.push(format!("PRIMARY KEY ({})", names(table, record.primary_key.iter())));
    }
    let named = table.indexes.iter().filter(|i| !i.info.name.is_empty());
    // What a foreign key refers to has to be there when the table is created.
    let (unique, indexes): (Vec<&Index>, Vec<&Index>) =
        named.partition(|i| constraint_name(table, i).is_some_and(|name| name == i.info.name));
    for index in unique {
        items.push(format!("UNIQUE ({})", names(table, index.info.columns.iter().map(|(c, _)| c))));
    }
    for check in &record.checks {
        items.push(format!("CONSTRAINT {} CHECK ({})", quoted(&check.name), check.condition.sql));
    }
    for key in &record.foreign_keys {
        if let Some(parent) = schema.table_by_id(key.parent) {
            items.push(foreign_key_sql(key, table, parent));
        }
    }
    let mut statements = vec![format!(
        "CREATE TABLE {} ({}) WITH (storage = '{}');",
        quoted(&record.name),
        items.join(", "),
        record.storage.name()
    )];
    for index in indexes.into_iter().filter(|index| !made_for_foreign_key(table, index)) {
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

/// Whether CREATE TABLE makes the index again.
fn made_for_foreign_key(table: &Table, index: &Index) -> bool {
    let columns: Vec<usize> = index.info.columns.iter().map(|(c, _)| *c).collect();
    let is_one = table.record.foreign_keys.iter().any(|key| {
        let names: Vec<&str> = key.columns.iter().map(|c| table.record.columns[*c].name.as_str()).collect();
        key.columns == columns && index.info.name == format!("{}_{}_idx", table.record.name, names.join("_"))
    });
    is_one && table.record.storage == Storage::Column && !index.info.unique
}

/// Tables by name, but those that others refer to before them.
fn in_order(schema: &Schema) -> Vec<&Table> {
    let mut waiting: Vec<&Table> = schema.tables().map(|table| &**table).collect();
    let mut ordered: Vec<&Table> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let is_ready = |table: &&Table| {
            let keys = &table.record.foreign_keys;
            keys.iter().all(|key| key.parent == table.id() || ordered.iter().any(|t| t.id() == key.parent))
        };
        // References cannot go in a circle: a table is there before it is referred to.
        let next = waiting.iter().position(is_ready).unwrap_or(0);
        ordered.push(waiting.remove(next));
    }
    ordered
}

fn view_sql(view: &ViewInfo) -> String {
    let columns: Vec<String> = view.columns.iter().map(|c| quoted(c)).collect();
    let columns = if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
    format!("CREATE VIEW {}{columns} AS {};", quoted(&view.name), view.sql)
}
