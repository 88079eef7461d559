#!/usr/bin/env node
// @ts-check
/**
 * What the first pass of TPC-H in a fresh worker pays for code that the browser has not optimized: loads Gingham once, then
 * runs the queries for the first time in one fresh browser after the other over the same files, each with other flags
 * of V8, and once with whatever code an earlier visit left in the browser's code cache.
 *
 *   node bench/browser/cold.js [--sf 0.1] [--repeat 1] [--only normal,optimized] [--engine gingham] [--js-flags FLAGS]
 *
 * `--js-flags` adds a setting of its own, called given. What V8 prints, such as the time that each function takes to
 * compile (`--js-flags --trace-wasm-compilation-times`), is on standard error with DEBUG=pw:browser in the environment.
 */

import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { requirePackage } from "./paths.js";
import { engineByName } from "./adapters/engines.js";
import { createProfile } from "./harness/profile.js";
import { attachProfiler, storageWatch } from "./harness/profiler.js";
import { markdownTable } from "./report/format.js";
import { geometricMean, median, total } from "./report/statistics.js";
import { withSession } from "./suites/session.js";
import { ginghamOptions, loadTables, passOver } from "./suites/tpch.js";
import { buildVendor } from "./vendor.js";

/**
 * The settings, by name: V8's flags, and whether code that earlier visits left may be used.
 *
 * @type {Record<string, {flags: string, codeCache?: boolean}>}
 */
const SETTINGS = {
  normal: { flags: "" },
  /** Every function optimized before the first query: no part of the pass is unoptimized code. */
  optimized: { flags: "--no-liftoff --no-wasm-lazy-compilation" },
  /** Optimized in the calling thread as soon as a function is hot, not in the background. */
  synchronous: { flags: "--wasm-sync-tier-up" },
  /** A tenth of the work in a function until it counts as hot. */
  eager: { flags: "--wasm-tiering-budget=1300000" },
  /** Never optimized. */
  baseline: { flags: "--no-wasm-dynamic-tiering --liftoff-only" },
  revisit: { flags: "", codeCache: true },
};

const words = process.argv.slice(2);
/** @param {string} name @param {string} otherwise */
const option = (name, otherwise) => (words.includes(name) ? (words[words.indexOf(name) + 1] ?? otherwise) : otherwise);

if (words.includes("--js-flags")) SETTINGS["given"] = { flags: option("--js-flags", "") };
const scaleFactor = Number(option("--sf", "0.1"));
const repeat = Number(option("--repeat", "1"));
const chosen = option("--only", Object.keys(SETTINGS).join(",")).split(",");
const engine = engineByName(option("--engine", "gingham"));
if (engine === undefined) throw new Error("there is no such engine");

/** V8 keeps optimized code a while after the last function became hot. */
const CODE_CACHE_PAUSE_MS = 4000;
/** Optimizing all of both modules takes minutes. */
const OPEN_LIMIT_MS = 600_000;

requirePackage();
const vendorFolder = await buildVendor();
const options = ginghamOptions(vendorFolder, scaleFactor);
const { tables } = options;
const visitor = createProfile();
const place = { vendorFolder, dataFolder: tables.folder, limitMs: 1_800_000, visitor };
const CODE_CACHE = join(visitor.folder, "Default/Code Cache");
const database = { engine: engine.name, database: "tpch", complete: true };

try {
  const port = await withSession(place, async (session) => {
    const { worker } = await session.start(database);
    await loadTables(worker, engine, options);
    await worker.call("finishLoad", {}, 600_000);
    await worker.close();
    return session.port;
  });
  /** @type {Map<string, {open: number[], cold: number[][], warm: number[][]}>} */
  const measured = new Map(chosen.map((name) => [name, { open: [], cold: [], warm: [] }]));
  for (let round = 0; round < repeat; round += 1) {
    for (const name of chosen) {
      const setting = SETTINGS[name];
      if (setting === undefined) throw new Error(`there is no setting ${name}`);
      if (setting.codeCache) await visit(port, [], CODE_CACHE_PAUSE_MS);
      else rmSync(CODE_CACHE, { recursive: true, force: true });
      options.note(`${name}: ${(codeCacheBytes() / 1e6).toFixed(2)} MB in the code cache`);
      const flags = setting.flags === "" ? [] : [`--js-flags=${setting.flags}`];
      const { openMs, cold, warm, read } = await visit(port, flags, 0);
      options.note(
        `${name}: open ${openMs.toFixed(0)} ms, cold ${geometricMean(cold).toFixed(1)}, warm ${geometricMean(warm).toFixed(1)}, ` +
        `${read.calls} reads of ${(read.bytes / 1e6).toFixed(1)} MB in ${read.ms.toFixed(0)} ms`,
      );
      measured.get(name)?.open.push(openMs);
      measured.get(name)?.cold.push(cold);
      measured.get(name)?.warm.push(warm);
    }
  }
  print(measured);
} finally {
  visitor.remove();
}

/** What the browser keeps of wasm modules. */
function codeCacheBytes() {
  const folder = join(CODE_CACHE, "wasm");
  if (!existsSync(folder)) return 0;
  return total(readdirSync(folder).map((entry) => statSync(join(folder, entry)).size));
}

/**
 * A fresh browser opens the database and runs every query twice. The first time it counts OPFS's reads, too.
 *
 * @param {number} port
 * @param {string[]} flags
 * @param {number} pauseMs before it closes
 */
function visit(port, flags, pauseMs) {
  return withSession({ ...place, port, flags }, async (session) => {
    const { worker, started } = await session.start(database, OPEN_LIMIT_MS);
    const watcher = await attachProfiler(session.tab);
    await storageWatch(watcher);
    const cold = await passOver(worker, options);
    const { read } = /** @type {{read: {calls: number, bytes: number, ms: number}}} */ (await storageWatch(watcher));
    const warm = await passOver(worker, options);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    await worker.close();
    const times = (/** @type {{elapsedMs: number}[]} */ pass) => pass.map(({ elapsedMs }) => elapsedMs);
    return { openMs: started.importMs + started.openMs, cold: times(cold), warm: times(warm), read };
  });
}

/** @param {Map<string, {open: number[], cold: number[][], warm: number[][]}>} measured */
function print(measured) {
  const columns = [...measured.values()];
  const middle = (/** @type {number[][]} */ passes, /** @type {number} */ index) => median(passes.map((pass) => pass[index] ?? 0));
  const text = (/** @type {number} */ ms) => ms.toFixed(ms < 100 ? 1 : 0);
  const rows = options.queries.map(({ name }, index) => [
    name.toUpperCase(),
    ...columns.map(({ cold }) => text(middle(cold, index))),
    text(Math.min(...columns.map(({ warm }) => middle(warm, index)))),
  ]);
  const each = columns.map(({ cold }) => options.queries.map((_, index) => middle(cold, index)));
  const warm = options.queries.map((_, index) => Math.min(...columns.map((column) => middle(column.warm, index))));
  rows.push(["open", ...columns.map(({ open }) => text(median(open))), ""]);
  rows.push(["total", ...[...each, warm].map((pass) => text(total(pass)))]);
  rows.push(["geometric mean", ...[...each, warm].map((pass) => text(geometricMean(pass)))]);
  process.stdout.write(`\n${markdownTable([`${engine?.title}, ms`, ...measured.keys(), "warm"], rows)}\n`);
}
