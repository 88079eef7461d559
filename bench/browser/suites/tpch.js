// @ts-check
/**
 * The TPC-H suite for one engine, each part in a fresh browser with the same profile: the load; each query in a
 * worker of its own, which is cold; all queries in one worker, over and over, of which the first pass is told apart and
 * the median of the others is the warm time; and each query once more, the second visit, which finds what the
 * browser has kept.
 */

import { createProfile } from "../harness/profile.js";
import { median } from "../report/statistics.js";
import { compareResults } from "../tpch/compare.js";
import { locateTables, readQueries, tablesFolder } from "../tpch/inputs.js";
import { createTableSql, TABLES } from "../tpch/schema.js";
import { withSession } from "./session.js";

/** @typedef {import("../adapters/engines.js").Engine} Engine */
/** @typedef {import("../tpch/compare.js").Result} Result */
/** @typedef {import("../tpch/inputs.js").Query} Query */

/** A first pass, then so many warm ones. */
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
 * @property {number} firstPassMs
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
    const { port, ...loaded } = await load(place, database, engine, options);
    const alone = await eachAlone({ ...place, port }, database, options);
    const passes = await passesOver({ ...place, port }, database, options, alone.results);
    const second = await secondVisit({ ...place, port }, database, options, alone.results);
    const queries = passes.queries.map((query, index) => ({
      ...query,
      coldMs: alone.queryMs[index] ?? 0,
      secondVisitMs: second.queryMs[index] ?? 0,
    }));
    const consoleErrors = [loaded, alone, passes, second].flatMap((part) => part.consoleErrors);
    return {
      ...loaded,
      ...passes,
      queries,
      results: alone.results,
      openColdMs: alone.openMs,
      openSecondVisitMs: second.openMs,
      consoleErrors,
    };
  } finally {
    visitor.remove();
  }
}

/**
 * Creates and fills the tables, and makes them durable.
 *
 * @param {import("./session.js").SessionOptions} place
 * @param {import("../worker/protocol.js").StartArguments} database
 * @param {Engine} engine
 * @param {TpchOptions} options
 */
function load(place, database, engine, options) {
  return withSession(place, async (session) => {
    const { worker, started } = await session.start(database);
    const loads = await loadTables(worker, engine, options);
    const finish = await worker.call("finishLoad", {}, stepLimit(options.scaleFactor));
    await worker.close();
    return {
      port: session.port,
      version: started.version,
      loads,
      finishLoadMs: finish.elapsedMs,
      stored: await session.storedFiles(),
      consoleErrors: session.consoleErrors,
      browserVersion: session.browserVersion,
    };
  });
}

/**
 * Each query in a worker of its own, which has opened the database and loaded all of the engine. Of the time only
 * the query's counts as its own.
 *
 * @param {import("./session.js").SessionOptions} place
 * @param {import("../worker/protocol.js").StartArguments} database
 * @param {TpchOptions} options
 */
function eachAlone(place, database, options) {
  return withSession(place, async (session) => {
    options.note("queries, each in a fresh worker");
    /** @type {number[]} */
    const openMs = [];
    /** @type {number[]} */
    const queryMs = [];
    /** @type {Record<string, Result>} */
    const results = {};
    for (const query of options.queries) {
      const { worker, started } = await session.start(database);
      openMs.push(started.importMs + started.openMs);
      for (const { name, elapsedMs, result } of await passOver(worker, { ...options, queries: [query] })) {
        queryMs.push(elapsedMs);
        results[name] = result;
      }
      await worker.close();
    }
    return { openMs: median(openMs), queryMs, results, consoleErrors: session.consoleErrors };
  });
}

/**
 * Runs the queries over and over in one worker, and plans them.
 *
 * @param {import("./session.js").SessionOptions} place
 * @param {import("../worker/protocol.js").StartArguments} database
 * @param {TpchOptions} options
 * @param {Record<string, Result>} expected
 */
function passesOver(place, database, options, expected) {
  const { note } = options;
  return withSession(place, async (session) => {
    const { worker, started } = await session.start(database);
    note("queries, first pass");
    const first = await passOver(worker, options);
    refuseChanges(first, expected);
    /** @type {Omit<QuerySample, "coldMs" | "secondVisitMs">[]} */
    const queries = first.map(({ name, elapsedMs, result }) => ({
      name,
      firstPassMs: elapsedMs,
      warmMs: [],
      explainMs: [],
      rows: result.rows.length,
    }));
    for (let pass = 1; pass <= WARM_PASSES; pass += 1) {
      note(`queries, warm pass ${pass}`);
      const warm = await passOver(worker, options);
      refuseChanges(warm, expected);
      warm.forEach(({ elapsedMs }, index) => queries[index]?.warmMs.push(elapsedMs));
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
    return { openMs: started.importMs + started.openMs, queries, wasmMemoryBytes, consoleErrors: session.consoleErrors };
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
    refuseChanges(pass, expected);
    return {
      openMs: started.importMs + started.openMs,
      queryMs: pass.map(({ elapsedMs }) => elapsedMs),
      consoleErrors: session.consoleErrors,
    };
  });
}

/**
 * @param {Awaited<ReturnType<typeof passOver>>} pass
 * @param {Record<string, Result>} expected
 * @throws an Error where a result is not the one that was given before
 */
function refuseChanges(pass, expected) {
  for (const { name, sql, result } of pass) {
    const difference = compareResults(sql, expected[name] ?? { columns: [], rows: [] }, result);
    if (difference !== null) throw new Error(`${name} changed between passes: ${difference}`);
  }
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
