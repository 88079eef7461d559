// @ts-check
/**
 * The table of the native benches, from what criterion left in a folder:
 * `node bench/browser/report/native-table.js FOLDER [--save]`.
 */

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { formatRatio, markdownTable, significant } from "./format.js";
import { describeCommit, describeMachine, loadAverage } from "./machine.js";
import { saveResult } from "./save.js";

const GINGHAM = "gingham";
const PEERS = ["sqlite", "redb"];

/** @typedef {{nanoseconds: number, low: number, high: number}} Estimate per operation */

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

/**
 * The estimates of one run by operation and engine: medians with their 95 % intervals.
 *
 * @param {string} folder
 * @returns {Map<string, Map<string, Estimate>>}
 */
function readEstimates(folder) {
  const operations = new Map();
  for (const file of /** @type {string[]} */ (readdirSync(folder, { recursive: true }))) {
    if (!file.endsWith(join("new", "benchmark.json"))) continue;
    const path = join(folder, file);
    const { group_id: operation, function_id: engine, throughput } = readJson(path);
    const { median } = readJson(join(path, "..", "estimates.json"));
    const count = throughput?.Elements ?? 1;
    const { lower_bound, upper_bound } = median.confidence_interval;
    const estimate = { nanoseconds: median.point_estimate / count, low: lower_bound / count, high: upper_bound / count };
    operations.set(operation, (operations.get(operation) ?? new Map()).set(engine, estimate));
  }
  return operations;
}

/** @param {Estimate | undefined} estimate */
function cell(estimate) {
  if (estimate === undefined) return "–";
  const spread = (estimate.high - estimate.low) / 2 / estimate.nanoseconds;
  return `${significant(estimate.nanoseconds)} ±${Math.round(spread * 100)} %`;
}

const [folder, save] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node bench/browser/report/native-table.js FOLDER [--save]");
const operations = readEstimates(folder);
const header = ["ns per operation", GINGHAM, ...PEERS, ...PEERS.map((peer) => `${peer} / ${GINGHAM}`)];
const rows = [...operations].map(([operation, engines]) => {
  const own = engines.get(GINGHAM)?.nanoseconds;
  const ratio = (/** @type {string} */ peer) => {
    const theirs = engines.get(peer)?.nanoseconds;
    return own === undefined || theirs === undefined ? "–" : formatRatio(theirs, own);
  };
  return [operation, ...[GINGHAM, ...PEERS].map((engine) => cell(engines.get(engine))), ...PEERS.map(ratio)];
});
console.log(`\n${markdownTable(header, rows)}\n\nmedians; load average ${loadAverage()}`);
if (save === "--save") {
  const result = {
    date: new Date().toISOString(),
    suite: "native",
    machine: describeMachine(),
    loadAverage: loadAverage(),
    ...describeCommit(),
    nanoseconds: Object.fromEntries([...operations].map(([name, engines]) => [name, Object.fromEntries(engines)])),
  };
  console.log(`saved ${saveResult("row-store", result, "native")}`);
}
