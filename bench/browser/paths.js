// @ts-check
/** Where things are in the repository. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** This folder, bench/browser. */
export const BROWSER_FOLDER = dirname(fileURLToPath(import.meta.url));
/** The repository. */
export const REPOSITORY = dirname(dirname(BROWSER_FOLDER));
/** What can be computed again: peers' bundles, sizes by content. Ignored by git. */
export const CACHE_FOLDER = join(REPOSITORY, ".cache", "bench");
/** Generated TPC-H data, one folder a scale factor: sf0.1/lineitem.csv and so on. */
export const DATA_FOLDER = join(REPOSITORY, "bench", ".data");
/** Saved results. */
export const RESULTS_FOLDER = join(REPOSITORY, "bench", "results");
/** Gingham's npm package as built by `cargo xtask wasm`. */
export const PACKAGE_FOLDER = join(REPOSITORY, "web", "dist");
/** The 22 queries, q01.sql to q22.sql. */
export const QUERIES_FOLDER = join(REPOSITORY, "tpch", "queries");
/** Their results, one folder a scale factor: sf0.1/q01.txt and so on. */
export const ANSWERS_FOLDER = join(REPOSITORY, "tpch", "answers");

/** Fails where Gingham's package has not been built. */
export function requirePackage() {
  for (const file of ["sync.js", "core_bg.wasm"]) {
    if (!existsSync(join(PACKAGE_FOLDER, file))) {
      throw new Error(`web/dist/${file} is missing: run cargo xtask wasm first (or leave gingham out with --engines)`);
    }
  }
}
