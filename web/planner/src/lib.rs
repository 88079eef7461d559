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

/// Plans the `step`-th of a few statements over no tables and drops the plan: `false`
/// when there are no more. A browser compiles a function when it is first called, and
/// the planner builds its tables of functions on first use, so that the first plan takes
/// a hundred times as long as later ones; this lets idle time pay for it.
#[wasm_bindgen]
pub fn warm_up(step: u32) -> bool {
    let Some(sql) = WARM_UP.get(step as usize) else { return false };
    // A version of its own: names are looked up anew with the first real catalog.
    let catalog = Arc::new(Catalog { version: u64::MAX, ..Catalog::default() });
    let mut planner = PLANNER.take().unwrap_or_default();
    // Whether it can be planned is for the tests to say.
    let _ = planner.plan(&PlanRequest { sql, catalog: &catalog, route: RouteSetting::Auto });
    PLANNER.set(Some(planner));
    (step as usize) + 1 < WARM_UP.len()
}

/// What dashboards ask: joins, groups, subqueries, dates, texts.
const WARM_UP: [&str; 3] = [
    "SELECT 1 AS one WHERE 1 < ?",
    "WITH t (k, day, amount, name) AS (VALUES (1, DATE '2024-01-01', 2.50, 'a'), (2, DATE '2024-01-02', 3.50, 'b')) \
     SELECT name, count(*) AS n, sum(amount * (1 - amount)) AS total, avg(amount), min(day), max(k) FROM t \
     WHERE day >= DATE '2024-01-01' AND day < DATE '2024-01-01' + INTERVAL '1' MONTH AND name LIKE 'a%' \
     GROUP BY name HAVING sum(amount) > 1 ORDER BY total DESC, name LIMIT 10",
    "WITH t (k, amount, name) AS (VALUES (1, 2.50, 'a'), (2, 3.50, 'b')), u (k, t_k) AS (VALUES (1, 2), (2, 1)) \
     SELECT t.name, extract(year FROM DATE '2024-01-01') AS y, sum(CASE WHEN u.k = 1 THEN t.amount ELSE 0 END) / sum(t.amount) \
     FROM t JOIN u ON t.k = u.t_k LEFT JOIN t AS other ON other.k = u.k \
     WHERE t.amount < (SELECT 2 * avg(amount) FROM t AS inner_t WHERE inner_t.k = u.k) \
     AND EXISTS (SELECT 1 FROM u AS v WHERE v.t_k = t.k AND v.k <> u.k) AND t.k IN (SELECT k FROM u) \
     AND t.k BETWEEN 1 AND 5 AND substring(t.name FROM 1 FOR 1) IN ('a', 'b') \
     GROUP BY t.name ORDER BY 3 DESC",
];

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
    fn what_warms_up_can_be_planned() {
        for (step, sql) in WARM_UP.iter().enumerate() {
            set_catalog(&to_bytes(&Catalog::default()).expect("a catalog serializes"));
            assert!(matches!(planned(sql, 0), Ok(Statement::Query(_))), "{:?}", planned(sql, 0).err());
            assert_eq!(warm_up(step as u32), step + 1 < WARM_UP.len());
        }
        assert!(!warm_up(WARM_UP.len() as u32));
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
