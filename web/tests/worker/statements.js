// @ts-check
/** Statements, transactions and bulk inserts. Each case gets the name of a database of its own. */

import { Database, version } from "/dist/sync.js";
import { equal, fails, ok } from "./assert.js";

const MEMORY = /** @type {const} */ ({ storage: "memory" });

async function withRows(rows = 3) {
  const db = await Database.open("statements", MEMORY);
  db.exec("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)");
  if (rows > 0) {
    const k = Array.from({ length: rows }, (_, index) => index + 1);
    db.insertMany("t", { k, v: k.map((key) => `value ${key}`) });
  }
  return db;
}

/** @param {Database} db */
function count(db) {
  return /** @type {any} */ (db.prepare("SELECT count(*) AS n FROM t").get()).n;
}

export async function getAllRunRaw() {
  const db = await withRows();
  const select = db.prepare("SELECT k, v FROM t WHERE k >= ? ORDER BY k");
  equal(select.get(2), { k: 2, v: "value 2" });
  equal(select.get(9), undefined);
  equal(select.all(2), [{ k: 2, v: "value 2" }, { k: 3, v: "value 3" }]);
  equal(select.all(9), []);
  equal(select.raw().get(2), [2, "value 2"]);
  equal(select.raw().all(3), [[3, "value 3"]]);
  equal(select.get(3), { k: 3, v: "value 3" }, "raw leaves the statement as it was");
  equal(db.prepare("UPDATE t SET v = ? WHERE k = ?").run("new", 2), { changes: 1 });
  equal(db.prepare("DELETE FROM t WHERE k = ?").run(77), { changes: 0 });
  equal(db.prepare("INSERT INTO t VALUES (?, ?)").run(4, "four"), { changes: 1 });
  equal(count(db), 4);
  db.close();
}

export async function columnsTellNamesAndTypes() {
  const db = await Database.open("statements", MEMORY);
  db.exec("CREATE TABLE t (k INTEGER PRIMARY KEY, a BIGINT, b DECIMAL(15,2), c DATE, d TEXT)");
  equal(db.prepare("SELECT k, a, b, c, d FROM t").columns(), [
    { name: "k", type: "INTEGER" },
    { name: "a", type: "BIGINT" },
    { name: "b", type: "DECIMAL(15,2)" },
    { name: "c", type: "DATE" },
    { name: "d", type: "TEXT" },
  ]);
  equal(db.prepare("DELETE FROM t").columns(), []);
  db.close();
}

export async function execRunsScripts() {
  const db = await Database.open("statements", MEMORY);
  db.exec("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a;b'); -- done;\n");
  equal(db.prepare("SELECT v FROM t").all(), [{ v: "a;b" }]);
  db.exec("");
  const results = db.script("INSERT INTO t VALUES (2, 'x'), (3, 'y'); SELECT k FROM t ORDER BY k;");
  equal(results.length, 2);
  equal(results[0]?.changes, 2);
  equal(results[1]?.columns, [[1, 2, 3]]);
  equal(results[1]?.fields, [{ name: "k", type: "INTEGER" }]);
  db.close();
}

export async function errorsHaveLineAndColumn() {
  const db = await withRows();
  await fails(() => db.exec("SELECT 1;\nSELECT k,\n  nothing FROM t"), { code: "42703", line: 3, column: 3 });
  await fails(() => db.prepare("SELEC 1"), { code: "42601", line: 1, column: 1 });
  await fails(() => db.prepare("SELECT * FROM nowhere"), { code: "42P01" });
  await fails(() => db.prepare("SELECT 1; SELECT 2"), { code: "42601" });
  await fails(() => db.prepare(""), { code: "42601" });
  await fails(() => db.prepare("INSERT INTO t VALUES (1, 'again')").run(), { code: "23505" });
  equal(count(db), 3, "nothing of a failed statement stays");
  db.close();
}

export async function iterateReadsAsItGoes() {
  const db = await withRows(10_000);
  const select = db.prepare("SELECT k FROM t ORDER BY k");
  let sum = 0;
  for (const row of select.iterate()) {
    sum += /** @type {number} */ (row.k);
    if (row.k === 5000) break;
  }
  equal(sum, (5000 * 5001) / 2, "early exit");
  const seen = [];
  for (const row of select.raw().iterate()) {
    // The same statement, and one that writes, while the first is being read.
    if (seen.length === 10) equal(select.get(), { k: 1 });
    if (seen.length === 20) db.prepare("DELETE FROM t WHERE k = ?").run(9000);
    seen.push(row[0]);
  }
  equal(seen.length, 10_000, "a cursor sees one commit");
  equal([...db.prepare("SELECT k FROM t WHERE k > ?").iterate(9999)], [{ k: 10000 }]);
  db.close();
}

export async function transactionsCommitAndRollBack() {
  const db = await withRows();
  const insert = db.prepare("INSERT INTO t VALUES (?, ?)");
  equal(db.transaction(() => insert.run(10, "ten").changes), 1);
  equal(db.inTransaction, false);
  await fails(
    () =>
      db.transaction(() => {
        insert.run(11, "eleven");
        insert.run(10, "again");
      }),
    { code: "23505" },
  );
  equal([count(db), db.inTransaction], [4, false]);
  const error = new Error("mine");
  let caught;
  try {
    db.transaction(() => {
      insert.run(12, "twelve");
      throw error;
    });
  } catch (thrown) {
    caught = thrown;
  }
  ok(caught === error, "the body's own error comes out");
  equal(count(db), 4);
  await fails(() => db.transaction(async () => insert.run(13, "x")), { code: "22023", message: /asynchronous/ });
  equal(count(db), 4);
  db.close();
}

export async function nestedTransactionsAreSavepoints() {
  const db = await withRows(0);
  const insert = db.prepare("INSERT INTO t VALUES (?, ?)");
  db.transaction(() => {
    insert.run(1, "outer");
    try {
      db.transaction(() => {
        insert.run(2, "inner");
        throw new Error("undo the inner one");
      });
    } catch {
      insert.run(3, "after");
    }
    db.transaction(() => insert.run(4, "kept"));
  });
  equal(db.prepare("SELECT k FROM t ORDER BY k").raw().all(), [[1], [3], [4]]);
  db.close();
}

export async function transactionsBySql() {
  const db = await withRows(0);
  db.exec("BEGIN; INSERT INTO t VALUES (1, 'a')");
  equal([db.inTransaction, count(db)], [true, 1]);
  db.exec("ROLLBACK");
  equal([db.inTransaction, count(db)], [false, 0]);
  await fails(() => db.exec("COMMIT"), { code: "25P01" });
  db.close();
}

export async function insertManyTakesArrays() {
  const db = await Database.open("statements", MEMORY);
  db.exec("CREATE TABLE m (k INTEGER PRIMARY KEY, b BIGINT, d DOUBLE, s TEXT, f BOOLEAN, x BLOB, day DATE, at TIMESTAMP, p DECIMAL(10,2), e INTEGER DEFAULT 7)");
  const day = new Date("2024-05-06T00:00:00Z");
  const moment = new Date("2024-05-06T07:08:09.010Z");
  equal(
    db.insertMany("m", {
      k: Int32Array.of(1, 2),
      b: BigInt64Array.of(2n ** 60n, -1n),
      d: Float64Array.of(0.5, -0.5),
      s: ["ñandú", ""],
      f: [true, null],
      x: [Uint8Array.of(1, 2), null],
      day: [day, null],
      at: [null, moment],
      p: [1.25, "2.5"].map(Number),
    }),
    { changes: 2 },
  );
  equal(db.prepare("SELECT * FROM m ORDER BY k").raw().all(), [
    [1, 2n ** 60n, 0.5, "ñandú", true, Uint8Array.of(1, 2), "2024-05-06", null, 1.25, 7],
    [2, -1, -0.5, "", null, null, null, "2024-05-06T07:08:09.01", 2.5, 7],
  ]);
  equal(db.insertMany("m", { k: Uint8Array.of(3), d: Float32Array.of(0.25), b: [5n] }), { changes: 1 });
  equal(db.insertMany("m", { k: [4, 5], b: [1, 2n ** 40n], d: [1, 0.5] }), { changes: 2 }, "mixed numbers");
  equal(db.prepare("SELECT b, d FROM m WHERE k >= 3 ORDER BY k").raw().all(), [[5, 0.25], [1, 1], [2 ** 40, 0.5]]);
  db.close();
}

export async function insertManyIsAllOrNothing() {
  const db = await withRows(0);
  const bad = { code: "22023" };
  await fails(() => db.insertMany("t", { k: [1, 2], v: ["a"] }), bad);
  await fails(() => db.insertMany("t", { k: [1, "a"], v: ["a", "b"] }), { code: "22023", message: /column k/ });
  await fails(() => db.insertMany("t", { k: [1, 2], nothing: ["a", "b"] }), { code: "42703" });
  await fails(() => db.insertMany("nowhere", { k: [1] }), { code: "42P01" });
  await fails(() => db.insertMany("t", { k: [1, 1], v: ["a", "b"] }), { code: "23505" });
  await fails(() => db.insertMany("t", { k: [2n ** 70n] }), { code: "22003" });
  // Twice the rows of a chunk, the last of them a duplicate of the first.
  const k = Int32Array.from({ length: 300_000 }, (_, index) => (index === 299_999 ? 0 : index));
  await fails(() => db.insertMany("t", { k }), { code: "23505" });
  equal([count(db), db.inTransaction], [0, false]);
  k[299_999] = 299_999;
  equal(db.insertMany("t", { k }), { changes: 300_000 });
  equal(count(db), 300_000);
  equal(db.insertMany("t", {}), { changes: 0 });
  db.close();
}

export async function schemaChangesReachPreparedStatements() {
  const db = await withRows(1);
  const all = db.prepare("SELECT * FROM t");
  equal(all.get(), { k: 1, v: "value 1" });
  db.exec("DROP TABLE t; CREATE TABLE t (a TEXT, k INTEGER PRIMARY KEY, b BIGINT); INSERT INTO t VALUES ('x', 5, 6)");
  equal(all.get(), { a: "x", k: 5, b: 6 });
  equal(all.all(), [{ a: "x", k: 5, b: 6 }]);
  equal(all.raw().all(), [["x", 5, 6]]);
  db.exec("DROP TABLE t");
  await fails(() => all.get(), { code: "42P01" });
  db.close();
}

export async function closedDatabasesRefuseEverything() {
  const db = await withRows();
  const select = db.prepare("SELECT k FROM t");
  const iterator = select.iterate();
  iterator.next();
  db.close();
  db.close();
  equal(db.open, false);
  for (const call of [
    () => db.exec("SELECT 1"),
    () => db.prepare("SELECT 1"),
    () => db.insertMany("t", { k: [9] }),
    () => db.export(),
    () => db.transaction(() => 1),
    () => select.get(),
    () => select.all(),
    () => select.iterate(),
  ]) {
    await fails(call, { code: "08003" });
  }
}

export async function analyticsOverManyRows() {
  const db = await withRows(50_000);
  const sql = "SELECT k % 10 AS g, count(*) AS n, sum(k) AS s, min(v) AS m FROM t GROUP BY k % 10 ORDER BY g LIMIT 2";
  equal(db.prepare(sql).all(), [
    { g: 0, n: 5000, s: 125025000, m: "value 10" },
    { g: 1, n: 5000, s: 124980000, m: "value 1" },
  ]);
  db.close();
}

export async function explainShowsTheRoute() {
  const db = await withRows(10);
  const lines = db.prepare("EXPLAIN SELECT count(*) FROM t WHERE k > 3").raw().all().flat().join("\n");
  ok(/route=(row|column)/.test(lines), `EXPLAIN gave ${lines}`);
  db.close();
}

export async function severalDatabasesInOneWorker() {
  const [a, b] = [await withRows(1), await withRows(2)];
  equal([count(a), count(b)], [1, 2]);
  a.close();
  equal(count(b), 2);
  b.close();
}

export async function theTablesOfOneDatabaseAreNotTheOthers() {
  const open = () => Database.open("same", MEMORY);
  const [a, b, empty] = [await open(), await open(), await open()];
  // As many changes in each: their catalogs have equal versions.
  a.exec("CREATE TABLE t (x INTEGER, y TEXT)");
  b.exec("CREATE TABLE t (p DOUBLE)");
  a.insertMany("t", { x: [1], y: ["one"] });
  b.insertMany("t", { p: [2.5] });
  for (let round = 0; round < 3; round += 1) {
    equal(a.prepare(`SELECT max(y) AS m, ${round} AS r FROM t GROUP BY x`).all(), [{ m: "one", r: round }]);
    equal(b.prepare(`SELECT sum(p) AS s, ${round} AS r FROM t`).all(), [{ s: 2.5, r: round }]);
    await fails(() => empty.prepare(`SELECT max(y), ${round} FROM t`), { code: "42P01" });
  }
  for (const db of [a, b, empty]) db.close();
}

function plannerWasFetched() {
  return performance.getEntriesByType("resource").some(({ name }) => name.endsWith("planner_bg.wasm"));
}

export async function thePlannerLoadsBesideStatements() {
  const db = await Database.open("beside", MEMORY);
  const deadline = performance.now() + 20_000;
  while (!plannerWasFetched() && performance.now() < deadline) {
    db.exec("BEGIN");
    db.exec("ROLLBACK");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  ok(plannerWasFetched(), "though statements come without a pause");
  await db.ready();
  equal(db.prepare("SELECT 1 + ? AS n").get(2), { n: 3 });
  db.close();
}

export async function thePlannerComesForAStatementThatNeedsIt() {
  const db = await Database.open("needs", MEMORY);
  equal(db.prepare("SELECT 1 + ? AS n").get(1), { n: 2 });
  await db.ready();
  equal(db.prepare("SELECT 2 * ? AS n").get(2), { n: 4 });
  db.close();
}

export async function theVersionIsKnown() {
  ok(/^\d+\.\d+\.\d+/.test(version), `version ${version}`);
}

export async function importsOfCsv() {
  const db = await withRows(0);
  const text = "v,k\r\n\"a \"\"ñ\"\"\n\",1\n,2\nb😀,3";
  /** @type {number[]} */
  const reports = [];
  const sources = [text, new Blob([text]), new TextEncoder().encode(text), new URL(`data:text/csv,${encodeURIComponent(text)}`)];
  for (const source of sources) {
    db.exec("DELETE FROM t");
    equal(await db.import(source, { table: "t" }, ({ rows }) => reports.push(rows)), { changes: 3 });
    equal(db.prepare("SELECT k, v FROM t ORDER BY k").raw().all(), [[1, 'a "ñ"\n'], [2, null], [3, "b😀"]]);
  }
  ok(reports.length >= 4, "progress is reported");
  const options = { table: "t", header: false, delimiter: ";", null: "-", columns: ["v", "k"] };
  equal(await db.import("-;4\nx;5", options), { changes: 2 });
  equal(db.prepare("SELECT k, v FROM t WHERE k > 3 ORDER BY k").raw().all(), [[4, null], [5, "x"]]);
  db.close();
}

export async function importsThatFail() {
  const db = await withRows(1);
  for (const [text, code, line, column] of /** @type {const} */ ([
    ["k,v\n2,a\n3x,b\n", "22P02", 3, 1],
    ["k,v\n2,a,c\n", "22P04", 2, 5],
    ["k,w\n2,a\n", "42703", 1, 1],
    ["k,v\n2,a\n1,b\n", "23505", undefined, undefined],
  ])) {
    const error = await db.import(text, { table: "t" }).then(() => undefined, (failure) => failure);
    equal([error?.code, error?.line, error?.column], [code, line, column], text);
    equal([count(db), db.inTransaction], [1, false]);
  }
  const missing = await db.import("k\n9\n", { table: "nothing" }).then(() => undefined, (failure) => failure);
  equal(missing?.code, "42P01");
  db.close();
}
