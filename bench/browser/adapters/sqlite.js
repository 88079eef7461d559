// @ts-check
/**
 * SQLite's own wasm build, `@sqlite.org/sqlite-wasm`, on its fastest durable file system:
 * opfs-sahpool with an exclusive lock.
 *
 * Statements are prepared and bound by the package's object interface; stepping and reading
 * columns go through its C interface, which takes about two thirds of the time.
 */

/** @typedef {import("./adapter.js").Adapter} Adapter */
/** @typedef {import("./adapter.js").Cell} Cell */
/** @typedef {import("@sqlite.org/sqlite-wasm").PreparedStatement} PreparedStatement */
/** @typedef {import("@sqlite.org/sqlite-wasm").CAPI} CAPI */

/** The package, bundled by vendor.js. */
const MODULE_URL = "/vendor/sqlite.js";

/**
 * @param {import("./adapter.js").OpenOptions} options
 * @returns {Promise<Adapter>}
 */
export async function open({ variant, database, relaxed }) {
  const { default: initialize } = /** @type {typeof import("@sqlite.org/sqlite-wasm")} */ (await import(MODULE_URL));
  const sqlite3 = await initialize();
  const pool = await sqlite3.installOpfsSAHPoolVfs({});
  const db = new pool.OpfsSAHPoolDb(`/${database}.db`);
  // EXCLUSIVE must come first: without shared memory, WAL exists only under an exclusive lock.
  db.exec("PRAGMA locking_mode = EXCLUSIVE");
  const mode = db.selectValue(`PRAGMA journal_mode = ${variant === "wal" ? "WAL" : "TRUNCATE"}`);
  if (mode !== (variant === "wal" ? "wal" : "truncate")) throw new Error(`journal_mode is ${String(mode)}`);
  // Without flushes a rollback journal is not safe against power loss, and a WAL may lose its end.
  db.exec(`PRAGMA synchronous = ${relaxed ? (variant === "wal" ? "NORMAL" : "OFF") : "FULL"}`);
  return {
    version: `SQLite ${sqlite3.version.libVersion}`,
    exec: (sql) => void db.exec(sql),
    prepare: (sql) => prepare(sqlite3.capi, db.prepare(sql)),
    query(sql) {
      const statement = db.prepare(sql);
      try {
        return { names: statement.getColumnNames(), columns: readColumns(sqlite3.capi, statement) };
      } finally {
        statement.finalize();
      }
    },
    afterCommit: () => {},
    bulkLoad: null,
    loadTable: () => {
      throw new Error("SQLite takes no part in the TPC-H suite");
    },
    finishLoad: () => {},
    close: () => {
      db.close();
      pool.pauseVfs();
    },
  };
}

/**
 * @param {CAPI} capi
 * @param {PreparedStatement} statement
 * @returns {import("./adapter.js").Statement}
 */
function prepare(capi, statement) {
  const pointer = pointerOf(statement);
  return {
    run(parameters) {
      bind(statement, parameters);
      while (step(capi, pointer)) continue;
      capi.sqlite3_reset(pointer);
    },
    value(parameters) {
      bind(statement, parameters);
      const value = step(capi, pointer) ? cell(capi, pointer, 0) : undefined;
      capi.sqlite3_reset(pointer);
      return value;
    },
    columns(parameters) {
      bind(statement, parameters);
      return readColumns(capi, statement);
    },
    finalize: () => void statement.finalize(),
  };
}

/**
 * @param {CAPI} capi
 * @param {PreparedStatement} statement
 * @returns {Cell[][]}
 */
function readColumns(capi, statement) {
  const pointer = pointerOf(statement);
  /** @type {Cell[][]} */
  const columns = Array.from({ length: statement.columnCount }, () => []);
  while (step(capi, pointer)) {
    for (let index = 0; index < columns.length; index += 1) {
      columns[index]?.push(cell(capi, pointer, index));
    }
  }
  capi.sqlite3_reset(pointer);
  return columns;
}

/**
 * @param {CAPI} capi
 * @param {import("@sqlite.org/sqlite-wasm").WasmPointer} pointer
 * @returns {boolean} true: there is a row
 */
function step(capi, pointer) {
  const code = capi.sqlite3_step(pointer);
  if (code === capi.SQLITE_ROW) return true;
  if (code === capi.SQLITE_DONE) return false;
  throw new Error(`sqlite3_step gave ${capi.sqlite3_js_rc_str(code)}`);
}

/**
 * @param {CAPI} capi
 * @param {import("@sqlite.org/sqlite-wasm").WasmPointer} pointer
 * @param {number} index
 * @returns {Cell}
 */
function cell(capi, pointer, index) {
  return capi.sqlite3_column_type(pointer, index) === capi.SQLITE_TEXT
    ? capi.sqlite3_column_text(pointer, index)
    : /** @type {Cell} */ (capi.sqlite3_column_js(pointer, index));
}

/** @param {PreparedStatement} statement */
function pointerOf(statement) {
  if (statement.pointer === undefined) throw new Error("the statement has been finalized");
  return statement.pointer;
}

/**
 * By the object interface: sqlite3_bind_text of 3.54.1-build1 throws a ReferenceError.
 *
 * @param {PreparedStatement} statement
 * @param {Cell[]} parameters
 */
function bind(statement, parameters) {
  // Binding nothing to a statement without parameters is an error here.
  if (parameters.length > 0) statement.bind(/** @type {import("@sqlite.org/sqlite-wasm").BindingSpec} */ (parameters));
}
