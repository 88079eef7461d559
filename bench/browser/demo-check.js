#!/usr/bin/env node
// @ts-check
/**
 * Gingham's main job, proved headless (`cargo xtask demo --check`): loads TPC-H into OPFS through
 * the wasm build, answers the 22 queries, kills the worker without closing, reopens in a new one
 * and finds the same data and answers; then runs the M0 suite for Gingham and SQLite. Prints what
 * it measured and exits 0 only if all of that held.
 *
 *     node bench/browser/demo-check.js --sf 0.1 --data bench/.data/sf0.1
 */

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { engineByName } from "./adapters/engines.js";
import { findChromium } from "./harness/index.js";
import { parseOptions } from "./options.js";
import { requirePackage } from "./paths.js";
import { formatQuantity, markdownTable } from "./report/format.js";
import { total } from "./report/statistics.js";
import { TPCH_NOTICE } from "./report/tpch-table.js";
import { runM0 } from "./suites/run-m0.js";
import { withSession } from "./suites/session.js";
import { loadTables, passOver } from "./suites/tpch.js";
import { readAnswer } from "./tpch/answers.js";
import { compareResults } from "./tpch/compare.js";
import { locateTables, readQueries, tablesFolder } from "./tpch/inputs.js";
import { buildVendor } from "./vendor.js";

/** Loading, two passes and two openings at the demo's scale factor take well under a minute. */
const LIMIT_MS = 900_000;
const DATABASE = { engine: "gingham", database: "demo" };

/** @param {string} text */
function note(text) {
  process.stderr.write(`${text}\n`);
}

/**
 * @param {number} scaleFactor
 * @param {string} folder
 * @param {string} vendorFolder
 */
async function checkTpch(scaleFactor, folder, vendorFolder) {
  const engine = engineByName("gingham");
  if (engine === undefined) throw new Error("gingham is no engine");
  const queries = readQueries(scaleFactor, null);
  const tables = locateTables(folder, null);
  const options = { vendorFolder, scaleFactor, queries, tables, storage: "column", note };
  await withSession({ vendorFolder, dataFolder: folder, limitMs: LIMIT_MS }, async (session) => {
    const { worker: first } = await session.start(DATABASE);
    const loads = await loadTables(first, engine, options);
    const before = await checkedPass(first, scaleFactor, queries);
    note("killing the worker");
    await first.terminate();
    const { worker: second, started } = await session.start(DATABASE);
    await checkCounts(second, loads);
    const after = await checkedPass(second, scaleFactor, queries);
    await second.close();

    const ms = (/** @type {number} */ value) => formatQuantity(value, "ms");
    const rows = before.map(({ name, elapsedMs }, index) => [name.toUpperCase(), ms(elapsedMs), ms(after[index]?.elapsedMs ?? 0), "right"]);
    rows.push(["total", ms(total(before.map((query) => query.elapsedMs))), ms(total(after.map((query) => query.elapsedMs))), ""]);
    const rowCount = total(loads.map((load) => load.rows)).toLocaleString("en");
    const loadMs = total(loads.map((load) => load.elapsedMs));
    process.stdout.write(
      `\n${started.version}, TPC-H at scale factor ${scaleFactor}: ${rowCount} rows loaded into OPFS in ${ms(loadMs)}, ` +
        `${formatQuantity((await session.storedFiles()).bytes, "bytes")} stored.\n` +
        `Killed without closing; reopened in ${ms(started.importMs + started.openMs)} with the same rows.\n\n` +
        `${markdownTable(["", "after loading", "after the kill", "results"], rows)}\n\n${TPCH_NOTICE}\n\n`,
    );
  });
}

/**
 * Runs every query once and compares the results with the known answers.
 *
 * @param {import("./suites/session.js").BenchWorker} worker
 * @param {number} scaleFactor
 * @param {readonly import("./tpch/inputs.js").Query[]} queries
 */
async function checkedPass(worker, scaleFactor, queries) {
  note("running the 22 queries");
  const pass = await passOver(worker, { queries, scaleFactor });
  for (const { name, sql, result } of pass) {
    const answer = readAnswer(scaleFactor, name);
    if (answer === null) throw new Error(`tpch/answers has no ${name} at scale factor ${scaleFactor}`);
    const difference = compareResults(sql, answer, result);
    if (difference !== null) throw new Error(`${name} differs from the answer: ${difference}`);
  }
  return pass;
}

/**
 * @param {import("./suites/session.js").BenchWorker} worker
 * @param {readonly {table: string, rows: number}[]} loads
 */
async function checkCounts(worker, loads) {
  for (const { table, rows } of loads) {
    const result = await worker.call("query", { sql: `SELECT count(*) FROM ${table}` });
    const found = Number(result.rows[0]?.[0]);
    if (found !== rows) throw new Error(`${table} has ${found} rows after the kill and had ${rows}`);
  }
}

/** @param {string} vendorFolder */
async function checkM0(vendorFolder) {
  const options = parseOptions(["m0", "--engines", "gingham,sqlite,sqlite-wal", "--repeat", "1"]);
  if (options === "help") return [];
  const { table, notes, failures } = await runM0(options, { vendorFolder, note });
  process.stdout.write(`${table}\n\n${notes.join("\n")}\n\n`);
  return failures;
}

try {
  const { values } = parseArgs({ options: { sf: { type: "string", default: "0.1" }, data: { type: "string" } } });
  const scaleFactor = Number(values.sf);
  findChromium();
  requirePackage();
  const vendorFolder = await buildVendor();
  await checkTpch(scaleFactor, resolve(values.data ?? tablesFolder(scaleFactor)), vendorFolder);
  const failures = await checkM0(vendorFolder);
  for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);
  process.exitCode = failures.length === 0 ? 0 : 1;
} catch (error) {
  process.stdout.write(`FAILED ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
