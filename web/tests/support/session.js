// @ts-check
/** A browser with the package and the test page in it, for the tests of this folder. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withBrowser } from "../../../bench/browser/harness/index.js";

const WEB = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The package as `cargo xtask wasm` builds it. */
export const PACKAGE = join(WEB, "dist");
/** The core module built with the feature `testing`, for the VFS contract. */
export const TESTING_PACKAGE = join(WEB, "dist-testing");

/** @typedef {import("../../../bench/browser/harness/with-browser.js").BrowserSession} BrowserSession */

/** A worker in the page. */
export class TestWorker {
  /** @type {BrowserSession["page"]} */
  #page;
  /** @type {number} */
  #id;

  /**
   * @param {BrowserSession["page"]} page
   * @param {number} id
   */
  constructor(page, id) {
    this.#page = page;
    this.#id = id;
  }

  /** @param {BrowserSession["page"]} page */
  static async spawn(page) {
    await page.waitForFunction("globalThis.testPage !== undefined");
    return new TestWorker(page, /** @type {number} */ (await page.evaluate("testPage.spawn()")));
  }

  /**
   * Calls `name` of a module in tests/worker.
   *
   * @param {string} module
   * @param {string} name
   * @param {...unknown} args
   * @returns {Promise<any>}
   */
  call(module, name, ...args) {
    return this.#page.evaluate(
      ([id, file, key, values]) => /** @type {any} */ (globalThis).testPage.call(id, file, key, values),
      /** @type {const} */ ([this.#id, module, name, args]),
    );
  }

  /** @returns {Promise<any[]>} what the worker has noted so far */
  notes() {
    return this.#page.evaluate((id) => /** @type {any} */ (globalThis).testPage.notes(id), this.#id);
  }

  /** @returns {Promise<any[]>} kills the worker; what it had noted */
  terminate() {
    return this.#page.evaluate((id) => /** @type {any} */ (globalThis).testPage.terminate(id), this.#id);
  }
}

/**
 * Runs `body` with a browser that shows the test page.
 *
 * @template T
 * @param {(session: BrowserSession) => Promise<T>} body
 * @param {{limitMs?: number}} [options]
 */
export function withTestPage(body, options = {}) {
  return withBrowser({ mounts: mounts(), ...options }, body);
}

/** What the test page's server serves: URL prefix → folder. */
export function mounts() {
  return {
    "/": join(WEB, "tests/page/"),
    "/tests/": join(WEB, "tests/"),
    "/dist/": PACKAGE,
    "/console/": join(WEB, "console/"),
    ...(existsSync(TESTING_PACKAGE) ? { "/dist-testing/": TESTING_PACKAGE } : {}),
  };
}

/**
 * Runs every function that a case module exports, each in a worker and with a database of its own.
 *
 * @param {{test: (name: string, body: () => Promise<void>) => Promise<unknown>}} t
 * @param {BrowserSession} session
 * @param {string} module
 */
export async function runCases(t, session, module) {
  const lister = await TestWorker.spawn(session.page);
  const names = /** @type {string[]} */ (await lister.call(module, ""));
  await lister.terminate();
  for (const name of names) {
    await t.test(`${module.replace(/\.js$/, "")}: ${words(name)}`, async () => {
      const worker = await TestWorker.spawn(session.page);
      try {
        await worker.call(module, name, `${module}-${name}`);
      } finally {
        await worker.terminate();
      }
    });
  }
}

/** @param {string} name */
function words(name) {
  return name.replace(/[A-Z0-9]+/g, (part) => ` ${part.toLowerCase()}`);
}
