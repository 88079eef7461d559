// @ts-check
/**
 * Serves the console with the package, and TPC-H data where there is some:
 * `npm run demo -- [--sf N --data FOLDER] [--port N]`.
 */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startServer } from "../bench/browser/harness/server.js";

const WEB = dirname(fileURLToPath(import.meta.url));
const REPOSITORY = dirname(WEB);
const PORT = 8642;

const { values } = parseArgs({
  options: { sf: { type: "string" }, data: { type: "string" }, port: { type: "string" } },
});

/** @type {Record<string, string>} */
const mounts = {
  "/": join(WEB, "console"),
  "/console/": join(WEB, "console"),
  "/dist/": join(WEB, "dist"),
  "/bench/": join(REPOSITORY, "bench/browser"),
  "/queries/": join(REPOSITORY, "tpch/queries"),
};
if (values.data !== undefined) {
  if (!existsSync(values.data)) throw new Error(`there is no folder ${values.data}`);
  mounts["/data/"] = values.data;
}

/** @param {number} port */
const serve = (port) => startServer({ mounts, port });
const wanted = values.port === undefined ? PORT : Number(values.port);
const server = await serve(wanted).catch((error) => {
  // A second demo beside the first gets another port; one that was asked for is not swapped.
  if (error?.code === "EADDRINUSE" && values.port === undefined) return serve(0);
  throw error;
});
const query = values.data === undefined ? "" : `?tpch=${values.sf ?? "data"}`;
const data = values.sf === undefined ? "" : `, with TPC-H at scale factor ${values.sf} to load,`;
console.log(`The console${data} is at ${server.origin}/console/${query} (Ctrl+C ends it)`);
