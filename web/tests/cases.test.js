// @ts-check
/** What the package promises of values and statements, inside a worker in Chromium. */

import { test } from "node:test";
import { runCases, withTestPage } from "./support/session.js";

test("in a worker", { timeout: 600_000 }, async (t) => {
  await withTestPage(async (session) => {
    await runCases(t, session, "values.js");
    await runCases(t, session, "statements.js");
  });
});
