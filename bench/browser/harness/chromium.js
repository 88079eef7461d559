// @ts-check
/**
 * Finding an installed Chromium and launching it headless with a profile of our own. No browser
 * is ever downloaded: playwright-core only drives the one that is there.
 */

import { accessSync, constants, existsSync, readFileSync, readdirSync } from "node:fs";
import { constants as systemConstants } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { chromium } from "playwright-core";
import { withDeadline } from "./deadline.js";

/** @typedef {import("playwright-core").BrowserContext} BrowserContext */

/** Names under which distributions install Chromium or a browser built from it. */
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** How long a start may take: a cold one on a loaded two-core machine takes about ten seconds. */
const LAUNCH_LIMIT_MS = 60_000;

/** How long an orderly close may take before the browser's processes are killed. */
const CLOSE_LIMIT_MS = 15_000;

/** How long killed processes may take to end, and how often that is looked at. */
const KILL_LIMIT_MS = 5_000;
const KILL_PAUSE_MS = 20;

/**
 * Flags that make headless runs quiet and repeatable. `--no-sandbox` is for runs as root, in
 * containers and CI; only pages of our own are ever opened.
 */
export const CHROMIUM_FLAGS = Object.freeze([
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]);

/**
 * Finds Chromium: $CHROMIUM (a path, or a name on PATH), else the usual names on PATH.
 *
 * @returns {string} the path of the executable
 * @throws an Error that names the one command which installs it
 */
export function findChromium() {
  const asked = process.env["CHROMIUM"];
  if (asked !== undefined && asked !== "") {
    const found = isAbsolute(asked) ? executable(asked) : onPath(asked);
    if (found !== undefined) return found;
    throw new Error(`CHROMIUM names ${JSON.stringify(asked)}, which is not an executable`);
  }
  for (const name of NAMES) {
    const found = onPath(name);
    if (found !== undefined) return found;
  }
  throw new Error(
    "no Chromium found (looked for " +
      NAMES.join(", ") +
      ", $CHROMIUM). On Debian or Ubuntu run: apt-get install -y chromium",
  );
}

/**
 * @typedef {object} LaunchedChromium
 * @property {BrowserContext} context
 * @property {() => Promise<void>} close closes the browser, by force where it does not answer
 * @property {() => void} kill kills the browser's processes, as a system that is short of memory
 *   does; close it afterwards all the same
 */

/**
 * Launches Chromium over a profile folder.
 *
 * @param {string} profileFolder
 * @param {readonly string[]} [moreFlags]
 * @returns {Promise<LaunchedChromium>}
 */
export async function launchChromium(profileFolder, moreFlags = []) {
  const executablePath = findChromium();
  running.add(profileFolder);
  listenForSignals(true);
  try {
    const context = await withDeadline(
      chromium.launchPersistentContext(profileFolder, {
        executablePath,
        headless: true,
        chromiumSandbox: false,
        args: [...CHROMIUM_FLAGS, ...moreFlags],
        timeout: LAUNCH_LIMIT_MS,
        // Its own handlers close the browser and let the run go on without one; see endBySignal.
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
      }),
      LAUNCH_LIMIT_MS + 5_000,
      "launching Chromium",
    );
    return {
      context,
      close: () => closeChromium(context, profileFolder),
      kill: () => killProcessesOf(profileFolder),
    };
  } catch (error) {
    forget(profileFolder);
    throw error;
  }
}

/**
 * @param {BrowserContext} context
 * @param {string} profileFolder
 */
async function closeChromium(context, profileFolder) {
  try {
    await withDeadline(context.close(), CLOSE_LIMIT_MS, "closing Chromium");
  } catch {
    // The processes are killed below; a browser that cannot close is no reason to fail a run.
  }
  forget(profileFolder);
}

/** Profile folders of the browsers that run now. @type {Set<string>} */
const running = new Set();

/** @param {string} profileFolder */
function forget(profileFolder) {
  killProcessesOf(profileFolder);
  running.delete(profileFolder);
  listenForSignals(running.size > 0);
}

/** @type {readonly NodeJS.Signals[]} */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/** @param {boolean} wanted */
function listenForSignals(wanted) {
  for (const signal of SIGNALS) {
    process.off(signal, endBySignal);
    if (wanted) process.on(signal, endBySignal);
  }
}

/**
 * Ends the run at once: no browser stays behind, and profiles are removed as the process exits.
 *
 * @param {NodeJS.Signals} signal
 */
function endBySignal(signal) {
  for (const folder of running) killProcessesOf(folder);
  process.exit(128 + systemConstants.signals[signal]);
}

/**
 * Kills what is left of the one browser that runs over `profileFolder`, and waits until it is
 * gone, so that nothing writes into the profile any more. The folder's name is unique to this run:
 * no other browser can match.
 *
 * @param {string} profileFolder
 */
function killProcessesOf(profileFolder) {
  for (let waitedMs = 0; waitedMs < KILL_LIMIT_MS; waitedMs += KILL_PAUSE_MS) {
    const processes = processesOf(profileFolder);
    for (const id of processes) {
      try {
        process.kill(id, "SIGKILL");
      } catch {
        // It has ended meanwhile, or is another user's.
      }
    }
    if (processes.length === 0) return;
    // Synchronous, as a handler of a signal must be.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, KILL_PAUSE_MS);
  }
}

/**
 * @param {string} profileFolder
 * @returns {number[]} ids of living processes; none where the system is not Linux, and playwright's
 *   own kill has to do
 */
function processesOf(profileFolder) {
  if (!existsSync("/proc/self/cmdline")) return [];
  return readdirSync("/proc").filter((entry) => {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) return false;
    try {
      // Chromium's helpers have their whole command line in one string. A zombie's is empty.
      return readFileSync(join("/proc", entry, "cmdline"), "utf8").includes(`--user-data-dir=${profileFolder}`);
    } catch {
      return false;
    }
  }).map(Number);
}

/** @param {string} name */
function onPath(name) {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const found = folder === "" ? undefined : executable(join(folder, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @param {string} path */
function executable(path) {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return undefined;
  }
}
