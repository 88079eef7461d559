#!/usr/bin/env node
// @ts-check
/**
 * The browser benches' command line. Exit codes: 0 done; 1 an engine failed, gave a wrong row or
 * (Gingham only) lost a commit, or something is missing; 2 wrong usage.
 */

import { CHROMIUM_FLAGS, findChromium } from "./harness/index.js";
import { Profiles } from "./profile/collect.js";
import { parseOptions, USAGE, UsageError } from "./options.js";
import { requirePackage } from "./paths.js";
import { describeCommit, describeMachine, loadAverage, peerVersions } from "./report/machine.js";
import { dearestFunctions, partsTable } from "./report/parts-table.js";
import { saveResult, writeJson } from "./report/save.js";
import { runBatteries } from "./suites/run-batteries.js";
import { runM0 } from "./suites/run-m0.js";
import { runTpch } from "./suites/run-tpch.js";
import { buildVendor } from "./vendor.js";

/** @param {string} text progress, for people: the table alone goes to standard output */
function note(text) {
  process.stderr.write(`${text}\n`);
}

/** @param {import("./options.js").Options} options */
async function run(options) {
  findChromium();
  if (options.engines.some((engine) => engine.adapter === "gingham")) requirePackage();
  const date = new Date().toISOString();
  const commit = describeCommit();
  const loadBefore = loadAverage();
  const vendorFolder = await buildVendor();
  const profiles = options.profile ? new Profiles() : undefined;
  const suite = { m0: runM0, batteries: runBatteries, tpch: runTpch }[options.suite];
  const { table, notes, failures, record, browserVersion } = await suite(options, { vendorFolder, note, profiles });
  const machine = describeMachine();
  const loads = { before: loadBefore, after: loadAverage() };

  process.stdout.write(`\n${profiles === undefined ? table : partsTable(profiles.steps)}\n\n`);
  for (const step of profiles?.steps ?? []) process.stdout.write(`${dearestFunctions(step).join("\n")}\n`);
  const gingham = options.engines.some((engine) => engine.name === "gingham");
  for (const line of notes) process.stdout.write(`${line}\n`);
  process.stdout.write(gingham ? "Ratios are against Gingham in this run.\n" : "Gingham took no part, so there are no ratios.\n");
  process.stdout.write(
    `Chromium ${browserVersion}, headless; ${machine.cpu}, ${machine.cores} cores; load average ${loads.before} before, ${loads.after} after.\n`,
  );
  for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);

  const result = {
    suite: options.suite,
    date,
    ...commit,
    machine: { ...machine, loadAverage: loads },
    browser: { name: "chromium", version: browserVersion, flags: CHROMIUM_FLAGS },
    packages: peerVersions(),
    options: {
      engines: options.engines.map((engine) => engine.name),
      repeat: options.repeat,
      ...(options.suite === "m0" ? { rows: options.rows } : {}),
      ...(options.suite === "tpch" ? { scaleFactor: options.scaleFactor, storage: options.storage } : {}),
    },
    notes,
    failures,
    engines: record,
  };
  if (options.jsonPath !== null) writeJson(options.jsonPath, result);
  if (options.saveLabel !== null) note(`saved ${saveResult(options.saveLabel, result)}`);
  return failures.length === 0 ? 0 : 1;
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options === "help") process.stdout.write(USAGE);
  else process.exitCode = await run(options);
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    process.exitCode = 2;
  } else {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
