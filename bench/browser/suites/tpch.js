// @ts-check
/**
 * The TPC-H suite for one engine: load in one worker, then all queries in a fresh one, over and
 * over. The first pass is the cold one; the median of the others is the warm time. Then the browser is closed, and
 * a fresh one with the same profile runs each query once: the second visit, which finds what the browser has kept.
 */

import { createProfile } from "../harness/profile.js";
import { compareResults } from "../tpch/compare.js";
import { locateTables, readQueries, tablesFolder } from "../tpch/inputs.js";
import { createTableSql, TABLES } from "../tpch/schema.js";
import { withSession } from "./session.js";

/** @typedef {import("../adapters/engines.js").Engine} Engine */
/** @typedef {import("../tpch/compare.js").Result} Result */
/** @typedef {import("../tpch/inputs.js").Query} Query */

/** One cold pass, then so many warm ones. */
export const WARM_PASSES = 3;

/** How often each query is explained, each time with a text that no cache knows. */
const EXPLAINED = 5;

/**
 * How long a visit lasts after its last query. Chromium stores a module's optimized code two seconds after the
 * last function became hot; a visitor who looks at the results stays longer.
 */
const STAY_MS = 5_000;

const LIMIT_MS = 120_000;
/** On top, for each unit of scale factor. */
const LIMIT_PER_SCALE_MS = 600_000;

/**
 * @typedef {object} TpchOptions
 * @property {string} vendorFolder
 * @property {number} scaleFactor
 * @property {readonly Query[]} queries
 * @property {import("../tpch/inputs.js").TableFiles} tables
 * @property {string} storage Gingham's storage option
 * @property {(text: string) => void} note
 *
 * @typedef {object} QuerySample
 * @property {string} name
 * @property {number} coldMs
 * @property {number[]} warmMs
 * @property {number} secondVisitMs
 * @property {number[]} explainMs of EXPLAIN, which plans and prints the plan
 * @property {number} rows
 *
 * @typedef {Awaited<ReturnType<typeof measureTpch>>} TpchSample
 */

/**
 * What the tools that look at Gingham alone run: all queries over column storage loaded from CSV.
 *
 * @param {string} vendorFolder
 * @param {number} scaleFactor
 * @returns {TpchOptions}
 */
export function ginghamOptions(vendorFolder, scaleFactor) {
  return {
    vendorFolder,
    scaleFactor,
    queries: readQueries(scaleFactor, null),
    tables: locateTables(tablesFolder(scaleFactor), "csv"),
    storage: "column",
    note: (text) => void process.stderr.write(`${text}\n`),
  };
}

/**
 * @param {Engine} engine
 * @param {TpchOptions} options
 */
export async function measureTpch(engine, options) {
  const visitor = createProfile();
  const { tables, scaleFactor, vendorFolder } = options;
  /** @type {import("./session.js").SessionOptions} */
  const place = { vendorFolder, dataFolder: tables.folder, limitMs: stepLimit(scaleFactor) * 10, visitor };
  // Planning is part of what is measured; fetching the planner is part of opening.
  const database = { engine: engine.name, database: "tpch", complete: true };
  try {
    const { port, ...first } = await firstVisit(place, database, engine, options);
    const second = await secondVisit({ ...place, port }, database, options, first.results);
    const queries = first.queries.map((query, index) => ({ ...query, secondVisitMs: second.queryMs[index] ?? 0 }));
    const consoleErrors = [...first.consoleErrors, ...second.consoleErrors];
    return { ...first, queries, openSecondVisitMs: second.openMs, consoleErrors };
  } finally {
    visitor.remove();
  }
}

/**
 * Loads, runs the queries cold and warm, and plans them.
 *
 * @param {import("./session.js").SessionOptions} place
 * @param {import("../worker/protocol.js").StartArguments} database
 * @param {Engine} engine
 * @param {TpchOptions} options
 */
function firstVisit(place, database, engine, options) {
  const stepLimitMs = stepLimit(options.scaleFactor);
  const { note } = options;
  return withSession(place, async (session) => {
    const { worker: loader, started } = await session.start(database);
    const loads = await loadTables(loader, engine, options);
    const finish = await loader.call("finishLoad", {}, stepLimitMs);
    await loader.close();
    const stored = await session.storedFiles();

    const { worker, started: reopened } = await session.start(database);
    note("queries, cold pass");
    const cold = await passOver(worker, options);
    /** @type {Omit<QuerySample, "secondVisitMs">[]} */
    const queries = cold.map(({ name, elapsedMs, result }) => ({ name, coldMs: elapsedMs, warmMs: [], explainMs: [], rows: result.rows.length }));
    for (let pass = 1; pass <= WARM_PASSES; pass += 1) {
      note(`queries, warm pass ${pass}`);
      const warm = await passOver(worker, options);
      warm.forEach(({ name, sql, elapsedMs, result }, index) => {
        queries[index]?.warmMs.push(elapsedMs);
        const difference = compareResults(sql, cold[index]?.result ?? { columns: [], rows: [] }, result);
        if (difference !== null) throw new Error(`${name} changed between passes: ${difference}`);
      });
    }
    note("planning");
    for (let pass = 0; pass < EXPLAINED; pass += 1) {
      const explained = options.queries.map(({ name, sql }) => ({ name, sql: `EXPLAIN ${sql}\n-- ${pass}` }));
      const plans = await passOver(worker, { ...options, queries: explained });
      plans.forEach(({ elapsedMs }, index) => queries[index]?.explainMs.push(elapsedMs));
    }
    const { wasmMemoryBytes } = await worker.call("memory", {});
    await new Promise((resolve) => setTimeout(resolve, STAY_MS));
    await worker.close();
    return {
      port: session.port,
      version: started.version,
      loads,
      finishLoadMs: finish.elapsedMs,
      openMs: reopened.importMs + reopened.openMs,
      stored,
      queries,
      results: Object.fromEntries(cold.map(({ name, result }) => [name, result])),
      wasmMemoryBytes,
      consoleErrors: session.consoleErrors,
      browserVersion: session.browserVersion,
    };
  });
}

/**
 * A fresh browser, over what an earlier one has kept, runs every query once.
 *
 * @param {import("./session.js").SessionOptions} place
 * @param {import("../worker/protocol.js").StartArguments} database
 * @param {TpchOptions} options
 * @param {Record<string, Result>} expected
 */
function secondVisit(place, database, options, expected) {
  return withSession(place, async (session) => {
    options.note("queries, second visit");
    const { worker, started } = await session.start(database);
    const pass = await passOver(worker, options);
    await worker.close();
    for (const { name, sql, result } of pass) {
      const difference = compareResults(sql, expected[name] ?? { columns: [], rows: [] }, result);
      if (difference !== null) throw new Error(`${name} changed on the second visit: ${difference}`);
    }
    return {
      openMs: started.importMs + started.openMs,
      queryMs: pass.map(({ elapsedMs }) => elapsedMs),
      consoleErrors: session.consoleErrors,
    };
  });
}

/**
 * Creates and fills the eight tables.
 *
 * @param {import("./session.js").BenchWorker} worker
 * @param {Engine} engine
 * @param {TpchOptions} options
 */
export async function loadTables(worker, engine, { scaleFactor, tables, storage, note }) {
  const loads = [];
  for (const table of TABLES) {
    note(`loading ${table.name}`);
    const suffix = engine.adapter === "gingham" ? ` WITH (storage = '${storage}')` : "";
    const source = {
      table: table.name,
      columns: table.columns,
      createSql: createTableSql(table) + suffix,
      format: tables.format,
      url: `/data/${table.name}.${tables.format}`,
    };
    const { elapsedMs, rows } = await worker.call("loadTable", source, stepLimit(scaleFactor));
    if (rows === 0) throw new Error(`${table.name} is empty after loading`);
    loads.push({ table: table.name, elapsedMs, rows });
  }
  return loads;
}

/**
 * Runs every query once.
 *
 * @param {import("./session.js").BenchWorker} worker
 * @param {Pick<TpchOptions, "queries" | "scaleFactor">} options
 * @returns {Promise<(Query & {elapsedMs: number, result: Result})[]>}
 */
export async function passOver(worker, { queries, scaleFactor }) {
  const pass = [];
  for (const { name, sql } of queries) {
    const { elapsedMs, columns, rows } = await worker.call("query", { sql }, stepLimit(scaleFactor)).catch((error) => {
      throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    });
    pass.push({ name, sql, elapsedMs, result: { columns, rows } });
  }
  return pass;
}

/** @param {number} scaleFactor */
function stepLimit(scaleFactor) {
  return LIMIT_MS + LIMIT_PER_SCALE_MS * scaleFactor;
}
