// @ts-check
/**
 * `withBrowser`: a server, a fresh headless Chromium and a page, for as long as a function runs.
 * Whatever happens inside, both are gone afterwards.
 */

import { launchChromium } from "./chromium.js";
import { withDeadline } from "./deadline.js";
import { createProfile } from "./profile.js";
import { startServer } from "./server.js";

/**
 * @typedef {object} WithBrowserOptions
 * @property {Record<string, string>} mounts URL prefix → folder, as for `startServer`
 * @property {number} [port] as for `startServer`; OPFS belongs to an origin, and so to a port
 * @property {string} [path] the page to open first, "/" by default
 * @property {string} [cacheControl] as for `startServer`
 * @property {Record<string, string>} [headers] as for `startServer`
 * @property {readonly string[]} [flags] more Chromium flags
 * @property {import("./profile.js").Profile} [profile] a profile to keep across browsers; made
 *   fresh and removed afterwards where it is not given
 * @property {number} [limitMs] how long `body` may take in all, 300,000 by default
 *
 * @typedef {object} BrowserSession
 * @property {import("playwright-core").Page} page a page that shows `path`
 * @property {import("playwright-core").BrowserContext} context for more pages (tabs)
 * @property {import("./server.js").StaticServer} server
 * @property {string} origin the server's origin
 * @property {string[]} consoleErrors console errors and uncaught exceptions of every page and
 *   worker so far
 * @property {string} browserVersion
 */

const DEFAULT_LIMIT_MS = 300_000;
const PAGE_LOAD_LIMIT_MS = 30_000;

/**
 * Serves the mounts, launches Chromium over a fresh profile, opens the page, runs `body` and
 * cleans up.
 *
 * @template T
 * @param {WithBrowserOptions} options
 * @param {(session: BrowserSession) => Promise<T>} body
 * @returns {Promise<T>} what `body` returned
 */
export async function withBrowser(options, body) {
  const profile = options.profile ?? createProfile();
  /** @type {(() => Promise<void> | void)[]} */
  const cleanups = options.profile === undefined ? [profile.remove] : [];
  try {
    const server = await startServer(options);
    cleanups.unshift(server.close);
    const { context, close } = await launchChromium(profile.folder, options.flags);
    cleanups.unshift(close);
    const session = await openSession(server, context, options.path ?? "/");
    const run = Promise.race([body(session), failureOnClose(context)]);
    return await withDeadline(run, options.limitMs ?? DEFAULT_LIMIT_MS, "the browser run");
  } finally {
    // One that fails must not keep the others from running; the body's own error matters more.
    for (const cleanup of cleanups) await Promise.resolve().then(cleanup).catch(reportCleanupFailure);
  }
}

/**
 * @param {import("./server.js").StaticServer} server
 * @param {import("playwright-core").BrowserContext} context
 * @param {string} path
 * @returns {Promise<BrowserSession>}
 */
async function openSession(server, context, path) {
  /** @type {string[]} */
  const consoleErrors = [];
  // The context's events cover workers and later tabs as well as the first page.
  context.on("console", (message) => {
    if (message.type() === "error") consoleErrors.push(message.text());
  });
  context.on("weberror", (webError) => {
    const error = webError.error();
    consoleErrors.push(error.stack ?? error.message);
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(PAGE_LOAD_LIMIT_MS);
  await page.goto(server.origin + path, { timeout: PAGE_LOAD_LIMIT_MS });
  const browserVersion = context.browser()?.version() ?? "unknown";
  return { page, context, server, origin: server.origin, consoleErrors, browserVersion };
}

/**
 * A browser that crashes must not leave the body waiting.
 *
 * @param {import("playwright-core").BrowserContext} context
 * @returns {Promise<never>}
 */
function failureOnClose(context) {
  const failure = new Promise((_, reject) => context.once("close", () => reject(new Error("Chromium has closed"))));
  failure.catch(() => {}); // Closing after the body is done is no failure.
  return /** @type {Promise<never>} */ (failure);
}

/** @param {unknown} error */
function reportCleanupFailure(error) {
  console.warn(`cleaning up after the browser: ${error}`);
}
