//! CSV into a table, piece by piece, as JavaScript reads it.

use crate::failure::{or_failed, or_none};
use crate::session::{Session, Shared};
use gingham::{CsvImport, CsvOptions, Error, SqlError};
use std::rc::Rc;
use wasm_bindgen::prelude::wasm_bindgen;

/// A CSV text on its way into a table.
#[wasm_bindgen]
pub struct Import {
    shared: Rc<Shared>,
    import: Option<CsvImport>,
}

#[wasm_bindgen]
impl Session {
    /// Begins an import. `delimiter` is a byte; `columns` names the fields' columns where
    /// neither the header nor the table's order does. Without a result, see
    /// `take_failure`.
    pub fn import_csv(
        &self,
        table: &str,
        header: bool,
        delimiter: u8,
        null: String,
        columns: Option<Vec<String>>,
    ) -> Option<Import> {
        let options = CsvOptions { header, delimiter, null, columns };
        let shared = self.shared();
        let begun = shared.with(|connection| connection.import_csv(table, &options));
        or_none(begun.map(|import| Import { shared, import: Some(import) }))
    }
}

#[wasm_bindgen]
impl Import {
    /// Takes the next piece of the text.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let Self { shared, import } = self;
        let pushed = match import {
            Some(import) => shared.with(|connection| import.push(connection, bytes)),
            None => Err(ended()),
        };
        or_failed(pushed.map(|()| true), false)
    }

    /// Rows read so far.
    pub fn rows(&self) -> f64 {
        self.import.as_ref().map_or(0.0, |import| import.rows() as f64)
    }

    /// Makes the rows visible; how many there were, or -1.
    pub fn finish(&mut self) -> f64 {
        let finished = match self.import.take() {
            Some(import) => self.shared.with(|connection| import.finish(connection)),
            None => Err(ended()),
        };
        or_failed(finished.map(|rows| rows as f64), -1.0)
    }

    /// Gives up; nothing of the import stays.
    pub fn abort(&mut self) -> bool {
        let aborted = match self.import.take() {
            Some(import) => self.shared.with(|connection| import.abort(connection)),
            None => Ok(()),
        };
        or_failed(aborted.map(|()| true), false)
    }
}

fn ended() -> Error {
    SqlError::new("25000", "the import has ended").into()
}
