// @ts-check
/**
 * The batteries: what web apps do to a database all day, one measured span each. They run in
 * order in one database, since later ones use the tables of earlier ones; every one checks what
 * it got outside the measured time and throws where something is missing or wrong.
 *
 * The module touches nothing of a worker's at import, so that the Node side can list it.
 */

import { randomKeys, valueOf } from "./rows.js";

/** @typedef {import("../adapters/adapter.js").Adapter} Adapter */
/** @typedef {import("../adapters/adapter.js").Statement} Statement */
/** @typedef {import("./protocol.js").Cell} Cell */

const ROWS = 10_000;
const AUTOCOMMITS = 1000;
const LOOKUPS = 1000;
const RANGES = 100;
const UPDATES = 5000;
const WIDE_COLUMNS = 30;
const WIDE_ROWS = 1000;
const LARGE_TEXTS = 100;
const LARGE_TEXT_CHARACTERS = 100_000;
const ORDERS = 20_000;
const JOINS = 10;
const TOPS = 20;
const TOP_ROWS = 20;

/** Values of the column `a` of `t`: each is that of about four rows. */
const GROUPS = 2500;
const RANGE_WIDTH = 25;
const GROUP_OF = randomKeys(ROWS, GROUPS, 77);
const TARGET_OF = randomKeys(ORDERS, ROWS, 78);

/**
 * @typedef {object} Battery
 * @property {string} id
 * @property {string} title
 * @property {boolean} [relaxed] runs in a database of its own whose commits need not be flushed
 * @property {(adapter: Adapter) => Promise<Check>} run measures itself by `timed`
 *
 * @typedef {{elapsedMs: number}} Check
 */

/** @type {readonly Battery[]} */
export const BATTERIES = Object.freeze([
  { id: "insert_ms", title: `${count(ROWS)} rows one by one, one transaction`, run: insertRows },
  { id: "autocommit_ms", title: `${count(AUTOCOMMITS)} autocommits, strict`, run: autocommit },
  { id: "autocommit_relaxed_ms", title: `${count(AUTOCOMMITS)} autocommits, relaxed`, relaxed: true, run: autocommit },
  { id: "index_ms", title: `CREATE INDEX over ${count(ROWS)} rows`, run: createIndex },
  { id: "lookup_ms", title: `${count(LOOKUPS)} lookups by index`, run: lookUp },
  { id: "range_ms", title: `${RANGES} ranges by index, count and sum`, run: countRanges },
  { id: "update_each_ms", title: `${count(UPDATES)} rows updated one by one`, run: updateEach },
  { id: "update_all_ms", title: `${count(UPDATES)} rows updated in one statement, indexed column`, run: updateAll },
  { id: "wide_ms", title: `one of ${WIDE_COLUMNS} columns updated, ${count(WIDE_ROWS)} rows one by one`, run: updateWide },
  { id: "large_write_ms", title: `${LARGE_TEXTS} texts of 100 KB written`, run: writeLarge },
  { id: "large_read_ms", title: `${LARGE_TEXTS} texts of 100 KB read one by one`, run: readLarge },
  { id: "delete_reinsert_ms", title: "half of the rows deleted and inserted again", run: deleteAndReinsert },
  { id: "join_ms", title: `${JOINS} joins of ${count(ORDERS)} with ${count(ROWS)} rows`, run: join },
  { id: "top_ms", title: `${TOPS} times ORDER BY without an index, LIMIT ${TOP_ROWS}`, run: topRows },
]);

/**
 * @param {Adapter} adapter
 * @param {{id: string}} argument
 */
export function run(adapter, { id }) {
  const battery = BATTERIES.find((known) => known.id === id);
  if (battery === undefined) throw new Error(`unknown battery ${id}`);
  return battery.run(adapter);
}

/** @param {Adapter} adapter */
async function insertRows(adapter) {
  await adapter.exec("CREATE TABLE t(k INTEGER PRIMARY KEY, a INTEGER, b TEXT)");
  await adapter.afterCommit();
  const keys = Array.from({ length: ROWS }, (_, index) => index + 1);
  const rows = keys.map((key) => [key, GROUP_OF[key - 1] ?? 0, valueOf(key)]);
  const elapsedMs = await timed(() => runAll(adapter, "INSERT INTO t VALUES (?, ?, ?)", rows));
  await expect(adapter, "SELECT count(*), sum(a) FROM t", [ROWS, sumOf(GROUP_OF)]);
  return { elapsedMs };
}

/** @param {Adapter} adapter */
async function autocommit(adapter) {
  await adapter.exec("CREATE TABLE log(k INTEGER PRIMARY KEY, v TEXT)");
  await adapter.afterCommit();
  const insert = await adapter.prepare("INSERT INTO log VALUES (?, ?)");
  const elapsedMs = await timed(async () => {
    for (let key = 1; key <= AUTOCOMMITS; key += 1) {
      await insert.run([key, valueOf(key)]);
      await adapter.afterCommit();
    }
  });
  await insert.finalize();
  await expect(adapter, "SELECT count(*), max(k) FROM log", [AUTOCOMMITS, AUTOCOMMITS]);
  return { elapsedMs };
}

/** @param {Adapter} adapter */
async function createIndex(adapter) {
  return {
    elapsedMs: await timed(async () => {
      await adapter.exec("CREATE INDEX t_a ON t(a)");
      await adapter.afterCommit();
    }),
  };
}

/** @param {Adapter} adapter */
async function lookUp(adapter) {
  const groups = randomKeys(LOOKUPS, GROUPS, 79);
  /** @type {Cell[][][]} */
  const results = [];
  const elapsedMs = await timed(async () => {
    const select = await adapter.prepare("SELECT k, b FROM t WHERE a = ?");
    for (const group of groups) results.push(await select.columns([group]));
    await select.finalize();
  });
  groups.forEach((group, index) => {
    const [keys = [], values = []] = results[index] ?? [];
    const wanted = GROUP_OF.reduce((sum, other) => sum + (other === group ? 1 : 0), 0);
    const right = keys.every((key, row) => GROUP_OF[Number(key) - 1] === group && values[row] === valueOf(Number(key)));
    if (keys.length !== wanted || !right) throw new Error(`wrong row: lookup of a = ${group}`);
  });
  return { elapsedMs };
}

/** @param {Adapter} adapter */
async function countRanges(adapter) {
  /** @type {Cell[][][]} */
  const results = [];
  const elapsedMs = await timed(async () => {
    const select = await adapter.prepare("SELECT count(*), sum(k) FROM t WHERE a >= ? AND a < ?");
    for (let range = 0; range < RANGES; range += 1) {
      results.push(await select.columns([range * RANGE_WIDTH, (range + 1) * RANGE_WIDTH]));
    }
    await select.finalize();
  });
  results.forEach(([counts, sums], range) => {
    let rows = 0;
    let sum = 0;
    GROUP_OF.forEach((group, index) => {
      if (group < range * RANGE_WIDTH || group >= (range + 1) * RANGE_WIDTH) return;
      rows += 1;
      sum += index + 1;
    });
    if (Number(counts?.[0]) !== rows || Number(sums?.[0]) !== sum) throw new Error(`wrong row: range ${range}`);
  });
  return { elapsedMs };
}

/** @param {Adapter} adapter */
async function updateEach(adapter) {
  const rows = Array.from(randomKeys(UPDATES, ROWS, 80), (key) => [valueOf(key + ROWS), key]);
  const elapsedMs = await timed(() => runAll(adapter, "UPDATE t SET b = ? WHERE k = ?", rows));
  const [value, key] = rows[0] ?? [];
  await expect(adapter, `SELECT b FROM t WHERE k = ${key}`, [value ?? null]);
  // As they were, for the batteries that come after.
  await runAll(adapter, "UPDATE t SET b = ? WHERE k = ?", rows.map(([, row]) => [valueOf(Number(row)), row ?? null]));
  return { elapsedMs };
}

/** @param {Adapter} adapter */
async function updateAll(adapter) {
  const update = await adapter.prepare("UPDATE t SET a = a + ? WHERE k <= ?");
  const elapsedMs = await timed(async () => {
    await update.run([1, UPDATES]);
    await adapter.afterCommit();
  });
  await expect(adapter, "SELECT count(*), sum(a) FROM t", [ROWS, sumOf(GROUP_OF) + UPDATES]);
  await update.run([-1, UPDATES]);
  await adapter.afterCommit();
  await update.finalize();
  return { elapsedMs };
}

/** @param {Adapter} adapter */
async function updateWide(adapter) {
  const names = Array.from({ length: WIDE_COLUMNS - 1 }, (_, index) => `c${index + 1}`);
  const columns = names.map((name, index) => `${name} ${index % 2 === 0 ? "INTEGER" : "TEXT"}`);
  await adapter.exec(`CREATE TABLE wide(k INTEGER PRIMARY KEY, ${columns.join(", ")})`);
  const keys = Array.from({ length: WIDE_ROWS }, (_, index) => index + 1);
  const rows = keys.map((key) => [key, ...names.map((_, index) => (index % 2 === 0 ? key + index : valueOf(key + index)))]);
  await runAll(adapter, `INSERT INTO wide VALUES (${["?", ...names.map(() => "?")].join(", ")})`, rows);
  const updates = keys.map((key) => [-key, key]);
  const elapsedMs = await timed(() => runAll(adapter, "UPDATE wide SET c15 = ? WHERE k = ?", updates));
  await expect(adapter, "SELECT count(*), sum(c15), sum(c1) FROM wide", [WIDE_ROWS, -sumOf(keys), sumOf(keys)]);
  return { elapsedMs };
}

/** @param {Adapter} adapter */
async function writeLarge(adapter) {
  await adapter.exec("CREATE TABLE large(k INTEGER PRIMARY KEY, v TEXT)");
  await adapter.afterCommit();
  const rows = Array.from({ length: LARGE_TEXTS }, (_, index) => [index + 1, largeText(index + 1)]);
  const elapsedMs = await timed(() => runAll(adapter, "INSERT INTO large VALUES (?, ?)", rows));
  await expect(adapter, "SELECT count(*), sum(length(v)) FROM large", [LARGE_TEXTS, LARGE_TEXTS * LARGE_TEXT_CHARACTERS]);
  return { elapsedMs };
}

/** @param {Adapter} adapter */
async function readLarge(adapter) {
  /** @type {(Cell | undefined)[]} */
  const texts = [];
  const elapsedMs = await timed(async () => {
    const select = await adapter.prepare("SELECT v FROM large WHERE k = ?");
    for (let key = 1; key <= LARGE_TEXTS; key += 1) texts.push(await select.value([key]));
    await select.finalize();
  });
  if (!texts.every((text, index) => text === largeText(index + 1))) throw new Error("wrong row: a text of 100 KB");
  return { elapsedMs };
}

/** @param {Adapter} adapter */
async function deleteAndReinsert(adapter) {
  const keys = Array.from({ length: ROWS / 2 }, (_, index) => 2 * (index + 1));
  const rows = keys.map((key) => [key, GROUP_OF[key - 1] ?? 0, valueOf(key)]);
  const elapsedMs = await timed(async () => {
    await adapter.exec("DELETE FROM t WHERE k % 2 = 0");
    await adapter.afterCommit();
    await runAll(adapter, "INSERT INTO t VALUES (?, ?, ?)", rows);
  });
  await expect(adapter, "SELECT count(*), sum(a), sum(k) FROM t", [ROWS, sumOf(GROUP_OF), (ROWS * (ROWS + 1)) / 2]);
  return { elapsedMs };
}

/** @param {Adapter} adapter */
async function join(adapter) {
  await adapter.exec("CREATE TABLE orders(k INTEGER PRIMARY KEY, t_k INTEGER, amount INTEGER)");
  const rows = Array.from(TARGET_OF, (target, index) => [index + 1, target, index % 1000]);
  await runAll(adapter, "INSERT INTO orders VALUES (?, ?, ?)", rows);
  const limits = Array.from({ length: JOINS }, (_, index) => Math.round((GROUPS / JOINS) * (index + 1)));
  /** @type {Cell[][][]} */
  const results = [];
  const elapsedMs = await timed(async () => {
    const select = await adapter.prepare(
      "SELECT count(*), sum(orders.amount) FROM orders JOIN t ON orders.t_k = t.k WHERE t.a <= ?",
    );
    for (const limit of limits) results.push(await select.columns([limit]));
    await select.finalize();
  });
  limits.forEach((limit, index) => {
    const joined = rows.filter(([, target]) => (GROUP_OF[(target ?? 0) - 1] ?? 0) <= limit);
    const [counts, sums] = results[index] ?? [];
    const sum = joined.reduce((total, [, , amount]) => total + (amount ?? 0), 0);
    if (Number(counts?.[0]) !== joined.length || Number(sums?.[0]) !== sum) throw new Error(`wrong row: join ${index}`);
  });
  return { elapsedMs };
}

/** @param {Adapter} adapter */
async function topRows(adapter) {
  /** @type {Cell[][]} */
  let columns = [];
  const elapsedMs = await timed(async () => {
    const select = await adapter.prepare(`SELECT k, b FROM t ORDER BY b LIMIT ${TOP_ROWS}`);
    for (let round = 0; round < TOPS; round += 1) columns = await select.columns([]);
    await select.finalize();
  });
  const values = Array.from({ length: ROWS }, (_, index) => valueOf(index + 1)).sort();
  if (JSON.stringify(columns[1]) !== JSON.stringify(values.slice(0, TOP_ROWS))) throw new Error("wrong row: top rows");
  return { elapsedMs };
}

/**
 * Runs a prepared statement once a row, in one transaction.
 *
 * @param {Adapter} adapter
 * @param {string} sql
 * @param {readonly Cell[][]} rows
 */
async function runAll(adapter, sql, rows) {
  await adapter.exec("BEGIN");
  const statement = await adapter.prepare(sql);
  for (const row of rows) {
    const done = statement.run(row);
    if (done instanceof Promise) await done;
  }
  await adapter.exec("COMMIT");
  await adapter.afterCommit();
  await statement.finalize();
}

/**
 * @param {() => Promise<void>} body
 * @returns {Promise<number>} milliseconds
 */
async function timed(body) {
  const start = performance.now();
  await body();
  return performance.now() - start;
}

/**
 * @param {Adapter} adapter
 * @param {string} sql of one row
 * @param {readonly Cell[]} wanted numbers, or texts
 */
async function expect(adapter, sql, wanted) {
  const { columns } = await adapter.query(sql);
  const row = columns.map((column) => column[0] ?? null);
  const same = (/** @type {Cell} */ value, /** @type {number} */ index) =>
    typeof value === "string" ? row[index] === value : Number(row[index]) === value;
  if (wanted.length !== row.length || !wanted.every(same)) {
    throw new Error(`wrong row: ${sql} gave ${row.map(String).join(", ")}, not ${wanted.map(String).join(", ")}`);
  }
}

/** @param {number} key */
function largeText(key) {
  return valueOf(key).repeat(Math.ceil(LARGE_TEXT_CHARACTERS / 32)).slice(0, LARGE_TEXT_CHARACTERS);
}

/** @param {ArrayLike<number>} values */
function sumOf(values) {
  return Array.from(values).reduce((sum, value) => sum + value, 0);
}

/** @param {number} value */
function count(value) {
  return value.toLocaleString("en");
}
