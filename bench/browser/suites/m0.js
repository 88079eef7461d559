// @ts-check
/**
 * The M0 storage suite: t(k INTEGER PRIMARY KEY, v TEXT) in every engine, each in a browser and
 * profile of its own. `measureEngine` gives the raw samples of one engine in one repetition.
 */

import { total } from "../report/statistics.js";
import { withSession } from "./session.js";

/** @typedef {import("../adapters/engines.js").Engine} Engine */
/** @typedef {import("./session.js").Session} Session */
/** @typedef {import("./session.js").Profiles} Profiles */

/** Sizes that the suite is defined by. */
export const LOOKUPS = 10_000;
export const TRANSACTIONS = 200;
export const BASELINE_BYTES = 64;

const OPENINGS = 5;
const SCANS = 3;
const LOOKUP_SEED = 20_240_501;
const LOOKUP_SEED_AGAIN = 20_240_502;
/** So many workers are killed one after the other, each after so many acknowledged commits. */
const KILLS = 4;
const KILL_AFTER_COMMITS = 50;
/** How far a worker may run past its kill before it stops by itself. */
const KILL_COMMITS_MAX = 20_000;
/** Keys of the rows that killed workers commit: far apart and far above all others. */
const KILL_KEY_STRIDE = 10_000_000;

/** DuckDB takes a millisecond a prepared insert and more on a loaded machine. */
const STEP_LIMIT_MS = 1_200_000;
const ENGINE_LIMIT_MS = 3_600_000;

/**
 * @typedef {object} KillSample
 * @property {number} acknowledged commits that the page knew of, in all rounds together
 * @property {number} lost how many of them were gone in the end
 * @property {number[]} lostByRound
 * @property {number} baseRowsLost of the rows that were there before
 * @property {number} unacknowledged rows that were there without having been acknowledged
 * @property {string} [damage] why the database could not be used any more; then all count as lost
 *
 * @typedef {Awaited<ReturnType<typeof measureEngine>>} M0Sample
 */

/**
 * @param {Engine} engine
 * @param {{rows: number, vendorFolder: string, note: (text: string) => void, profiles?: Profiles | undefined}} options
 */
export function measureEngine(engine, options) {
  const { vendorFolder, profiles } = options;
  return withSession({ vendorFolder, profiles, limitMs: ENGINE_LIMIT_MS }, async (session) => {
    options.note("flush baseline");
    const baseline = await measureBaseline(session);
    const steps = await measureSteps(session, engine, options);
    const stored = await session.storedFiles();
    options.note("opening");
    const openings = await measureOpenings(session, engine);
    options.note("lookups after reopening");
    const reopenedLookupsMs = await measureReopenedLookups(session, engine, options.rows);
    options.note("killing workers");
    const kills = await measureKills(session, engine, options.rows + TRANSACTIONS);
    options.note("bulk interface");
    const bulkLoadMs = await measureBulkLoad(session, engine, options.rows);
    return {
      ...steps,
      baseline,
      stored,
      openings,
      reopenedLookupsMs,
      kills,
      bulkLoadMs,
      downloadedFiles: session.downloadedFiles(),
      consoleErrors: session.consoleErrors,
      browserVersion: session.browserVersion,
    };
  });
}

/** @param {Session} session */
async function measureBaseline(session) {
  const worker = await session.spawn();
  const durations = await worker.call("flushBaseline", { writes: TRANSACTIONS, bytes: BASELINE_BYTES });
  await worker.terminate();
  return durations;
}

/**
 * Everything that happens in the first worker, from an empty origin to a closed database.
 *
 * @param {Session} session
 * @param {Engine} engine
 * @param {{rows: number, note: (text: string) => void}} options
 */
async function measureSteps(session, engine, { rows, note }) {
  note("bulk insert");
  const { worker, started } = await session.start({ engine: engine.name, database: "m0" });
  const bulkInsert = await worker.call("bulkInsert", { rows }, STEP_LIMIT_MS);
  note("count, lookups, scan");
  const count = await worker.call("countRows", { expected: rows }, STEP_LIMIT_MS);
  const lookups = await worker.call("pointLookups", { rows, lookups: LOOKUPS, seed: LOOKUP_SEED }, STEP_LIMIT_MS);
  // By now the browser has optimized what a lookup runs.
  const again = await worker.call("pointLookups", { rows, lookups: LOOKUPS, seed: LOOKUP_SEED_AGAIN }, STEP_LIMIT_MS, "pointLookups again");
  const scans = await worker.call("scan", { rows, repeats: SCANS }, STEP_LIMIT_MS);
  note("durable transactions");
  const durable = await worker.call("durableInserts", { firstKey: rows + 1, transactions: TRANSACTIONS }, STEP_LIMIT_MS);
  // The floor under these commits: as many bytes, written and flushed by the same worker.
  const bytes = Math.max(1, Math.round(durable.writtenBytes / TRANSACTIONS));
  const floor = await worker.call("flushBaseline", { writes: TRANSACTIONS, bytes });
  await worker.call("scan", { rows: rows + TRANSACTIONS, repeats: 1 }, STEP_LIMIT_MS);
  const { wasmMemoryBytes } = await worker.call("memory", {});
  await worker.close();
  return {
    version: started.version,
    create: started,
    bulkInsertMs: bulkInsert.elapsedMs,
    count,
    lookupsMs: lookups.elapsedMs,
    lookupsAgainMs: again.elapsedMs,
    scansMs: scans.samplesMs,
    durable,
    floor,
    wasmMemoryBytes,
  };
}

/**
 * @param {Session} session
 * @param {Engine} engine
 */
async function measureOpenings(session, engine) {
  const openings = [];
  for (let index = 0; index < OPENINGS; index += 1) {
    const { worker, elapsedMs, inside } = await session.openToFirstRow({ engine: engine.name, database: "m0" });
    openings.push({ elapsedMs, importMs: inside.importMs, openMs: inside.openMs, firstRowMs: inside.firstRowMs });
    await worker.close();
  }
  return openings;
}

/**
 * The same lookups as before, but the first thing that a fresh worker does.
 *
 * @param {Session} session
 * @param {Engine} engine
 * @param {number} rows
 */
async function measureReopenedLookups(session, engine, rows) {
  const { worker } = await session.start({ engine: engine.name, database: "m0" });
  const argument = { rows, lookups: LOOKUPS, seed: LOOKUP_SEED };
  const { elapsedMs } = await worker.call("pointLookups", argument, STEP_LIMIT_MS, "pointLookups after reopening");
  await worker.close();
  return elapsedMs;
}

/**
 * Workers open the database, commit and are killed, one after the other and without ever closing
 * it, as happens to tabs. Then a last one looks what is left.
 *
 * @param {Session} session
 * @param {Engine} engine
 * @param {number} baseRows rows that were there before, with keys from 1
 * @returns {Promise<KillSample>}
 */
async function measureKills(session, engine, baseRows) {
  const database = { engine: engine.name, database: "m0" };
  const acknowledged = KILLS * KILL_AFTER_COMMITS;
  try {
    const ranges = [];
    for (let round = 1; round <= KILLS; round += 1) {
      const firstKey = round * KILL_KEY_STRIDE;
      const { worker } = await session.start(database);
      await worker.killAfter({ firstKey, limit: KILL_COMMITS_MAX }, KILL_AFTER_COMMITS, STEP_LIMIT_MS);
      ranges.push({ firstKey, acknowledged: KILL_AFTER_COMMITS });
    }
    const { worker } = await session.start(database);
    const check = await worker.call("checkLost", { lastBaseKey: baseRows, ranges }, STEP_LIMIT_MS);
    await worker.close();
    return {
      acknowledged,
      lost: total(check.missing),
      lostByRound: check.missing,
      baseRowsLost: baseRows - check.baseRows,
      unacknowledged: check.otherRows,
    };
  } catch (error) {
    const damage = error instanceof Error ? error.message : String(error);
    if (damage.includes("wrong row")) throw error;
    return { acknowledged, lost: acknowledged, lostByRound: [], baseRowsLost: baseRows, unacknowledged: 0, damage };
  }
}

/**
 * @param {Session} session
 * @param {Engine} engine
 * @param {number} rows
 * @returns {Promise<number | null>}
 */
async function measureBulkLoad(session, engine, rows) {
  const { worker } = await session.start({ engine: engine.name, database: "bulk" });
  const result = await worker.call("bulkLoad", { rows }, STEP_LIMIT_MS);
  await worker.close();
  return result === null ? null : result.elapsedMs;
}
