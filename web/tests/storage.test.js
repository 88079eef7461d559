// @ts-check
/** Databases in OPFS: owned by one, whole after a kill, damaged files and full quotas told. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TestWorker, withTestPage } from "./support/session.js";

/** @typedef {import("./support/session.js").BrowserSession} BrowserSession */

const CREATE = "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)";
const KILLS = 20;

test("databases in OPFS", { timeout: 900_000 }, async (t) => {
  await withTestPage(
    async (session) => {
      await t.test("last, under any name", () => inWorker(session, "databasesLast"));
      await t.test("export gives the file", () => inWorker(session, "exportIsTheFile"));
      await t.test("spill what does not fit memory", () => inWorker(session, "queriesSpill"));
      await t.test("are owned by one worker", () => ownership(session));
      await t.test("keep every acknowledged commit when the worker is killed", () => kills(session));
      await t.test("tell of damage", () => damage(session));
      await t.test("tell of a full quota and go on when there is room", () => quota(session));
    },
    { limitMs: 900_000 },
  );
});

/**
 * @param {BrowserSession} session
 * @param {string} name
 */
async function inWorker(session, name) {
  const worker = await TestWorker.spawn(session.page);
  await worker.call("storage.js", name, `db-${name}`);
  await worker.terminate();
}

/** @param {BrowserSession} session */
async function ownership({ page, context, origin }) {
  const owner = await TestWorker.spawn(page);
  assert.equal(await owner.call("storage.js", "openDatabase", "owned"), null);
  assert.equal(await owner.call("storage.js", "exec", "owned", CREATE), null);

  const tab = await context.newPage();
  await tab.goto(`${origin}/`);
  for (const other of [await TestWorker.spawn(page), await TestWorker.spawn(tab)]) {
    const error = await other.call("storage.js", "openDatabase", "owned");
    assert.equal(error?.name, "GinghamError");
    assert.equal(error?.code, "55006");
    assert.match(error?.message, /'owned' is open in another tab/);
    assert.match(error?.hint, /close/);
    await other.terminate();
  }
  // Closing and killing both let go of it.
  await owner.call("storage.js", "closeDatabase", "owned");
  const second = await TestWorker.spawn(tab);
  assert.equal(await second.call("storage.js", "openDatabase", "owned"), null);
  await second.terminate();
  assert.equal(await owner.call("storage.js", "openDatabase", "owned"), null);
  assert.deepEqual(await owner.call("storage.js", "rows", "owned", "SELECT count(*) FROM t"), [[0]]);
  await owner.terminate();
  await tab.close();
}

/** @param {BrowserSession} session */
async function kills({ page }) {
  const name = "killed";
  let [first, next] = [1, 1];
  for (let round = 0; round < KILLS; round += 1) {
    const worker = await TestWorker.spawn(page);
    assert.equal(await worker.call("storage.js", "openDatabase", name), null, `round ${round}`);
    if (round === 0) assert.equal(await worker.call("storage.js", "exec", name, CREATE), null);
    // What earlier rounds found is looked at once more at the end.
    const found = await worker.call("storage.js", "rows", name, `SELECT k, v FROM t WHERE k >= ${first} ORDER BY k`);
    assertPrefix(found, first, next - 1, `round ${round}`);
    first += found.length;
    next = first;
    const ended = worker.call("storage.js", "commitUntilKilled", name, next).catch(() => {});
    await sleep(20 + Math.random() * 150);
    const acknowledged = await worker.terminate();
    await ended;
    if (acknowledged.length > 0) next = Number(acknowledged.at(-1)) + 1;
  }
  const worker = await TestWorker.spawn(page);
  await worker.call("storage.js", "openDatabase", name);
  const found = await worker.call("storage.js", "rows", name, "SELECT k, v FROM t ORDER BY k");
  assertPrefix(found, 1, next - 1, "the end");
  assert.ok(found.length > KILLS, `only ${found.length} rows were committed in all`);
  await worker.terminate();
}

/**
 * Rows `first` … n without a gap, where n is at least what was acknowledged.
 *
 * @param {[number, string][]} found
 * @param {number} first
 * @param {number} acknowledged
 * @param {string} when
 */
function assertPrefix(found, first, acknowledged, when) {
  const last = first + found.length - 1;
  assert.ok(last >= acknowledged, `${when}: rows up to ${last}, and ${acknowledged} was acknowledged`);
  found.forEach(([key, value], index) => {
    assert.equal(key, first + index, when);
    assert.equal(value, `value ${first + index}`, when);
  });
}

/** @param {BrowserSession} session */
async function damage({ page }) {
  const worker = await TestWorker.spawn(page);
  const call = (/** @type {string} */ name, /** @type {unknown[]} */ ...args) => worker.call("storage.js", name, ...args);
  const rows = 3000;
  assert.equal(await call("openDatabase", "sound"), null);
  const values = Array.from({ length: rows }, (_, k) => `(${k}, 'some text that takes room ${k}')`);
  const script = `${CREATE}; CREATE INDEX i ON t (v); INSERT INTO t VALUES ${values.join()}; CHECKPOINT`;
  assert.equal(await call("exec", "sound", script), null);
  await call("closeDatabase", "sound");
  const bytes = await call("fileBytes", "sound");

  /** @type {Map<string, string>} */
  const outcomes = new Map();
  const last = Array.from({ length: 8 }, (_, index) => bytes - (index * 7 + 1) * 4096);
  for (const how of ["flip", "zero", "truncate"]) {
    for (const at of [0, 4096, 8192, Math.floor(bytes / 8192) * 4096, ...last]) {
      const name = `damaged-${how}-${at}`;
      await call("damagedCopy", "sound", name, how, at);
      outcomes.set(`${how} ${at} of ${bytes}`, await readDamaged(call, name, rows, how === "truncate" && at === 0));
    }
  }
  const found = [...outcomes].filter(([, outcome]) => outcome === "XX001").map(([where]) => where);
  for (const how of ["flip", "zero", "truncate"]) {
    assert.ok(found.some((where) => where.startsWith(how)), `no ${how} was noticed: ${JSON.stringify([...outcomes])}`);
  }
  await worker.terminate();
}

/**
 * Either every row is there (the damage hit nothing in use) or a typed error says what is wrong.
 *
 * @param {(name: string, ...args: unknown[]) => Promise<any>} call
 * @param {string} name
 * @param {number} rows
 * @param {boolean} empty whether the file has no bytes, which makes it a new database
 */
async function readDamaged(call, name, rows, empty) {
  const refused = await call("openDatabase", name);
  if (refused !== null) {
    assert.equal(refused.name, "GinghamError", JSON.stringify(refused));
    assert.equal(refused.code, "XX001", JSON.stringify(refused));
    return refused.code;
  }
  try {
    const all = "SELECT count(*), sum(k), min(v), max(v) FROM t WHERE v LIKE 'some%'";
    // The plans read different trees.
    for (const sql of ["SELECT sum(k), min(v) FROM t", all]) {
      const error = await call("exec", name, sql);
      if (error === null) continue;
      assert.equal(error.code, empty ? "42P01" : "XX001", `${name}: ${JSON.stringify(error)}`);
      return error.code;
    }
    const found = await call("rows", name, all);
    const [first, end] = [0, 999].map((k) => `some text that takes room ${k}`);
    assert.deepEqual(found, [[rows, (rows * (rows - 1)) / 2, first, end]], name);
    return "sound";
  } finally {
    await call("closeDatabase", name).catch(() => {});
  }
}

/** @param {BrowserSession} session */
async function quota({ page, context, origin }) {
  const devtools = await context.newCDPSession(page);
  const worker = await TestWorker.spawn(page);
  const call = (/** @type {string} */ name, /** @type {unknown[]} */ ...args) => worker.call("storage.js", name, ...args);
  assert.equal(await call("openDatabase", "full"), null);
  assert.equal(await call("exec", "full", "CREATE TABLE big (k INTEGER PRIMARY KEY, v BLOB)"), null);
  const first = await call("fill", "full", 20);
  assert.deepEqual(first, { acknowledged: 20, error: null });
  assert.equal(await call("exec", "full", "DELETE FROM big"), null);

  const used = /** @type {number} */ (await page.evaluate("navigator.storage.estimate().then((e) => e.usage)"));
  await devtools.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: used + 6 * 1024 * 1024 });
  const { acknowledged, error } = await call("fill", "full", 2000);
  assert.ok(error !== null, "2,000 blocks of 64 KiB fit in a quota of 6 MiB");
  assert.equal(error.name, "GinghamError");
  assert.ok(["53100", "40003"].includes(error.code), JSON.stringify(error));
  await call("closeDatabase", "full").catch(() => {});
  await worker.terminate();

  await devtools.send("Storage.overrideQuotaForOrigin", { origin });
  const after = await TestWorker.spawn(page);
  assert.equal(await after.call("storage.js", "openDatabase", "full"), null);
  const [[count, last]] = await after.call("storage.js", "rows", "full", "SELECT count(*), max(k) FROM big");
  // The one that failed may have lasted if it was in doubt; every acknowledged one is there.
  assert.ok(count === acknowledged || (error.code === "40003" && count === acknowledged + 1), `${count} of ${acknowledged}`);
  assert.equal(last, count - 1);
  const more = await after.call("storage.js", "exec", "full", `INSERT INTO big VALUES (100000, NULL)`);
  assert.equal(more, null, "there is room again");
  await after.terminate();
}
