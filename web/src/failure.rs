//! Errors on their way to JavaScript. A call that fails returns a value that says so and
//! leaves its error here, so that calls that succeed pay nothing for it.

use gingham::{Error, SqlError};
use std::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

thread_local! {
    static LAST: RefCell<Option<SqlError>> = const { RefCell::new(None) };
}

/// An SQL error as JavaScript reads it; positions are 0 where unknown.
#[wasm_bindgen]
pub struct Failure {
    error: SqlError,
}

#[wasm_bindgen]
impl Failure {
    /// SQLSTATE.
    #[wasm_bindgen(getter)]
    pub fn code(&self) -> String {
        self.error.code.to_string()
    }

    /// One sentence.
    #[wasm_bindgen(getter)]
    pub fn message(&self) -> String {
        self.error.message.clone()
    }

    /// Line, from 1.
    #[wasm_bindgen(getter)]
    pub fn line(&self) -> u32 {
        self.error.position.map_or(0, |(line, _)| line)
    }

    /// Column, from 1.
    #[wasm_bindgen(getter)]
    pub fn column(&self) -> u32 {
        self.error.position.map_or(0, |(_, column)| column)
    }

    /// What to do about it.
    #[wasm_bindgen(getter)]
    pub fn hint(&self) -> Option<String> {
        self.error.hint.clone()
    }
}

/// The error of the last call that failed.
#[wasm_bindgen]
pub fn take_failure() -> Option<Failure> {
    LAST.take().map(|error| Failure { error })
}

/// The result's value, or `failed` with the error kept for [`take_failure`].
pub(crate) fn or_failed<T>(result: Result<T, Error>, failed: T) -> T {
    result.unwrap_or_else(|error| {
        LAST.set(Some(error.to_sql_error()));
        failed
    })
}

/// The result's value, or `None` with the error kept for [`take_failure`].
pub(crate) fn or_none<T>(result: Result<T, Error>) -> Option<T> {
    or_failed(result.map(Some), None)
}
