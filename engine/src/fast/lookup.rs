//! Looking one row up by its key, without making a result of it.
//!
//! What a statement that reads usually needs is left out, for none of it outlives the
//! look-up: no state is held for readers, no vectors are made. The caller reads the row
//! where it lies.

use super::program::Program;
use super::run::encode_locator;
use crate::access::lock_transaction;
use crate::connection::{Connection, Mode};
use crate::error::Result;
use crate::statement::{Kind, Statement};
use gingham_plan::OutputColumn;
use gingham_row_store::Read;
use gingham_row_store::row::RowReader;
use gingham_types::Value;
use std::sync::Arc;

/// A row that was found: its result columns, read in place.
pub struct FoundRow<'a> {
    reader: RowReader<'a>,
    ordinals: &'a [usize],
    columns: &'a Arc<[OutputColumn]>,
}

impl<'a> FoundRow<'a> {
    /// The result columns.
    pub fn columns(&self) -> &'a Arc<[OutputColumn]> {
        self.columns
    }

    /// An INTEGER, BIGINT, DATE (days) or TIMESTAMP (microseconds); `None` is NULL, as it
    /// is for a column of another type.
    #[inline]
    pub fn int(&self, column: usize) -> Option<i64> {
        self.reader.int(self.ordinals[column])
    }

    /// A DOUBLE.
    #[inline]
    pub fn double(&self, column: usize) -> Option<f64> {
        self.reader.double(self.ordinals[column])
    }

    /// A BOOLEAN.
    #[inline]
    pub fn boolean(&self, column: usize) -> Option<bool> {
        self.reader.boolean(self.ordinals[column])
    }

    /// A DECIMAL's unscaled number, at the column's scale.
    #[inline]
    pub fn decimal(&self, column: usize) -> Option<i128> {
        self.reader.decimal(self.ordinals[column])
    }

    /// The bytes of a TEXT or BLOB.
    #[inline]
    pub fn bytes(&self, column: usize) -> Option<&'a [u8]> {
        self.reader.bytes(self.ordinals[column])
    }
}

impl Connection {
    /// Runs a statement that looks one row up by its whole key and shows `visit` the row,
    /// if there is one. `visit` must not use the database.
    ///
    /// # Returns
    /// Whether there was a row; `None`, with nothing done, if the statement is of another
    /// kind, has to be prepared again or does not take the parameters: [`Connection::run`]
    /// runs it then, or says what is wrong.
    ///
    /// # Errors
    /// As [`Connection::run`].
    pub fn look_up(
        &mut self,
        statement: &Statement,
        parameters: &[Value],
        visit: impl FnOnce(&FoundRow<'_>),
    ) -> Result<Option<bool>> {
        let prepared = &*statement.prepared;
        let Kind::Program(Program::Get { table, key, columns: ordinals, limit: None }) = &prepared.kind else {
            return Ok(None);
        };
        if parameters.len() != statement.parameter_count() || prepared.route != self.route {
            return Ok(None);
        }
        let mut locator = std::mem::take(&mut self.locator);
        let Ok(is_whole) = encode_locator(table, key, parameters, &mut locator) else { return Ok(None) };
        let (mut visit, mut read) = (Some(visit), Ok(()));
        let mut show = |bytes: &[u8]| match (table.row_layout.reader(bytes), visit.take()) {
            (Ok(reader), Some(visit)) => visit(&FoundRow { reader, ordinals, columns: &prepared.columns }),
            (Err(error), _) => read = Err(error),
            _ => {}
        };
        let tree = table.rows_tree();
        // A key with a NULL is in no row, which takes no reading.
        let found = match &self.mode {
            Mode::Autocommit => self.shared.read_newest(prepared.schema_version, |store| {
                Ok(is_whole && store.visit(tree, &locator, &mut show)?)
            })?,
            Mode::Reading(_, schema) if schema.counters.version != prepared.schema_version => None,
            Mode::Writing if self.current_schema_version() != prepared.schema_version => None,
            _ if !is_whole => Some(false),
            Mode::Reading(snapshot, _) => Some(snapshot.visit(tree, &locator, &mut show)?),
            Mode::Writing => match lock_transaction(&self.transaction).as_ref() {
                Some(transaction) => Some(transaction.visit(tree, &locator, &mut show)?),
                None => None,
            },
        };
        self.locator = locator;
        read?;
        Ok(found)
    }
}
