// @ts-check
/**
 * The measured steps of the M0 suite, as they run inside an engine's worker. Each step checks
 * what it got, outside the measured time, and throws where a row is missing or wrong.
 */

import { storageCalls } from "./storage-calls.js";
import { randomKeys, valueOf } from "./rows.js";

/** @typedef {import("../adapters/adapter.js").Adapter} Adapter */
/** @typedef {import("./protocol.js").Methods} Methods */
/** @typedef {import("./protocol.js").Cell} Cell */
/** @template {keyof Methods} M @typedef {Parameters<Methods[M]>[0]} Argument */

const CREATE_TABLE = "CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT)";
const INSERT = "INSERT INTO t VALUES (?, ?)";

/** How long `countRows` repeats at least: one is shorter than the clock of a page ticks. */
const COUNT_SPAN_MS = 50;
const COUNT_ITERATIONS_MAX = 10_000;

/**
 * All rows in one transaction, by a prepared single-row INSERT.
 *
 * @param {Adapter} adapter
 * @param {Argument<"bulkInsert">} argument
 */
export async function bulkInsert(adapter, { rows }) {
  await adapter.exec(CREATE_TABLE);
  await adapter.afterCommit();
  const values = Array.from({ length: rows }, (_, index) => valueOf(index + 1));
  const start = performance.now();
  await adapter.exec("BEGIN");
  const insert = await adapter.prepare(INSERT);
  for (let index = 0; index < rows; index += 1) {
    const done = insert.run([index + 1, values[index] ?? null]);
    if (done instanceof Promise) await done;
  }
  await adapter.exec("COMMIT");
  await adapter.afterCommit();
  const elapsedMs = performance.now() - start;
  await insert.finalize();
  return { elapsedMs };
}

/**
 * All rows through the engine's own bulk interface, into a table of their own.
 *
 * @param {Adapter} adapter
 * @param {Argument<"bulkLoad">} argument
 */
export async function bulkLoad(adapter, { rows }) {
  if (adapter.bulkLoad === null) return null;
  await adapter.exec(CREATE_TABLE);
  await adapter.afterCommit();
  const keys = Int32Array.from({ length: rows }, (_, index) => index + 1);
  const values = Array.from(keys, (key) => valueOf(key));
  const start = performance.now();
  await adapter.bulkLoad("t", keys, values);
  const elapsedMs = performance.now() - start;
  await scan(adapter, { rows, repeats: 1 });
  return { elapsedMs };
}

/**
 * @param {Adapter} adapter
 * @param {Argument<"countRows">} argument
 */
export async function countRows(adapter, { expected }) {
  const count = await adapter.prepare("SELECT count(*) FROM t");
  let iterations = 0;
  let totalMs = 0;
  const start = performance.now();
  while (totalMs < COUNT_SPAN_MS && iterations < COUNT_ITERATIONS_MAX) {
    const value = await count.value([]);
    if (Number(value) !== expected) throw new Error(`count(*) is ${value} and should be ${expected}`);
    iterations += 1;
    totalMs = performance.now() - start;
  }
  await count.finalize();
  return { iterations, totalMs };
}

/**
 * @param {Adapter} adapter
 * @param {Argument<"pointLookups">} argument
 */
export async function pointLookups(adapter, { rows, lookups, seed }) {
  const keys = randomKeys(lookups, rows, seed);
  /** @type {(Cell | undefined)[]} */
  const found = new Array(lookups);
  const start = performance.now();
  const select = await adapter.prepare("SELECT v FROM t WHERE k = ?");
  for (let index = 0; index < lookups; index += 1) {
    const value = select.value([keys[index] ?? 0]);
    found[index] = value instanceof Promise ? await value : value;
  }
  const elapsedMs = performance.now() - start;
  await select.finalize();
  keys.forEach((key, index) => expectValue(key, found[index]));
  return { elapsedMs };
}

/**
 * Reads every value of every row into JavaScript.
 *
 * @param {Adapter} adapter
 * @param {Argument<"scan">} argument
 */
export async function scan(adapter, { rows, repeats }) {
  /** @type {number[]} */
  const samplesMs = [];
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const start = performance.now();
    const statement = await adapter.prepare("SELECT k, v FROM t ORDER BY k");
    const columns = await statement.columns([]);
    samplesMs.push(performance.now() - start);
    await statement.finalize();
    expectRows(columns, rows);
  }
  return { samplesMs };
}

/**
 * Durable transactions of one row each, one after the other.
 *
 * @param {Adapter} adapter
 * @param {Argument<"durableInserts">} argument
 */
export async function durableInserts(adapter, { firstKey, transactions }) {
  const insert = await adapter.prepare(INSERT);
  /** @type {number[]} */
  const samplesMs = [];
  const callsBefore = storageCalls();
  const start = performance.now();
  for (let index = 0; index < transactions; index += 1) {
    const key = firstKey + index;
    const value = valueOf(key);
    const before = performance.now();
    await insert.run([key, value]);
    await adapter.afterCommit();
    samplesMs.push(performance.now() - before);
  }
  const totalMs = performance.now() - start;
  const calls = storageCalls();
  await insert.finalize();
  return {
    samplesMs,
    totalMs,
    flushes: calls.flushes - callsBefore.flushes,
    writtenBytes: calls.writtenBytes - callsBefore.writtenBytes,
  };
}

/**
 * @param {Adapter} adapter
 * @param {Argument<"commitUntilKilled">} argument
 * @param {(key: number) => void} acknowledge
 */
export async function commitUntilKilled(adapter, { firstKey, limit }, acknowledge) {
  const insert = await adapter.prepare(INSERT);
  for (let index = 0; index < limit; index += 1) {
    await insert.run([firstKey + index, valueOf(firstKey + index)]);
    await adapter.afterCommit();
    acknowledge(firstKey + index);
  }
  return { committed: limit };
}

/**
 * After kills: which acknowledged rows are there, and is every row that is there right?
 *
 * @param {Adapter} adapter
 * @param {Argument<"checkLost">} argument
 * @returns {Promise<import("./protocol.js").LostCheck>}
 */
export async function checkLost(adapter, { lastBaseKey, ranges }) {
  const { columns } = await adapter.query("SELECT k, v FROM t ORDER BY k");
  const keys = (columns[0] ?? []).map(Number);
  keys.forEach((key, index) => expectValue(key, columns[1]?.[index]));
  const present = new Set(keys);
  const missing = ranges.map(({ firstKey, acknowledged }) => {
    let count = 0;
    for (let key = firstKey; key < firstKey + acknowledged; key += 1) count += present.has(key) ? 0 : 1;
    return count;
  });
  const baseRows = keys.filter((key) => key <= lastBaseKey).length;
  const found = ranges.reduce((sum, { acknowledged }, index) => sum + acknowledged - (missing[index] ?? 0), 0);
  return { baseRows, missing, otherRows: keys.length - baseRows - found };
}

/**
 * The first row of an existing database.
 *
 * @param {Adapter} adapter
 */
export async function firstRow(adapter) {
  const select = await adapter.prepare("SELECT v FROM t WHERE k = ?");
  const value = await select.value([1]);
  await select.finalize();
  expectValue(1, value);
}

/**
 * @param {Cell[][]} columns
 * @param {number} rows
 */
function expectRows(columns, rows) {
  const [keys, values] = columns;
  if (keys?.length !== rows || values?.length !== rows) {
    throw new Error(`the scan gave ${keys?.length} rows and should give ${rows}`);
  }
  keys.forEach((key, index) => {
    if (Number(key) !== index + 1) throw new Error(`row ${index} has the key ${key}`);
    expectValue(index + 1, values[index]);
  });
}

/**
 * @param {number} key
 * @param {Cell | undefined} value
 */
function expectValue(key, value) {
  if (value !== valueOf(key)) {
    throw new Error(`wrong row: the key ${key} has the value ${JSON.stringify(value)}, not ${valueOf(key)}`);
  }
}
