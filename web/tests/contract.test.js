// @ts-check
/** The contract of every VFS, over OPFS in a real worker. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TESTING_PACKAGE, TestWorker, withTestPage } from "./support/session.js";

const BUILT = existsSync(join(TESTING_PACKAGE, "core_bg.wasm"));

test(
  "OPFS keeps the contract of every VFS",
  { timeout: 300_000, skip: BUILT ? false : "web/dist-testing is not built (gingham-web with the feature `testing`)" },
  async () => {
    await withTestPage(async ({ page }) => {
      const worker = await TestWorker.spawn(page);
      await worker.call("contract.js", "opfsKeepsTheContract");
      await worker.terminate();
    });
  },
);
