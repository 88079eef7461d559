#!/usr/bin/env node
// @ts-check
/**
 * Where Gingham's time goes in the browser: the load of TPC-H and the first pass over its queries
 * under Chromium's sampling profiler, and every OPFS call. Build with `cargo xtask wasm --names`,
 * or functions have numbers only. The profiler slows things down: believe shares, not times.
 *
 * With --warm the queries of a list run again after the first pass, each a few times under a
 * profile of its own.
 *
 *   node bench/browser/profile.js [--sf 0.1] [--top 25] [--only load|cold] [--warm 1,13]
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
const warm = option("--warm", "").split(",").filter((number) => number !== "");
const WARM_RUNS = 6;
/** Samples of a load are many, those of a cold query few. */
const INTERVAL_US = { load: 1000, cold: 100 };

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
  if (only !== "cold") await loading.start(INTERVAL_US.load);
  const loads = await loadTables(loader, engine, options);
  print("load", loads.map(({ table, elapsedMs }) => ({ name: table, elapsedMs })));
  if (only !== "cold") process.stdout.write(summarizeProfile(await loading.stop(), top));
  process.stdout.write(`OPFS: ${JSON.stringify(await storageWatch(loading))}\n`);
  await loader.close();
  if (only === "load") return;

  const { worker, started } = await session.start(database);
  process.stdout.write(`\nopen: ${(started.importMs + started.openMs).toFixed(0)} ms\n`);
  const cold = await attachProfiler(session.tab);
  await storageWatch(cold);
  await cold.start(INTERVAL_US.cold);
  const pass = await passOver(worker, options);
  const profile = await cold.stop();
  print("cold", pass);
  process.stdout.write(summarizeProfile(profile, top));
  process.stdout.write(`OPFS: ${JSON.stringify(await storageWatch(cold))}\n`);
  for (const number of warm) {
    const queries = options.queries.filter(({ name }) => Number(name.replace(/\D/g, "")) === Number(number));
    const runs = Array.from({ length: WARM_RUNS }, () => queries).flat();
    await passOver(worker, { ...options, queries: runs });
    await cold.start(INTERVAL_US.cold);
    const pass = await passOver(worker, { ...options, queries: runs });
    const profile = await cold.stop();
    print(`warm, query ${number}`, pass);
    process.stdout.write(summarizeProfile(profile, top));
  }
  await worker.close();
});

/** @param {string} title @param {{name: string, elapsedMs: number}[]} steps */
function print(title, steps) {
  const total = steps.reduce((sum, step) => sum + step.elapsedMs, 0);
  const mean = Math.exp(steps.reduce((sum, step) => sum + Math.log(step.elapsedMs), 0) / steps.length);
  process.stdout.write(`\n${title}: ${total.toFixed(0)} ms, geometric mean ${mean.toFixed(2)} ms\n`);
  for (const { name, elapsedMs } of steps) process.stdout.write(`  ${name.padEnd(10)} ${elapsedMs.toFixed(1).padStart(9)} ms\n`);
}
