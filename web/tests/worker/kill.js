// @ts-check
/** A workload that is killed: what tests/kill.test.js does inside a worker. */

import { Database } from "/dist/sync.js";

/** Rows of one import, as in kill.test.js. */
const IMPORT_ROWS = 20_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS t (k INTEGER PRIMARY KEY, v TEXT);
  CREATE TABLE IF NOT EXISTS u (k INTEGER PRIMARY KEY, n INTEGER);
  CREATE INDEX IF NOT EXISTS u_n ON u (n);
  CREATE TABLE IF NOT EXISTS newest (id INTEGER PRIMARY KEY, k INTEGER);
  INSERT OR IGNORE INTO newest VALUES (1, 0);
  CREATE TABLE IF NOT EXISTS big (batch INTEGER, i INTEGER, v TEXT) WITH (storage = 'column')`;

/** @type {Database | undefined} */
let db;

/** @param {unknown} note */
function tell(note) {
  self.postMessage({ id: 0, note });
}

/** @param {string} sql */
function rows(sql) {
  return /** @type {any[][]} */ (db?.prepare(sql).raw().all());
}

/**
 * Opens the database, waiting until a killed owner has let go of it, and tells what is in it.
 *
 * @param {string} name
 */
export async function openAndRead(name) {
  for (let attempt = 0; db === undefined; attempt += 1) {
    try {
      db = await Database.open(name);
    } catch (error) {
      if (/** @type {any} */ (error).code !== "55006" || attempt > 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  await db.ready();
  const integrity = rows("PRAGMA integrity_check").flat();
  db.exec(SCHEMA);
  const [commits] = rows("SELECT count(*), coalesce(min(k), 1), coalesce(max(k), 0) FROM t");
  const [matching] = rows("SELECT count(*) FROM t JOIN u ON t.k = u.k AND u.n = u.k * 3 AND t.v LIKE 'value %'");
  const [[others]] = /** @type {[[number]]} */ (rows("SELECT count(*) FROM u"));
  const [[newest]] = /** @type {[[number]]} */ (rows("SELECT k FROM newest WHERE id = 1"));
  const batches = rows("SELECT batch, count(*), min(i), max(i) FROM big GROUP BY batch ORDER BY batch");
  return { integrity, commits, matching, others, newest, batches };
}

/**
 * Commits, checkpoints and imports in turn until the worker is killed. Says what it begins, and of
 * what it was told that it is committed.
 *
 * @param {number} commit the first number to commit
 * @param {number} batch the first number to import
 */
export function workUntilKilled(commit, batch) {
  const open = /** @type {Database} */ (db);
  const first = open.prepare("INSERT INTO t VALUES (?, ?)");
  const second = open.prepare("INSERT INTO u VALUES (?, ?)");
  const third = open.prepare("UPDATE newest SET k = ? WHERE id = 1");
  const positions = Int32Array.from({ length: IMPORT_ROWS }, (_, index) => index);
  const texts = Array.from({ length: IMPORT_ROWS }, (_, index) => `imported row ${index * 7}`);
  for (;;) {
    tell({ begins: "commits" });
    for (let count = 0; count < 40; count += 1) {
      open.transaction(() => {
        first.run(commit, `value ${commit} ${"x".repeat(commit % 50 === 0 ? 20_000 : commit % 30)}`);
        second.run(commit, commit * 3);
        third.run(commit);
      });
      tell({ committed: commit });
      commit += 1;
    }
    tell({ begins: "checkpoint" });
    open.exec("CHECKPOINT");
    tell({ begins: "import" });
    open.transaction(() => {
      open.insertMany("big", { batch: new Int32Array(IMPORT_ROWS).fill(batch), i: positions, v: texts });
      open.exec(`DELETE FROM big WHERE batch <= ${batch - 2}`);
    });
    tell({ imported: batch });
    batch += 1;
  }
}
