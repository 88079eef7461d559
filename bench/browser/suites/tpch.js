// @ts-check
/**
 * The TPC-H suite for one engine: load in one worker, then all queries in a fresh one, over and
 * over. The first pass is the cold one; the median of the others is the warm time.
 */

import { compareResults } from "../tpch/compare.js";
import { createTableSql, TABLES } from "../tpch/schema.js";
import { withSession } from "./session.js";

/** @typedef {import("../adapters/engines.js").Engine} Engine */
/** @typedef {import("../tpch/compare.js").Result} Result */
/** @typedef {import("../tpch/inputs.js").Query} Query */

/** One cold pass, then so many warm ones. */
export const WARM_PASSES = 3;

const LIMIT_MS = 120_000;
/** On top, for each unit of scale factor. */
const LIMIT_PER_SCALE_MS = 600_000;

/**
 * @typedef {object} TpchOptions
 * @property {string} vendorFolder
 * @property {number} scaleFactor
 * @property {readonly Query[]} queries
 * @property {ReturnType<typeof import("../tpch/inputs.js").locateTables>} tables
 * @property {string | null} storage Gingham's storage option, null for the default
 * @property {(text: string) => void} note
 *
 * @typedef {object} QuerySample
 * @property {string} name
 * @property {number} coldMs
 * @property {number[]} warmMs
 * @property {number} rows
 *
 * @typedef {Awaited<ReturnType<typeof measureTpch>>} TpchSample
 */

/**
 * @param {Engine} engine
 * @param {TpchOptions} options
 */
export function measureTpch(engine, options) {
  const stepLimitMs = LIMIT_MS + LIMIT_PER_SCALE_MS * options.scaleFactor;
  const limitMs = stepLimitMs * 10;
  return withSession({ vendorFolder: options.vendorFolder, limitMs }, async (session) => {
    const load = await measureLoad(session, engine, options, stepLimitMs);
    const stored = await session.storedFiles();
    const { queries, results, wasmMemoryBytes } = await measureQueries(session, engine, options, stepLimitMs);
    return {
      ...load,
      stored,
      queries,
      results,
      wasmMemoryBytes,
      consoleErrors: session.consoleErrors,
      browserVersion: session.browserVersion,
    };
  });
}

/**
 * @param {import("./session.js").Session} session
 * @param {Engine} engine
 * @param {TpchOptions} options
 * @param {number} limitMs
 */
async function measureLoad(session, engine, { tables, storage, note }, limitMs) {
  const { worker, started } = await session.start({ engine: engine.name, database: "tpch" });
  const loads = [];
  for (const table of TABLES) {
    note(`loading ${table.name}`);
    const suffix = engine.adapter === "gingham" && storage !== null ? ` WITH (storage = '${storage}')` : "";
    const source = {
      table: table.name,
      columns: table.columns,
      createSql: createTableSql(table) + suffix,
      format: tables.format,
      url: tables.urlOf(table.name),
    };
    const { elapsedMs, rows } = await worker.call("loadTable", source, limitMs);
    if (rows === 0) throw new Error(`${table.name} is empty after loading`);
    loads.push({ table: table.name, elapsedMs, rows });
  }
  const finish = await worker.call("finishLoad", {}, limitMs);
  await worker.close();
  return { version: started.version, loads, finishLoadMs: finish.elapsedMs };
}

/**
 * @param {import("./session.js").Session} session
 * @param {Engine} engine
 * @param {TpchOptions} options
 * @param {number} limitMs
 */
async function measureQueries(session, engine, { queries, note }, limitMs) {
  const { worker } = await session.start({ engine: engine.name, database: "tpch" });
  /** @type {QuerySample[]} */
  const samples = [];
  /** @type {Record<string, Result>} */
  const results = {};
  for (let pass = 0; pass <= WARM_PASSES; pass += 1) {
    note(pass === 0 ? "queries, cold pass" : `queries, warm pass ${pass}`);
    for (const [index, { name, sql }] of queries.entries()) {
      const { elapsedMs, columns, rows } = await worker.call("query", { sql }, limitMs).catch((error) => {
        throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      });
      const first = results[name];
      if (first === undefined) {
        results[name] = { columns, rows };
        samples[index] = { name, coldMs: elapsedMs, warmMs: [], rows: rows.length };
      } else {
        samples[index]?.warmMs.push(elapsedMs);
        const difference = compareResults(sql, first, { columns, rows });
        if (difference !== null) throw new Error(`${name} changed between passes: ${difference}`);
      }
    }
  }
  const { wasmMemoryBytes } = await worker.call("memory", {});
  await worker.close();
  return { queries: samples, results, wasmMemoryBytes };
}
