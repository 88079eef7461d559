// @ts-check
/**
 * PGlite, `@electric-sql/pglite`, on its fastest durable file system in a worker: opfs-ahp, a
 * pool of access handles.
 *
 * The package has no prepared statements: `query` parses, describes, binds and executes each
 * time, and always answers by a promise.
 */

/** @typedef {import("./adapter.js").Adapter} Adapter */
/** @typedef {import("./adapter.js").Cell} Cell */
/** @typedef {typeof import("@electric-sql/pglite")} PGlitePackage */
/** @typedef {import("@electric-sql/pglite").PGlite} PGlite */

/** The package's own modules, copied by vendor.js: they look for their files beside themselves. */
const MODULE_URL = "/vendor/pglite/index.js";

/**
 * @param {import("./adapter.js").OpenOptions} options
 * @returns {Promise<Adapter>}
 */
export async function open({ variant, database, relaxed }) {
  const { PGlite } = /** @type {PGlitePackage} */ (await import(MODULE_URL));
  const db = await PGlite.create(`${variant}://${database}`, { relaxedDurability: relaxed });
  const { rows } = await db.query("SHOW server_version", [], { rowMode: "array" });
  return {
    version: `PGlite, PostgreSQL ${String(/** @type {unknown[][]} */ (rows)[0]?.[0])}`,
    exec: async (sql) => void (await db.exec(sql)),
    prepare: (sql) => prepare(db, numbered(sql)),
    async query(sql) {
      const { fields, rows } = await db.query(sql, [], { rowMode: "array" });
      const names = fields.map((field) => field.name);
      return { names, columns: columnsOf(/** @type {Cell[][]} */ (rows), names.length) };
    },
    afterCommit: () => {},
    bulkLoad: null,
    loadTable: () => {
      throw new Error("PGlite takes no part in the TPC-H suite");
    },
    finishLoad: () => {},
    close: () => db.close(),
  };
}

/**
 * @param {PGlite} db
 * @param {string} sql
 * @returns {import("./adapter.js").Statement}
 */
function prepare(db, sql) {
  const query = async (/** @type {Cell[]} */ parameters) => {
    const { fields, rows } = await db.query(sql, parameters, { rowMode: "array" });
    return { width: fields.length, rows: /** @type {Cell[][]} */ (rows) };
  };
  return {
    run: async (parameters) => void (await query(parameters)),
    value: async (parameters) => (await query(parameters)).rows[0]?.[0],
    async columns(parameters) {
      const { rows, width } = await query(parameters);
      return columnsOf(rows, width);
    },
    finalize: () => {},
  };
}

/**
 * @param {Cell[][]} rows
 * @param {number} width
 * @returns {Cell[][]}
 */
function columnsOf(rows, width) {
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? null));
}

/**
 * The suites write parameters as question marks, and never one in a literal.
 *
 * @param {string} sql
 */
function numbered(sql) {
  let count = 0;
  return sql.replaceAll("?", () => `$${(count += 1)}`);
}
