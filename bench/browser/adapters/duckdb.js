// @ts-check
/**
 * DuckDB-WASM's `eh` module on an OPFS database.
 *
 * It runs by the package's blocking bindings inside our worker. The documented asynchronous
 * interface is the same bindings in a worker of DuckDB's, plus two messages a call; so this is
 * the faster of the two. What the asynchronous worker does when it opens an `opfs://` path
 * (prepare the handles, then open with direct I/O) is done here likewise.
 */

import { readArrowBatches } from "../tpch/served-table.js";
import { cellAt, columnCells } from "./arrow-cells.js";

/** @typedef {import("./adapter.js").Adapter} Adapter */
/** @typedef {typeof import("../node_modules/@duckdb/duckdb-wasm/dist/duckdb-browser-blocking.js")} Blocking */
/** @typedef {Blocking & Pick<typeof import("apache-arrow"), "Table" | "Utf8" | "tableFromIPC" | "vectorFromArray">} DuckDBPackage */
/** @typedef {import("../node_modules/@duckdb/duckdb-wasm/dist/duckdb-browser-blocking.js").DuckDBConnection} Connection */
/** @typedef {import("../node_modules/@duckdb/duckdb-wasm/dist/duckdb-browser-blocking.js").DuckDBBindings} Bindings */

/** The package with apache-arrow, bundled by vendor.js; its wasm lies beside it. */
const MODULE_URL = "/vendor/duckdb.js";
const WASM_URL = "/vendor/duckdb-eh.wasm";

/**
 * @param {import("./adapter.js").OpenOptions} options
 * @returns {Promise<Adapter>}
 */
export async function open({ variant, database }) {
  const duckdb = /** @type {DuckDBPackage} */ (await import(MODULE_URL));
  const module = { mainModule: new URL(WASM_URL, location.href).href, mainWorker: "" };
  const logger = new duckdb.VoidLogger();
  const db = await duckdb.createDuckDB({ mvp: module, eh: module }, logger, duckdb.BROWSER_RUNTIME);
  await db.instantiate(() => {});
  const path = `opfs://${database}.duckdb`;
  await db.prepareDBFileHandle(path, duckdb.DuckDBDataProtocol.BROWSER_FSACCESS);
  db.open({ path, accessMode: duckdb.DuckDBAccessMode.READ_WRITE, useDirectIO: true });
  const connection = db.connect();
  const checkpoint = () => void connection.query("CHECKPOINT");
  const afterCommit = variant === "checkpoint" ? checkpoint : () => {};
  return {
    version: `DuckDB ${db.getVersion()}`,
    exec: (sql) => void connection.query(sql),
    prepare: (sql) => prepare(duckdb, connection, sql),
    query: (sql) => relation(connection.query(sql)),
    afterCommit,
    bulkLoad(table, keys, values) {
      const columns = {
        k: duckdb.vectorFromArray(keys),
        v: duckdb.vectorFromArray(values, new duckdb.Utf8()),
      };
      connection.insertArrowTable(new duckdb.Table(columns), { name: table, create: false });
      afterCommit();
    },
    loadTable: (source) => loadTable(db, connection, duckdb.DuckDBDataProtocol.HTTP, source),
    // Without it what was loaded stays in the log, and a later worker would not find it.
    finishLoad: checkpoint,
    close() {
      connection.close();
      db.reset();
      db.dropFiles([path, `${path}.wal`]);
    },
  };
}

/**
 * A prepared statement, by the bindings below the package's PreparedStatement, whose `query`
 * also decodes the result of a write.
 *
 * @param {DuckDBPackage} duckdb
 * @param {Connection} connection
 * @param {string} sql
 * @returns {import("./adapter.js").Statement}
 */
function prepare(duckdb, connection, sql) {
  return connection.useUnsafe((bindings, id) => {
    const statement = bindings.createPrepared(id, sql);
    return {
      run: (parameters) => void bindings.runPrepared(id, statement, parameters),
      value(parameters) {
        const table = duckdb.tableFromIPC(bindings.runPrepared(id, statement, parameters));
        const vector = table.numRows === 0 ? null : table.getChildAt(0);
        return vector === null ? undefined : cellAt(vector, 0);
      },
      columns: (parameters) => relation(duckdb.tableFromIPC(bindings.runPrepared(id, statement, parameters))).columns,
      finalize: () => bindings.closePrepared(id, statement),
    };
  });
}

/**
 * @param {import("apache-arrow").Table} table
 * @returns {import("./adapter.js").Relation}
 */
function relation(table) {
  const names = table.schema.fields.map((field) => field.name);
  const columns = names.map((_, index) => {
    const vector = table.getChildAt(index);
    return vector === null ? [] : columnCells(vector);
  });
  return { names, columns };
}

/**
 * @param {Bindings} db
 * @param {Connection} connection
 * @param {import("../node_modules/@duckdb/duckdb-wasm/dist/duckdb-browser-blocking.js").DuckDBDataProtocol} protocol
 * @param {import("../worker/protocol.js").TableSource} source
 */
async function loadTable(db, connection, protocol, source) {
  connection.query(source.createSql);
  if (source.format === "arrow") {
    connection.query("BEGIN");
    for await (const stream of readArrowBatches(source)) {
      connection.insertArrowFromIPCStream(stream, { name: source.table, create: false });
    }
    connection.query("COMMIT");
    return;
  }
  // By URL and not as a buffer, which would have to fit the wasm memory whole.
  const file = `${source.table}.csv`;
  db.registerFileURL(file, new URL(source.url, location.href).href, protocol, false);
  connection.query(`COPY ${source.table} FROM '${file}' (FORMAT csv, HEADER, DELIMITER ',', QUOTE '"', ESCAPE '"')`);
  db.dropFile(file);
}
