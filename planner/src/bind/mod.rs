//! Names: what datafusion-sql is told of tables, views and functions, and its errors in
//! our terms.
//!
//! datafusion-sql resolves names and scopes and gives a logical plan; its types are not
//! used. Operators and functions are stubs here that carry a name and a type near
//! enough for its checks; `convert` types every expression again by Gingham's rules.

mod context;
mod error;
mod functions;
mod source;
mod types;

pub(crate) use context::{Binder, LOCATOR, TARGET, TableHandle, Tables};
pub(crate) use error::nearest;
pub(crate) use functions::Functions;
pub(crate) use source::{SeriesHandle, WorkHandle};
pub(crate) use types::{from_arrow, from_sql, to_arrow};
