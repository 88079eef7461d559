// @ts-check
/** What a saved result says about where it came from. No host name, user or path is recorded. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { BROWSER_FOLDER, REPOSITORY } from "../paths.js";

/** @returns the processor, memory and systems of this machine */
export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
  };
}

/** @returns {number} the load average of the last minute: far above 0 means noisy figures */
export function loadAverage() {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100;
}

/** @returns the commit that was measured, "unknown" outside a clone */
export function describeCommit() {
  try {
    const git = (/** @type {string[]} */ ...words) => execFileSync("git", words, { cwd: REPOSITORY, encoding: "utf8" });
    return { commit: git("rev-parse", "HEAD").trim(), modified: git("status", "--porcelain").trim() !== "" };
  } catch {
    return { commit: "unknown", modified: false };
  }
}

/** @returns {Record<string, string>} the pinned versions of the peers' packages */
export function peerVersions() {
  const manifest = JSON.parse(readFileSync(join(BROWSER_FOLDER, "package.json"), "utf8"));
  const names = ["@sqlite.org/sqlite-wasm", "@duckdb/duckdb-wasm", "playwright-core"];
  return Object.fromEntries(
    names.map((name) => [name, manifest.dependencies?.[name] ?? manifest.devDependencies?.[name] ?? "unknown"]),
  );
}
