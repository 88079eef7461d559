// @ts-check
/** The engines that the suites know, by the names that the command line takes. */

/**
 * @typedef {"m0" | "batteries" | "tpch"} Suite
 *
 * @typedef {object} Engine
 * @property {string} name
 * @property {string} title for tables
 * @property {"gingham" | "sqlite" | "duckdb" | "pglite"} adapter the module beside this file
 * @property {string} variant passed to the adapter
 * @property {string} setUp what was switched on, for the record
 * @property {readonly Suite[]} suites where it takes part
 */

/** @type {readonly Engine[]} */
export const ENGINES = Object.freeze([
  {
    name: "gingham",
    title: "Gingham",
    adapter: "gingham",
    variant: "strict",
    setUp: "storage opfs, durability strict",
    suites: /** @type {const} */ (["m0", "batteries", "tpch"]),
  },
  {
    name: "sqlite",
    title: "SQLite",
    adapter: "sqlite",
    variant: "truncate",
    setUp: "opfs-sahpool, locking_mode=EXCLUSIVE, journal_mode=TRUNCATE, synchronous=FULL",
    suites: /** @type {const} */ (["m0", "batteries"]),
  },
  {
    name: "sqlite-wal",
    title: "SQLite WAL",
    adapter: "sqlite",
    variant: "wal",
    setUp: "opfs-sahpool, locking_mode=EXCLUSIVE, journal_mode=WAL, synchronous=FULL",
    suites: /** @type {const} */ (["m0", "batteries"]),
  },
  {
    name: "duckdb",
    title: "DuckDB",
    adapter: "duckdb",
    variant: "shipped",
    setUp: "eh module, opfs:// database, blocking bindings in the worker, as shipped",
    suites: /** @type {const} */ (["m0", "batteries", "tpch"]),
  },
  {
    name: "duckdb-checkpoint",
    title: "DuckDB + CHECKPOINT",
    adapter: "duckdb",
    variant: "checkpoint",
    setUp: "eh module, opfs:// database, blocking bindings in the worker, CHECKPOINT after each commit",
    suites: /** @type {const} */ (["m0"]),
  },
  {
    name: "pglite",
    title: "PGlite",
    adapter: "pglite",
    variant: "opfs-ahp",
    setUp: "opfs-ahp, as shipped; query() with bound parameters, since it has no prepared statements",
    suites: /** @type {const} */ (["m0", "batteries"]),
  },
]);

/**
 * @param {string} name
 * @returns {Engine | undefined}
 */
export function engineByName(name) {
  return ENGINES.find((engine) => engine.name === name);
}
