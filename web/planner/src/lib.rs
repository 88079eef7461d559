//! The planner module of the npm package `gingham` (D-15): SQL text in, the bytes of a
//! plan out. It keeps the catalog it was last given and no other state; files and rows
//! are the core module's.
//!
//! ts/planner-module.ts loads it, and the core module is its only caller, through
//! web/src/host.rs.

use gingham_plan::{Catalog, PlanRequest, Planner, RouteSetting, SqlError, Statement, from_bytes, to_bytes};
use gingham_planner::SqlPlanner;
use std::cell::RefCell;
use std::sync::Arc;
use wasm_bindgen::prelude::wasm_bindgen;

#[cfg(all(target_arch = "wasm32", not(target_feature = "atomics")))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

thread_local! {
    static CATALOG: RefCell<Result<Arc<Catalog>, SqlError>> =
        RefCell::new(Err(SqlError::internal("the planner was given no catalog")));
    /// Empty while it plans: a planner that panicked is not used again.
    static PLANNER: RefCell<Option<SqlPlanner>> = const { RefCell::new(None) };
}

/// Makes a panic an exception with its message; without this it would be a bare trap.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| wasm_bindgen::throw_str(&format!("the planner panicked: {info}"))));
}

/// Replaces the catalog that statements are planned against. Bytes that are none make
/// every [`plan`] an error until the next catalog.
#[wasm_bindgen]
pub fn set_catalog(catalog: &[u8]) {
    CATALOG.set(from_bytes(catalog).map(Arc::new));
}

/// Plans one statement, without its terminating semicolon. Routes: auto 0, row 1,
/// column 2. The bytes are those of a `Result<Statement, SqlError>`.
#[wasm_bindgen]
pub fn plan(sql: &str, route: u8) -> Vec<u8> {
    let result = plan_by_catalog(sql, route);
    // An error always serializes; the core module refuses empty bytes all the same.
    to_bytes(&result).or_else(|error| to_bytes(&Err::<Statement, _>(error))).unwrap_or_default()
}

fn plan_by_catalog(sql: &str, route: u8) -> Result<Statement, SqlError> {
    let route = match route {
        0 => RouteSetting::Auto,
        1 => RouteSetting::Row,
        2 => RouteSetting::Column,
        other => return Err(SqlError::internal(format!("there is no route {other}"))),
    };
    let catalog = CATALOG.with_borrow(Clone::clone)?;
    let mut planner = PLANNER.take().unwrap_or_default();
    let statement = planner.plan(&PlanRequest { sql, catalog: &catalog, route });
    PLANNER.set(Some(planner));
    statement
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(sql: &str, route: u8) -> Result<Statement, SqlError> {
        from_bytes(&plan(sql, route)).expect("plan gives the bytes of a result")
    }

    #[test]
    fn a_plan_needs_a_catalog_and_a_route_that_exist() {
        assert!(planned("SELECT 1", 0).is_err_and(|error| error.message.contains("no catalog")));
        set_catalog(&[0xff; 3]);
        assert!(planned("SELECT 1", 0).is_err_and(|error| error.message.contains("do not read")));
        set_catalog(&to_bytes(&Catalog::default()).expect("a catalog serializes"));
        assert!(planned("SELECT 1", 3).is_err_and(|error| error.message.contains("no route 3")));
        assert!(matches!(planned("SELECT 1", 0), Ok(Statement::Query(_))));
        assert!(planned("SELEC 1", 0).is_err_and(|error| error.code == "42601"));
    }
}
