//! The bytes that pass between the two wasm modules: plans and catalogs.

use gingham_plan::{Catalog, SqlError, Statement, from_bytes, to_bytes};
use serde::{Serialize, de::DeserializeOwned};

/// The longest input. Plans nest as deep as their bytes are long at worst, and reading
/// them recurses; the planner, which alone makes them, bounds the depth of statements.
pub const BYTES_MAX: usize = 512;

/// Bytes that read as a plan or a catalog are written and read back as the same.
pub fn check(data: &[u8]) {
    let data = &data[..data.len().min(BYTES_MAX)];
    round_trip::<Result<Statement, SqlError>>(data);
    round_trip::<Statement>(data);
    round_trip::<Catalog>(data);
}

fn round_trip<T: Serialize + DeserializeOwned + std::fmt::Debug>(data: &[u8]) {
    let Ok(value) = from_bytes::<T>(data) else { return };
    let written = to_bytes(&value).expect("plain data serializes");
    let again: T = from_bytes(&written).expect("what was written reads");
    assert_eq!(format!("{value:?}"), format!("{again:?}"), "bytes read back as another value");
}
