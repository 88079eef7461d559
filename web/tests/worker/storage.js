// @ts-check
/** Databases in OPFS: what the tests of durability, damage and quotas do inside a worker. */

import { Database } from "/dist/sync.js";
import { equal } from "./assert.js";

/** @typedef {import("../../ts/values.js").OpenOptions} OpenOptions */

/** @type {Map<string, Database>} */
const open = new Map();

/** @param {unknown} error */
function plain(error) {
  const { name, code, message, hint } = /** @type {any} */ (error);
  return { name, code, message, hint };
}

/**
 * Opens a database and keeps it open.
 *
 * @param {string} name
 * @param {OpenOptions} [options]
 * @returns the error, or null
 */
export async function openDatabase(name, options) {
  try {
    open.set(name, await Database.open(name, options));
    return null;
  } catch (error) {
    return plain(error);
  }
}

/** @param {string} name */
export function closeDatabase(name) {
  open.get(name)?.close();
  open.delete(name);
}

/**
 * Runs a script; the error, or null.
 *
 * @param {string} name
 * @param {string} sql
 */
export function exec(name, sql) {
  try {
    open.get(name)?.exec(sql);
    return null;
  } catch (error) {
    return plain(error);
  }
}

/**
 * All rows of a query, as arrays.
 *
 * @param {string} name
 * @param {string} sql
 */
export function rows(name, sql) {
  return open.get(name)?.prepare(sql).raw().all();
}

/**
 * Commits rows one by one and notes each once it is acknowledged, until it is killed.
 *
 * @param {string} name
 * @param {number} first
 */
export async function commitUntilKilled(name, first) {
  const db = /** @type {Database} */ (open.get(name));
  const insert = db.prepare("INSERT INTO t VALUES (?, ?)");
  for (let key = first; ; key += 1) {
    insert.run(key, `value ${key}`);
    self.postMessage({ id: 0, note: key });
  }
}

/**
 * Inserts blocks until the quota is full.
 *
 * @param {string} name
 * @param {number} rowsMax
 * @returns how many rows were acknowledged, and the error that ended it
 */
export function fill(name, rowsMax) {
  const db = /** @type {Database} */ (open.get(name));
  const insert = db.prepare("INSERT INTO big VALUES (?, ?)");
  const block = new Uint8Array(64 * 1024);
  let acknowledged = 0;
  try {
    for (; acknowledged < rowsMax; acknowledged += 1) {
      crypto.getRandomValues(block);
      insert.run(acknowledged, block);
    }
    return { acknowledged, error: null };
  } catch (error) {
    return { acknowledged, error: plain(error) };
  }
}

/**
 * Copies a closed database's file and changes the copy: 4 KiB from `at` on inverted or zeroed, or
 * everything from there on cut off.
 *
 * @param {string} from
 * @param {string} to
 * @param {"flip" | "zero" | "truncate"} how
 * @param {number} at
 */
export async function damagedCopy(from, to, how, at) {
  const whole = await (await fileOf(from)).getFile().then((file) => file.arrayBuffer());
  const bytes = new Uint8Array(whole);
  const hit = bytes.subarray(at, at + 4096);
  if (how === "flip") hit.forEach((byte, index) => (hit[index] = byte ^ 0x40));
  if (how === "zero") hit.fill(0);
  const handle = await /** @type {any} */ (await fileOf(to)).createSyncAccessHandle();
  handle.truncate(0);
  handle.write(how === "truncate" ? bytes.subarray(0, at) : bytes, { at: 0 });
  handle.close();
}

/**
 * The file of a database.
 *
 * @param {string} name
 */
async function fileOf(name) {
  const root = await navigator.storage.getDirectory();
  const directory = await root.getDirectoryHandle("gingham", { create: true });
  return directory.getFileHandle(`${encodeURIComponent(name)}.gingham`, { create: true });
}

/**
 * The size of a database's file.
 *
 * @param {string} name
 */
export async function fileBytes(name) {
  return (await (await fileOf(name)).getFile()).size;
}

/**
 * Export, open the bytes elsewhere: what is there is what was there.
 *
 * @param {string} name
 */
export async function exportIsTheFile(name) {
  const db = await Database.open(name);
  db.exec("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)");
  db.insertMany("t", { k: [1, 2], v: ["a", "b"] });
  const bytes = db.export();
  db.close();
  await Database.delete(name);
  const handle = await /** @type {any} */ (await fileOf(name)).createSyncAccessHandle();
  handle.write(bytes, { at: 0 });
  handle.close();
  const copy = await Database.open(name);
  equal(copy.prepare("SELECT k, v FROM t ORDER BY k").raw().all(), [[1, "a"], [2, "b"]]);
  copy.close();
}

/**
 * A query that needs more memory than there is gives the same rows, and leaves nothing behind.
 *
 * @param {string} name
 */
export async function queriesSpill(name) {
  const rows = 60_000;
  const k = Int32Array.from({ length: rows }, (_, index) => (index * 7919) % rows);
  const v = Array.from(k, (key) => `a text with the number ${key}`);
  const sql = "SELECT k FROM t ORDER BY v";
  /** @type {unknown[][]} */
  const results = [];
  for (const memoryBytes of [512 * 1024 * 1024, 2 * 1024 * 1024]) {
    const db = await Database.open(name, { memoryBytes });
    db.exec("CREATE TABLE t (k INTEGER, v TEXT) WITH (storage = 'column')");
    db.insertMany("t", { k, v });
    results.push(db.prepare(sql).raw().all());
    const plan = db.prepare(`EXPLAIN ANALYZE ${sql}`).raw().all().join("\n");
    equal(plan.includes("spilled "), memoryBytes < 10_000_000, plan);
    db.close();
    const root = await navigator.storage.getDirectory();
    const directory = await root.getDirectoryHandle("gingham");
    const temp = await directory.getFileHandle(`${encodeURIComponent(name)}.gingham-temp`);
    equal((await temp.getFile()).size, 0);
    await Database.delete(name);
  }
  equal(results[1], results[0]);
  // Without a file there is nowhere to spill to.
  const db = await Database.open(name, { storage: "memory", memoryBytes: 2 * 1024 * 1024 });
  db.exec("CREATE TABLE t (k INTEGER, v TEXT) WITH (storage = 'column')");
  db.insertMany("t", { k, v });
  try {
    db.prepare(sql).all();
    throw new Error("60,000 rows are sorted in 2 MiB");
  } catch (error) {
    equal(plain(error).code, "53200");
  }
  equal(db.prepare("SELECT count(*) AS n FROM t").all(), [{ n: rows }]);
  db.close();
}

/**
 * A database that is closed is there when it is opened again, whatever its name; a deleted one is not.
 *
 * @param {string} name
 */
export async function databasesLast(name) {
  for (const odd of [name, `${name}/../x y?`, `${name} ñ😀`, "."]) {
    const db = await Database.open(odd, { durability: "relaxed" });
    db.exec("CREATE TABLE t (k INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)");
    db.close();
    const again = await Database.open(odd);
    equal(again.prepare("SELECT k FROM t").all(), [{ k: 1 }]);
    again.close();
    await Database.delete(odd);
    const fresh = await Database.open(odd);
    fresh.exec("CREATE TABLE t (k INTEGER PRIMARY KEY)");
    fresh.close();
    await Database.delete(odd);
  }
}

/**
 * Runs a query as Arrow.
 *
 * @param {string} sql script that makes the tables, then a query after the last semicolon
 */
export async function arrow(sql) {
  const db = await Database.open("arrow", { storage: "memory" });
  const cut = sql.lastIndexOf(";");
  db.exec(sql.slice(0, cut));
  const bytes = db.prepare(sql.slice(cut + 1)).arrow();
  db.close();
  return Array.from(bytes);
}

/**
 * Inserts an Arrow stream and gives the rows back.
 *
 * @param {string} create
 * @param {number[]} stream
 */
export async function insertArrow(create, stream) {
  const db = await Database.open("arrow", { storage: "memory" });
  db.exec(create);
  try {
    const { changes } = db.insertArrow("t", Uint8Array.from(stream));
    return { changes, rows: db.prepare("SELECT * FROM t").raw().all().map((row) => row.map(String)) };
  } catch (error) {
    return { error: plain(error), rows: db.prepare("SELECT * FROM t").raw().all() };
  } finally {
    db.close();
  }
}
