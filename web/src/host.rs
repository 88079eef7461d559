//! What the core module asks of JavaScript: the planner, the clock, and a place to
//! report a panic. The object is handed in once, by [`start`].

use gingham::{Clock, WallClock};
use gingham_plan::{Catalog, PlanRequest, Planner, RouteSetting, SqlError, Statement, from_bytes, to_bytes};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The object that ts/host.ts implements.
    #[derive(Clone)]
    pub type Host;

    /// Gives the planner module the catalog to plan against from now on.
    #[wasm_bindgen(method, catch, js_name = setCatalog)]
    fn set_catalog(this: &Host, catalog: &[u8]) -> Result<(), JsValue>;

    /// Plans one statement; the bytes are a `Result<Statement, SqlError>`.
    #[wasm_bindgen(method, catch)]
    fn plan(this: &Host, sql: &str, route: u8) -> Result<Vec<u8>, JsValue>;

    /// Monotonic milliseconds.
    #[wasm_bindgen(method)]
    fn now(this: &Host) -> f64;

    /// Takes down the message of a panic, just before the module traps.
    #[wasm_bindgen(method)]
    fn panicked(this: &Host, message: &str);
}

thread_local! {
    static HOST: RefCell<Option<Host>> = const { RefCell::new(None) };
    /// The database and the catalog version that the planner module has: the module is
    /// shared by all databases of a worker.
    static PLANNER_HAS: Cell<Option<(u32, u64)>> = const { Cell::new(None) };
    static CATALOGS_SENT: Cell<u64> = const { Cell::new(1) };
}

/// Connects the module with JavaScript. Called once, before anything else.
#[wasm_bindgen]
pub fn start(host: Host) {
    HOST.set(Some(host));
    std::panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        // Not `borrow`: a panic inside this hook would hide the first one.
        HOST.with(|host| {
            if let Ok(host) = host.try_borrow()
                && let Some(host) = host.as_ref()
            {
                host.panicked(&message);
            }
        });
    }));
}

fn host() -> Option<Host> {
    HOST.with_borrow(Clone::clone)
}

/// Milliseconds by the host's clock.
pub(crate) fn clock() -> Clock {
    Arc::new(|| host().map_or(0, |host| host.now() as u64))
}

/// The time of day, for `now()`.
pub(crate) fn wall_clock() -> WallClock {
    Arc::new(|| js_sys::Date::now() as i64 * 1000)
}

/// The planner of one database, in the other module (D-15).
pub(crate) struct PlannerBridge {
    /// Tells this worker's databases apart.
    pub(crate) database: u32,
}

impl PlannerBridge {
    fn send_catalog(&self, host: &Host, catalog: &Catalog) -> Result<(), SqlError> {
        let wanted = Some((self.database, catalog.version));
        if PLANNER_HAS.get() == wanted {
            return Ok(());
        }
        PLANNER_HAS.set(None);
        // The planner keeps what it derives from a catalog while the version stays, and the
        // versions of two databases may be equal: it gets one that it has not seen.
        let version = CATALOGS_SENT.replace(CATALOGS_SENT.get() + 1);
        let sent = Catalog { version, ..catalog.clone() };
        host.set_catalog(&to_bytes(&sent)?).map_err(|e| unavailable(&e))?;
        PLANNER_HAS.set(wanted);
        Ok(())
    }
}

impl Planner for PlannerBridge {
    fn plan(&mut self, request: &PlanRequest<'_>) -> Result<Statement, SqlError> {
        let host = host().ok_or_else(|| SqlError::internal("the module was not started"))?;
        self.send_catalog(&host, request.catalog)?;
        let route = match request.route {
            RouteSetting::Auto => 0,
            RouteSetting::Row => 1,
            RouteSetting::Column => 2,
        };
        let bytes = host.plan(request.sql, route).map_err(|e| {
            // A planner that trapped may have lost the catalog.
            PLANNER_HAS.set(None);
            unavailable(&e)
        })?;
        from_bytes::<Result<Statement, SqlError>>(&bytes)?
    }
}

/// The host throws a plain string when the planner cannot be had.
fn unavailable(exception: &JsValue) -> SqlError {
    let message = exception.as_string().unwrap_or_else(|| format!("the planner failed: {exception:?}"));
    SqlError::new("58000", message).hint("await db.ready() before statements that need the planner")
}
