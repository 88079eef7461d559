// @ts-check
/**
 * The worker, the page, its renderer process and the whole browser are killed at random moments
 * while a database commits, checkpoints and imports. Every commit of which word had left the browser
 * is there afterwards, nothing is there in part, and the database finds itself sound.
 *
 * GINGHAM_LONG=1 kills many times more; GINGHAM_SEED=<seed> repeats the choices of a run.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createProfile, launchChromium, startServer, withDeadline } from "../../bench/browser/harness/index.js";
import { TestWorker, mounts } from "./support/session.js";

/** @typedef {import("./support/session.js").BrowserSession["page"]} Page */
/** @typedef {"worker" | "page" | "renderer" | "browser"} Way */
/** @typedef {{begins?: string, committed?: number, imported?: number}} Note */

const LONG = Boolean(process.env["GINGHAM_LONG"]);
const BROWSERS = LONG ? 25 : 2;
/** In each browser; the last is the browser itself. */
const KILLS = LONG ? 12 : 5;
/** Rows of one import, as in worker/kill.js. */
const IMPORT_ROWS = 20_000;
const ROUND_LIMIT_MS = 120_000;
const PHASES = ["commits", "checkpoint", "import"];
const WAYS = /** @type {const} */ (["worker", "page", "renderer"]);

test("nothing acknowledged is lost whatever is killed", { timeout: LONG ? 7_200_000 : 900_000 }, async (t) => {
  const seed = Number(process.env["GINGHAM_SEED"] ?? Date.now() % 1_000_000);
  t.diagnostic(`GINGHAM_SEED=${seed}`);
  const random = randomOf(seed);
  const profile = createProfile();
  const server = await startServer({ mounts: mounts() });
  const told = new Told();
  const kills = new Map();
  try {
    for (let browser = 0; browser < BROWSERS; browser += 1) {
      const { context, close, kill } = await launchChromium(profile.folder);
      try {
        await context.exposeFunction("tellNode", (/** @type {Note} */ note) => told.hear(note));
        for (let round = 0; round < KILLS; round += 1) {
          const way = round === KILLS - 1 ? "browser" : /** @type {Way} */ (WAYS[random(WAYS.length)]);
          const phase = /** @type {string} */ (PHASES[random(PHASES.length)]);
          const place = `browser ${browser}, round ${round}, ${way} killed during ${phase}`;
          const page = await context.newPage();
          await page.goto(`${server.origin}/`);
          await withDeadline(oneRound({ page, told, random, way, phase, kill }), ROUND_LIMIT_MS, place);
          kills.set(`${way}, ${phase}`, (kills.get(`${way}, ${phase}`) ?? 0) + 1);
        }
      } finally {
        await close();
      }
    }
    const { context, close } = await launchChromium(profile.folder);
    try {
      const page = await context.newPage();
      await page.goto(`${server.origin}/`);
      told.compare(await (await TestWorker.spawn(page)).call("kill.js", "openAndRead", "killed"));
    } finally {
      await close();
    }
    t.diagnostic(`${told.committed} commits and ${told.imported} imports acknowledged; kills: ${JSON.stringify([...kills])}`);
    assert.ok(told.committed > BROWSERS * KILLS, `only ${told.committed} commits were acknowledged`);
  } finally {
    await server.close();
    profile.remove();
  }
});

/**
 * Opens what the round before left and checks it, works, and kills.
 *
 * @param {{page: Page, told: Told, random: (end: number) => number, way: Way, phase: string, kill: () => void}} round
 */
async function oneRound({ page, told, random, way, phase, kill }) {
  const worker = await TestWorker.spawn(page);
  const found = await worker.call("kill.js", "openAndRead", "killed");
  const { commit, batch } = told.compare(found);
  const begun = told.begins(phase);
  worker.call("kill.js", "workUntilKilled", commit, batch).catch(() => {});
  await begun;
  // A flush takes about a millisecond, an import some hundred.
  await sleep(random(4) === 0 ? random(400) : random(30));
  switch (way) {
    case "worker":
      await worker.terminate();
      return page.close();
    case "page":
      return page.close();
    case "renderer": {
      const devtools = await page.context().newCDPSession(page);
      devtools.send("Page.crash").catch(() => {});
      await page.waitForEvent("crash");
      return page.close();
    }
    case "browser":
      return kill();
  }
}

/** What this process was told by the browser. */
class Told {
  committed = 0;
  imported = 0;
  /** @type {{phase: string, resolve: () => void} | undefined} */
  #waiting;

  /** @param {Note} note */
  hear({ begins, committed, imported }) {
    this.committed = Math.max(this.committed, committed ?? 0);
    this.imported = Math.max(this.imported, imported ?? 0);
    if (begins !== undefined && begins === this.#waiting?.phase) this.#waiting.resolve();
  }

  /**
   * @param {string} phase
   * @returns {Promise<void>} settles when the browser says that it begins the phase
   */
  begins(phase) {
    return new Promise((resolve) => (this.#waiting = { phase, resolve }));
  }

  /**
   * Compares what a database holds with what was acknowledged.
   *
   * @param {{integrity: string[], commits: number[], matching: number[], others: number, newest: number, batches: number[][]}} found
   * @returns the numbers to go on with
   */
  compare({ integrity, commits, matching, others, newest, batches }) {
    const [count, least, greatest] = /** @type {[number, number, number]} */ (commits);
    const text = JSON.stringify({ commits, matching, others, newest, batches, told: this });
    assert.deepEqual(integrity, ["ok"], text);
    assert.ok(greatest >= this.committed, `an acknowledged commit is lost: ${text}`);
    assert.ok(least === 1 && count === greatest, `commits are missing in between: ${text}`);
    assert.ok(matching[0] === count && others === count && newest === greatest, `a commit is there in part: ${text}`);
    const last = batches.at(-1)?.[0] ?? 0;
    assert.ok(last >= this.imported, `an acknowledged import is lost: ${text}`);
    assert.equal(batches.length, Math.min(last, 2), text);
    for (const [index, batch] of batches.entries()) {
      const number = last - batches.length + 1 + index;
      assert.deepEqual(batch, [number, IMPORT_ROWS, 0, IMPORT_ROWS - 1], `an import is there in part: ${text}`);
    }
    // The killed one may have committed more than was heard of.
    this.committed = greatest;
    this.imported = last;
    return { commit: greatest + 1, batch: last + 1 };
  }
}

/**
 * Whole numbers below an end, from a seed (xorshift).
 *
 * @param {number} seed
 * @returns {(end: number) => number}
 */
function randomOf(seed) {
  let state = (seed * 2654435761 + 1) >>> 0 || 1;
  return (end) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % end;
  };
}
