// @ts-check
/**
 * Gingham's own package, `gingham/sync`, as `cargo xtask wasm` lays it in web/dist.
 */

import { readArrowBatches } from "../tpch/served-table.js";

/** @typedef {import("./adapter.js").Adapter} Adapter */
/** @typedef {import("./adapter.js").Cell} Cell */

/**
 * The part of the package's interface that the suites use (web/ts/sync.ts).
 *
 * @typedef {object} SyncStatement
 * @property {(...parameters: Cell[]) => {changes: number}} run
 * @property {(...parameters: Cell[]) => Cell[] | undefined} get an array in raw mode
 * @property {(...parameters: Cell[]) => {fields: {name: string}[], columns: Cell[][]}} columnar
 * @property {() => SyncStatement} raw the same statement with rows as arrays
 *
 * @typedef {object} SyncDatabase
 * @property {() => Promise<void>} ready
 * @property {(sql: string) => void} exec
 * @property {(sql: string) => SyncStatement} prepare
 * @property {(table: string, columns: Record<string, Int32Array | string[]>) => void} insertMany
 * @property {(table: string, ipcStream: Uint8Array) => void} insertArrow
 * @property {(source: URL, options: {table: string, format: "csv"}) => Promise<{changes: number}>} import
 * @property {() => void} close
 *
 * @typedef {object} SyncPackage
 * @property {{open(name: string, options: {storage: "opfs", durability: "strict" | "relaxed"}): Promise<SyncDatabase>}} Database
 * @property {string} version
 */

const MODULE_URL = "/web/dist/sync.js";

/**
 * @param {import("./adapter.js").OpenOptions} options
 * @returns {Promise<Adapter>}
 */
export async function open({ database, relaxed, complete }) {
  const gingham = /** @type {SyncPackage} */ (await import(MODULE_URL));
  const db = await gingham.Database.open(database, {
    storage: "opfs",
    durability: relaxed ? "relaxed" : "strict",
  });
  if (complete) await db.ready();
  return {
    version: `Gingham ${gingham.version}`,
    exec: (sql) => db.exec(sql),
    prepare: (sql) => prepare(db, sql),
    query(sql) {
      const { fields, columns } = db.prepare(sql).columnar();
      return { names: fields.map((field) => field.name), columns };
    },
    afterCommit: () => {},
    bulkLoad: (table, keys, values) => db.insertMany(table, { k: keys, v: values }),
    loadTable: (source) => loadTable(db, source),
    finishLoad: () => {},
    close: () => db.close(),
  };
}

/**
 * @param {SyncDatabase} db
 * @param {string} sql
 * @returns {import("./adapter.js").Statement}
 */
function prepare(db, sql) {
  const statement = db.prepare(sql).raw();
  return {
    run: (parameters) => void statement.run(...parameters),
    value: (parameters) => statement.get(...parameters)?.[0],
    columns: (parameters) => statement.columnar(...parameters).columns,
    finalize: () => {},
  };
}

/**
 * @param {SyncDatabase} db
 * @param {import("../worker/protocol.js").TableSource} source
 */
async function loadTable(db, source) {
  db.exec(source.createSql);
  if (source.format === "csv") {
    await db.import(new URL(source.url, location.href), { table: source.table, format: "csv" });
    return;
  }
  db.exec("BEGIN");
  for await (const stream of readArrowBatches(source)) db.insertArrow(source.table, stream);
  db.exec("COMMIT");
}
