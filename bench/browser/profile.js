#!/usr/bin/env node
// @ts-check
/**
 * Where Gingham's time goes in the browser: the load of TPC-H and the first pass over its queries
 * under Chromium's sampling profiler, and every OPFS call. Build with `cargo xtask wasm --names`,
 * or functions have numbers only. The profiler slows things down: believe shares, not times.
 *
 * With --warm the queries of a list run again after the first pass, each a few times under a
 * profile of its own; with --cold each runs first thing in a worker of its own.
 *
 *   node bench/browser/profile.js [--sf 0.1] [--top 25] [--only load|queries] [--warm 1,13] [--cold 6]
 */

import { requirePackage } from "./paths.js";
import { engineByName } from "./adapters/engines.js";
import { withSession } from "./suites/session.js";
import { ginghamOptions, loadTables, passOver } from "./suites/tpch.js";
import { buildVendor } from "./vendor.js";
import { attachProfiler, storageWatch } from "./harness/profiler.js";
import { summarizeProfile } from "./report/profile-table.js";

const words = process.argv.slice(2);
/** @param {string} name @param {string} otherwise */
const option = (name, otherwise) => (words.includes(name) ? (words[words.indexOf(name) + 1] ?? otherwise) : otherwise);

const scaleFactor = Number(option("--sf", "0.1"));
const top = Number(option("--top", "25"));
const only = option("--only", "both");
/** @param {string} name */
const list = (name) => option(name, "").split(",").filter((number) => number !== "");
const warm = list("--warm");
const alone = list("--cold");
const WARM_RUNS = 6;
/** Samples of a load are many, those of a cold query few. */
const INTERVAL_US = { load: 1000, query: 100 };

requirePackage();
const vendorFolder = await buildVendor();
const engine = engineByName("gingham");
if (engine === undefined) throw new Error("there is no engine gingham");
const options = ginghamOptions(vendorFolder, scaleFactor);
const { tables } = options;

await withSession({ vendorFolder, dataFolder: tables.folder, limitMs: 1_800_000 }, async (session) => {
  const database = { engine: "gingham", database: "tpch", complete: true };
  const { worker: loader } = await session.start(database);
  const loading = await attachProfiler(session.tab);
  await storageWatch(loading);
  if (only !== "queries") await loading.start(INTERVAL_US.load);
  const loads = await loadTables(loader, engine, options);
  print("load", loads.map(({ table, elapsedMs }) => ({ name: table, elapsedMs })));
  if (only !== "queries") process.stdout.write(summarizeProfile(await loading.stop(), top));
  process.stdout.write(`OPFS: ${JSON.stringify(await storageWatch(loading))}\n`);
  await loader.close();
  if (only === "load") return;

  for (const number of alone) {
    const { worker } = await session.start(database);
    const profiler = await attachProfiler(session.tab);
    await profiler.start(INTERVAL_US.query);
    const pass = await passOver(worker, { ...options, queries: queriesOf(number) });
    const profile = await profiler.stop();
    print(`cold, query ${number}`, pass);
    process.stdout.write(summarizeProfile(profile, top));
    await worker.close();
  }

  const { worker, started } = await session.start(database);
  process.stdout.write(`\nopen: ${(started.importMs + started.openMs).toFixed(0)} ms\n`);
  const profiler = await attachProfiler(session.tab);
  await storageWatch(profiler);
  await profiler.start(INTERVAL_US.query);
  const pass = await passOver(worker, options);
  const profile = await profiler.stop();
  print("first pass", pass);
  process.stdout.write(summarizeProfile(profile, top));
  process.stdout.write(`OPFS: ${JSON.stringify(await storageWatch(profiler))}\n`);
  for (const number of warm) {
    const runs = Array.from({ length: WARM_RUNS }, () => queriesOf(number)).flat();
    await passOver(worker, { ...options, queries: runs });
    await profiler.start(INTERVAL_US.query);
    const pass = await passOver(worker, { ...options, queries: runs });
    const profile = await profiler.stop();
    print(`warm, query ${number}`, pass);
    process.stdout.write(summarizeProfile(profile, top));
  }
  await worker.close();
});

/** @param {string} number */
function queriesOf(number) {
  return options.queries.filter(({ name }) => Number(name.replace(/\D/g, "")) === Number(number));
}

/** @param {string} title @param {{name: string, elapsedMs: number}[]} steps */
function print(title, steps) {
  const total = steps.reduce((sum, step) => sum + step.elapsedMs, 0);
  const mean = Math.exp(steps.reduce((sum, step) => sum + Math.log(step.elapsedMs), 0) / steps.length);
  process.stdout.write(`\n${title}: ${total.toFixed(0)} ms, geometric mean ${mean.toFixed(2)} ms\n`);
  for (const { name, elapsedMs } of steps) process.stdout.write(`  ${name.padEnd(10)} ${elapsedMs.toFixed(1).padStart(9)} ms\n`);
}
