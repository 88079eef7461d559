//! Savepoints by name.

use super::Connection;
use crate::error::Result;
use crate::schema::Schema;
use gingham_plan::SqlError;
use gingham_row_store::Savepoint;
use std::sync::Arc;

/// A savepoint, and the schema to go back to with it.
pub(super) struct NamedSavepoint {
    name: String,
    savepoint: Savepoint,
    schema: Option<Arc<Schema>>,
}

impl Connection {
    pub(crate) fn savepoint(&mut self, name: &str) -> Result<()> {
        self.writing()?;
        self.with_writer(|writer| writer.finish_loads())?;
        let savepoint = self.with_writer(|writer| Ok(writer.transaction.savepoint()?))?;
        self.savepoints.push(NamedSavepoint { name: name.to_owned(), savepoint, schema: self.schema.clone() });
        Ok(())
    }

    pub(crate) fn release(&mut self, name: &str) -> Result<()> {
        let position = self.find_savepoint(name)?;
        let released = self.savepoints.drain(position..).next();
        if let Some(released) = released {
            self.with_writer(|writer| Ok(writer.transaction.release(released.savepoint)?))?;
        }
        Ok(())
    }

    pub(crate) fn rollback_to(&mut self, name: &str) -> Result<()> {
        let position = self.find_savepoint(name)?;
        self.savepoints.truncate(position + 1);
        let savepoint = self.savepoints[position].savepoint;
        self.states.clear();
        self.schema = self.savepoints[position].schema.clone();
        self.with_writer(|writer| Ok(writer.transaction.rollback_to(&savepoint)?))
    }

    fn find_savepoint(&self, name: &str) -> Result<usize> {
        self.writing()?;
        self.savepoints
            .iter()
            .rposition(|s| s.name == name)
            .ok_or_else(|| SqlError::new("3B001", format!("there is no savepoint \"{name}\"")).into())
    }
}
