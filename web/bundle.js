// @ts-check
/**
 * One file for each way in, out of the compiled modules: a worker that fetched the twenty of them
 * one after the other would take as long for that as for everything else it does to open a database.
 */

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const WEB = dirname(fileURLToPath(import.meta.url));
const DIST = join(WEB, "dist");

/** What wasm-bindgen wrote beside the modules. */
const bindings = {
  name: "bindings",
  /** @param {import("esbuild").PluginBuild} build */
  setup(build) {
    build.onResolve({ filter: /^\.\/(core|planner)\.js$/ }, ({ path }) => ({ path: join(DIST, basename(path)) }));
  },
};

/** Tells builds of the modules apart; see ts/build.ts. */
const hash = createHash("sha256");
for (const file of ["core_bg.wasm", "planner_bg.wasm"]) hash.update(readFileSync(join(DIST, file), "latin1"), "latin1");

await build({
  entryPoints: ["index.js", "sync.js", "worker.js"].map((file) => join(WEB, "modules", file)),
  outdir: DIST,
  bundle: true,
  format: "esm",
  target: "es2022",
  define: { GINGHAM_BUILD: JSON.stringify(hash.digest("hex").slice(0, 16)) },
  plugins: [bindings],
  logLevel: "warning",
});
