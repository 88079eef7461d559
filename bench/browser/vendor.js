// @ts-check
/**
 * The peers as a web app would ship them: each package bundled and minified into one module, its
 * wasm beside it. Built into the repository's ignored `.cache`, once per set of versions.
 */

import { createHash } from "node:crypto";
import { copyFile, cp, mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { BROWSER_FOLDER, CACHE_FOLDER } from "./paths.js";

const MODULES = join(BROWSER_FOLDER, "node_modules");
const DUCKDB = join(MODULES, "@duckdb/duckdb-wasm/dist");
const SQLITE = join(MODULES, "@sqlite.org/sqlite-wasm/dist");

/** The source of each bundle, by the bundle's name. @type {Record<string, string>} */
const BUNDLES = {
  // The package's export map hides the browser's blocking bindings, so they are named by path.
  "duckdb.js": `export * from ${JSON.stringify(`${DUCKDB}/duckdb-browser-blocking.mjs`)};
    export { Table, Utf8, tableFromIPC, vectorFromArray } from "apache-arrow";`,
  "sqlite.js": `export { default } from ${JSON.stringify(`${SQLITE}/index.mjs`)};`,
};

/** PGlite finds its files beside its modules, which are minified as they come: it goes in as a folder. */
const PGLITE = join(MODULES, "@electric-sql/pglite/dist");
/** What of it the browser's build loads. */
const PGLITE_FILES = /^(index|initdb|chunk-\w+)\.js$|^(initdb|pglite)\.(wasm|data)$|^fs$|^(base|opfs-ahp)\.js$/;

/** Files that go beside the bundles as they are. */
const ASSETS = [join(DUCKDB, "duckdb-eh.wasm"), join(SQLITE, "sqlite3.wasm")];

/**
 * Bundles the peers, unless that was done before.
 *
 * @returns {Promise<string>} the folder with the bundles
 */
export async function buildVendor() {
  const lock = await readFile(join(BROWSER_FOLDER, "package-lock.json"), "utf8");
  const recipe = createHash("sha256").update(lock).update(JSON.stringify([...Object.values(BUNDLES), PGLITE_FILES.source]));
  const folder = join(CACHE_FOLDER, `vendor-${recipe.digest("hex").slice(0, 16)}`);
  if ((await stat(folder).catch(() => undefined)) !== undefined) return folder;
  const { build } = await import("esbuild").catch(() => {
    throw new Error("the peers are not installed: run npm ci in bench/browser");
  });
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    for (const [name, contents] of Object.entries(BUNDLES)) {
      await build({
        stdin: { contents, resolveDir: BROWSER_FOLDER },
        outfile: join(unfinished, name),
        bundle: true,
        minify: true,
        format: "esm",
        platform: "browser",
        target: "es2022",
        logLevel: "error",
      });
    }
    for (const asset of ASSETS) await copyFile(asset, join(unfinished, /** @type {string} */ (asset.split("/").pop())));
    const wanted = (/** @type {string} */ path) => path === PGLITE || PGLITE_FILES.test(basename(path));
    await cp(PGLITE, join(unfinished, "pglite"), { recursive: true, filter: wanted });
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another run may have finished the same folder first.
    if ((await stat(folder).catch(() => undefined)) === undefined) throw error;
  }
  return folder;
}
