// @ts-check
/** Values on their way in and out. Each case gets the name of a database of its own. */

import { Database } from "/dist/sync.js";
import { equal, fails, ok } from "./assert.js";

const MEMORY = /** @type {const} */ ({ storage: "memory" });

/**
 * @param {string} columns
 * @param {import("../../ts/values.js").OpenOptions} [options]
 */
async function withTable(columns, options = {}) {
  const db = await Database.open("values", { ...MEMORY, ...options });
  db.exec(`CREATE TABLE t (k INTEGER PRIMARY KEY, ${columns})`);
  return db;
}

/**
 * Stores values in a column and reads them back, by get and by all.
 *
 * @param {string} type
 * @param {[unknown, unknown][]} pairs what goes in and what comes out
 * @param {import("../../ts/values.js").OpenOptions} [options]
 */
async function roundTrip(type, pairs, options) {
  const db = await withTable(`v ${type}`, options);
  const insert = db.prepare("INSERT INTO t VALUES (?, ?)");
  pairs.forEach(([given], key) => insert.run(key, /** @type {any} */ (given)));
  const one = db.prepare("SELECT v FROM t WHERE k = ?");
  const expected = pairs.map(([, out]) => out);
  pairs.forEach(([, out], key) => equal(one.get(key), { v: out }, `${type} by get`));
  equal(db.prepare("SELECT v FROM t ORDER BY k").all().map((row) => row.v), expected, `${type} by all`);
  equal(db.prepare("SELECT v FROM t ORDER BY k").columnar().columns, [expected], `${type} by columnar`);
  db.close();
}

export async function integers() {
  await roundTrip("INTEGER", [[0, 0], [-1, -1], [2147483647, 2147483647], [-2147483648, -2147483648], [null, null], [7n, 7]]);
}

export async function bigints() {
  await roundTrip("BIGINT", [
    [5, 5],
    [-5, -5],
    [2 ** 32 + 1, 4294967297],
    [-(2 ** 32) - 1, -4294967297],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
    [2n ** 53n, 2n ** 53n],
    [2n ** 63n - 1n, 2n ** 63n - 1n],
    [-(2n ** 63n), -(2n ** 63n)],
    [null, null],
  ]);
  await roundTrip("BIGINT", [[5, 5n], [null, null]], { bigint: "always" });
}

export async function doubles() {
  await roundTrip("DOUBLE", [
    [1.5, 1.5],
    [3, 3],
    [-0, -0],
    [5e-324, 5e-324],
    [1.7976931348623157e308, 1.7976931348623157e308],
    [Infinity, Infinity],
    [NaN, NaN],
    [null, null],
  ]);
}

export async function booleans() {
  await roundTrip("BOOLEAN", [[true, true], [false, false], [null, null]]);
}

export async function texts() {
  const long = "x".repeat(100);
  const mixed = "añ😀\u0000\uFEFF漢".repeat(40);
  await roundTrip("TEXT", [
    ["", ""],
    ["plain", "plain"],
    ["0123456789abcdef", "0123456789abcdef"],
    [long, long],
    ["ñ", "ñ"],
    ["\uFEFFbom stays", "\uFEFFbom stays"],
    [mixed, mixed],
    ["lone \uD800 surrogate", "lone \uFFFD surrogate"],
    [null, null],
  ]);
}

export async function largeTexts() {
  const large = "0123456789".repeat(100_000);
  await roundTrip("TEXT", [[large, large], ["small", "small"]]);
}

export async function blobs() {
  const bytes = new Uint8Array([0, 1, 255]);
  await roundTrip("BLOB", [
    [bytes, bytes],
    [bytes.buffer, bytes],
    [new Uint8Array(0), new Uint8Array(0)],
    [new Uint16Array([258]), new Uint8Array([2, 1])],
    [null, null],
  ]);
}

export async function decimals() {
  await roundTrip("DECIMAL(15,2)", [[1.25, 1.25], ["-0.05", -0.05], ["9999999999999.99", 9999999999999.99], [null, null]]);
  await roundTrip("DECIMAL(38,4)", [
    ["1.5", 1.5],
    ["1234567890123456789012345678901234.5678", "1234567890123456789012345678901234.5678"],
    ["-12345678901234567.0001", "-12345678901234567.0001"],
    [10n ** 20n, "100000000000000000000.0000"],
  ]);
  await roundTrip("DECIMAL(15,2)", [[1.25, "1.25"], [0, "0.00"], [-3, "-3.00"]], { decimal: "string" });
  await roundTrip("DECIMAL(30,2)", [["12345678901234567890.25", 12345678901234567890.25]], { decimal: "number" });
}

export async function dates() {
  const day = new Date("2024-02-29T00:00:00Z");
  await roundTrip("DATE", [
    ["2024-02-29", "2024-02-29"],
    ["1969-12-31", "1969-12-31"],
    ["0001-01-01", "0001-01-01"],
    [day, "2024-02-29"],
    [null, null],
  ]);
  await roundTrip("DATE", [["2024-02-29", day]], { date: "date" });
}

export async function timestamps() {
  const moment = new Date("2024-02-29T12:34:56.789Z");
  await roundTrip("TIMESTAMP", [
    ["2024-02-29 12:34:56.123456", "2024-02-29T12:34:56.123456"],
    ["1969-12-31 23:59:59.5", "1969-12-31T23:59:59.5"],
    ["2024-01-01", "2024-01-01T00:00:00"],
    [moment, "2024-02-29T12:34:56.789"],
    [null, null],
  ]);
  await roundTrip("TIMESTAMP", [[moment, moment]], { date: "date" });
}

export async function manyRowsWithNulls() {
  const db = await withTable("a INTEGER, b TEXT, c DOUBLE");
  const rows = 10_000;
  const a = Array.from({ length: rows }, (_, k) => (k % 3 === 0 ? null : k));
  const b = Array.from({ length: rows }, (_, k) => (k % 5 === 0 ? null : k % 7 === 0 ? `ñ${k}` : `text ${k % 11}`));
  const c = Array.from({ length: rows }, (_, k) => (k % 2 === 0 ? null : k / 4));
  const k = Int32Array.from({ length: rows }, (_, index) => index);
  equal(db.insertMany("t", { k, a, b, c }), { changes: rows });
  const { columns } = db.prepare("SELECT k, a, b, c FROM t ORDER BY k").columnar();
  equal(columns, [Array.from(k), a, b, c]);
  const raw = db.prepare("SELECT k, a, b, c FROM t ORDER BY k").raw().all();
  equal(raw, Array.from(k, (key) => [key, a[key], b[key], c[key]]));
  const objects = db.prepare("SELECT k, b FROM t ORDER BY k").all();
  equal(objects, Array.from(k, (key) => ({ k: key, b: b[key] })));
  db.close();
}

export async function awkwardColumnNames() {
  const db = await Database.open("values", MEMORY);
  const statement = db.prepare(`SELECT 1 AS "__proto__", 2 AS "constructor", 3 AS "a b", 4 AS a, 5 AS a`);
  const row = /** @type {any} */ (statement.get());
  equal(Object.keys(row), ["__proto__", "constructor", "a b", "a"]);
  equal(Object.entries(row).map(([, value]) => value), [1, 2, 3, 5], "the last of equal names wins");
  equal(statement.raw().get(), [1, 2, 3, 4, 5]);
  equal(statement.columns().map((column) => column.name), ["__proto__", "constructor", "a b", "a", "a"]);
  db.close();
}

export async function parametersThatAreNoValues() {
  const db = await withTable("v TEXT");
  const insert = db.prepare("INSERT INTO t VALUES (?, ?)");
  await fails(() => insert.run(1), { code: "22023", message: /takes 2 parameters and got 1/ });
  await fails(() => insert.run(1, "a", 2), { code: "22023" });
  await fails(() => insert.run(1, /** @type {any} */ (() => 1)), { code: "22023" });
  await fails(() => insert.run(1, /** @type {any} */ (Symbol("s"))), { code: "22023" });
  await fails(() => insert.run(1, new Date(NaN)), { code: "22023" });
  await fails(() => insert.run(1, /** @type {any} */ ({ a: 1 })), { code: "22023" });
  equal(db.prepare("SELECT count(*) AS n FROM t").get(), { n: 0 });
  db.close();
}

export async function namedParameters() {
  const db = await withTable("v TEXT");
  db.prepare("INSERT INTO t VALUES (:key, :value)").run({ value: "one", key: 1 });
  equal(db.prepare("SELECT v FROM t WHERE k = :key").get({ key: 1 }), { v: "one" });
  equal(db.prepare("SELECT v FROM t WHERE k = ?").get([1]), { v: "one" }, "an array of values");
  const statement = db.prepare("SELECT v FROM t WHERE k = :key");
  await fails(() => statement.get({ nokey: 1 }), { code: "22023", message: /nokey/ });
  await fails(() => statement.get({}), { code: "22023" });
  db.close();
}

export async function decimalsOfSums() {
  const db = await withTable("v DECIMAL(15,2)");
  db.insertMany("t", { k: [1, 2, 3], v: [0.1, 0.2, 0.3] });
  const row = db.prepare("SELECT sum(v) AS s, count(*) AS n, avg(k) AS a FROM t").get();
  equal(row, { s: 0.6, n: 3, a: 2 });
  ok(Number.isInteger(/** @type {any} */ (row).n), "counts are numbers");
  db.close();
}
