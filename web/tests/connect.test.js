// @ts-check
/** The asynchronous client on a page, and the console that is made with it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { withTestPage } from "./support/session.js";

/** @typedef {import("./support/session.js").BrowserSession} BrowserSession */

test("on a page", { timeout: 600_000 }, async (t) => {
  await withTestPage(async (session) => {
    await t.test("queries, scripts and values", () => inPage(session, queries));
    await t.test("transactions keep others out", () => inPage(session, transactions));
    await t.test("errors are GinghamErrors with a position", () => inPage(session, errors));
    await t.test("a second connection is told that it is locked", () => inPage(session, locked));
    await t.test("closing answers every call", () => inPage(session, closing));
    await t.test("the console runs SQL and marks errors", () => console_(session));
  });
  assert.ok(true);
});

/**
 * Runs a function in the page; it must not use anything from here.
 *
 * @param {BrowserSession} session
 * @param {() => Promise<unknown>} body
 */
async function inPage({ page }, body) {
  await page.evaluate(body);
}

async function queries() {
  const { equal } = await import(/** @type {any} */ ("/tests/worker/assert.js"));
  const { connect } = await import(/** @type {any} */ ("/dist/index.js"));
  const db = await connect("client");
  await db.exec("DROP TABLE IF EXISTS t; CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT, b BIGINT, x BLOB)");
  const insert = await db.query("INSERT INTO t VALUES (?, ?, ?, ?)", [1, "ñ", 2n ** 60n, new Uint8Array([7])]);
  equal([insert.changes, insert.rows, insert.fields], [1, [], []]);
  equal(await db.insertMany("t", { k: Int32Array.of(2, 3), v: ["b", null] }), { changes: 2 });
  const { rows, fields } = await db.query("SELECT k, v, b, x FROM t WHERE k < :end ORDER BY k", { end: 3 });
  equal(rows, [{ k: 1, v: "ñ", b: 2n ** 60n, x: new Uint8Array([7]) }, { k: 2, v: "b", b: null, x: null }]);
  equal(fields.map((/** @type {any} */ field) => field.type), ["INTEGER", "TEXT", "BIGINT", "BLOB"]);
  const [first, second] = await db.exec("DELETE FROM t WHERE k = 3; SELECT k FROM t ORDER BY k", { rows: "array" });
  equal([first.changes, second.rows], [1, [[1], [2]]]);
  equal((await db.arrow("SELECT k FROM t")).byteLength > 100, true);
  equal((await db.export()).byteLength > 4096, true);
  await db.close();
}

async function transactions() {
  const { equal, fails } = await import(/** @type {any} */ ("/tests/worker/assert.js"));
  const { connect } = await import(/** @type {any} */ ("/dist/index.js"));
  const db = await connect("transactions", { storage: "memory" });
  await db.exec("CREATE TABLE t (k INTEGER PRIMARY KEY)");
  const count = async (/** @type {any} */ on) => (await on.query("SELECT count(*) AS n FROM t")).rows[0].n;
  /** @type {any} */
  let outside;
  const inside = await db.transaction(async (/** @type {any} */ tx) => {
    outside = count(db);
    await tx.query("INSERT INTO t VALUES (1)");
    await tx.transaction(async (/** @type {any} */ inner) => inner.query("INSERT INTO t VALUES (2)"));
    await fails(
      () =>
        tx.transaction(async (/** @type {any} */ inner) => {
          await inner.query("INSERT INTO t VALUES (3)");
          await inner.query("INSERT INTO t VALUES (1)");
        }),
      { code: "23505" },
    );
    return count(tx);
  });
  equal([inside, await outside], [2, 2], "a call outside waits for the commit");
  /** @type {any} */
  let kept;
  await db
    .transaction(async (/** @type {any} */ tx) => {
      kept = tx;
      await tx.query("INSERT INTO t VALUES (9)");
      throw new Error("undo");
    })
    .catch((/** @type {Error} */ error) => equal(error.message, "undo"));
  equal(await count(db), 2);
  await fails(() => kept.query("SELECT 1"), { code: "08003" });
  const both = await Promise.all([
    db.transaction((/** @type {any} */ tx) => tx.query("INSERT INTO t VALUES (10)")),
    db.transaction((/** @type {any} */ tx) => tx.query("INSERT INTO t VALUES (11)")),
    count(db),
  ]);
  equal(both[2], 4, "transactions go one after the other");
  await db.close();
}

async function errors() {
  const { fails, ok } = await import(/** @type {any} */ ("/tests/worker/assert.js"));
  const { connect, GinghamError } = await import(/** @type {any} */ ("/dist/index.js"));
  const db = await connect("errors", { storage: "memory" });
  const error = await fails(() => db.exec("SELECT 1;\n SELEC 2"), { code: "42601", line: 2, column: 2 });
  ok(error instanceof GinghamError, "it is of the package's class");
  await fails(() => db.query("SELECT ?", [() => 1]), { code: "22023" });
  await fails(() => connect("errors", { storage: "idb" }), { code: "0A000", message: /idb/ });
  await db.close();
}

async function locked() {
  const { equal, fails } = await import(/** @type {any} */ ("/tests/worker/assert.js"));
  const { connect } = await import(/** @type {any} */ ("/dist/index.js"));
  const db = await connect("shared");
  await fails(() => connect("shared"), { code: "55006", message: /another tab/, hint: /close/ });
  await db.close();
  const again = await connect("shared");
  equal(again.name, "shared");
  await again.close();
}

async function closing() {
  const { equal, fails } = await import(/** @type {any} */ ("/tests/worker/assert.js"));
  const { connect } = await import(/** @type {any} */ ("/dist/index.js"));
  const db = await connect("closing", { storage: "memory" });
  const begun = db.query("SELECT 1 AS one");
  await Promise.all([db.close(), db.close()]);
  equal((await begun).rows, [{ one: 1 }]);
  await fails(() => db.query("SELECT 1"), { code: "08003" });
  await fails(() => db.transaction(async () => 1), { code: "08003" });
}

/** @param {BrowserSession} session */
async function console_({ context, origin, consoleErrors }) {
  const page = await context.newPage();
  await page.goto(`${origin}/console/`);
  await page.waitForFunction("document.getElementById('state').textContent.startsWith('open in')");
  await page.fill("#sql", "CREATE TABLE IF NOT EXISTS c (a INTEGER PRIMARY KEY, b TEXT); INSERT OR REPLACE INTO c VALUES (1, 'x'); SELECT a, b FROM c WHERE a = 1");
  await page.press("#sql", "Control+Enter");
  await page.waitForSelector("#results td");
  assert.deepEqual(await page.locator("#results td").allTextContents(), ["1", "x"]);
  await page.waitForSelector("#routes .route");
  assert.match(String(await page.textContent("#routes")), /c → (row|column) store/);
  assert.match(String(await page.textContent("#timing")), /\d m?s /);
  // The list of tables is read after the results are shown.
  await page.waitForSelector("#tables button");
  assert.deepEqual(await page.locator("#tables button").allTextContents(), ["c"]);
  await page.fill("#sql", "SELECT a\n  FROM missing");
  await page.click("#run");
  await page.waitForSelector("#error:not([hidden])");
  assert.match(String(await page.textContent("#error")), /missing.*42P01 · line 2, column 8/s);
  assert.equal(await page.textContent("#backdrop mark"), "missing");
  await page.close();
  assert.deepEqual(consoleErrors, []);
}
