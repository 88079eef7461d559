// @ts-check
/** How the wasm modules come into a worker. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { withTestPage } from "./support/session.js";

const MODULES = ["/dist/core_bg.wasm", "/dist/planner_bg.wasm"];

/** @param {import("../../bench/browser/harness/server.js").StaticServer} server */
const requests = (server) => MODULES.map((path) => server.served.filter((file) => file.path === path).length);

test("modules", { timeout: 600_000 }, async (t) => {
  await t.test("a page's second connection loads no module", () =>
    withTestPage(async ({ page, server }) => {
      await page.evaluate(connectAndAsk);
      // Nor does a statement that needs the planner at once load it apart from what loads in the background.
      assert.deepEqual(requests(server), [1, 1]);
      await page.evaluate(connectAndAsk);
      assert.deepEqual(requests(server), [1, 1]);
    }),
  );
  await t.test("what does not fit is not taken", () => withTestPage(({ page }) => page.evaluate(openWithForeignModules)));
});

async function connectAndAsk() {
  const { connect } = await import(/** @type {any} */ ("/dist/index.js"));
  const db = await connect("modules", { storage: "memory" });
  const { rows } = await db.query("SELECT sum(k) AS total FROM (VALUES (1), (2)) AS t (k) GROUP BY k > 0");
  if (Number(rows[0].total) !== 3) throw new Error(`the sum is ${rows[0].total}`);
  await db.ready();
  await db.close();
}

/** A worker that is handed another build's modules compiles its own. */
async function openWithForeignModules() {
  const empty = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
  const worker = new Worker("/dist/worker.js", { type: "module" });
  const replied = new Promise((resolve) => worker.addEventListener("message", ({ data }) => "ok" in data && resolve(data)));
  const modules = { build: "another", core: empty, planner: empty };
  worker.postMessage({ id: 1, call: "open", argument: { name: "foreign", options: { storage: "memory" }, modules } });
  const reply = await replied;
  if (!reply.ok) throw new Error(reply.error.message);
  worker.terminate();
}
