//! Rows that come as columns instead of SQL.

use crate::connection::Connection;
use crate::database::Shared;
use crate::error::Result;
use crate::schema::Table;
use arrow_array::RecordBatch;
use gingham_column_store::execution::{BatchJoiner, RowBuffer};
use gingham_column_store::vector::{Batch, Data, Vector};
use gingham_plan::{SqlError, Storage};
use gingham_types::{SqlType, Value, cast};
use std::sync::Arc;

impl Connection {
    /// Adds rows given as named columns of equal length; columns not named get their
    /// default. Atomic: all rows or none. The number of rows.
    ///
    /// # Errors
    /// 42P01, 42703 for unknown names, 42804 for a column of another type or length,
    /// 23502 and 23505 for rows that cannot be added.
    pub fn insert_columns(&mut self, table: &str, columns: &[(String, Arc<Vector>)]) -> Result<u64> {
        let table = self.find_table(table)?;
        let rows = columns.first().map_or(0, |(_, vector)| vector.len());
        let mut vectors: Vec<Option<Arc<Vector>>> = vec![None; table.record.columns.len()];
        for (name, vector) in columns {
            let ordinal = table.record.columns.iter().position(|c| c.name == *name).ok_or_else(|| {
                SqlError::new("42703", format!("table \"{}\" has no column \"{name}\"", table.record.name))
            })?;
            if vector.len() != rows {
                let message = format!("column \"{name}\" has {} rows, others have {rows}", vector.len());
                return Err(SqlError::new("42804", message).into());
            }
            let ty = table.record.columns[ordinal].ty;
            refuse_value(&table, ordinal)?;
            if vectors[ordinal].replace(converted(vector, ty, name)?).is_some() {
                return Err(SqlError::new("42701", format!("column \"{name}\" is given twice")).into());
            }
        }
        self.insert_with_defaults(&table, vectors, rows)
    }

    /// Adds rows of which some columns are given, in the columns' own types.
    fn insert_with_defaults(
        &mut self,
        table: &Arc<Table>,
        vectors: Vec<Option<Arc<Vector>>>,
        rows: usize,
    ) -> Result<u64> {
        let batch = with_defaults(&self.shared, table, vectors, rows)?;
        self.write(false, |connection| {
            connection.with_writer(|writer| writer.insert_batch(table, &batch))?;
            Ok(rows as u64)
        })
    }

    /// As [`Connection::insert_with_defaults`] in the open transaction, where some of the rows
    /// may stay when it fails: the caller undoes more than this statement. A savepoint
    /// would end the row group that is being filled.
    pub(crate) fn load_with_defaults(
        &mut self,
        table: &Arc<Table>,
        vectors: Vec<Option<Arc<Vector>>>,
        rows: usize,
    ) -> Result<()> {
        if !table.parents.is_empty() {
            return self.insert_with_defaults(table, vectors, rows).map(|_| ());
        }
        let batch = with_defaults(&self.shared, table, vectors, rows)?;
        self.with_writer(|writer| writer.insert_batch(table, &batch))
    }

    /// Adds the rows of an Arrow batch, whose columns are matched by name.
    ///
    /// # Errors
    /// As [`Connection::insert_columns`].
    pub fn insert_batch(&mut self, table: &str, batch: &RecordBatch) -> Result<u64> {
        let table_ref = self.find_table(table)?;
        let schema = batch.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let declared: Vec<&str> = table_ref.record.columns.iter().map(|c| c.name.as_str()).collect();
        for (ordinal, _) in declared.iter().enumerate().filter(|(_, name)| names.contains(name)) {
            refuse_value(&table_ref, ordinal)?;
        }
        if names == declared && table_ref.record.storage == Storage::Column {
            return self.write(false, |connection| {
                connection.with_writer(|writer| writer.load_arrow(&table_ref, batch))?;
                Ok(batch.num_rows() as u64)
            });
        }
        let mut ordinals = Vec::with_capacity(names.len());
        for name in &names {
            let ordinal = declared
                .iter()
                .position(|c| c == name)
                .ok_or_else(|| SqlError::new("42703", format!("table \"{table}\" has no column \"{name}\"")))?;
            if ordinals.contains(&ordinal) {
                return Err(SqlError::new("42701", format!("column \"{name}\" is given twice")).into());
            }
            ordinals.push(ordinal);
        }
        let types: Vec<SqlType> = ordinals.iter().map(|ordinal| table_ref.record.columns[*ordinal].ty).collect();
        let mut vectors = vec![None; declared.len()];
        for (ordinal, vector) in ordinals.into_iter().zip(crate::arrow::from_arrow(batch, &types)?.columns) {
            vectors[ordinal] = Some(vector);
        }
        self.insert_with_defaults(&table_ref, vectors, batch.num_rows())
    }

    pub(crate) fn find_table(&self, name: &str) -> Result<Arc<Table>> {
        let schema = self.write_schema();
        let folded = name.to_lowercase();
        schema
            .table(name)
            .or_else(|| schema.table(&folded))
            .cloned()
            .ok_or_else(|| SqlError::new("42P01", format!("there is no table \"{name}\"")).into())
    }

    /// Adds rows in the table's types, giving the batches up. Small batches are joined
    /// up: each has a cost of its own.
    pub(super) fn insert_batches(&mut self, table: &Arc<Table>, batches: &mut RowBuffer) -> Result<()> {
        let mut joined = BatchJoiner::new(table.row_layout.types());
        while let Some(batch) = batches.take_next()? {
            if let Some(batch) = joined.push(batch)? {
                self.with_writer(|writer| writer.insert_batch(table, &batch))?;
            }
        }
        match joined.finish() {
            Some(batch) => self.with_writer(|writer| writer.insert_batch(table, &batch)),
            None => Ok(()),
        }
    }
}

/// Rows of which some columns are given.
fn with_defaults(shared: &Shared, table: &Table, vectors: Vec<Option<Arc<Vector>>>, rows: usize) -> Result<Batch> {
    let vectors = vectors
        .into_iter()
        .zip(&table.record.columns)
        .map(|(vector, column)| match (vector, &column.default) {
            (Some(vector), _) => Ok(vector),
            (None, None) => Ok(Arc::new(Vector::constant(&Value::Null, column.ty, rows))),
            (None, Some(default)) => {
                let value = shared.default_value(default)?;
                Ok(Arc::new(Vector::constant(&value, column.ty, rows)))
            }
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(Batch::new(vectors, rows))
}

/// 428C9 for a column whose values only the database makes.
pub(crate) fn refuse_value(table: &Table, ordinal: usize) -> Result<()> {
    let column = &table.record.columns[ordinal];
    match &column.generated {
        Some(generated) if generated.is_always() => {
            let message = format!("column \"{}\" takes no value: the database makes it", column.name);
            Err(SqlError::new("428C9", message).hint("leave it out").into())
        }
        _ => Ok(()),
    }
}

/// A vector in the form of a column's type, value by value where the forms differ.
fn converted(vector: &Arc<Vector>, ty: SqlType, name: &str) -> Result<Arc<Vector>> {
    let given = match (&vector.data, ty) {
        (Data::Boolean(_), SqlType::Boolean)
        | (Data::Int32(_), SqlType::Integer | SqlType::Date)
        | (Data::Int64(_), SqlType::BigInt | SqlType::Timestamp)
        | (Data::Double(_), SqlType::Double)
        | (Data::Text(_), SqlType::Text | SqlType::Blob) => return Ok(Arc::clone(vector)),
        (Data::Boolean(_), _) => SqlType::Boolean,
        (Data::Int32(_), _) => SqlType::Integer,
        (Data::Int64(_), _) => SqlType::BigInt,
        (Data::Double(_), _) => SqlType::Double,
        (Data::Text(_), _) => SqlType::Text,
        (Data::Int128(_) | Data::Interval(_), _) => {
            return Err(SqlError::new("42804", format!("column \"{name}\" is a {ty}")).into());
        }
    };
    let rows = (0..vector.len())
        .map(|row| {
            let value = vector.value(row, given);
            // The digits a program wrote, not those of the nearest binary number.
            let value =
                crate::values::assign_parameter(std::slice::from_ref(&value), 0, ty).or_else(|_| cast(&value, ty))?;
            Ok(vec![value])
        })
        .collect::<Result<Vec<_>>>()?;
    if rows.is_empty() {
        return Ok(Arc::new(Vector::new(Vector::default_data(ty, 0))));
    }
    let batch = gingham_column_store::expression::batch_from_rows(&rows, &[ty])?;
    Ok(Arc::clone(&batch.columns[0]))
}
