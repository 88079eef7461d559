// @ts-check
/**
 * The Node side of a browser run: a fresh Chromium with the benches' page, and typed calls into
 * the engines' workers. Every call has a deadline.
 */

import { withBrowser, withDeadline } from "../harness/index.js";
import { attachProfiler } from "../harness/profiler.js";
import { BROWSER_FOLDER, PACKAGE_FOLDER } from "../paths.js";

/** @typedef {import("../worker/protocol.js").Methods} Methods */
/** @typedef {import("../worker/protocol.js").StartArguments} StartArguments */
/** @typedef {import("../worker/protocol.js").StartResult} StartResult */
/** @typedef {import("../page/page.js").BenchPage} BenchPage */
/** @typedef {import("../profile/collect.js").Profiles} Profiles */

/** For calls that take no time of their own. */
const CALL_LIMIT_MS = 60_000;
/** A sample for so long: shorter ones cost more than they tell. */
const SAMPLE_US = 100;
/** The steps that a profile is made of; the others are not measured either. */
const PROFILED = new Set(["bulkInsert", "bulkLoad", "countRows", "pointLookups", "scan", "durableInserts", "runBattery"]);
/** How long a terminated worker's files may stay locked. */
const RELEASE_LIMIT_MS = 20_000;

/** Under these prefixes lies what an engine downloads; all else is the benches' own. */
const ENGINE_PREFIXES = ["/vendor/", "/web/dist/"];

/**
 * @typedef {object} SessionOptions
 * @property {string} vendorFolder
 * @property {string} [dataFolder] served as /data/
 * @property {number} limitMs
 * @property {Profiles | undefined} [profiles] where profiles are wanted, they are added to these
 * @property {import("../harness/profile.js").Profile} [visitor] a browser's profile to go on with; its OPFS
 *   belongs to `port`
 * @property {number} [port]
 * @property {readonly string[]} [flags] more of Chromium's flags
 */

/**
 * Runs `body` in a fresh browser, with a fresh profile unless one is given.
 *
 * @template T
 * @param {SessionOptions} options
 * @param {(session: Session) => Promise<T>} body
 * @returns {Promise<T>}
 */
export function withSession({ vendorFolder, dataFolder, limitMs, profiles, visitor, port, flags }, body) {
  return withBrowser(
    {
      mounts: {
        "/bench/": BROWSER_FOLDER,
        "/vendor/": vendorFolder,
        "/web/dist/": PACKAGE_FOLDER,
        ...(dataFolder === undefined ? {} : { "/data/": dataFolder }),
      },
      path: "/bench/page/",
      // As a web app would be served: later workers find the engine in the browser's cache.
      cacheControl: "max-age=3600",
      // For the clock alone, which ticks every 5 µs here and every 100 µs otherwise.
      headers: { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" },
      limitMs,
      ...(visitor === undefined ? {} : { profile: visitor }),
      ...(port === undefined ? {} : { port }),
      ...(flags === undefined ? {} : { flags }),
    },
    async (browser) => {
      await browser.page.waitForFunction(() => "benchPage" in globalThis);
      return body(new Session(browser, profiles));
    },
  );
}

/** A page with workers. */
export class Session {
  #browser;
  #profiles;

  /**
   * @param {import("../harness/with-browser.js").BrowserSession} browser
   * @param {Profiles} [profiles]
   */
  constructor(browser, profiles) {
    this.#browser = browser;
    this.#profiles = profiles;
  }

  /**
   * Runs a step, under the profiler where profiles are wanted.
   *
   * @template T
   * @param {string} method
   * @param {string} title
   * @param {() => Promise<T>} body
   * @returns {Promise<T>}
   */
  async step(method, title, body) {
    if (this.#profiles === undefined || !PROFILED.has(method)) return body();
    const profiler = await attachProfiler(this.#browser.page);
    await profiler.start(SAMPLE_US);
    const value = await body();
    this.#profiles.add(title, await profiler.stop());
    return value;
  }

  /** Console errors so far. */
  get consoleErrors() {
    return [...this.#browser.consoleErrors];
  }

  /** The page itself, for profilers. */
  get tab() {
    return this.#browser.page;
  }

  /** The port of the pages' origin, to which OPFS belongs. */
  get port() {
    return Number(new URL(this.#browser.origin).port);
  }

  get browserVersion() {
    return this.#browser.browserVersion;
  }

  /** @returns {string[]} the engine's files that were downloaded so far, each once */
  downloadedFiles() {
    const files = this.#browser.server.served.filter(({ path }) => ENGINE_PREFIXES.some((prefix) => path.startsWith(prefix)));
    return [...new Set(files.map(({ file }) => file))];
  }

  /** @returns {Promise<BenchWorker>} */
  async spawn() {
    return new BenchWorker(this, await this.page("spawn", [], CALL_LIMIT_MS));
  }

  /**
   * A worker with an opened database, for steps whose opening is not measured.
   *
   * @param {StartArguments} argument
   * @param {number} [limitMs]
   * @returns {Promise<{worker: BenchWorker, started: StartResult}>}
   */
  async start(argument, limitMs = CALL_LIMIT_MS) {
    await this.waitForRelease();
    const worker = await this.spawn();
    return { worker, started: await worker.call("start", argument, limitMs) };
  }

  /**
   * @param {StartArguments} argument
   * @returns {Promise<{worker: BenchWorker, elapsedMs: number, inside: StartResult & {firstRowMs: number}}>}
   */
  async openToFirstRow(argument) {
    await this.waitForRelease();
    const { id, elapsedMs, inside } = await this.page("openToFirstRow", [argument], CALL_LIMIT_MS);
    return {
      worker: new BenchWorker(this, id),
      elapsedMs,
      inside: /** @type {StartResult & {firstRowMs: number}} */ (inside),
    };
  }

  /** Waits until no worker holds a file: a terminated one does for a while. */
  async waitForRelease() {
    const worker = await this.spawn();
    await worker.call("waitForRelease", { limitMs: RELEASE_LIMIT_MS }, RELEASE_LIMIT_MS + CALL_LIMIT_MS);
    await worker.terminate();
  }

  /** Everything in the origin private file system. */
  storedFiles() {
    return this.page("storedFiles", [], CALL_LIMIT_MS);
  }

  /**
   * Calls a function of the page.
   *
   * @template {keyof BenchPage} F
   * @param {F} name
   * @param {Parameters<BenchPage[F]>} argumentList
   * @param {number} limitMs
   * @returns {Promise<Awaited<ReturnType<BenchPage[F]>>>}
   */
  page(name, argumentList, limitMs) {
    const evaluation = this.#browser.page.evaluate(
      ({ name, argumentList }) => {
        const { benchPage } = /** @type {{benchPage: Record<string, (...list: unknown[]) => unknown>}} */ (
          /** @type {unknown} */ (globalThis)
        );
        return benchPage[name]?.(...argumentList);
      },
      { name: /** @type {string} */ (name), argumentList: /** @type {unknown[]} */ (argumentList) },
    );
    return withDeadline(
      /** @type {Promise<Awaited<ReturnType<BenchPage[F]>>>} */ (evaluation.catch(rethrowPlain)),
      limitMs,
      `the page's ${name}`,
    );
  }
}

/** One dedicated worker of the page. */
export class BenchWorker {
  #session;
  #id;

  /**
   * @param {Session} session
   * @param {number} id
   */
  constructor(session, id) {
    this.#session = session;
    this.#id = id;
  }

  /**
   * @template {keyof Methods} M
   * @param {M} method
   * @param {Parameters<Methods[M]>[0]} argument
   * @param {number} [limitMs]
   * @param {string} [title] the step's in a profile
   * @returns {Promise<Awaited<ReturnType<Methods[M]>>>}
   */
  async call(method, argument, limitMs = CALL_LIMIT_MS, title = method) {
    const call = () => this.#session.page("call", [this.#id, method, argument], limitMs);
    const value = await this.#session.step(method, title, call);
    return /** @type {Awaited<ReturnType<Methods[M]>>} */ (value);
  }

  /** Closes the database and ends the worker. */
  async close() {
    await this.call("close", {});
    await this.terminate();
  }

  terminate() {
    return this.#session.page("terminate", [this.#id], CALL_LIMIT_MS);
  }

  /**
   * Commits row after row and kills the worker once the page knows of `acknowledgements` commits.
   *
   * @param {{firstKey: number, limit: number}} argument
   * @param {number} acknowledgements
   * @param {number} limitMs
   */
  killAfter(argument, acknowledgements, limitMs) {
    return this.#session.page("killAfter", [this.#id, argument, acknowledgements], limitMs);
  }
}

/**
 * Keeps the page's own message and drops the stack of bundled code around it.
 *
 * @param {unknown} error
 * @returns {never}
 */
function rethrowPlain(error) {
  const message = error instanceof Error ? error.message : String(error);
  const [first = ""] = message.replace(/^page\.evaluate: /, "").split("\n    at ");
  throw new Error(first.replace(/^(Error: )+/, ""));
}
