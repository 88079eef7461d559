// @ts-check
/**
 * One file for each way in, out of the compiled modules: a worker that fetched the twenty of them
 * one after the other would take as long for that as for everything else it does to open a database.
 */

import { build } from "esbuild";
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

await build({
  entryPoints: ["index.js", "sync.js", "worker.js"].map((file) => join(WEB, "modules", file)),
  outdir: DIST,
  bundle: true,
  format: "esm",
  target: "es2022",
  plugins: [bindings],
  logLevel: "warning",
});
