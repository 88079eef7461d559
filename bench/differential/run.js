/**
 * Compares Gingham with its peers over random databases.
 *
 *     node run.js --binary PATH [--seed N] [--queries N] [--minutes M] [--faults N] [--out FOLDER]
 *
 * Every database has a seed of its own, printed with each fault; `--seed` with that
 * number and `--databases 1` replays it. Exit 1 if there was a fault.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { applyChange, compareTables, currentTables } from "./check/changes.js";
import { partitionFault } from "./check/metamorphic.js";
import { Session } from "./check/session.js";
import { shrink, tryOut } from "./check/shrink.js";
import { sltText } from "./check/slt.js";
import { Changes, changeSql } from "./generate/change.js";
import { FEATURES, Queries } from "./generate/query.js";
import { generateSchema } from "./generate/schema.js";
import { Gingham } from "./peers/gingham.js";
import { Random } from "./random.js";

/** Questions put to one database. */
const STEPS = 40;

/** SQLite joins larger tables without an index row by row, for hours. */
const SQLITE_ROWS_MAX = 2000;

const { values: options } = parseArgs({
  options: {
    binary: { type: "string" },
    seed: { type: "string", default: "1" },
    queries: { type: "string" },
    minutes: { type: "string" },
    databases: { type: "string" },
    faults: { type: "string", default: "1" },
    out: { type: "string" },
    large: { type: "string", default: "0.02" },
    "no-shrink": { type: "boolean", default: false },
  },
});
if (!options.binary) {
  console.error("--binary wants the path of Gingham's shell");
  process.exit(2);
}

const totals = { databases: 0, queries: 0, compared: 0, sqlite: 0, rows: 0, errors: 0, tolerated: 0, peerErrors: 0, changes: 0 };
let deadline = options.minutes ? Date.now() + Number(options.minutes) * 60000 : Infinity;
const queriesMax = Number(options.queries ?? (options.minutes || options.databases ? Infinity : 400));
const databasesMax = Number(options.databases ?? Infinity);
// Stop at the next question and count up.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => (deadline = 0));
/** Faults by what they look like, so that one cause is shrunk once. */
const seen = new Map();

/** What this build of Gingham has of what is new. */
async function presentFeatures() {
  const gingham = await Gingham.open(options.binary);
  const present = new Set();
  for (const [name, sql] of Object.entries(FEATURES)) if ((await gingham.run(sql)).error?.code !== "0A000") present.add(name);
  await gingham.close();
  return present;
}

/** One database: tables, then changes and queries until a fault. */
async function oneDatabase(seed) {
  const random = new Random(seed);
  const tables = generateSchema(random.fork(), { large: Number(options.large) });
  for (const table of tables) table.indexesFirst = random.chance(0.5);
  const chunk = random.pick([7, 100, 2000, 5000]);
  const session = await Session.open(options.binary, tables, { withSqlite: tables.every(({ size }) => size <= SQLITE_ROWS_MAX) });
  const state = { session, tables, chunk: tables.some((table) => table.rows.length > 1000) ? Math.max(chunk, 1000) : chunk, changes: [] };
  try {
    const loading = (await session.load(state.chunk)) ?? (await compareTables(session, tables));
    if (loading) return await report(seed, state, null, loading);
    for (let step = 0; step < STEPS && totals.queries + session.counts.queries < queriesMax && Date.now() < deadline; step++) {
      const drawn = random.fork();
      const queries = new Queries(drawn, tables, features);
      if (drawn.chance(0.2)) {
        const change = new Changes(drawn, tables, queries).change();
        totals.changes++;
        const fault = await applyChange(session, change);
        state.changes.push(change);
        if (fault) return await report(seed, state, null, fault);
        continue;
      }
      const query = queries.query();
      const fault = (await session.check(query)) ?? (drawn.chance(0.1) ? await partitionFault(session, query, drawn) : null);
      if (fault && fault.kind === "peer") {
        await report(seed, state, query, fault);
        continue;
      }
      if (fault) return await report(seed, state, query, fault);
    }
  } finally {
    for (const [name, count] of Object.entries(session.counts)) totals[name] += count;
    totals.databases++;
    await session.close();
  }
}

/** Shrinks a fault that is new and prints it as a file for the suite. */
async function report(seed, state, query, fault) {
  const look = `${fault.kind} ${fault.code ?? ""} ${fault.shape ?? ""}`.trim();
  const times = (seen.get(look) ?? 0) + 1;
  seen.set(look, times);
  console.log(`\nseed ${seed}: ${look}: ${fault.detail.split("\n")[0]}`);
  if (fault.kind === "peer" || times > (fault.kind === "rows" ? 4 : 2) || options["no-shrink"] || fault.partition) {
    if (query) console.log(sltText({ tables: [], history: [], query }, fault, "not shrunk"));
    if (fault.sql) console.log(fault.sql.slice(0, 2000));
    return;
  }
  const start = await startingPoint(state, query, fault);
  if (!start) {
    console.log("(does not show again on a fresh database)");
    if (query) console.log(sltText({ tables: [], history: [], query }, fault, "not shrunk"));
    return;
  }
  const small = await shrink(options.binary, start, fault);
  const text = sltText({ ...small.reproducer, history: historyOf(small.reproducer.changes) }, small.fault, `${look}, route ${small.fault.route ?? "any"}: ${small.fault.detail.split("\n")[0]}`);
  console.log(text);
  if (small.fault.sql) console.log(small.fault.sql);
  if (options.out) {
    mkdirSync(options.out, { recursive: true });
    writeFileSync(join(options.out, `${seed}-${fault.kind}.slt`), text);
  }
}

/** What shows the fault on a fresh database: the rows as they are, or the way there. */
async function startingPoint({ session, tables, changes, chunk }, query, fault) {
  const whole = { tables, changes, query, chunk };
  const candidates = query ? [{ tables: await currentTables(session), changes: [], query, chunk }, whole] : [whole];
  for (const candidate of candidates) if (fault.isLike(await tryOut(options.binary, candidate))) return candidate;
  return null;
}

const historyOf = (changes) =>
  changes.flatMap(({ steps, transaction }) => {
    const statements = steps.filter(({ kind }) => kind !== "query").map((step) => changeSql(step, "gingham"));
    return transaction ? ["BEGIN", ...statements, transaction] : statements;
  });

const faultCount = () => [...seen].filter(([look]) => !look.startsWith("peer")).reduce((sum, [, count]) => sum + count, 0);
const features = await presentFeatures();
const absent = Object.keys(FEATURES).filter((name) => !features.has(name));
if (absent.length > 0) console.log(`not in this build, so left out: ${absent.join(", ")}`);
let seed = Number(options.seed);
while (totals.queries < queriesMax && totals.databases < databasesMax && Date.now() < deadline && faultCount() < Number(options.faults)) {
  await oneDatabase(seed);
  seed++;
}
const peerFaults = [...seen].filter(([look]) => look.startsWith("peer")).reduce((sum, [, count]) => sum + count, 0);
console.log(
  `${totals.databases} databases, ${totals.changes} changes, ${totals.queries} queries: ${totals.compared} answers equal to DuckDB's ` +
    `(${totals.rows} rows), ${totals.sqlite} also to SQLite's, ${totals.errors} errors in both, ${totals.tolerated + totals.peerErrors} known differences, ` +
    `${peerFaults} refused by a peer; next seed ${seed}`,
);
for (const [look, count] of seen) console.log(`  ${count} × ${look}`);
console.log(`differential: ${totals.compared} passed, ${faultCount()} failed`);
process.exit(faultCount() > 0 ? 1 : 0);
